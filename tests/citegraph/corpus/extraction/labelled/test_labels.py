"""Labels are found beside other labels in their line, and in capitals without their accents too, as French and Spanish forms print them."""

import re
from collections.abc import Iterator
from datetime import date

import pytest

from citegraph.corpus.extraction.engine import Source, extract
from citegraph.corpus.extraction.in_text import Typed, find_dates
from citegraph.corpus.extraction.labelled.labels import beside
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.corpus.schema.field import ExtractRule


def find(text: str) -> Iterator[Typed]:
    return find_dates(text, "DMY", date(2024, 1, 1))


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("ECHEANCE : 14/06/2020", "échéance"),
        ("Échéance : 14/06/2020", "échéance"),
        ("FECHA DE EMISION 14/06/2020", "fecha de emisión"),
        ("Fällig am 14.06.2020", "fällig am"),
        ("Echéance         BIC\n14/06/2020       XYZ", "échéance"),
        ("Vade / Échéance 14/06/2020", "échéance"),
        ("Net: 12.00 € Échéance (30): 14/06/2020", "échéance"),
        ("VADE TARİHİ      14/06/2020\nÉCHÉANCE\nADRES      Ayr", "échéance"),
    ],
)
def test_a_label_has_its_value(text: str, label: str) -> None:
    ((_, found),) = beside(text, ExtractRule(labels=(label,)), find)
    assert found.value == date(2020, 6, 14)


@pytest.mark.parametrize(
    "text", ["ECHEANCIER : 14/06/2020", "of 12 échéance 14/06/2020", "Vade:    14/06/2020\nÉchéance\nAyr"]
)
def test_another_word_is_no_label(text: str) -> None:
    assert not list(beside(text, ExtractRule(labels=("échéance",)), find))


@pytest.mark.parametrize(
    "text",
    [
        "Invoice date: 14/06/2020      Payment due: 14/07/2020",
        "Invoice date: 14/06/2020 Payment due: 14/07/2020",
        "Invoice date: 14/06/2020, payment due: 14/07/2020",
        "**Invoice date:** 14/06/2020 **Payment due:** 14/07/2020",
        "| Invoice date: 14/06/2020 | Payment due: 14/07/2020 |",
        "Payment due: 14/07/2020      Invoice date: 14/06/2020",
        "Invoice date:   Payment due:\n14/06/2020      14/07/2020",
        "Payment due    14/07/2020      Invoice date    14/06/2020",
    ],
)
def test_another_label_in_the_line_says_nothing_of_a_value(text: str) -> None:
    ((_, found),) = beside(text, ExtractRule(labels=("invoice date",), unless="payment|due"), find)
    assert found.value == date(2020, 6, 14)


@pytest.mark.parametrize(
    "text",
    [
        "Date due: 14/06/2020",
        "Date (payment): 14/06/2020",
        "Payment   Date: 14/06/2020",
        "Date: 14/06/2020 (due)",
    ],
)
def test_what_a_line_says_of_the_value_itself_refuses_it(text: str) -> None:
    assert not list(beside(text, ExtractRule(labels=("date",), unless="payment|due"), find))


def cells(text: str) -> Iterator[Typed]:
    said = re.split(r" {2}|\|", text, maxsplit=1)[0].rstrip()
    if said:
        yield Typed(0, len(said), said, said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Kunde / Customer:  Elm Lamps", ["Elm Lamps"]),
        ("| Kunde | Elm Lamps |\n| Ort | Ayr |", ["Elm Lamps"]),
        ("| Kunde | Ort |\n|---|---|\n| Elm | Ayr |", []),
        ("Kunde seit Jahren: Ayr", []),
    ],
)
def test_a_longer_label_is_another_one_and_a_translated_one_the_same(text: str, said: list[str]) -> None:
    rule = ExtractRule(labels=("Kunde",))
    assert [value.value for _, value in beside(text, rule, cells)] == said


def test_what_other_columns_are_called_says_nothing_of_one_columns_values() -> None:
    text = "INVOICE 77-B\nWay of payment      Date of invoice      Due\n\nCash                3 May 2021           9 May 2021\n"
    values = extract(load_buckets()["invoices"], Source(text)).values
    assert values["invoice_date"] == date(2021, 5, 3)


def test_a_day_is_no_number_of_a_document() -> None:
    text = "Invoice number\n2021-05-03\n"
    assert "invoice_number" not in extract(load_buckets()["invoices"], Source(text)).values
