"""Reads pictures of documents through OCR; each frame of a TIFF is a page."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from citegraph.corpus.readers.images import recognition
from citegraph.corpus.readers.plain_text import PAGE_BREAK, joined_pages
from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread
from citegraph.corpus.schema.document import Layout, Line
from citegraph.errors import BadInput

_DAMAGED = "the picture is damaged or cut off: get it again"
_KINDS = {name: f"image/{name.lower()}" for name in ("PNG", "JPEG", "TIFF", "GIF", "BMP", "WEBP")}
# Pixels of the longer side of A4 at 300 dpi, for which Tesseract is made.
_A4, _MOST_ENLARGED = 3508, 1.5
# Their frames are those of a film.
_FILMS = frozenset({"GIF", "WEBP", "PNG"})


class PictureReader:
    """Photographs and scans; without Tesseract they are named as skipped."""

    suffixes: tuple[str, ...] = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".bmp", ".webp")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        reason = recognition.missing() if options.ocr else "OCR is switched off"
        if reason:
            raise BadInput(f"a picture: {reason}")
        texts: list[str] = []
        layouts: list[Layout] = []
        start = 0
        with opened_picture(path) as picture:
            kind = _KINDS.get(picture.format or "", "image")
            frames = getattr(picture, "n_frames", 1)
            is_film = frames > 1 and picture.format in _FILMS
            for number in range(1 if is_film else frames):
                page = upright(picture, number)
                text, lines = recognition.recognised(page, options.language, enlarge=_enlarged(page))
                moved = tuple(Line(line.start + start, line.end + start, line.box) for line in lines)
                layouts.append(Layout(number + 1, page.width, page.height, moved, recognised=True))
                texts.append(text)
                start += len(text) + len(PAGE_BREAK)
        if not any(text.strip() for text in texts):
            raise BadInput("OCR found no text in the picture: scan it again, upright and at 300 dpi")
        notes = ("a film: its first picture alone was read",) if is_film else ()
        yield Reading(PAGE_BREAK.join(texts), joined_pages(texts), kind, layouts=tuple(layouts), notes=notes)


def _enlarged(picture: Any) -> float:
    """Return how far a photograph is enlarged: a page of A4 at 300 dpi has so many pixels, a camera often fewer."""
    longer = float(max(picture.width, picture.height))
    return min(_MOST_ENLARGED, max(1.0, _A4 / longer))


def opened_picture(path: Path) -> Any:
    """Return a picture with nothing decoded yet.

    Raises:
        BadInput: it is damaged, or claims more pixels than memory should hold.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return Image.open(path)
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise BadInput("the picture has too many pixels: scale it down") from error
    except (UnidentifiedImageError, SyntaxError) as error:
        raise BadInput(_DAMAGED) from error


def upright(picture: Any, frame: int) -> Any:
    """Return a frame in grey, turned as the camera noted.

    Raises:
        BadInput: it is cut off or damaged.
    """
    from PIL import ImageOps

    try:
        picture.seek(frame)
        return ImageOps.exif_transpose(picture).convert("L")
    except (OSError, SyntaxError, ValueError) as error:
        raise BadInput(_DAMAGED) from error
