"""Finds the ruled tables of a PDF page: PDFium gives lines and words, pdfplumber's finder joins them to cells."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import inf
from types import SimpleNamespace
from typing import Any

from citegraph.corpus.readers.pdf.pdf_geometry import Placer
from citegraph.corpus.readers.pdf.pdf_objects import Drawn
from citegraph.corpus.readers.plain_text import cleaned
from citegraph.corpus.schema.document import Box, Layout, Table

_MOST_SEGMENTS = 100
_MOST_EDGES = 4_000
# Points; thinner is a rule, shorter is no cell's side, and what leans more is no rule.
_THIN = 2.5
_SHORT = 4.0
_LEAN = 0.75
# Share of cells that hold text; a form or a frame around a drawing has less.
_FILLED = 0.6

Edge = dict[str, Any]


def tables_of(drawn: Drawn, words: Any, place: Placer, layout: Layout) -> list[Table]:
    """Return the tables of a page whose cells are ruled; offsets count from the start of its text.

    pdfplumber reads a page about 20 times slower than PDFium, so only its finder runs, on PDFium's lines.
    """
    edges = list(_edges(drawn, place))
    columns = {edge["x0"] for edge in edges if edge["orientation"] == "v"}
    rows = {edge["top"] for edge in edges if edge["orientation"] == "h"}
    # Two columns and two rows have three lines each way.
    if not (_are_apart(columns) and _are_apart(rows)) or len(edges) > _MOST_EDGES:
        return []
    from pdfplumber.table import TableFinder

    ruled: Any = SimpleNamespace(edges=edges, bbox=(0, 0, layout.width, layout.height))
    found = (_table(raw, words, place, layout) for raw in TableFinder(ruled).tables)
    return [table for table in found if table is not None]


def _are_apart(places: Iterable[float]) -> bool:
    """Return whether three of the places are further apart than the sides of one rule."""
    last, count = -inf, 0
    for place in sorted(places):
        if place - last > _THIN:
            last, count = place, count + 1
    return count >= 3


def _table(raw: Any, words: Any, place: Placer, layout: Layout) -> Table | None:
    """Return a found table with the text of its cells, None when it is no table of text."""
    rows = [tuple(_cell(box, words, place) for box in row.cells) for row in raw.rows]
    rows = [row for row in rows if any(row)]
    columns = max((len(row) for row in rows), default=0)
    filled = sum(bool(cell) for row in rows for cell in row)
    if len(rows) < 2 or columns < 2 or filled < _FILLED * columns * len(rows):
        return None
    inside = [line for line in layout.lines if _within(line.box, Box(*raw.bbox))]
    if not inside:
        return None
    start, end = min(line.start for line in inside), max(line.end for line in inside)
    return Table(start, end, tuple(rows), page=layout.number)


def _cell(box: tuple[float, float, float, float] | None, words: Any, place: Placer) -> str:
    """Return the text of a cell; the finder gives None where a cell spans several."""
    if box is None:
        return ""
    (x0, y0), (x1, y1) = place.back(box[0], box[1]), place.back(box[2], box[3])
    text = words.get_text_bounded(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
    return " ".join(cleaned(text.replace("\ufffe", "-")).split())


def _within(line: Box, table: Box) -> bool:
    across, down = (line.left + line.right) / 2, (line.top + line.bottom) / 2
    return table.left <= across <= table.right and table.top <= down <= table.bottom


def _edges(drawn: Drawn, place: Placer) -> Iterator[Edge]:
    """Yield the level and upright lines that a page draws, and the sides of its rectangles."""
    from pypdfium2 import raw

    for item, corners in drawn.paths:
        box = place.box(*corners)
        width, height = box.right - box.left, box.bottom - box.top
        if max(width, height) < _SHORT:
            continue
        if min(width, height) <= _THIN:
            yield from _edge((box.left, box.top), (box.right, box.bottom), upright=height > width)
        elif 2 <= raw.FPDFPath_CountSegments(item) <= _MOST_SEGMENTS:
            yield from _sides(item, place)


def _sides(item: Any, place: Placer) -> Iterator[Edge]:
    from pypdfium2 import raw

    matrix = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(item, matrix)
    a, b, c, d, e, f = matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f
    x, y = ctypes.c_float(), ctypes.c_float()
    points: list[tuple[float, float]] = []
    for number in range(raw.FPDFPath_CountSegments(item)):
        segment = raw.FPDFPath_GetPathSegment(item, number)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        if raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_MOVETO:
            yield from _polygon(points)
            points = []
        points.append(place.point(a * x.value + c * y.value + e, b * x.value + d * y.value + f))
        if raw.FPDFPathSegment_GetClose(segment):
            points.append(points[0])
    yield from _polygon(points)


def _polygon(points: list[tuple[float, float]]) -> Iterator[Edge]:
    for here, there in pairwise(points):
        if abs(here[0] - there[0]) <= _LEAN or abs(here[1] - there[1]) <= _LEAN:
            yield from _edge(here, there, upright=abs(here[0] - there[0]) <= _LEAN)


def _edge(here: tuple[float, float], there: tuple[float, float], *, upright: bool) -> Iterator[Edge]:
    """Yield a line in the form that pdfplumber gives its own, made exactly level or upright."""
    (x0, x1), (top, bottom) = sorted((here[0], there[0])), sorted((here[1], there[1]))
    if max(x1 - x0, bottom - top) < _SHORT:
        return
    if upright:
        x0 = x1 = (x0 + x1) / 2
    else:
        top = bottom = (top + bottom) / 2
    yield {
        "x0": x0,
        "x1": x1,
        "top": top,
        "bottom": bottom,
        "width": x1 - x0,
        "height": bottom - top,
        "orientation": "v" if upright else "h",
        "object_type": "line",
    }
