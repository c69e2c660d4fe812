"""Reads spreadsheets and CSV files: a sheet is a page and a table, a row is a line."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from corpus.readers.draft import Draft
from corpus.readers.encodings import decoded
from corpus.readers.protocol import Reading, ReadOptions, Unread
from corpus.readers.text import cleaned
from llm.errors import BadInput

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# What Excel itself can hold, and columns that a person can read.
_MOST_ROWS = 1_048_576
_MOST_COLUMNS = 500
_SNIFF_LINES = 20


class XlsxReader:
    """Excel through openpyxl, which streams the rows of a sheet; formulas give the value last computed."""

    suffixes: tuple[str, ...] = (".xlsx", ".xlsm")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        import openpyxl

        try:
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        except Exception as error:
            raise BadInput("the spreadsheet is damaged or protected") from error
        try:
            draft = Draft()
            for sheet in book.worksheets:
                draft.page(sheet.title)
                draft.heading(sheet.title, 1)
                # A file may claim a million rows that it does not have.
                sheet.reset_dimensions()
                draft.table(_rows(sheet), title=sheet.title)
            text, pages, tables = draft.finished()
            title = " ".join(str(book.properties.title or "").split())
        finally:
            book.close()
        yield Reading(text if tables else "", pages, _XLSX, title, tables=tables)


def _rows(sheet: Any) -> Iterator[list[str]]:
    rows = sheet.iter_rows(values_only=True, max_row=_MOST_ROWS, max_col=_MOST_COLUMNS)
    for row in rows:
        cells = [_shown(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield cells


def _shown(value: object) -> str:
    """Return a cell as text: dates as ISO, numbers without needless decimals."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float):
        # Fifteen digits are what Excel computes with: 0.30000000000000004 is 0.3.
        return f"{value:.15g}" if abs(value) < 1e15 else repr(value)
    return str(value)


class CsvReader:
    """Comma, semicolon and tab separated values in any encoding; one table."""

    suffixes: tuple[str, ...] = (".csv", ".tsv")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        text = cleaned(decoded(path.read_bytes()))
        draft = Draft()
        try:
            draft.table(csv.reader(io.StringIO(text), delimiter=_delimiter(text)))
        except csv.Error as error:
            raise BadInput(f"no CSV ({error})") from error
        body, _, tables = draft.finished()
        yield Reading(body, media_type="text/csv", tables=tables)


def _delimiter(text: str) -> str:
    """Return the separator that cuts the first lines into the most even rows."""
    lines = [line for line in itertools.islice(text.splitlines(), _SNIFF_LINES) if line.strip()]

    def fit(mark: str) -> tuple[int, int]:
        counts = [len(row) for row in csv.reader(lines, delimiter=mark)]
        return (min(counts, default=0), -len(set(counts)))

    return max(",;\t|", key=fit)
