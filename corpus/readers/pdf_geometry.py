"""Maps between a PDF page's own coordinates and boxes from its upper left corner."""

from __future__ import annotations

import ctypes
from typing import Any

from corpus.types import Box

# Device units a point, for PDFium's whole-number device coordinates.
_FINE = 16


class Placer:
    """Maps PDF user space, whose origin and rotation a page may choose, to points from the upper left."""

    def __init__(self, page: Any) -> None:
        from pypdfium2 import raw

        width, height = page.get_size()
        self._to, self._from, self._page = raw.FPDF_PageToDevice, raw.FPDF_DeviceToPage, page.raw
        self._size = (round(width * _FINE), round(height * _FINE))
        self._x, self._y = ctypes.c_int(), ctypes.c_int()
        self._back = (ctypes.c_double(), ctypes.c_double())

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Return a place of user space in points from the upper left."""
        self._to(self._page, 0, 0, *self._size, 0, x, y, self._x, self._y)
        return self._x.value / _FINE, self._y.value / _FINE

    def back(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of user space that `point` maps to (x, y)."""
        at = (round(x * _FINE), round(y * _FINE))
        self._from(self._page, 0, 0, *self._size, 0, *at, *self._back)
        return self._back[0].value, self._back[1].value

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return a rectangle of user space as a box."""
        (x0, y0), (x1, y1) = self.point(left, bottom), self.point(right, top)
        return Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
