"""What people ask to be corrected, checked as a whole before anything is kept."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Literal

from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.records.documents import DocumentStore
from citegraph.corpus.records.extracted.corrections import Correction
from citegraph.corpus.records.extracted.extraction_store import ExtractionStore
from citegraph.corpus.records.extracted.settle import read_correction, typed_corrections
from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.corpus.schema.field import Field, Value
from citegraph.corpus.schema.values import coerce_period, read_row, to_json
from citegraph.errors import BadInput

if TYPE_CHECKING:
    from citegraph.corpus.schema.document import Document

Asked = Literal["set", "absent", "accept", "undo"]


@dataclass(frozen=True, slots=True)
class Change:
    """One change that a person asks for.

    Attributes:
        action: set the value `raw`; say that the document has none; take the value that was found as right; forget a
            correction.
        where: what the person wrote it in ("review.csv, row 3"), for messages.
    """

    doc_id: str
    field: str
    action: Asked
    raw: str = ""
    note: str | None = None
    where: str = ""


@dataclass(frozen=True)
class Editor:
    """Checks changes of one bucket against the stores, then keeps all of them or none.

    Attributes:
        by: who corrects; kept with every correction.
    """

    bucket: Bucket
    documents: DocumentStore
    annotations: AnnotationStore
    extractions: ExtractionStore
    by: str | None = None

    def apply(self, changes: Sequence[Change]) -> list[str]:
        """Keep the changes and return the ids of their documents; the stored values are not touched yet.

        The documents are marked before: whoever comes after a kill works out their values from what was kept.

        Raises:
            BadInput: a change cannot be made; every such one is named, and nothing was changed.
        """
        problems: list[str] = []
        kept: list[Correction] = []
        undone: list[tuple[str, str]] = []
        for change in changes:
            try:
                made = self._made(change)
            except BadInput as error:
                problems.append(f"{change.where}: {error}" if change.where else str(error))
                continue
            if made is None:
                undone.append((change.doc_id, self.field(change.field).name))
            else:
                kept.append(made)
        if problems:
            raise BadInput(
                "\n".join(
                    [*problems[:20], *([f"... and {len(problems) - 20} more"] if problems[20:] else [])]
                )
            )
        doc_ids = list(dict.fromkeys(change.doc_id for change in changes))
        self.documents.mark(doc_ids, "revising", only="done")
        # The last of several changes of one value counts.
        self.extractions.corrected.keep(list({(item.doc_id, item.field): item for item in kept}.values()))
        for doc_id, field in undone:
            self.extractions.corrected.undo(doc_id, field, self.by)
        return doc_ids

    def field(self, name: str) -> Field:
        """Return a field by name, column or word.

        Raises:
            BadInput: the bucket has none; the message names those that it has.
        """
        declared = self.bucket.field(name.strip())
        if declared is None:
            names = ", ".join(field.name for field in self.bucket.fields)
            raise BadInput(f"{self.bucket.name} has no field {name.strip()!r}; it has {names}.")
        return declared

    def _made(self, change: Change) -> Correction | None:
        """Return the correction that a change makes, None for one that is taken back."""
        document = self.documents.get(change.doc_id)
        if document is None or document.bucket != self.bucket.name:
            raise BadInput(f"There is no document {change.doc_id!r} in {self.bucket.name}.")
        declared = self.field(change.field)
        if change.action == "undo":
            if declared.name not in self.extractions.corrected.of_document(change.doc_id):
                raise BadInput(f"{declared.name} of {change.doc_id!r} was never corrected.")
            return None
        raw = self._raw(change, declared)
        made = Correction(
            self.bucket.name, document.doc_id, declared.name, raw, datetime.now(UTC), self.by, change.note
        )
        return made.made_on(document, self._instead_of(document, declared))

    def _raw(self, change: Change, declared: Field) -> str | None:
        match change.action:
            case "absent":
                return None
            case "accept":
                return raw_of(self._accepted(change.doc_id, declared))
        if not change.raw.strip():
            raise BadInput(f"{declared.name} is given no value; --absent says that the document has none.")
        try:
            if declared.type == "date":
                return one_day(self.bucket, declared, change.raw).isoformat()
            read_correction(self.bucket, declared, change.raw)
        except BadInput as error:
            example = f", for example {declared.examples[0]!r}" if declared.examples else ""
            raise BadInput(f"{declared.name} takes {_kind(declared)}{example}: {error}") from error
        return change.raw

    def _accepted(self, doc_id: str, declared: Field) -> Value:
        stands = (self.annotations.get(doc_id, self.bucket.name) or {}).get(declared.name)
        if stands is not None:
            return stands
        for found in self.extractions.get(doc_id):
            if found.field == declared.name and found.status == "uncertain":
                typed = read_row(self.bucket, {declared.name: found.value})[0]
                return typed[declared.name]
        raise BadInput(f"{declared.name} of {doc_id!r} has no value to accept; --set gives it one.")

    def _instead_of(self, document: "Document", declared: Field) -> Any:
        """Return, as plain JSON, the value that the field has without a correction."""
        stands = (self.annotations.get(document.doc_id, self.bucket.name) or {}).get(declared.name)
        before = self.extractions.corrected.of_document(document.doc_id).get(declared.name)
        if before is not None:
            typed = typed_corrections(self.bucket, {declared.name: before.raw})
            if typed.get(declared.name) == stands:
                return before.instead_of
        return None if stands is None else to_json(stands)


def one_day(bucket: Bucket, declared: Field, raw: str) -> date:
    """Return the day that a text names.

    Raises:
        BadInput: it names none, or several ("March 2024").
    """
    period = coerce_period(declared, raw, today=date.today(), order=bucket.date_order)
    if period.start is None or not period.is_day:
        raise BadInput(f"{raw!r} is not one day")
    return period.start


def raw_of(value: Value) -> str:
    """Return a value as a person would type it: read again it is the same value."""
    return json.dumps(list(value), ensure_ascii=False) if isinstance(value, tuple) else show(value)


_KINDS = {
    "text": "a text",
    "keyword": "a name or code",
    "keywords": "names, separated by semicolons",
    "integer": "a whole number",
    "decimal": "a number",
    "money": "an amount such as '12.50 EUR'",
    "date": "a day such as '2024-03-14'",
    "boolean": "yes or no",
}


def _kind(declared: Field) -> str:
    return f"a quantity in {declared.unit}" if declared.type == "quantity" else _KINDS[declared.type]
