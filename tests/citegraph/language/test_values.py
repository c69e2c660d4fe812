"""One table `text -> value`, read by the planner, the extractor and the verifier: all three must mean the same."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from citegraph.citations.facts import hard_facts
from citegraph.corpus.extraction.in_text import find_typed
from citegraph.corpus.schema.field import Field
from citegraph.errors import BadInput
from citegraph.language.amounts import (
    Money,
    Quantity,
    find_amounts,
    find_quantities,
    parse_money,
    same_currency,
)
from citegraph.language.periods import find_periods

TODAY = date(2026, 11, 28)
OF_FIELD: dict[str, Any] = {"name": "value", "description": ""}

DAYS = {
    "Jänner": [("12. Jänner 2024", date(2024, 1, 12)), ("3. Feber 2023", None)],
    "ISO": [
        ("2024-01-12", date(2024, 1, 12)),
        ("2024/1/12", date(2024, 1, 12)),
        ("2024. 01. 12.", date(2024, 1, 12)),
    ],
    "East Asian": [("2024年1月12日", date(2024, 1, 12)), ("2024년 01월 12일", date(2024, 1, 12))],
    "English": [
        ("12 January 2024", date(2024, 1, 12)),
        ("January 12th, 2024", date(2024, 1, 12)),
        ("12  th Jan. 2024", date(2024, 1, 12)),
        ("the 2nd day of March, 2019", date(2019, 3, 2)),
        ("18-MAR-17", date(2017, 3, 18)),
        ("2018 May 5", date(2018, 5, 5)),
        ("Sept. 4, 2022", date(2022, 9, 4)),
        ("page 7\n\nJune 9, 2016", date(2016, 6, 9)),
        ("step 2 -April 1st, 2019", date(2019, 4, 1)),
    ],
    "German": [
        ("7. März 2021", date(2021, 3, 7)),
        ("7. Maerz 2021", date(2021, 3, 7)),
        ("07.03.21", date(2021, 3, 7)),
    ],
    "French": [("1er août 2020", date(2020, 8, 1)), ("le 14 février 2020", date(2020, 2, 14))],
    "Spanish": [("4 de abril de 2025", date(2025, 4, 4)), ("9 septiembre 2024", date(2024, 9, 9))],
    "Italian": [("5 gennaio 2023", date(2023, 1, 5)), ("30 set 2023", date(2023, 9, 30))],
    "Dutch": [("29 maart 2014", date(2014, 3, 29)), ("2 mei 2016", date(2016, 5, 2))],
    "none": [("31/02/2018", None), ("version 2.1.3", None), ("the set of 2023", None)],
}
DAY_ROWS = [row for rows in DAYS.values() for row in rows]


@pytest.mark.parametrize(("text", "day"), DAY_ROWS)
def test_a_day_is_the_same_to_planner_extractor_and_verifier(text: str, day: date | None) -> None:
    said = f"Dated {text} in the file"
    planned = {period.start for period in find_periods(said, today=TODAY) if period.is_day}
    extracted = {
        found.value for found in find_typed(Field(type="date", **OF_FIELD), said, today=TODAY, order="DMY")
    }
    verified = {fact.date.on("DMY") for fact in hard_facts(said) if fact.date}
    assert planned == extracted == verified - {None} == ({day} if day else set())


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Rechnungen im Jänner 2024", date(2024, 1, 1), date(2024, 1, 31)),
        ("facturas de abril de 2025", date(2025, 4, 1), date(2025, 4, 30)),
        ("facturen van maart 2014", date(2014, 3, 1), date(2014, 3, 31)),
        ("fatture di gennaio 2023", date(2023, 1, 1), date(2023, 1, 31)),
        ("invoices of March 2024", date(2024, 3, 1), date(2024, 3, 31)),
    ],
)
def test_a_month_is_the_same_to_planner_and_verifier(text: str, first: date, last: date) -> None:
    (period,) = find_periods(text, today=TODAY)
    assert (period.start, period.end) == (first, last)
    (value,) = [fact.date for fact in hard_facts(text) if fact.date]
    assert (value.year, value.month, value.day) == (first.year, first.month, None)


@pytest.mark.parametrize("text", ["the set 2024 of rules", "we ran out 2024 times", "long ago 2024"])
def test_a_short_month_of_another_language_is_a_word(text: str) -> None:
    assert all(fact.date is None or fact.date.month is None for fact in hard_facts(text))
    assert all(
        period.start and period.end and (period.end - period.start).days > 300
        for period in find_periods(text, today=TODAY)
    )


AMOUNTS = [
    ("3 Mrd. €", "3000000000", "EUR"),
    ("2,5 Mio. EUR", "2500000", "EUR"),
    ("kr 200", "200", "SEK"),
    ("1,41,600.00 INR", "141600", "INR"),
    ("₹ 5,00,000", "500000", "INR"),
    ("₹ 1,23,45,678.50", "12345678.5", "INR"),
    ("1 lakh rupees", "100000", "INR"),
    ("2.5 crore rupees", "25000000", "INR"),
    ("RM 1.5k", "1500", "MYR"),
    ("1’250.50 CHF", "1250.5", "CHF"),
    ("$1,577.25", "1577.25", "USD"),
    ("three million dollars", "3000000", "USD"),
    ("zweihundertfünfzig Euro", "250", "EUR"),
    ("trois mille euros", "3000", "EUR"),
    ("TRY 1,250.00", "1250", "TRY"),
]


def field(type_name: str, **more: Any) -> Field:
    return Field.model_validate({**OF_FIELD, "type": type_name, **more})


@pytest.mark.parametrize(("text", "amount", "currency"), AMOUNTS)
def test_an_amount_is_the_same_to_planner_extractor_and_verifier(
    text: str, amount: str, currency: str
) -> None:
    said = f"a sum of {text} was paid"
    expected = Money(Decimal(amount), currency)
    assert [found.money for found in find_amounts(said)] == [expected]
    (extracted,) = find_typed(field("money"), said, today=TODAY, order="DMY")
    assert extracted.value == expected
    (fact,) = hard_facts(said)
    assert fact.amounts[0] == expected.amount
    assert same_currency(fact.dimension.removeprefix("money:"), currency)


@pytest.mark.parametrize(
    "text", ["TOP 3 invoices", "the top 5 vendors", "3 ALL invoices", "all 12 sets", "3 Indian firms"]
)
def test_a_word_beside_a_count_is_no_currency(text: str) -> None:
    assert [found.money.currency for found in find_amounts(text)] == [None]
    assert list(find_typed(field("money"), text, today=TODAY, order="DMY")) == []
    assert not any(fact.dimension.startswith("money") for fact in hard_facts(text))


@pytest.mark.parametrize("text", ["1,41,6000.00 INR", "12,34,5 EUR"])
def test_digits_that_no_custom_groups_so_are_refused_not_cut(text: str) -> None:
    assert not any(found.money.currency for found in find_amounts(text) if found.span[0] == 0)
    with pytest.raises(BadInput):
        parse_money(text)


QUANTITIES = [
    ("fifteen days", "day", 15.0, "1296000", "time"),
    ("zwei Jahre", "month", 24.0, "24", "calendar months"),
    ("quatre-vingt-dix jours", "day", 90.0, "7776000", "time"),
    ("600 mA", "ampere", 0.6, "0.600", "current"),
    ("1.5 kΩ", "ohm", 1500.0, "1500", "resistance"),
    ("24 months", "year", 2.0, "24", "calendar months"),
    ("3 MW", "watt", 3e6, "3000000", "power"),
]


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("due anni", [24.0]),
        ("tres (3) meses", [3.0]),
        ("vier maanden", [4.0]),
        ("três anos", [36.0]),
        ("mesi 12, dal 1 maggio", [12.0]),
        ("anni tre", [36.0]),
        ("nel mese 2 anni", [24.0]),
        ("the due day", []),
        ("im Jahre 2019", []),
    ],
)
def test_a_span_of_time_is_counted_in_the_language_of_its_unit(text: str, months: list[float]) -> None:
    assert [found for found, _ in find_quantities(text, "month")] == months


@pytest.mark.parametrize(("text", "unit", "value", "base", "dimension"), QUANTITIES)
def test_a_quantity_is_the_same_to_planner_extractor_and_verifier(
    text: str, unit: str, value: float, base: str, dimension: str
) -> None:
    said = f"it is {text} long"
    assert [found for found, _ in find_quantities(said, unit)] == [value]
    (extracted,) = find_typed(field("quantity", unit=unit), said, today=TODAY, order="DMY")
    assert isinstance(extracted.value, Quantity)
    assert extracted.value.value == value
    (fact,) = hard_facts(said)
    assert (fact.amounts[0], fact.dimension) == (Decimal(base), dimension)
