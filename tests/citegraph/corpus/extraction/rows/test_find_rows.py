"""Rows of tables are found beneath heads of many shapes, in e-invoices and on till slips; sums and products prove them."""

from datetime import date
from typing import Any

import pytest

from citegraph.corpus.extraction.engine import Source, extract
from citegraph.corpus.records.extracted.found import FoundRow
from citegraph.corpus.schema.bucket import load_buckets, show
from citegraph.corpus.schema.document import Page

INVOICES = load_buckets()["invoices"]
TODAY = date(2026, 3, 1)


def rows(text: str, embedded: tuple[bytes, ...] = ()) -> tuple[FoundRow, ...]:
    return extract(INVOICES, Source(text, embedded=embedded, today=TODAY)).rows


def said(found: tuple[FoundRow, ...], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(show(row.values[name]) if name in row.values else None for name in names) for row in found]


WIDE = """Invoice 4711
Item                         Qty      Unit price        Amount
Anchor chain 8 mm              3          12.50          37.50
Mooring line, braided,         2          41.00          82.00
 polyester, 14 mm
Delivery                                                  9.90

Subtotal                                                129.40
VAT 20 %                                                 25.88
Total                                                   155.28
Notes       second table       9.00       9.00
"""
BARS = """# Rechnung 88
Pos Bezeichnung | Menge Einheit | Einzelpreis | Gesamtpreis
--- | --- | --- | ---
1 Tauwerk | 10 m | 2,40 | 24,00 EUR
2 Schäkel | 4 Stk | 3,00 | 12,00 EUR
Summe netto | | | 36,00 EUR
MwSt 19 % auf 36,00 | | | 6,84 EUR
Gesamtbetrag | | | 42,84 EUR
"""
OUTER = """| Article n° | Désignation | Qté | P.U. | Montant HT |
|---|---|---|---|---|
| B-1 | Bouée | 2 | 30,00 € | 60,00 € |
| P-7 | Pose | 1 | 45,00 € | 45,00 € |
| Total HT | | | | 105,00 € |
"""
TILL = """CORNER CHANDLERY
2 Rope hooks 7.98
Paint brush   4.50
Sub-Total  12.48
Tax 1.00
TOTAL 13.48
Cash 20.00
Change 6.52
"""
PRICED = """Fattura 9
| Descrizione | Prezzo |
|---|---|
| Rigging | 30,00 € |
| Varnish | 12,50 € |
| Totale | 42,50 € |
"""


@pytest.mark.parametrize(
    ("text", "expected", "least"),
    [
        (
            WIDE,
            [
                ("Anchor chain 8 mm", "3.0", "12.5", "37.5"),
                ("Mooring line, braided polyester, 14 mm", "2.0", "41", "82"),
                ("Delivery", None, None, "9.9"),
            ],
            0.9,
        ),
        (BARS, [("Tauwerk", "10.0", "2.4 EUR", "24 EUR"), ("Schäkel", "4.0", "3 EUR", "12 EUR")], 0.9),
        (OUTER, [("Bouée", "2.0", "30 EUR", "60 EUR"), ("Pose", "1.0", "45 EUR", "45 EUR")], 0.9),
        (TILL, [("Rope hooks", "2.0", None, "7.98"), ("Paint brush", None, None, "4.5")], 0.9),
        (PRICED, [("Rigging", None, None, "30 EUR"), ("Varnish", None, None, "12.5 EUR")], 0.95),
        (PRICED.replace("42,50", "50,00"), [("Rigging", None, "30 EUR", None), ("Varnish", None, "12.5 EUR", None)], 0.5),
    ],
)  # fmt: skip
def test_the_lines_of_an_invoice(text: str, expected: list[tuple[Any, ...]], least: float) -> None:
    found = rows(text)
    assert said(found, "description", "quantity", "unit_price", "amount") == expected
    assert all(row.confidence >= least for row in found)
    assert all(text[row.start : row.end].strip() for row in found)


def test_amounts_of_a_credit_note_are_negative() -> None:
    found = extract(INVOICES, Source("Credit note 12\n" + WIDE.replace("Invoice 4711\n", ""), today=TODAY))
    assert [show(row.values["amount"]) for row in found.rows] == ["-37.5", "-82", "-9.9"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Item and amount are named in this sentence, but no table follows.",
        "Description        Amount\nThe goods of this contract are described below, at length and without a price.",
        "Name    Town\nAnna    Bremen\nBob     Kiel",
        TILL.replace("12.48", "15.00"),
    ],
)
def test_what_is_no_table_of_lines_gives_none(text: str) -> None:
    assert rows(text) == ()


UBL = b"""<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
 xmlns:c="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"
 xmlns:a="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2">
<c:ID>1</c:ID><c:DocumentCurrencyCode>EUR</c:DocumentCurrencyCode>
<a:InvoiceLine><c:ID>1</c:ID><c:InvoicedQuantity unitCode="H87">4</c:InvoicedQuantity>
<c:LineExtensionAmount currencyID="EUR">20.00</c:LineExtensionAmount><a:Item><c:Name>Fender</c:Name></a:Item>
<a:Price><c:PriceAmount currencyID="EUR">5.00</c:PriceAmount></a:Price></a:InvoiceLine></Invoice>"""
CII = b"""<CrossIndustryInvoice><ExchangedDocument><ID>7</ID></ExchangedDocument><SupplyChainTradeTransaction>
<IncludedSupplyChainTradeLineItem><SpecifiedTradeProduct><Name>Buoy</Name></SpecifiedTradeProduct>
<SpecifiedLineTradeAgreement><NetPriceProductTradePrice><ChargeAmount>8.5</ChargeAmount></NetPriceProductTradePrice>
</SpecifiedLineTradeAgreement><SpecifiedLineTradeDelivery><BilledQuantity unitCode="C62">2</BilledQuantity>
</SpecifiedLineTradeDelivery><SpecifiedLineTradeSettlement><SpecifiedTradeSettlementLineMonetarySummation>
<LineTotalAmount>17.00</LineTotalAmount></SpecifiedTradeSettlementLineMonetarySummation>
</SpecifiedLineTradeSettlement></IncludedSupplyChainTradeLineItem><ApplicableHeaderTradeSettlement>
<InvoiceCurrencyCode>CHF</InvoiceCurrencyCode></ApplicableHeaderTradeSettlement></SupplyChainTradeTransaction>
</CrossIndustryInvoice>"""


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (UBL, ("Fender", "4.0", "H87", "5 EUR", "20 EUR")),
        (CII, ("Buoy", "2.0", "C62", "8.5 CHF", "17 CHF")),
    ],
)
def test_the_lines_of_an_electronic_invoice_go_before_the_printed_ones(
    data: bytes, expected: tuple[str, ...]
) -> None:
    found = rows(WIDE, (data,))
    assert said(found, "description", "quantity", "unit", "unit_price", "amount") == [expected]
    assert (found[0].confidence, found[0].start) == (0.99, None)
    held = extract(INVOICES, Source(WIDE, embedded=(data,), today=TODAY)).fields["line_items"]
    assert held.best.value == (expected[0],)


def test_two_heads_of_a_price_and_a_head_of_numbers() -> None:
    text = """Invoice 4712
Item #   Ordered item            Quantity    Unit price      Price
1        Anchor chain 8 mm              3         12.50      37.50
2        Mooring line                   2         41.00      82.00

Total                                                       119.50
"""
    found = said(rows(text), "description", "unit_price", "amount")
    assert found == [("Anchor chain 8 mm", "12.5", "37.5"), ("Mooring line", "41", "82")]


def test_a_label_with_its_currency_in_brackets() -> None:
    fields = extract(INVOICES, Source("Invoice No: K-7\nTotal Due ($)\n65.33\n", today=TODAY)).fields
    assert show(fields["total_amount"].best.value).startswith("65.33")


HEADS = [
    (
        "a factor that no head names",
        """Nr  Produkt             Menge   Einzel      Gesamt
1   Ankerkette              3    12.50       37.50
2   Festmacher              1    41.00       41.00
Summe                                        78.50
""",
        [("Ankerkette", "3.0", "12.5", "37.5"), ("Festmacher", "1.0", "41", "41")],
    ),
    (
        "two heads in one cell, two columns of words, and a last head of its own name",
        """Artikel        Beschreibung           Menge Einzelpreis     Rabatt     Endwert
Kette          verzinkt, 8 mm           3       € 12,50     € 2,50     € 35,00
Leine          geflochten               2       € 41,00     € 2,00     € 80,00
""",
        [("Kette verzinkt, 8 mm", "3.0", "12.5 EUR", "35 EUR"), ("Leine geflochten", "2.0", "41 EUR", "80 EUR")],
    ),
    (
        "what stands further left goes on with nothing",
        """                Description      Quantity   Unit price     Total
Service 1       Rigging                 2       100.00    200.00
Service 2
Service 3
""",
        [("Rigging", "2.0", "100", "200")],
    ),
    (
        "sums beside a table of rates are no rows",
        """Désignation         Quantité    Prix HT     Total HT
Bouée                      1       4,80         4,80
Pose                       1       7,50         7,50
 5,50     0,00                Total HT          12,30
20,00     2,46                Montant TVA        2,46
                              Total TTC         14,76
""",
        [("Bouée", "1.0", "4.8", "4.8"), ("Pose", "1.0", "7.5", "7.5")],
    ),
    (
        "whole units in groups are amounts",
        """Réf | Désignation | PU | Qté | PT
A-1 | Antenne | 1 450 000 | 2 pièces | 2 900 000
A-2 | Pose | 150 000 | 3 jours | 450 000
""",
        [("Antenne", "2.0", "1450000", "2900000"), ("Pose", "3.0", "150000", "450000")],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in HEADS], ids=[case[0] for case in HEADS])
def test_heads_of_other_shapes(text: str, expected: list[tuple[Any, ...]]) -> None:
    assert said(rows(text), "description", "quantity", "unit_price", "amount") == expected


def test_an_amount_in_a_row_is_none_of_the_invoice() -> None:
    text = """Item            Qty    Price   Tax     Amount
Anchor            2    12.50   5.00     30.00
Rope              1    10.00   2.00     12.00
Total weight: 0.00
Total                                   42.00
"""
    found = extract(INVOICES, Source(text, today=TODAY)).fields
    assert show(found["total_amount"].best.value) == "42"
    assert "tax_amount" not in found


def test_the_rows_of_an_original_and_its_copies_count_once() -> None:
    pages = tuple(Page(number, len(OUTER) * (number - 1), len(OUTER) * number) for number in (1, 2, 3))
    found = extract(INVOICES, Source(3 * OUTER, pages=pages, today=TODAY)).rows
    assert said(found, "description") == [("Bouée",), ("Pose",)]
    assert {row.page for row in found} == {1}
