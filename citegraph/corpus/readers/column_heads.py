"""Tells which rows at the top of a table are its column heads."""

from __future__ import annotations

import re
from collections.abc import Sequence

LOOKED_AT = 12
"""Rows at the top of a table that are looked at."""
# A year may head a column; any other number is a value.
_YEAR = re.compile(r"(?:19|20)\d\d")
_VALUE = re.compile(
    r"[-+(]?[€$£¥]?\s?\d[\d.,:' \u00a0/-]*\)?\s?[%€$£¥]?(?:\s?[A-Z]{3})?|\d{4}-\d\d-\d\d.*", re.DOTALL
)


def head_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows stand above the values: titles over the table, its heads and heads under heads.

    A table whose first full row holds a value has no heads, and one of words alone has one row of them.
    """
    first = [[cell.strip() for cell in row] for row in rows[:LOOKED_AT]]
    width = max((_filled(row) for row in first), default=0)
    if width < 2 or len(rows) < 2:
        return 0
    heads = next(
        place for place, row in enumerate(first) if _filled(row) * 2 > width or _filled(row) == width
    )
    if has_value(first[heads]):
        return 0 if heads == 0 else heads
    below = heads + 1
    # Heads that span several columns leave cells empty, and a second row names the columns below them.
    while (
        below < len(first) - 1
        and _filled(first[below - 1]) < width
        and not has_value(first[below])
        and _values_below(first, below)
    ):
        below += 1
    return min(below, len(rows) - 1)


def begins_table(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows begin with column heads over values, not with more rows of the table before them."""
    heads = head_rows(rows)
    if not 0 < heads < len(rows) or any(map(has_value, rows[:heads])):
        return False
    width = max(map(_filled, rows))
    return 2 * _filled(rows[heads - 1]) > width and any(map(has_value, rows[heads:]))


def _filled(row: Sequence[str]) -> int:
    return sum(map(bool, row))


def has_value(row: Sequence[str]) -> bool:
    """Return whether a cell of a row is a number, an amount or a date: no head of a column."""
    return any(_VALUE.fullmatch(cell) and not _YEAR.fullmatch(cell) for cell in row if cell)


def _values_below(rows: Sequence[Sequence[str]], place: int) -> bool:
    return _filled(rows[place]) > 1 and any(has_value(row) for row in rows[place + 1 :])
