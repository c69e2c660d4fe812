"""Where values stand: beside and beneath labels, in heads, in the openings of contracts, in embedded data."""

from datetime import date
from functools import partial
from typing import Any

import pytest

from citegraph.corpus.extraction.contract_parties import find_parties
from citegraph.corpus.extraction.document_head import find_organization, find_title
from citegraph.corpus.extraction.einvoice import read_einvoice
from citegraph.corpus.extraction.in_text import find_typed
from citegraph.corpus.extraction.labelled.labels import beside
from citegraph.corpus.extraction.properties import front_matter, look_up
from citegraph.corpus.schema.field import ExtractRule, Field


def labelled(text: str, kind: Any = "keyword", **rule: Any) -> list[tuple[int, str]]:
    declared = Field(name="value", type=kind, description="")
    find = partial(find_typed, declared, today=date(2026, 1, 1), order="DMY")
    return [
        (order, text[found.start : found.end]) for order, found in beside(text, ExtractRule(**rule), find)
    ]


def test_a_value_beside_its_label_the_surest_label_first() -> None:
    text = "Total: 9.00\nGrand Total   12.00\nTotal qty 3.00\n"
    rule = {"labels": ["grand total", "total"], "unless": r"\bqty\b"}
    assert labelled(text, "money", **rule) == [(0, "12.00"), (1, "9.00")]


def test_a_value_beneath_its_label_in_the_nearest_column() -> None:
    text = "Invoice Date     Due Date\n03/03/2023       04/04/2023\n"
    assert labelled(text, "date", labels=["due date"]) == [(1, "04/04/2023")]
    assert labelled(text, "date", labels=["invoice date"]) == [(1, "03/03/2023")]


def test_what_stands_beside_a_label_goes_before_what_stands_beneath_one() -> None:
    text = "Total          Paid\n10.00          4.00\nAmount payable  14.00\n"
    assert labelled(text, "money", labels=["total", "amount payable"]) == [(2, "10.00"), (1, "14.00")]


def test_every_value_of_a_row_and_of_a_column_when_asked() -> None:
    text = "VAT 19%   100.00   19.00\n  Total\n  1.00\n  2.00\n"
    declared = Field(name="value", type="money", description="")
    find = partial(find_typed, declared, today=date(2026, 1, 1), order="DMY")
    found = beside(text, ExtractRule(labels=("vat", "total")), find, every=True)
    assert [(rank, item.raw) for rank, item in found] == [
        (0, "100.00"),
        (0, "19.00"),
        (3, "1.00"),
        (3, "2.00"),
    ]


def test_the_value_of_another_label_beneath_is_passed_over() -> None:
    text = "Terms                Due\nTerms: cash          03/10/2018\n"
    assert labelled(text, "date", labels=["due"]) == [(1, "03/10/2018")]
    assert labelled("Client\nNumber:    Elm\n", labels=["client"]) == []


def test_a_sign_belongs_to_the_amount_and_a_wide_gap_is_no_distance() -> None:
    assert labelled("Net: -7,67", "money", labels=["net"]) == [(0, "-7,67")]
    assert labelled("Net" + " " * 90 + "7,67", "money", labels=["net"]) == [(0, "7,67")]


def test_a_label_is_no_half_of_a_label() -> None:
    assert labelled("Buyer/Consignee\nElm Works\n", labels=["buyer"]) == []
    assert labelled("Buyer/Consignee. Elm Works", labels=["buyer"], prose=True) == [
        (0, "/Consignee. Elm Works")
    ]


def test_a_value_nearer_to_another_label_of_the_line_is_that_ones() -> None:
    text = "Item         Tax        Amount\nOak board               14.00\n"
    assert labelled(text, "money", labels=["tax"]) == []
    assert labelled(text, "money", labels=["amount"]) == [(1, "14.00")]


def test_a_value_beside_another_label_is_that_ones() -> None:
    assert labelled("Due      Date: 03.03.2023\n", "date", labels=["due"]) == []
    assert labelled("Due      03.03.2023\n", "date", labels=["due"]) == [(0, "03.03.2023")]


def test_a_rate_may_stand_before_the_name_of_a_tax() -> None:
    assert labelled("  zzgl. 19,00 % MwSt.   19,00\n", "money", labels=["mwst"]) == [(0, "19,00")]
    assert labelled(" Date   03.03.2023\n", "date", labels=["date"]) == [(0, "03.03.2023")]


def test_a_sentence_beneath_a_label_is_no_value() -> None:
    text = "Due\n\nPayable within 30 days, that is until 04/07/2018, less 3 % until 15/06/2018\n"
    assert labelled(text, "date", labels=["due"]) == []


def test_a_block_beneath_a_label_gives_its_name() -> None:
    text = "Seller\n\n Number:   549910\n Name:     Elm Works GmbH\n Address:  High Street 1\n"
    assert labelled(text, labels=["seller"]) == [(1, "Elm Works GmbH")]


def test_a_label_inside_a_sentence_counts_in_prose_only() -> None:
    text = "This contract shall expire\ntwo (2) years from the date hereof."
    rule = {"labels": ["expire"], "then": r"\s+from\b"}
    declared = Field(name="term", type="quantity", unit="year", description="")
    find = partial(find_typed, declared, today=date(2026, 1, 1), order="DMY")
    assert list(beside(text, ExtractRule(**rule), find)) == []  # type: ignore[arg-type]
    found = list(beside(text, ExtractRule(**rule, prose=True), find))  # type: ignore[arg-type]
    assert [text[item.start : item.end] for _, item in found] == ["two (2) years"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("NORTHSEA SUPPLIES LTD\n12 Harbour Road\nTAX INVOICE\n", "NORTHSEA SUPPLIES LTD"),
        (
            "JANE DOE\nALMOND HARDWARE\nENTERPRISE (OLD\nTOWN) SDN BHD\n822737-X\n",
            "ALMOND HARDWARE\nENTERPRISE (OLD\nTOWN) SDN BHD",
        ),
        ("3 180048\nOAK PETROL TRADING\nCOMPANY NO: 1234\nRECEIPT\n", "OAK PETROL TRADING"),
        ("TEL: 03-123\nGREEN FERN\nTAX INVOICE\nBILL TO: OTHER GMBH\n", "GREEN FERN"),
        ("9 SPEEDY SHOP S/B (519537-X)\nLOT 1, JALAN 2\nINVOICE NO: 3\n", "9 SPEEDY SHOP S/B"),
        (
            "Northwind Cloud Hosting Tax Invoice\nWrite to us about your plan or bill at any time of day\n",
            "Northwind Cloud Hosting",
        ),
        ("Amber Web Services Invoice\n12345\n", "Amber Web Services"),
    ],
)
def test_the_organisation_that_heads_a_document(text: str, name: str) -> None:
    found = find_organization(text)
    assert found is not None
    assert text[found[0] : found[1]] == name


def test_the_head_of_a_page_is_read_cell_by_cell() -> None:
    text = "ELM CO. (M) BHD (1-H)        Page note\nMON-SUN: 1000 HRS - 2200 HRS\n"
    found = find_organization(text)
    assert found is not None
    assert text[found[0] : found[1]] == "ELM CO. (M) BHD"


@pytest.mark.parametrize(
    "text",
    [
        "12345\nTel: 99\n",
        "Service Invoice\n12345\n",  # a kind of invoice is nobody
        "Tax Invoice\nPlease write to us about your plan or bill at any time\n",  # nor is a sentence
    ],
)
def test_no_organisation_in_a_head_without_names(text: str) -> None:
    assert find_organization(text) is None


def test_a_title_is_short_and_no_exhibit() -> None:
    text = "Exhibit 10.1\nLICENCE TERMS\nThis paper is made on 3 May.\n"
    found = find_title(text)
    assert found is not None
    assert text[found[0] : found[1]] == "LICENCE TERMS"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            'This Agreement is by and between Elm Corp., a Nevada corporation ("Elm"), and Oak & Sons, L.P. ("Oak"). WHEREAS',
            ["Elm Corp.", "Oak & Sons, L.P."],
        ),
        (
            "entered into between Jane B. Roe and Fir Holdings, Inc. The parties agree",
            ["Jane B. Roe", "Fir Holdings, Inc."],
        ),
        ("A dispute between the parties and their counsel", []),
    ],
)
def test_parties_of_an_opening(text: str, names: list[str]) -> None:
    parties = find_parties(text, ["by and between", "between"])
    assert [text[party.start : party.end] for party in parties] == names


CII = b"""<?xml version="1.0"?>
<rsm:CrossIndustryInvoice xmlns:rsm="urn:r" xmlns:ram="urn:a" xmlns:udt="urn:u">
 <rsm:ExchangedDocument><ram:ID>R-1</ram:ID><ram:TypeCode>380</ram:TypeCode>
  <ram:IssueDateTime><udt:DateTimeString format="102">20240305</udt:DateTimeString></ram:IssueDateTime></rsm:ExchangedDocument>
 <rsm:SupplyChainTradeTransaction>
  <ram:IncludedSupplyChainTradeLineItem><ram:SpecifiedTradeProduct><ram:Name>Rope</ram:Name></ram:SpecifiedTradeProduct></ram:IncludedSupplyChainTradeLineItem>
  <ram:ApplicableHeaderTradeAgreement><ram:SellerTradeParty><ram:Name>Elm GmbH</ram:Name>
   <ram:SpecifiedTaxRegistration><ram:ID schemeID="FC">1/2</ram:ID></ram:SpecifiedTaxRegistration>
   <ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">DE123456789</ram:ID></ram:SpecifiedTaxRegistration></ram:SellerTradeParty></ram:ApplicableHeaderTradeAgreement>
  <ram:ApplicableHeaderTradeSettlement><ram:InvoiceCurrencyCode>EUR</ram:InvoiceCurrencyCode>
   <ram:SpecifiedTradeSettlementHeaderMonetarySummation><ram:TaxTotalAmount currencyID="EUR">19.00</ram:TaxTotalAmount>
    <ram:TaxTotalAmount currencyID="GBP">16.00</ram:TaxTotalAmount><ram:GrandTotalAmount>119.00</ram:GrandTotalAmount>
   </ram:SpecifiedTradeSettlementHeaderMonetarySummation></ram:ApplicableHeaderTradeSettlement>
 </rsm:SupplyChainTradeTransaction></rsm:CrossIndustryInvoice>"""

UBL = b"""<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2" xmlns:c="urn:c">
 <c:ID>U-7</c:ID><c:IssueDate>2024-06-01</c:IssueDate><c:DocumentCurrencyCode>NOK</c:DocumentCurrencyCode>
 <c:AccountingSupplierParty><c:Party><c:PartyLegalEntity><c:RegistrationName>Fjord AS</c:RegistrationName></c:PartyLegalEntity></c:Party></c:AccountingSupplierParty>
 <c:LegalMonetaryTotal><c:TaxInclusiveAmount currencyID="NOK">125.00</c:TaxInclusiveAmount></c:LegalMonetaryTotal></Invoice>"""


def test_business_terms_of_cii() -> None:
    assert read_einvoice(CII) == {
        "BT-1": ["R-1"],
        "BT-2": ["2024-03-05"],
        "BT-3": ["380"],
        "BT-5": ["EUR"],
        "BT-27": ["Elm GmbH"],
        "BT-31": ["DE123456789"],
        "BT-110": ["19.00 EUR"],
        "BT-112": ["119.00 EUR"],
        "BT-153": ["Rope"],
    }


def test_an_invoice_with_a_negative_total_is_a_credit_note() -> None:
    assert b"119.00" in CII
    assert read_einvoice(CII.replace(b"119.00", b"-119.00"))["BT-3"] == ["381"]


def test_business_terms_of_ubl() -> None:
    assert read_einvoice(UBL) == {
        "BT-1": ["U-7"],
        "BT-2": ["2024-06-01"],
        "BT-5": ["NOK"],
        "BT-27": ["Fjord AS"],
        "BT-112": ["125.00 NOK"],
    }


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no xml",
        b"<a><b/></a>",
        b"\xff\xfe<",
        b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><Invoice><ID>&x;</ID></Invoice>',
    ],
)
def test_other_xml_says_nothing(data: bytes) -> None:
    assert read_einvoice(data) == {}


@pytest.mark.parametrize(
    "text",
    [
        "---\npackage: elm\ndates:\n  made: 2024-01-02\n---\n# Title\n",
        '+++\npackage = "elm"\n[dates]\nmade = 2024-01-02\n+++\n# Title\n',
        '```toml\npackage = "elm"\n[dates]\nmade = 2024-01-02\n```\n# Title\n',
    ],
)
def test_front_matter(text: str) -> None:
    matter = front_matter(text)
    assert matter is not None
    assert look_up(matter.properties, "Package") == "elm"
    assert look_up(matter.properties, "made") == date(2024, 1, 2)
    assert look_up(matter.properties, "other") is None
    assert "package" in text[matter.start : matter.end]


@pytest.mark.parametrize(
    "text", ["# Title\n---\n", "---\n: [\n---\n", "+++\nno toml\n+++\n", "---\njust text\n---\n"]
)
def test_no_front_matter(text: str) -> None:
    assert front_matter(text) is None


@pytest.mark.parametrize(
    ("text", "label", "value"),
    [
        (
            "Hauptstraße 1, Größe\nGROẞE SUMME 12.50",
            "große summe",
            "12.50",
        ),  # folding lengthens what stands before
        ("İstanbul ve ISPARTA\nİADE TUTARI 12.50", "iade tutarı", "12.50"),
        (
            "Subtotal 9.00\nInvoiceTotal: 12.50",
            "invoice total",
            "12.50",
        ),  # the words of a label may be joined
        ("Subtotal 9.00\nTotals 8.00\nTotal 12.50", "total", "12.50"),  # and those of others are not its
        ("N° 9.00\nNr° 12.50", "nr°", "12.50"),
        ("Due  (in full) 12.50", "(in full)", "12.50"),  # it begins with no letter
    ],
)
def test_a_label_is_found_however_its_letters_fold(text: str, label: str, value: str) -> None:
    assert labelled(text, "decimal", labels=[label]) == [(0, value)]
