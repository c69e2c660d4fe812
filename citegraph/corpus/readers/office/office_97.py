"""Reads the formats of Office 97: sheets by xlrd, texts and presentations by LibreOffice where it is installed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from citegraph.corpus.readers.draft import Draft
from citegraph.corpus.readers.office.sheet_marks import Merged, SheetMarks
from citegraph.corpus.readers.office.sheets import add_sheet, seen_of, shown
from citegraph.corpus.readers.office.word_and_slides import DocxReader, PptxReader
from citegraph.corpus.readers.protocol import Passing, Reader, Reading, ReadOptions, Unread
from citegraph.errors import BadInput

_SECONDS = 120
_INSTALL = "install LibreOffice (apt-get install libreoffice-nogui, brew install --cask libreoffice)"


def converter() -> str:
    """Return the program that converts old documents; empty when there is none."""
    return shutil.which("soffice") or shutil.which("libreoffice") or ""


@dataclass(frozen=True, slots=True)
class OldReader:
    """Word or PowerPoint before 2007, converted for the reader of the newer format: no library reads them well."""

    suffixes: tuple[str, ...]
    newer: str
    reader: Reader

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        program = converter()
        if not program:
            raise BadInput(f"a file of Office 97: {_INSTALL}, or save it as .{self.newer}")
        with tempfile.TemporaryDirectory(prefix="citegraph-") as folder:
            converted = _converted([program, "--convert-to", self.newer], path, Path(folder))
            for item in self.reader.read(converted, options):
                yield item if isinstance(item, Unread) else replace(item, notes=(*item.notes, _CONVERTED))


_CONVERTED = "converted by LibreOffice"
WORD = OldReader((".doc", ".dot"), "docx", DocxReader())
POWERPOINT = OldReader((".ppt", ".pps"), "pptx", PptxReader())


def _converted(command: list[str], path: Path, folder: Path) -> Path:
    """Return the converted file; the program gets a profile of its own, for several may run at once."""
    source = folder / f"source{path.suffix.lower()}"
    source.symlink_to(path.resolve())
    target = folder / "target"
    options = ["--headless", "--norestore", f"-env:UserInstallation={(folder / 'profile').as_uri()}"]
    process = subprocess.Popen(  # noqa: S603  a fixed program, without a shell
        [*command, *options, "--outdir", str(target), str(source)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise Passing(f"LibreOffice took longer than {_SECONDS} s: save it in a newer format") from error
    finally:
        _end(process)
    found = next(target.glob("source.*"), None) if target.is_dir() else None
    if found is None:
        raise BadInput("LibreOffice cannot convert it: open it in its program and save it in a newer format")
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program and what it started: `soffice` is a script around another process."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


class XlsReader:
    """Excel before 2007 through xlrd, which pandas reads it with too."""

    suffixes: tuple[str, ...] = (".xls",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        import xlrd

        try:
            with path.open("rb") as file, open(os.devnull, "w", encoding="utf-8") as silent:
                book = xlrd.open_workbook(
                    file_contents=file.read(), formatting_info=True, logfile=silent, ragged_rows=True
                )
        except Exception as error:
            locked = "encrypted" in str(error).lower()
            what = (
                "needs a password: save it without one"
                if locked
                else "is damaged: open it in Excel and save it again"
            )
            raise BadInput(f"the spreadsheet {what}") from error
        draft, seen = Draft(), seen_of(path)
        for sheet in book.sheets():
            add_sheet(draft, sheet.name, _rows(book, sheet), _marks(sheet), seen)
        text, pages, tables = draft.finished()
        yield Reading(
            text if tables or seen.cut else "",
            pages,
            "application/vnd.ms-excel",
            tables=tables,
            notes=tuple(seen.notes()),
        )


def _rows(book: Any, sheet: Any) -> Iterator[list[str]]:
    for number in range(sheet.nrows):
        yield [_shown(book, cell) for cell in sheet.row(number)]


def _shown(book: Any, cell: Any) -> str:
    import xlrd

    if cell.ctype in {xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK}:
        return ""
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return shown(bool(cell.value), None)
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return str(xlrd.error_text_from_code.get(cell.value, "#ERR"))
    if cell.ctype == xlrd.XL_CELL_DATE:
        try:
            moment = xlrd.xldate_as_datetime(cell.value, book.datemode)
        except (xlrd.XLDateError, ValueError, OverflowError):
            return shown(cell.value, None)
        return shown(moment.time() if cell.value < 1 else moment, None)
    form = book.format_map.get(book.xf_list[cell.xf_index].format_key) if cell.xf_index is not None else None
    return shown(cell.value, form.format_str if form else None)


def _marks(sheet: Any) -> SheetMarks:
    merged = sorted(
        Merged(top + 1, bottom, left + 1) for top, bottom, left, _ in sheet.merged_cells if bottom - top > 1
    )
    rows = sum(bool(info.hidden) for info in sheet.rowinfo_map.values())
    columns = sum(bool(info.hidden) for number, info in sheet.colinfo_map.items() if number < sheet.ncols)
    return SheetMarks(rows, columns, hidden=bool(sheet.visibility), merged=merged)
