"""Draws a page of a source file, and says where on it a span of the text lies."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from citegraph.corpus.readers.format_detection import content_suffix
from citegraph.corpus.readers.images.pictures import PictureReader, opened_picture, upright
from citegraph.corpus.readers.reader_registry import opened_part
from citegraph.corpus.schema.document import PART, Box, Layout, Line
from citegraph.errors import BadInput

_MOST_PIXELS = 40_000_000


def page_image(source: Path | str, page: int, scale: float = 2.0) -> bytes:
    """Return a page of a PDF or a picture as PNG; one unit of its layout's boxes becomes `scale` pixels.

    Args:
        source: a file, or the source path of a part of a container ("mails/a.eml!/invoice.pdf").
        page: number from 1.

    Raises:
        BadInput: the file is gone or damaged, has no such page, or its format has no pages to draw.
    """
    file, _, part = str(source).partition(PART)
    name = (part or file).rpartition("/")[2]
    try:
        with opened_part(Path(file), part) as path:
            return _drawn(path, name, page, scale)
    except OSError as error:
        raise BadInput(f"{name} cannot be read ({error.strerror})") from error


def _drawn(path: Path, name: str, page: int, scale: float) -> bytes:
    suffix, _ = content_suffix(path)
    if suffix == ".pdf":
        return _pdf_image(path, name, page, scale)
    if suffix in PictureReader.suffixes:
        with opened_picture(path) as picture:
            if not 1 <= page <= getattr(picture, "n_frames", 1):
                raise BadInput(f"{name} has no page {page}")
            drawn = upright(picture, page - 1)
        scale = min(scale, (_MOST_PIXELS / (drawn.width * drawn.height)) ** 0.5)
        return _png(drawn.resize((round(drawn.width * scale), round(drawn.height * scale))))
    raise BadInput(f"pages of {suffix or 'this format'} cannot be drawn")


def boxes_of(layout: Layout, start: int, end: int) -> list[Box]:
    """Return where characters `start` to `end` (exclusive) of the document lie on a page, a box a line.

    Where a line is cut, its box is cut in proportion to the characters: exact for fixed pitch, near
    enough for a highlight.
    """
    return [
        _cut(line, max(start, line.start), min(end, line.end))
        for line in layout.lines
        if line.start < end and start < line.end
    ]


def _cut(line: Line, start: int, end: int) -> Box:
    width, length = line.box.right - line.box.left, line.end - line.start
    left = line.box.left + width * (start - line.start) / length
    return Box(left, line.box.top, line.box.left + width * (end - line.start) / length, line.box.bottom)


def _pdf_image(path: Path, name: str, page: int, scale: float) -> bytes:
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(path) as pdf:
            if not 1 <= page <= len(pdf):
                raise BadInput(f"{name} has no page {page}")
            if pdf.get_formtype():
                pdf.init_forms()  # before the page is opened: what was filled in is then drawn
            sheet = pdf[page - 1]
            width, height = sheet.get_size()
            scale = min(scale, (_MOST_PIXELS / max(1.0, width * height)) ** 0.5)
            return _png(sheet.render(scale=scale).to_pil())
    except pypdfium2.PdfiumError as error:
        raise BadInput(f"{name} cannot be drawn") from error


def _png(picture: Any) -> bytes:
    target = io.BytesIO()
    picture.save(target, "PNG")
    return target.getvalue()
