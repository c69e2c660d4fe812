"""The rows that are looked at as CSV and as a workbook."""

import csv
import io
from datetime import datetime

import httpx
import pytest
from openpyxl import load_workbook

from tests.server.test_app import problem_of

COLUMNS = ["vendor", "total", "day", "code", "pieces"]
ROWS = [
    ["=HYPERLINK(1)", "1,860.00 USD", "2024-03-14", "0071", "12"],
    ["Elm & Co", "-9.50 EUR", "", "A-1", "1,200"],
]
TABLE = {"columns": COLUMNS, "rows": ROWS, "name": "my rows/../x"}


async def test_csv_holds_exactly_these_rows_and_no_formula(api: httpx.AsyncClient) -> None:
    made = await api.post("/tables", json=TABLE)
    assert made.headers["content-disposition"] == 'attachment; filename="my-rows-x.csv"'
    assert list(csv.reader(io.StringIO(made.content.decode("utf-8-sig")))) == [
        ["vendor", "total", "total currency", "day", "code", "pieces"],
        ["'=HYPERLINK(1)", "1860.00", "USD", "2024-03-14", "0071", "12"],
        ["Elm & Co", "-9.50", "EUR", "", "A-1", "1200"],
    ]


async def test_a_workbook_holds_numbers_and_days_and_text_that_stays_text(api: httpx.AsyncClient) -> None:
    made = await api.post("/tables", json=TABLE | {"format": "xlsx"})
    sheet = load_workbook(io.BytesIO(made.content)).worksheets[0]
    heads, first, second = sheet.iter_rows()
    assert [cell.value for cell in heads] == ["vendor", "total", "total currency", "day", "code", "pieces"]
    assert [cell.value for cell in first] == [
        "=HYPERLINK(1)",
        1860,
        "USD",
        datetime(2024, 3, 14),
        "0071",
        12,
    ]
    assert first[0].data_type == "s", "no formula"
    assert [(row[1].number_format, row[5].number_format) for row in (first, second)] == [
        ("#,##0.00", "#,##0")
    ] * 2
    assert [cell.value for cell in second] == ["Elm & Co", -9.5, "EUR", None, "A-1", 1200]


async def test_a_column_that_is_no_money_throughout_stays_one(api: httpx.AsyncClient) -> None:
    rows = [["1,860.00 USD"], ["about 5"]]
    made = await api.post("/tables", json={"columns": ["said"], "rows": rows})
    assert made.content.decode("utf-8-sig").splitlines() == ["said", '"1,860.00 USD"', "about 5"]


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "+1+1", "-1+1", "=cmd|'/c calc'!A1", "\t=1+1"])
async def test_no_head_and_no_cell_is_a_formula(text: str, api: httpx.AsyncClient) -> None:
    table = {"columns": [text, "b"], "rows": [["a", text]]}
    made = await api.post("/tables", json=table)
    rows = list(csv.reader(io.StringIO(made.content.decode("utf-8-sig"))))
    assert [cell.lstrip("\t")[0] for cell in (rows[0][0], rows[1][1])] == ["'", "'"]
    made = await api.post("/tables", json=table | {"format": "xlsx"})
    sheet = load_workbook(io.BytesIO(made.content)).worksheets[0]
    for cell in (sheet["A1"], sheet["B2"]):
        assert (cell.data_type, cell.value) == ("s", text)


async def test_tables_are_bounded(api: httpx.AsyncClient) -> None:
    assert problem_of(await api.post("/tables", json={"columns": [], "rows": []}))[0] == 422
    big = {"columns": ["a"], "rows": [["x" * 9_000]] * 500}
    assert problem_of(await api.post("/tables", json=big))[0] == 413
    assert (
        await api.post("/tables", json={"columns": ["a"], "rows": [["x" * 100]] * 5_000})
    ).status_code == 200
