"""Reads spreadsheets and CSV files: a sheet is a page and a table, a row is a line."""

from __future__ import annotations

import csv
import io
import itertools
import re
import zipfile
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from citegraph.corpus.readers.column_heads import LOOKED_AT, begins_table, has_value
from citegraph.corpus.readers.draft import Draft
from citegraph.corpus.readers.encodings import decoded
from citegraph.corpus.readers.office.number_formats import shown_duration, shown_number
from citegraph.corpus.readers.office.sheet_marks import SheetMarks, marks_of, spread
from citegraph.corpus.readers.packed.containers import MOST_PACKED, SMALL
from citegraph.corpus.readers.plain_text import storable
from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread
from citegraph.errors import BadInput

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# What Excel itself can hold, and columns that a person can read.
_MOST_ROWS = 1_048_576
_MOST_COLUMNS = 500
MOST_CELLS = 2_000_000
"""Cells of a workbook that are read: about half a minute of a processor."""
_SNIFF_LINES = 20
_SNIFFED = 100_000
# Excel's own line on top of a CSV file.
_SEPARATOR = re.compile(r"sep=(.)\n", re.IGNORECASE)


class XlsxReader:
    """Excel through openpyxl, which streams the rows of a sheet; formulas give the value last computed."""

    suffixes: tuple[str, ...] = (".xlsx", ".xlsm")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        import openpyxl

        try:
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        except Exception as error:
            raise BadInput("the spreadsheet is damaged: open it in Excel and save it again") from error
        try:
            draft, seen = Draft(), seen_of(path)
            with zipfile.ZipFile(path) as archive:
                sheets: list[Any] = book.worksheets
                for sheet in sheets:
                    # openpyxl reads no marks while it streams rows, and tells the place of the file nowhere else.
                    marks = marks_of(archive, sheet._worksheet_path)
                    marks.hidden = sheet.sheet_state != "visible"
                    add_sheet(draft, sheet.title, _rows(sheet), marks, seen)
            text, pages, tables = draft.finished()
            title = " ".join(str(book.properties.title or "").split())
        except (zipfile.BadZipFile, SyntaxError) as error:  # the second is what XML parsers raise
            raise BadInput("the spreadsheet is damaged: open it in Excel and save it again") from error
        finally:
            book.close()
        yield Reading(
            text if tables or seen.cut else "", pages, _XLSX, title, tables=tables, notes=tuple(seen.notes())
        )


@dataclass(slots=True)
class Seen:
    """What a reader of the report should know of the sheets.

    `room` are the characters that their cells may still hold: many can point at one long text, which is stored once.
    `cells` are those that may still be read, `cut` the sheets of which not all were.
    """

    room: int
    cells: int
    cut: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    partly: list[str] = field(default_factory=list)
    wide: list[str] = field(default_factory=list)
    lost: int = 0

    def notes(self) -> Iterator[str]:
        """Yield hidden sheets, rows and columns, columns too many, and formulas that nobody computed."""
        if self.hidden:
            yield f"hidden sheets were read too: {', '.join(self.hidden)}"
        if self.partly:
            yield f"hidden parts were read too: {', '.join(self.partly)}"
        if self.wide:
            yield f"only the first {_MOST_COLUMNS} columns were read: {', '.join(self.wide)}"
        if self.cut:
            yield (
                f"only the first {MOST_CELLS:,} cells were read, so no number is computed over the rows of"
                f" {', '.join(self.cut)}: save these sheets as CSV files, which are read whole"
            )
        if self.lost:
            yield f"{self.lost:,} formulas have no value: open the file in Excel and save it"


def seen_of(path: Path) -> Seen:
    """Return what is known of a workbook before it is read."""
    return Seen(max(SMALL, MOST_PACKED * path.stat().st_size), MOST_CELLS)


def _rows(sheet: Any) -> Iterator[list[str]]:
    # A file may claim a million rows that it does not have.
    sheet.reset_dimensions()
    for row in sheet.iter_rows(max_row=_MOST_ROWS):
        yield [shown(cell.value, cell.number_format) if cell.value is not None else "" for cell in row]


def add_sheet(draft: Draft, title: str, rows: Iterator[list[str]], marks: SheetMarks, seen: Seen) -> None:
    """Write a sheet as a page and its tables, and take in what is to be noted of it."""
    draft.page(title)
    draft.heading(title, 1)
    widest, before = 0, draft.table_count

    def narrowed() -> Iterator[list[str]]:
        nonlocal widest
        for row in rows:
            widest = max(widest, len(row))
            seen.room -= sum(map(len, row))
            if seen.room < 0:
                raise BadInput(
                    "the spreadsheet holds far more text than its file: save its sheets as CSV files"
                )
            seen.cells -= len(row)
            if seen.cells < 0:
                seen.cut.append(title)
                return
            yield row[:_MOST_COLUMNS]

    for block in _Tables(spread(narrowed(), marks.merged)):
        draft.table(block, header=None, title=title)
    if seen.cut and seen.cut[-1] == title:
        draft.forget_tables(before)
    if marks.hidden:
        seen.hidden.append(title)
    parts = {"row": marks.hidden_rows, "column": marks.hidden_columns}
    said = [f"{count:,} {name}{'s' if count > 1 else ''}" for name, count in parts.items() if count]
    if said:
        seen.partly.append(f"{' and '.join(said)} of {title}")
    if widest > _MOST_COLUMNS:
        seen.wide.append(title)
    seen.lost += marks.lost


class _Tables:
    """Parts the rows of a sheet into its tables: after a blank row, where other heads stand above values."""

    def __init__(self, rows: Iterator[list[str]]) -> None:
        self._rows = rows
        self._ahead: deque[tuple[list[str], bool]] = deque()

    def __iter__(self) -> Iterator[Iterator[list[str]]]:
        """Yield the rows of each table, to be taken before the next; blank rows and blank ends of rows are dropped."""
        while self._fill(1):
            yield self._table()

    def _table(self) -> Iterator[list[str]]:
        valued = False
        while self._fill(1):
            row, after_blank = self._ahead[0]
            if valued and after_blank and self._begins():
                return
            valued = valued or has_value(row)
            self._ahead.popleft()
            yield row

    def _begins(self) -> bool:
        self._fill(LOOKED_AT)
        following = itertools.islice(self._ahead, 1, None)
        block = [
            self._ahead[0][0],
            *(row for row, _ in itertools.takewhile(lambda item: not item[1], following)),
        ]
        return begins_table(block)

    def _fill(self, count: int) -> bool:
        after_blank = False
        while len(self._ahead) < count:
            row = next(self._rows, None)
            if row is None:
                break
            while row and not row[-1].strip():
                row.pop()
            if row:
                self._ahead.append((row, after_blank))
            after_blank = not row
        return bool(self._ahead)


def shown(value: object, number_format: str | None) -> str:
    """Return a cell as text: dates as ISO, numbers with the unit of their format."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case datetime():
            return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
        case date() | time():
            return value.isoformat()
        case timedelta():
            return shown_duration(value)
        case int() | float():
            return shown_number(value, number_format or "General")
    return str(value)


class CsvReader:
    """Comma, semicolon and tab separated values in any encoding; one table."""

    suffixes: tuple[str, ...] = (".csv", ".tsv")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        text = storable(decoded(path.read_bytes()))
        draft = Draft()
        # The module's own bound is 128 KB a cell; the file's size is bounded elsewhere.
        csv.field_size_limit(max(csv.field_size_limit(), len(text)))
        said = _SEPARATOR.match(text)
        mark = said[1] if said else _delimiter(text)
        try:
            draft.table(
                csv.reader(io.StringIO(text[said.end() if said else 0 :]), delimiter=mark), header=None
            )
        except csv.Error as error:
            raise BadInput(f"no CSV ({error}): save it again as CSV") from error
        body, _, tables = draft.finished()
        yield Reading(body, media_type="text/csv", tables=tables)


def _delimiter(text: str) -> str:
    """Return the separator that cuts most of the first lines, into the most even rows."""

    def fit(mark: str) -> tuple[bool, int, int, int]:
        rows = csv.reader(io.StringIO(text[:_SNIFFED]), delimiter=mark)
        counts = [len(row) for row in itertools.islice(rows, _SNIFF_LINES) if any(row)]
        cut = [count for count in counts if count > 1]
        return (2 * len(cut) > len(counts), len(cut), -len(set(counts)), min(cut, default=0))

    best = max(",;\t|", key=fit)
    # A mark in a line here and there is one of its sentence.
    return best if fit(best)[0] else "\t"
