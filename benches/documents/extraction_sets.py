"""The archive's sets whose gold labels extraction is held to: which fields, which columns, which files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class GoldSet:
    """One set of the archive.

    Attributes:
        fields: our field -> column of the gold labels.
        front_matter: put back the head that the archive took off.
        xml: only documents whose file carries XML (True), or none of it read (False).
        files: read the real files, with what their names end in; documents without one are left out.
        skip: labels that are not to be trusted.
    """

    folder: str
    bucket: str
    fields: Mapping[str, str]
    front_matter: bool = False
    xml: bool | None = None
    files: str = ""
    skip: Mapping[str, Callable[[Mapping[str, Any]], bool]] = field(default_factory=dict)


def named(text: str) -> dict[str, str]:
    """Return field -> column of a text like "title governing_law=law"; a field alone is its column."""
    return {field: column or field for field, _, column in (one.partition("=") for one in text.split())}


EINVOICE = named(
    """invoice_number invoice_date=date due_date vendor_name=seller customer_name=buyer
currency net_amount=net tax_amount=tax total_amount=total"""
)
RECEIPT = {"vendor_name": "company", "invoice_date": "date", "total_amount": "total"}
SETS = {
    "einvoices": GoldSet("invoices_einvoice", "invoices", EINVOICE),
    "einvoices_with_xml": GoldSet("invoices_einvoice", "invoices", EINVOICE, xml=True, files=".pdf"),
    "einvoices_text_only": GoldSet("invoices_einvoice", "invoices", EINVOICE, xml=False),
    "einvoices_text_files": GoldSet("invoices_einvoice", "invoices", EINVOICE, xml=False, files=".pdf"),
    "receipts": GoldSet("receipts_sroie", "invoices", RECEIPT),
    "receipts_files": GoldSet("receipts_sroie", "invoices", RECEIPT, files=".jpg"),
    "contracts": GoldSet(
        "contracts_cuad",
        "contracts",
        named("title parties agreement_date effective_date governing_law"),
        skip={
            "agreement_date": lambda row: row.get("agreement_date_span_check") == "disagrees",
            "effective_date": lambda row: row.get("effective_date_span_check") == "disagrees",
        },
    ),
    "ndas": GoldSet(
        "contracts_kleister_nda",
        "contracts",
        named("parties effective_date governing_law=jurisdiction term"),
    ),
    "safety_sheets": GoldSet(
        "datasheets_sds_de",
        "datasheets",
        {"product": "product", "revision": "version"},
    ),
    "x509": GoldSet(
        "certificates_x509",
        "certificates",
        named(
            """subject=common_name organization organizational_unit country issuer
serial_number=serial_hex valid_from=not_before valid_until=not_after
validity=validity_years key_type key_bits curve signature_hash x509_version=version
fingerprint=sha256"""
        ),
    ),
    "advisories": GoldSet(
        "generic_rustsec_advisories",
        "generic",
        named(
            """title package published_date=date categories keywords cvss identifiers=aliases
fixed_versions=patched unaffected_versions=unaffected affected_functions url"""
        ),
        front_matter=True,
    ),
}
for _name_of_set in ("contracts", "ndas"):
    SETS[f"{_name_of_set}_files"] = replace(SETS[_name_of_set], files=".pdf")
