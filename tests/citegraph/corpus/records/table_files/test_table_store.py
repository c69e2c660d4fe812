"""Rows of table files are counted, summed and grouped exactly on both databases; lines that sum up others are no rows."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from citegraph.corpus.filters.clause import Clause, Group, Operator
from citegraph.corpus.readers.protocol import Reading, ReadOptions
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.corpus.records.database import open_database
from citegraph.corpus.records.querying.aggregates import Function
from citegraph.corpus.records.table_files.file_tables import cells_of
from citegraph.corpus.records.table_files.table_store import (
    StoredTable,
    TableQuery,
    TableStore,
)
from citegraph.corpus.schema.document import Document
from citegraph.errors import BadInput

STOCK = """Part;Site;Preis (EUR);Stück;Gezählt am;Lot
Hülse;Nord;1.234,50;3;03.04.2024;A
Bolzen, M8;Süd;12,25;10;12.05.2024;B
Feder;nord;7,10;2;13.05.2024;
Zange;Ost;offen;1;01.06.2023;A
Gesamt;;1.253,85;16;;
Stand: Juni;;;;;
"""
PRICE, COUNT, DAY = 2, 3, 4


def read(path: Path, doc_id: str = "stock") -> Document:
    (reading,) = read_file(path, ReadOptions())
    assert isinstance(reading, Reading)
    return Document(
        doc_id, "generic", reading.text, path.name, "h", media_type=reading.media_type, tables=reading.tables
    )


@pytest.fixture
def store(new_database: Callable[[], str]) -> TableStore:
    return TableStore(open_database(new_database()))


@pytest.fixture
def document(tmp_path: Path) -> Document:
    (path := tmp_path / "stock.csv").write_text(STOCK, "utf-8")
    return read(path)


@pytest.fixture
def table(store: TableStore, document: Document) -> StoredTable:
    store.put([document], "DMY")
    (found,) = store.of("stock")
    return found


def test_lines_that_sum_up_or_annotate_are_no_rows(table: StoredTable, document: Document) -> None:
    assert (table.rows, table.others) == (4, {"sum": 1, "note": 1})
    assert [document.text[start:end] for _, start, end in table.left_out] == [
        "Gesamt |  | 1.253,85 | 16 |  |",
        "Stand: Juni |  |  |  |  |",
    ]


@pytest.mark.parametrize(
    ("function", "column", "value"),
    [
        ("count", None, "4"),
        ("count", PRICE, "3"),
        ("distinct", 1, "3"),
        ("sum", PRICE, "1253.85"),
        ("average", PRICE, "417.95"),
        ("median", COUNT, "2.5"),
        ("min", PRICE, "7.10"),
        ("max", COUNT, "10"),
    ],
)
def test_numbers_are_exact(
    store: TableStore, table: StoredTable, function: Function, column: int | None, value: str
) -> None:
    (number,) = store.number(TableQuery(table), function, column)
    assert number.value == Decimal(value)
    assert number.unit == ("EUR" if column == PRICE and function != "count" else number.unit)


def test_days_have_ends_and_cut_to_groups(store: TableStore, table: StoredTable) -> None:
    (last,) = store.number(TableQuery(table), "max", DAY)
    assert last.value == "2024-05-13"
    months = store.number(TableQuery(table), "sum", COUNT, by=DAY, cut="month")
    assert [(one.group, one.value) for one in months] == [("2023-06", 1), ("2024-04", 3), ("2024-05", 12)]
    middle = store.number(TableQuery(table), "median", COUNT, by=DAY, cut="year")
    assert [(one.group, one.value, one.rows, one.first) for one in middle] == [
        ("2023", 1, 1, 3),
        ("2024", 3, 3, 0),
    ]
    quarters = store.number(TableQuery(table), "count", None, by=DAY, cut="quarter")
    assert [(one.group, one.value) for one in quarters] == [("2023-Q2", 1), ("2024-Q2", 3)]


def test_words_are_grouped_in_any_case(store: TableStore, table: StoredTable) -> None:
    numbers = store.number(TableQuery(table), "sum", COUNT, by=1)
    assert {one.group: one.value for one in numbers} == {"nord": 5, "ost": 1, "süd": 10}


@pytest.mark.parametrize(
    ("head", "operator", "value", "rows"),
    [
        ("Site", "=", "Nord", 2),
        ("Site", "!=", "nord", 2),
        ("Site", "in", ["nord", "ost"], 3),
        ("Site", "not in", ["nord", "ost"], 1),
        ("Part", "contains", "m8", 1),
        ("Part", "contains", "olzen", 0),
        ("Preis (EUR)", ">", "7.1", 2),
        ("Preis (EUR)", ">=", {"amount": "7.1", "currency": "EUR"}, 3),
        ("Preis (EUR)", ">=", {"amount": "7.1", "currency": "USD"}, 0),
        ("Preis (EUR)", "<", "7.105", 1),
        ("Preis (EUR)", ">", "7.099", 3),
        ("Stück", "=", 2.5, 0),
        ("Stück", "between", [2, 3], 2),
        ("Gezählt am", "<=", "2024-04-03", 2),
        ("Lot", "missing", None, 1),
        ("Preis (EUR)", "exists", None, 3),
    ],
)
def test_rows_are_chosen(
    store: TableStore, table: StoredTable, head: str, operator: Operator, value: Any, rows: int
) -> None:
    assert store.count(TableQuery(table, (Clause(field=head, operator=operator, value=value),))) == rows


def test_one_condition_of_a_group_must_hold_and_places_are_lines(
    store: TableStore, table: StoredTable, document: Document
) -> None:
    either = [
        Clause(field=head, operator="=", value=value) for head, value in (("Site", "Ost"), ("Lot", "B"))
    ]
    query = TableQuery(table, (Group(mode="any", clauses=tuple(either)),))
    lines = [document.text[slice(*place)] for place in store.places(query, by=COUNT, descending=True)]
    assert [cells_of(line, 6)[0] for line in lines] == ["Bolzen, M8", "Zange"]


def test_a_function_that_does_not_fit_is_refused(store: TableStore, table: StoredTable) -> None:
    with pytest.raises(BadInput, match="no numbers"):
        store.number(TableQuery(table), "sum", 0)
    with pytest.raises(BadInput, match="days"):
        store.number(TableQuery(table), "average", DAY)


def test_amounts_of_several_currencies_are_never_added(store: TableStore, tmp_path: Path) -> None:
    (path := tmp_path / "fees.csv").write_text("Fee,Amount,Cur\na,10,EUR\nb,20,USD\nc,5.5,EUR\n", "utf-8")
    store.put([read(path)], "DMY")
    numbers = store.number(TableQuery(store.of("stock")[0]), "sum", 1)
    assert [(one.value, one.unit) for one in numbers] == [(Decimal("15.5"), "EUR"), (Decimal(20), "USD")]


def test_all_rows_of_a_long_file_are_summed_exactly(store: TableStore, tmp_path: Path) -> None:
    lines = [f"{n},,{n % 7}.{n % 100:02},x" for n in range(12_000)]
    (path := tmp_path / "big.csv").write_text("\n".join(["Id,Empty,Fee,Last", *lines]), "utf-8")
    store.put([read(path, "big")], "DMY")
    (table,) = store.of("big")
    (summed,) = store.number(TableQuery(table), "sum", 2)
    exact = sum((Decimal(f"{n % 7}.{n % 100:02}") for n in range(12_000)), Decimal())
    assert (summed.value, summed.rows, table.rows) == (exact, 12_000, 12_000)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (
            "Part;Site;State;Price\nRope;North;open;10\nLamp;South;open;20\nHook;North;paid;30\nSail;West;bezahlt;5\n",
            4,
        ),
        ("State;Part;Price\npaid;Rope;10\npaid;Lamp;20\nopen;Hook;3\nTotal;;33\n", 3),
        ("Part;Price;Remark\nRope;10;new\nLamp;20;new\nHook;30;\nSail;5;old\n", 4),
        (
            "Part;Site;Price;Remark\nRope;North;10;new\nLamp;South;20;new\nHook;North;30;\nSail;West;5;old\n",
            4,
        ),
        ("Part;Site;Price\nRope;North;10\nLamp;North;20\nNorth;;30\nSail;West;5\nMast;West;6\nWest;;11\n", 4),
        ("Part;Price;Count\nRope;10;1\nLamp;20;4\nboth of them;30;5\n", 3),
        ("Part;Site;Price;Count\nRope;North;10;1\nLamp;West;20;4\nboth of them;;30;5\nSail;West;1;1\n", 3),
        ("Part;Site;Price\nRope;North;10\nLamp;West;20\nboth of them;;30\n", 2),
        ("Produit;Site;Montant\nCorde;Nord;1 234,50\nLampe;Sud;80,00\nTotal général;;1 314,50\n", 2),
    ],
)
def test_a_row_that_was_paid_or_is_as_much_as_others_is_a_row(
    store: TableStore, tmp_path: Path, text: str, rows: int
) -> None:
    path = tmp_path / "stock.csv"
    path.write_text(text, encoding="utf-8")
    store.put([read(path)], "DMY")
    (found,) = store.of("stock")
    assert found.rows == rows


def test_a_second_writing_replaces_and_another_format_has_no_rows(
    store: TableStore, document: Document, tmp_path: Path
) -> None:
    store.put([document], "DMY")
    store.put([document], "DMY")
    assert len(store.of("stock")) == 1
    (note := tmp_path / "stock.txt").write_text("no table", "utf-8")
    store.put([read(note)], "DMY")
    assert store.of("stock") == []


def test_rows_whose_cells_hold_the_mark_of_cells_keep_their_columns(
    store: TableStore, tmp_path: Path
) -> None:
    (path := tmp_path / "odd.csv").write_text('Name,Fee\n"a | b",5\nc,6\n', "utf-8")
    store.put([read(path)], "DMY")
    (summed,) = store.number(TableQuery(store.of("stock")[0]), "sum", 1)
    assert summed.value == 11
