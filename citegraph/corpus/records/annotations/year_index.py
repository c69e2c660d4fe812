"""The index that holds a keyword's values in order within each year of the main date, and when a query may use it.

Grouping a year of a million documents by vendor sorts (SQLite) or fetches (Postgres) a hundred thousand rows; in
this index the groups of a year lie side by side, with the amounts that are summed. Queries say the year beside
their filter, which already implies it, so that the planner finds the index.
"""

from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Index, Integer, Table, literal_column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction

from citegraph.corpus.filters.clause import Filters, clauses_in
from citegraph.corpus.filters.conditions import Condition, compile_clause
from citegraph.corpus.filters.sql_filter import compared_column
from citegraph.corpus.schema.field import Field

if TYPE_CHECKING:
    from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
    from citegraph.corpus.schema.bucket import Bucket

SORTED = 60
"""Days up to which SQLite sorts what it finds by day faster than it passes over the rest of the year."""


class year_of(GenericFunction[Any]):
    """The year of a date, as an index may hold it: of ISO text its first letters, elsewhere a number."""

    type = Integer()
    inherit_cache = True
    name = "year_of"


@compiles(year_of)
def _year_of(element: Any, compiler: Any, **options: Any) -> str:
    column = compiler.process(element.clauses, **options)
    return (
        f"EXTRACT(YEAR FROM {column})" if compiler.dialect.name == "postgresql" else f"substr({column}, 1, 4)"
    )


class year_literal(GenericFunction[Any]):
    """A year as `year_of` gives it, spelled out, so that each plan knows its own."""

    type = Integer()
    inherit_cache = True
    name = "year_literal"

    def __init__(self, year: int) -> None:
        super().__init__(literal_column(f"{int(year):04}"))


@compiles(year_literal)
def _year_literal(element: Any, compiler: Any, **options: Any) -> str:
    year = compiler.process(element.clauses, **options)
    return str(year) if compiler.dialect.name == "postgresql" else f"'{year}'"


def in_year(column: ColumnElement[Any], year: int) -> ColumnElement[bool]:
    """Return the condition that a date lies in a year.

    A comparison of two functions: a function of its own that is true or false is written "f(...) = 1" on SQLite,
    for which no index is found.
    """
    return year_of(column) == year_literal(year)


def is_grouped_by_year(bucket: "Bucket", field: Field) -> bool:
    """Tell whether the bucket has the index for this field: a keyword of many values that sets are cut by.

    Few values (of a declared list, countries, currencies) are grouped as fast without it (`benches.bench_rows`).
    """
    currencies = {item.currency_field for item in bucket.fields}
    few = bool(field.values) or field.name in currencies
    few = few or field.kind in ("country", "jurisdiction", "identifier", "version")
    return bool(bucket.main_date) and field.type == "keyword" and field.facet and not few


def year_index(bucket: "Bucket", field: Field, rows: Table) -> Index:
    """Return the index: year of the main date, keyword, currency and amount of the main amount, day."""
    day = rows.c[bucket.main_date or ""]
    amount = bucket.main_amount
    amounts = [rows.c[f"{amount}__currency"], rows.c[amount]] if amount else []
    return Index(f"{rows.name}__{field.name}_year", year_of(day), compared_column(field, rows), *amounts, day)


def grouping_condition(
    store: "AnnotationStore",
    bucket: str,
    filters: Filters,
    *,
    key: Field,
    others: Iterable[Field | None] = (),
) -> ColumnElement[bool]:
    """Return `store.condition` of checked filters, with their one year where the index of that year then serves.

    Args:
        key: the keyword that is grouped by.
        others: fields that are aggregated or counted beside it; None stands for documents.
    """
    condition, declared = store.condition(bucket, filters), store.buckets[bucket]
    held = {declared.main_date, declared.main_amount, key.name}
    asked = {item.name for item in others if item is not None}
    # "in 2017" is checked into a group of one.
    groups = [tuple(clauses_in(item)) for item in filters]
    clauses = [group[0] for group in groups if len(group) == 1]
    inside = len(clauses) == len(groups) and {clause.field for clause in clauses} | asked <= held
    if not inside or not store.sees_all or not is_grouped_by_year(declared, key):
        return condition
    least = SORTED if store.engine.dialect.name == "sqlite" else 0
    for clause in clauses:
        days = _days(compile_clause(declared, clause)) if clause.field == declared.main_date else None
        if days and (days[1] - days[0]).days >= least:
            return condition & in_year(store.tables[bucket].rows.c[clause.field], days[0].year)
    return condition


def _days(condition: Condition) -> tuple[date, date] | None:
    """Return the first and last day of a condition that holds for days of one year only."""
    if condition.negated or len(condition.ranges or ()) != 1:
        return None
    item = (condition.ranges or ())[0]
    inside = isinstance(item.low, date) and isinstance(item.high, date) and item.low.year == item.high.year
    return (item.low, item.high) if inside else None
