"""Numbers that other numbers give by chance are computed from nothing."""

import pytest

from citegraph.citations.facts import Fact, hard_facts
from citegraph.citations.figures.arithmetic import Operand, compute
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


def value(text: str) -> Fact:
    (fact,) = hard_facts(text)
    return fact


CELL, PROSE = 2, -1


@pytest.mark.parametrize(
    ("wanted", "operands"),
    [
        ("12 years", [("20.00", 1, CELL), ("8.00", 1, CELL)]),  # two prices
        ("£174.00", [("180", 1, CELL), ("£6.00", 1, CELL)]),  # a number of seats less a price
        ("13.5 l/h", [("9.0 m³/h", 1, CELL), ("4.5 m³/h", 1, CELL)]),
        ("$40 million", [("$3,580 thousand", 1, CELL), ("11,250", 2, CELL)]),  # two amounts multiplied
        ("163 A", [("94.8", 1, CELL), ("72 %", 2, CELL)]),  # a weight and an efficiency
        ("3 hours", [("24 hours", 1, PROSE), ("8 hours", 1, PROSE)]),  # three times as long
        ("eight jars", [("24", 1, PROSE), ("twelve jars", 1, PROSE), ("36", 1, PROSE)]),
    ],
)
def test_values_of_other_kinds_give_none_of_its_own(
    wanted: str, operands: list[tuple[str, int, int]]
) -> None:
    shown = Operand(value(operands[0][0]), operands[0][1], operands[0][2], named=True)
    hidden = [Operand(value(text), place, column) for text, place, column in operands[1:]]
    assert compute(value(wanted), [shown, *hidden]) is None


@pytest.mark.parametrize(
    ("wanted", "operands"),
    [
        ("13.5 m³/h", [("9.0 m³/h", CELL), ("4.5 m³/h", CELL)]),
        ("£174.00", [("£180.00", CELL), ("6.00", CELL)]),
        ("£340", [("£3,200", PROSE), ("£2,860", PROSE)]),
        ("120 %", [("24 hours", PROSE), ("20 hours", PROSE)]),
    ],
)
def test_values_of_one_kind_give_another(wanted: str, operands: list[tuple[str, int]]) -> None:
    assert compute(value(wanted), [Operand(value(text), 1, column) for text, column in operands]) is not None


SAND = Evidence(
    "s",
    "sand",
    "In 2022 the yard sold 40.5 tonnes of sand, in 2023 it sold 31.2 tonnes, 4.1 tonnes of it wet.\n"
    "Sand costs EUR 64.00, gravel EUR 32.00, delivery EUR 10.00.",
)
INCOME = Evidence(
    "i",
    "income",
    " | 2023 | 2022 | 2021\nRevenue | $ 1,842.6 | $ 1,710.3 | $ 1,488.9\nEarnings per share, basic | $ 2.31 | $ 2.64 | $ 2.45",
)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        (
            "The sand sold fell by 13.4 tonnes, from 40.5 to 31.2 [sand].",
            SAND,
        ),  # with the 4.1 that is not shown
        ("In 2023 71.7 tonnes less than the 40.5 tonnes of 2022 were sold [sand].", SAND),  # their sum
        ("It comes to EUR 96.00 (EUR 64.00 sand, EUR 32.00 gravel, EUR 10.00 delivery) [sand].", SAND),
        ("With basic earnings of $2.31 per share that is a payout of about 24% [income].", INCOME),
    ],
)
def test_a_result_passes_over_nothing_that_the_claim_shows(claim: str, source: Evidence) -> None:
    (found,) = verify(claim, [source]).claims
    assert found.verdict in {"unsupported", "contradicted"}, found.reason
