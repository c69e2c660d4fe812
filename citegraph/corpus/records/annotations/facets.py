"""Facets: the most frequent values of fields within a set of documents, counted exactly."""

import math
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, func, select

from citegraph.corpus.filters.clause import Clause, Filters, Operator
from citegraph.corpus.filters.sql_filter import compared_column
from citegraph.corpus.records.annotations.annotation_tables import counted_form
from citegraph.corpus.records.annotations.year_index import grouping_condition
from citegraph.corpus.schema.field import Field

if TYPE_CHECKING:
    from citegraph.corpus.records.annotations.annotation_store import AnnotationStore

GROUPED = 20_000
"""Documents up to which a set is grouped outright; sorting more is slower than asking for the likely values."""

LIKELY = (48, 480)
"""How many of the bucket's most frequent values are counted within a large set before all of it is grouped."""


@dataclass(frozen=True, slots=True)
class Facet:
    """One value of a field within a set of documents, how many have it, and the clause that means it."""

    field: str
    label: str
    count: int
    clause: Clause


def count_facets(
    store: "AnnotationStore",
    bucket: str,
    filters: Filters = (),
    *,
    fields: Sequence[str] | None = None,
    limit: int = 10,
) -> dict[str, list[Facet]]:
    """Return, for each field, its most frequent values within the matching documents, with counts.

    Dates are counted by year; fields that are missing throughout are left out.

    Args:
        fields: default: every field that can be counted (listed values, dates, truth values).
        limit: values a field.
    """
    declared = (
        [store.field(bucket, name) for name in fields] if fields is not None else countable(store, bucket)
    )
    large = bool(filters) and store.count(bucket, filters) > GROUPED
    with ThreadPoolExecutor(max_workers=4) as threads:
        counts = threads.map(
            lambda item: _field_facets(store, bucket, filters, declared=item, limit=limit, large=large),
            declared,
        )
        return {item.name: facets for item, facets in zip(declared, counts, strict=True) if facets}


def most_telling(
    store: "AnnotationStore", bucket: str, filters: Filters = (), *, fields: int = 3, limit: int = 10
) -> dict[str, list[Facet]]:
    """Return the facets that cut the matching documents best: those of the highest entropy first.

    The entropy is that of the shown values and one rest (other values and missing), in bits; a field
    with one value for all says nothing, and one with a value a document leaves all in the rest.
    """
    total = store.count(bucket, filters)
    facets = count_facets(store, bucket, filters, limit=limit)
    told = {name: entropy([facet.count for facet in found], total) for name, found in facets.items()}
    ranked = sorted(facets, key=lambda name: -told[name])
    return {name: facets[name] for name in [name for name in ranked if told[name] > 0.1][:fields]}


def countable(store: "AnnotationStore", bucket: str) -> list[Field]:
    """Return the fields whose values are worth counting: no identifiers, no versions, no currency beside an amount."""
    currencies = {item.currency_field for item in store.buckets[bucket].fields}
    return [
        item
        for item in store.buckets[bucket].fields
        if (item.is_listed or item.type in ("date", "boolean"))
        and item.facet
        and item.kind not in ("identifier", "version")
        and item.name not in currencies
    ]


def _field_facets(
    store: "AnnotationStore", bucket: str, filters: Filters, *, declared: Field, limit: int, large: bool
) -> list[Facet]:
    """Return the most frequent values of a field, of dates the years."""
    if declared.type == "date" and filters:
        years: Counter[str] = Counter()
        for day, count in store.run(_grouped(store, bucket, filters, declared)):
            years[counted_form(day)] += count
        counted: list[tuple[Any, int]] = years.most_common(limit)
    else:
        likely = _likely(store, bucket, filters, declared=declared, limit=limit) if large else None
        found = likely or store.run(_grouped(store, bucket, filters, declared).limit(limit))
        counted = [(key, count) for key, count in found]
    shown = store.shown_values(bucket, declared.name, [key for key, _ in counted])
    return [_facet(declared, shown.get(key, key), count) for key, count in counted]


def _likely(
    store: "AnnotationStore", bucket: str, filters: Filters, *, declared: Field, limit: int
) -> list[tuple[str, int]] | None:
    """Return the most frequent values of a keyword within a large set without grouping it, None when that cannot be.

    A value is in the set at most as often as in the bucket, whose counts are kept. So the bucket's most frequent
    values are counted within the set; they are the answer when the last of them that is shown is more frequent than
    any other value can be (the threshold algorithm of Fagin, Lotem and Naor, 2001).
    """
    if declared.type != "keyword":
        return None
    column, values = compared_column(declared, store.tables[bucket].rows), store.listed(bucket, declared.name)
    ranked = select(values.c.folded, values.c.count)
    ranked = ranked.order_by(values.c.count.desc(), values.c.folded).limit(LIKELY[-1] + 1)
    overall = [(key, count) for key, count in store.run(ranked)]
    condition = grouping_condition(store, bucket, filters, key=declared)
    for size in LIKELY:
        some = [key for key, _ in overall[:size]]
        counts = select(column, func.count()).where(condition, column.in_(some))
        found = [(key, count) for key, count in store.run(counts.group_by(column))]
        found.sort(key=lambda item: (-item[1], item[0]))
        if size >= len(overall):
            return found[:limit]
        if len(found) >= limit and found[limit - 1][1] > overall[size][1]:
            return found[:limit]
    return None


def _grouped(store: "AnnotationStore", bucket: str, filters: Filters, declared: Field) -> Select[Any]:
    """Return (value, count) by frequency; of a date every day, which an index gives in order."""
    rows, items = store.tables[bucket].rows, store.tables[bucket].items
    condition = grouping_condition(store, bucket, filters, key=declared)
    if not filters and (declared.is_listed or declared.type == "date"):
        values = store.listed(bucket, declared.name)
        return select(values.c.folded, values.c.count).order_by(values.c.count.desc(), values.c.folded)
    if declared.type == "keywords":
        matching = items.c.doc_id.in_(select(rows.c.doc_id).where(condition))
        key: ColumnElement[Any] = items.c.folded
        source = select(key, func.count()).where(items.c.field == declared.name, matching)
    else:
        key = compared_column(declared, rows)
        source = select(key, func.count()).select_from(rows).where(condition, key.is_not(None))
    source = source.group_by(key)
    return source if declared.type == "date" else source.order_by(func.count().desc(), key)


def _facet(declared: Field, value: Any, count: int) -> Facet:
    if declared.type == "date":
        between = Clause(field=declared.name, operator="between", value=[f"{value}-01-01", f"{value}-12-31"])
        return Facet(declared.name, value, count, between)
    if declared.type == "boolean":
        clause = Clause(field=declared.name, operator="=", value=bool(value))
        return Facet(declared.name, "yes" if value else "no", count, clause)
    operator: Operator = "contains" if declared.type == "keywords" else "="
    return Facet(declared.name, value, count, Clause(field=declared.name, operator=operator, value=value))


def entropy(counts: Sequence[int], total: int) -> float:
    """Return the Shannon entropy, in bits, of counts and the rest up to a total."""
    rest = total - sum(counts)
    shares = [count / total for count in (*counts, rest) if count > 0 and total > 0]
    return -sum(share * math.log2(share) for share in shares)
