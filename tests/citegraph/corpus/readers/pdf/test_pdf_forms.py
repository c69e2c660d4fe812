"""What people fill into a PDF, write onto it, attach to it or stamp onto a scan is read too."""

import io
from pathlib import Path
from typing import Any

import pypdf
import pytest
from pypdf.annotations import FreeText, Text
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from citegraph.corpus.readers.images import recognition
from citegraph.corpus.readers.pdf.page_images import page_image
from citegraph.corpus.readers.protocol import Reading, Unread
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.corpus.schema.document import Box, Line
from citegraph.errors import BadInput
from tests.citegraph.corpus.readers.pdf.test_pdf_document import dark_part


def canvas(path: Path) -> Canvas:
    return Canvas(str(path), pagesize=(400, 300))


def test_fields_and_notes_are_lines_where_they_stand(tmp_path: Path) -> None:
    drawing = canvas(tmp_path / "form.pdf")
    drawing.drawString(40, 250, "Application of a tenant")
    form = drawing.acroForm
    form.textfield(name="Name", x=40, y=200, width=100, height=20, value="Ada Lind")
    form.textfield(name="Empty", x=40, y=170, width=100, height=20)
    form.checkbox(name="Agreed", x=40, y=140, checked=True)
    form.checkbox(name="Refused", x=80, y=140)
    form.choice(name="Town", x=40, y=100, width=80, height=20, value="Brest", options=["Brest", "Kiel"])
    drawing.save()
    writer = pypdf.PdfWriter(clone_from=str(tmp_path / "form.pdf"))
    writer.add_annotation(0, FreeText(text="Paid in May", rect=(200, 50, 300, 80)))
    writer.add_annotation(0, Text(text="Who signed?", rect=(200, 20, 220, 40)))
    writer.write(tmp_path / "a.pdf")
    (reading,) = read_file(tmp_path / "a.pdf")
    assert isinstance(reading, Reading)
    written = [
        "Name: Ada Lind",
        "Agreed: yes",
        "Refused: no",
        "Town: Brest",
        "Paid in May",
        "Comment: Who signed?",
    ]
    assert reading.text.split("\n") == ["Application of a tenant", *written]
    boxes = {reading.text[line.start : line.end]: line.box for line in reading.layouts[0].lines}
    assert boxes["Paid in May"] == Box(200, 220, 300, 250)
    left, top, right, bottom = boxes["Ada Lind"]
    assert (left, top, bottom) == pytest.approx((40, 80, 100), abs=2)
    assert 80 < right < 110  # the words, not all of the field
    # What was filled in is drawn too: its ink lies in the box that is marked.
    inside = Box(44, 84, 136, 96)
    assert dark_part(page_image(tmp_path / "a.pdf", 1, 2.0), inside, 2.0) > 0.03


def test_values_stand_beside_their_printed_labels(tmp_path: Path) -> None:
    drawing = canvas(tmp_path / "a.pdf")
    drawing.drawString(40, 270, "Mooring licence")
    form = drawing.acroForm
    drawing.drawString(40, 240, "Skipper:")
    form.textfield(name="f1", x=140, y=235, width=120, height=18, value="Mara Quist")
    drawing.drawString(40, 210, "Born on")
    for place, (name, value) in enumerate((("d", "3"), ("m", "11"), ("y", "1984"))):
        form.textfield(name=name, x=140 + 50 * place, y=205, width=40, height=18, value=value)
    drawing.drawString(60, 180, "Engine on board")
    form.checkbox(name="c1", x=40, y=177, size=14, checked=True)
    drawing.drawString(220, 180, "Pets on board")
    form.checkbox(name="c2", x=200, y=177, size=14)
    drawing.drawString(40, 160, "Sail number")
    drawing.drawString(200, 160, "Home port")
    form.textfield(name="f2", x=40, y=135, width=120, height=18, value="NOR 77")
    form.textfield(name="f3", x=200, y=135, width=120, height=18, value="Bergen")
    form.textfield(name="f4", x=300, y=20, width=60, height=18, value="seen")
    drawing.save()
    (reading,) = read_file(tmp_path / "a.pdf")
    assert isinstance(reading, Reading)
    assert reading.text.replace("\n", " ").split("  ") == [
        "Mooring licence Skipper: Mara Quist Born on: 3, 11, 1984 Engine on board: yes Pets on board: no "
        "Sail number: NOR 77 Home port: Bergen f4: seen"
    ]
    boxes = {reading.text[line.start : line.end]: line.box for line in reading.layouts[0].lines}
    assert boxes["Mara Quist"].left == pytest.approx(140, abs=1)
    assert boxes["Home port"].left == pytest.approx(200, abs=1)
    assert boxes["seen"].top == pytest.approx(262, abs=1)


def test_attached_files_are_documents(tmp_path: Path) -> None:
    for name in ("cover.pdf", "inner.pdf"):
        drawing = canvas(tmp_path / name)
        drawing.drawString(40, 250, f"Words of the {name} file")
        drawing.save()
    writer = pypdf.PdfWriter(clone_from=str(tmp_path / "cover.pdf"))
    writer.add_attachment("inner.pdf", (tmp_path / "inner.pdf").read_bytes())
    writer.add_attachment("../list.csv", b"a,b\n1,2\n")
    writer.add_attachment("factur-x.xml", b"<a>1</a>")
    writer.write(tmp_path / "a.pdf")
    found = [item for item in read_file(tmp_path / "a.pdf") if isinstance(item, Reading)]
    assert {item.part: item.text for item in found} == {
        "": "Words of the cover.pdf file",
        "inner.pdf": "Words of the inner.pdf file",
        "list.csv": "a | b\n1 | 2\n\n",
    }
    assert [file.name for file in found[0].embedded] == ["factur-x.xml"]


def scans(path: Path, stamps: list[str]) -> Path:
    """Write a page that is one picture for each stamp."""
    from PIL import Image

    picture = ImageReader(Image.new("L", (40, 30), 200))
    drawing = canvas(path)
    for stamp in stamps:
        drawing.drawImage(picture, 0, 0, 400, 300)
        drawing.drawString(20, 10, stamp)
        drawing.showPage()
    drawing.save()
    return path


def test_a_stamp_does_not_hide_a_scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = iter(["Everything that the page says, and it is long enough", "short", BadInput("OCR failed")])

    def recognised(*_: Any) -> tuple[str, list[Line]]:
        found = next(read)
        if isinstance(found, BadInput):
            raise found
        return found, []

    monkeypatch.setattr(recognition, "missing", str)
    monkeypatch.setattr(recognition, "recognised", recognised)
    path = scans(
        tmp_path / "a.pdf", ["Filed on 3 March, page 4", "A cover with a picture behind", "Third of them all"]
    )
    reading, unread = read_file(path)
    assert isinstance(reading, Reading)
    assert reading.text == (
        "Everything that the page says, and it is long enough\fA cover with a picture behind\fThird of them all"
    )
    assert unread == Unread("page 3", "OCR failed")


def test_a_stamped_scan_without_ocr_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognition, "missing", lambda: "OCR needs Tesseract")
    reading, unread = read_file(scans(tmp_path / "a.pdf", ["Filed on 3 March, page 4"]))
    assert isinstance(reading, Reading)
    assert reading.text == "Filed on 3 March, page 4"
    assert unread == Unread("page 1", "no text layer: OCR needs Tesseract")


def test_an_empty_user_password_is_none(tmp_path: Path) -> None:
    drawing = canvas(tmp_path / "open.pdf")
    drawing.drawString(40, 250, "Words that all may read")
    drawing.save()
    for password, text in (("", "Words that all may read"), ("secret", None)):
        writer = pypdf.PdfWriter(clone_from=str(tmp_path / "open.pdf"))
        writer.encrypt(password, "owner")
        data = io.BytesIO()
        writer.write(data)
        (tmp_path / "a.pdf").write_bytes(data.getvalue())
        if text is None:
            with pytest.raises(BadInput, match="needs a password: save it without one"):
                list(read_file(tmp_path / "a.pdf"))
        else:
            assert [item.text for item in read_file(tmp_path / "a.pdf") if isinstance(item, Reading)] == [
                text
            ]


def test_labels_may_stand_beneath_the_lines_to_fill_in(tmp_path: Path) -> None:
    drawing = canvas(tmp_path / "a.pdf")
    drawing.drawString(40, 280, "Hire of the hall")
    for place, (label, value) in enumerate((("Hired by", "Ona Reyk"), ("Guests", "45"), ("On", "3 May"))):
        drawing.acroForm.textfield(
            name=f"f{place}", x=40, y=230 - 50 * place, width=150, height=20, value=value
        )
        drawing.drawString(40, 217 - 50 * place, label)
    drawing.save()
    (reading,) = read_file(tmp_path / "a.pdf")
    assert isinstance(reading, Reading)
    assert reading.text.split("\n") == ["Hire of the hall", "Hired by: Ona Reyk", "Guests: 45", "On: 3 May"]
