"""Amounts of bills as strangers print them: bases of a tax, earlier balances, what was paid, cells without cents."""

from datetime import date
from pathlib import Path

import pytest

from citegraph.corpus.extraction.engine import Source, extract
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.corpus.schema.values import derive_values
from citegraph.language.amounts import Money

INVOICES = load_buckets(Path("buckets"))["invoices"]
HEAD = "Oakmere Paper Ltd\nInvoice No: {number}\nInvoice date: 2024-05-02\nBill to: Lindgard Boats AB\n\n"


def found(text: str, number: str = "OP-7") -> dict[str, str]:
    """Return the values of a bill, amounts as "12.5 EUR"."""
    fields = extract(INVOICES, Source(HEAD.format(number=number) + text, (), [], date(2026, 1, 1))).fields
    values = {name: item.best.value for name, item in fields.items() if item.confidence >= 0.5}
    return {
        name: f"{value.amount:f} {value.currency}" if isinstance(value, Money) else str(value)
        for name, value in values.items()
    }


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Net 300.00\nVAT @ 20% of 300.00 = 60.00\nTotal GBP 360.00", "60 GBP"),
        ("Net | 300\nVAT 20% on 300.00 | 60\nTotal EUR | 360", "60 EUR"),
        ("Total HT 300,00 €\nTVA 20 % sur 300,00 €   60,00 €\nTotal TTC 360,00 €", "60 EUR"),
        ("Subtotaal € 300,00\nBTW 21% over € 300,00 | € 63,00\nTotaal incl. BTW € 363,00", "63 EUR"),
        ("Netto 300,00 SEK\nMoms 25 % av 300,00: 75,00 SEK\nAtt betala 375,00 SEK", "75 SEK"),
        ("Taxable value Rs. 3,00,000.00\nIGST 18% Rs. 54,000.00\nGrand Total Rs. 3,54,000.00", "54000 INR"),
        ("19 % | 300,00 | 57,00\nNetto 300,00 EUR\nMwSt 19 % 57,00 EUR\nGesamtbetrag 357,00 EUR", "57 EUR"),
    ],
)
def test_a_tax_is_not_its_base(text: str, wanted: str) -> None:
    assert found(text)["tax_amount"] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "Total for this bill GBP 90.00\nTotal amount due GBP 140.00",
            {"total_amount": "90 GBP", "amount_due": "140 GBP"},
        ),
        (
            "Invoice total GBP 90.00\nDeposit paid 3 March 2024  GBP 40.00\nOutstanding GBP 50.00",
            {"total_amount": "90 GBP", "paid_amount": "40 GBP", "amount_due": "50 GBP"},
        ),
        (
            "TOTAL $90.00\nPAST DUE $10.00\nPLEASE PAY $100.00",
            {"total_amount": "90 USD", "previous_balance": "10 USD", "amount_due": "100 USD"},
        ),
        ("Description | Amount EUR\nSlabs | 90\nTotal | 90", {"total_amount": "90 EUR"}),
        ("Credit total: $90.00", {"total_amount": "90 USD"}),
    ],
)
def test_a_total_is_neither_due_nor_paid(text: str, wanted: dict[str, str]) -> None:
    assert {name: found(text).get(name) for name in wanted} == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("# Sheet1\n\nSeller | Oakmere Paper Ltd\nInvoice number | 12", "Oakmere Paper Ltd"),
        ("Seller | Oakmere Paper Ltd\nInvoice number | 12\nCurrency | GBP\nNet | 400", "Oakmere Paper Ltd"),
        ("| Seller | Oakmere Paper Ltd |\n| Buyer | Lindgard Boats AB |", "Oakmere Paper Ltd"),
    ],
)
def test_a_label_in_a_table_names_the_seller(text: str, wanted: str) -> None:
    fields = extract(INVOICES, Source(text, (), [], date(2026, 1, 1))).fields
    assert fields["vendor_name"].best.value == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("CREDIT NOTE\nOakmere Paper Ltd", "credit note"),
        ("Oakmere Paper Ltd\nSales Credit Memo CM-4\nInvoice OP-7", "credit note"),
        ("Gutschrift vom 20.02.2024 zu Rechnung 17", "credit note"),
        ("Oakmere Paper Ltd    Facture d'avoir N° 4\nFacture 17", "credit note"),
        ("INVOICE\nPlease note: a credit note will follow for two crates.", "invoice"),
        ("INVOICE\nThe credit note for May was sent to you.", "invoice"),
        ("INVOICE\nThe credit note for invoice 12 was sent to you.", "invoice"),
        ("Rechnung 4\nEine Gutschrift ist nicht möglich.", "invoice"),
    ],
)
def test_a_credit_note_is_one_by_its_heading(text: str, wanted: str) -> None:
    assert derive_values(INVOICES, {}, text)["document_type"] == wanted
