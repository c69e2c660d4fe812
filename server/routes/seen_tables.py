"""The rows that somebody looks at as a file: CSV or an Excel workbook of exactly these rows, in their order."""

import csv
import io
import re
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import AfterValidator, ConfigDict, Field

from citegraph.corpus.records.csv_rows import BOM, safe_cell
from server.problems import RESPONSES
from server.running import Who
from server.schemas import Body

router = APIRouter(tags=["documents"], responses=RESPONSES)
CSV = "text/csv; charset=utf-8"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MOST_ROWS = 10_000
_MONEY = re.compile(r"(-?\d[\d,]*(?:\.\d+)?) ([A-Z]{3})")
_NUMBER = re.compile(r"-?\d[\d,]*\.\d+|-?(?:0|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d{0,14})")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def _printable(text: str) -> str:
    return "".join(char for char in text if char in "\t\n" or char.isprintable())


Cell = Annotated[str, Field(max_length=10_000), AfterValidator(_printable)]


class SeenTable(Body):
    """A table as it is seen: cells as they are printed ("1,860.00 USD", "2024-03-14")."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"columns": ["vendor", "total"], "rows": [["Acme", "1,860.00 USD"]], "format": "xlsx"}
            ]
        },
    )

    columns: Annotated[list[Cell], Field(min_length=1, max_length=200)]
    rows: Annotated[list[list[Cell]], Field(max_length=MOST_ROWS)]
    format: Literal["csv", "xlsx"] = "csv"
    name: Annotated[str, Field(max_length=100)] = "table"


FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/csv": {}, XLSX: {}}, "description": "The file."}
}


@router.post("/tables", responses=FILE, response_class=Response)
def as_file(who: Who, table: SeenTable) -> Response:
    """Return the rows of a table as a file: an amount as a number with its currency in a column of its own."""
    columns, rows = _split(table)
    made = _xlsx(columns, rows) if table.format == "xlsx" else _csv(columns, rows)
    name = re.sub(r"[^\w-]+", "-", table.name, flags=re.ASCII).strip("-") or "table"
    headers = {
        "Content-Disposition": f'attachment; filename="{name}.{table.format}"',
        "X-Content-Type-Options": "nosniff",
    }
    return Response(made, media_type=XLSX if table.format == "xlsx" else CSV, headers=headers)


def _split(table: SeenTable) -> tuple[list[str], list[list[Any]]]:
    """Return columns and typed rows; a column in which amounts stand becomes two, the amount and its currency."""
    width = len(table.columns)
    rows = [(row + [""] * width)[:width] for row in table.rows]
    money = [
        any(_MONEY.fullmatch(row[at]) for row in rows)
        and all(not row[at] or _MONEY.fullmatch(row[at]) for row in rows)
        for at in range(width)
    ]
    columns = [
        name
        for head, amounts in zip(table.columns, money, strict=True)
        for name in ((head, f"{head} currency") if amounts else (head,))
    ]
    return columns, [
        [
            value
            for cell, amounts in zip(row, money, strict=True)
            for value in (_amount(cell) if amounts else (_typed(cell),))
        ]
        for row in rows
    ]


def _amount(cell: str) -> tuple[Decimal | str, str]:
    found = _MONEY.fullmatch(cell)
    return (Decimal(found[1].replace(",", "")), found[2]) if found else ("", "")


def _typed(cell: str) -> Any:
    """Return a cell as a number or a day where it is printed as one; codes with leading zeros stay text."""
    if _NUMBER.fullmatch(cell):
        return Decimal(cell.replace(",", ""))
    if _DAY.fullmatch(cell):
        try:
            return date.fromisoformat(cell)
        except ValueError:
            return cell
    return cell


def _csv(columns: list[str], rows: list[list[Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for row in [columns, *rows]:
        writer.writerow([safe_cell(f"{cell:f}" if isinstance(cell, Decimal) else str(cell)) for cell in row])
    return (BOM + text.getvalue()).encode()


def _xlsx(columns: list[str], rows: list[list[Any]]) -> bytes:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    book = Workbook(write_only=True)
    sheet = book.create_sheet("Answer")
    sheet.freeze_panes = "A2"
    for at, head in enumerate(columns):
        longest = max([len(head), *(len(str(row[at])) for row in rows[:500])])
        sheet.column_dimensions[get_column_letter(at + 1)].width = min(60, longest + 2)

    def shape(at: int) -> str:
        """Return the format of a column's numbers: with cents where one has some, or where it stands beside a currency."""
        numbers = [row[at] for row in rows if isinstance(row[at], Decimal)]
        cents = any(number != number.to_integral_value() for number in numbers)
        return "#,##0.00" if cents or columns[at + 1 : at + 2] == [f"{columns[at]} currency"] else "#,##0"

    def cell_of(value: Any, number_format: str = "") -> Any:
        cell = WriteOnlyCell(sheet, _as_text(value) if isinstance(value, str) else value)
        if isinstance(value, str):
            # Never a formula, whatever the text begins with; a head is a text too.
            cell.data_type = "s"
        elif isinstance(value, Decimal):
            cell.number_format = number_format
        return cell

    heads = [cell_of(head) for head in columns]
    for cell in heads:
        cell.font = Font(bold=True)
    sheet.append(heads)
    shapes = [shape(at) for at in range(len(columns))]
    for row in rows:
        sheet.append([cell_of(value, shapes[at]) for at, value in enumerate(row)])
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def _as_text(text: str) -> str:
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    return ILLEGAL_CHARACTERS_RE.sub("", text)[:32_000]
