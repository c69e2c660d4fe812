"""What people do to a sheet (hide, merge, put two tables on it, make it wide) does not part values from their heads."""

import datetime
import zipfile
from pathlib import Path

import openpyxl
import pytest

from citegraph.corpus.readers.office.sheet_marks import Merged, SheetMarks, marks_of, spread
from citegraph.corpus.readers.protocol import Reading
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.errors import BadInput


def saved(book: openpyxl.Workbook, path: Path) -> Reading:
    book.save(path)
    (reading,) = read_file(path)
    assert isinstance(reading, Reading)
    return reading


def sheet_of(*rows: list[object]) -> tuple[openpyxl.Workbook, openpyxl.worksheet.worksheet.Worksheet]:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Plan"
    for row in rows:
        sheet.append(row)
    return book, sheet


def test_hidden_rows_and_columns_are_read_and_noted(tmp_path: Path) -> None:
    book, sheet = sheet_of(["Item", "Cost", "Margin"], ["Bolt", 3, 0.4], ["Nut", 2, 0.5], ["Pin", 1, 0.6])
    sheet.row_dimensions[3].hidden = True
    sheet.row_dimensions[4].hidden = True
    sheet.column_dimensions.group("B", "C", hidden=True)
    reading = saved(book, tmp_path / "a.xlsx")
    assert reading.text == "# Plan\n\nItem | Cost | Margin\nBolt | 3 | 0.4\nNut | 2 | 0.5\nPin | 1 | 0.6\n\n"
    assert reading.notes == ("hidden parts were read too: 2 rows and 2 columns of Plan",)


def test_a_cell_over_several_rows_stands_in_each(tmp_path: Path) -> None:
    book, sheet = sheet_of(
        ["Plan", None, None],
        [None, None, None],
        ["Region", "Item", "Cost"],
        ["North", "Bolt", 3],
        [None, "Nut", 2],
        [None, None, None],
        ["South", "Pin", 1],
    )
    for cells in ("A1:C2", "A4:A6", "A3:A3"):
        sheet.merge_cells(cells)
    reading = saved(book, tmp_path / "a.xlsx")
    assert (
        reading.text
        == "# Plan\n\nPlan\nRegion | Item | Cost\nNorth | Bolt | 3\nNorth | Nut | 2\nSouth | Pin | 1\n\n"
    )


def test_two_tables_of_a_sheet_keep_their_own_heads(tmp_path: Path) -> None:
    book, _ = sheet_of(
        ["Item", "Cost"], ["Bolt", 3], [], ["Nut", 2], ["Sum", 5], [], ["South"], ["Pin", 1], [], [],
        ["Day", "Hours"], [datetime.date(2025, 3, 1), 8], [], ["Note", "by"], ["late", "Ada"],
    )  # fmt: skip
    reading = saved(book, tmp_path / "a.xlsx")
    heads = [(table.rows[0], table.header, len(table.rows)) for table in reading.tables]
    assert heads == [(("Item", "Cost"), 1, 6), (("Day", "Hours"), 1, 4)]
    assert [reading.text[table.start : table.end].count("\n") for table in reading.tables] == [5, 3]


def test_columns_beyond_the_most_are_noted(tmp_path: Path) -> None:
    book, sheet = sheet_of(["a", "b"])
    sheet.cell(2, 501, "far")
    reading = saved(book, tmp_path / "a.xlsx")
    assert reading.text == "# Plan\n\na | b\n\n"
    assert reading.notes == ("only the first 500 columns were read: Plan",)


@pytest.mark.parametrize("prefix", [b"", b"x:"])
def test_marks_across_blocks(tmp_path: Path, prefix: bytes) -> None:
    row = b"<" + prefix + b'row r="1" spans="1:9" hidden="1">'
    column = b"<" + prefix + b'col min="2" max="4" width="9" hidden="true"/>'
    merged = b"<" + prefix + b'mergeCell ref="AB2:AC9"/><' + prefix + b'mergeCell ref="A1:C1"/>'
    lost = b'<c r="A1"><f>B1</f><v></v></c>'
    for fill in (1 << 20, (1 << 20) - 10, (1 << 20) - 40):
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.writestr(
                "s.xml", column + b" " * (fill - len(column)) + row + b"<row r='2'/>" + lost + merged
            )
        with zipfile.ZipFile(tmp_path / "a.zip") as archive:
            assert marks_of(archive, "s.xml") == SheetMarks(1, 3, 1, merged=[Merged(2, 9, 28)])


def test_spread_fills_only_what_is_empty() -> None:
    rows = [["x", "a"], ["", "b"], ["", ""], ["own", "c"], ["", "d"]]
    assert list(spread(rows, [Merged(1, 4, 1)])) == [
        ["x", "a"],
        ["x", "b"],
        ["", ""],
        ["own", "c"],
        ["", "d"],
    ]


@pytest.mark.slow
def test_far_more_text_than_a_file_can_pack_is_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for _ in range(2_000):
        book.active.append(["much " * 6_000])  # type: ignore[union-attr]
    book.save(tmp_path / "shared.xlsx")
    assert (tmp_path / "shared.xlsx").stat().st_size < 200_000
    with pytest.raises(BadInput, match="far more text than its file"):
        list(read_file(tmp_path / "shared.xlsx"))


def test_of_a_workbook_with_too_many_cells_the_first_are_read_and_none_is_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("citegraph.corpus.readers.office.sheets.MOST_CELLS", 8)
    book, _ = sheet_of(["Item", "Cost"], ["Bolt", 3])
    long = book.create_sheet("Stock")
    for row in (["Item", "Cost"], ["Nut", 2], ["Pin", 1], ["Rope", 9]):
        long.append(row)
    book.create_sheet("Later").append(["Lamp", 4])
    reading = saved(book, tmp_path / "a.xlsx")
    assert (
        reading.text.replace("\f", "")
        == "# Plan\n\nItem | Cost\nBolt | 3\n\n# Stock\n\nItem | Cost\nNut | 2\n\n# Later\n\n"
    )
    assert [table.title for table in reading.tables] == ["Plan"]
    assert "the rows of Stock, Later: save these sheets as CSV files" in reading.notes[0]
