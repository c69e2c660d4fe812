"""Everything that a reader of a printed Word document sees is read, in its order, and nothing else."""

import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from citegraph.corpus.readers.protocol import Reading
from citegraph.corpus.readers.reader_registry import read_file

W = nsdecls("w")
BOX = (
    '<w:r {ns} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml">'
    "<mc:AlternateContent><mc:Choice Requires='wps'><w:drawing>{box}</w:drawing></mc:Choice>"
    "<mc:Fallback><w:pict><v:shape>{box}</v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
).format(ns=W, box="<w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent>")


def saved(document: Any, path: Path) -> Reading:
    document.save(str(path))
    (reading,) = read_file(path)
    assert isinstance(reading, Reading)
    return reading


def run(text: str) -> str:
    return f"<w:r><w:t>{text}</w:t></w:r>"


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (f"<w:ins w:id='1' w:author='A'>{run('put in')}</w:ins>", "put in"),
        (f"{run('kept')}<w:del w:id='1' w:author='A'><w:r><w:delText>gone</w:delText></w:r></w:del>", "kept"),
        (f"<w:moveFrom w:id='1' w:author='A'>{run('old place')}</w:moveFrom>{run('here')}", "here"),
        (f"<w:sdt><w:sdtContent>{run('chosen')}</w:sdtContent></w:sdt>", "chosen"),
        (f"<w:fldSimple w:instr='DATE'>{run('3 March')}</w:fldSimple>", "3 March"),
        ("<w:r><w:instrText>PAGE</w:instrText></w:r>" + run("7"), "7"),
        (f"<w:smartTag w:uri='u' w:element='e'>{run('Bremen')}</w:smartTag>", "Bremen"),
        ("<w:r><w:rPr><w:vanish/></w:rPr><w:t>unseen</w:t></w:r>" + run("seen"), "seen"),
        ("<w:r><w:rPr><w:vanish w:val='0'/></w:rPr><w:t>seen</w:t></w:r>", "seen"),
        (
            "<w:r><w:t>non</w:t><w:noBreakHyphen/><w:t>stop</w:t><w:softHyphen/><w:br/><w:t>x</w:t></w:r>",
            "non-stop\nx",
        ),
    ],
)
def test_runs(tmp_path: Path, inside: str, text: str) -> None:
    document = docx.Document()
    document.element.body.insert(0, parse_xml(f"<w:p {W}>{inside}</w:p>"))
    assert saved(document, tmp_path / "a.docx").text == f"{text}\n\n"


def test_boxes_controls_margins_and_comments(tmp_path: Path) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Beside a box.")
    document.add_comment(paragraph.runs, text="Check this.", author="Reviewer")
    paragraph._p.append(parse_xml(BOX))
    control = f"<w:sdt {W}><w:sdtContent><w:p>{run('In a control.')}</w:p></w:sdtContent></w:sdt>"
    document.element.body.insert(0, parse_xml(control))
    section = document.sections[0]
    section.different_first_page_header_footer = True
    section.first_page_header.paragraphs[0].text = "Letterhead"
    section.header.paragraphs[0].text = "Page head"
    other = document.add_section()
    other.header.is_linked_to_previous = False
    other.header.paragraphs[0].text = "Annex head"
    other.footer.paragraphs[0].text = "Annex foot"
    reading = saved(document, tmp_path / "a.docx")
    assert reading.text == (
        "Letterhead\n\nPage head\n\nAnnex head\n\nIn a control.\n\nBeside a box.\n\nIn a box.\n\nAnnex foot\n\n"
        "## Comments\n\nComment by Reviewer: Check this.\n\n"
    )


def test_notes_follow_the_paragraph_that_names_them(tmp_path: Path) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Liability is limited.")
    paragraph._p.append(parse_xml(f"<w:r {W}><w:footnoteReference w:id='2'/></w:r>"))
    document.add_paragraph("Next.")
    document.save(str(tmp_path / "plain.docx"))
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    with zipfile.ZipFile(tmp_path / "plain.docx") as old, zipfile.ZipFile(tmp_path / "a.docx", "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "word/_rels/document.xml.rels":
                data = data.replace(
                    b"</R", f'<Relationship Id="rN" Type="{kind}" Target="footnotes.xml"/></R'.encode(), 1
                )
            new.writestr(name, data)
        notes = f"<w:footnotes {W}><w:footnote w:id='2'><w:p>{run('To 5,000 EUR.')}</w:p></w:footnote></w:footnotes>"
        new.writestr("word/footnotes.xml", notes)
    (reading,) = read_file(tmp_path / "a.docx")
    assert isinstance(reading, Reading)
    assert reading.text == "Liability is limited.\n\nFootnote 1: To 5,000 EUR.\n\nNext.\n\n"


def test_tracked_and_hidden_text_is_told(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Open ").add_run("secret").font.hidden = True
    document.paragraphs[0]._p.append(parse_xml(f"<w:ins {W} w:id='1' w:author='A'>{run('new')}</w:ins>"))
    reading = saved(document, tmp_path / "a.docx")
    assert (reading.text, reading.notes) == (
        "Open new\n\n",
        ("has tracked changes: read as if all were accepted", "has hidden text: left out"),
    )


def test_tables_with_spans_heads_and_tables_inside(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(4, 3)
    for row, cells in enumerate(
        (("Item", "Price", ""), ("", "EUR", "USD"), ("Bolt", "a", "b"), ("Nut", "c", "d"))
    ):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(0, 0).merge(table.cell(1, 0))
    for row in table.rows[:2]:
        row._tr.get_or_add_trPr().append(parse_xml(f"<w:tblHeader {W}/>"))
    outer = document.add_table(1, 2)
    outer.cell(0, 0).text = "Outer"
    inner = outer.cell(0, 1).add_table(1, 2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "in", "side"
    reading = saved(document, tmp_path / "a.docx")
    assert reading.text == "Item | Price EUR | Price USD\nBolt | a | b\nNut | c | d\n\nOuter | in, side;\n\n"
    assert [found.header for found in reading.tables] == [1, 0]


def formed(form: str, text: str = "unseen") -> str:
    return f"<w:r><w:rPr>{form}</w:rPr><w:t>{text}</w:t></w:r>"


WHITE = formed("<w:color w:val='FFFFFF'/>")
BEHIND = (
    "<w:r><w:drawing><wp:anchor xmlns:wp='http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing' "
    "behindDoc='1'/></w:drawing></w:r>"
)


@pytest.mark.parametrize(
    ("block", "is_read"),
    [
        (f"<w:p {W}>{WHITE}</w:p>", False),
        (f"<w:p {W}>" + formed("<w:color w:val='F4F4f8'/>") + "</w:p>", False),
        (f"<w:p {W}>" + formed("<w:sz w:val='2'/>") + "</w:p>", False),
        (f"<w:p {W}>" + formed("<w:sz w:val='16'/><w:color w:val='auto'/>") + "</w:p>", True),
        (f"<w:p {W}>" + formed("<w:color w:val='999999'/>") + "</w:p>", True),
        (f"<w:p {W}>" + formed("<w:color w:val='FFFFFF'/><w:highlight w:val='black'/>") + "</w:p>", True),
        (f"<w:p {W}>" + formed("<w:color w:val='FFFFFF'/><w:shd w:fill='000000'/>") + "</w:p>", True),
        (f"<w:p {W}><w:pPr><w:shd w:fill='000000'/></w:pPr>{WHITE}</w:p>", True),
        (f"<w:tbl {W}><w:tr><w:tc><w:p>{WHITE}</w:p></w:tc></w:tr></w:tbl>", True),
        (f"<w:p {W}>{BEHIND}{WHITE}</w:p>", True),
    ],
)
def test_white_on_white_and_specks_are_left_out(tmp_path: Path, block: str, is_read: bool) -> None:
    document = docx.Document()
    document.element.body.insert(0, parse_xml(block))
    document.add_paragraph("Seen")
    reading = saved(document, tmp_path / "a.docx")
    assert ("unseen" in reading.text, "Seen" in reading.text) == (is_read, True)
    assert reading.notes == (() if is_read else ("has hidden text: left out",))


def test_white_text_on_a_coloured_page_is_read(tmp_path: Path) -> None:
    document = docx.Document()
    document.element.insert(0, parse_xml(f"<w:background {W} w:color='000000'/>"))
    document.element.body.insert(0, parse_xml(f"<w:p {W}>{WHITE}</w:p>"))
    assert saved(document, tmp_path / "a.docx").text == "unseen\n\n"
