"""Reads electronic invoices: the XML of ZUGFeRD, Factur-X, XRechnung and Peppol as EN 16931 business terms.

The terms and where each syntax keeps them are those of EN 16931-1 and of the bindings CEN/TS 16931-3-2
(UBL 2.1) and CEN/TS 16931-3-3 (UN/CEFACT CII); ZUGFeRD 1.0 is CII of an earlier release, with other names.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_DEAL = "SupplyChainTradeTransaction|SpecifiedSupplyChainTradeTransaction"
_AGREED = f"{_DEAL}/ApplicableHeaderTradeAgreement|ApplicableSupplyChainTradeAgreement"
_SETTLED = f"{_DEAL}/ApplicableHeaderTradeSettlement|ApplicableSupplyChainTradeSettlement"
_SUMS = (
    f"{_SETTLED}/SpecifiedTradeSettlementHeaderMonetarySummation|SpecifiedTradeSettlementMonetarySummation"
)
_HEAD = "ExchangedDocument|HeaderExchangedDocument"

CII: Mapping[str, str] = {
    "BT-1": f"{_HEAD}/ID",
    "BT-2": f"{_HEAD}/IssueDateTime",
    "BT-3": f"{_HEAD}/TypeCode",
    "BT-5": f"{_SETTLED}/InvoiceCurrencyCode",
    "BT-9": f"{_SETTLED}/SpecifiedTradePaymentTerms/DueDateDateTime",
    "BT-20": f"{_SETTLED}/SpecifiedTradePaymentTerms/Description",
    "BT-27": f"{_AGREED}/SellerTradeParty/Name",
    "BT-31": f"{_AGREED}/SellerTradeParty/SpecifiedTaxRegistration/ID[VA]",
    "BT-35": f"{_AGREED}/SellerTradeParty/PostalTradeAddress/LineOne",
    "BT-37": f"{_AGREED}/SellerTradeParty/PostalTradeAddress/CityName",
    "BT-40": f"{_AGREED}/SellerTradeParty/PostalTradeAddress/CountryID",
    "BT-44": f"{_AGREED}/BuyerTradeParty/Name",
    "BT-109": f"{_SUMS}/TaxBasisTotalAmount",
    "BT-110": f"{_SUMS}/TaxTotalAmount",
    "BT-112": f"{_SUMS}/GrandTotalAmount",
    "BT-115": f"{_SUMS}/DuePayableAmount",
    "BT-153": f"{_DEAL}/IncludedSupplyChainTradeLineItem/SpecifiedTradeProduct/Name",
}
"""Business term -> path of local names in CII; `a|b` are alternatives, `[VA]` a scheme or unit code."""

_SELLER, _BUYER, _TOTAL = (
    "AccountingSupplierParty/Party",
    "AccountingCustomerParty/Party",
    "LegalMonetaryTotal",
)
UBL: Mapping[str, str] = {
    "BT-1": "ID",
    "BT-2": "IssueDate",
    "BT-3": "InvoiceTypeCode|CreditNoteTypeCode",
    "BT-5": "DocumentCurrencyCode",
    "BT-9": "DueDate",
    "BT-20": "PaymentTerms/Note",
    "BT-27": f"{_SELLER}/PartyLegalEntity/RegistrationName",
    "BT-31": f"{_SELLER}/PartyTaxScheme/CompanyID",
    "BT-35": f"{_SELLER}/PostalAddress/StreetName",
    "BT-37": f"{_SELLER}/PostalAddress/CityName",
    "BT-40": f"{_SELLER}/PostalAddress/Country/IdentificationCode",
    "BT-44": f"{_BUYER}/PartyLegalEntity/RegistrationName",
    "BT-109": f"{_TOTAL}/TaxExclusiveAmount",
    "BT-110": "TaxTotal/TaxAmount",
    "BT-112": f"{_TOTAL}/TaxInclusiveAmount",
    "BT-115": f"{_TOTAL}/PayableAmount",
    "BT-153": "InvoiceLine|CreditNoteLine/Item/Name",
}
"""Business term -> path of local names in UBL."""

DATES = frozenset({"BT-2", "BT-9"})
AMOUNTS = frozenset({"BT-109", "BT-110", "BT-112", "BT-115"})


def read_einvoice(data: bytes) -> dict[str, list[str]]:
    """Return business term -> values in order of an invoice's XML; empty when the XML is no invoice.

    Amounts carry their currency ("235.62 EUR"), dates are ISO 8601.
    """
    from lxml import etree

    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        return {}
    if getattr(
        root.getroottree().docinfo, "doctype", ""
    ):  # no electronic invoice has one, and its entities are not trusted
        return {}
    name = _local(root)
    # Early drafts of ZUGFeRD call the root Invoice, as UBL does.
    cii = name.startswith("CrossIndustry") or any(_local(child) in _HEAD.split("|") for child in root)
    paths = CII if cii else UBL if name in ("Invoice", "CreditNote") else {}
    currency = next((_text(node) for node in _find(root, paths.get("BT-5", ""))), "")
    terms: dict[str, list[str]] = {}
    for term, path in paths.items():
        values = [value for node in _find(root, path) if (value := _value(term, node, currency))]
        if values:
            terms[term] = values
    return terms


def _value(term: str, node: Any, currency: str) -> str:
    text = _text(node)
    if term in AMOUNTS:
        own = node.get("currencyID", "") or currency
        # The tax total is given once more in the accounting currency (BT-111).
        return "" if currency and own != currency else f"{text} {own}".strip()
    if term in DATES and re.fullmatch(r"\d{8}", text):
        return f"{text[:4]}-{text[4:6]}-{text[6:]}"
    return text[:10] if term in DATES else text


def _find(root: Any, path: str) -> Iterator[Any]:
    nodes = [root]
    for step in path.split("/") if path else ():
        names, _, scheme = step.partition("[")
        wanted = set(names.split("|"))
        nodes = [child for node in nodes for child in node if _local(child) in wanted]
        if scheme:
            nodes = [node for node in nodes if node.get("schemeID") == scheme.rstrip("]")]
    if path:
        yield from nodes


def _local(node: Any) -> str:
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def _text(node: Any) -> str:
    return " ".join("".join(node.itertext()).split())
