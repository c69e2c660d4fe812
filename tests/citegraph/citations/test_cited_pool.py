"""A number is said of the field in which the document has it."""

import pytest

from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify

INVOICE = Evidence(
    "c1",
    "E-1",
    "ELM TRADING LTD\nInvoice E-1\n2,000.00\nVAT 380.00\n2,380.00\n",
    facts=(("net_amount", "2,000.00 EUR"), ("tax_amount", "380.00 EUR"), ("total_amount", "2,380.00 EUR")),
)
LEASE = Evidence("c2", "L-1", "Lease of Elm House.", facts=(("term", "5 years"), ("renewal_term", "2 years")))


@pytest.mark.parametrize(
    ("claim", "verdict", "reason"),
    [
        ("Total amount: 2,000.00 EUR", "contradicted",
         '"2,000.00 EUR" is the net amount; the total amount is 2,380.00 EUR'),
        ("The total is 380.00 EUR", "contradicted",
         '"380.00 EUR" is the tax amount; the total amount is 2,380.00 EUR'),
        ("The net amount is 2,380.00 EUR", "contradicted", None),
        ("The total amount is 2,380.00 EUR", "supported", None),
        ("The net amount is 2,000.00 EUR and the total amount is 2,380.00 EUR", "supported", None),
        ("VAT on the net amount is 380.00 EUR", "supported", None),
        ("The invoice totals EUR 2,380.00, of which EUR 380.00 is VAT", "supported", None),
    ],
)  # fmt: skip
def test_an_amount_belongs_to_its_field(claim: str, verdict: str, reason: str | None) -> None:
    [found] = verify(f"{claim} [E-1].", [INVOICE]).claims
    assert (found.verdict, found.reason if reason else None) == (verdict, reason)


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The term of the lease is 2 years", "contradicted"),
        ("The renewal term of the lease is 5 years", "contradicted"),
        ("The term of the lease is 5 years", "supported"),
        ("The renewal term of the lease is 2 years", "supported"),
    ],
)
def test_a_field_whose_name_is_part_of_anothers(claim: str, verdict: str) -> None:
    [found] = verify(f"{claim} [L-1].", [LEASE]).claims
    assert found.verdict == verdict
