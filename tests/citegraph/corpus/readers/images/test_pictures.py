"""Scans are recognised when Tesseract is installed, and named as skipped when it is not."""

from pathlib import Path

import pytest

from citegraph.corpus.readers.images import recognition
from citegraph.corpus.readers.pdf.page_images import boxes_of, page_image
from citegraph.corpus.readers.protocol import Passing, Reading, ReadOptions, Unread
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.corpus.schema.document import Page
from citegraph.errors import BadInput
from tests.citegraph.corpus.readers.only_reading import only
from tests.tesseract import needs_tesseract


def picture(lines: list[str], size: tuple[int, int] = (900, 400)):
    from PIL import Image, ImageDraw, ImageFont

    drawn = Image.new("L", size, 255)
    for row, line in enumerate(lines):
        ImageDraw.Draw(drawn).text((60, 60 + 80 * row), line, fill=0, font=ImageFont.load_default(44))
    return drawn


@needs_tesseract
@pytest.mark.parametrize("name", ["a.png", "a.jpg"])
def test_a_photograph_gives_text_and_boxes(tmp_path: Path, name: str) -> None:
    picture(["Nordwind Bakery", "Total 12.50 EUR"]).save(tmp_path / name)
    reading = only(tmp_path / name)
    assert reading.text.split() == ["Nordwind", "Bakery", "Total", "12.50", "EUR"]
    assert reading.pages == (Page(1, 0, len(reading.text)),)
    (layout,) = reading.layouts
    assert (layout.width, layout.height, layout.recognised) == (900, 400, True)
    start = reading.text.index("Total")
    (box,) = boxes_of(layout, start, start + len("Total 12.50 EUR"))
    assert box.left == pytest.approx(60, abs=6)
    assert 140 < box.top < box.bottom < 200
    assert page_image(tmp_path / name, 1, 0.5)[:4] == b"\x89PNG"


@needs_tesseract
def test_frames_of_a_tiff_are_pages(tmp_path: Path) -> None:
    frames = [picture(["First page"]), picture(["Second page"])]
    frames[0].save(tmp_path / "a.tif", save_all=True, append_images=frames[1:])
    reading = only(tmp_path / "a.tif")
    assert [reading.text[page.start : page.end] for page in reading.pages] == ["First page", "Second page"]
    (line,) = reading.layouts[1].lines
    assert reading.text[line.start : line.end] == "Second page"


def scan(path: Path, typed: str = "") -> Path:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), pagesize=(450, 200))
    if typed:
        canvas.drawString(40, 100, typed)
        canvas.showPage()
    canvas.drawImage(ImageReader(picture(["Scanned contract"])), 0, 0, 450, 200)
    canvas.showPage()
    canvas.save()
    return path


@needs_tesseract
def test_pages_without_text_are_recognised(tmp_path: Path) -> None:
    reading = only(scan(tmp_path / "a.pdf", "A typed page comes before the scanned one."))
    assert [reading.text[page.start : page.end] for page in reading.pages] == [
        "A typed page comes before the scanned one.",
        "Scanned contract",
    ]
    assert [layout.recognised for layout in reading.layouts] == [False, True]
    (line,) = reading.layouts[1].lines
    assert reading.text[line.start : line.end] == "Scanned contract"
    # The picture is drawn at half its size: pixels are two to a point.
    assert line.box.left == pytest.approx(30, abs=4)
    assert 28 < line.box.top < line.box.bottom < 60


def test_without_tesseract_scans_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognition.shutil, "which", lambda name: None)
    install = r"OCR needs Tesseract \(apt-get install"
    picture(["x"]).save(tmp_path / "a.png")
    with pytest.raises(BadInput, match=f"a picture: {install}"):
        list(read_file(tmp_path / "a.png"))
    with pytest.raises(BadInput, match=f"no text layer: {install}"):
        list(read_file(scan(tmp_path / "a.pdf")))
    reading, unread = read_file(scan(tmp_path / "b.pdf", "A typed page comes before the scanned one."))
    assert isinstance(reading, Reading)
    assert reading.text == "A typed page comes before the scanned one.\f"
    assert unread == Unread("page 2", f"no text layer: {recognition.INSTALL}")


def test_ocr_can_be_switched_off(tmp_path: Path) -> None:
    picture(["x"]).save(tmp_path / "a.png")
    with pytest.raises(BadInput, match="OCR is switched off"):
        list(read_file(tmp_path / "a.png", ReadOptions(ocr=False)))


def test_languages_follow_the_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognition, "installed", lambda: frozenset({"eng", "deu", "spa"}))
    assert recognition.languages("de") == "deu+eng"
    assert recognition.languages("es") == "spa+eng+deu"
    assert recognition.languages("xx") == "eng+deu"
    monkeypatch.setattr(recognition, "installed", lambda: frozenset({"nor", "chi_sim", "ell", "bul"}))
    assert [recognition.languages(code) for code in ("nb", "zh", "el", "bg")] == [
        "nor",
        "chi_sim",
        "ell",
        "bul",
    ]
    monkeypatch.setattr(recognition, "installed", lambda: frozenset({"osd"}))
    with pytest.raises(BadInput, match="no language data for 'de'"):
        recognition.languages("de")


@needs_tesseract
def test_pictures_that_give_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture([]).save(tmp_path / "a.png")
    with pytest.raises(BadInput, match="no text in the picture"):
        list(read_file(tmp_path / "a.png"))
    (tmp_path / "b.png").write_bytes((tmp_path / "a.png").read_bytes()[:20] + bytes(100))
    with pytest.raises(BadInput, match=r"damaged|cannot be read"):
        list(read_file(tmp_path / "b.png"))
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(BadInput, match="too many pixels"):
        list(read_file(tmp_path / "a.png"))


@needs_tesseract
@pytest.mark.parametrize("name", ["a.gif", "a.bmp", "a.webp"])
def test_pictures_of_other_formats(tmp_path: Path, name: str) -> None:
    picture(["Nordwind Bakery"]).convert("RGB").save(tmp_path / name)
    reading = only(tmp_path / name)
    assert (reading.text, reading.media_type) == ("Nordwind Bakery", f"image/{name[2:]}")
    assert page_image(tmp_path / name, 1, 0.5)[:4] == b"\x89PNG"


@needs_tesseract
def test_of_a_film_the_first_picture_is_read(tmp_path: Path) -> None:
    frames = [picture(["First page"]), picture(["Second page"])]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    reading = only(tmp_path / "a.gif")
    assert reading.text == "First page"
    assert reading.notes == ("a film: its first picture alone was read",)


@needs_tesseract
def test_a_page_on_its_side_is_read_where_it_lies(tmp_path: Path) -> None:
    said = ["Nordwind Bakery", "Invoice number 4711", "Total due 12.50 EUR", "Thank you for your order"]
    picture(said, (1000, 500)).rotate(90, expand=True).save(tmp_path / "a.png")
    reading = only(tmp_path / "a.png")
    assert "Total due 12.50 EUR" in reading.text
    at = reading.text.index("Total due")
    (box,) = boxes_of(reading.layouts[0], at, at + len("Total due 12.50 EUR"))
    # What was right is up.
    assert (210 < box.left < box.right < 300, box.bottom) == (True, pytest.approx(940, abs=12))


def words(*said: tuple[str, float]) -> dict[str, list[object]]:
    row: dict[str, list[object]] = {"text": [text for text, _ in said], "conf": [sure for _, sure in said]}
    for name in ("left", "top", "width", "height", "block_num", "par_num", "line_num"):
        row[name] = [30 for _ in said]
    return row


@pytest.mark.parametrize(
    ("enlarge", "unsure", "asked", "taken"),
    [
        (1.0, 0, [(3, 100)], "page"),
        (1.5, 0, [(3, 150), (6, 150)], "block"),
        (1.0, 40, [(3, 100), (1, 100)], "page"),
        (1.5, 10, [(3, 150), (6, 150)], "page"),  # the second way fails
    ],
)
def test_of_several_ways_the_surest_is_taken(
    monkeypatch: pytest.MonkeyPatch, enlarge: float, unsure: float, asked: list[tuple[int, int]], taken: str
) -> None:
    from PIL import Image

    ways = {3: words(("page", 80 - unsure)), 6: words(("block", 95), ("x", 45)), 1: words(("side", 30))}
    seen: list[tuple[int, int]] = []

    def data(shown: Image.Image, code: str, layout: int, **_: float) -> dict[str, list[object]]:
        seen.append((layout, shown.width))
        if layout == 6 and unsure:
            raise Passing("OCR failed")
        return ways[layout]

    monkeypatch.setattr(recognition, "installed", lambda: frozenset({"eng", "osd"}))
    monkeypatch.setattr(recognition, "_data", data)
    text, lines = recognition.recognised(Image.new("L", (100, 100)), "en", enlarge=enlarge)
    assert (seen, text.split()[0]) == (asked, taken)
    assert lines[0].box.left == pytest.approx(30 / enlarge)
