"""Typed queries over the annotations: lists, counts, sums and groups over all matching documents, in SQL."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pydantic import BaseModel
from pydantic import Field as Declared
from sqlalchemy import ColumnElement, FromClause, Select, func, or_, select

from citegraph.corpus.filters.clause import Filters, clauses_in, each_value
from citegraph.corpus.filters.filter_operators import COMPARES
from citegraph.corpus.filters.sql_filter import compared_column, date_label
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.records.querying.aggregates import (
    MINUS,
    Aggregate,
    Function,
    Having,
    compute,
    days_between,
    median_of,
    value_column,
)
from citegraph.corpus.schema.bucket import Bucket, bucket_named
from citegraph.corpus.schema.field import Field
from citegraph.corpus.schema.values import to_json
from citegraph.errors import BadInput
from citegraph.language.amounts import rounded
from citegraph.language.terms import fold

_SUMMED = frozenset({"integer", "decimal", "money", "quantity"})
_ORDERED = _SUMMED | {"date"}
BOUNDS = {"select": 100, "aggregate": 20, "group_by": 10, "order_by": 20, "only": 30_000, "besides": 1_000}
"""Most of each part of a query: databases take some thousand columns and some ten thousand parameters."""
NO_VALUE = "(missing)"
"""What a group of documents without the field is called."""


class DocumentQuery(BaseModel, frozen=True, extra="forbid"):
    """A query over one bucket's annotations.

    Attributes:
        filters: checked filters (`citegraph.corpus.filters.clause.check_filters`).
        select: fields of a list, besides the document id; ignored when something is aggregated.
        aggregate: numbers to compute, a column each.
        group_by: fields, or dates cut to "field.year", "field.quarter", "field.month", "field.day"; of a field of several
            values a document is in the group of each, of those alone that the filters ask for.
        besides: values of fields of several that make no group; with it, also when empty, all others do, whatever the
            filters ask for. None for those of the filters.
        order_by: fields, or with aggregates column names; a leading "-" is descending.
        having: conditions on the numbers of a group.
        limit: rows at most; None is all.
        only: documents to stay within, where something else than filters chose them; None for all.
    """

    bucket: str
    filters: Filters = ()
    select: tuple[str, ...] = ()
    aggregate: tuple[Aggregate, ...] = ()
    group_by: tuple[str, ...] = ()
    besides: tuple[str, ...] | None = None
    order_by: tuple[str, ...] = ()
    having: tuple[Having, ...] = ()
    limit: int | None = Declared(default=100, ge=1, le=100_000)
    only: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query found.

    Attributes:
        columns: names of the columns, in order.
        rows: JSON values by column; money is `{"amount": "12.50", "currency": "EUR"}`.
        matched: documents that pass the filters.
        covered: of those, how many have each field that was selected, aggregated or grouped by.
        currencies: the currencies of the aggregated money; with more than one each has its own row,
            None stands for amounts whose currency is unknown.
        truncated: whether more rows exist than `limit` let through.
        notes: sentences for the answer ("summed 612 of 626; 14 have no total_amount").
    """

    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    matched: int
    covered: Mapping[str, int] = field(default_factory=dict)
    currencies: tuple[str | None, ...] = ()
    truncated: bool = False
    notes: tuple[str, ...] = ()


def run_query(store: AnnotationStore, query: DocumentQuery) -> QueryResult:
    """Return the query's result, computed by the database over all matching documents.

    Raises:
        BadInput: an unknown bucket, field or column, or a function that does not fit a field.
        Unavailable: the database does not answer.
    """
    bucket = bucket_named(store.buckets, query.bucket)
    for name, most in BOUNDS.items():
        if len(getattr(query, name) or ()) > most:
            raise BadInput(f"a query takes at most {most:,} of {name}")
    if query.aggregate or query.group_by:
        return _aggregated(store, bucket, query)
    return _listed(store, bucket, query)


def _listed(store: AnnotationStore, bucket: Bucket, query: DocumentQuery) -> QueryResult:
    names = [_field(bucket, name).name for name in query.select]
    more = None if query.limit is None else query.limit + 1
    found = store.rows(query.bucket, query.filters, names, query.order_by, more)
    rows = [{"doc_id": row["doc_id"], **{name: _shown(row.get(name)) for name in names}} for row in found]
    matched, covered = _coverage(store, query, [_field(bucket, name) for name in names])
    return QueryResult(
        ("doc_id", *names),
        rows[: query.limit],
        matched,
        covered,
        truncated=query.limit is not None and len(rows) > query.limit,
    )


def _condition(store: AnnotationStore, query: DocumentQuery) -> ColumnElement[bool]:
    """Return what a document must meet: the filters, and to be one of the chosen ones."""
    chosen = store.condition(query.bucket, query.filters)
    if query.only is None:
        return chosen
    return chosen & store.tables[query.bucket].rows.c.doc_id.in_(query.only)


def _source(store: AnnotationStore, query: DocumentQuery, groups: Sequence["_Group"]) -> FromClause:
    """Return the bucket's table, a row for each value of the fields of several values that are grouped by."""
    source: FromClause = store.tables[query.bucket].rows
    for group in groups:
        source = group.joined(store, source, query)
    return source


class _Group:
    """One thing that rows are grouped by: a field, or a date cut to a year, quarter, month or day."""

    def __init__(self, bucket: Bucket, text: str) -> None:
        base, _, cut = text.partition(".")
        self.field = _field(bucket, base)
        if cut and (self.field.type != "date" or cut not in ("year", "quarter", "month", "day")):
            raise BadInput(f"cannot group by {text[:60]!r} (dates group by .year, .quarter, .month or .day)")
        if self.field.type == "text":
            raise BadInput(f"cannot group by {self.field.name}, which is {self.field.type}")
        self.bucket = bucket.name
        self.items: Any = None
        self.cut = cut
        self.name = f"{self.field.name}.{cut}" if cut else self.field.name

    def joined(self, store: AnnotationStore, source: FromClause, query: DocumentQuery) -> FromClause:
        """Return `source` with a row for each value of a field of several, of those that the query lets make a group."""
        if self.field.type != "keywords":
            return source
        tables = store.tables[self.bucket]
        self.items = tables.items.alias(f"items_{self.field.name}")
        belongs = (self.items.c.doc_id == tables.rows.c.doc_id) & (self.items.c.field == self.field.name)
        if query.besides is not None:
            kept = self.items.c.folded.not_in([fold(value) for value in query.besides])
            return source.join(self.items, belongs & kept, isouter=not query.besides)
        asked = [fold(value) for value in asked_values(query.filters, self.field.name)]
        if not asked:
            return source.outerjoin(self.items, belongs)
        return source.join(self.items, belongs & self.items.c.folded.in_(asked))

    def key(self, table: Any) -> ColumnElement[Any]:
        """Return what makes two rows one group."""
        if self.items is not None:
            several: ColumnElement[Any] = self.items.c.folded
            return several
        column = compared_column(self.field, table)
        if self.cut in ("year", "quarter", "month"):
            return date_label(column, self.cut)
        return column

    def values(self, store: AnnotationStore, lines: Sequence[Any]) -> list[Any]:
        """Return the group's name in each line of a result; keywords as they are shown."""
        shown = store.shown_values(self.bucket, self.field.name, lines)
        return [self._value(shown.get(raw, raw)) for raw in lines]

    def _value(self, raw: Any) -> Any:
        """Return the group's name as JSON; "(missing)" when there is no value."""
        if raw is None:
            return NO_VALUE
        return _shown(raw)


def asked_values(filters: Filters, name: str) -> list[str]:
    """Return the values of a field that filters ask for, one or any of several; none where they say otherwise."""
    values: list[str] = []
    for item in filters:
        clauses = tuple(clauses_in(item))
        if {clause.field for clause in clauses} != {name}:
            continue
        if not all(clause.operator in ("=", "in", "contains") for clause in clauses):
            return []
        for clause in clauses:
            values += map(str, each_value(clause.value))
    return values


def _aggregated(store: AnnotationStore, bucket: Bucket, query: DocumentQuery) -> QueryResult:
    groups = [_Group(bucket, text) for text in query.group_by]
    aggregates = query.aggregate or (Aggregate(function="count"),)
    fields = [_aggregated_field(bucket, item) for item in aggregates]
    aggregates = tuple(
        item.model_copy(update={"field": declared.name}) if declared else item
        for item, declared in zip(aggregates, fields, strict=True)
    )
    statement = _aggregate_statement(store, query, groups, list(zip(aggregates, fields, strict=True)))
    more = None if query.limit is None else query.limit + 1
    concerned = {item.name: item for item in (*fields, *(group.field for group in groups)) if item}
    # Two passes over the matching documents, at the same time.
    with ThreadPoolExecutor(max_workers=1) as thread:
        counting = thread.submit(_coverage, store, query, list(concerned.values()))
        lines = store.run(statement.limit(more)).mappings().all()
        matched, covered = counting.result()
    rows: list[dict[str, Any]] = [{} for _ in lines]
    for number, group in enumerate(groups):
        for row, value in zip(rows, group.values(store, [line[f"g{number}"] for line in lines]), strict=True):
            row[group.name] = value
    for row, line in zip(rows, lines, strict=True):
        row.update(_numbers(line, aggregates, fields))
    codes = _currencies(lines, fields)
    return QueryResult(
        columns=(*(group.name for group in groups), *(item.name for item in aggregates)),
        rows=rows[: query.limit],
        matched=matched,
        covered=covered,
        currencies=codes,
        truncated=query.limit is not None and len(rows) > query.limit,
        notes=(
            *(
                f"a document with several {group.name} counts in each"
                for group in groups
                if group.items is not None
            ),
            *_notes(aggregates, fields, matched, covered, codes),
            *_deducted_notes(store, bucket, query, list(zip(aggregates, fields, strict=True))),
        ),
    )


def _aggregate_statement(
    store: AnnotationStore,
    query: DocumentQuery,
    groups: Sequence["_Group"],
    columns: Sequence[tuple[Aggregate, Field | None]],
) -> Select[Any]:
    """Return the SELECT: group keys g0..., the currency where money is aggregated, and numbers a0..."""
    table = store.tables[query.bucket].rows
    source = _source(store, query, groups)
    money = next((on for _, on in columns if on is not None and on.type == "money"), None)
    if money and any(on and on.type == "money" and on.name != money.name for _, on in columns):
        raise BadInput("one query aggregates one money field, because each may have its own currencies")
    if money and all(item.function == "distinct" for item, _ in columns):
        money = None
    currency: ColumnElement[Any] | None = table.c[f"{money.name}__currency"] if money else None
    condition = _condition(store, query)
    if money is not None and all(item.function not in ("count", "distinct") for item, _ in columns):
        condition = condition & table.c[money.name].is_not(None)
    minus = deducted(store.buckets[query.bucket], query.filters, table)
    functions = {item.function for item, _ in columns}
    if "median" in functions:
        if len(columns) > 1 or query.having:
            raise BadInput("a median stands alone in a query, without having")
        return _median_statement(store, query, groups, columns[0], condition, currency, source)
    keys = [group.key(table) for group in groups]
    numbers = [compute(table, item, on, minus) for item, on in columns]
    order = [*keys, currency] if currency is not None else keys
    statement: Select[Any] = (
        select(
            *(key.label(f"g{number}") for number, key in enumerate(keys)),
            *([currency.label("currency")] if currency is not None else []),
            *(value.label(f"a{number}") for number, value in enumerate(numbers)),
        )
        .select_from(source)
        .where(condition)
    )
    statement = statement.group_by(*order) if order else statement
    named = {item.name: value for (item, _), value in zip(columns, numbers, strict=True)}
    for held in query.having:
        if held.column not in named:
            raise BadInput(f"cannot have {held.column[:60]!r} (columns: {', '.join(named)})")
        statement = statement.having(COMPARES[held.operator](named[held.column], held.value))
    return statement.order_by(*_order(query, groups, [item for item, _ in columns], statement, order))


def deducted(bucket: Bucket, filters: Filters, table: Any) -> ColumnElement[bool] | None:
    """Return which rows count as negative in a sum; None where none does, or where just these are asked for."""
    asked = {
        clause.field for item in filters for clause in clauses_in(item) if clause.operator in ("=", "in")
    }
    parts = [
        compared_column(_field(bucket, name), table).in_([fold(value) for value in values])
        for name, values in bucket.deduct.items()
        if name not in asked
    ]
    return or_(*parts) if parts else None


def _deducted_notes(
    store: AnnotationStore,
    bucket: Bucket,
    query: DocumentQuery,
    columns: Sequence[tuple[Aggregate, Field | None]],
) -> list[str]:
    """Return how many documents a sum counted as negative, and what they are."""
    table = store.tables[query.bucket].rows
    amounts = [on for item, on in columns if on and on.type == "money" and item.function == "sum"]
    minus = deducted(bucket, query.filters, table) if amounts else None
    if minus is None:
        return []
    condition = _condition(store, query) & minus & (table.c[amounts[0].name] > 0)
    (count,) = store.run(select(func.count()).select_from(table).where(condition)).one()
    kinds = ", ".join(value for values in bucket.deduct.values() for value in values)
    return [f"{count} of them ({kinds}) count as negative"] if count else []


def _median_statement(
    store: AnnotationStore,
    query: DocumentQuery,
    groups: Sequence["_Group"],
    column: tuple[Aggregate, Field | None],
    condition: ColumnElement[bool],
    currency: ColumnElement[Any] | None,
    source: FromClause,
) -> Select[Any]:
    """Return the SELECT of a median by group and currency: the mean of the one or two values in the middle."""
    item, on = column
    assert on is not None
    table = store.tables[query.bucket].rows
    keys = [group.key(table) for group in groups]
    parts = [*keys, currency] if currency is not None else keys
    middle = median_of(value_column(table, on), condition=condition, keys=parts, source=source)
    named = [middle.c[f"k{number}"] for number in range(len(parts))]
    statement: Select[Any] = select(
        *(key.label(f"g{number}") for number, key in enumerate(named[: len(keys)])),
        *([named[-1].label("currency")] if currency is not None else []),
        func.avg(middle.c.v).label("a0"),
    ).select_from(middle)
    statement = statement.group_by(*named) if named else statement
    return statement.order_by(*_order(query, groups, [item], statement, named))


def _currencies(lines: Sequence[Mapping[str, Any]], fields: Sequence[Field | None]) -> tuple[str | None, ...]:
    """Return the currencies in which an amount was aggregated."""
    amounts = [f"a{number}" for number, item in enumerate(fields) if item and item.type == "money"]
    in_money = [
        line for line in lines if "currency" in line and any(line[name] is not None for name in amounts)
    ]
    return tuple(dict.fromkeys(line["currency"] for line in in_money))


def _aggregated_field(bucket: Bucket, item: Aggregate) -> Field | None:
    if item.field is None:
        if item.function != "count":
            raise BadInput(f"{item.function} needs a field")
        return None
    later, minus, earlier = item.field.partition(MINUS)
    if minus:
        dates = _field(bucket, later), _field(bucket, earlier)
        if any(one.type != "date" for one in dates) or item.function in ("count", "distinct"):
            raise BadInput(f"{item.function} does not fit {item.field[:80]!r} (days lie between two dates)")
        return days_between(*dates)
    declared = _field(bucket, item.field)
    if item.function == "distinct" and declared.type in ("keywords", "text"):
        raise BadInput(f"distinct does not fit {declared.name}, which is {declared.type}")
    fitting = {"sum": _SUMMED, "average": _SUMMED, "median": _SUMMED, "min": _ORDERED, "max": _ORDERED}.get(
        item.function
    )
    if fitting and declared.type not in fitting:
        raise BadInput(f"{item.function} does not fit {declared.name}, which is {declared.type}")
    return declared


def _order(
    query: DocumentQuery,
    groups: Sequence[_Group],
    aggregates: Sequence[Aggregate],
    statement: Select[Any],
    keys: Sequence[ColumnElement[Any]],
) -> list[ColumnElement[Any]]:
    """Return the ORDER BY of result columns; groups without an order come in their own."""
    labels = {group.name: f"g{number}" for number, group in enumerate(groups)}
    labels |= {item.name: f"a{number}" for number, item in enumerate(aggregates)}
    parts: list[ColumnElement[Any]] = []
    for name in query.order_by:
        label = labels.get(name.removeprefix("-"))
        if label is None:
            raise BadInput(f"cannot order by {name[:60]!r} (columns: {', '.join(labels)})")
        column = statement.selected_columns[label]
        parts.append(column.desc().nulls_last() if name.startswith("-") else column.asc().nulls_last())
    return [*parts, *(key.asc().nulls_last() for key in keys)]


def _numbers(
    line: Mapping[str, Any], aggregates: Sequence[Aggregate], fields: Sequence[Field | None]
) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for number, (item, declared) in enumerate(zip(aggregates, fields, strict=True)):
        value = line[f"a{number}"]
        if declared is not None and declared.type == "money" and item.function not in ("count", "distinct"):
            amount = None if value is None else rounded(Decimal(value))
            row[item.name] = (
                None if amount is None else {"amount": f"{amount:f}", "currency": line["currency"]}
            )
        elif isinstance(value, Decimal | float) and not isinstance(value, bool):
            row[item.name] = float(f"{float(value):.12g}")
        else:
            row[item.name] = _shown(value)
    return row


def _coverage(
    store: AnnotationStore, query: DocumentQuery, fields: Sequence[Field]
) -> tuple[int, dict[str, int]]:
    table = store.tables[query.bucket].rows
    counts = [
        func.count(value_column(table, item) if MINUS in item.name else compared_column(item, table))
        for item in fields
    ]
    statement = select(func.count(), *counts).select_from(table).where(_condition(store, query))
    matched, *covered = store.run(statement).one()
    return int(matched), {item.name: int(count) for item, count in zip(fields, covered, strict=True)}


_DONE: Mapping[Function, str] = {
    "sum": "summed",
    "average": "averaged",
    "median": "compared",
    "distinct": "",
    "min": "compared",
    "max": "compared",
    "count": "",
}


def _notes(
    aggregates: Sequence[Aggregate],
    fields: Sequence[Field | None],
    matched: int,
    covered: Mapping[str, int],
    currencies: Sequence[str | None],
) -> list[str]:
    notes: dict[str, None] = {}
    for item, declared in zip(aggregates, fields, strict=True):
        if declared is None or item.function in ("count", "distinct"):
            continue
        have = covered[declared.name]
        if have < matched:
            notes[
                f"{_DONE[item.function]} {have} of {matched}; {matched - have} without {declared.name.replace('_', ' ')}"
            ] = None
        else:
            notes[f"{_DONE[item.function]} {have} of {matched}"] = None
    if len(currencies) > 1:
        shown = ", ".join(code or "unknown currency" for code in currencies)
        notes[f"amounts in {shown} are not added up"] = None
    return list(notes)


def _field(bucket: Bucket, name: str) -> Field:
    declared = bucket.field(name) if len(name) <= 100 else None
    if declared is None:
        names = ", ".join(item.name for item in bucket.fields)
        raise BadInput(f"{name[:60]!r} is not a field of {bucket.name} (fields: {names})")
    return declared


def _shown(value: Any) -> Any:
    return None if value is None else to_json(value)
