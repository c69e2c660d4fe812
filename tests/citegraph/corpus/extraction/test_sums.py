"""Of the amounts of an invoice, the three that add up."""

from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from citegraph.corpus.extraction.engine import Source, extract, found_by_rules
from citegraph.corpus.schema.bucket import Bucket, load_buckets
from citegraph.language.amounts import Money

INVOICES = load_buckets()["invoices"]


def amounts(text: str) -> list[float | None]:
    values = extract(INVOICES, Source(text)).values
    found = [values.get(name) for name in ("net_amount", "tax_amount", "total_amount")]
    return [float(value.amount) if isinstance(value, Money) else None for value in found]


def test_columns_of_rates_give_their_last_row() -> None:
    text = (
        "  Nettobetrag    MwSt-Betrag    Endbetrag\n"
        "       321,40          61,07       382,47\n"
        "       127,59           8,93       136,52\n"
        "       448,99          70,00       518,99\n"
    )
    assert amounts(text) == [448.99, 70.0, 518.99]


def test_an_amount_without_a_label_is_found_by_the_other_two() -> None:
    assert amounts("Nettosumme  198,00\n  Satz 19  37,62\nBruttosumme  235,62\n") == [198.0, 37.62, 235.62]
    assert amounts("Subtotal  100.00\n  7.00\nTotal  107.00\n") == [100.0, 7.0, 107.0]


def test_the_heading_of_a_column_yields_to_the_sum() -> None:
    text = "  Steuerbetrag\n          9,06\n         12,24\nNettosumme  193,77\nSteuerbetrag  21,30\nBruttosumme  215,07\n"
    assert amounts(text) == [193.77, 21.3, 215.07]
    found = found_by_rules(INVOICES, Source(text)).fields["tax_amount"]
    assert found.confidence == pytest.approx(0.96)


def test_a_total_is_not_given_up_for_the_total_of_a_part() -> None:
    text = "TOTAL  31.32\nGST Summary   Amount   Tax\nSubtotal  12.00\nGST  0.72\n  12.72\n"
    assert amounts(text)[2] == 31.32


def test_what_cannot_be_a_tax_adds_nothing_up() -> None:
    assert amounts("Total  100.00\nSubtotal  40.00\n  60.00\n") == [40.0, None, 100.0]


def test_credit_notes_add_up_too() -> None:
    assert amounts("Net amount: -7.67\nTax amount: -1.12\nTotal amount: -8.79\n") == [-7.67, -1.12, -8.79]


def test_what_stands_against_a_sum_is_kept() -> None:
    text = "   Gesamtbetrag\n       160,00\n\nNettobetrag: 358,00\nUSt. Gesamt: 48,82\nEndbetrag  406,82\n"
    found = extract(INVOICES, Source(text)).fields["total_amount"]
    assert found.best.value == Money(Decimal("406.82"), None)


def declared(**change: Any) -> None:
    money = {"name": "total", "type": "money", "description": "t"}
    base = {"name": "b", "description": "b", "nouns": ["x"], "fields": [money]}
    Bucket.model_validate({**base, **change})


def test_a_sum_names_money_fields_of_its_bucket() -> None:
    with pytest.raises(ValidationError, match="sums names 'net'"):
        declared(sums=[{"total": "total", "of": ["net", "tax"]}])
    words = {"name": "words", "type": "text", "description": "t"}
    money = {"name": "total", "type": "money", "description": "t"}
    with pytest.raises(ValidationError, match="sums 'words' is not money"):
        declared(fields=[money, words], sums=[{"total": "total", "of": ["total", "words"]}])


def test_amounts_that_no_sum_proves_are_in_doubt() -> None:
    def sure(text: str) -> list[float | None]:
        fields = found_by_rules(INVOICES, Source(text)).fields
        names = ("net_amount", "tax_amount", "total_amount")
        return [fields[name].confidence if name in fields else None for name in names]

    assert sure("Subtotal  40.00\nVAT  3.00\nTotal  100.00\n") == pytest.approx([0.56, 0.48, 0.8])
    assert sure("VAT  3.00\nTotal  100.00\n") == [None, pytest.approx(0.56), pytest.approx(0.8)]


def test_a_discount_and_a_fee_among_the_three_explain_them() -> None:
    lines = ["Subtotal  100.00", "VAT  20.00", "Service  5.00", "Discount  - 2.00", "Total  123.00"]
    for said, sure in ((lines, 0.8), ([*lines[:3], lines[4]], 0.48)):
        found = found_by_rules(INVOICES, Source("\n".join(said))).fields
        assert found["tax_amount"].confidence == pytest.approx(sure)


def test_three_amounts_without_labels_are_known_by_a_printed_rate() -> None:
    text = (
        "Zzub 1  40,00  8,00  48,00\nVleb 2  60,00  12,00  72,00\n\nKmar %20\nQolp  100,00  20,00  120,00\n"
    )
    assert amounts(text) == [100.0, 20.0, 120.0]
    assert amounts(text.replace("%20", "%10"))[:2] == [None, None]


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("Lamp  10,00 TL\nHook  12,00 TL\nOar  13,00 TL\nPart 77/€\n", "TRY"),
        ("Open Fr. 08.30\nSum in EUR\n", "EUR"),
        ("Lamp  R$ 10,00\nHook  R$ 12,00\n", "BRL"),
        ("Lamp  10 500 Ft\n", "HUF"),
        ("Lamp  10.00\nHook  12.00\n", None),
    ],
)
def test_the_currency_is_that_of_most_amounts(text: str, currency: str | None) -> None:
    assert extract(INVOICES, Source(text)).values.get("currency") == currency


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("Slip of the quay\nGiven to O. Beck  1,134.00 ETB\n", 1134.0),
        ("Oar  2  10.00  20.00\nSail  3  30.00  90.00\nZzub  110.00\n", 110.0),
        ("Oar  2  10.00  20.00\nSail  3  30.00  90.00\nZzub 9 %  110.00\n", None),  # before a tax, perhaps
    ],
)
def test_without_a_label_the_total_is_the_only_amount_or_the_sum_of_the_rows(
    text: str, total: float | None
) -> None:
    assert amounts(text)[2] == total
