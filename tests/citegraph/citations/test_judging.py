"""A judge asked ahead: only what words leave undecided is asked, and its rulings decide the second time."""

from citegraph.citations.judging import Rulings, verify_undecided
from citegraph.citations.verdicts import Evidence
from citegraph.citations.verifier import Judgement, verify

TEXT = "The Tenant shall not disclose Confidential Information. The monthly rent is $900."
EVIDENCE = [Evidence("c1", "lease", TEXT)]
VAGUE = "Tenants must keep Confidential Information secret from strangers [lease]."


def test_only_claims_that_words_alone_decided_are_asked() -> None:
    answer = f"The monthly rent is $900 [lease]. The monthly rent is $950 [lease]. {VAGUE}"
    report, cases = verify_undecided(answer, EVIDENCE)
    assert [claim.verdict for claim in report.claims] == ["supported", "contradicted", "supported"]
    assert cases == [("Tenants must keep Confidential Information secret from strangers.", TEXT)]


def test_a_ruling_decides_and_what_was_not_ruled_stays() -> None:
    _, (case,) = verify_undecided(VAGUE, EVIDENCE)
    judge = Rulings({case: Judgement("unsupported", "strangers are not named")})
    (claim,) = verify(VAGUE, EVIDENCE, judge=judge).claims
    assert (claim.verdict, claim.reason) == ("unsupported", "strangers are not named")
    (other,) = verify(VAGUE, EVIDENCE, judge=Rulings({})).claims
    assert other.verdict == "supported"
