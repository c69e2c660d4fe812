"""Values that follow from stated ones, and values that follow from nothing."""

import pytest

from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify

BOATS = Evidence(
    "b",
    "boats",
    "The yard sold 14 dinghies for EUR 61,600 and 3 cutters for EUR 128,400 in 2023; in 2022 it took EUR 152,000.\n"
    "The order of 4 March 2024 is delivered on 19 April 2024.\nThe deposit is 12.5 % of the price.\n"
    "The ferry leaves at 18:20 and takes 95 minutes.",
)
SALES = Evidence(
    "s",
    "sales",
    "Sales (in millions of dollars)\nRegion | 2023 | 2022\nNorth | 118.4 | 101.9\nSouth | 77.2 | 81.6\nWest | 41.3 | 39.0",
)


def verdict(claim: str, question: str = "") -> str:
    (found,) = verify(claim, [BOATS, SALES], question=question).claims
    return found.verdict


@pytest.mark.parametrize(
    "claim",
    [
        "Together the boats brought in EUR 190,000 [boats].",
        "That is EUR 38,000 more than the EUR 152,000 of 2022: EUR 190,000 [boats].",
        "A dinghy cost EUR 4,400 on average [boats].",
        "The deposit on the cutters comes to EUR 16,050 [boats].",
        "Between order and delivery lie 46 days [boats].",
        "The ferry arrives at 19:55 [boats].",
        "Sales in the North grew by $16.5 million, or 16.2% [sales].",
        "The three regions sold $236.9 million in 2023 [sales].",
        "Sales in the South fell by 5.4% [sales].",
    ],
)
def test_what_follows_is_derived(claim: str) -> None:
    assert verdict(claim) == "derived"


@pytest.mark.parametrize(
    "claim",
    [
        "Together the boats brought in EUR 191,000 [boats].",
        "A dinghy cost EUR 4,600 on average [boats].",
        "Between order and delivery lie 51 days [boats].",
        "The ferry arrives at 20:05 [boats].",
        "Sales in the North grew by $17.5 million [sales].",
        "Sales in the South fell by 6.4% [sales].",
        "The yard waits at least 9 days [boats].",
    ],
)
def test_what_follows_from_nothing_is_refused(claim: str) -> None:
    assert verdict(claim) in {"unsupported", "contradicted"}


def test_a_value_of_the_question_goes_into_a_computation_and_proves_nothing_itself() -> None:
    assert (
        verdict("Five cutters would cost EUR 214,000 [boats].", "What would 5 cutters cost at EUR 42,800?")
        == "derived"
    )
    assert verdict("The deposit is 15 % of the price [boats].", "Is the deposit 15 %?") in {
        "unsupported",
        "contradicted",
    }


def test_a_claim_that_repeats_its_source_computes_nothing() -> None:
    changed = "The order of 4 March 2024 is delivered on 19 May 2024 [boats]."
    assert verdict(changed) == "contradicted"
