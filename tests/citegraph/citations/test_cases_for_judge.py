"""A judge asked ahead: only what words leave undecided is asked, and its rulings decide the second time."""

from citegraph.citations.cases_for_judge import Rulings, verify_undecided
from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import Judgement, verify

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


PAYS = "(b) Harrow will make four (4) equal cash payments to Lindqvist in the amount of Forty Thousand and 00/100 Dollars ($40,000.00) on June 1, 2012."


def test_a_judge_rules_where_only_the_place_of_a_value_speaks_against_a_claim() -> None:
    deal = [Evidence("c1", "deal", PAYS)]
    claim = "Ana Lindqvist receives four equal cash payments from Harrow Mutual in the amount of $40,000.00 each, on June 1, 2012 [deal]."
    report, cases = verify_undecided(claim, deal)
    assert report.claims[0].verdict == "contradicted"
    (case,) = cases
    (ruled,) = verify(claim, deal, judge=Rulings({case: Judgement("supported", "the same payments")})).claims
    assert ruled.verdict == "supported"
    (refused,) = verify(claim, deal, judge=Rulings({case: Judgement("contradicted", "the reverse")})).claims
    assert refused.verdict == "contradicted"


def test_no_judge_is_asked_for_a_value_that_stands_nowhere() -> None:
    claim = "Harrow will make four equal cash payments to Lindqvist of $45,000.00 [deal]."
    assert verify_undecided(claim, [Evidence("c1", "deal", PAYS)])[1] == []
