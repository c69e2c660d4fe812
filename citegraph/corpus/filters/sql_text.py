"""SQL that SQLite and Postgres spell differently: substrings, names of dates, days between dates, byte-ordered columns."""

from typing import Any

from sqlalchemy import ColumnElement, Integer, String, bindparam, literal_column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction


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
