"""Values of each type found in running text."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from citegraph.corpus.extraction.in_text import find_dates, find_law, find_typed
from citegraph.corpus.schema.field import Field
from citegraph.language.amounts import Money

TODAY = date(2026, 1, 1)


def values(field: Field, text: str) -> list[Any]:
    return [item.value for item in find_typed(field, text, today=TODAY, order="DMY")]


def field(type_name: Any, **more: Any) -> Field:
    return Field(name="value", type=type_name, description="", **more)


@pytest.mark.parametrize(
    ("text", "order", "days"),
    [
        ("25/12/2018", "DMY", [date(2018, 12, 25)]),
        ("12/28/2017 10:17", "DMY", [date(2017, 12, 28)]),
        ("03/04/2018", "DMY", [date(2018, 4, 3)]),
        ("03/04/2018", "MDY", [date(2018, 3, 4)]),
        ("03.04.2018", "MDY", [date(2018, 4, 3)]),
        ("2018-04-03", "MDY", [date(2018, 4, 3)]),
        ("this 15th day of January, 2018", "MDY", [date(2018, 1, 15)]),
        ("July 13, 2011 and August 3 , 2014", "MDY", [date(2011, 7, 13), date(2014, 8, 3)]),
        ("7. Mai 2014", "DMY", [date(2014, 5, 7)]),
        ("29 maart 2014", "DMY", [date(2014, 3, 29)]),
        ("du 02 Juillet 2015", "DMY", [date(2015, 7, 2)]),
        ("18-MAR-17", "DMY", [date(2017, 3, 18)]),
        ("Mar 18 10:00:00 2009 GMT", "DMY", [date(2009, 3, 18)]),
        ("20180305", "DMY", [date(2018, 3, 5)]),
        ("31/02/2018", "DMY", []),
        ("version 2.1.3, phone 03-21271200, 1/2", "DMY", []),
    ],
)
def test_dates_of_documents(text: str, order: str, days: list[date]) -> None:
    assert [item.value for item in find_dates(text, order, TODAY)] == days


def test_a_date_keeps_its_place() -> None:
    found = next(find_dates("Datum: 7. Mai 2014.", "DMY", TODAY))
    assert (found.start, found.end, found.raw) == (7, 18, "7. Mai 2014")


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("RM 84.80", [("84.80", "MYR")]),
        ("1.234,50 EUR", [("1234.50", "EUR")]),
        ("19 %  6.00%", []),
        ("Qty 3", []),
        ("€ 9", [("9", "EUR")]),
        ("-8,79", [("-8.79", None)]),
        ("(12.00)", [("-12.00", None)]),
    ],
)
def test_amounts_have_cents_or_a_currency(text: str, amounts: list[tuple[str, str | None]]) -> None:
    assert values(field("money"), text) == [Money(Decimal(amount), mark) for amount, mark in amounts]


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("for two (2) years from", 2.0),
        ("eighteen (18) months", 1.5),
        ("one year", 1.0),
        ("a term of 36 months", 3.0),
    ],
)
def test_lengths_of_time_in_words_and_digits(text: str, years: float) -> None:
    found = values(field("quantity", unit="year"), text)
    assert [round(item.value, 3) for item in found] == [years]


def test_places_are_the_longest_name_that_stands() -> None:
    law = field("keywords", kind="jurisdiction")
    assert values(law, "the laws of the State of West Virginia") == [("West Virginia",)]
    assert values(law, "laws of England and Wales") == [("England and Wales",)]
    assert values(law, "laws of the mainland") == []


def test_declared_values_by_their_forms() -> None:
    kind = field("keyword", values={"credit note": ["Gutschrift", "credit memo"], "invoice": []})
    assert values(kind, "Gutschrift Nr. 3 zur Invoice 2") == ["credit note", "invoice"]


def test_a_string_is_the_first_cell() -> None:
    assert values(field("keyword"), "  Acme Ltd   Page 1") == ["Acme Ltd"]
    assert values(field("keyword", kind="identifier"), "No INV-77 of 3") == ["INV-77", "3"]


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("Liability follows Danish law. Danish law governs interest, too.", "Denmark"),
        ("Liability follows Danish law, interest follows French law.", None),
        ("Liability follows the law.", None),
    ],
)
def test_the_only_law_that_a_text_names(text: str, country: str | None) -> None:
    found = find_law(text)
    assert (found and found[2]) == country
