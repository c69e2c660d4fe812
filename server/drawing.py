"""A page as a picture with the cited characters marked."""

import io

from citegraph.corpus.readers.pdf.page_images import boxes_of, page_image
from citegraph.corpus.schema.document import Layout

SCALE = 2.0
"""Pixels a unit of the layout's boxes; the drawing makes large pages smaller."""
MARK = (255, 214, 10)
"""A yellow that black text stays readable on when it is multiplied in."""


def shares_of(layout: Layout | None, span: tuple[int, int]) -> list[tuple[float, float, float, float]]:
    """Return where a span of the document lies on a page: left, top, right, bottom in shares of the page's size."""
    if layout is None or span[0] >= span[1]:
        return []
    width, height = layout.width, layout.height
    return [
        (box.left / width, box.top / height, box.right / width, box.bottom / height)
        for box in boxes_of(layout, *span)
    ]


def drawn_page(source: str, page: int, layout: Layout | None, span: tuple[int, int]) -> bytes:
    """Return a page as PNG, with the characters of a span of the document marked as far as they lie on it.

    Raises:
        BadInput: the source file is gone, or pages of its format cannot be drawn.
    """
    from PIL import Image, ImageChops, ImageDraw

    plain = page_image(source, page, SCALE)
    boxes = boxes_of(layout, *span) if layout is not None and span[0] < span[1] else []
    if layout is None or not boxes:
        return plain
    with Image.open(io.BytesIO(plain)) as picture:
        shown = picture.convert("RGB")
    scale = shown.width / layout.width
    marks = Image.new("RGB", shown.size, "white")
    draw = ImageDraw.Draw(marks)
    for box in boxes:
        draw.rectangle([side * scale for side in box], fill=MARK)
    target = io.BytesIO()
    ImageChops.multiply(shown, marks).save(target, "PNG")
    return target.getvalue()
