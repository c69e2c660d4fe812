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
    "BT-25": f"{_SETTLED}/InvoiceReferencedDocument/IssuerAssignedID",
    "BT-27": f"{_AGREED}/SellerTradeParty/Name",
    "BT-28": f"{_AGREED}/SellerTradeParty/SpecifiedLegalOrganization/TradingBusinessName",
    "BT-31": f"{_AGREED}/SellerTradeParty/SpecifiedTaxRegistration/ID[VA]",
    "BT-35": f"{_AGREED}/SellerTradeParty/PostalTradeAddress/LineOne",
    "BT-37": f"{_AGREED}/SellerTradeParty/PostalTradeAddress/CityName",
    "BT-40": f"{_AGREED}/SellerTradeParty/PostalTradeAddress/CountryID",
    "BT-44": f"{_AGREED}/BuyerTradeParty/Name",
    "BT-45": f"{_AGREED}/BuyerTradeParty/SpecifiedLegalOrganization/TradingBusinessName",
    "BT-72": f"{_DEAL}/ApplicableHeaderTradeDelivery|ApplicableSupplyChainTradeDelivery/ActualDeliverySupplyChainEvent/OccurrenceDateTime",
    "BT-109": f"{_SUMS}/TaxBasisTotalAmount",
    "BT-110": f"{_SUMS}/TaxTotalAmount",
    "BT-112": f"{_SUMS}/GrandTotalAmount",
    "BT-113": f"{_SUMS}/TotalPrepaidAmount",
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
    "BT-9": "DueDate; PaymentMeans/PaymentDueDate",
    "BT-20": "PaymentTerms/Note",
    "BT-25": "BillingReference/InvoiceDocumentReference/ID",
    "BT-27": f"{_SELLER}/PartyLegalEntity/RegistrationName",
    "BT-28": f"{_SELLER}/PartyName/Name",
    "BT-31": f"{_SELLER}/PartyTaxScheme/CompanyID",
    "BT-35": f"{_SELLER}/PostalAddress/StreetName",
    "BT-37": f"{_SELLER}/PostalAddress/CityName",
    "BT-40": f"{_SELLER}/PostalAddress/Country/IdentificationCode",
    "BT-44": f"{_BUYER}/PartyLegalEntity/RegistrationName",
    "BT-45": f"{_BUYER}/PartyName/Name",
    "BT-72": "Delivery/ActualDeliveryDate",
    "BT-109": f"{_TOTAL}/TaxExclusiveAmount",
    "BT-110": "TaxTotal/TaxAmount",
    "BT-112": f"{_TOTAL}/TaxInclusiveAmount",
    "BT-113": f"{_TOTAL}/PrepaidAmount",
    "BT-115": f"{_TOTAL}/PayableAmount",
    "BT-153": "InvoiceLine|CreditNoteLine/Item/Name",
}
"""Business term -> path of local names in UBL; behind `;` the path where a credit note keeps it."""

_DELIVERED = "SpecifiedLineTradeDelivery|SpecifiedSupplyChainTradeDelivery"
_PRICED = "SpecifiedLineTradeAgreement|SpecifiedSupplyChainTradeAgreement"
_CHARGED = "SpecifiedLineTradeSettlement|SpecifiedSupplyChainTradeSettlement"
CII_LINES = f"{_DEAL}/IncludedSupplyChainTradeLineItem"
CII_LINE: Mapping[str, str] = {
    "BT-126": "AssociatedDocumentLineDocument/LineID",
    "BT-129": f"{_DELIVERED}/BilledQuantity",
    "BT-130": f"{_DELIVERED}/BilledQuantity@unitCode",
    "BT-131": f"{_CHARGED}/SpecifiedTradeSettlementLineMonetarySummation|SpecifiedTradeSettlementMonetarySummation/LineTotalAmount",
    "BT-146": f"{_PRICED}/NetPriceProductTradePrice/ChargeAmount",
    "BT-153": "SpecifiedTradeProduct/Name",
}
"""Business term -> path within a line of CII; `@` names an attribute."""
UBL_LINES = "InvoiceLine|CreditNoteLine"
UBL_LINE: Mapping[str, str] = {
    "BT-126": "ID",
    "BT-129": "InvoicedQuantity|CreditedQuantity",
    "BT-130": "InvoicedQuantity|CreditedQuantity@unitCode",
    "BT-131": "LineExtensionAmount",
    "BT-146": "Price/PriceAmount",
    "BT-153": "Item/Name",
}
"""Business term -> path within a line of UBL."""

DATES = frozenset({"BT-2", "BT-9", "BT-72"})
AMOUNTS = frozenset({"BT-109", "BT-110", "BT-112", "BT-113", "BT-115", "BT-131", "BT-146"})


def read_einvoice(data: bytes) -> dict[str, list[str]]:
    """Return business term -> values in order of an invoice's XML; empty when the XML is no invoice.

    Amounts carry their currency ("235.62 EUR"), dates are ISO 8601. A commercial invoice (380) whose total is negative
    is a credit note in another form, which EN 16931 allows, and has the code of one (381).
    """
    root, is_cii = _invoice(data)
    if root is None:
        return {}
    paths = CII if is_cii else UBL
    currency = _currency(root, paths)
    terms: dict[str, list[str]] = {}
    for term, path in paths.items():
        values = [value for node in _find(root, path) if (value := _value(term, node, currency))]
        if values:
            terms[term] = values
    if terms.get("BT-3") == [INVOICE] and "".join(terms.get("BT-112", ())).startswith("-"):
        terms["BT-3"] = [CREDIT_NOTE]
    return terms


INVOICE, CREDIT_NOTE = "380", "381"
"""Codes of UNTDID 1001."""


def read_lines(data: bytes) -> list[dict[str, str]]:
    """Return the lines of an invoice's XML, business term -> value each; none when the XML is no invoice.

    Amounts carry their currency; the unit (BT-130) is its code of UN/ECE Recommendation 20.
    """
    root, is_cii = _invoice(data)
    if root is None:
        return []
    currency = _currency(root, CII if is_cii else UBL)
    lines = []
    for node in _find(root, CII_LINES if is_cii else UBL_LINES):
        line: dict[str, str] = {}
        for term, path in (CII_LINE if is_cii else UBL_LINE).items():
            place, _, attribute = path.partition("@")
            found = next(_find(node, place), None)
            if found is not None:
                value = found.get(attribute, "") if attribute else _value(term, found, currency)
                line |= {term: value} if value else {}
        lines.append(line)
    return lines


def _invoice(data: bytes) -> tuple[Any, bool]:
    """Return the root of an invoice's XML and whether it is CII; None when the XML is no invoice."""
    from lxml import etree

    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None, False
    # No electronic invoice has a document type, and its entities are not trusted.
    if getattr(root.getroottree().docinfo, "doctype", ""):
        return None, False
    name = _local(root)
    # Early drafts of ZUGFeRD call the root Invoice, as UBL does.
    if name.startswith("CrossIndustry") or any(_local(child) in _HEAD.split("|") for child in root):
        return root, True
    return (root if name in ("Invoice", "CreditNote") else None), False


def _currency(root: Any, paths: Mapping[str, str]) -> str:
    return next((_text(node) for node in _find(root, paths.get("BT-5", ""))), "")


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
    path, _, other = path.partition("; ")
    nodes = [root]
    for step in path.split("/") if path else ():
        names, _, scheme = step.partition("[")
        wanted = set(names.split("|"))
        nodes = [child for node in nodes for child in node if _local(child) in wanted]
        if scheme:
            nodes = [node for node in nodes if node.get("schemeID") == scheme.rstrip("]")]
    if path:
        yield from nodes or (_find(root, other) if other else ())


def _local(node: Any) -> str:
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def _text(node: Any) -> str:
    return " ".join("".join(node.itertext()).split())
