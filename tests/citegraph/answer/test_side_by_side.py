"""Comparisons that code writes: each side under its name, and the difference of two values."""

from decimal import Decimal

import pytest

from citegraph.answer.extracts import Passage
from citegraph.answer.found_spans import ABSENT, STATED
from citegraph.answer.one_document import Reading
from citegraph.answer.side_by_side import alike, compared
from citegraph.corpus.schema.document import Document
from citegraph.language.amounts import Money


def reading(doc_id: str, *passages: tuple[str, float], stated: dict[str, Money] | None = None) -> Reading:
    """Return what a document of these passages says."""
    text = "\n".join(text for text, _ in passages)
    document = Document(doc_id, "datasheets", text, doc_id, "", title=doc_id)
    places: dict[str, dict[str, object]] = {}
    found, start = [], 0
    for text, logit in passages:
        found.append((Passage(start, start + len(text), text, 1.0), logit))
        start += len(text) + 1
    for name in stated or {}:
        places[name] = {"doc": doc_id, "start": 0, "end": 1}
    return Reading(document, doc_id, stated or {}, places, tuple(found), silent=not found and not stated)  # type: ignore[arg-type]


PUMP = reading("p1", ("The pump is blue.", STATED + 1), ("Rated flow    Q    12 l", STATED - 0.5))
OTHER = reading("p2", ("Rated flow    Q    9 l", STATED - 0.5), ("It has two bolts.", STATED + 0.6))


def test_two_passages_that_say_the_same_thing_are_preferred_and_subtracted() -> None:
    drafts = compared([("P 1", PUMP), ("P 2", OTHER)])
    assert [draft["text"] for draft in drafts] == [
        "P 1: “Rated flow Q 12 l” [p1].",
        "P 2: “Rated flow Q 9 l” [p2].",
        "Difference: 3 l [p1] [p2].",
    ]
    assert drafts[2]["derivations"][0]["inputs"] == ["12", "9"]


def test_a_difference_keeps_its_decimals() -> None:
    fine = [
        reading(name, (f"Offset voltage    {volts} V", STATED))
        for name, volts in (("a", "0.005"), ("b", "0.002"))
    ]
    assert compared([("A", fine[0]), ("B", fine[1])])[-1]["text"] == "Difference: 0.003 V [a] [b]."


def test_no_pair_is_made_of_what_hardly_answers() -> None:
    weak = reading("p3", ("Rated flow    Q    9 l", ABSENT - 0.1))
    assert alike(PUMP, weak) == (PUMP, weak)


@pytest.mark.parametrize(
    "rival",
    [
        reading("p1", ("Rated flow    Q    9 l", STATED)),  # the same document
        reading("p2", ("Rated flow    Q    9 h", STATED)),  # another dimension
        reading("p2", ("Rated flow    Q    9 l, later 7 l", STATED)),  # which of two is meant is open
        reading("p2"),
    ],
)
def test_what_cannot_be_compared_has_no_difference(rival: Reading) -> None:
    assert len(compared([("P 1", PUMP), ("P 2", rival)])) == 2


def test_amounts_of_a_field_are_subtracted_in_one_currency() -> None:
    one = reading("a", stated={"rent": Money(Decimal("1200"), "EUR")})
    other = reading("b", stated={"rent": Money(Decimal("950.50"), "EUR")})
    assert compared([("A", one), ("B", other)])[-1]["text"] == "Difference in rent: 249.50 EUR [a] [b]."
    dollars = reading("b", stated={"rent": Money(Decimal("950.50"), "USD")})
    assert [draft["text"] for draft in compared([("A", one), ("B", dollars)])] == [
        "A: Rent: 1,200.00 EUR [a].",
        "B: Rent: 950.50 USD [b].",
    ]


def test_a_side_that_is_missing_is_said() -> None:
    drafts = compared([("P 1", PUMP), ("P 9", None)])
    assert drafts[1]["text"] == drafts[1]["partial"] == "P 9: no document was found."
    silent = compared([("P 1", PUMP), ("P 2", reading("p2"))])[1]
    assert silent["text"] == "P 2: The document does not state that: p2 [p2]."
    assert silent["partial"] == "P 2: the document does not state it."
