"""The tables of a text: cells with the heads of their columns and the labels of their rows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from citegraph.citations.figures.layout import Columns, Span, laid_out
from citegraph.language import units
from citegraph.language.amounts import scale

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
        names: what names the row: `row` without cells that hold a bare value behind the first.
        unit: dimension and factor of the unit that stands in brackets in its head or its row's label, or in a cell alone;
            `first_unit` that of the first column, which names the rows: "Temperature (°C)".
    """

    start: int
    end: int
    head: str
    row: str
    line: int
    column: int
    others: tuple[tuple[int, str], ...] = ()
    names: str = ""
    unit: tuple[str, Decimal] | None = None
    first_unit: tuple[str, Decimal] | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the span of its lines, what stands above it, and its cells."""

    start: int
    end: int
    title: str
    cells: tuple[Cell, ...]


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
    """Return the tables of a text in order: those laid out with spaces, and those with bars or tabs."""
    laid = _laid_out(text)
    found = list(laid)
    taken = [(table.start, table.end) for table in laid]
    rows: list[tuple[int, list[Span]]] = []
    above = ""
    at = 0
    begin = 0
    for number, line in enumerate([*text.split("\n"), ""]):
        start, end = at, at + len(line)
        at = end + 1
        if rows and _RULE.fullmatch(line) and "-" in line:
            continue
        free = not any(a <= start < b for a, b in taken)
        cells = _split(text, start, min(end, len(text))) if line.strip() and free else []
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
    return tuple(sorted(found, key=lambda table: table.start))


def _laid_out(text: str) -> list[Table]:
    """Return the tables whose columns are told by where their cells stand; one without heads goes on under those above it."""
    found: list[Table] = []
    before: tuple[Columns, list[str]] | None = None
    for block in laid_out(text):
        rows = [(line, block.columns.filled(cells)) for line, cells in block.rows]
        texts = [
            ["" if span is None else " ".join(text[span[0] : span[1]].split()) for span in cells]
            for _, cells in rows
        ]
        first = _first_data_row(texts)
        heads = _heads([_spread(block.columns, text, cells) for _, cells in block.rows[:first]])
        if not first and before is not None and before[0].like(block.columns):
            heads = before[1]
        if any(heads):
            before = (block.columns, heads)
        sections = dict(block.sections)
        spans = [(line, [(0, 0) if span is None else span for span in cells]) for line, cells in rows[first:]]
        found.append(Table(block.start, block.end, block.title, _data(text, spans, heads, sections)))
    return found


def _spread(columns: Columns, text: str, cells: Sequence[Span]) -> list[str]:
    """Return the heads of one line by column: one that stands over several columns is said of each."""
    level = [""] * columns.count
    for span in cells:
        for column in columns.under(span):
            level[column] = level[column] or text[span[0] : span[1]].strip()
    return level


def _cells(text: str, rows: list[tuple[int, list[Span]]]) -> tuple[Cell, ...]:
    texts = [[text[a:b].strip() for a, b in cells] for _, cells in rows]
    first = _first_data_row(texts)
    return _data(text, rows[first:], _heads(texts[:first]), {})


def _data(
    text: str, rows: Sequence[tuple[int, list[Span]]], heads: Sequence[str], sections: dict[int, str]
) -> tuple[Cell, ...]:
    """Return the cells with values below the heads.

    Args:
        sections: lines that head the rows below them, by their number.
    """
    section = label = ""
    found: list[Cell] = []
    for line, cells in rows:
        section = next(
            (said for number, said in sorted(sections.items(), reverse=True) if number < line), section
        )
        words = [" ".join(text[a:b].split()) for a, b in cells]
        filled = [w for w in words if w]
        if len(filled) == 1 and words[0] and len(words) > 2:
            section = words[0]
            continue
        label = words[0] or label  # "Dropout voltage | at 150 mA", and below it only "at 300 mA"
        for column, ((a, b), word) in enumerate(zip(cells, words, strict=True)):
            if column == 0 or not any(map(str.isdigit, word)):
                continue
            others = tuple((i, w) for i, w in enumerate(words) if i != column and w)
            named = [w for _, w in others] if words[0] else [label, *(w for _, w in others)]
            found.append(
                Cell(
                    a,
                    b,
                    heads[column] if column < len(heads) else "",
                    " ".join([section, *named]).strip(),
                    line,
                    column,
                    others,
                    " ".join(
                        [section, label, *(w for i, w in others if i and not _BARE.fullmatch(w))]
                    ).strip(),
                    _unit_of(
                        heads[column] if column < len(heads) else "", label, [w for i, w in others if i]
                    ),
                    _unit_of(heads[0] if heads else "", "", ()),
                )
            )
    return tuple(found)


def _unit_of(head: str, label: str, others: Sequence[str]) -> tuple[str, Decimal] | None:
    """Return the unit of a bare value: "Full cure (h)" above it, "Density (kg/m3)" before it, or "mV" in a cell of its row."""
    for text in (head, label):
        for inside in reversed(_BRACKETS.findall(text)):
            if found := _measure(inside.strip()):
                return found
    return next((found for other in others if (found := _measure(other))), None)


def _measure(text: str) -> tuple[str, Decimal] | None:
    """Return the unit that a text is, a scale before it included: "thousand m³"."""
    first, _, rest = text.partition(" ")
    power = scale(first, True) if rest else None
    found = units.unit(text if power is None else rest, True)
    return found and (found[0], found[1] * Decimal(10) ** (power or 0))


_BRACKETS = re.compile(r"[(\[]([^()\[\]\d]{1,12})[)\]]")


def _first_data_row(texts: list[list[str]]) -> int:
    """Return the number of rows on top that hold heads alone."""
    lettered = [sum(any(map(str.isalpha, w)) for w in row[1:]) for row in texts]
    for number, row in enumerate(texts):
        if not number and len(texts) > 1 and lettered[0] > max(lettered[1:3]):
            continue  # "1,000 pcs | 5,000 pcs" above bare prices
        if _names_columns(texts, number) or (number and _all_words(row)):
            continue
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


def _all_words(row: list[str]) -> bool:
    """Tell whether a row names no thing and has no bare value: "Year ended | Year ended", "December 31, 2022 | ..."."""
    filled = [word for word in row if word]
    return (
        not row[0]
        and bool(filled)
        and all(any(map(str.isalpha, w)) and not _BARE.fullmatch(w) for w in filled)
    )


def _names_columns(texts: list[list[str]], number: int) -> bool:
    """Tell whether a row has words where the next has bare numbers: "Model | kW | A | 10 | 20" above "2.2 | 4.6 | 31.0".

    Below a row that names every column already only brackets go on: "(h) | (h)".
    """
    if number + 1 >= len(texts):
        return False
    row, below = texts[number], texts[number + 1]
    words = [
        word
        for word, value in zip(row[1:], below[1:], strict=False)
        if _BARE.fullmatch(value)
        and not _YEAR.fullmatch(value)
        and any(map(str.isalpha, word))
        and not _BARE.fullmatch(word)
    ]
    over = texts[number - 1] if number else []
    whole = bool(over) and all(over[1:])
    return len(words) > 1 and (not whole or all(w.startswith("(") and w.endswith(")") for w in row[1:] if w))


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


@lru_cache(maxsize=1024)
def units_of_cells(text: str) -> tuple[tuple[Span, tuple[str, Decimal]], ...]:
    """Return the spans of the cells of a text whose unit stands elsewhere in their table, each with that unit."""
    return tuple(
        ((cell.start, cell.end), cell.unit)
        for table in tables_of(text)
        for cell in table.cells
        if cell.unit is not None
    )


def in_table(text: str, at: int) -> bool:
    """Tell whether a place of a text lies in a table."""
    return any(table.start <= at < table.end for table in tables_of(text))


@lru_cache(maxsize=1024)
def heads_of(text: str) -> tuple[str, ...]:
    """Return the heads of the columns of a text's tables, those of several lines in one: "March 31, 2024"."""
    return tuple(dict.fromkeys(cell.head for table in tables_of(text) for cell in table.cells if cell.head))
