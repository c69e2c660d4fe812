"""Numbers over documents in SQL: counts, sums, averages, medians, extremes, different values, days between two dates."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from pydantic import BaseModel
from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    Subquery,
    case,
    distinct,
    func,
    literal,
    literal_column,
    select,
    true,
)

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
    value: ColumnElement[Any],
    *,
    condition: ColumnElement[bool],
    keys: Sequence[ColumnElement[Any]],
    source: FromClause,
    ordinal: ColumnElement[Any] | None = None,
) -> Subquery:
    """Return the values in the middle of each group (keys k0...) as `v`, one, or two of which the mean is the median.

    With them how many there are, as `size`, and the first of their ordinals, as `first`.
    """
    apart = list(keys) or None
    ranked = (
        select(
            *(key.label(f"k{n}") for n, key in enumerate(keys)),
            value.label("v"),
            func.row_number().over(partition_by=apart, order_by=value).label("place"),
            func.count().over(partition_by=apart).label("size"),
            *([func.min(ordinal).over(partition_by=apart).label("first")] if ordinal is not None else []),
        )
        .select_from(source)
        .where(condition, value.is_not(None))
        .subquery()
    )
    middle = (2 * ranked.c.place >= ranked.c.size) & (2 * ranked.c.place <= ranked.c.size + 2)
    return select(ranked).where(middle).subquery()


def over(function: Function, column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return a function, no median, over a column."""
    match function:
        case "count":
            return func.count(column)
        case "distinct":
            return func.count(distinct(column))
        case "sum":
            return func.sum(column)
        case "average":
            return func.avg(column)
        case "min":
            return func.min(column)
    return func.max(column)


@dataclass(frozen=True, slots=True)
class RowNumber:
    """A number over rows of tables.

    Attributes:
        value: None where no row has one; a day as ISO text.
        unit: currency or unit, "" for none.
        rows: how many rows have a value that it is computed over.
        group: the folded words, day, month or year of its group, None without groups or for rows that lack it.
        first: ordinal of the first row of the group.
    """

    value: Decimal | str | None
    unit: str
    rows: int
    group: str | None = None
    first: int = 0


def row_numbers(
    function: Function,
    value: ColumnElement[Any],
    *,
    source: FromClause,
    condition: ColumnElement[bool],
    ordinal: ColumnElement[Any],
    unit: ColumnElement[Any] | None = None,
    group: ColumnElement[Any] | None = None,
) -> Select[Any]:
    """Return the SELECT of a number of each unit and group over rows: the number (of averages and medians the sum), how many
    values it is the sum of, rows, first row, group, unit."""
    keys = {name: key for name, key in (("in_group", group), ("in_unit", unit)) if key is not None}
    size: ColumnElement[Any] = func.count(value)
    first: ColumnElement[Any] = func.min(ordinal)
    if function == "median":
        middle = median_of(
            value, condition=condition, keys=list(keys.values()), source=source, ordinal=ordinal
        )
        keys = {name: middle.c[f"k{place}"] for place, name in enumerate(keys)}
        value, source, condition = middle.c.v, middle, true()
        size, first = func.max(middle.c.size), func.min(middle.c.first)
    number = over("sum" if function in {"average", "median"} else function, value)
    told = [keys.get(name, literal("")).label(name) for name in ("in_group", "in_unit")]
    chosen = select(number, func.count(value), size, first, *told).select_from(source)
    # By their names: Postgres takes two bound expressions for different ones.
    apart: list[ColumnElement[Any]] = [literal_column(name) for name in keys]
    return chosen.where(condition, value.is_not(None)).group_by(*apart).order_by(*apart)


def compute(
    table: Any, item: Aggregate, declared: Field | None, minus: ColumnElement[bool] | None = None
) -> ColumnElement[Any]:
    """Return an aggregate over the rows of a bucket's table.

    Args:
        minus: which rows' amounts count as negative in a sum.
    """
    if declared is None:
        return func.count()
    if item.function == "distinct":
        return over("distinct", compared_column(declared, table))
    column = value_column(table, declared)
    if item.function == "sum" and minus is not None and declared.type == "money":
        column = case((minus & (column > 0), -column), else_=column)
    return over(item.function, column)
