"""What extraction returns: candidates with their places, and the value that stands for each field."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from citegraph.corpus.schema.field import Value


@dataclass(frozen=True, slots=True)
class Candidate:
    """One value that a document gives for a field.

    Attributes:
        raw: as it is printed, or as the embedded data hold it.
        start, end: character offsets into the document's text; None for data that are not in the text.
        page: number of the page, None when unknown.
        method: the way that found it ("embedded", "labels", "model", "corrected" ...).
        confidence: 0 to 1, of this candidate alone.
    """

    field: str
    value: Value
    raw: str
    start: int | None
    end: int | None
    page: int | None
    method: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Extracted:
    """The value of one field: the candidate that won, its final confidence, and what contradicts it.

    `overruled` says that an annotation gives the field another value, which stands.
    """

    best: Candidate
    confidence: float
    others: tuple[Candidate, ...] = ()
    overruled: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """A raw value that its field's type refused; it is counted and listed, never stored as a string."""

    field: str
    raw: str
    reason: str


@dataclass(frozen=True, slots=True)
class FoundRow:
    """One row of a table inside a document: a line of an invoice, a rating of a part.

    Attributes:
        kind: the declared kind of rows (`RowKind.name`).
        values: typed values by column; what the row does not say is left out.
        raw: the row as it is printed, or as the embedded data hold it.
        start, end: character offsets into the document's text; None for data that are not in the text.
        page: number of the page, None when unknown.
        confidence: 0 to 1.
    """

    kind: str
    values: Mapping[str, Value]
    raw: str
    start: int | None
    end: int | None
    page: int | None
    confidence: float


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything that extraction found in one document, by field, and the rows of its tables."""

    fields: Mapping[str, Extracted] = field(default_factory=dict)
    refused: tuple[Refused, ...] = ()
    rows: tuple[FoundRow, ...] = ()

    @property
    def values(self) -> dict[str, Value]:
        """Return the typed values by field."""
        return {name: found.best.value for name, found in self.fields.items()}
