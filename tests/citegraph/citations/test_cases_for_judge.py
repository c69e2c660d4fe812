"""A judge asked ahead: only what words leave undecided is asked, and its rulings decide the second time."""

from citegraph.citations.cases_for_judge import Rulings, verify_undecided
from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import Judgement, verify

TEXT = "The Tenant shall not disclose Confidential Information. The monthly rent is $900."
EVIDENCE = [Evidence("c1", "lease", TEXT)]
VAGUE = "Tenants must keep Confidential Information secret from strangers [lease]."


def test_claims_that_stand_word_for_word_or_whose_values_stand_nowhere_are_not_asked() -> None:
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


def test_a_judge_sees_all_that_a_claim_cites_and_what_stands_above_it() -> None:
    spans = [
        Evidence("p1", "plan", "Berth | Fee\nNorth | EUR 40"),
        Evidence("p2", "plan", "Fees fall due in May."),
        Evidence("p3", "plan", "fall due"),  # within another one
        Evidence("n1", "note", "South berths cost EUR 55."),
    ]
    _, (row,) = verify_undecided("| Fee | Berth |\n|---|---|\n| EUR 40 | North [plan] |", spans)
    assert row == ("Fee: EUR 40 | Berth: North", "Berth | Fee\nNorth | EUR 40\nFees fall due in May.")
    _, (item,) = verify_undecided("Due each May:\n- the fee of EUR 40 for a berth in the north [plan]", spans)
    assert item[0] == "Due each May: the fee of EUR 40 for a berth in the north"
    _, (both,) = verify_undecided("A northern berth at EUR 40 is cheaper than EUR 55 [plan] [note].", spans)
    assert both[1].startswith("[plan]\nBerth")
    assert both[1].endswith("[note]\nSouth berths cost EUR 55.")


def test_what_a_judge_refuses_leaves_its_values_to_what_is_computed_from_them() -> None:
    plan = [Evidence("p", "plan", "A berth costs EUR 40 a week, in winter EUR 28.")]
    answer = "Only in spring a berth costs EUR 40 a week and EUR 28 later [plan]. That is EUR 12 less [plan]."
    _, cases = verify_undecided(answer, plan)
    rulings = Rulings({cases[0]: Judgement("contradicted", "all year but winter")})
    first, second = verify(answer, plan, judge=rulings).claims
    assert (first.verdict, second.verdict) == ("contradicted", "derived")


def test_a_judge_may_refuse_what_was_computed() -> None:
    plan = [Evidence("p", "plan", "A berth costs EUR 40 a week, in winter EUR 28.")]
    claim = "The difference comes to EUR 12 more in winter [plan]."
    report, (case,) = verify_undecided(claim, plan)
    assert report.claims[0].verdict == "derived"
    (found,) = verify(claim, plan, judge=Rulings({case: Judgement("contradicted", "less, not more")})).claims
    assert (found.verdict, found.formula, found.reason) == ("contradicted", "", "less, not more")


def test_a_judge_sees_each_document_that_a_claim_cites() -> None:
    names = ("Abelard", "Brunner", "Castell", "Dorning", "Evander", "Fairley")
    filler = "\n".join(
        f"Clause {n}. The parties keep the usual terms of such an agreement." for n in range(60)
    )
    evidence = [
        Evidence(
            f"c{at}", f"deal-{at}", f"{filler}\nThis agreement is made with {name} as the employee.\n{filler}"
        )
        for at, name in enumerate(names)
    ]
    marks = " ".join(f"[{item.doc_id}]" for item in evidence)
    claim = f"{', '.join(names)} are the employees who must keep quiet {marks}."
    _, ((_, shown),) = verify_undecided(claim, evidence)
    assert [name for name in names if name not in shown] == []
    assert len(shown) < 2 * len(evidence[0].text)
