"""Rows are found by what their numbers do where no head is known: products, and amounts that add up."""

from decimal import Decimal

import pytest

from citegraph.corpus.extraction.rows.by_sums import Proof, proved_rows
from citegraph.corpus.extraction.rows.grid import grid_lines


def proof(text: str, *known: str) -> Proof | None:
    return proved_rows(list(grid_lines(text)), [Decimal(one) for one in known])


def said(found: Proof | None) -> list[tuple[str, str | None, str | None, str]]:
    """Return description, quantity, price and amount of each row."""
    return [
        (
            row.text,
            None if row.quantity is None else f"{row.quantity.normalize():f}",
            None if row.price is None else f"{row.price:f}",
            f"{row.amount:f}",
        )
        for row in (found.rows if found else ())
    ]


UNKNOWN_HEADS = """
  Tétel                            Db     Egységár     ÁFA       Érték
  Horgonylánc, 8 mm                 3        12.50     27%       37.50
     tűzihorganyzott
  Kötél fonott                      2        41.00     27%       82.00
  Összesen                                                      119.50
"""
QUANTITY_LAST = """
 Kabel 5 m grün              4,00 €     3     12,00 €
 Stecker Typ F              1,250 €    10     12,50 €
"""
ONE_BLANK = """
 1 Netflix Premium TG546 23.99 23.99
 2 Music Family GHT55 5.00 10.00
 Subtotal 33.99
"""
SPACED = """
 Lp  Nazwa                  Cena      Ilość  Stawka   Wartość
 1   usługa pierwsza    10 120,00         2    23 %   20 240,00
 2   usługa druga          795,00         1    23 %      795,00
 Razem                                            21 035,00
"""
DISCOUNT = """
 Lampa stojąca        2     50.00     100.00
 Rabat lojalnościowy                  -10.00
 Żarówka              5      4.00      20.00
 Suma                                 110.00
"""
LOWER = """
 Pos  Beschreibung        Preis    Menge
 1    Massage             26,00    10
                                              260,00
 2    Hausbesuch          12,00    10
                                              120,00
"""


@pytest.mark.parametrize(
    ("text", "rows", "summed"),
    [
        (
            UNKNOWN_HEADS,
            [
                ("Horgonylánc, 8 mm tűzihorganyzott", "3", "12.50", "37.50"),
                ("Kötél fonott", "2", "41.00", "82.00"),
            ],
            True,
        ),
        (
            QUANTITY_LAST,
            [("Kabel 5 m grün", "3", "4.00", "12.00"), ("Stecker Typ F", "10", "1.250", "12.50")],
            False,
        ),
        (
            ONE_BLANK,
            [("Netflix Premium TG546", "1", "23.99", "23.99"), ("Music Family GHT55", "2", "5.00", "10.00")],
            True,
        ),
        (
            SPACED,
            [("usługa pierwsza", "2", "10120.00", "20240.00"), ("usługa druga", "1", "795.00", "795.00")],
            True,
        ),
        (
            DISCOUNT,
            [
                ("Lampa stojąca", "2", "50.00", "100.00"),
                ("Rabat lojalnościowy", None, None, "-10.00"),
                ("Żarówka", "5", "4.00", "20.00"),
            ],
            True,
        ),
        (LOWER, [("Massage", "10", "26.00", "260.00"), ("Hausbesuch", "10", "12.00", "120.00")], False),
    ],
)
def test_rows_multiply(text: str, rows: list[tuple[str, str | None, str | None, str]], summed: bool) -> None:
    found = proof(text, "110.00")
    assert said(found) == rows
    assert found is not None
    assert found.summed == summed


def test_a_row_may_begin_above_the_line_of_its_amount() -> None:
    text = """
  86 m   Segel waschen und trocknen,
         zweimal gespült                  à  9,80 €     842,80 €
  14 h   Auf- und abtakeln                à 46,00 €     644,00 €
         Zwischensumme                                1.486,80 €
"""
    assert said(proof(text, "1486.80")) == [
        ("m Segel waschen und trocknen, zweimal gespült", "86", "9.80", "842.80"),
        ("Auf- und abtakeln", "14", "46.00", "644.00"),
    ]
    assert proof("Kai 86\n  Miete    9,80 €   842,80 €\n") is None


def test_amounts_alone_are_rows_when_their_known_sum_stands_below() -> None:
    text = " Marathon entry     45.00\n Shirt              20.00\n Pagado             65.00\n"
    assert said(proof(text, "65")) == [
        ("Marathon entry", None, None, "45.00"),
        ("Shirt", None, None, "20.00"),
    ]
    assert proof(text) is None


def test_net_and_tax_are_no_rows_though_they_add_up() -> None:
    import re

    text = " Net amount       100.00\n VAT 20%           20.00\n Total            120.00\n"
    ends = re.compile(r"\W*(?:net amount|total|vat)")
    assert proved_rows(list(grid_lines(text)), [Decimal(120), Decimal(100)], ends) is None


@pytest.mark.parametrize(
    "text",
    [
        "Room 12 is 3 by 4 metres\n",
        " Call 1 2 2 times\n 5 May 2024   1 of 2\n",
        " Deposit   1    50.00    50.00\n",  # one row, one of: a label beside a sum looks the same
    ],
)
def test_numbers_that_prove_nothing_are_no_rows(text: str) -> None:
    assert proof(text) is None


def test_words_above_the_numbers_are_those_of_the_row_below_where_its_number_or_its_unit_says_so() -> None:
    text = """
  1 Copper pipe, bent
    twice                  3   7 410.50    22 231.50
  2 Valve seat
    ground                15     357.10     5 356.50
"""
    assert [name for name, *_ in said(proof(text))] == ["Copper pipe, bent twice", "Valve seat ground"]
    text = """
    Csap
                          10 db      5 900 Ft      59 000 Ft
    Toll
                           2 db      9 900 Ft      19 800 Ft
"""
    assert said(proof(text)) == [("Csap", "10", "5900", "59000"), ("Toll", "2", "9900", "19800")]


def test_a_quantity_may_have_a_sign_of_times_before_it() -> None:
    text = " Pencil x6 - R$6.50 (all: R$39.00)\n Rubber x4 - R$3.00 (all: R$12.00)\n"
    assert [row[1:] for row in said(proof(text))] == [("6", "6.50", "39.00"), ("4", "3.00", "12.00")]


WITH_TAX = """
 Lp  Nazwa       Ilość   Cena netto   Cena brutto   VAT   Netto    Brutto
 1   lina            2        10,00         12,30   23%   20,00     24,60
 2   bloczek         3         5,00          6,15   23%   15,00     18,45
"""


@pytest.mark.parametrize(("known", "price"), [("35.00", "10.00"), ("43.05", "12.30")])
def test_of_prices_with_tax_and_without_those_count_that_add_up(known: str, price: str) -> None:
    found = proof(WITH_TAX, known)
    assert found is not None
    assert f"{found.rows[0].price:f}" == price


@pytest.mark.parametrize(
    ("text", "known", "rows"),
    [
        # What a rate takes off is printed in the line or below it.
        (
            " Tau, blau     4    10.00    36.00\n   less 10%\n Kette         1    20.00    18.00   10%\n",
            "54",
            [("Tau, blau less 10%", "4", "10.00", "36.00"), ("Kette", "1", "20.00", "18.00")],
        ),
        # Quantity and price stand a line higher than the amount.
        (
            "                        3   12,25\n Segeltuch        0,00 TL            36,75 TL\n"
            "                        2    4,10\n Garn             0,00 TL             8,20 TL\n",
            "44.95",
            [("Segeltuch", "3", "12.25", "36.75"), ("Garn", "2", "4.10", "8.20")],
        ),
        # Nobody printed the products, nor that they are money.
        (" Garn   1   7000\n Nadel   10   300\n", "10000", [("Garn", "1", "7000"), ("Nadel", "10", "300")]),
        (
            " 5   mts   ak4   4000.0   20000.0\n 2   mts   bo7   50.0   100.0\n",
            "20100",
            [("ak4", "5", "4000.0", "20000.0"), ("bo7", "2", "50.0", "100.0")],
        ),
        (" Anlage   ¥900,000   set   ¥900,000\n", "900000", [("Anlage", "1", "900000", "900000")]),
        (
            " 12   Brot   20.40\n  3   Kuchen   24.00\n",
            "44.40",
            [("Brot", "12", None, "20.40"), ("Kuchen", "3", None, "24.00")],
        ),
    ],
)
def test_rows_are_proved_by_a_known_sum(text: str, known: str, rows: list[tuple[str | None, ...]]) -> None:
    found = proof(text, known)
    assert found is not None
    assert found.summed
    values = [
        (row.text, *(None if one is None else f"{one:f}" for one in (row.quantity, row.price, row.amount)))
        for row in found.rows
    ]
    assert [one[: len(row)] for one, row in zip(values, rows, strict=True)] == rows


def test_a_price_of_another_line_cuts_nothing_out_of_the_words() -> None:
    text = "Tallow Clocks Ltd\n\n1 Mantel Clock Aldern $30.00\nSub-Total $30.00\nTax $2.40\nTotal $32.40\n"
    assert [row[0] for row in said(proof(text, "30.00"))] == ["Mantel Clock Aldern"]
