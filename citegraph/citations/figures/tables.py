"""The tables of a text: cells with the heads of their columns and the labels of their rows."""

import re
from dataclasses import dataclass
from functools import lru_cache

BAR = re.compile(r"(?<!\\)\|")
_WIDE = re.compile(r"\t+| {3,}")
_RULE = re.compile(r"[\s|:+=-]*-{2,}[\s|:+=-]*")
_BARE = re.compile(
    r"[\s(<>≤≥~±+−–-]*(?:[$€£¥]|[A-Z]{3})?\s?[(±+−–-]*\d[\d.,'\u00a0\u202f ]*(?:\)|%|\)%|\s?[^\W\d_]{1,3}\.?|\s?[$€£°%].{0,2})?\)?\s*"
)
"""A cell that holds a number and its unit alone."""
_YEAR = re.compile(r"\(?(?:FY\s?|Q[1-4]\s?)?(?:19|20)\d\d(?:[/-]\d\d(?:\d\d)?)?\)?|[QT][1-4]")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell with a value.

    Attributes:
        start, end: span in the text.
        head: the heads of its column from the top, of several levels one after the other.
        row: the texts of the other cells of its row and of the line that heads its rows: what names it.
        line: number of the row's line in the text; `column` its place in the row, from 0.
        others: the other filled cells of its row, each with its column.
    """

    start: int
    end: int
    head: str
    row: str
    line: int
    column: int
    others: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the span of its lines, what stands above it, and its cells."""

    start: int
    end: int
    title: str
    cells: tuple[Cell, ...]


Span = tuple[int, int]


def _split(text: str, start: int, end: int) -> list[Span]:
    """Return the spans of a line's cells, one for a line that is no row."""
    line = text[start:end]
    cuts = [m.span() for m in BAR.finditer(line)]
    if not cuts:
        body = len(line) - len(line.lstrip())
        cuts = [m.span() for m in _WIDE.finditer(line, body) if m.end() < len(line.rstrip())]
        if len(cuts) < 2:
            return [(start, end)]
    edges = [0, *(edge for cut in cuts for edge in cut), len(line)]
    cells = [(start + a, start + b) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    framed = line.startswith("|") and line.rstrip().endswith("|")
    return cells[1:-1] if framed and len(cells) > 2 else cells


@lru_cache(maxsize=1024)
def tables_of(text: str) -> tuple[Table, ...]:
    """Return the tables of a text in order."""
    found: list[Table] = []
    rows: list[tuple[int, list[Span]]] = []
    above = ""
    at = 0
    begin = 0
    for number, line in enumerate([*text.split("\n"), ""]):
        start, end = at, at + len(line)
        at = end + 1
        if rows and _RULE.fullmatch(line) and "-" in line:
            continue
        cells = _split(text, start, min(end, len(text))) if line.strip() else []
        if len(cells) > 1:
            if not rows:
                begin = start
            rows.append((number, cells))
            continue
        if len(rows) > 1:
            found.append(Table(begin, start, above, _cells(text, rows)))
        if rows or line.strip():
            above = line.strip() if not rows else ""
        rows = []
    return tuple(found)


def _cells(text: str, rows: list[tuple[int, list[Span]]]) -> tuple[Cell, ...]:
    texts = [[text[a:b].strip() for a, b in cells] for _, cells in rows]
    first = _first_data_row(texts)
    heads = _heads(texts[:first])
    section = ""
    found: list[Cell] = []
    for (line, cells), words in zip(rows[first:], texts[first:], strict=True):
        filled = [w for w in words if w]
        if len(filled) == 1 and words[0] and len(words) > 2:
            section = words[0]
            continue
        for column, ((a, b), word) in enumerate(zip(cells, words, strict=True)):
            if column == 0 or not any(map(str.isdigit, word)):
                continue
            others = tuple((i, w) for i, w in enumerate(words) if i != column and w)
            named = [w for _, w in others]
            found.append(
                Cell(
                    a,
                    b,
                    heads[column] if column < len(heads) else "",
                    " ".join([section, *named]).strip(),
                    line,
                    column,
                    others,
                )
            )
    return tuple(found)


def _first_data_row(texts: list[list[str]]) -> int:
    """Return the number of rows on top that hold heads alone."""
    lettered = [sum(any(map(str.isalpha, w)) for w in row[1:]) for row in texts]
    for number, row in enumerate(texts):
        if not number and len(texts) > 1 and lettered[0] > max(lettered[1:3]):
            continue  # "1,000 pcs | 5,000 pcs" above bare prices
        values = [w for w in row[1:] if _BARE.fullmatch(w) and not _YEAR.fullmatch(w)]
        if values:
            return number
        if (
            number
            and not any(_YEAR.fullmatch(w) for w in row)
            and any(any(map(str.isdigit, w)) for w in row[1:])
        ):
            return number
    return min(1, len(texts))


def _heads(rows: list[list[str]]) -> list[str]:
    """Return the head of each column; a head over several columns stands in the first of them."""
    width = max((len(r) for r in rows), default=0)
    levels: list[list[str]] = []
    for number, row in enumerate(rows):
        level = [*row, *[""] * (width - len(row))]
        if number < len(rows) - 1:
            for i in range(1, width):
                level[i] = level[i] or (level[i - 1] if i > 1 else "")
        levels.append(level)
    return [" ".join(filter(None, (level[i] for level in levels))) for i in range(width)]
