"""The tables of a table file as typed rows with their places in the text; rows that sum up others are told apart."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import Literal

from citegraph.corpus.records.table_files.columns import (
    ColumnReader,
    TableColumn,
    columns_of,
    day_of,
    number_in,
    of_scale,
    printed_number,
    scaled,
)
from citegraph.corpus.schema.document import Document, Table
from citegraph.language.terms import fold
from citegraph.language.word_tables import alternation

MEDIA = frozenset(
    {
        "text/csv",
        "application/vnd.ms-excel",
        "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.oasis.opendocument.spreadsheet",
    }
)
"""Formats whose documents are tables."""
CELL = " | "
LONGEST_CELL = 300
"""Characters of a cell of words that are compared."""
LONGEST_CALL = 40
"""Characters of a cell that may call its line a sum."""
MOST_LEFT_OUT = 200
"""Rows that sum up others of which the place is kept."""

MOST_GROUPS = 5_000
"""Words of the rows above that are kept: a sum may be called by one of them."""
Why = Literal["sum", "average", "note", "cells"]
"""Why a line of a table is no row of it: it sums up rows above, is their mean, a note below, or has other cells than heads."""


@dataclass(frozen=True, slots=True)
class FileRow:
    """A row: its characters in the document, and its cells as they are compared.

    `cells` has by column an integer (of the column's scale), an ISO day or folded words, and under "u3" the unit of
    column 3 where its numbers have several.
    """

    start: int
    end: int
    cells: dict[str, int | str]


@dataclass(slots=True)
class FileTable:
    """A table of a file.

    Attributes:
        number: its place in the file, from 0.
        title: name of the sheet, else empty.
        left_out: lines that are no rows: why, and their characters in the document; counted in `others` too.
    """

    number: int
    title: str
    page: int | None
    columns: tuple[TableColumn, ...]
    rows: int = 0
    left_out: list[tuple[Why, int, int]] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    cells: Sequence[str]


def file_tables(document: Document, order: str) -> Iterator[tuple[FileTable, Iterator[FileRow]]]:
    """Yield the tables of a table file, each with its rows, which are to be taken before the next table.

    What is known of a table beside its columns is known when its rows were taken.

    Args:
        order: how the bucket reads "03/04/2018".
    """
    number = 0
    for table in document.tables if document.media_type in MEDIA else ():
        if not table.rows or len(table.rows) <= table.header:
            continue
        heads = _heads(table)
        readers = [ColumnReader(head) for head in heads]
        widths: Counter[int] = Counter()
        for line in _lines(document, table, len(heads)):
            widths[sum(map(bool, line.cells))] += 1
            for reader, cell in zip(readers, line.cells, strict=False):
                reader.add(cell)
        columns = columns_of(readers, order)
        found = FileTable(number, table.title, table.page, columns)
        usual = min(width for width, count in widths.items() if count == max(widths.values()))
        yield found, _rows(found, _lines(document, table, len(heads)), heads, usual)
        number += 1


def _heads(table: Table) -> tuple[str, ...]:
    """Return the head of each column, its number where it has none."""
    width = max(map(len, table.rows))
    row = table.rows[table.header - 1] if table.header else ()
    named = [row[place] if place < len(row) else "" for place in range(width)]
    return tuple(head or f"column {place}" for place, head in enumerate(named, 1))


def _lines(document: Document, table: Table, width: int) -> Iterator[_Line]:
    """Yield the lines below the heads; a line of a long table has its cells from the text."""
    at = table.start
    text = document.text
    for number, cells in enumerate(table.rows):
        written = CELL.join(cells).strip()
        start = text.find(written, at, table.end)
        if start < 0:  # a line that was bounded on its way into the text
            continue
        at = start + len(written)
        if number >= table.header:
            yield _Line(start, at, [*cells, *[""] * (width - len(cells))])
    at += 1
    while at < table.end:
        stop = text.find("\n", at, table.end)
        stop = table.end if stop < 0 else stop
        if stop > at:
            yield _Line(at, stop, cells_of(text[at:stop], width))
        at = stop + 1


def cells_of(line: str, width: int) -> list[str]:
    """Return the cells of a line of the text, of which the blanks of empty first and last cells were cut off."""
    line = f" {line}" if line.startswith(CELL[1:]) else line
    line = f"{line} " if line.endswith(CELL[:-1]) else line
    cells = [cell.strip() for cell in line.split(CELL)]
    return cells + [""] * (width - len(cells))


def _rows(found: FileTable, lines: Iterator[_Line], heads: tuple[str, ...], usual: int) -> Iterator[FileRow]:
    """Yield the rows and take into account what is none: repeated heads, sums and means of rows, notes below them."""
    sums = _Sums(found.columns)
    held: _Line | None = None
    for line, after in pairwise(chain(lines, [None])):
        assert line is not None
        if held is not None:  # a single cell is a note when nothing but notes follows
            yield from _taken(found, held, sums)
            held = None
        if tuple(line.cells) == heads:
            continue
        if len(line.cells) > len(heads):
            _leave(found, "cells", line)
            continue
        filled = sum(map(bool, line.cells))
        if filled == 1 and usual > 2:
            held = line
            continue
        ends = after is None or sum(map(bool, after.cells)) < 2
        if (filled < usual or sums.called(line.cells)) and (why := sums.tells(line.cells, ends=ends)):
            _leave(found, why, line)
            continue
        yield from _taken(found, line, sums)
    if held is not None:
        _leave(found, "note", held)


def _taken(found: FileTable, line: _Line, sums: "_Sums") -> Iterator[FileRow]:
    found.rows += 1
    values = _stored(found.columns, line.cells)
    sums.add(values)
    yield FileRow(line.start, line.end, values)


def _leave(found: FileTable, why: Why, line: _Line) -> None:
    found.others[why] += 1
    if len(found.left_out) < MOST_LEFT_OUT:
        found.left_out.append((why, line.start, line.end))


def _stored(columns: Sequence[TableColumn], cells: Sequence[str]) -> dict[str, int | str]:
    values: dict[str, int | str] = {}
    for place, (column, cell) in enumerate(zip(columns, cells, strict=False)):
        if not cell:
            continue
        if column.kind == "text":
            values[str(place)] = fold(cell)[:LONGEST_CELL]
        elif column.kind == "date":
            if day := day_of(cell, column.order):
                values[str(place)] = day
        elif (number := number_in(cell, column.mark)) is not None:
            values[str(place)] = scaled(number, column.places)
            if column.units:
                printed = printed_number(cell)
                values[f"u{place}"] = printed.unit if printed else ""
    return values


@dataclass(slots=True)
class _Sum:
    """A sum in units of the last place of its column, and of how many numbers."""

    total: int = 0
    count: int = 0


class _Sums:
    """The sums of the columns of numbers: over all rows, and over those since the last line that summed some up."""

    def __init__(self, columns: Sequence[TableColumn]) -> None:
        self._columns = [
            (str(place), place, column) for place, column in enumerate(columns) if column.kind == "number"
        ]
        self._words = [place for place, column in enumerate(columns) if column.kind == "text"]
        self._groups: set[str] = set()
        """The words of the columns after the first in the rows since the last sum: groups are called by them."""
        self._named = [place for place, column in enumerate(columns) if column.kind != "number"]
        self._all = {key: _Sum() for key, _, _ in self._columns}
        self._block = {key: _Sum() for key, _, _ in self._columns}

    def add(self, values: Mapping[str, int | str]) -> None:
        """Take in a row as it is stored."""
        for place in self._words[1:] if len(self._groups) < MOST_GROUPS else ():
            self._groups.add(str(values.get(str(place), "")))
        for key, _, _ in self._columns:
            value = values.get(key)
            if isinstance(value, int):
                for one in (self._all[key], self._block[key]):
                    one.total += value
                    one.count += 1

    def called(self, cells: Sequence[str]) -> bool:
        """Tell whether the first words of a line call it a sum ("Total"), and nothing else: a status further on is a value."""
        return _is_called_sum(next((cells[place] for place in self._words if cells[place]), ""))

    def tells(self, cells: Sequence[str], *, ends: bool) -> Why | None:
        """Return what a line with fewer cells than a row, or that is called a sum, is of the rows above; None for nothing.

        Numbers alone do not tell: of three rows one is often as much as the two above. What is not called a sum has no name,
        or that of a group of the rows above, or ends the table with one word; or it is the sum or mean of each column that
        it fills, of two at least.

        Args:
            ends: nothing but notes follows the line.
        """
        called = self.called(cells)
        found = [
            why for key, place, column in self._columns if (why := self._of_column(key, column, cells[place]))
        ]
        filled = sum(bool(cells[place]) for _, place, _ in self._columns)
        names = [cells[place] for place in self._named if cells[place]]
        alone = len(names) < min(2, len(self._named))
        bare = not names or (alone and (ends or fold(names[0]) in self._groups))
        whole = len(found) == filled > 1
        if not found or not (called or whole or bare):
            return "sum" if called else None
        if "sum" in found:
            self._block = {other: _Sum() for other in self._block}
            self._groups.clear()
            return "sum"
        return "average"

    def _of_column(self, key: str, column: TableColumn, cell: str) -> Why | None:
        value = number_in(cell, column.mark) if cell else None
        for one in (self._block[key], self._all[key]):
            if not value or one.count < 2:
                continue
            if value == of_scale(one.total, column.places):
                return "sum"
            printed = -int(value.as_tuple().exponent)
            if printed > 0 and round(of_scale(one.total, column.places) / one.count, printed) == value:
                return "average"
        return None


@lru_cache(maxsize=4096)
def _is_called_sum(cell: str) -> bool:
    return len(cell) < LONGEST_CALL and _sum_words().fullmatch(cell.strip(" :*")) is not None


@cache
def _sum_words() -> re.Pattern[str]:
    return re.compile(alternation("tables", "sums"), re.IGNORECASE)
