"""Recognises the text of pictures with Tesseract: lines with boxes, in the languages that are installed."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from citegraph.corpus.readers.plain_text import WIDE, cleaned
from citegraph.corpus.readers.protocol import Passing
from citegraph.corpus.schema.document import Box, Line
from citegraph.errors import BadInput

DPI = 300
_MOST_PIXELS = 40_000_000
_SECONDS, _SECONDS_AGAIN = 120, 30
# Below this mean confidence a page may lie on its side: Tesseract then finds out how, where it has the data for it.
_UNSURE, _HALF = 70, 50
_TURNED = "osd"
# Tesseract's page segmentations: a page of columns and tables, one block of lines, a page that may lie on its side.
_PAGE, _BLOCK, _ANY_WAY = 3, 6, 1
# Words that Tesseract itself takes for noise.
_LEAST_CONFIDENCE = 1
# The box of a recognised line fits its ink; the height of its font is larger.
_BOX = 1.6
INSTALL = "OCR needs Tesseract (apt-get install tesseract-ocr, brew install tesseract)"
# Where Tesseract's name of a language is not that of ISO 639-2; the others of the list follow as far as they are installed.
_NAMED = {"nb": "nor", "zh": "chi_sim"}
_ALSO = ("eng", "deu", "fra")


def missing() -> str:
    """Return what OCR lacks on this machine, empty when it works."""
    return "" if shutil.which("tesseract") else INSTALL


@lru_cache(maxsize=1)
def installed() -> frozenset[str]:
    """Return the languages that Tesseract has data for."""
    import pytesseract

    return frozenset(pytesseract.get_languages())


def languages(code: str) -> str:
    """Return Tesseract's argument for a bucket's language: its own first, then the common ones there are.

    Raises:
        BadInput: no language data are installed.
    """
    import pycountry

    known = pycountry.languages.get(alpha_2=code)
    name = _NAMED.get(code) or (known.alpha_3 if known else code)
    wanted = dict.fromkeys((name, *_ALSO))
    found = [name for name in wanted if name in installed()]
    if not found:
        raise BadInput(f"OCR has no language data for {code!r} (apt-get install tesseract-ocr-eng)")
    return "+".join(found)


def recognised(picture: Any, code: str, *, enlarge: float = 1.0) -> tuple[str, list[Line]]:
    """Return the text of a PIL image and its lines; boxes are in the picture's pixels.

    Args:
        enlarge: times that a picture is enlarged before it is read, for a photograph of less than 300 dpi. Such a
            one (a receipt, a label) is read as a page and as one block, and what Tesseract is surer of is taken.

    Raises:
        Passing: Tesseract failed or took longer than two minutes.
        BadInput: no language data are installed.
    """
    from PIL.Image import Resampling

    scale = min(enlarge, (_MOST_PIXELS / (picture.width * picture.height)) ** 0.5)
    if scale != 1.0:
        size = (round(picture.width * scale), round(picture.height * scale))
        picture = picture.resize(size, Resampling.LANCZOS)
    best = _words(_data(picture, code, _PAGE), scale)
    is_sure = _gain(best) >= (_UNSURE - _HALF) * _letters(best)
    other = _BLOCK if is_sure and enlarge > 1 else None if is_sure or _TURNED not in installed() else _ANY_WAY
    if other is not None:
        # What was read already is not lost when the other way fails.
        with contextlib.suppress(Passing):
            again = _words(_data(picture, code, other, seconds=_SECONDS_AGAIN), scale)
            best = max(best, again, key=_gain)
    return _joined(best)


def _data(picture: Any, code: str, layout: int, *, seconds: float = _SECONDS) -> dict[str, list[Any]]:
    import pytesseract

    try:
        data: dict[str, list[Any]] = pytesseract.image_to_data(
            picture,
            lang=languages(code),
            config=f"--psm {layout} --dpi {DPI}",
            timeout=seconds,
            output_type=pytesseract.Output.DICT,
        )
    except (pytesseract.TesseractError, RuntimeError) as error:
        slow = "timeout" in str(error).lower()
        raise Passing(f"OCR {f'took longer than {seconds:g} s' if slow else 'failed'}") from error
    return data


def _gain(words: Sequence[_Word]) -> float:
    """Return about how many letters more are right than wrong, times 50: the mean confidence alone likes few words."""
    return sum((word.sure - _HALF) * len(word.text) for word in words)


def _letters(words: Sequence[_Word]) -> int:
    return sum(len(word.text) for word in words)


class _Word(NamedTuple):
    line: tuple[int, int, int]
    text: str
    box: Box
    sure: float


def _words(data: dict[str, list[Any]], scale: float) -> list[_Word]:
    words = []
    for row, given in enumerate(data["text"]):
        text = cleaned(given).strip()
        if not text or float(data["conf"][row]) < _LEAST_CONFIDENCE:
            continue
        left, top = data["left"][row] / scale, data["top"][row] / scale
        right, bottom = left + data["width"][row] / scale, top + data["height"][row] / scale
        line = (data["block_num"][row], data["par_num"][row], data["line_num"][row])
        words.append(_Word(line, text, Box(left, top, right, bottom), float(data["conf"][row])))
    return words


def _joined(words: Sequence[_Word]) -> tuple[str, list[Line]]:
    """Return one line of text for each line of words; a blank line before a new paragraph.

    What a wide gap separates are two lines of the layout, and stands on one line of the text.
    """
    parts: list[str] = []
    lines: list[Line] = []
    start, before = 0, None
    for (block, paragraph, _), group in groupby(words, key=lambda word: word.line):
        gap = "" if before is None else "\n" if before == (block, paragraph) else "\n\n"
        before = (block, paragraph)
        for cell in _cells(list(group)):
            start += len(gap)
            text = " ".join(word.text for word in cell)
            sides = list(zip(*(word.box for word in cell), strict=True))
            box = Box(min(sides[0]), min(sides[1]), max(sides[2]), max(sides[3]))
            lines.append(Line(start, start + len(text), box))
            parts.append(gap + text)
            start += len(text)
            gap = " "
    return "".join(parts), lines


def _cells(row: Sequence[_Word]) -> Iterator[Sequence[_Word]]:
    """Yield the words of a line, cut where a gap is wider than blanks are."""
    height = max(word.box.bottom - word.box.top for word in row)
    begin = 0
    for place, (word, after) in enumerate(pairwise(row), 1):
        if after.box.left - word.box.right > _BOX * WIDE * height:
            yield row[begin:place]
            begin = place
    yield row[begin:]
