"""One table `text -> value`, read by the planner, the extractor and the verifier: all three must mean the same."""

from datetime import date
from typing import Any

import pytest

from citegraph.citations.facts import hard_facts
from citegraph.corpus.extraction.in_text import find_typed
from citegraph.corpus.schema.field import Field
from citegraph.language.periods import find_periods

TODAY = date(2026, 11, 28)
OF_FIELD: dict[str, Any] = {"name": "value", "description": ""}

DAYS = {
    "Jänner": [("12. Jänner 2024", date(2024, 1, 12)), ("3. Feber 2023", None)],
    "ISO": [("2024-01-12", date(2024, 1, 12)), ("2024/1/12", date(2024, 1, 12))],
    "English": [
        ("12 January 2024", date(2024, 1, 12)),
        ("January 12th, 2024", date(2024, 1, 12)),
        ("the 2nd day of March, 2019", date(2019, 3, 2)),
        ("18-MAR-17", date(2017, 3, 18)),
        ("2018 May 5", date(2018, 5, 5)),
        ("Sept. 4, 2022", date(2022, 9, 4)),
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
