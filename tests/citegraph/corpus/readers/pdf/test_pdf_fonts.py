"""A page whose fonts do not say which letters they draw is read by OCR, or named; one that is right anyway stays."""

import io
from pathlib import Path
from typing import Any

import pytest

from citegraph.corpus.readers.images import recognition
from citegraph.corpus.readers.protocol import Reading, Unread
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.corpus.schema.document import Line

GOOD = "Plain words of the second page"


def drawn(path: Path, text: str, *, first: int = 1, names: bool = False) -> Path:
    """Write a page of a font whose letters have numbers from `first` on, and a page of an ordinary font.

    Args:
        names: the font says which letters it draws.
    """
    codes: dict[str, int] = {}
    for char in text:
        codes.setdefault(char, first + len(codes) if not names and first else ord(char))
    glyphs = {code: f"g{code}" for code in codes.values()}
    if names:
        glyphs = {code: "space" if char == " " else char for char, code in codes.items()}
    pairs = " ".join(f"{code} /{name}" for code, name in sorted(glyphs.items()))
    encoding = f"<</Type/Encoding/Differences[{pairs}]>>"
    shapes = "<<" + " ".join(f"/{name} 6 0 R" for name in glyphs.values()) + ">>"
    low, high = min(glyphs), max(glyphs)
    font = (
        "<</Type/Font/Subtype/Type3/FontBBox[0 0 1000 1000]/FontMatrix[.001 0 0 .001 0 0]"
        f"/FirstChar {low}/LastChar {high}/Widths[{'600 ' * (high - low + 1)}]/CharProcs {shapes}/Encoding {encoding}>>"
    )
    shown = "".join(f"{codes[char]:02x}" for char in text)
    page = (
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 900 400]/Contents {} 0 R/Resources<</Font<</F1 {} 0 R>>>>>>"
    )
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R 7 0 R]/Count 2>>",
        page.format(4, 5),
        _stream(f"BT /F1 14 Tf 20 300 Td <{shown}> Tj ET"),
        font,
        _stream("600 0 0 0 500 700 d1 0 0 500 700 re f"),
        page.format(8, 9),
        _stream(f"BT /F1 14 Tf 20 300 Td ({GOOD}) Tj ET"),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out = io.BytesIO(b"%PDF-1.5\n")
    out.seek(0, io.SEEK_END)
    for number, item in enumerate(objects, 1):
        out.write(f"{number} 0 obj\n{item}\nendobj\n".encode())
    out.write(f"trailer <</Size {len(objects) + 1}/Root 1 0 R>>\n%%EOF".encode())
    path.write_bytes(out.getvalue())
    return path


def _stream(data: str) -> str:
    return f"<</Length {len(data)}>>stream\n{data}\nendstream"


SAID = "Grab 4 anchors before the tide turns at nine"


@pytest.mark.parametrize("first", [1, 33])
@pytest.mark.parametrize("has_ocr", [True, False])
def test_unmapped_fonts_go_through_ocr(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int, has_ocr: bool
) -> None:
    def recognised(*_: Any) -> tuple[str, list[Line]]:
        return SAID, []

    monkeypatch.setattr(recognition, "missing", lambda: "" if has_ocr else "OCR needs Tesseract")
    monkeypatch.setattr(recognition, "recognised", recognised)
    reading, *unread = read_file(drawn(tmp_path / "a.pdf", SAID, first=first))
    assert isinstance(reading, Reading)
    if has_ocr:
        assert reading.text == f"{SAID}\f{GOOD}"
        assert reading.notes == (
            "the fonts of page 1 do not say which letters they draw: it was read by OCR",
        )
        assert not unread
        assert [layout.recognised for layout in reading.layouts] == [True, False]
    else:
        assert reading.text == f"\f{GOOD}"
        (item,) = unread
        assert isinstance(item, Unread)
        assert item.where == "page 1"
        assert item.reason.startswith("its fonts do not say which letters they draw: ")


@pytest.mark.parametrize(
    ("text", "names", "asked"), [(SAID, False, 0), (SAID, True, 0), ("4711 0815 1200", False, 1)]
)
def test_letters_that_are_right_without_a_map_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, names: bool, asked: int
) -> None:
    calls: list[int] = []

    def recognised(*_: Any) -> tuple[str, list[Line]]:
        calls.append(1)
        return "4711 0815 l200", []

    monkeypatch.setattr(recognition, "missing", str)
    monkeypatch.setattr(recognition, "recognised", recognised)
    (reading,) = read_file(drawn(tmp_path / "a.pdf", text, first=0, names=names))
    assert isinstance(reading, Reading)
    assert reading.text == f"{text}\f{GOOD}"
    assert (len(calls), reading.notes) == (asked, ())
