"""Finds in the XML of a spreadsheet what its rows do not tell: hidden rows and columns, merged cells, lost values."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from citegraph.corpus.readers.protocol import MEGABYTE

_MARK = re.compile(
    rb"<(?:\w+:)?(?:"
    rb"row\b(?P<row>[^>]*?\bhidden=\"(?:1|true)\")"
    rb"|col\b(?P<column>[^>]*?\bhidden=\"(?:1|true)\"[^>]*)>"
    rb"|mergeCell\b[^>]*?\bref=\"(?P<merged>[A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})\")"
    rb"|(?P<lost>(?:</f>|<f/>|<f [^<>]*/>)(?:<v ?/>|<v></v>)?</c>)"
)
# The longest thing that is looked for may be cut by the end of a block.
_OVERLAP = 600
_MOST_MERGED = 10_000


class Merged(NamedTuple):
    """Cells that are one over several rows; rows and columns count from 1."""

    first_row: int
    last_row: int
    column: int


@dataclass(slots=True)
class SheetMarks:
    """What one sheet hides and joins; `lost` counts formulas that no program has computed."""

    hidden_rows: int = 0
    hidden_columns: int = 0
    lost: int = 0
    hidden: bool = False
    merged: list[Merged] = field(default_factory=list)


def marks_of(archive: zipfile.ZipFile, name: str) -> SheetMarks:
    """Return the marks of a sheet, by the name of its file in the workbook; the file is read in blocks."""
    marks = SheetMarks()
    with archive.open(name) as file:
        rest = b""
        while block := file.read(MEGABYTE):
            block = rest + block
            end = 0
            for found in _MARK.finditer(block):
                end = found.end()
                _take(marks, found)
            rest = block[max(end, len(block) - _OVERLAP) :]
    marks.merged.sort()
    return marks


def _take(marks: SheetMarks, found: re.Match[bytes]) -> None:
    if found["row"]:
        marks.hidden_rows += 1
    elif found["column"]:
        sides = dict(re.findall(rb"\b(min|max)=\"(\d{1,5})\"", found["column"]))
        marks.hidden_columns += max(1, int(sides.get(b"max", 0)) - int(sides.get(b"min", 0)) + 1)
    elif found["lost"]:
        marks.lost += 1
    elif found["merged"] and len(marks.merged) < _MOST_MERGED:
        from openpyxl.utils.cell import range_boundaries

        column, first, _, last = range_boundaries(found["merged"].decode())
        if column and first and last and last > first:
            marks.merged.append(Merged(first, last, column))


def spread(rows: Iterable[list[str]], merged: Iterable[Merged]) -> Iterator[list[str]]:
    """Yield rows in which a cell that spans several rows stands in each of them that holds anything else.

    Args:
        merged: in the order of their first rows.
    """
    waiting = iter(merged)
    following = next(waiting, None)
    running: list[tuple[Merged, str]] = []
    for number, row in enumerate(rows, 1):
        running = [(cells, text) for cells, text in running if cells.last_row >= number]
        if running and any(row):
            for cells, text in running:
                row.extend([""] * (cells.column - len(row)))
                row[cells.column - 1] = row[cells.column - 1] or text
        while following is not None and following.first_row <= number:
            if following.first_row == number and len(row) >= following.column:
                running.append((following, row[following.column - 1]))
            following = next(waiting, None)
        yield row
