"""The annotations of all documents in SQL: one table a bucket, made from its declaration."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from citegraph.corpus.filters.clause import Clause, Filters, Operator
from citegraph.corpus.filters.filter_operators import Relaxation, weaker_filters
from citegraph.corpus.filters.sql_filter import compared_column, date_label, to_sql
from citegraph.corpus.records.access import Principal, seen_buckets, sql_condition
from citegraph.corpus.records.annotations.annotation_tables import (
    BATCH,
    AnnotationWrites,
    Source,
    counted_form,
    field_columns,
    to_values,
)
from citegraph.corpus.records.database import batches, once, once_each
from citegraph.corpus.records.documents import arrivals_table
from citegraph.corpus.schema.field import Field, Value
from citegraph.errors import BadInput

Order = Sequence[str]
"""Field names to order by; a leading "-" is descending. Documents without the field come last."""
ADDED = "@added"
"""Stands in an `Order` for the moment at which a document came in; no field can be called so."""


class AnnotationStore(AnnotationWrites):
    """The annotations of every bucket, as a principal may read them; see `AnnotationWrites` for how they are kept."""

    def seen_by(self, principal: Principal) -> AnnotationStore:
        """Return the store for reading as a principal sees it: its buckets, and the documents it may see.

        Values are then counted in the documents themselves, since `meta_values` counts all of them.
        """
        view = copy(self)
        view.buckets = seen_buckets(principal, self.buckets)
        view.tables = {name: self.tables[name] for name in view.buckets}
        view.principal = principal
        return view

    def version(self, bucket: str) -> int:
        """Return the number of changes that the bucket's annotations have seen."""
        return self.all_versions().get(bucket, 0)

    def all_versions(self) -> dict[str, int]:
        """Return `version` of each bucket by name."""
        statement = sa.select(self.versions.c.bucket, self.versions.c.version)
        rows = once((self.engine, "versions"), lambda: self.run(statement).all())
        found = {name: int(version) for name, version in rows}
        return {name: found.get(name, 0) for name in self.buckets}

    def get(self, doc_id: str, bucket: str | None = None) -> dict[str, Value] | None:
        """Return a document's typed values; None when no bucket (or not that one) knows it."""
        for name in self.buckets if bucket is None else (bucket,):
            found = self.values_of(name, [doc_id])
            if doc_id in found:
                return found[doc_id]
        return None

    def values_of(self, bucket: str, doc_ids: Sequence[str]) -> dict[str, dict[str, Value]]:
        """Return the typed values of those among many documents that the bucket knows, by id."""
        if bucket not in self.tables:
            return {}
        rows, declared = self.tables[bucket].rows, self.buckets[bucket]

        def read(missing: Sequence[str]) -> dict[str, dict[str, Value]]:
            found = {}
            for ids in batches(missing):
                chosen = sa.and_(rows.c.doc_id.in_(ids), sql_condition(self.principal, rows.c.doc_id))
                for row in self.run(sa.select(rows).where(chosen)).mappings():
                    found[row["doc_id"]] = to_values(declared, row)
            return found

        kept = once_each((self.engine, self.principal, "values", bucket), doc_ids, read)
        return {doc_id: dict(values) for doc_id, values in kept.items()}

    def filled(self, bucket: str, doc_ids: Sequence[str]) -> dict[str, int]:
        """Return field -> how many of these documents have a value of it."""
        rows, counts = self.tables[bucket].rows, Counter[str]()
        columns = [sa.func.count(rows.c[item.name]).label(item.name) for item in self.buckets[bucket].fields]
        for ids in batches(doc_ids):
            chosen = sa.and_(rows.c.doc_id.in_(ids), sql_condition(self.principal, rows.c.doc_id))
            counts.update(self.run(sa.select(*columns).where(chosen)).mappings().one())
        return dict(counts)

    def get_sources(self, doc_id: str, bucket: str) -> dict[str, Source]:
        """Return where the values of a document were found, for those that were extracted."""
        return self.sources_of(bucket, [doc_id]).get(doc_id, {})

    def sources_of(self, bucket: str, doc_ids: Sequence[str]) -> dict[str, dict[str, Source]]:
        """Return `get_sources` of those among many documents that have some, by id."""
        if bucket not in self.tables:
            return {}
        rows = self.tables[bucket].rows

        def read(missing: Sequence[str]) -> dict[str, dict[str, Source]]:
            found = {}
            for ids in batches(missing):
                chosen = sa.and_(
                    rows.c.doc_id.in_(ids),
                    rows.c.sources.is_not(None),
                    sql_condition(self.principal, rows.c.doc_id),
                )
                for doc_id, places in self.run(sa.select(rows.c.doc_id, rows.c.sources).where(chosen)):
                    found[doc_id] = {name: Source(**place) for name, place in places.items()}
            return found

        return once_each((self.engine, self.principal, "sources", bucket), doc_ids, read)

    def count(self, bucket: str, filters: Filters = ()) -> int:
        """Return how many documents match checked filters."""
        statement = (
            sa.select(sa.func.count())
            .select_from(self.tables[bucket].rows)
            .where(self.condition(bucket, filters))
        )
        return int(self.run(statement).scalar_one())

    def condition(self, bucket: str, filters: Filters) -> sa.ColumnElement[bool]:
        """Return checked filters, and what the principal may see, as a condition on the bucket's table."""
        rows = self.tables[bucket].rows
        chosen = to_sql(self.buckets[bucket], filters, self.tables[bucket])
        return chosen if self.sees_all else sa.and_(chosen, sql_condition(self.principal, rows.c.doc_id))

    @property
    def sees_all(self) -> bool:
        """Tell whether no document of its buckets is hidden from the principal of this store."""
        return self.principal.sees_whole_buckets

    def listed(self, bucket: str, field: str) -> sa.Subquery:
        """Return (folded, value, count) of the listed values of a field, of a date its years, as a subquery."""
        values = self.values
        if self.sees_all:
            kept = sa.select(values.c.folded, values.c.value, values.c.count)
            return kept.where(values.c.bucket == bucket, values.c.field == field).subquery()
        declared = self.field(bucket, field)
        rows, items = self.tables[bucket].rows, self.tables[bucket].items
        seen = sql_condition(self.principal, rows.c.doc_id)
        key: sa.ColumnElement[Any] = compared_column(declared, rows)
        shown: sa.ColumnElement[Any]
        if declared.type == "keywords":
            seen = sa.and_(items.c.field == declared.name, sql_condition(self.principal, items.c.doc_id))
            key, shown = items.c.folded, items.c.value
        elif declared.type == "date":
            shown = key = date_label(key, "year")
        else:
            shown = rows.c[declared.name]
        counted = sa.select(
            key.label("folded"), sa.func.min(shown).label("value"), sa.func.count().label("count")
        )
        return counted.where(seen, key.is_not(None)).group_by(key).subquery()

    def document_ids(
        self, bucket: str, filters: Filters = (), order_by: Order = (), limit: int | None = None
    ) -> list[str]:
        """Return the ids of the documents that match, ordered (by id where nothing else decides)."""
        rows = self.tables[bucket].rows
        statement = sa.select(rows.c.doc_id).where(self.condition(bucket, filters))
        statement = statement.order_by(*self.ordering(bucket, order_by)).limit(limit)
        return list(self.run(statement).scalars())

    def rows(
        self,
        bucket: str,
        filters: Filters = (),
        fields: Sequence[str] | None = None,
        order_by: Order = (),
        limit: int | None = None,
        offset: int = 0,
        only: Sequence[str] | None = None,
    ) -> list[dict[str, Any]]:
        """Return matching documents as `{"doc_id": ..., field: typed value}`; absent fields are left out.

        Args:
            only: the documents among which to look; default: all of the bucket.
        """
        statement = self.rows_statement(bucket, filters, fields, order_by).limit(limit).offset(offset)
        if only is not None:
            statement = statement.where(self.tables[bucket].rows.c.doc_id.in_(only))
        names = None if fields is None else [self.field(bucket, name).name for name in fields]
        return [
            {"doc_id": row["doc_id"], **to_values(self.buckets[bucket], row, names)}
            for row in self.run(statement).mappings()
        ]

    def rows_statement(
        self, bucket: str, filters: Filters, fields: Sequence[str] | None, order_by: Order
    ) -> sa.Select[Any]:
        """Return the SELECT of `rows`, without its limit."""
        table = self.tables[bucket].rows
        if fields is None:
            columns = list(table.columns)
        else:
            declared = [self.field(bucket, name) for name in fields]
            columns = [
                table.c.doc_id,
                *(table.c[column.name] for item in declared for column in field_columns(item)),
            ]
        condition = self.condition(bucket, filters)
        return sa.select(*columns).where(condition).order_by(*self.ordering(bucket, order_by))

    def ordering(self, bucket: str, order_by: Order) -> list[sa.ColumnElement[Any]]:
        """Return the ORDER BY of field names; a missing value comes last either way."""
        rows = self.tables[bucket].rows
        parts: list[sa.ColumnElement[Any]] = []
        for name in order_by:
            column: sa.ColumnElement[Any]
            if name.removeprefix("-") == ADDED:
                came = sa.select(arrivals_table.c.at).where(arrivals_table.c.doc_id == rows.c.doc_id)
                column = came.scalar_subquery()
            else:
                declared = self.field(bucket, name.removeprefix("-"))
                folded = declared.type in ("text", "keyword")
                column = rows.c[f"{declared.name}__folded" if folded else declared.name]
            parts.append(column.desc().nulls_last() if name.startswith("-") else column.asc().nulls_last())
        return [*parts, rows.c.doc_id]

    # --- counts within a set --------------------------------------------------------------------

    def facets(
        self, bucket: str, filters: Filters = (), fields: Sequence[str] | None = None, limit: int = 10
    ) -> dict[str, list[Facet]]:
        """Return, for each field, its most frequent values within the matching documents, with counts.

        Dates are counted by year; fields that are missing throughout are left out.

        Args:
            fields: default: every field that can be counted (listed values, dates, truth values).
            limit: values a field.
        """
        declared = (
            countable(self, bucket) if fields is None else [self.field(bucket, name) for name in fields]
        )
        with ThreadPoolExecutor(max_workers=4) as threads:
            counts = threads.map(
                lambda item: _field_facets(self, bucket, filters, declared=item, limit=limit),
                declared,
            )
            return {item.name: facets for item, facets in zip(declared, counts, strict=True) if facets}

    def telling_facets(
        self, bucket: str, filters: Filters = (), *, fields: int = 3, limit: int = 10
    ) -> dict[str, list[Facet]]:
        """Return the facets that cut the matching documents best: those of the highest entropy first.

        The entropy is that of the shown values and one rest (other values and missing), in bits; a field
        with one value for all says nothing, and one with a value a document leaves all in the rest.
        """
        total = self.count(bucket, filters)
        facets = self.facets(bucket, filters, limit=limit)
        told = {name: entropy([facet.count for facet in found], total) for name, found in facets.items()}
        ranked = sorted(facets, key=lambda name: -told[name])
        return {name: facets[name] for name in [name for name in ranked if told[name] > 0.1][:fields]}

    def shown_values(self, bucket: str, field: str, folded: Sequence[Any]) -> dict[Any, str]:
        """Return folded values of a listed field to how they are shown; of other fields nothing."""
        keys = [key for key in folded if isinstance(key, str)]
        if not self.field(bucket, field).is_listed or not keys:
            return {}
        values = self.listed(bucket, field)
        found: dict[Any, str] = {}
        for start in range(0, len(keys), BATCH):
            some = values.c.folded.in_(keys[start : start + BATCH])
            for key, value in self.run(sa.select(values.c.folded, values.c.value).where(some)):
                found[key] = value
        return found

    def relaxations(self, bucket: str, filters: Filters) -> list[Relaxation]:
        """Return what weaker filters would find, counted in one statement, in the order of giving up.

        First each soft clause given up alone, least important (`Field.relax`) first; then, one after the
        other, all of them. Clauses of the user and of access control are never given up.
        """
        weaker = weaker_filters(self.buckets[bucket], filters)
        if not weaker:
            return []
        rows = self.tables[bucket].rows
        counts = [
            sa.select(sa.func.count())
            .select_from(rows)
            .where(self.condition(bucket, remaining))
            .scalar_subquery()
            for _, remaining in weaker
        ]
        found = self.run(sa.select(*(count.label(f"n{number}") for number, count in enumerate(counts)))).one()
        return [Relaxation(*parts, count) for parts, count in zip(weaker, found, strict=True)]

    def unknown(self, bucket: str, filters: Filters) -> dict[str, int]:
        """Return, by field, how many documents fail a clause only because they do not have its field."""
        rows = self.tables[bucket].rows
        counts: dict[str, sa.ColumnElement[int]] = {}
        for item in filters:
            if (
                isinstance(item, Clause)
                and item.operator not in ("exists", "missing")
                and item.field not in counts
            ):
                others = tuple(other for other in filters if other != item)
                missing = compared_column(self.field(bucket, item.field), rows).is_(None)
                statement = (
                    sa.select(sa.func.count())
                    .select_from(rows)
                    .where(self.condition(bucket, others), missing)
                )
                counts[item.field] = statement.scalar_subquery()
        if not counts:
            return {}
        found = self.run(sa.select(*counts.values())).one()
        return {name: count for name, count in zip(counts, found, strict=True) if count}

    def field(self, bucket: str, name: str) -> Field:
        """Return a declared field by name or alias.

        Raises:
            BadInput: the bucket has none.
        """
        declared = self.buckets[bucket].field(name)
        if declared is None:
            raise BadInput(f"{name[:60]!r} is not a field of {bucket}")
        return declared


@dataclass(frozen=True, slots=True)
class Facet:
    """One value of a field within a set of documents, how many have it, and the clause that means it."""

    field: str
    label: str
    count: int
    clause: Clause


def countable(store: AnnotationStore, bucket: str) -> list[Field]:
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
    store: AnnotationStore, bucket: str, filters: Filters, *, declared: Field, limit: int
) -> list[Facet]:
    """Return the most frequent values of a field, of dates the years."""
    if declared.type == "date" and filters:
        years: Counter[str] = Counter()
        for day, count in store.run(_grouped(store, bucket, filters, declared)):
            years[counted_form(day)] += count
        counted: list[tuple[Any, int]] = years.most_common(limit)
    else:
        found = store.run(_grouped(store, bucket, filters, declared).limit(limit))
        counted = [(key, count) for key, count in found]
    shown = store.shown_values(bucket, declared.name, [key for key, _ in counted])
    return [_facet(declared, shown.get(key, key), count) for key, count in counted]


def _grouped(store: AnnotationStore, bucket: str, filters: Filters, declared: Field) -> sa.Select[Any]:
    """Return (value, count) by frequency; of a date every day, which an index gives in order."""
    rows, items = store.tables[bucket].rows, store.tables[bucket].items
    condition = store.condition(bucket, filters)
    if not filters and (declared.is_listed or declared.type == "date"):
        values = store.listed(bucket, declared.name)
        return sa.select(values.c.folded, values.c.count).order_by(values.c.count.desc(), values.c.folded)
    if declared.type == "keywords":
        matching = items.c.doc_id.in_(sa.select(rows.c.doc_id).where(condition))
        key: sa.ColumnElement[Any] = items.c.folded
        source = sa.select(key, sa.func.count()).where(items.c.field == declared.name, matching)
    else:
        key = compared_column(declared, rows)
        source = sa.select(key, sa.func.count()).select_from(rows).where(condition, key.is_not(None))
    source = source.group_by(key)
    return source if declared.type == "date" else source.order_by(sa.func.count().desc(), key)


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
