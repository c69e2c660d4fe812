"""Checked filters as a parametrised SQL condition, and what SQLite and Postgres spell differently."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    String,
    Table,
    and_,
    bindparam,
    func,
    literal_column,
    not_,
    or_,
    select,
    true,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction

from citegraph.corpus.filters.clause import Clause, Filters, Group
from citegraph.corpus.filters.filter_operators import COMPARES, Condition, Range, compile_clause
from citegraph.corpus.schema.field import Field

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket


class position_of(GenericFunction[int]):
    """Position of a substring in a text from 1, or 0; no wildcards."""

    type = Integer()
    inherit_cache = True
    name = "position_of"

    def __init__(self, column: ColumnElement[str], part: str) -> None:
        super().__init__(column, bindparam(None, part, String()))


@compiles(position_of)
def _position_of(element: Any, compiler: Any, **options: Any) -> str:
    name = "strpos" if compiler.dialect.name == "postgresql" else "instr"
    return f"{name}({compiler.process(element.clauses, **options)})"


class date_label(GenericFunction[str]):
    """Name of a date's year, quarter or month: "2018", "2018-Q3", "2018-07"."""

    type = String()
    inherit_cache = True
    name = "date_label"

    def __init__(self, column: ColumnElement[Any], cut: str) -> None:
        super().__init__(column, literal_column({"year": "4", "quarter": "6", "month": "7"}[cut]))


@compiles(date_label)
def _date_label(element: Any, compiler: Any, **options: Any) -> str:
    """Spell it out; SQLite keeps dates as ISO text, of which a label is a part."""
    column, length = (compiler.process(clause, **options) for clause in element.clauses)
    if compiler.dialect.name == "postgresql":
        shapes = {"4": "YYYY", "6": 'YYYY-"Q"Q', "7": "YYYY-MM"}
        return f"to_char({column}, '{shapes[length]}')"
    if length == "6":
        return f"(substr({column}, 1, 4) || '-Q' || ((substr({column}, 6, 2) + 2) / 3))"
    return f"substr({column}, 1, {length})"


class days_from(GenericFunction[int]):
    """Number of days from one date to another; negative when the other is earlier."""

    type = Integer()
    inherit_cache = True
    name = "days_from"

    def __init__(self, first: ColumnElement[Any], last: ColumnElement[Any]) -> None:
        super().__init__(first, last)


@compiles(days_from)
def _days_from(element: Any, compiler: Any, **options: Any) -> str:
    first, last = (compiler.process(clause, **options) for clause in element.clauses)
    if compiler.dialect.name == "postgresql":
        return f"({last} - {first})"
    return f"CAST(julianday({last}) - julianday({first}) AS INTEGER)"


def folded_string(length: int | None = None) -> String:
    """Return a string type that compares by code point on both databases."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")


class Columns:
    """Where the values of fields stand in SQL."""

    def value(self, field: Field) -> ColumnElement[Any]:
        """Return what a field is compared, ordered or grouped by."""
        raise NotImplementedError

    def unit(self, field: Field) -> ColumnElement[Any]:
        """Return the currency of an amount, "" where it has none."""
        raise NotImplementedError

    def bound(self, field: Field, value: Any, *, up: bool) -> Any:
        """Return a value as `value` holds it; of one between two that it can hold the upper one, or the lower."""
        raise NotImplementedError

    def has(self, field: Field) -> ColumnElement[bool]:
        """Return "the field has a value"."""
        return self.value(field).is_not(None)

    def holds(
        self, field: Field, test: Callable[[ColumnElement[str]], ColumnElement[bool]]
    ) -> ColumnElement[bool]:
        """Return "a text of the field meets a test"."""
        return test(self.value(field))

    def part(self, column: ColumnElement[str], part: str) -> ColumnElement[bool]:
        """Return "the text has this part"."""
        return has_part(column, part)


@dataclass(frozen=True)
class Tables(Columns):
    """The SQL tables of one bucket: a row a document, and an item a value of a list field."""

    rows: Table
    items: Table

    def value(self, field: Field) -> ColumnElement[Any]:  # noqa: D102
        return compared_column(field, self.rows)

    def unit(self, field: Field) -> ColumnElement[Any]:  # noqa: D102
        return func.coalesce(self.rows.c[f"{field.name}__currency"], "")

    def bound(self, field: Field, value: Any, *, up: bool) -> Any:  # noqa: D102
        return Decimal(repr(value)) if field.type == "money" else value

    def has(self, field: Field) -> ColumnElement[bool]:  # noqa: D102
        return self._listed(field, true()) if field.type == "keywords" else super().has(field)

    def holds(  # noqa: D102
        self, field: Field, test: Callable[[ColumnElement[str]], ColumnElement[bool]]
    ) -> ColumnElement[bool]:
        listed = field.type == "keywords"
        return self._listed(field, test(self.items.c.folded)) if listed else super().holds(field, test)

    def _listed(self, field: Field, test: ColumnElement[bool]) -> ColumnElement[bool]:
        items = self.items.c
        return self.rows.c.doc_id.in_(select(items.doc_id).where(items.field == field.name, test))


def to_sql(bucket: "Bucket", filters: Filters, columns: Columns) -> ColumnElement[bool]:
    """Return checked filters as a parametrised SQL condition on the rows that hold the columns.

    Raises:
        BadInput: a filter is on a field that the bucket does not have.
    """

    def part_sql(item: Clause | Group) -> ColumnElement[bool]:
        if isinstance(item, Clause):
            return condition_sql(compile_clause(bucket, item), columns)
        join = or_ if item.mode == "any" else and_
        return join(*map(part_sql, item.clauses))

    return and_(true(), *map(part_sql, filters))


def condition_sql(condition: Condition, columns: Columns) -> ColumnElement[bool]:
    """Return one condition as SQL that is never NULL-dependent: a missing field gives no row."""
    if condition.present is not None:
        held = columns.has(condition.field)
        return held if condition.present else not_(held)
    test = _test_sql(condition, columns)
    return and_(columns.value(condition.field).is_not(None), not_(test)) if condition.negated else test


def compared_column(field: Field, rows: Table) -> ColumnElement[Any]:
    """Return the column that stands for a field where it is compared, ordered or grouped by."""
    return rows.c[f"{field.name}__folded" if field.type in ("text", "keyword") else field.name]


def _test_sql(condition: Condition, columns: Columns) -> ColumnElement[bool]:
    field = condition.field
    if (other := condition.other) is not None:
        test = COMPARES[condition.compared](columns.value(field), columns.value(other))
        return and_(test, columns.unit(field) == columns.unit(other)) if field.type == "money" else test
    if condition.flag is not None:
        flagged: ColumnElement[bool] = columns.value(field) == columns.bound(field, condition.flag, up=False)
        return flagged
    if condition.ranges is not None:
        return or_(*(_range_sql(field, item, columns) for item in condition.ranges))
    return columns.holds(field, lambda column: _words_sql(condition, column, columns))


def _words_sql(condition: Condition, column: ColumnElement[str], columns: Columns) -> ColumnElement[bool]:
    if condition.words is not None:
        return column == condition.words[0] if len(condition.words) == 1 else column.in_(condition.words)
    part = condition.part or ""
    if not condition.anchored:
        return columns.part(column, part)
    end = _after_prefix(part)
    return and_(column >= part, column < end if end else true())


def has_part(column: ColumnElement[str], part: str) -> ColumnElement[bool]:
    """Return "the column has this substring", without wildcards, on SQLite (instr) and Postgres (strpos)."""

    return position_of(column, part) > 0


def _after_prefix(part: str) -> str | None:
    """Return the least string above every string with this prefix, in code point order."""
    while part:
        code = ord(part[-1]) + 1
        if code < 0x110000:
            return part[:-1] + chr(0xE000 if 0xD800 <= code <= 0xDFFF else code)
        part = part[:-1]
    return None


def _range_sql(field: Field, item: Range, columns: Columns) -> ColumnElement[bool]:
    column = columns.value(field)
    parts: list[ColumnElement[bool]] = [true()]
    if item.low is not None:
        low = columns.bound(field, item.low, up=not item.low_open)
        parts.append(column > low if item.low_open else column >= low)
    if item.high is not None:
        high = columns.bound(field, item.high, up=item.high_open)
        parts.append(column < high if item.high_open else column <= high)
    if item.currency:
        parts.append(columns.unit(field) == item.currency)
    return and_(*parts)
