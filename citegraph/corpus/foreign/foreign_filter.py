"""Filters of a bucket as those of a collection that someone else wrote: other keys, values spelled as they stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from citegraph.corpus.filters.conditions import Condition, Range
from citegraph.corpus.foreign.foreign_reading import payload_name
from citegraph.corpus.records.access import LABELS_KEY
from citegraph.corpus.schema.field import Field
from citegraph.errors import BadInput
from citegraph.language.terms import fold

if TYPE_CHECKING:
    from citegraph.corpus.filters.qdrant_filter import FilterJSON
    from citegraph.corpus.schema.bucket import Bucket

Spelled = Callable[[str], Sequence[str]]
"""Gives the values that a payload key holds, as they are spelled there."""

Named = Callable[["Condition"], Sequence[str | int]]
"""Gives the points of the documents whose value of a field meets a condition."""


@dataclass(frozen=True, slots=True)
class Lookups:
    """What a filter asks of the collection and of what was read of it.

    Attributes:
        foreign: fields that the collection itself would compare otherwise; `named` answers for them.
        points_of: gives the points of documents.
    """

    spelled: Spelled
    points_of: Callable[[Sequence[str]], Sequence[str | int]]
    foreign: frozenset[str] = frozenset()
    named: Named | None = None


NOTHING: FilterJSON = {"has_id": []}
EVERYTHING: FilterJSON = {"must_not": [NOTHING]}
_KINDS: Mapping[str, tuple[str, ...]] = {
    "text": ("keyword",),
    "keyword": ("keyword",),
    "keywords": ("keyword",),
    "integer": ("integer", "float"),
    "decimal": ("float", "integer"),
    "money": ("float", "integer"),
    "quantity": ("float", "integer"),
    "date": ("datetime",),
    "boolean": ("bool",),
}
"""Kinds of payload index that serve a field type, the usual one first."""


def payload_key(bucket: Bucket, field: Field) -> str:
    """Return the payload key that holds a field: its first column, or its name, below the metadata key."""
    assert bucket.collection is not None
    name = payload_name(field)
    return f"{bucket.collection.metadata_key}.{name}" if bucket.collection.metadata_key else name


def index_kinds(field: Field) -> tuple[str, ...]:
    """Return the kinds of payload index that a filter on a field can use, the usual one first."""
    return _KINDS[field.type]


def filtered_fields(bucket: Bucket, given: Any) -> list[Field]:
    """Return the fields on which a filter of `citegraph.corpus.filters.qdrant_filter` has conditions."""
    if isinstance(given, list):
        return [field for one in given for field in filtered_fields(bucket, one)]
    if not isinstance(given, Mapping):
        return []
    key = given.get("key")
    if not isinstance(key, str):
        return [field for part in given.values() for field in filtered_fields(bucket, part)]
    name = given["match"]["value"] if key == "meta._fields" else key.removeprefix("meta.").partition(".")[0]
    field = bucket.field(name) if key.startswith("meta.") and key != LABELS_KEY else None
    return [field] if field else []


def own_filter(bucket: Bucket, given: FilterJSON, lookups: Lookups) -> FilterJSON:
    """Return a filter of `citegraph.corpus.filters.qdrant_filter` or `citegraph.corpus.index.index_protocol` for the bucket's own collection.

    Strings are compared folded, which the collection did not do: they are looked up among the values that
    it holds. An inclusive day takes in its hours. A field that the collection would compare otherwise (numbers
    as strings, days as seconds) is looked up in what was read of it, and its points are named.

    Raises:
        BadInput: a condition that the collection cannot answer.
    """
    if "key" in given:
        return _condition(bucket, given, lookups)
    if "is_empty" in given:
        return EVERYTHING if given["is_empty"]["key"] == LABELS_KEY else given
    if "has_id" in given:
        return given
    parts: FilterJSON = {}
    for clause, inner in given.items():
        if clause not in ("must", "should", "must_not"):
            raise BadInput(f"Unknown filter clause {clause!r}.")
        conditions = inner if isinstance(inner, list) else [inner]
        parts[clause] = [own_filter(bucket, one, lookups) for one in conditions]
    return parts


def _condition(bucket: Bucket, given: FilterJSON, lookups: Lookups) -> FilterJSON:
    assert bucket.collection is not None
    key, match = given["key"], given.get("match", {})
    if key == LABELS_KEY:
        return NOTHING
    if key == "doc_id":
        return {"has_id": list(lookups.points_of(_listed(match)))}
    if key in ("text", "identifiers"):
        words = _listed(match)
        content = bucket.collection.content_key
        return {"should": [{"key": content, "match": {"text": word}} for word in words]}
    if key == "meta._fields":
        field = _field(bucket, match["value"])
        if field.name in lookups.foreign and lookups.named:
            return {"has_id": list(lookups.named(Condition(field, present=True)))}
        return {"must_not": [{"is_empty": {"key": payload_key(bucket, field)}}]}
    name, _, part = key.removeprefix("meta.").partition(".")
    field = _field(bucket, name)
    if field.name in lookups.foreign and lookups.named:
        return {"has_id": list(lookups.named(_compiled(field, part, given)))}
    key = payload_key(bucket, field)
    if part == "currency":
        return _currency(bucket, field, match["value"], lookups.spelled)
    if "range" in given:
        bounds = given["range"]
        return {"key": key, "range": _hours(bounds) if field.type == "date" else bounds}
    if field.type == "boolean":
        return {"key": key, "match": {"value": match["value"] == "true"}}
    values = [value for value in lookups.spelled(key) if _fits(field, value, match)]
    return {"key": key, "match": {"any": values}} if values else NOTHING


def _compiled(field: Field, part: str, given: FilterJSON) -> Condition:
    """Return a condition on the payload of an ingested bucket as what it was made from (see `citegraph.corpus.filters.qdrant_filter`)."""
    if part == "currency":
        return Condition(field, ranges=(Range(currency=given["match"]["value"]),))
    if "range" in given:
        bounds = given["range"]
        if field.type == "date":
            bounds = {sign: date.fromisoformat(day[:10]) for sign, day in bounds.items()}
        low, high = bounds.get("gte", bounds.get("gt")), bounds.get("lte", bounds.get("lt"))
        return Condition(field, ranges=(Range(low, high, "gt" in bounds, "lt" in bounds),))
    ((how, wanted),) = given["match"].items()
    if field.type == "boolean":
        return Condition(field, flag=wanted == "true")
    if how in ("prefix", "substring"):
        return Condition(field, part=wanted, anchored=how == "prefix")
    return Condition(field, words=tuple(_listed(given["match"])))


def _field(bucket: Bucket, name: str) -> Field:
    field = bucket.field(name)
    if field is None:
        raise BadInput(f"{name[:60]!r} is not a field of {bucket.name}.")
    return field


def _listed(match: Mapping[str, Any]) -> list[str]:
    ((_, value),) = match.items()
    return value if isinstance(value, list) else [value]


def _fits(field: Field, value: str, match: Mapping[str, Any]) -> bool:
    canonical = fold(field.canonical.get(fold(value), value))
    ((how, wanted),) = match.items()
    if how == "prefix":
        return canonical.startswith(wanted)
    return wanted in canonical if how == "substring" else canonical in _listed(match)


def _currency(bucket: Bucket, field: Field, wanted: str, spelled: Spelled) -> FilterJSON:
    if field.currency_field:
        key = payload_key(bucket, _field(bucket, field.currency_field))
        values = [value for value in spelled(key) if fold(value) == fold(wanted)]
        return {"key": key, "match": {"any": values}} if values else NOTHING
    if field.currency is None:
        raise BadInput(
            f"Bucket {bucket.name!r} does not say in which currency {field.name!r} is: declare `currency` or "
            "`currency_field`, or leave the currency out of the filter."
        )
    return EVERYTHING if field.currency == wanted else NOTHING


def _hours(bounds: Mapping[str, str]) -> dict[str, str]:
    """Return bounds in days as bounds in time: through a day is before the next, after it is from the next."""
    kept = {}
    for sign, day in bounds.items():
        after = (datetime.fromisoformat(day) + timedelta(days=1)).isoformat().replace("+00:00", "Z")
        name, value = {"lte": ("lt", after), "gt": ("gte", after)}.get(sign, (sign, day))
        kept[name] = value
    return kept


def point_of(doc_id: str) -> str | int:
    """Return the point id at the end of a document id of such a bucket; numbers are numbers."""
    point = doc_id.rpartition("#")[2] if "#" in doc_id else doc_id.partition(":")[2]
    return int(point) if point.isdecimal() else point
