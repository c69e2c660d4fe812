"""lexicon and decompose: what a question wants, in three languages, and the model's reply."""

from typing import Any

import pytest

from citegraph.language.word_tables import pattern
from citegraph.question import cues
from citegraph.question.cues import GREETED
from citegraph.run.services import Services
from nodes.decompose import Decompose, decompose, entities, output_format, tidy
from tests.node_runtime import runtime, with_models


@pytest.mark.parametrize(
    ("signals", "hits", "misses"),
    [
        (
            cues.NEGATION,
            ["not Bramley", "keine Belege", "sauf Bramley", "ohne", "other than"],
            ["note", "knot", "nobody"],
        ),
        (
            cues.EXISTENCE,
            ["are there leases", "gibt es Belege", "existe un avenant"],
            ["germany", "existing lease"],
        ),
        (
            pattern("newest", "last"),
            ["most recent", "neueste Fassung", "dernière facture"],
            ["lasting", "plaster"],
        ),
        (pattern("oldest", "first"), ["earliest", "älteste Rechnung", "première"], ["firstly", "golden"]),
        (cues.WHICH, ["which one", "Welchem", "quelle"], ["sandwich", "somewhat"]),
    ],
)
def test_signal_words_are_whole_words(signals: Any, hits: list[str], misses: list[str]) -> None:
    assert [text for text in hits if not signals.search(text)] == []
    assert [text for text in misses if signals.search(text)] == []


def test_entities_are_capitalised_runs_and_identifiers() -> None:
    assert entities("What is the term of the Bank of Wexcombe lease with Colworth & Sons?") == [
        {"name": "Bank of Wexcombe", "role": "other"},
        {"name": "Colworth & Sons", "role": "other"},
    ]
    assert entities("Is QX-7781 newer than Bramley?") == [
        {"name": "QX-7781", "role": "identifier"},
        {"name": "Bramley", "role": "other"},
    ]
    assert entities("what is the total?") == []
    assert len(entities(" and ".join(f"x Part{number}, y" for number in range(20)))) == 12


@pytest.mark.parametrize(
    ("question", "intent", "expected"),
    [
        ("as a table please", "list", "table"),
        ("als Tabelle", "qa", "table"),
        ("side by side", "compare", "table"),
        ("all of them", "list", "list"),
        ("who?", "qa", "prose"),
    ],
)
def test_format(question: str, intent: str, expected: str) -> None:
    assert output_format(question, intent) == expected


def test_the_twin_gives_the_whole_decomposition() -> None:
    assert decompose("List the invoices from Bramley & Co over 40 EUR as a table") == {
        "intent": "list",
        "aggregate": "none",
        "primary_buckets": [],
        "entities": [{"name": "Bramley & Co", "role": "other"}, {"name": "40 EUR", "role": "identifier"}],
        "constraints": [],
        "topic_terms": ["invoices", "bramley", "co", "40", "eur", "table"],
        "subqueries": [],
        "format": "table",
    }


def made(**parts: Any) -> dict[str, Any]:
    """Return a model's decomposition."""
    return {
        "intent": "qa",
        "aggregate": "none",
        "primary_buckets": ["contracts"],
        "entities": [],
        "constraints": [],
        "topic_terms": ["notice"],
        "subqueries": [],
        "format": "prose",
    } | parts


def test_tidy_drops_subqueries_that_repeat_the_question() -> None:
    again = {"purpose": "find_passage", "query": "Notice period, Bramley?"}
    other = {"purpose": "find_entity", "query": "Bramley contract"}
    tidied = tidy(made(subqueries=[again, other]), "notice period bramley")
    assert tidied == made(subqueries=[other])


async def test_the_models_reply_is_used_and_counted(services: Services) -> None:
    reply = made(subqueries=[{"purpose": "find_passage", "query": "WHAT IS THE NOTICE PERIOD?"}])
    modelled, script = with_models(services, [reply])
    update = await Decompose(modelled)({"question": "What is the notice period?"}, runtime())
    assert update["decomposition"] == made() | {"by": "model", "question": "What is the notice period?"}
    assert update["usage"]["llm_calls"] == 1
    assert script.steps() == ["decompose"]
    assert "<today>\n2025-03-01\n</today>" in script.calls[0].prompt
    assert "contracts" in script.calls[0].prompt


async def test_without_budget_the_twin_answers(services: Services) -> None:
    modelled, script = with_models(services, [])
    state: Any = {"question": "List all leases", "usage": {"llm_calls": 2}}
    update = await Decompose(modelled)(state, runtime(max_llm_calls=2))
    assert update == {"decomposition": decompose("List all leases")}
    assert script.calls == []


TURN = {
    "asked": "Leases in 2020",
    "question": "Leases in 2020",
    "answer": "Two.",
    "buckets": [],
    "mentions": [],
}


async def test_the_models_stand_alone_question_replaces_the_rules_own(services: Services) -> None:
    modelled, script = with_models(services, [made(question="Leases in 2022")])
    state: Any = {"asked": "and 2022?", "question": "merged by rules", "edit": "x", "turns": [TURN]}
    update = await Decompose(modelled)(state, runtime())
    assert (update["question"], update["edit"]) == ("Leases in 2022", "")
    assert update["decomposition"]["question"] == "Leases in 2022"
    assert "User: Leases in 2020\nAnswer: Two." in script.calls[0].prompt


async def test_the_model_sees_what_was_replied_and_what_held(services: Services) -> None:
    modelled, script = with_models(services, [made(question="Sum of the leases from 2020 on")])
    held: Any = {
        "field": "date",
        "operator": ">=",
        "value": "2020-01-01",
        "origin": "inferred",
        "raw": "2020",
    }
    turn: Any = TURN | {
        "answer": "\n".join(f"- lease {number} of a long list of leases" for number in range(40)),
        "replies": "Asked: Which?\nReply: only from 2020 on",
        "applied": {"contracts": {"filters": [held]}},
    }
    state: Any = {"asked": "and the sum?", "question": "merged by rules", "turns": [turn]}
    await Decompose(modelled)(state, runtime())
    shown = script.calls[0].prompt
    assert "Reply: only from 2020 on\nConditions: contracts: date >= 2020-01-01\nAnswer: - lease 0" in shown
    assert "of leases\n..." in shown, "a list is cut between its lines"


async def test_a_rewriting_that_lost_a_number_is_refused(services: Services) -> None:
    modelled, _ = with_models(services, [made(question="Leases")])
    state: Any = {"asked": "and 2022?", "question": "merged by rules", "turns": [TURN]}
    update = await Decompose(modelled)(state, runtime())
    assert "question" not in update
    assert [item["kind"] for item in update["notes"]] == ["rewriting refused"]


async def test_a_message_that_stands_alone_is_not_merged(services: Services) -> None:
    modelled, _ = with_models(services, [made()])
    asked = "Hello, please list the invoices of Bram's .cfg shop, svp."
    state: Any = {"asked": asked, "question": "merged by rules", "edit": "x", "turns": [TURN]}
    update = await Decompose(modelled)(state, runtime())
    assert (update["question"], update["edit"]) == ("list the invoices of Bram's .cfg shop.", "")
    assert update["decomposition"]["question"] == asked, "later prompts show what was typed"


@pytest.mark.parametrize(
    ("asked", "reply", "expected"),
    [
        ("cheers, you two", "You are welcome.", "You are welcome."),
        ("cheers, you two", "It is 45 V.", GREETED),
        ("cheers, you two", "See https://evil.example", GREETED),
        ("invoices, please", "You are welcome.", None),
        ("and what about 2022", "You are welcome.", None),
    ],
)
async def test_small_talk_is_believed_only_where_nothing_can_be_looked_up(
    asked: str, reply: str, expected: str | None, services: Services
) -> None:
    modelled, _ = with_models(services, [made(small_talk=True, reply=reply)])
    state: Any = {"asked": asked, "question": asked}
    gate = (await Decompose(modelled)(state, runtime())).get("gate", {})
    assert gate.get("reply") == expected
    assert gate.get("retrieve", True) is (expected is None)
