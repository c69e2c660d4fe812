"""Takes text off a PDF page that nobody sees: white on white, invisible, covered, tiny, switched off, off the page."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citegraph.corpus.readers.pdf.pdf_geometry import Placer
from citegraph.corpus.readers.pdf.pdf_objects import FAINT, Corners, Drawn

# Levels of 255 by which text must differ from what is behind it, and a picture of the page from another.
_LIKE, _SEEN = 40, 24
# Points of height below which nobody reads.
_TINY = 1.0
# The ways to draw letters without ink (the first is what an OCR writes beneath or over a scan), and those that fill
# them, by which their colour is told.
_NO_INK, _FILLED = (3, 7), (0, 4)
# Share of a text's box that must lie within what is behind or before it.
_WITHIN = 0.8
# Share of a page that pictures cover when it is a scan.
_SCAN = 0.6
# Share of the rows and of the columns of pixels in which writing leaves ink; a rule leaves it in few rows.
_WRITTEN = 0.35
# A poster may be 200 inches wide, and hold as many texts as shapes.
_MOST_PAIRS, _MOST_PIXELS = 2_000_000, 16_000_000
# Pixels a point of the pictures that are compared, and of one that shows only whether there is ink.
_CLOSE, _ROUGH = 1.5, 1.0
# Points that are drawn on each side of the texts.
_BESIDE = 10
_UNKNOWN = (-1_000, -1_000, -1_000)

Numbers = NDArray[np.float64]
Levels = NDArray[np.int64]
Flags = NDArray[np.bool_]


def take_off(page: Any, place: Placer, drawn: Drawn) -> int:
    """Make the hidden text of an open page inactive, so that PDFium neither reads nor draws it.

    Text is hidden when the page looks the same without it; only pages with a text that may be so are drawn. Text
    without ink over a scan, or over letters that are drawn as shapes, says what these show, and is kept.

    Returns:
        How many characters were taken off, blanks not counted.
    """
    if not drawn.texts:
        return 0
    boxes = np.array(drawn.boxes)
    inked = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])  # the others are blanks
    hidden = inked & (_beside(boxes, page.get_bbox()) | _tiny(boxes, drawn))
    doubted = _doubted(boxes, drawn)
    doubted[drawn.layers] = True
    doubted &= inked & ~hidden
    if doubted.any():
        hidden[_unseen(page, place, drawn, np.flatnonzero(doubted).tolist())] = True
    return _put_away(page, [drawn.texts[number] for number in np.flatnonzero(hidden)]) if hidden.any() else 0


def _beside(boxes: Numbers, edges: Corners) -> Flags:
    """Return which texts lie wholly beside the visible part of the page."""
    left, bottom, right, top = edges
    return np.asarray(
        (boxes[:, 2] <= left) | (boxes[:, 0] >= right) | (boxes[:, 3] <= bottom) | (boxes[:, 1] >= top)
    )


def _tiny(boxes: Numbers, drawn: Drawn) -> Flags:
    """Return which texts are too small to read; a dash is low too, but not its font."""
    from pypdfium2 import raw

    low = np.asarray(np.minimum(boxes[:, 3] - boxes[:, 1], boxes[:, 2] - boxes[:, 0]) < _TINY)
    size, matrix = ctypes.c_float(), raw.FS_MATRIX()
    for number in np.flatnonzero(low):
        raw.FPDFTextObj_GetFontSize(drawn.texts[number], size)
        raw.FPDFPageObj_GetMatrix(drawn.texts[number], matrix)
        stretch = max(abs(matrix.a), abs(matrix.b), abs(matrix.c), abs(matrix.d))
        low[number] = size.value * stretch < _TINY
    return low


def _doubted(boxes: Numbers, drawn: Drawn) -> Flags:
    """Return which texts may be hidden: without ink, of the colour behind them, or beneath something opaque."""
    modes, paints = np.array(drawn.modes), np.array(drawn.paints)
    colours, faint = paints[:, :3], paints[:, 3] < FAINT
    light = colours.min(axis=1) > 255 - _LIKE
    if drawn.fills:
        behind, covered = _around(boxes, drawn)
        alike = np.abs(colours - behind).max(axis=1) < _LIKE
        alike |= light & (behind[:, 0] == _UNKNOWN[0])
    else:
        covered, alike = np.zeros(len(boxes), dtype=bool), light
    return np.asarray(np.isin(modes, _NO_INK) | (np.isin(modes, _FILLED) & (faint | alike)) | covered)


def _around(boxes: Numbers, drawn: Drawn) -> tuple[Levels, Flags]:
    """Return the colour behind each text, and which texts something opaque was drawn over."""
    fills = drawn.fills[: max(1, _MOST_PAIRS // len(boxes))]
    orders, sides, colours, opaque = zip(*fills, strict=True)
    edges = np.array(sides)
    across = np.minimum(boxes[:, None, 2], edges[:, 2]) - np.maximum(boxes[:, None, 0], edges[:, 0])
    up = np.minimum(boxes[:, None, 3], edges[:, 3]) - np.maximum(boxes[:, None, 1], edges[:, 1])
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    inside = (across > 0) & (up > 0) & (across * up >= _WITHIN * area[:, None])
    before = np.array(orders) < np.array(drawn.orders)[:, None]
    under = inside & before
    # Fills come in the order of drawing: of those under a text the last one is seen, else the page.
    last = under.shape[1] - 1 - under[:, ::-1].argmax(axis=1)
    painted = np.array([colour or _UNKNOWN for colour in colours])
    behind = np.where(under.any(axis=1)[:, None], painted[last], 255)
    return behind, np.asarray((inside & ~before & np.array(opaque)).any(axis=1))


class _Look:
    """Draws the part of a page in which some texts stand, with and without texts."""

    def __init__(self, page: Any, place: Placer, drawn: Drawn, numbers: Sequence[int]) -> None:
        self._page, self._texts = page, drawn.texts
        self._width, self._height = page.get_size()
        pictured = sum((right - left) * (top - bottom) for left, bottom, right, top in drawn.pictures)
        self.is_scan = pictured >= _SCAN * self._width * self._height
        self._spots = {number: place.box(*drawn.boxes[number]) for number in numbers}
        lefts, tops, rights, bottoms = zip(*self._spots.values(), strict=True)
        # Of a text that touches the edge at least a few points are drawn.
        self._left = max(0, min(int(min(lefts)) - _BESIDE, int(self._width) - 4))
        self._top = max(0, min(int(min(tops)) - _BESIDE, int(self._height) - 4))
        self._right = min(self._width, max(self._left + 4, max(rights) + _BESIDE))
        self._bottom = min(self._height, max(self._top + 4, max(bottoms) + _BESIDE))

    def _fitting(self, scale: float) -> float:
        area = float(self._right - self._left) * (self._bottom - self._top)
        return min(scale, math.sqrt(_MOST_PIXELS / max(1.0, area)))

    def pixels(self, scale: float, without: Iterable[int] = ()) -> Levels:
        """Return that part in grey, rows from the top, as it is without the texts of some numbers."""
        texts = [self._texts[number] for number in without]
        scale = self._fitting(scale)
        beside = (self._left, self._height - self._bottom, self._width - self._right, self._top)
        _activate(texts, active=False)
        try:
            picture = self._page.render(scale=scale, grayscale=True, may_draw_forms=False, crop=beside)
            return np.asarray(picture.to_numpy(), dtype=np.int64)
        finally:
            _activate(texts, active=True)

    def is_written(self, bare: Levels, number: int) -> bool:
        """Return whether something like writing stands where a text does, or beside it on a scan.

        An OCR may put its words half a line beside those of the picture.
        """
        left, top, right, bottom = self._spots[number]
        beside = (bottom - top) / 2 if self.is_scan else 0.0
        pixels = self.cut(bare, number, _ROUGH, beside=beside)
        if not pixels.size:
            return False
        ink = np.abs(pixels - np.median(pixels)) >= _SEEN
        scale = self._fitting(_ROUGH)
        rows, columns = ink.any(axis=1).sum(), ink.any(axis=0).sum()
        return bool(
            rows >= _WRITTEN * scale * (bottom - top) and columns >= _WRITTEN * scale * (right - left)
        )

    def cut(self, pixels: Levels, number: int, scale: float, *, beside: float = 0.0) -> Levels:
        """Return the piece of `pixels` in which a text stands, with so many points on each side."""
        scale = self._fitting(scale)
        left, top, right, bottom = (side * scale for side in self._spots[number])
        beside *= scale
        left, top, right, bottom = left - beside, top - beside, right + beside, bottom + beside
        # Whole pixels are cut off, rounded up.
        x, y = math.ceil(self._left * scale), math.ceil(self._top * scale)
        return pixels[max(0, int(top) - y) : int(bottom) + 1 - y, max(0, int(left) - x) : int(right) + 1 - x]


def _unseen(page: Any, place: Placer, drawn: Drawn, doubted: Sequence[int]) -> list[int]:
    """Return which of the doubted texts the page looks the same without."""
    look = _Look(page, place, drawn, doubted)
    layer = [number for number in doubted if drawn.modes[number] in _NO_INK]
    hidden: list[int] = []
    if len(layer) < len(doubted):
        changed = np.abs(look.pixels(_CLOSE) - look.pixels(_CLOSE, doubted))
        for number in doubted:
            seen = look.cut(changed, number, _CLOSE)
            if drawn.modes[number] not in _NO_INK and (not seen.size or seen.max() < _SEEN):
                # What a scan covers is the text of an OCR too.
                (layer if look.is_scan else hidden).append(number)
    if layer:
        bare = look.pixels(_ROUGH, range(len(drawn.texts)))
        hidden += [number for number in layer if not look.is_written(bare, number)]
    return hidden


def _activate(texts: Sequence[Any], *, active: bool) -> None:
    from pypdfium2 import raw

    for text in texts:
        raw.FPDFPageObj_SetIsActive(text, active)


def _put_away(page: Any, texts: Sequence[Any]) -> int:
    """Take texts off a page; returns how many characters it has less, blanks aside.

    The page is read twice: asking PDFium for the characters of each text costs the whole page each time.
    """
    before = _inked(page)
    _activate(texts, active=False)
    return before - _inked(page)


def _inked(page: Any) -> int:
    words = page.get_textpage()
    try:
        return sum(map(len, words.get_text_range().split()))
    finally:
        words.close()
