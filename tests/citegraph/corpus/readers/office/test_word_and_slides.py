"""Office documents, sheets and pages of the web keep their headings and tables."""

import datetime
import re
import zipfile
from pathlib import Path

import pytest

from citegraph.corpus.readers.protocol import Reading
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.corpus.schema.document import Embedded, Page, Table
from citegraph.errors import BadInput
from citegraph.language.bounded import LINE


def only(path: Path) -> Reading:
    (reading,) = read_file(path)
    assert isinstance(reading, Reading)
    for table in reading.tables:
        rows = reading.text[table.start : table.end].split("\n")
        assert rows == [" | ".join(row).strip() for row in table.rows]
    return reading


def test_docx(tmp_path: Path) -> None:
    import docx

    document = docx.Document()
    document.core_properties.title = "Supply agreement"
    document.sections[0].header.paragraphs[0].text = "Nordwind GmbH"
    document.sections[0].footer.paragraphs[0].text = "HRB 12"
    document.add_heading("Terms", 2)
    document.add_paragraph("Payment within 30 days.")
    document.add_paragraph("first", style="List Bullet")
    table = document.add_table(2, 3)
    for row, cells in enumerate((("Item", "Qty", "Price"), ("Bolt", "4", "1,20"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    document.add_paragraph("After.")
    document.save(str(tmp_path / "a.docx"))
    reading = only(tmp_path / "a.docx")
    assert reading.text == (
        "Nordwind GmbH\n\n## Terms\n\nPayment within 30 days.\n\n- first\n\n"
        "Item | Qty | Price\nBolt | 4 | 1,20\n\nAfter.\n\nHRB 12\n\n"
    )
    assert (reading.title, reading.pages) == ("Supply agreement", ())
    assert [table.rows for table in reading.tables] == [(("Item", "Qty", "Price"), ("Bolt", "4", "1,20"))]


def test_pptx(tmp_path: Path) -> None:
    import pptx

    presentation = pptx.Presentation()
    for title in ("Plan", "Numbers"):
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text_frame.text = title
        slide.placeholders[1].text_frame.text = f"About {title}"
    slide.notes_slide.notes_text_frame.text = "Say it slowly."
    grid = slide.shapes.add_table(2, 2, 0, 0, 9144, 9144).table
    for at, text in enumerate(("Year", "Sum", "2025", "7")):
        grid.cell(at // 2, at % 2).text = text
    presentation.save(str(tmp_path / "a.pptx"))
    reading = only(tmp_path / "a.pptx")
    first = "# Plan\n\nAbout Plan\n\n"
    second = "# Numbers\n\nAbout Numbers\n\nYear | Sum\n2025 | 7\n\nSay it slowly.\n\n"
    assert reading.text == f"{first}\f{second}"
    assert reading.pages == (Page(1, 0, len(first)), Page(2, len(first) + 1, len(reading.text)))
    assert [table.page for table in reading.tables] == [2]


def test_xlsx_sheets_are_pages_and_tables(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Sales"
    sheet.append(["Date", "Sum", None, "Paid"])
    sheet.append([datetime.datetime(2026, 2, 3), 0.1 + 0.2, None, True])
    sheet.append([None, None])
    sheet.append([datetime.datetime(2026, 2, 4, 9, 30), 12])
    book.create_sheet("Empty")
    book.save(tmp_path / "a.xlsx")
    reading = only(tmp_path / "a.xlsx")
    sales = "# Sales\n\nDate | Sum |  | Paid\n2026-02-03 | 0.3 |  | TRUE\n2026-02-04 09:30 | 12\n\n"
    assert reading.text == f"{sales}\f# Empty\n\n"
    assert reading.pages == (
        Page(1, 0, len(sales), "Sales"),
        Page(2, len(sales) + 1, len(reading.text), "Empty"),
    )
    assert [(table.title, table.page, table.header, len(table.rows)) for table in reading.tables] == [
        ("Sales", 1, 1, 3)
    ]


def test_xlsx_shows_units_and_tells_what_is_hidden_or_not_computed(tmp_path: Path) -> None:
    import openpyxl
    from openpyxl.chart import BarChart, Reference
    from openpyxl.utils.datetime import CALENDAR_MAC_1904

    book = openpyxl.Workbook()
    book.epoch = CALENDAR_MAC_1904
    sheet = book.active
    assert sheet is not None
    rows = [["Plan 2025"], ["Item", "Q1", None], [None, "Share", "Cost"], ["Bolt", 0.125, 1234.5]]
    for row in [
        *rows,
        ["Day", datetime.date(2024, 2, 29), datetime.timedelta(hours=30)],
        ["Sum", "=C4*2", 1],
    ]:
        sheet.append(row)
    sheet.merge_cells("B2:C2")
    sheet["B4"].number_format, sheet["C4"].number_format = "0.0%", '#,##0.00 "EUR"'
    book.create_sheet("Costs").append(["Rent"])
    book["Costs"].sheet_state = "hidden"
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=3, max_row=4))
    book.create_chartsheet("Chart").add_chart(chart)
    book.save(tmp_path / "a.xlsx")
    reading = only(tmp_path / "a.xlsx")
    assert reading.text == (
        "# Sheet\n\nPlan 2025\nItem | Q1 Share | Q1 Cost\nBolt | 12.5% | 1234.50 EUR\n"
        "Day | 2024-02-29 | 30:00\nSum |  | 1\n\n\f# Costs\n\nRent\n\n"
    )
    assert [table.header for table in reading.tables] == [2, 0]
    assert reading.notes == (
        "hidden sheets were read too: Costs",
        "1 formulas have no value: open the file in Excel and save it",
    )


def test_pptx_charts_and_hidden_slides(tmp_path: Path) -> None:
    import pptx
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["East", "West"]
    data.add_series("Sales", (19.2, None))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 9144, 9144, data)
    slide.element.set("show", "0")
    presentation.save(str(tmp_path / "a.pptx"))
    reading = only(tmp_path / "a.pptx")
    assert reading.text == "| Sales\nEast | 19.2\nWest |\n\n"
    assert reading.notes == ("1 hidden slides were read too",)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b,c\n1,2\n1,2,3,4\n\n5\n", "a | b | c\n1 | 2\n1 | 2 | 3 | 4\n5"),
        ("sep=;\na;b\n1;2,5\n", "a | b\n1 | 2,5"),
        ("name\nAnna, Berlin\nBob\n", "name\nAnna, Berlin\nBob"),
        ('id,text\n1,"two\nlines, ""quoted"""\n', 'id | text\n1 | two lines, "quoted"'),
        ("Name;Sum\nA;1.234,50\nB;2,00\n", "Name | Sum\nA | 1.234,50\nB | 2,00"),
    ],
)
def test_csv_as_people_save_it(tmp_path: Path, text: str, rows: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    assert only(tmp_path / "a.csv").text == f"{rows}\n\n"


def test_a_long_row_of_csv_stays_one_row(tmp_path: Path) -> None:
    cells = [f"remark {number} of the shipment" for number in range(600)]
    (tmp_path / "a.csv").write_text(f"a,b\n1,{'x' * 200_000}\n2,{' '.join(cells)}\n3,{' '.join(cells)}.\n")
    (reading,) = read_file(tmp_path / "a.csv")
    assert isinstance(reading, Reading)
    head, word, *others = reading.tables[0].rows
    assert head == ("a", "b")
    assert (word[0], word[1].replace(" ", "")) == ("1", "x" * 200_000), (
        "a word is broken, nothing of it is lost"
    )
    assert others == [("2", " ".join(cells)), ("3", f"{' '.join(cells)}.")]
    assert max(map(len, reading.text.split("\n"))) <= LINE


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_csv_by_any_separator(tmp_path: Path, mark: str) -> None:
    rows = [["Name", "Price"], ["Größe, groß; x", "1.5"], ["b", "2"]]
    lines = [mark.join(f'"{cell}"' if mark in cell else cell for cell in row) for row in rows]
    (tmp_path / "a.csv").write_bytes("\r\n".join(lines).encode("cp1252"))
    reading = only(tmp_path / "a.csv")
    assert reading.text == "Name | Price\nGröße, groß; x | 1.5\nb | 2\n\n"
    assert reading.tables == (Table(0, len(reading.text) - 2, tuple(map(tuple, rows))),)


def test_html(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(
        "<!DOCTYPE html><html><head><meta charset='iso-8859-1'><title>Größe &amp; Maß</title>"
        "<style>p {}</style></head><body><script>var x;</script><h1>Title <em>one</em></h1>"
        "<p>A <b>bold</b>\nword.<br>Next</p><ul><li>first<li>second</ul><pre>a  b\nc</pre>"
        "<table><caption>Prices</caption><tr><th>Item<th>Price<tr><td>Bolt<td>1,20</table>"
        "<div>loose <span>text</span></div></body></html>".encode("iso-8859-1")
    )
    reading = only(tmp_path / "a.html")
    assert reading.title == "Größe & Maß"
    assert reading.text == (
        "# Title one\n\nA bold word.\nNext\n\n- first\n\n- second\n\na  b\nc\n\n"
        "Item | Price\nBolt | 1,20\n\nloose text\n\n"
    )
    assert [table.title for table in reading.tables] == ["Prices"]


def test_html_shows_what_a_browser_does(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<html><body><nav>Home</nav><p hidden>no</p><div style='color:red; display: none'>no</div>seen"
        "<p>soft&shy;ware</p><ol start=3><li>third<ul><li>inner</ul><li>fourth</ol>"
        "<table><thead><tr><th rowspan=2>Item<th colspan=2>Price<tr><th>EUR<th>USD</thead>"
        "<tr><td rowspan=2>Bolt<td>1<td>2<tr><td>3<td>4<tr hidden><td>no</table></body></html>"
    )
    reading = only(tmp_path / "a.html")
    assert reading.text == (
        "seen\n\nsoftware\n\n3. third\n\n- inner\n\n4. fourth\n\n"
        "Item | Price EUR | Price USD\nBolt | 1 | 2\nBolt | 3 | 4\n\n"
    )
    assert [table.header for table in reading.tables] == [1]


def test_html_named_text_is_read_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("<html><body><p>Hi</p></body></html>")
    reading = only(tmp_path / "a.txt")
    assert (reading.text, reading.notes) == ("Hi\n\n", ("named .txt, read as HTML",))
    (tmp_path / "b.txt").write_text("BM is no picture")
    assert only(tmp_path / "b.txt").text == "BM is no picture"
    (tmp_path / "NOTES").write_text("plain words")
    assert only(tmp_path / "NOTES").text == "plain words"


def test_xml_invoice_alone(tmp_path: Path) -> None:
    markup = (
        '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><i:Inv xmlns:i="urn:x">'
    )
    (tmp_path / "a.xml").write_text(
        markup + "<i:ID>R-1</i:ID><i:PayableAmount>12.50</i:PayableAmount></i:Inv>"
    )
    reading = only(tmp_path / "a.xml")
    assert reading.text == "ID: R-1\nPayable Amount: 12.50"
    assert [file.name for file in reading.embedded] == ["a.xml"]
    assert isinstance(reading.embedded[0], Embedded)
    assert "R-1" in reading.embedded[0].text


def test_long_lines_of_xml_stay_whole(tmp_path: Path) -> None:
    lines = "".join(f"<Line><Amount>{number}</Amount></Line>" for number in range(9_000))
    (tmp_path / "a.xml").write_text(f"<Invoice>{lines}</Invoice>")
    assert lines in only(tmp_path / "a.xml").embedded[0].text


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.docm", "ms-word.document.macroEnabled"),
        ("a.dotx", "openxmlformats-officedocument.wordprocessingml.template"),
        ("a.ppsx", "openxmlformats-officedocument.presentationml.slideshow"),
        ("a.pptm", "ms-powerpoint.presentation.macroEnabled"),
    ],
)
def test_templates_shows_and_macros_are_read_alike(tmp_path: Path, name: str, kind: str) -> None:
    import docx
    import pptx

    if name.startswith("a.d"):
        document = docx.Document()
        document.add_paragraph("Words of it")
        document.save(str(tmp_path / "plain"))
    else:
        presentation = pptx.Presentation()
        presentation.slides.add_slide(presentation.slide_layouts[5]).shapes.title.text = "Words of it"
        presentation.save(str(tmp_path / "plain"))
    with zipfile.ZipFile(tmp_path / "plain") as old, zipfile.ZipFile(tmp_path / name, "w") as new:
        for member in old.namelist():
            data = old.read(member)
            if member == "[Content_Types].xml":
                data = re.sub(
                    rb"application/vnd[\w.-]+\.main\+xml", f"application/vnd.{kind}.main+xml".encode(), data
                )
            new.writestr(member, data)
    reading = only(tmp_path / name)
    assert (reading.text.strip("# \n"), reading.notes) == ("Words of it", ())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a.docx", "damaged: open it in Word"),
        ("a.pptx", "damaged: open it in PowerPoint"),
        ("a.xlsx", "damaged: open it in Excel"),
    ],
)
def test_damaged_office_files(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04" + bytes(200))
    with pytest.raises(BadInput, match="damaged"):
        list(read_file(tmp_path / name))
    (tmp_path / name).write_bytes(b"\x07" * 8 + bytes(200))
    with pytest.raises(BadInput, match=reason):
        list(read_file(tmp_path / name))


def test_formats_without_a_reader_say_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a.numbers").write_bytes(b"\x00" * 10)
    with pytest.raises(BadInput, match=r"no reader for \.numbers \(save it as \.xlsx\)"):
        list(read_file(tmp_path / "a.numbers"))
