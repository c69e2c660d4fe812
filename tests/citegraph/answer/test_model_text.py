"""A model's text: numbers of passages become documents, calculations are done by code, what nothing states is set apart."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from citegraph.answer.absences import silences
from citegraph.answer.model_text import Filled, Shown, as_it_comes, put_right, without_numbers
from citegraph.answer.statements import derivations_of
from citegraph.citations.figures.derivations import recompute
from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify
from citegraph.llm.prompt_assembly import Passage

DEED, NOTE = "The sponsor pays a fee of $610,000.00 for 2013.", "The annual fee is $145,000.00."
SHOWN = Shown(
    ["deed", "deed", "note.pdf"],
    [Passage("[deed]", DEED), Passage("[deed]", "x"), Passage("[note.pdf]", NOTE)],
)
EVIDENCE = [Evidence("d1", "deed", DEED), Evidence("n1", "note.pdf", NOTE)]
QUESTION = "By how much does the fee of the deed exceed that of the note?"


def claims_of(filled: Filled) -> list[str]:
    """Return the sentences of a text that say what nothing states."""
    return [item["claim"] for item in filled.absent]


HIGHER = "The fee is {difference: $610,000.00 [1]; $145,000.00 [3]} higher [1] [3]."


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("It pays [1].", "It pays [deed]."),
        ("It pays [2, 3].", "It pays [deed] [note.pdf]."),
        ("It pays [1] [2] [3].", "It pays [deed] [note.pdf]."),
        ("It pays [1]. So does it [1].", "It pays [deed]. So does it [deed]."),
        ("It pays [deed], says [9].", "It pays [deed], says [9]."),
        ("No day is given [0].", "No day is given."),
        ("It names no place.", "It names no place."),
    ],
)
def test_numbers_become_documents(written: str, text: str) -> None:
    assert SHOWN.filled(written).text == text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (HIGHER, "The fee is $465,000.00 ($610,000.00 - $145,000.00) higher [deed] [note.pdf]."),
        ("{difference: 5 000 V [1]; 4.25 kV [3]}", "750.00 V (5 000 V - 4.25 kV)"),
        ("{difference: 20 [1]; 30 [2]}", "-10 (20 - 30)"),
        ("{sum: 1.200,50 EUR [1]; 800,25 EUR [2]}", "2.000,75 EUR (1.200,50 EUR + 800,25 EUR)"),
        ("{product: $1,150.00 per day [1]; 12 days [3]}", "$13,800.00 ($1,150.00 per day × 12 days)"),
        ("{product: 250 [1]; 0,125 EUR [2]}", "31.25 EUR (250 × 0,125 EUR)"),
        ("{product: 1.5 [1]; 2.5 kg [1]}", "3.75 kg (1.5 × 2.5 kg)"),
        ("{product: 840 GBP [1]; 7.5 % [2]}", "63 GBP (840 GBP × 7.5 %)"),
        ("{average: 10 [1]; 11 [1]; 13 [1]}", "11.33 (10; 11; 13)"),
        ("{percent: $145,000.00 [3]; $610,000.00 [1]}", "23.8 % ($145,000.00 / $610,000.00)"),
        ("{growth: 120 [1]; 100 [1]}", "20.0 % (120 / 100)"),
        ("{cagr: $121 [1]; $100 [3]; 2}", "10.0 % ($121; $100; 2)"),
        ("{months: 2021-02-15 [1]; 2022-02-14 [1]}", "11 (2021-02-15 – 2022-02-14)"),
        ("{days: 2024-02-28 [1]; 2024-03-01 [1]}", "2 (2024-02-28 – 2024-03-01)"),
    ],
)
def test_code_calculates_in_the_form_of_the_operands(written: str, text: str) -> None:
    assert SHOWN.filled(written).text == text


@pytest.mark.parametrize(
    "operands",
    ["5 EUR [1]; 6 USD [2]", "about it [1]; 6 [2]", "20 °C [1]; 60 °F [2]", "5 m [1]", "2 of 3 [1]; 4 [2]"],
)
def test_operands_of_two_kinds_are_not_calculated_with(operands: str) -> None:
    filled = SHOWN.filled(f"It is {{difference: {operands}}} [1].")
    assert filled.text.startswith("It is ? (")
    assert not filled.made
    assert filled.uncomputed


def test_a_day_that_can_be_read_in_two_ways_gives_no_duration() -> None:
    assert SHOWN.filled("{days: 03/05/2021 [1]; 2021-08-01 [1]}").uncomputed


@pytest.mark.parametrize("operands", ["5 m [1]; 3 m [1]", "$5 [1]; $6 [2]", "12 V [1]; 3 h [1]"])
def test_two_measures_give_no_product_in_the_unit_of_one(operands: str) -> None:
    assert SHOWN.filled(f"It is {{product: {operands}}} [1].").uncomputed


def test_a_product_is_verified_from_its_operands() -> None:
    text = "Each of the 14 vans is leased for 2,300.00 EUR a year."
    shown = Shown(["lease"], [Passage("[lease]", text)])
    filled = shown.filled("The vans cost {product: 2,300.00 EUR [1]; 14 [1]} a year [1].")
    made = derivations_of({"derivations": list(filled.made)})
    report = verify(filled.text, [Evidence("l1", "lease", text)], derivations=made)
    assert [(claim.text, claim.verdict) for claim in report.claims] == [
        ("The vans cost 32,200.00 EUR (2,300.00 EUR × 14) a year.", "derived")
    ]
    assert not recompute(replace(made[0], value="32201.00"))


CHAIN = "The share kept is {ratio: {difference: $610,000.00 [1]; $145,000.00 [3]}; $610,000.00 [1]} [1] [3]."


def test_a_calculation_may_be_a_value_of_another_one() -> None:
    filled = SHOWN.filled(CHAIN)
    assert filled.text == (
        "The share kept is 0.76 (($610,000.00 - $145,000.00) / $610,000.00) [deed] [note.pdf]."
    )
    assert [(number["operation"], number["doc_ids"]) for number in filled.made] == [
        ("difference", ["deed", "note.pdf"]),
        ("ratio", ["deed", "note.pdf"]),
    ]
    derivations = derivations_of({"text": filled.text, "derivations": list(filled.made)})
    report = verify(
        filled.text, EVIDENCE, derivations=derivations, question="What share does the sponsor keep?"
    )
    assert [claim.verdict for claim in report.claims] == ["derived"]


def test_two_results_that_look_alike_keep_their_own_operands() -> None:
    filled = SHOWN.filled("{average: {percent: 31 [1]; 1,000 [1]}; {percent: 62 [3]; 2,000 [3]}}")
    assert filled.text == "3.10 % ((31 / 1,000); (62 / 2,000))"
    assert filled.operands == ((0, "31"), (0, "1,000"), (2, "62"), (2, "2,000"))


def test_nothing_of_what_is_asked_is_told_apart_from_a_part_that_is_not_stated() -> None:
    assert SHOWN.filled("It gives no day [none]. It pays [1].").nothing
    part = SHOWN.filled("It pays [1]. It gives no day [0].")
    assert (part.nothing, claims_of(part)) == (False, ["It gives no day."])


def test_what_is_not_stated_comes_as_a_question_with_the_documents_that_are_meant() -> None:
    part = SHOWN.filled(
        "It pays [1]. Le jour manque {absent: On what  day is it due?; [2] [3]}. No sum {absent: How much?}."
    )
    assert part.text == "It pays [deed]. Le jour manque. No sum."
    assert part.absent == (
        {"claim": "Le jour manque.", "asked": "On what day is it due?", "docs": ["deed", "note.pdf"]},
        {"claim": "No sum.", "asked": "How much?", "docs": []},
    )
    assert not part.nothing
    whole = SHOWN.filled("Nichts davon steht da {none: On what day is it due?; [3]}.")
    assert (whole.nothing, whole.text) == (True, "Nichts davon steht da.")
    assert whole.absent[0]["docs"] == ["note.pdf"]


def test_the_verifier_holds_the_operands_against_their_spans() -> None:
    filled = SHOWN.filled(HIGHER)
    made = derivations_of({"derivations": list(filled.made)})
    (claim,) = verify(filled.text, EVIDENCE, derivations=made, question=QUESTION).claims
    assert (claim.verdict, claim.backed_by) == ("derived", ("deed", "note.pdf"))
    wrong = SHOWN.filled(HIGHER.replace("$145,000.00", "$154,000.00"))
    made = derivations_of({"derivations": list(wrong.made)})
    (claim,) = verify(wrong.text, EVIDENCE, derivations=made, question=QUESTION).claims
    assert claim.verdict in {"contradicted", "unsupported"}


def test_what_nothing_states_is_no_claim() -> None:
    filled = SHOWN.filled(f"{NOTE} [3] Les documents n'indiquent aucune pénalité [0].")
    assert claims_of(filled) == ["Les documents n'indiquent aucune pénalité."]
    report = verify(
        filled.text, EVIDENCE, question=QUESTION, absent=silences({"absent": list(filled.absent)})
    )
    assert [claim.text for claim in report.claims] == [NOTE]


@pytest.mark.parametrize(
    "written",
    [
        "No penalty of $77,000.00 is owed to Brockhurst [0].",
        "A penalty of $77,000.00 is owed {absent: What penalty is owed?}.",
        "The tenant may leave at any time [0].",
    ],
)
def test_nothing_is_smuggled_in_as_what_nothing_states(written: str) -> None:
    filled = SHOWN.filled(written)
    absent = silences({"absent": list(filled.absent)})
    (claim,) = verify(filled.text, EVIDENCE, question=QUESTION, absent=absent).claims
    assert claim.verdict in {"contradicted", "unsupported"}


def test_a_result_that_is_an_operand_is_not_rounded() -> None:
    said = SHOWN.filled("It is {ratio: {ratio: 10 [1]; 3000 [1]}; {ratio: 10 [1]; 2000 [1]}} [1].")
    assert said.text == "It is 0.67 ((10 / 3000) / (10 / 2000)) [deed]."
    parts = "{percent: 524 [1]; 10,000 [1]}; {percent: 573 [1]; 10,000 [1]}; {percent: 1,264 [3]; 10,000 [3]}"
    assert SHOWN.filled(f"{{average: {parts}}} [1].").text.startswith("7.87 % (")
    days = "{product: 365; {ratio: {average: 40 [1]; 60 [1]}; {sum: 190 [1]; {difference: 30 [3]; 20 [3]}}}}"
    filled = SHOWN.filled(f"It takes {days} days [1] [3].")
    assert filled.text == ("It takes 91.25 (365 × ((40; 60) / (190 + (30 - 20)))) days [deed] [note.pdf].")
    spans = [
        Evidence("d", "deed", "Owed: 40 and 60. Costs: 190."),
        Evidence("n", "note.pdf", "Stock: 30, 20."),
    ]
    report = verify(
        filled.text,
        spans,
        derivations=derivations_of({"derivations": list(filled.made)}),
        question="In 365 days?",
    )
    assert [claim.verdict for claim in report.claims] == ["derived"]
    assert SHOWN.filled("X {difference: {sum: 300 EUR [1]; 100 EUR [1]}; soon} [1].").text.isprintable()


@pytest.mark.parametrize(
    "wording", ["The documents do not state the price", "Einen Preis nennt der Vertrag nicht"]
)
def test_that_nothing_states_it_is_seen_in_any_wording(wording: str) -> None:
    assert SHOWN.filled(f"{wording} [none].").nothing
    assert SHOWN.filled(f"It pays [1]. {wording} [0].").absent


@pytest.mark.parametrize("size", [1, 3, 7, 500])
async def test_a_text_that_comes_in_pieces_is_the_whole_one(size: int) -> None:
    written = f"{HIGHER} See [2] [1], {{sic}} and [x. No day {{absent: When; [2]}}. End [3]"

    async def pieces() -> AsyncIterator[str]:
        for at in range(0, len(written), size):
            yield written[at : at + size]

    assert "".join([piece async for piece in as_it_comes(pieces(), SHOWN)]) == SHOWN.filled(written).text


DRAFT = "It pays [deed].\n\n- The fee is $5 [deed].\n- The term is long [deed].\n\nIt ends [deed]."
REFUSED = [
    [DRAFT.index("The fee"), DRAFT.index("\n- The term")],
    [DRAFT.index("The term"), DRAFT.index("\n\nIt ends")],
]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (
            "1: The fee is $610,000.00 [1].\n2:",
            "It pays [deed].\n\n- The fee is $610,000.00 [deed].\n\nIt ends [deed].",
        ),
        ("1: A [3].\n2. B [1].", "It pays [deed].\n\n- A [note.pdf].\n- B [deed].\n\nIt ends [deed]."),
        ("It pays a fee of $610,000.00 [1].", "It pays a fee of $610,000.00 [deed]."),
        ("3: Another one [1].", "3: Another one [deed]."),
        ("", "It pays [deed].\n\n\nIt ends [deed]."),
        ("1", "It pays [deed].\n\n\nIt ends [deed]."),
        (
            "Here they are:\n1: A [1],\n  and B [3].\n2:",
            "It pays [deed].\n\n- A [deed], and B [note.pdf].\n\nIt ends [deed].",
        ),
        ("1.5 years is the term [2].", "1.5 years is the term [deed]."),
    ],
)
def test_only_refused_statements_are_written_again(reply: str, text: str) -> None:
    assert put_right(DRAFT, REFUSED, reply, SHOWN) == text


def test_the_passages_of_each_statement_are_kept_by_their_places() -> None:
    written = "It pays $610,000.00 [1] [3].\n\n- The term is long [2].\n\nNo day is given [0]."
    assert SHOWN.filled(written).pointed == (("It pays $610,000.00.", (0, 2)), ("The term is long.", (1,)))


def test_statements_that_are_written_again_are_those_of_the_text_that_they_enter() -> None:
    reply = "1: The fee is $610,000.00 [1].\n2. No term is given [0].\n3:"
    filled = SHOWN.filled(without_numbers(reply))
    assert filled.pointed == (("The fee is $610,000.00.", (0,)),)
    assert claims_of(filled) == ["No term is given."]
