"""Tells which rows at the top of a table are its column heads, and joins heads of several rows to one."""

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


def joined_heads(rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return head rows as at most one row of heads, below the titles over the table.

    A head that spans columns names each of them: "Winter" over "First" and "Last" gives "Winter First" and "Winter
    Last". A row of one cell is a title as long as a fuller one follows.
    """
    titles = 0
    while titles < len(rows) - 1 and _filled(rows[titles]) < 2:
        titles += 1
    heads = [list(row) for row in rows[titles:]]
    width = max(map(len, heads), default=0)
    for row in heads:
        row.extend([""] * (width - len(row)))
    for place, row in enumerate(heads[:-1]):
        below = heads[place + 1 :]
        for column in range(1, width):
            apart = place > 0 and heads[place - 1][column] != heads[place - 1][column - 1]
            # Over a column that no row below names a blank is a blank.
            if not row[column] and not apart and any(other[column] for other in below):
                row[column] = row[column - 1]
    joined = tuple(" ".join(dict.fromkeys(filter(None, column))) for column in zip(*heads, strict=True))
    return [*(tuple(row) for row in rows[:titles]), *([joined] if joined else [])]


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
