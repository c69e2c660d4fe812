"""A PDF gives boxes, tables and embedded XML; a span can be drawn on the image of its page."""

import io
import zipfile
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from citegraph.corpus.readers.pdf.page_images import boxes_of, page_image
from citegraph.corpus.readers.protocol import Reading
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.corpus.schema.document import Box, Embedded, Layout, Line, part_path
from citegraph.errors import BadInput
from tests.citegraph.corpus.readers.only_reading import only


def canvas(path: Path, **options: Any) -> Any:
    from reportlab.pdfgen.canvas import Canvas

    return Canvas(str(path), pagesize=(400, 300), **options)


def draw(path: Path, rotate: int = 0) -> Path:
    drawing = canvas(path)
    drawing.setFont("Courier", 10)
    drawing.drawString(40, 250, "Invoice 12")
    drawing.drawString(40, 230, "Total 99.50 EUR")
    drawing.setPageRotation(rotate)
    drawing.showPage()
    drawing.save()
    return path


def test_each_line_has_its_box(tmp_path: Path) -> None:
    reading = only(draw(tmp_path / "a.pdf"))
    (layout,) = reading.layouts
    assert (layout.number, layout.width, layout.height, layout.recognised) == (1, 400, 300, False)
    assert [reading.text[line.start : line.end] for line in layout.lines] == ["Invoice 12", "Total 99.50 EUR"]
    for line, baseline in zip(layout.lines, (250, 230), strict=True):
        assert line.box.left == pytest.approx(40, abs=2)
        assert line.box.right == pytest.approx(40 + 6 * (line.end - line.start), abs=2)
        assert line.box.bottom == pytest.approx(300 - baseline, abs=3)
        assert 4 < line.box.bottom - line.box.top < 12


def test_what_a_wide_gap_parts_has_a_box_each(tmp_path: Path) -> None:
    drawing = canvas(tmp_path / "a.pdf")
    drawing.setFont("Courier", 10)
    drawing.drawString(40, 250, "Total due")
    drawing.drawString(240, 250, "99.50 EUR")
    drawing.drawString(40, 230, "Net of tax")
    drawing.save()
    reading = only(tmp_path / "a.pdf")
    assert reading.text.splitlines()[0] == "Total due 99.50 EUR"
    lines = reading.layouts[0].lines
    assert [reading.text[line.start : line.end] for line in lines] == ["Total due", "99.50 EUR", "Net of tax"]
    assert [round(line.box.left / 10) for line in lines] == [4, 24, 4]


def mapped(path: Path, codes: dict[str, str], written: str) -> Path:
    """Write a PDF of one line whose font maps characters to other UTF-16 units."""
    pairs = "\n".join(f"<{ord(code):02x}> <{units}>" for code, units in codes.items())
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
        "1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"{len(codes)} beginbfchar\n{pairs}\nendbfchar\nendcmap end end"
    )
    stream = f"BT /F 10 Tf 40 250 Td ({written}) Tj ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 300] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Courier /ToUnicode 6 0 R >>",
        f"<< /Length {len(cmap)} >>\nstream\n{cmap}\nendstream",
    ]
    body = "".join(f"{number} 0 obj\n{text}\nendobj\n" for number, text in enumerate(objects, 1))
    path.write_text(f"%PDF-1.4\n{body}trailer << /Root 1 0 R /Size 7 >>\n%%EOF\n")
    return path


def test_half_a_symbol_does_not_move_what_follows(tmp_path: Path) -> None:
    reading = only(mapped(tmp_path / "a.pdf", {"~": "d83d"}, "~~~~ Call 12"))
    assert reading.text == "\ufffd\ufffd\ufffd\ufffd Call 12"
    (line,) = reading.layouts[0].lines
    (box,) = boxes_of(reading.layouts[0], 5, 12)
    assert (line.start, line.end) == (0, 12)
    assert box.left == pytest.approx(40 + 5 * 6, abs=2)
    assert box.right == pytest.approx(40 + 12 * 6, abs=2)


def test_blanks_that_a_font_calls_line_ends_are_blanks(tmp_path: Path) -> None:
    path = mapped(tmp_path / "a.pdf", {"~": "0009", "!": "000d", "^": "00a0"}, "Acme~! ^GmbH ~Nord")
    assert only(path).text == "Acme GmbH Nord"


def dark_part(png: bytes, box: Box, scale: float) -> float:
    """Return the share of a picture's dark pixels that lie in a box."""
    from PIL import Image

    ink = Image.open(io.BytesIO(png)).convert("L").point(lambda grey: 255 * (grey < 128))
    inside = ink.crop(tuple(round(side * scale) for side in box)).histogram()[255]
    return inside / ink.histogram()[255]


@pytest.mark.parametrize("rotate", [0, 90])
def test_a_span_lies_where_its_ink_is(tmp_path: Path, rotate: int) -> None:
    path = draw(tmp_path / "a.pdf", rotate)
    reading = only(path)
    at = reading.text.index("Total")
    (box,) = boxes_of(reading.layouts[0], at, at + len("Total 99.50 EUR"))
    wider = Box(box.left - 1, box.top - 1, box.right + 1, box.bottom + 1)
    share = dark_part(page_image(path, 1, 2.0), wider, 2.0)
    assert 0.5 < share < 0.7  # 13 of the 22 letters drawn


def test_boxes_are_cut_to_the_span() -> None:
    layout = Layout(1, 100, 100, (Line(10, 20, Box(0, 0, 100, 10)), Line(21, 31, Box(0, 20, 50, 30))))
    assert boxes_of(layout, 15, 26) == [Box(50, 0, 100, 10), Box(0, 20, 25, 30)]
    assert boxes_of(layout, 20, 21) == []


def test_pages_that_cannot_be_drawn_say_why(tmp_path: Path) -> None:
    path = draw(tmp_path / "a.pdf")
    with pytest.raises(BadInput, match=r"a\.pdf has no page 2"):
        page_image(path, 2)
    with pytest.raises(BadInput, match="cannot be read"):
        page_image(tmp_path / "gone.pdf", 1)
    (tmp_path / "a.txt").write_text("words")
    with pytest.raises(BadInput, match=r"pages of \.txt cannot be drawn"):
        page_image(tmp_path / "a.txt", 1)
    with pytest.raises(BadInput, match=r"holds no b\.pdf"):
        page_image(f"{path}!/b.pdf", 1)


def test_a_page_of_a_part_is_drawn_like_that_of_a_file(tmp_path: Path) -> None:
    path = draw(tmp_path / "a.pdf")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("../a.pdf", b"not opened")
        archive.writestr("./deep/a.pdf", path.read_bytes())
    mail = EmailMessage()
    mail["Subject"] = "Invoices"
    mail.add_attachment((tmp_path / "all.zip").read_bytes(), "application", "zip", filename="all.zip")
    (tmp_path / "m.eml").write_bytes(mail.as_bytes())
    parts = [item.part for item in read_file(tmp_path / "m.eml") if isinstance(item, Reading) and item.part]
    assert parts == ["all.zip/./deep/a.pdf"]
    assert page_image(part_path(str(tmp_path / "m.eml"), parts[0]), 1) == page_image(path, 1)
    with pytest.raises(BadInput, match=r"^a\.pdf has no page 2$"):
        page_image(f"{tmp_path / 'all.zip'}!/./deep/a.pdf", 2)
    with pytest.raises(BadInput, match=r"holds no \.\./a\.pdf"):
        page_image(f"{tmp_path / 'all.zip'}!/../a.pdf", 1)
    (tmp_path / "m.eml").unlink()
    with pytest.raises(BadInput, match="cannot be read"):
        page_image(part_path(str(tmp_path / "m.eml"), parts[0]), 1)


def test_a_ruled_table_has_cells(tmp_path: Path) -> None:
    drawing = canvas(tmp_path / "a.pdf")
    drawing.drawString(40, 280, "Prices of parts")
    drawing.grid([40, 120, 200, 280], [200, 220, 240, 260])
    cells = (("Part", "Unit", "Price"), ("M8 bolt", "pcs", "1.20"), ("Washer", "", "0.05"))
    for row, texts in enumerate(cells):
        for column, text in enumerate(texts):
            drawing.drawString(44 + 80 * column, 245 - 20 * row, text)
    drawing.drawString(40, 100, "After the table")
    drawing.save()
    reading = only(tmp_path / "a.pdf")
    (table,) = reading.tables
    assert table.rows == cells
    assert table.page == 1
    inside = reading.text[table.start : table.end]
    assert inside.startswith("Part")
    assert inside.endswith("0.05")


def test_frames_without_a_grid_are_no_table(tmp_path: Path) -> None:
    drawing = canvas(tmp_path / "a.pdf")
    drawing.rect(20, 20, 360, 260)
    drawing.rect(30, 30, 100, 100)
    drawing.drawString(40, 100, "Framed")
    drawing.save()
    assert only(tmp_path / "a.pdf").tables == ()


def test_embedded_xml_comes_with_the_document(tmp_path: Path) -> None:
    import pypdfium2

    path = draw(tmp_path / "a.pdf")
    xml = f"<Rechnung>Größe{'<Zeile>1</Zeile>' * 900}</Rechnung>"
    with pypdfium2.PdfDocument(path) as pdf:
        for name, data in (("factur-x.xml", xml), ("terms.txt", "x")):
            pdf.new_attachment(name).set_data(data.encode())
        pdf.save(tmp_path / "b.pdf")
    reading, terms = read_file(tmp_path / "b.pdf")
    assert terms == Reading("x", part="terms.txt")
    assert isinstance(reading, Reading)
    assert reading.embedded == (Embedded("factur-x.xml", "text/xml", xml),)


def test_a_blank_last_page_is_a_page(tmp_path: Path) -> None:
    drawing = canvas(tmp_path / "a.pdf")
    drawing.drawString(40, 250, "words")
    drawing.showPage()
    drawing.showPage()
    drawing.save()
    reading = only(tmp_path / "a.pdf")
    assert [(page.number, page.start, page.end) for page in reading.pages] == [(1, 0, 5), (2, 6, 6)]
    assert [layout.number for layout in reading.layouts] == [1, 2]
