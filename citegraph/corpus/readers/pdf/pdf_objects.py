"""Lists what a PDF page draws, in its order: pieces of text, paths, filled shapes and pictures, those in forms too."""

from __future__ import annotations

import ctypes
import mmap
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

Corners = Sequence[float]
Matrix = tuple[float, float, float, float, float, float]

# Opacity of 255 below which ink is as good as none.
FAINT = 26
MOST_PATHS = 1_500
"""A page of drawings (a map, a chart) has more paths than a table has rules: those after it are not listed."""
# Points; what is lower or narrower is a rule.
_THIN = 4.0
_DEEPEST = 4
_LAYERS = b"/OCProperties"
_OBJECTS = re.compile(rb"/ObjStm\b[^>]{0,200}>>\s{0,2}stream\r?\n")
# Bytes of a stream of objects (their writers put a few hundred objects into each), packed and unpacked.
_PACKED, _UNPACKED = 1 << 18, 1 << 20


class Fill(NamedTuple):
    """A filled shape or a picture: place in the order of drawing, box, colour (None: of a picture or shading)."""

    order: int
    box: Corners
    colour: tuple[int, int, int] | None
    opaque: bool


@dataclass(slots=True)
class Drawn:
    """What a page draws; boxes are (left, bottom, right, top) in user space.

    Attributes:
        texts: PDFium's handles of the pieces of text; the four lists beside it have an entry for each.
        orders: places in the order of drawing.
        boxes: of the pieces, empty ones of blanks.
        paints: red, green, blue and opacity, of 255.
        modes: the ways to draw letters (PDF 32000-1, 9.3.6).
        layers: numbers of the texts that may be on a layer that is switched off.
        paths: handle and box of the paths that stand on the page itself.
        pictures: boxes of the pictures.
    """

    texts: list[Any] = field(default_factory=list)
    orders: list[int] = field(default_factory=list)
    boxes: list[Corners] = field(default_factory=list)
    paints: list[list[int]] = field(default_factory=list)
    modes: list[int] = field(default_factory=list)
    layers: list[int] = field(default_factory=list)
    paths: list[tuple[Any, Corners]] = field(default_factory=list)
    fills: list[Fill] = field(default_factory=list)
    pictures: list[Corners] = field(default_factory=list)


def drawn_on(page: Any, *, layered: bool = False) -> Drawn:
    """Return what an open page draws.

    Args:
        layered: whether the document has layers, so that each text is asked for its own.
    """
    from pypdfium2 import raw

    walk = _Walk(raw, layered=layered)
    walk.through(page.raw, raw.FPDFPage_CountObjects(page.raw), raw.FPDFPage_GetObject)
    return walk.drawn


def has_layers(path: Path) -> bool:
    """Return whether a PDF file declares layers: PDFium draws by them, but reads the text of all."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data.find(_LAYERS) >= 0:
            return True
        # The catalog may be packed, with other objects.
        return any(
            _LAYERS in _unpacked(data[found.end() : found.end() + _PACKED])
            for found in _OBJECTS.finditer(data)
        )


def _unpacked(data: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(data, _UNPACKED)
    except zlib.error:  # encrypted, or packed in another way
        return b""


class _Walk:
    """Goes through objects by PDFium's plain functions: pypdfium2's objects for each take three times as long."""

    def __init__(self, raw: Any, *, layered: bool) -> None:
        self._layered = layered
        self._raw, self._bounds, self._paint = raw, raw.FPDFPageObj_GetBounds, raw.FPDFPageObj_GetFillColor
        self._sides, self._to_sides = _places(ctypes.c_float)
        self._levels, self._to_levels = _places(ctypes.c_uint)
        self._filled, self._stroked = ctypes.c_int(), ctypes.c_int()
        self._order = self._paths = 0
        self.drawn = Drawn()

    def through(
        self, holder: Any, count: int, get: Any, matrix: Matrix | None = None, depth: int = 0
    ) -> None:
        """Take in the objects of a page or form; the matrix maps a form's own coordinates to the page's."""
        raw, kind_of, mode_of = (
            self._raw,
            self._raw.FPDFPageObj_GetType,
            self._raw.FPDFTextObj_GetTextRenderMode,
        )
        text, path = raw.FPDF_PAGEOBJ_TEXT, raw.FPDF_PAGEOBJ_PATH
        drawn, box_of, painted = self.drawn, self._box, self._painted
        for number in range(count):
            item = get(holder, number)
            kind = kind_of(item)
            self._order += 1
            if kind == text:
                if self._layered and (depth or self._on_layer(item)):
                    drawn.layers.append(len(drawn.texts))
                drawn.texts.append(item)
                drawn.orders.append(self._order)
                drawn.boxes.append(box_of(item, matrix))
                drawn.paints.append(painted(item))
                drawn.modes.append(mode_of(item))
            elif kind == path:
                self._path(item, matrix, depth)
            elif kind != raw.FPDF_PAGEOBJ_FORM:
                box = box_of(item, matrix)
                if kind == raw.FPDF_PAGEOBJ_IMAGE:
                    drawn.pictures.append(box)
                drawn.fills.append(Fill(self._order, box, None, self._is_opaque(item)))
            elif depth < _DEEPEST:
                inside, of_form = raw.FPDFFormObj_CountObjects(item), raw.FPDFFormObj_GetObject
                self.through(item, inside, of_form, self._inner(item, matrix), depth + 1)

    def _path(self, item: Any, matrix: Matrix | None, depth: int) -> None:
        self._paths += 1
        if self._paths > MOST_PATHS:
            return
        left, bottom, right, top = box = self._box(item, matrix)
        if not depth:
            self.drawn.paths.append((item, box))
        if right - left < _THIN or top - bottom < _THIN:
            return
        if self._raw.FPDFPath_GetDrawMode(item, self._filled, self._stroked) and self._filled.value:
            red, green, blue, alpha = self._painted(item)
            if alpha >= FAINT:
                self.drawn.fills.append(Fill(self._order, box, (red, green, blue), self._is_opaque(item)))

    def _on_layer(self, item: Any) -> bool:
        """Return whether an object is marked as part of a layer; a form may belong to one without a mark."""
        raw, name, size = self._raw, (ctypes.c_ushort * 8)(), ctypes.c_ulong()
        for number in range(raw.FPDFPageObj_CountMarks(item)):
            mark = raw.FPDFPageObj_GetMark(item, number)
            if raw.FPDFPageObjMark_GetName(mark, name, 16, size) and name[:3] == [ord("O"), ord("C"), 0]:
                return True
        return False

    def _is_opaque(self, item: Any) -> bool:
        return not self._raw.FPDFPageObj_HasTransparency(item)

    def _painted(self, item: Any) -> list[int]:
        self._paint(item, *self._to_levels)
        return self._levels[:]  # type: ignore[no-any-return]

    def _box(self, item: Any, matrix: Matrix | None) -> Corners:
        self._bounds(item, *self._to_sides)
        box: Corners = self._sides[:]
        return box if matrix is None else _mapped(box, matrix)

    def _inner(self, form: Any, outer: Matrix | None) -> Matrix:
        own = self._raw.FS_MATRIX()
        self._raw.FPDFPageObj_GetMatrix(form, own)
        inner: Matrix = (own.a, own.b, own.c, own.d, own.e, own.f)
        if outer is None:
            return inner
        (a, b), (c, d) = _turned(inner[0], inner[1], outer), _turned(inner[2], inner[3], outer)
        e, f = _turned(inner[4], inner[5], outer)
        return a, b, c, d, e + outer[4], f + outer[5]


def _places(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return four numbers of C, and a pointer to each."""
    held = (kind * 4)()
    pointer = ctypes.POINTER(kind)
    size = ctypes.sizeof(kind)
    return held, tuple(ctypes.cast(ctypes.byref(held, size * at), pointer) for at in range(4))


def _turned(x: float, y: float, matrix: Matrix) -> tuple[float, float]:
    a, b, c, d, _, _ = matrix
    return a * x + c * y, b * x + d * y


def _mapped(box: Corners, matrix: Matrix) -> Corners:
    left, bottom, right, top = box
    places = [_turned(x, y, matrix) for x in (left, right) for y in (bottom, top)]
    across, up = zip(*places, strict=True)
    e, f = matrix[4:]
    return [min(across) + e, min(up) + f, max(across) + e, max(up) + f]
