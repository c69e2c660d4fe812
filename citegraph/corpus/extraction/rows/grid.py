"""The lines of a page as cells: between bars, or between wide gaps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_GAP_CELL = re.compile(r"[^\s|]\S*(?: \S+)*")
_RULE = re.compile(r"[\s|:+=_.-]*")
_LEADERS = re.compile(r"\.{4,}|(?: \.){3,}")
"""Dots that lead from a name to its value."""
_WIDE = {0xFF10 + digit: str(digit) for digit in range(10)} | {0xFF0E: "."}
"""Digits and points as wide as ideographs."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of a line: its place in the page's text, its column (of characters, or between bars) and its text."""

    start: int
    end: int
    left: int
    right: int
    text: str


@dataclass(frozen=True, slots=True)
class GridLine:
    """A line of a page: its place in the text, its cells, and whether bars part them."""

    start: int
    end: int
    text: str
    cells: tuple[Cell, ...]
    barred: bool

    @property
    def is_blank(self) -> bool:
        """Return whether nothing or a rule stands in the line."""
        return not self.cells or _RULE.fullmatch(self.text) is not None


def grid_lines(text: str) -> Iterator[GridLine]:
    """Yield the lines of a text; page breaks end lines too."""
    start = 0
    for line in re.split(r"[\n\f]", text.translate(_WIDE)):
        barred = "|" in line
        cells = tuple(_barred(line, start) if barred else _gapped(line, start))
        yield GridLine(start, start + len(line), line, cells, barred)
        start += len(line) + 1


def _barred(line: str, at: int) -> Iterator[Cell]:
    """Yield the cells between bars, empty ones too; a column is the number of the cell."""
    begin = 0
    outer = line.lstrip().startswith("|") and line.rstrip().endswith("|") and line.count("|") > 1
    parts = line.split("|")
    for number, part in enumerate(parts):
        lead = len(part) - len(part.lstrip())
        if not (outer and number in {0, len(parts) - 1}):
            column = number - outer
            yield Cell(
                at + begin + lead, at + begin + lead + len(part.strip()), column, column + 1, part.strip()
            )
        begin += len(part) + 1


def _gapped(line: str, at: int) -> Iterator[Cell]:
    line = _LEADERS.sub(lambda dots: " " * len(dots[0]), line)
    widened = line.replace("\t", "    ")
    spread = widened if "\t" in line else line
    for found in _GAP_CELL.finditer(spread):
        start = at + (line.find(found[0]) if spread is not line else found.start())
        yield Cell(start, start + len(found[0]), found.start(), found.end(), found[0])
