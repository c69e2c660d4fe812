"""A page as a picture with the cited characters marked, drawn in a process that is bounded in time and memory."""

from __future__ import annotations

import io
import multiprocessing
from threading import Lock
from typing import TYPE_CHECKING

from citegraph.corpus.ingestion.ingest_options import Limits
from citegraph.corpus.ingestion.worker import prepare
from citegraph.corpus.readers.pdf.page_images import boxes_of, page_image
from citegraph.corpus.schema.document import Layout
from citegraph.errors import BadInput

if TYPE_CHECKING:
    from pebble import ProcessPool

SCALE = 2.0
"""Pixels a unit of the layout's boxes; the drawing makes large pages smaller."""
MARK = (255, 214, 10)
"""A yellow that black text stays readable on when it is multiplied in."""

SECONDS, MEMORY_MB = 20.0, 2_048
"""What a page may cost: a drawing of an engineer takes two seconds."""
AT_ONCE = 2


class PageDrawer:
    """Draws pages in processes of their own, which begin with the first page: a page may hold anything."""

    def __init__(self, seconds: float = SECONDS, memory_mb: int = MEMORY_MB) -> None:
        """Allow a page so much."""
        self._seconds, self._limits = seconds, Limits(memory_mb=memory_mb)
        self._lock = Lock()
        self._pool: ProcessPool | None = None

    def draw(self, source: str, page: int) -> bytes:
        """Return a page as PNG; blocking.

        Raises:
            BadInput: as `page_image`; or the page costs more than it may.
        """
        from pebble import ProcessExpired

        try:
            task = self._opened().schedule(page_image, args=[source, page, SCALE], timeout=self._seconds)
            drawn: bytes = task.result()
        except TimeoutError as error:
            reason = f"page {page} was not drawn within {self._seconds:g} s: open the file itself"
            raise BadInput(reason) from error
        except (MemoryError, ProcessExpired) as error:
            raise BadInput(f"page {page} needs too much memory to be drawn: open the file itself") from error
        return drawn

    def _opened(self) -> ProcessPool:
        from pebble import ProcessPool

        with self._lock:
            if self._pool is None:
                # Not a fork: it would inherit the lock of the embedded index and keep it when this process is killed.
                self._pool = ProcessPool(
                    max_workers=AT_ONCE,
                    context=multiprocessing.get_context("forkserver"),
                    initializer=prepare,
                    initargs=[self._limits],
                )
            return self._pool

    def close(self) -> None:
        """End the processes; blocking."""
        with self._lock:
            if self._pool is not None:
                self._pool.stop()  # type: ignore[no-untyped-call]
                self._pool.join()
                self._pool = None


def shares_of(layout: Layout | None, span: tuple[int, int]) -> list[tuple[float, float, float, float]]:
    """Return where a span of the document lies on a page: left, top, right, bottom in shares of the page's size."""
    if layout is None or span[0] >= span[1]:
        return []
    width, height = layout.width, layout.height
    return [
        (box.left / width, box.top / height, box.right / width, box.bottom / height)
        for box in boxes_of(layout, *span)
    ]


def marked(plain: bytes, layout: Layout | None, span: tuple[int, int]) -> bytes:
    """Return a drawn page (PNG) with the characters of a span of the document marked as far as they lie on it."""
    from PIL import Image, ImageChops, ImageDraw

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
