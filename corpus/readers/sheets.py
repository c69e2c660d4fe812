"""Reads spreadsheets and CSV files: a sheet is a page and a table, a row is a line."""

from __future__ import annotations

import csv
import io
import itertools
import re
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from corpus.readers.draft import Draft
from corpus.readers.encodings import decoded
from corpus.readers.number_formats import shown_duration, shown_number
from corpus.readers.protocol import MEGABYTE, Reading, ReadOptions, Unread
from corpus.readers.text import cleaned
from llm.errors import BadInput

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# What Excel itself can hold, and columns that a person can read.
_MOST_ROWS = 1_048_576
_MOST_COLUMNS = 500
_SNIFF_LINES = 20
_SNIFFED = 100_000
# Excel's own line on top of a CSV file.
_SEPARATOR = re.compile(r"sep=(.)\n", re.IGNORECASE)
_NO_VALUE = re.compile(rb"(?:</f>|<f/>|<f [^<>]*/>)(?:<v ?/>|<v></v>)?</c>")


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
            draft = Draft()
            for sheet in book.worksheets:
                draft.page(sheet.title)
                draft.heading(sheet.title, 1)
                # A file may claim a million rows that it does not have.
                sheet.reset_dimensions()
                draft.table(_rows(sheet), header=None, title=sheet.title)
            text, pages, tables = draft.finished()
            title = " ".join(str(book.properties.title or "").split())
            notes = tuple(_notes(book, path))
        except (zipfile.BadZipFile, SyntaxError) as error:  # the second is what XML parsers raise
            raise BadInput("the spreadsheet is damaged: open it in Excel and save it again") from error
        finally:
            book.close()
        yield Reading(text if tables else "", pages, _XLSX, title, tables=tables, notes=notes)


def _rows(sheet: Any) -> Iterator[list[str]]:
    for row in sheet.iter_rows(max_row=_MOST_ROWS, max_col=_MOST_COLUMNS):
        cells = [_shown(cell.value, cell) for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield cells


def _shown(value: object, cell: Any) -> str:
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
            return shown_number(value, cell.number_format or "General")
    return str(value)


def _notes(book: Any, path: Path) -> Iterator[str]:
    """Yield what a reader of the report should know: hidden sheets, formulas that nobody computed."""
    if hidden := [sheet.title for sheet in book.worksheets if sheet.sheet_state != "visible"]:
        yield f"hidden sheets were read too: {', '.join(hidden)}"
    if blank := _uncomputed(path):
        yield f"{blank:,} formulas have no value: open the file in Excel and save it"


def _uncomputed(path: Path) -> int:
    """Return how many formulas carry no value; programs that write sheets without Excel leave it out."""
    count = 0
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not name.startswith("xl/worksheets/"):
                continue
            with archive.open(name) as file:
                rest = b""
                while block := file.read(MEGABYTE):
                    block = rest + block
                    found = list(_NO_VALUE.finditer(block))
                    count += len(found)
                    rest = block[max(found[-1].end() if found else 0, len(block) - 100) :]
    return count


class CsvReader:
    """Comma, semicolon and tab separated values in any encoding; one table."""

    suffixes: tuple[str, ...] = (".csv", ".tsv")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        text = cleaned(decoded(path.read_bytes()))
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
