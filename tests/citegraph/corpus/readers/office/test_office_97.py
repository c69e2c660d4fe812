"""Files of Office 97 are read: sheets by xlrd, the others by a converter where there is one."""

import datetime
import sys
from pathlib import Path

import docx
import pytest
import xlwt

from citegraph.corpus.readers.office import office_97
from citegraph.corpus.readers.protocol import Reading
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.errors import BadInput


def book(path: Path) -> Path:
    made = xlwt.Workbook()
    sheet = made.add_sheet("Plan")
    sheet.write_merge(1, 2, 0, 0, "North")
    for column, head in enumerate(("Region", "Share", "Cost", "Day", "Paid", "Code")):
        sheet.write(0, column, head)
    styles = ("0.0%", '#,##0.00 "EUR"', "yyyy-mm-dd", "General", "00000")
    for row, values in enumerate(
        (
            (0.125, 1234.5, datetime.date(2024, 2, 29), True, 7),
            (0.5, 2, datetime.datetime(2024, 3, 1, 9, 30), False, 12),
        ),
        1,
    ):
        for column, value in enumerate(values):
            sheet.write(row, column + 1, value, xlwt.easyxf(num_format_str=styles[column]))
    sheet.write(3, 0, "South")
    sheet.row(3).hidden = True
    sheet.col(1).hidden = True
    hidden = made.add_sheet("Costs")
    hidden.write(0, 0, "Rent")
    hidden.visibility = 1
    made.save(str(path))
    return path


def test_xls_is_read_like_xlsx(tmp_path: Path) -> None:
    (reading,) = read_file(book(tmp_path / "a.xls"))
    assert isinstance(reading, Reading)
    assert reading.text == (
        "# Plan\n\nRegion | Share | Cost | Day | Paid | Code\n"
        "North | 12.5% | 1234.50 EUR | 2024-02-29 | TRUE | 00007\n"
        "North | 50.0% | 2.00 EUR | 2024-03-01 09:30 | FALSE | 00012\nSouth\n\n\f# Costs\n\nRent\n\n"
    )
    assert [(table.title, table.header) for table in reading.tables] == [("Plan", 1), ("Costs", 0)]
    assert [page.label for page in reading.pages] == ["Plan", "Costs"]
    assert reading.notes == (
        "hidden sheets were read too: Costs",
        "hidden parts were read too: 1 row and 1 column of Plan",
    )


def test_a_damaged_xls_is_named(tmp_path: Path) -> None:
    data = book(tmp_path / "a.xls").read_bytes()
    (tmp_path / "b.xls").write_bytes(data[:3000] + bytes(len(data) - 3000))
    with pytest.raises(BadInput, match="damaged"):
        list(read_file(tmp_path / "b.xls"))


CONVERTER = """#!{python}
import shutil, sys, time
options = sys.argv[1:]
assert "--headless" in options and any(part.startswith("-env:UserInstallation=file:") for part in options)
kind, target = options[options.index("--convert-to") + 1], options[options.index("--outdir") + 1]
with open(options[-1], "rb") as file:
    said = file.read()
if said[1:] == b"slow":
    time.sleep(60)
if said[1:] != b"broken":
    import os
    os.makedirs(target)
    shutil.copy({made!r} + kind, target + "/source." + kind)
"""


@pytest.fixture
def converter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program in the place of LibreOffice that takes its options and gives a file that was made before."""
    document = docx.Document()
    document.add_paragraph("Words of old")
    document.save(str(tmp_path / "made.docx"))
    program = tmp_path / "bin" / "soffice"
    program.parent.mkdir()
    program.write_text(CONVERTER.format(python=sys.executable, made=str(tmp_path / "made.")))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))


@pytest.mark.usefixtures("converter")
def test_old_texts_are_converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.doc").write_bytes(b"\0anything")
    (reading,) = read_file(tmp_path / "a.doc")
    assert isinstance(reading, Reading)
    assert (reading.text, reading.notes) == ("Words of old\n\n", ("converted by LibreOffice",))
    (tmp_path / "a.doc").write_bytes(b"\0broken")
    with pytest.raises(BadInput, match="cannot convert it"):
        list(read_file(tmp_path / "a.doc"))
    (tmp_path / "a.doc").write_bytes(b"\0slow")
    monkeypatch.setattr(office_97, "_SECONDS", 0.2)
    with pytest.raises(BadInput, match="took longer than"):
        list(read_file(tmp_path / "a.doc"))


def test_without_a_converter_the_reason_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, newer in (("a.doc", "docx"), ("a.ppt", "pptx")):
        (tmp_path / name).write_bytes(b"\x00" * 10)
        with pytest.raises(BadInput, match=rf"install LibreOffice .*, or save it as \.{newer}$"):
            list(read_file(tmp_path / name))
