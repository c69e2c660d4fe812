"""Binary workbooks of Excel are read like the others; what their format does not tell is noted."""

import struct
import zipfile
from pathlib import Path

import pytest

from citegraph.corpus.readers.protocol import Reading
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.errors import BadInput

# [MS-XLSB] record numbers: a sheet in a book, a row, cells of text and of numbers, and the marks around them.
_BOOK, _SHEETS, _SHEET, _ROW, _TEXT, _REAL, _PART, _ROWS = 131, 143, 156, 0, 6, 5, 129, 145


def record(number: int, data: bytes = b"") -> bytes:
    head = bytes([number]) if number < 128 else bytes([number & 0x7F | 0x80, number >> 7])
    return head + bytes([len(data)]) + data


def wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def workbook(path: Path, rows: list[list[str | float]]) -> Path:
    sheet = record(_PART) + record(148, struct.pack("<4I", 0, len(rows) - 1, 0, 3)) + record(_ROWS)
    for number, row in enumerate(rows):
        sheet += record(_ROW, struct.pack("<IIHBBBI", number, 0, 300, 0, 0, 0, 0))
        for column, value in enumerate(row):
            place = struct.pack("<II", column, 0)
            is_text = isinstance(value, str)
            sheet += (
                record(_TEXT, place + wide(value))
                if is_text
                else record(_REAL, place + struct.pack("<d", value))
            )
    sheet += record(146) + record(130)
    book = record(_BOOK) + record(_SHEETS)
    book += record(_SHEET, struct.pack("<II", 0, 1) + wide("rId1") + wide("Tide")) + record(144) + record(132)
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>'
    )
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"
    links = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="{kind}" Target="worksheets/sheet1.bin"/></Relationships>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("xl/workbook.bin", book)
        archive.writestr("xl/_rels/workbook.bin.rels", links)
        archive.writestr("xl/worksheets/sheet1.bin", sheet)
    return path


@pytest.mark.parametrize("name", ["a.xlsb", "a.xlsx"])
def test_xlsb_is_read_whatever_its_name(tmp_path: Path, name: str) -> None:
    rows: list[list[str | float]] = [["Port", "Metres"], ["Oban", 4.0], ["Mallaig", 4.75]]
    (reading,) = read_file(workbook(tmp_path / name, rows))
    assert isinstance(reading, Reading)
    assert reading.text == "# Tide\n\nPort | Metres\nOban | 4\nMallaig | 4.75\n\n"
    assert [(table.title, table.header) for table in reading.tables] == [("Tide", 1)]
    assert "without percent and currency" in reading.notes[-1]


def test_a_damaged_xlsb_is_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsb", [["Port"]])
    with zipfile.ZipFile(tmp_path / "b.xlsb", "w") as archive, zipfile.ZipFile(path) as whole:
        for name in whole.namelist():
            archive.writestr(name, whole.read(name)[: 5 if name.endswith(".bin") else None])
    with pytest.raises(BadInput, match="damaged"):
        list(read_file(tmp_path / "b.xlsb"))
