"""The seller and the buyer of an invoice, told apart by what is near their names."""

from pathlib import Path

import pytest
import yaml

from citegraph.corpus.extraction.engine import extract_document
from citegraph.corpus.extraction.invoice_parties.seller_and_buyer import Named, find_trade_parties
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.corpus.schema.document import Document


def names(text: str) -> tuple[str | None, str | None]:
    seller, buyer = find_trade_parties(text)
    return (seller.text if seller else None, buyer.text if buyer else None)


WINDOW = """
Ulmen Werke - Ulmenweg 4 - 50667 Köln

Herr
Jonas Albrecht
Hafenstraße 12
28195 Bremen

                    Rechnung 17
"""
LABELLED = """
Lieferant:                        Rechnungsempfänger:
GLN 4000001                       GLN 4000002
Kiesel GmbH                       Sand und Stein AG Mitte
Steinweg 1                        Am Kai 3
80333 München                     69001 Heidelberg
"""
REGISTERED = """
Facture 12
Marc Lefort
12 rue des Lilas
69003 Lyon

       Total TTC     12,00 €

       ATELIER DU LAC
       Siège social : 1 quai du Lac - 74000 Annecy - RCS Annecy 123
"""
FORM = """
Verkäufer
   Nummer:        1122
   Name:          Torf & Moor
   Anschrift:     Moorweg 3
                  DE 12345 Moorstadt

Käufer/Leistungsempfänger
   Nummer:        99
   Name:          Lisa Lenz
   Anschrift:     Lenzweg 9
                  DE 12346 Lenzstadt
"""
SITE = """
                                      Large Buyer Inc
Pebble Traders
1 Beach Road
Fremont CA 94538

Total 12.00                     www.pebble-traders.com
"""


@pytest.mark.parametrize(
    ("text", "seller", "buyer"),
    [
        (WINDOW, "Ulmen Werke", "Jonas Albrecht"),
        (LABELLED, "Kiesel GmbH", "Sand und Stein AG Mitte"),
        (REGISTERED, "ATELIER DU LAC", "Marc Lefort"),
        (FORM, "Torf & Moor", "Lisa Lenz"),
        (SITE, "Pebble Traders", "Large Buyer Inc"),
        ("Total 12.00\n03.04.2024", None, None),
    ],
)
def test_who_sells_and_who_buys(text: str, seller: str | None, buyer: str | None) -> None:
    assert names(text) == (seller, buyer)


def test_more_signs_are_more_confidence() -> None:
    one, _ = find_trade_parties(REGISTERED)
    more, _ = find_trade_parties(LABELLED)
    assert one is not None
    assert more is not None
    assert one.confidence < more.confidence == 0.85


def test_an_address_of_delivery_counts_less_than_another() -> None:
    text = """
Ship to                             Mia Kern
Depot North                         Ring 4
Dock 7                              50667 Köln
50668 Köln
"""
    assert names(text)[1] == "Mia Kern"


def test_the_head_of_a_receipt_alone_is_as_sure_as_it_reads() -> None:
    seller, buyer = find_trade_parties("ELM TRADING LTD\nTAX INVOICE\nTotal: 48.00\n")
    assert (seller, buyer) == (Named(((0, 15),), "ELM TRADING LTD", 0.85), None)


@pytest.mark.parametrize(
    ("text", "seller", "buyer"),
    [
        ("Sold by: Elm Audio Ltd\nBill to: Jane Roe\n", "Elm Audio Ltd", "Jane Roe"),
        ("De :\nFoyer Lambert\nA :\nMaison Petit\n", "Foyer Lambert", "Maison Petit"),
        ("Cheques should be made payable to Elm Surveyors LLP. Terms: 14 days.\n", "Elm Surveyors LLP", None),
        ("Eaux du Lac - Société anonyme au capital de 10 000 €\n", "Eaux du Lac", None),
        ("Private & Confidential\nMr and Mrs D. Ash\nThe Forge\nBD23 5LQ\n", None, "D. Ash"),
    ],
)
def test_labels_and_sentences_name_a_party_without_an_address(
    text: str, seller: str | None, buyer: str | None
) -> None:
    found = names(text)
    assert (found[0] if seller else None, found[1] if buyer else None) == (seller, buyer)


def test_a_brand_speaks_for_the_company_whose_name_begins_with_it() -> None:
    text = "Kiesel\nInvoice 12\n\nKiesel Handels GmbH - HRB 17 - www.kiesel.example\n"
    assert names(text)[0] == "Kiesel Handels GmbH"


LAYOUTS: dict[str, dict[str, str]] = yaml.safe_load(
    (Path(__file__).parents[1] / "invented" / "parties.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_parties_of_invoices_from_many_countries(layout: str) -> None:
    printed = LAYOUTS[layout]
    assert names(printed["text"]) == (printed["seller"], printed["buyer"])


def test_the_foot_of_the_last_page_names_the_company_where_the_first_has_only_a_brand() -> None:
    first = "Sparkle\nInvoice 12\nMs Ada Quist\n4 Lake Road\nDerby DE1 2AB\nTotal 12.00\n"
    last = (
        "Terms\nLumentra Trading Ltd - Registered in England No. 1122334. Registered office: 4 Mill Street\n"
    )
    seller, buyer = find_trade_parties(f"{first}\fMore items\n\f{last}")
    assert seller is not None
    assert (seller.text, buyer and buyer.text) == ("Lumentra Trading Ltd", "Ada Quist")
    assert f"{first}\fMore items\n\f{last}"[slice(*seller.pieces[0])] == "Lumentra Trading Ltd"


def test_a_name_over_two_lines_is_one_value_with_the_place_of_both() -> None:
    text = LAYOUTS["form_wrap2"]["text"]
    found = extract_document(load_buckets()["invoices"], Document("d", "invoices", text, "d", ""))
    best = found.fields["vendor_name"].best
    assert best.value == LAYOUTS["form_wrap2"]["seller"]
    assert text[best.start : best.end] == "Kuratorium für Waldarbeit\nund Forsttechnik e.V."


def test_the_address_in_the_window_is_the_buyers_whatever_address_comes_first() -> None:
    text = """Depot Nord
Hafenweg 9
20457 Hamburg

Ulmenhof GmbH - Ring 4 - 50667 Köln
Mia Kern
Lindenweg 3
10115 Berlin

Rechnung 17
"""
    assert names(text) == ("Ulmenhof GmbH", "Mia Kern")
