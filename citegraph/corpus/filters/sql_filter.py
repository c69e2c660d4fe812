"""Checked filters as a parametrised SQL condition."""

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from citegraph.corpus.filters.clause import Clause, Filters, Group
from citegraph.corpus.filters.conditions import Condition, Range, compile_clause
from citegraph.corpus.schema.field import Field

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Table

    from citegraph.corpus.schema.bucket import Bucket


@dataclass(frozen=True, slots=True)
class Tables:
    """The SQL tables of one bucket: a row a document, and an item a value of a list field."""

    rows: "Table"
    items: "Table"


def to_sql(bucket: "Bucket", filters: Filters, tables: Tables) -> "ColumnElement[bool]":
    """Return checked filters as a parametrised SQL condition on the bucket's row table."""
    from sqlalchemy import and_, or_, true

    def part_sql(item: Clause | Group) -> "ColumnElement[bool]":
        if isinstance(item, Clause):
            return condition_sql(compile_clause(bucket, item), tables)
        join = or_ if item.mode == "any" else and_
        return join(*map(part_sql, item.clauses))

    return and_(true(), *map(part_sql, filters))


def condition_sql(condition: Condition, tables: Tables) -> "ColumnElement[bool]":
    """Return one condition as SQL that is never NULL-dependent: a missing field gives no row."""
    from sqlalchemy import and_, not_, select

    column = compared_column(condition.field, tables.rows)
    if condition.present is not None and condition.field.type == "keywords":
        held = tables.rows.c.doc_id.in_(
            select(tables.items.c.doc_id).where(tables.items.c.field == condition.field.name)
        )
        return held if condition.present else not_(held)
    if condition.present is not None:
        return column.is_not(None) if condition.present else column.is_(None)
    test = _test_sql(condition, tables)
    return and_(column.is_not(None), not_(test)) if condition.negated else test


def compared_column(field: Field, rows: "Table") -> "ColumnElement[Any]":
    """Return the column that stands for a field where it is compared, ordered or grouped by."""
    return rows.c[f"{field.name}__folded" if field.type in ("text", "keyword") else field.name]


def _test_sql(condition: Condition, tables: Tables) -> "ColumnElement[bool]":
    from sqlalchemy import or_, select

    field, rows, items = condition.field, tables.rows, tables.items
    if condition.flag is not None:
        return compared_column(field, rows) == condition.flag
    if condition.ranges is not None:
        return or_(*(_range_sql(field, item, rows) for item in condition.ranges))
    if field.type == "keywords":
        held = _words_sql(condition, items.c.folded)
        return rows.c.doc_id.in_(select(items.c.doc_id).where(items.c.field == field.name, held))
    return _words_sql(condition, compared_column(field, rows))


def _words_sql(condition: Condition, column: "ColumnElement[str]") -> "ColumnElement[bool]":
    from sqlalchemy import and_, true

    if condition.words is not None:
        return column == condition.words[0] if len(condition.words) == 1 else column.in_(condition.words)
    part = condition.part or ""
    if not condition.anchored:
        return has_part(column, part)
    end = _after_prefix(part)
    return and_(column >= part, column < end if end else true())


def has_part(column: "ColumnElement[str]", part: str) -> "ColumnElement[bool]":
    """Return "the column has this substring", without wildcards, on SQLite (instr) and Postgres (strpos)."""
    from citegraph.corpus.filters.sql_text import position_of

    return position_of(column, part) > 0


def _after_prefix(part: str) -> str | None:
    """Return the least string above every string with this prefix, in code point order."""
    while part:
        code = ord(part[-1]) + 1
        if code < 0x110000:
            return part[:-1] + chr(0xE000 if 0xD800 <= code <= 0xDFFF else code)
        part = part[:-1]
    return None


def _range_sql(field: Field, item: Range, rows: "Table") -> "ColumnElement[bool]":
    from sqlalchemy import and_, func, true

    column = rows.c[field.name]

    def bound(value: Any) -> Any:
        return Decimal(repr(value)) if field.type == "money" else value

    parts: list[ColumnElement[bool]] = []
    if item.low is not None:
        low = bound(item.low)
        parts.append(column > low if item.low_open else column >= low)
    if item.high is not None:
        high = bound(item.high)
        parts.append(column < high if item.high_open else column <= high)
    if item.currency:
        parts.append(func.coalesce(rows.c[f"{field.name}__currency"], "") == item.currency)
    return and_(*parts) if parts else true()
