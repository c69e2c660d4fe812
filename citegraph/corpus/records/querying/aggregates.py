"""Numbers over documents in SQL: counts, sums, averages and extremes, of a period read off its days."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from sqlalchemy import BigInteger, ColumnElement, Subquery, cast, func, select

from citegraph.corpus.schema.field import Field

Function = Literal["count", "sum", "average", "min", "max"]


class Aggregate(BaseModel):
    """One number over the matching documents.

    Attributes:
        function: `count` without a field counts documents; with one, the documents that have it.
        field: sum and average take numbers, money and quantities; min and max dates too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    function: Function
    field: str | None = None

    @property
    def name(self) -> str:
        """Return the column's name in the result ("sum_total_amount", "count")."""
        return f"{self.function}_{self.field}" if self.field else self.function


def by_day(
    table: Any,
    columns: Sequence[tuple[Aggregate, Field | None]],
    *,
    condition: ColumnElement[bool],
    day: ColumnElement[Any],
    currency: ColumnElement[Any] | None,
) -> Subquery:
    """Return the numbers of each day: an index gives days in order, where months would have to be sorted.

    Of an average, its sum (s0...) and the count of its values (a0...).
    """
    keys = [day.label("day"), *([currency.label("currency")] if currency is not None else [])]
    numbers = [
        (
            func.count(table.c[on.name]) if item.function == "average" and on else compute(table, item, on)
        ).label(f"a{n}")
        for n, (item, on) in enumerate(columns)
    ]
    sums = [
        func.sum(table.c[on.name]).label(f"s{n}")
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


def compute(table: Any, item: Aggregate, declared: Field | None) -> ColumnElement[Any]:
    """Return an aggregate over the rows of a bucket's table."""
    if declared is None:
        return func.count()
    column = table.c[declared.name]
    match item.function:
        case "count":
            return func.count(column)
        case "sum":
            return func.sum(column)
        case "average":
            return func.avg(column)
        case "min":
            return func.min(column)
    return func.max(column)
