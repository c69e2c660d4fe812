"""The index that holds a keyword's values in order within each year of the main date, and when a query may use it.

Grouping a year of a million documents by vendor sorts (SQLite) or fetches (Postgres) a hundred thousand rows; in
this index the groups of a year lie side by side, with the amounts that are summed. Queries say the year beside
their filter, which already implies it, so that the planner finds the index.
"""

from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Index, Integer, Table, literal_column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction

from citegraph.corpus.filters.sql_filter import compared_column
from citegraph.corpus.schema.field import Field

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket


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
