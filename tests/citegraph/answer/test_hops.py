"""Questions whose inner part one document answers and whose rest another does."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from citegraph.answer.hops import lead_on, name_place, names_in, parts_around, read_hops, steps_from
from citegraph.encoder.finder import Span
from citegraph.run.context import Context
from citegraph.run.services import Corpus

PART = "What rating may the transistor carry that ECN-0072 introduces?"


@pytest.mark.parametrize(
    ("question", "names", "part"),
    [
        (
            "Who is the spouse of the director of Quiet Harbour?",
            "Quiet Harbour (film)",
            "director of Quiet Harbour",
        ),
        ("Which valley does Orlo Venn's birthplace lie in?", "Orlo Venn", "Orlo Venn's birthplace"),
        ("In welchem Ort sitzt der Hersteller der Pumpe KX-9?", "KX-9", "Hersteller der Pumpe KX-9"),
        (
            "Our old Tamber kit is gone, a notice names its heir. Which flaw has that?",
            "Tamber",
            "Tamber kit is gone",
        ),
    ],
)
def test_a_part_of_the_question_grows_around_the_name(question: str, names: str, part: str) -> None:
    place = name_place(question, names, "en")
    assert place
    parts = [question[slice(*span)] for span in parts_around(question, *place)]
    assert part in parts
    assert question.rstrip("?") not in parts
    assert question[slice(*place)] not in parts


def test_a_question_that_shares_no_word_with_a_document_has_no_part() -> None:
    assert name_place("Who signed it?", "Quiet Harbour", "en") is None
    assert name_place("Who is the one of the two?", "the one of", "en") is None, "small words name nothing"


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("\nOrlo Venn\n\nOrlo Venn", ["Orlo Venn"]),
        ("the judge Ida Rask, Sir Tom Ells and the painter Orlo Venn", ["Ida Rask", "Orlo Venn"]),
        ("two hamlets in north-west Tarnmark.", ["Tarnmark"]),
        ("tamber-next](https://crates.example/tamber-next", ["tamber-next"]),
        ("2019", []),
        ("25 V of the Tamber kit", ["Tamber"]),
        ("4.7 µF", []),
        ("a quiet film", []),
        ("", []),
    ],
)
def test_what_is_followed_is_a_name(said: str, names: list[str]) -> None:
    assert names_in(said) == names


class Pointing:
    """A finder that knows a few answers: question words to what it points at."""

    def __init__(self, known: dict[str, str]) -> None:
        self.known = known
        self.asked = set[str]()

    def find(self, question: str, passages: Sequence[str]) -> list[Span]:
        self.asked.add(question)
        said = self.known.get(question, "")
        places = [passage.find(said) if said else -1 for passage in passages]
        return [Span(at, at + len(said), 2.0) if at >= 0 else Span(0, 1, -2.0) for at in places]


def state_of(**decision: Any) -> Any:
    part: Any = {"filters": [], "asked": [], "mentions": [], "terms": [], "names": [], "identifiers": []}
    plan = {
        "intent": "qa",
        "kind": "passages",
        "buckets": ["generic"],
        "per_bucket": {"generic": part},
        "only": [],
    }
    return {"question": PART, "plan": plan, "decision": decision, "rounds": 1, "usage": {}, "evidence": []}


async def test_what_a_document_says_is_searched_and_the_rest_is_asked_of_its_own_document(
    corpus: Corpus,
) -> None:
    outer = "What rating may the NV2N518?"
    finder: Any = Pointing({"transistor carry that ECN-0072 introduces?": "NV2N518", outer: "1.0"})
    knowing = replace(corpus, finder=finder)
    first: Any = {"status": "enough", "reason": "r", "targets": ["ecn-0072"], "open": True}
    going = await lead_on(knowing, state_of(), Context(), first)
    assert going["status"] == "more"
    [call] = going["calls"]
    assert (call["args"]["query"], call["args"]["phrases"]) == (outer, ["NV2N518"])

    chunks = await corpus.index.document_chunks("datasheets", "nv2n518")
    evidence = [
        {"id": one.chunk_id, "doc": one.doc_id, "bucket": "datasheets", "score": 1.0} for one in chunks
    ]
    later: Any = {**state_of(chain=going["chain"]), "evidence": evidence, "rounds": 2}
    reached = await lead_on(knowing, later, Context(), going["chain"]["otherwise"])
    assert (reached["targets"], reached["several"]) == (["ecn-0072", "nv2n518"], 2)
    told = await read_hops(knowing, later["plan"], reached["hops"])
    assert ["NV2N518" in told[0].passages[0][0].text, "1.0" in told[1].passages[0][0].text] == [True, True]

    nowhere: Any = {**later, "evidence": []}
    assert await lead_on(knowing, nowhere, Context(), going["chain"]["otherwise"]) == first


async def test_a_document_that_answers_by_itself_leads_nowhere(corpus: Corpus) -> None:
    finder: Any = Pointing({})
    first: Any = {"status": "enough", "reason": "r", "targets": ["ecn-0072"], "open": True}
    others: list[Any] = [{"several": 2}, {"targets": []}, {"status": "clarify"}, {}]
    for more in others:
        decision: Any = {**first, **more}
        assert await lead_on(replace(corpus, finder=finder), state_of(), Context(), decision) == decision


async def test_a_sure_answer_stands_unless_it_is_the_name_that_leads_on(corpus: Corpus) -> None:
    inner = {"transistor carry that ECN-0072 introduces?": "NV2N518"}
    first: Any = {"status": "enough", "reason": "r", "targets": ["ecn-0072"], "open": True}
    told = (("position Q3", "enough", True), ("replaced by NV2N518", "more", True), ("0072", "enough", False))
    for said, status, in_parts in told:
        finder: Any = Pointing({**inner, PART: said})
        decision = await lead_on(replace(corpus, finder=finder), state_of(), Context(), first)
        assert (decision["status"], len(finder.asked) > 1) == (status, in_parts), said


async def test_a_sure_value_of_the_form_that_is_asked_for_leads_nowhere(corpus: Corpus) -> None:
    asked = "When may the transistor be ordered that ECN-0072 introduces?"
    document = corpus.documents.get("ecn-0072")
    assert document
    for said, sure, in_parts in (
        ("from 1 January 2025", True, False),
        ("from 1 January 2025", False, True),
        ("replaced by NV2N518", True, True),
    ):
        finder: Any = Pointing({asked: said})
        direct, _ = steps_from(replace(corpus, finder=finder), document, asked, sure=sure)
        assert (direct.text, len(finder.asked) > 1) == (said, in_parts)
