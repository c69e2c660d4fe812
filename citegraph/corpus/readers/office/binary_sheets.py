"""Reads Excel's binary workbooks (XLSB) with python-calamine: no other library that is kept up reads them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from citegraph.corpus.readers.draft import Draft
from citegraph.corpus.readers.office.sheet_marks import SheetMarks
from citegraph.corpus.readers.office.sheets import add_sheet, seen_of, shown
from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread
from citegraph.errors import BadInput

_XLSB = "application/vnd.ms-excel.sheet.binary.macroEnabled.12"
_BARE = "numbers were read without percent and currency signs: save it as .xlsx to keep them"


class XlsbReader:
    """XLSB: values as Excel keeps them; calamine tells no number formats, so that 12.5 % is 0.125."""

    suffixes: tuple[str, ...] = (".xlsb",)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        from python_calamine import (
            CalamineError,
            CalamineWorkbook,
            PasswordError,
            SheetTypeEnum,
            SheetVisibleEnum,
        )

        draft, seen = Draft(), seen_of(path)
        # By its path calamine trusts the name.
        data = io.BytesIO(path.read_bytes())
        try:
            with CalamineWorkbook.from_filelike(data) as book:
                for about in book.sheets_metadata:
                    # Charts and macros are sheets too.
                    if about.typ == SheetTypeEnum.WorkSheet:
                        sheet = book.get_sheet_by_name(about.name)
                        marks = SheetMarks(hidden=about.visible != SheetVisibleEnum.Visible)
                        add_sheet(draft, about.name, _rows(sheet), marks, seen)
        except PasswordError as error:
            raise BadInput("the spreadsheet needs a password: save it without one") from error
        except (CalamineError, OSError) as error:
            raise BadInput("the spreadsheet is damaged: open it in Excel and save it again") from error
        text, pages, tables = draft.finished()
        notes = (*seen.notes(), _BARE) if tables else tuple(seen.notes())
        yield Reading(text if tables or seen.cut else "", pages, _XLSB, tables=tables, notes=notes)


def _rows(sheet: Any) -> Iterator[list[str]]:
    for row in sheet.iter_rows():
        yield ["" if value == "" else shown(value, None) for value in row]
