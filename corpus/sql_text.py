"""SQL for text that SQLite and Postgres spell differently: substring position and byte-ordered columns."""

from typing import Any

from sqlalchemy import ColumnElement, Integer, String, bindparam
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


def folded_string(length: int | None = None) -> String:
    """Return a string type that compares by code point on both databases."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")
