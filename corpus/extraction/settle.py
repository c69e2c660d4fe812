"""Which value of a field a document gets: a person's correction, an annotation row, an extraction, a derivation."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from corpus.annotation_tables import Source as Place
from corpus.buckets import Bucket
from corpus.coercion import coerce
from corpus.extraction.engine import Source, extract, same
from corpus.extraction.found import Extraction
from corpus.extraction.store import STORE_FROM
from corpus.fields import Value
from corpus.types import Document
from llm.errors import BadInput


@dataclass(frozen=True, slots=True)
class Settled:
    """A document's values, and where those that were extracted stand in its text."""

    values: Mapping[str, Value]
    places: Mapping[str, Place] = field(default_factory=dict)
    extraction: Extraction = field(default_factory=Extraction)


def extract_document(bucket: Bucket, document: Document, *, today: date | None = None) -> Extraction:
    """Return what the bucket's rules find in a document."""
    embedded = [item.text.encode() for item in document.embedded if "xml" in item.media_type]
    return extract(
        bucket, Source(document.text, document.pages, embedded, today or date.today(), document.layouts)
    )


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
    values = {name: found.best.value for name, found in certain.items()} | dict(given)
    places = {
        name: Place(found.best.page, found.best.start, found.best.end)
        for name, found in certain.items()
        if name not in corrections and found.best.start is not None
    }
    values = bucket.derive(corrected(bucket, values, corrections), text)
    removed = {name for name, raw in corrections.items() if raw is None}
    return Settled({name: value for name, value in values.items() if name not in removed}, places, extraction)


def beside_given(extraction: Extraction, given: Mapping[str, Value]) -> Extraction:
    """Return an extraction in which a field that was given is overruled, or left out where both say the same."""
    fields = {
        name: replace(found, overruled=name in given)
        for name, found in extraction.fields.items()
        if name not in given or same(given[name]) != same(found.best.value)
    }
    return replace(extraction, fields=fields)


def corrected(
    bucket: Bucket, values: Mapping[str, Value], corrections: Mapping[str, str | None]
) -> dict[str, Value]:
    """Return values with a person's corrections; one that its field no longer takes is passed over."""
    result = dict(values)
    for name, raw in corrections.items():
        declared = bucket.field(name)
        if declared is None:
            continue
        result.pop(declared.name, None)
        if raw is not None:
            try:
                result[declared.name] = coerce(declared, raw, today=date.today(), order=bucket.date_order)
            except BadInput:
                continue
    return result
