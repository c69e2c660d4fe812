"""A page as it looks: its lines put back into rows and columns, with the way back to the document's text.

A PDF stores its text in any order and OCR reads block by block, so that a label and the value beside it may lie far
apart in the text. The rules of forms (label beside value, column head above it) read the page as people see it.
"""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citegraph.corpus.schema.document import Layout, Line

_OVERLAP = 0.5
"""Share of the lower line's height that two lines of one row have in common."""
_APART = 0.9
"""Heights of a row; a wider space above the next one is written as a blank line."""
_MOST_COLUMNS = 240
_JOINT = 2
"""Characters of the document between two lines that follow each other."""


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A text in which blanks stand for the space on the page.

    Attributes:
        text: the rows of all pages; a form feed is between two pages.
        places: (start in `text`, start in the document, length) of each piece of the document, in order.
    """

    text: str
    places: tuple[tuple[int, int, int], ...]

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where a span lies in the document; what runs over two pieces is cut to the first."""
        number = bisect_right(self.places, start, key=lambda place: place[0]) - 1
        if number < 0:
            return None
        here, there, length = self.places[number]
        if start >= here + length:
            return None
        return there + start - here, there + min(end - here, length)

    def span_of(self, pieces: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
        """Return where a text of several lines lies in the document; only its first line when others come between."""
        spans = [self.span(*piece) for piece in pieces]
        first = spans[0] if spans else None
        if first is None:
            return None
        start, end = first
        for span in spans[1:]:
            if span is None or not 0 <= span[0] - end <= _JOINT:
                break
            end = span[1]
        return start, end


def laid_out(text: str, layouts: Sequence[Layout]) -> LaidOut | None:
    """Return the pages of a document as they look, None when it has no layouts."""
    parts: list[str] = []
    places: list[tuple[int, int, int]] = []
    at = 0
    for layout in layouts:
        if at:
            parts.append("\f")
            at += 1
        for gap, line in _written(text, layout):
            piece = text[line.start : line.end].strip() if line else ""
            if line:
                lead = text[line.start : line.end].index(piece) if piece else 0
                places.append((at + len(gap), line.start + lead, len(piece)))
            parts.append(gap + piece)
            at += len(gap) + len(piece)
    return LaidOut("".join(parts), tuple(places)) if places else None


def _written(text: str, layout: Layout) -> Iterator[tuple[str, Line | None]]:
    """Yield each line of a page with the blanks before it, and a line end (without a line) after each row."""
    unit = _unit(text, layout)
    below = None
    for row in _rows(layout.lines):
        top, bottom = min(line.box.top for line in row), max(line.box.bottom for line in row)
        if below is not None and top - below > _APART * (bottom - top):
            yield "\n", None
        below = bottom
        column = 0
        for line in sorted(row, key=lambda line: line.box.left):
            wanted = min(_MOST_COLUMNS, round(line.box.left / unit))
            gap = max(wanted - column, 2 if column else 0)
            yield " " * gap, line
            column += gap + len(text[line.start : line.end].strip())
        yield "\n", None


def _rows(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield the lines that stand side by side, from the top of the page down."""
    row: list[Line] = []
    for line in sorted(lines, key=lambda line: (line.box.top + line.box.bottom, line.box.left)):
        if row and not _beside(row[0], line):
            yield row
            row = []
        row.append(line)
    if row:
        yield row


def _beside(one: Line, other: Line) -> bool:
    common = min(one.box.bottom, other.box.bottom) - max(one.box.top, other.box.top)
    lower = min(one.box.bottom - one.box.top, other.box.bottom - other.box.top)
    return common > _OVERLAP * lower or (lower <= 0 and common >= 0)


def _unit(text: str, layout: Layout) -> float:
    """Return the width of a character of the page, as most of its lines have it."""
    widths = [
        (line.box.right - line.box.left) / (line.end - line.start)
        for line in layout.lines
        if line.end - line.start > 3 and line.box.right > line.box.left
    ]
    return max(statistics.median(widths), layout.width / _MOST_COLUMNS, 0.01) if widths else 1.0
