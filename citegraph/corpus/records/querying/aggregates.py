"""Numbers over documents in SQL: counts, sums, averages, medians, extremes, different values, days between two dates."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal

from pydantic import BaseModel
from sqlalchemy import BigInteger, ColumnElement, FromClause, Subquery, case, cast, distinct, func, select

from citegraph.corpus.filters.sql_filter import compared_column, days_from
from citegraph.corpus.schema.field import Field

Function = Literal["count", "distinct", "sum", "average", "median", "min", "max"]

MINUS = " - "
"""Between two dates in the name of what is computed: the days from the second to the first."""


class Aggregate(BaseModel, frozen=True, extra="forbid"):
    """One number over the matching documents.

    Attributes:
        function: `count` without a field counts documents; with one, the documents that have it; `distinct` the
            different values of a field. `median` stands alone in a query.
        field: sum, average and median take numbers, money and quantities; min and max dates too. Two dates as
            "due_date - invoice_date" are the days from the second to the first.
    """

    function: Function
    field: str | None = None

    @property
    def name(self) -> str:
        """Return the column's name in the result ("sum_total_amount", "count")."""
        return f"{self.function}_{self.field.replace(MINUS, '_minus_')}" if self.field else self.function


class Having(BaseModel, frozen=True, extra="forbid"):
    """A condition on the numbers of a group: `column` is the name of an aggregate ("sum_total_amount")."""

    column: str
    operator: Literal["=", "!=", "<", "<=", ">", ">="]
    value: Decimal


def days_between(later: Field, earlier: Field) -> Field:
    """Return the days between two dates as something to compute over."""
    return Field.model_construct(
        name=f"{later.name}{MINUS}{earlier.name}",
        type="integer",
        unit="day",
        description=f"Days from {earlier.name} to {later.name}.",
    )


def value_column(table: Any, declared: Field) -> ColumnElement[Any]:
    """Return what is computed over: a field's column, or the days between two dates."""
    later, minus, earlier = declared.name.partition(MINUS)
    return days_from(table.c[earlier], table.c[later]) if minus else table.c[declared.name]


def median_of(
    table: Any,
    declared: Field,
    *,
    condition: ColumnElement[bool],
    keys: Sequence[ColumnElement[Any]],
    source: FromClause,
) -> Subquery:
    """Return the values in the middle of each group (keys k0...), as `v`: one, or two of which the mean is the median."""
    value = value_column(table, declared)
    ranked = (
        select(
            *(key.label(f"k{n}") for n, key in enumerate(keys)),
            value.label("v"),
            func.row_number().over(partition_by=list(keys) or None, order_by=value).label("place"),
            func.count().over(partition_by=list(keys) or None).label("size"),
        )
        .select_from(source)
        .where(condition, value.is_not(None))
        .subquery()
    )
    middle = (2 * ranked.c.place >= ranked.c.size) & (2 * ranked.c.place <= ranked.c.size + 2)
    return select(ranked).where(middle).subquery()


def by_day(
    table: Any,
    columns: Sequence[tuple[Aggregate, Field | None]],
    *,
    condition: ColumnElement[bool],
    day: ColumnElement[Any],
    currency: ColumnElement[Any] | None,
    minus: ColumnElement[bool] | None = None,
) -> Subquery:
    """Return the numbers of each day: an index gives days in order, where months would have to be sorted.

    Of an average, its sum (s0...) and the count of its values (a0...).
    """
    keys = [day.label("day"), *([currency.label("currency")] if currency is not None else [])]
    numbers = [
        (
            func.count(value_column(table, on))
            if item.function == "average" and on
            else compute(table, item, on, minus)
        ).label(f"a{n}")
        for n, (item, on) in enumerate(columns)
    ]
    sums = [
        func.sum(value_column(table, on)).label(f"s{n}")
        for n, (item, on) in enumerate(columns)
        if item.function == "average" and on
    ]
    return select(*keys, *numbers, *sums).where(condition).group_by(day, *keys[1:]).subquery()


def rolled_up(days: Subquery, item: Aggregate, number: int) -> ColumnElement[Any]:
    """Return an aggregate over the numbers of days."""
    column = days.c[f"a{number}"]
    match item.function:
        case "count":
            return cast(func.sum(column), BigInteger)
        case "sum":
            return func.sum(column)
        case "average":
            return func.sum(days.c[f"s{number}"]) * 1.0 / func.nullif(func.sum(column), 0)
        case "min":
            return func.min(column)
    return func.max(column)


def compute(
    table: Any, item: Aggregate, declared: Field | None, minus: ColumnElement[bool] | None = None
) -> ColumnElement[Any]:
    """Return an aggregate over the rows of a bucket's table.

    Args:
        minus: which rows' amounts count as negative in a sum.
    """
    if declared is None:
        return func.count()
    column = value_column(table, declared)
    match item.function:
        case "count":
            return func.count(column)
        case "distinct":
            return func.count(distinct(compared_column(declared, table)))
        case "sum":
            if minus is not None and declared.type == "money":
                column = case((minus & (column > 0), -column), else_=column)
            return func.sum(column)
        case "average":
            return func.avg(column)
        case "min":
            return func.min(column)
    return func.max(column)
