"""The ladder on a small lease and a receipt: what it accepts, what it refuses, and the span it shows."""

import pytest

from citations.types import Derivation, Evidence
from citations.verify import verify

LEASE = (
    "This Lease is dated May 1, 2023. The Landlord shall pay the Tenant a fee of $1,577 million within "
    "thirty (30) days "
    "of receipt.\nThe Tenant shall not disclose Confidential Information. Either party may terminate "
    "this Lease upon "
    "60 days prior written notice. The governing law is the law of Oregon."
)
SLIP = (
    "NORTH BAKERY SDN BHD\nINVOICE NB-2023/45\nTOTAL ROUNDED  RM 30.90\nCASH  RM 51.00\nCHANGE  RM "
    "20.10\n18-11-18"
)
EVIDENCE = [
    Evidence("c1", "Lease_A.pdf", LEASE, 100, page=2),
    Evidence("c2", "slip-2", SLIP, facts=(("total_amount", "30.90"), ("date", "2018-11-18"))),
]


def verdict(claim: str) -> str:
    claims = verify(claim, EVIDENCE).claims
    assert len(claims) == 1
    return claims[0].verdict


@pytest.mark.parametrize(
    "claim",
    [
        "The Landlord shall pay the Tenant a fee of $1.577 billion within 30 days of receipt [Lease_A.pdf].",
        "The Landlord must pay the Tenant a fee of $1577.00m within thirty days of receipt [c1].",
        "Either party may terminate the contract with 60 days' prior written notice [Lease_A.pdf].",
        "The lease is dated 2023-05-01 [Lease_A.pdf].",
        "The total of invoice NB-2023/45 is RM 30.90 [slip-2].",
    ],
)
def test_a_claim_in_other_words_is_supported(claim: str) -> None:
    assert verdict(claim) == "supported"


@pytest.mark.parametrize(
    "claim",
    [
        "The Tenant shall pay the Landlord a fee of $1,577 million within 30 days of receipt [Lease_A.pdf].",
        "The Landlord shall pay the Tenant a fee of $1,577 within 30 days of receipt [Lease_A.pdf].",
        "The Landlord shall pay the Tenant a fee of $1,577 million within 30 months of receipt "
        "[Lease_A.pdf].",
        "The Landlord shall pay the Tenant a fee of €1,577 million within 30 days of receipt [Lease_A.pdf].",
        "The Landlord may pay the Tenant a fee of $1,577 million within 30 days of receipt [Lease_A.pdf].",
        "The Tenant shall disclose Confidential Information [Lease_A.pdf].",
        "Either party must terminate this Lease upon 60 days prior written notice [Lease_A.pdf].",
        "Either party may terminate this Lease upon 90 days prior written notice [Lease_A.pdf].",
        "The lease is dated 2023-05-02 [Lease_A.pdf].",
        "The total of invoice NB-2023/46 is RM 30.90 [slip-2].",
        "The total is RM 51.00 [slip-2].",
        "The total is 20.10 [slip-2].",
    ],
)
def test_a_claim_with_one_changed_fact_is_contradicted(claim: str) -> None:
    assert verdict(claim) == "contradicted"


def test_a_claim_of_another_document_is_rebound_to_it() -> None:
    (claim,) = verify("The governing law is the law of Oregon [slip-2].", EVIDENCE).claims
    assert claim.verdict == "misattributed"
    assert (claim.doc_id, claim.quote) == ("Lease_A.pdf", "The governing law is the law of Oregon.")


def test_the_quote_is_the_span_of_the_document() -> None:
    (claim,) = verify(
        "Either party may terminate with 60 days prior written notice [Lease_A.pdf].", EVIDENCE
    ).claims
    assert claim.quote == LEASE[claim.quote_start - 100 : claim.quote_end - 100]
    assert claim.quote.startswith("Either party may terminate")
    assert claim.page == 2


def test_two_glued_sentences_are_not_one() -> None:
    glued = "The Landlord shall pay the Tenant a fee upon 60 days prior written notice [Lease_A.pdf]."
    assert verdict(glued) in ("unsupported", "contradicted")


def test_a_computed_number_is_derived_with_its_formula() -> None:
    sums = Derivation("81.90", "sum(total) over 2 documents", "sum", ("30.90", "51.00"))
    (claim,) = verify("Both receipts come to RM 81.90 [slip-2].", EVIDENCE, derivations=[sums]).claims
    assert (claim.verdict, claim.formula) == ("derived", "sum(total) over 2 documents")
    wrong = Derivation("81.90", "sum(total) over 2 documents", "sum", ("30.90", "20.10"))
    assert (
        verify("Both receipts come to RM 81.90 [slip-2].", EVIDENCE, derivations=[wrong]).claims[0].verdict
        != "derived"
    )


def test_precision_and_recall_of_an_answer() -> None:
    answer = (
        "The lease is dated 1 May 2023 [Lease_A.pdf]. The law is that of Nevada [Lease_A.pdf]. It ends "
        "in 2099 [ghost-9]."
    )
    report = verify(answer, EVIDENCE)
    assert (len(report.claims), report.unknown_markers) == (3, ("ghost-9",))
    assert report.recall == pytest.approx(1 / 3)
    assert report.precision == pytest.approx(1 / 3)
