"""Tables that are laid out with spaces: which cells stand below each other."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median_low

Span = tuple[int, int]
"""First and last place (exclusive) of a cell: in the text, or in its line where columns are told."""

_GAP = re.compile(r" {2,}(?:\| {1,})?| \| {2,}")
_MARK = re.compile(r"[$€£¥]")
_BARS = re.compile(r"(?<!\\)\|")
_STOPS = (".", "!", "?", ":", ";")
_WIDEST = 60
"""Characters of the longest cell behind the first; what is longer is text."""


@dataclass(slots=True)
class Columns:
    """The columns of a table as the places of a line that each takes.

    Attributes:
        places: first and last place of each column, from the left; the first is that of the labels.
        starts: where each line of the text starts, by its offset.
    """

    places: list[Span]
    starts: dict[int, int] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Return the number of columns."""
        return len(self.places)

    def like(self, other: "Columns") -> bool:
        """Tell whether other columns stand below these."""
        return self.count == other.count and all(
            _overlap(mine, theirs) for mine, theirs in zip(self.places[1:], other.places[1:], strict=True)
        )

    def under(self, span: Span) -> list[int]:
        """Return the columns that a cell stands over, the nearest one when it stands over none."""
        place = self._placed(span)
        over = [i for i, column in enumerate(self.places) if _overlap(place, column)]
        return over or [min(range(self.count), key=lambda i: _distance(place, self.places[i]))]

    def filled(self, cells: Sequence[Span]) -> list[Span | None]:
        """Return the cells of a line, one for each column, None where the line has none; those of one column are one."""
        if len(cells) == self.count:
            return list(cells)
        row: list[Span | None] = [None] * self.count
        for span in cells:
            over = self.under(span)
            free = [i for i in over if row[i] is None]
            if free:
                row[free[0]] = span
            elif (first := row[over[0]]) is not None:
                row[over[0]] = (first[0], span[1])
        return row

    def _placed(self, span: Span) -> Span:
        start = self.starts[span[0]]
        return span[0] - start, span[1] - start


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that make a table.

    Attributes:
        title: the line above them.
        rows: number of the line and its cells as spans of the text.
        sections: number and text of lines that head the rows below them.
    """

    start: int
    end: int
    title: str
    columns: Columns
    rows: tuple[tuple[int, tuple[Span, ...]], ...]
    sections: tuple[tuple[int, str], ...]


def laid_out(text: str) -> list[Block]:
    """Return the tables of a text whose columns are told by where their cells stand: three columns at least, two rows."""
    found: list[Block] = []
    rows: list[tuple[int, tuple[Span, ...]]] = []
    sections: list[tuple[int, str]] = []
    title, at, begin = "", 0, 0
    lines = text.split("\n")
    for number, line in enumerate([*lines, ""]):
        cells = _cells(line)
        if len(cells) > 1:
            if not rows:
                begin = at
            rows.append((number, tuple((at + a, at + b) for a, b in cells)))
        elif rows and _heads_rows(line) and number + 1 < len(lines) and len(_cells(lines[number + 1])) > 1:
            sections.append((number, line.strip()))
        elif not (rows and len(cells) == 1 and line[:1] == " " and len(rows) < 3):
            starts = {span[0]: _line_start(text, span[0]) for _, row in rows for span in row}
            columns = _columns([row for _, row in rows], starts)
            if columns is not None:
                found.append(Block(begin, at, title, columns, tuple(rows), tuple(sections)))
            if rows or line.strip():
                title = "" if rows else line.strip()
            rows, sections = [], []
        at += len(line) + 1
    return found


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _heads_rows(line: str) -> bool:
    """Tell whether a line within a table heads the rows below it: a few words, no number, no sentence."""
    words = line.strip()
    return (
        bool(words) and len(words) < 40 and not any(map(str.isdigit, words)) and words[-1] not in _STOPS[:3]
    )


def _cells(line: str) -> list[Span]:
    """Return the spans of the cells of a line, none for a line in which no spaces part cells."""
    if "\t" in line or not line.strip() or (_BARS.search(line) and not _parted(line)):
        return []
    begin, end = len(line) - len(line.lstrip()), len(line.rstrip())
    edges = [begin]
    for match in _GAP.finditer(line, begin, end):
        after_stop = len(match.group()) == 2 and line[match.start() - 1] in _STOPS
        if not after_stop:
            edges += match.span()
    edges.append(end)
    cells = list(zip(edges[::2], edges[1::2], strict=True))
    joined: list[Span] = []
    for a, b in cells:
        if joined and _MARK.fullmatch(line, *joined[-1]):
            joined[-1] = (joined[-1][0], b)  # "$   1,482" is one cell
        else:
            joined.append((a, b))
    return joined if all(b - a <= _WIDEST for a, b in joined[1:]) else []


def _parted(line: str) -> bool:
    """Tell whether a line with bars has cells between them that spaces part."""
    return any(
        re.search(r"\d {2,}\S|\S {2,}\d", piece.strip()) for piece in _BARS.split(line)
    ) and not line.startswith("|")


def _columns(rows: Sequence[Sequence[Span]], starts: dict[int, int]) -> Columns | None:
    """Return the columns that the fullest rows make, None when they do not stand below each other."""
    most = max(map(len, rows), default=0)
    if most < 3 or len(rows) < 2:
        return None
    placed = [[(a - starts[a], b - starts[a]) for a, b in row] for row in rows]
    full = [row for row in placed if len(row) == most]
    places = _extents(full)
    if _collide(places):
        places = _extents(_in_line(full))
    if _collide(places):
        places = _gutters([row for row in placed if len(row) >= most - 1])
    if len(places) < 3:
        return None
    for row in placed:
        for cell in row:
            over = [i for i, place in enumerate(places) if _overlap(cell, place)]
            if len(over) == 1:
                low, high = places[over[0]]
                left = places[over[0] - 1][1] if over[0] else 0
                right = places[over[0] + 1][0] if over[0] + 1 < len(places) else cell[1]
                places[over[0]] = (max(left, min(low, cell[0])), min(right, max(high, cell[1])))
    return Columns(places, starts)


def _extents(rows: Sequence[Sequence[Span]]) -> list[Span]:
    """Return from where to where the cells of each column reach; all rows have the same number of cells."""
    return [(min(c[0] for c in column), max(c[1] for c in column)) for column in zip(*rows, strict=True)]


def _collide(places: Sequence[Span]) -> bool:
    return any(left[1] > right[0] for left, right in pairwise(places))


def _in_line(rows: Sequence[Sequence[Span]]) -> list[Sequence[Span]]:
    """Return the rows whose every cell stands over the middle one of its column: a line may be set askew."""
    middle = [
        (median_low(c[0] for c in column), median_low(c[1] for c in column))
        for column in zip(*rows, strict=True)
    ]
    return [row for row in rows if all(map(_overlap, row, middle))] or list(rows)


def _gutters(rows: Sequence[Sequence[Span]]) -> list[Span]:
    """Return the columns between the places that all rows leave free: "Rth  junction-case" is one label then."""
    columns: list[Span] = []
    for start, end in sorted(cell for row in rows for cell in row):
        if columns and start < columns[-1][1] + 1:
            columns[-1] = (columns[-1][0], max(columns[-1][1], end))
        else:
            columns.append((start, end))
    return columns


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _distance(one: Span, other: Span) -> int:
    return max(other[0] - one[1], one[0] - other[1])
