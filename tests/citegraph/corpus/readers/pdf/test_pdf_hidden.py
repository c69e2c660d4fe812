"""What nobody sees on the page of a PDF is neither read nor cited; what only looks like it is kept."""

import zlib
from collections.abc import Callable
from pathlib import Path

import pypdf
import pytest
from PIL import Image, ImageDraw, ImageFont
from pypdf.annotations import FreeText
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from citegraph.corpus.readers.pdf.pdf_objects import has_layers
from citegraph.corpus.readers.protocol import Reading
from citegraph.corpus.readers.reader_registry import read_file
from tests.tesseract import needs_tesseract

Draw = Callable[[Canvas], object]
SECRET = "Total 9,999 EUR"


def read(path: Path, *draws: Draw, rotate: int = 0) -> Reading:
    """Return what is read of a page with a line of its own and what the functions draw on it, each on a clean state."""
    drawing = Canvas(str(path), pagesize=(400, 300), pageCompression=0)
    drawing.drawString(40, 260, "Invoice 12")
    for draw in draws:
        drawing.saveState()
        draw(drawing)
        drawing.restoreState()
    drawing.setPageRotation(rotate)
    drawing.save()
    (reading,) = read_file(path)
    assert isinstance(reading, Reading)
    return reading


def text(said: str = SECRET, *, x: float = 40, y: float = 200, size: float = 12, mode: int = 0) -> Draw:
    def draw(drawing: Canvas) -> None:
        words = drawing.beginText(x, y)
        words.setFont("Helvetica", size)
        words.setTextRenderMode(mode)
        words.textOut(said)
        drawing.drawText(words)

    return draw


def painted(colour: float, *draws: Draw, alpha: float = 1.0) -> Draw:
    def draw(drawing: Canvas) -> None:
        drawing.saveState()
        drawing.setFillGray(colour)
        drawing.setFillAlpha(alpha)
        for each in draws:
            each(drawing)
        drawing.restoreState()

    return draw


def block(drawing: Canvas) -> None:
    drawing.rect(30, 190, 150, 30, fill=1, stroke=0)


def scan(*said: tuple[str, int, int]) -> ImageReader:
    """Return a picture of 400 by 300 points with words at places from the upper left."""
    page = Image.new("L", (800, 600), 250)
    for words, x, y in said:
        ImageDraw.Draw(page).text((2 * x, 2 * y), words, fill=20, font=ImageFont.load_default(24))
    return ImageReader(page)


HEAD = ("Invoice 12", 40, 29)


def clipped(drawing: Canvas) -> None:
    edge = drawing.beginPath()
    edge.rect(300, 20, 20, 20)
    drawing.clipPath(edge, stroke=0)
    painted(1, text())(drawing)


def in_form(drawing: Canvas) -> None:
    drawing.beginForm("f")
    painted(1, text(y=0))(drawing)
    text("Due in May", y=40)(drawing)
    drawing.endForm()
    drawing.translate(20, 100)
    drawing.doForm("f")


@pytest.mark.parametrize("rotate", [0, 90])
@pytest.mark.parametrize(
    "draws",
    [
        pytest.param([painted(1, text())], id="white"),
        pytest.param([painted(0.95, text())], id="nearly white"),
        pytest.param([text(mode=3)], id="without ink"),
        pytest.param(
            [text(mode=3), lambda drawing: drawing.line(30, 204, 300, 204)], id="without ink on a rule"
        ),
        pytest.param([text(mode=7)], id="clip only"),
        pytest.param([painted(0, text(), alpha=0)], id="transparent"),
        pytest.param([painted(0.3, block, text())], id="grey on the same grey"),
        pytest.param([text(), painted(1, block)], id="beneath white"),
        pytest.param([text(), painted(0.2, block)], id="beneath grey"),
        pytest.param(
            [text(), lambda drawing: drawing.drawImage(scan(), 30, 190, 150, 30)],
            id="beneath a picture",
            marks=needs_tesseract,
        ),
        pytest.param([text(x=-300)], id="left of the page"),
        pytest.param([text(y=420)], id="above the page"),
        pytest.param([text(size=0.4)], id="tiny"),
        pytest.param([clipped], id="cut away"),
        pytest.param(
            [lambda d: d.drawImage(scan(HEAD), 0, 0, 400, 300), text(y=50, mode=3)],
            id="on bare paper of a scan",
            marks=needs_tesseract,
        ),
    ],
)
def test_what_nobody_sees_is_left_out_and_counted(tmp_path: Path, draws: list[Draw], rotate: int) -> None:
    reading = read(tmp_path / "a.pdf", *draws, rotate=rotate)
    assert reading.text == "Invoice 12"
    assert [reading.text[line.start : line.end] for line in reading.layouts[0].lines] == ["Invoice 12"]
    assert reading.notes == ("13 characters of hidden text were left out on page 1",)


def test_in_a_form_too(tmp_path: Path) -> None:
    reading = read(tmp_path / "a.pdf", in_form)
    assert reading.text.split("\n") == ["Invoice 12", "Due in May"]
    assert reading.notes == ("13 characters of hidden text were left out on page 1",)


@pytest.mark.parametrize(
    "draws",
    [
        pytest.param([painted(0.2, block), painted(1, text())], id="white on grey"),
        pytest.param(
            [lambda d: d.drawImage(_night(), 30, 190, 150, 30), painted(1, text())], id="white on a picture"
        ),
        pytest.param([painted(1, block), text()], id="black on white"),
        pytest.param([painted(0.6, text())], id="grey on white"),
        pytest.param([text(), painted(0.8, block, alpha=0.4)], id="beneath a highlight"),
        pytest.param([text(size=5)], id="small print"),
        pytest.param([text(mode=1)], id="letters drawn as lines"),
        pytest.param([text(x=330)], id="over the edge"),
        pytest.param(
            [lambda d: d.drawImage(scan(HEAD, (SECRET, 40, 89)), 0, 0, 400, 300), text(mode=3)],
            id="OCR over a scan",
            marks=needs_tesseract,
        ),
        pytest.param(
            [lambda d: d.drawImage(scan(HEAD, (SECRET, 40, 95)), 0, 0, 400, 300), text(mode=3)],
            id="OCR half a line beside",
            marks=needs_tesseract,
        ),
        pytest.param(
            [text(), lambda d: d.drawImage(scan(HEAD, (SECRET, 40, 89)), 0, 0, 400, 300)],
            id="OCR beneath a scan",
            marks=needs_tesseract,
        ),
        pytest.param(
            [lambda d: d.drawImage(scan((SECRET, 5, 5)), 35, 100, 400, 110), text(y=199, mode=3)],
            id="a strip",
        ),
    ],
)
def test_what_is_seen_is_read(tmp_path: Path, draws: list[Draw]) -> None:
    reading = read(tmp_path / "a.pdf", *draws)
    assert SECRET in reading.text
    assert reading.notes == ()


def _night() -> ImageReader:
    return ImageReader(Image.new("L", (150, 30), 30))


def test_a_cell_of_a_table_does_not_hold_it(tmp_path: Path) -> None:
    def table(drawing: Canvas) -> None:
        drawing.grid([40, 120, 200], [100, 120, 140, 160])
        for row, said in enumerate(("Part", "M8 bolt", "Washer")):
            drawing.drawString(44, 145 - 20 * row, said)
            drawing.drawString(124, 145 - 20 * row, str(row))

    reading = read(tmp_path / "a.pdf", table, painted(1, text("no", x=160, y=125)))
    assert [found.rows for found in reading.tables] == [(("Part", "0"), ("M8 bolt", "1"), ("Washer", "2"))]


LAYERED = """%PDF-1.5
1 0 obj
<< /Type /Catalog /Pages 2 0 R /OCProperties << /OCGs [6 0 R 7 0 R] /D << /OFF [6 0 R] >> >> >>
endobj
2 0 obj
<< /Type /Pages /Kids [3 0 R] /Count 1 >>
endobj
3 0 obj
<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 300] /Contents 4 0 R
/Resources << /Font << /F 5 0 R >> /Properties << /A 6 0 R /B 7 0 R >> >> >>
endobj
4 0 obj
<< /Length 197 >>
stream
BT /F 10 Tf 40 250 Td (Invoice 12) Tj ET /OC /A BDC BT /F 10 Tf 40 230 Td (Total 9,999) Tj ET EMC
/Span BMC /OC /B BDC BT /F 10 Tf 40 210 Td (Total 12.50) Tj ET EMC EMC
endstream
endobj
5 0 obj
<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>
endobj
6 0 obj
<< /Type /OCG /Name (Off) >>
endobj
7 0 obj
<< /Type /OCG /Name (On) >>
endobj
trailer << /Root 1 0 R /Size 8 >>
%%EOF
"""


def test_a_layer_that_is_off_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_text(LAYERED)
    (reading,) = read_file(tmp_path / "a.pdf")
    assert isinstance(reading, Reading)
    assert reading.text.split() == ["Invoice", "12", "Total", "12.50"]
    assert reading.notes == ("10 characters of hidden text were left out on page 1",)


def test_layers_are_asked_for_where_a_file_declares_some(tmp_path: Path) -> None:
    read(tmp_path / "plain.pdf")
    (tmp_path / "open.pdf").write_text(LAYERED)
    head = b"%PDF-1.5\n8 0 obj\n<< /Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /Length 99 >>\nstream\r\n"
    packed = zlib.compress(b"1 0 << /Type /Catalog /OCProperties << >> >>")
    (tmp_path / "packed.pdf").write_bytes(head + packed + b"\nendstream")
    (tmp_path / "damaged.pdf").write_bytes(head + packed[:1] + b"\x00 no stream")
    found = {name: has_layers(tmp_path / f"{name}.pdf") for name in ("plain", "open", "packed", "damaged")}
    assert found == {"plain": False, "open": True, "packed": True, "damaged": False}


def test_a_hidden_note_is_not_read(tmp_path: Path) -> None:
    read(tmp_path / "a.pdf")
    writer = pypdf.PdfWriter(clone_from=str(tmp_path / "a.pdf"))
    for said, flags in (("Seen", 4), ("Hidden", 2), ("Not viewed", 32)):
        note = FreeText(text=said, rect=(200, 50, 300, 80))
        note.flags = flags
        writer.add_annotation(0, note)
    writer.write(tmp_path / "b.pdf")
    (reading,) = read_file(tmp_path / "b.pdf")
    assert isinstance(reading, Reading)
    assert reading.text == "Invoice 12\nSeen"


@pytest.mark.parametrize("place", [(399.6, 200), (40, 299.7), (-99.5, 150), (40, -8.6)])
def test_what_only_touches_the_page_breaks_nothing(tmp_path: Path, place: tuple[float, float]) -> None:
    reading = read(tmp_path / "a.pdf", painted(1, text(x=place[0], y=place[1])))
    assert reading.text == "Invoice 12"


def test_a_poster_is_looked_at_with_fewer_pixels(tmp_path: Path) -> None:
    drawing = Canvas(str(tmp_path / "a.pdf"), pagesize=(14_000, 14_000))
    drawing.setFont("Helvetica", 400)
    drawing.drawString(100, 13_000, "Invoice 12")
    painted(1, text(x=9_000, y=200, size=400), text(x=100, y=13_500, size=400))(drawing)
    painted(0.2, lambda d: d.rect(8_000, 6_000, 5_000, 900, fill=1))(drawing)
    painted(1, text("Due in May", x=8_100, y=6_200, size=400))(drawing)
    drawing.save()
    (reading,) = read_file(tmp_path / "a.pdf")
    assert isinstance(reading, Reading)
    assert reading.text.splitlines() == ["Invoice 12", "Due in May"]


def test_what_a_crop_cuts_off_is_not_read(tmp_path: Path) -> None:
    read(tmp_path / "a.pdf", text(y=20))
    writer = pypdf.PdfWriter(clone_from=str(tmp_path / "a.pdf"))
    writer.pages[0].cropbox = pypdf.generic.RectangleObject((20, 100, 400, 300))
    writer.write(tmp_path / "b.pdf")
    (reading,) = read_file(tmp_path / "b.pdf")
    assert isinstance(reading, Reading)
    assert (reading.text, reading.notes) == (
        "Invoice 12",
        ("13 characters of hidden text were left out on page 1",),
    )
