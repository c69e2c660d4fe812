"""Numbers that other numbers give by chance are computed from nothing."""

import pytest

from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify

HALL = Evidence(
    "h",
    "hall",
    "The hall seats 240 guests and is let for EUR 3,600 a day.\nThe caretaker must be told within 12 days.\n"
    "A deposit of EUR 900 is due three weeks before the event. The doors are 2.4 m wide.\n"
    "The discount is 15 % from the fourth day on.",
)
MILL = Evidence(
    "m", "mill", "Output | 2021 | 2022\nLine A | 412 | 438\nLine B | 377 | 351\nThe mill has four lines."
)


def verdict(claim: str) -> str:
    (found,) = verify(claim, [HALL, MILL]).claims
    return found.verdict


@pytest.mark.parametrize(
    "claim",
    [
        "The caretaker must be told within 24 days [hall].",  # two times twelve
        "The caretaker must be told within 36 days [hall].",  # three weeks and fifteen
        "A deposit of EUR 885 is due before the event [hall].",  # less fifteen percent as printed
        "The doors are 4.8 m wide [hall].",
        "The hall is let for EUR 3,840 a day [hall].",  # a price and a number of guests
        "Line A made 439 pieces in 2022 (412 after 438) [mill].",
    ],
)
def test_a_coincidence_is_no_computation(claim: str) -> None:
    assert verdict(claim) in {"unsupported", "contradicted"}


@pytest.mark.parametrize(
    "claim",
    [
        "At full house the hall costs EUR 15 for each of the 240 guests [hall].",
        "With the discount of 15 % a day in the hall costs EUR 3,060 [hall].",
        "Line A gained 26 pieces (438 after 412) [mill].",
        "Of both lines together the output in 2022 was 789 [mill].",
    ],
)
def test_what_the_claim_shows_or_its_lines_give_is_derived(claim: str) -> None:
    assert verdict(claim) == "derived"


def test_a_sum_of_the_answer_stated_word_for_word_elsewhere_is_cited_there() -> None:
    answer = (
        "The hall is let for EUR 3,600 a day [hall].\nThe hall is let for EUR 3,600 a day [ghost-1] [mill]."
    )
    first, second = verify(answer, [HALL, MILL]).claims
    assert (first.verdict, second.verdict, second.doc_id) == ("supported", "misattributed", "hall")


def test_words_of_the_question_do_not_make_another_document_say_a_claim() -> None:
    question = "Within how many days must the caretaker of the hall be told?"
    (found,) = verify(
        "The caretaker of the hall must be told within 351 days [nowhere].", [HALL, MILL], question=question
    ).claims
    assert found.verdict in {"unsupported", "contradicted"}
