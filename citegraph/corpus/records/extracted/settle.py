"""Which value of a field a document gets: a person's correction, an annotation row, an extraction, a derivation."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from citegraph.corpus.records.annotations.annotation_tables import Source as Place
from citegraph.corpus.records.extracted.extraction_store import STORE_FROM
from citegraph.corpus.records.extracted.found import Candidate, Extracted, Extraction
from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.corpus.schema.field import Field, Value
from citegraph.corpus.schema.values import add_currencies, coerce, derive_values, same, to_json
from citegraph.errors import BadInput
from citegraph.language.amounts import Money, Quantity

RIVAL_FROM = 0.7
"""Confidence from which a value that contradicts the stored one is told beside it."""
MEASURED = (Money, Quantity, int, float, date)
"""Types of values whose rivals are told: of names, what is found beside a label is too often something else."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A document's values, and where those that were extracted stand in its text."""

    values: Mapping[str, Value]
    places: Mapping[str, Place] = field(default_factory=dict)
    extraction: Extraction = field(default_factory=Extraction)


def settle(
    bucket: Bucket,
    text: str,
    given: Mapping[str, Value],
    extraction: Extraction,
    corrections: Mapping[str, str | None],
) -> Settled:
    """Return the values that stand: corrections over given values over certain extractions over derived ones."""
    extraction = beside_given(extraction, given)
    certain = {
        name: found
        for name, found in extraction.fields.items()
        if found.confidence >= STORE_FROM and not found.overruled
    }
    without = {name: found.best.value for name, found in certain.items()} | dict(given)
    typed = typed_corrections(bucket, corrections)
    values = {name: value for name, value in without.items() if name not in typed}
    values |= {name: value for name, value in typed.items() if value is not None}
    add_currencies(bucket, values)
    derived = derive_values(bucket, values, text)
    places = {name: Place(by="rules") for name in derived if name not in values}
    places |= {
        name: place for name, found in certain.items() if name not in typed and (place := _place(found))
    }
    for name, value in typed.items():
        places[name] = _corrected_place(
            value, without.get(name), extraction.fields.get(name), given.get(name)
        )
    stay = {name: value for name, value in derived.items() if typed.get(name, value) is not None}
    return Settled(stay, places, extraction)


def _place(found: Extracted) -> Place | None:
    """Return where a value stands and what the document says against it; None when nothing is known of either."""
    best = found.best
    rival = max(found.others, key=lambda other: other.confidence, default=None)
    telling = rival is not None and rival.confidence >= RIVAL_FROM and isinstance(rival.value, MEASURED)
    against = f"{show(rival.value)}{_on_page(rival)}" if rival and telling else None
    if best.start is None and against is None:
        return None
    return Place(best.page, best.start, best.end, against=against, method=best.method if against else None)


def _on_page(candidate: Candidate) -> str:
    return "" if candidate.page is None else f" (page {candidate.page})"


def _corrected_place(
    value: Value | None, instead_of: Value | None, found: Extracted | None, given: Value | None
) -> Place:
    """Return the place that prints a corrected value, if one was found; else that a person says it, against what."""
    row = None if given is None else to_json(given)
    if value is not None and instead_of is not None and same(value) == same(instead_of):
        place = (_place(found) if found and given is None else None) or Place()
        return replace(place, given=row)
    candidates = (found.best, *found.others) if found else ()
    for candidate in candidates:
        if value is not None and candidate.start is not None and same(candidate.value) == same(value):
            return Place(candidate.page, candidate.start, candidate.end, given=row)
    placed = (
        f"{show(instead_of)}{_on_page(found.best) if found and given is None else ''}"
        if instead_of is not None
        else None
    )
    return Place(by="person", against=placed, given=row)


def beside_given(extraction: Extraction, given: Mapping[str, Value]) -> Extraction:
    """Return an extraction in which a field that was given is overruled, or left out where both say the same."""
    fields = {
        name: replace(found, overruled=name in given)
        for name, found in extraction.fields.items()
        if name not in given or same(given[name]) != same(found.best.value)
    }
    return replace(extraction, fields=fields)


def typed_corrections(bucket: Bucket, corrections: Mapping[str, str | None]) -> dict[str, Value | None]:
    """Return field -> a person's typed value, None for nothing; what no field takes (any more) is left out."""
    typed: dict[str, Value | None] = {}
    for name, raw in corrections.items():
        declared = corrected_field(bucket, name)
        if declared is None:
            continue
        try:
            typed[declared.name] = None if raw is None else read_correction(bucket, declared, raw)
        except BadInput:
            continue
    return typed


def corrected_field(bucket: Bucket, name: str) -> Field | None:
    """Return the field that a correction is of: the one of that name, or a renamed one that has it as a column."""
    named = next((item for item in bucket.fields if item.name == name), None)
    return named or next((item for item in bucket.fields if name in item.columns), None)


def read_correction(bucket: Bucket, declared: Field, raw: str) -> Value:
    """Return what a person typed as the field's type.

    Raises:
        BadInput: it cannot be read as that type; the message says why.
    """
    return coerce(declared, raw, today=date.today(), order=bucket.date_order)
