"""What stands in a column is told from all of its cells: marks of decimals, units, days, codes."""

from decimal import Decimal

import pytest

from citegraph.corpus.records.table_files.columns import (
    ColumnReader,
    TableColumn,
    columns_of,
    day_of,
    own_mark,
    printed_number,
    value_of,
)


def column(*cells: str, head: str = "Value", beside: tuple[str, ...] = ()) -> TableColumn:
    """Return what a column is, with another one beside it that may tell the decimal mark."""
    readers = [ColumnReader(head), ColumnReader("Other")]
    for reader, given in zip(readers, (cells, beside), strict=True):
        for cell in given:
            reader.add(cell)
    return columns_of(readers, "DMY")[0]


@pytest.mark.parametrize(
    ("cell", "value", "unit"),
    [
        ("12.50", "12.50", ""),
        ("1,234.50", "1234.50", ""),
        ("1.234,50", "1234.50", ""),
        ("12,34,567.00", "1234567.00", ""),
        ("(40.25)", "-40.25", ""),
        ("-3", "-3", ""),
        ("$7.10", "7.10", "USD"),
        ("7,10 €", "7.10", "EUR"),
        ("-£5", "-5", "GBP"),
        ("12 kg", "12", "kg"),
        ("35%", "35", "%"),
        ("1'250.00", "1250.00", ""),
    ],
)
def test_numbers_are_read_with_their_units(cell: str, value: str, unit: str) -> None:
    printed = printed_number(cell)
    assert printed is not None
    assert (value_of(printed, own_mark(printed.digits)), printed.unit) == (Decimal(value), unit)


@pytest.mark.parametrize("cell", ["007", "12 Main Street", "A-17", "n/a", "1.2.3.4", "2 of 5", "12 34", "(5"])
def test_codes_and_words_are_no_numbers(cell: str) -> None:
    printed = printed_number(cell)
    assert printed is None or value_of(printed, ".") is None


def test_a_mark_that_one_cell_tells_holds_for_the_column() -> None:
    assert column("1.234", "2.500", "12,5").mark == ","
    assert column("1.234", "2.500", beside=("3,5", "7,25")).mark == ","
    assert column("1.234", "2.500").mark == "."


def test_cells_that_can_be_read_in_two_ways_beside_both_manners_are_no_numbers() -> None:
    mixed = column("1,5", "2.5", "3,5", "4.5", "5,5", "1.234")
    assert (mixed.kind, mixed.mark, mixed.unread) == ("number", None, 1)


def test_a_few_words_among_numbers_are_counted_and_many_make_it_a_column_of_words() -> None:
    few = column("1", "2", "3", "4", "n/a")
    assert (few.kind, few.filled, few.unread) == ("number", 5, 1)
    assert column("1", "2", "3", "n/a", "tbd").kind == "text"
    assert column("0012", "1344", "8890").kind == "text"


def test_several_units_are_told_by_the_rows_and_one_by_the_column() -> None:
    assert column("5 kg", "7 kg").unit == "kg"
    several = column("5 EUR", "7 USD")
    assert (several.unit, several.units) == ("", True)
    assert column("5", "7", head="Price (EUR)").unit == "EUR"
    assert column("5", "7", head="USA").unit == ""


def test_a_column_of_codes_tells_the_currency_of_its_rows() -> None:
    assert column("EUR", "USD", "EUR").currencies
    assert not column("EUR", "open").currencies


def test_days_are_read_in_the_order_that_the_column_tells() -> None:
    assert (column("03/25/2024", "04/05/2024").kind, column("03/25/2024", "04/05/2024").order) == (
        "date",
        "MDY",
    )
    assert column("03/04/2024", "04/05/2024").order == "DMY"
    assert day_of("2024-04-05T10:00", "MDY") == "2024-04-05"
    assert day_of("5 April 2024 9:30", "MDY") == "2024-04-05"
    assert day_of("5 April 2024 to 7 April 2024", "DMY") is None


def test_places_are_those_in_which_all_numbers_add_up_exactly() -> None:
    assert column("0.1", "0.125").places == 3
    wide = column("0.1234567890123456", "900000000000.5")
    assert (wide.rounded, wide.places < 12) == (True, True)
