"""Clauses of a Word document carry the numbers that Word prints in front of them."""

from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from citegraph.corpus.readers.office.word_numbers import Numbers
from citegraph.corpus.readers.protocol import Reading
from citegraph.corpus.readers.reader_registry import read_file

W = nsdecls("w")


def level(place: int, kind: str, text: str, *, start: int = 1, more: str = "") -> str:
    return (
        f"<w:lvl w:ilvl='{place}'><w:start w:val='{start}'/><w:numFmt w:val='{kind}'/>{more}"
        f"<w:lvlText w:val='{text}'/></w:lvl>"
    )


CLAUSES = (
    level(0, "upperRoman", "%1.")
    + level(1, "decimal", "%1.%2", more="<w:isLgl/>")
    + level(2, "lowerLetter", "(%3)")
)
NUMBERING = (
    f"<w:numbering {W}><w:abstractNum w:abstractNumId='0'>{CLAUSES}</w:abstractNum>"
    f"<w:abstractNum w:abstractNumId='1'>{level(0, 'bullet', 'o')}{level(1, 'decimalZero', '%2', start=3)}</w:abstractNum>"
    "<w:num w:numId='7'><w:abstractNumId w:val='0'/></w:num>"
    "<w:num w:numId='8'><w:abstractNumId w:val='0'/>"
    "<w:lvlOverride w:ilvl='0'><w:startOverride w:val='1'/></w:lvlOverride></w:num>"
    "<w:num w:numId='9'><w:abstractNumId w:val='1'/></w:num></w:numbering>"
)


@pytest.mark.parametrize(
    ("asked", "labels"),
    [
        ("7.0 7.1 7.1 7.2 7.2 7.1 7.2 7.0 7.1", "I. 1.1 1.2 (a) (b) 1.3 (a) II. 2.1"),
        ("7.0 7.0 8.0 8.0", "I. II. I. II."),
        ("9.0 9.1 9.1", "- 03 04"),
    ],
)
def test_levels_count_and_begin_anew(asked: str, labels: str) -> None:
    numbers = Numbers(parse_xml(NUMBERING))
    found = [
        numbers.label(*(int(part) if place else part for place, part in enumerate(name.split("."))))
        for name in asked.split()
    ]  # type: ignore[arg-type]
    assert found == labels.split()


def test_an_unknown_list_has_no_labels() -> None:
    assert Numbers(None).label("1", 0) == ""
    assert Numbers(parse_xml(NUMBERING)).label("7", 5) == ""
    assert Numbers(parse_xml(NUMBERING)).label("0", 0) == ""


def test_paragraphs_and_their_styles_are_numbered(tmp_path: Path) -> None:
    document = docx.Document()
    document.part.numbering_part._element = parse_xml(NUMBERING)
    heading = document.styles["Heading 2"].element.get_or_add_pPr()
    heading.append(parse_xml(f"<w:numPr {W}><w:numId w:val='7'/></w:numPr>"))
    document.add_heading("Term", 2)
    for text, place in (("Two years.", 1), ("Renewal.", 2), ("No more.", 2)):
        paragraph = document.add_paragraph(text)
        mark = f"<w:numPr {W}><w:ilvl w:val='{place}'/><w:numId w:val='7'/></w:numPr>"
        paragraph._p.get_or_add_pPr().append(parse_xml(mark))
    document.add_paragraph("", style="Heading 2")
    document.add_heading("Payment", 2)
    document.save(str(tmp_path / "a.docx"))
    (reading,) = read_file(tmp_path / "a.docx")
    assert isinstance(reading, Reading)
    assert reading.text == (
        "## I. Term\n\n1.1 Two years.\n\n(a) Renewal.\n\n(b) No more.\n\n## II. Payment\n\n"
    )
