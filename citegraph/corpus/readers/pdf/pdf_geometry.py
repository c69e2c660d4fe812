"""Maps between a PDF page's own coordinates and boxes from its upper left corner."""

from __future__ import annotations

import ctypes
from typing import Any

from citegraph.corpus.readers.plain_text import WIDE
from citegraph.corpus.schema.document import Box

# Device units a point, for PDFium's whole-number device coordinates.
_FINE = 16
# Device units a point and points from the origin at which PDFium is asked how a page maps.
_FINEST, _FAR = 4096, 10_000


class Placer:
    """Maps PDF user space, whose origin and rotation a page may choose, to points from the upper left."""

    def __init__(self, page: Any) -> None:
        from pypdfium2 import raw

        self._from, self._page = raw.FPDF_DeviceToPage, page.raw
        width, height = page.get_size()
        self._size = (round(width * _FINE), round(height * _FINE))
        self._back = (ctypes.c_double(), ctypes.c_double())
        x, y = ctypes.c_int(), ctypes.c_int()

        def asked(at: tuple[int, int]) -> tuple[float, float]:
            size = (round(width * _FINEST), round(height * _FINEST))
            raw.FPDF_PageToDevice(page.raw, 0, 0, *size, 0, *at, x, y)
            return x.value / _FINEST, y.value / _FINEST

        # The map is affine: three places tell it, and asking PDFium for each point takes three times as long.
        e, f = asked((0, 0))
        (a, b), (c, d) = asked((_FAR, 0)), asked((0, _FAR))
        self.affine = ((a - e) / _FAR, (b - f) / _FAR, (c - e) / _FAR, (d - f) / _FAR, e, f)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Return a place of user space in points from the upper left."""
        a, b, c, d, e, f = self.affine
        return placed(a * x + c * y + e), placed(b * x + d * y + f)

    def back(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of user space that `point` maps to (x, y)."""
        at = (round(x * _FINE), round(y * _FINE))
        self._from(self._page, 0, 0, *self._size, 0, *at, *self._back)
        return self._back[0].value, self._back[1].value

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return a rectangle of user space as a box."""
        (x0, y0), (x1, y1) = self.point(left, bottom), self.point(right, top)
        return Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def placed(length: float) -> float:
    """Return a length in points, to the nearest sixteenth: what is stored of it is short."""
    return round(length * _FINE) / _FINE


class Glyphs:
    """Where the characters of a page stand, named by their UTF-16 units in its text."""

    def __init__(self, words: Any, units: int) -> None:
        from pypdfium2 import raw

        self._words = words.raw
        self._index, self._loose = raw.FPDFText_GetCharIndexFromTextIndex, raw.FPDFText_GetLooseCharBox
        self._count, self._rectangle = raw.FPDFText_CountRects, raw.FPDFText_GetRect
        self._one, self._other = raw.FS_RECTF(), raw.FS_RECTF()
        self._sides = [ctypes.c_double() for _ in range(4)]
        # No character lacks its text: unit and character have the same number all along.
        self._same = units > 0 and self._character(units - 1) == units - 1

    def _character(self, unit: int) -> int:
        found: int = self._index(self._words, unit)
        return found

    def far_apart(self, one: int, other: int) -> bool:
        """Return whether a character stands further right of another than blanks put it."""
        here, there = self._one, self._other
        if not self._same:
            one, other = self._character(one), self._character(other)
        if not self._loose(self._words, one, here) or not self._loose(self._words, other, there):
            return False
        return bool(there.left - here.right > WIDE * (here.top - here.bottom) > 0)

    def bounds(self, unit: int, units: int) -> tuple[float, float, float, float] | None:
        """Return the (left, bottom, right, top) of a stretch of text in user space; None when it stands nowhere."""
        first = unit if self._same else self._character(unit)
        left, top, right, bottom = sides = self._sides
        found = []
        for number in range(self._count(self._words, first, units)):
            if self._rectangle(self._words, number, *sides):
                found.append((left.value, bottom.value, right.value, top.value))
        if not found:
            return None
        lefts, bottoms, rights, tops = zip(*found, strict=True)
        return min(lefts), min(bottoms), max(rights), max(tops)
