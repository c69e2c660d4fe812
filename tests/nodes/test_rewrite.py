"""rewrite: filler goes, a follow-up is merged with the turn before, by rules and by a model."""

from typing import Any

import pytest

from citegraph.question.phrases import clean
from citegraph.run.services import Services
from nodes.rewrite import Rewrite
from tests.node_runtime import runtime, with_models


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("Hi there! Could you please list the leases?", "list the leases?"),
        ("Guten Morgen, bitte alle Verträge", "alle Verträge"),
        ("Bonjour, montre les factures s'il vous plaît", "montre les factures"),
        ("I was wondering whether the lease ends in 2027", "the lease ends in 2027"),
        ("the total ?", "the total?"),
        ("what holds Bram's .cfg file ?", "what holds Bram's .cfg file?"),
        ("le total, svp.", "le total."),
        ("Hello!", "Hello!"),
        ("Hitch Ltd: total?", "Hitch Ltd: total?"),
    ],
)
def test_clean(asked: str, expected: str) -> None:
    assert clean(asked) == expected


def turn(question: str) -> dict[str, Any]:
    """Return a turn before, a list of invoices."""
    return {
        "question": question,
        "buckets": ["invoices"],
        "applied": {"invoices": {"filters": []}},
        "left": {"intent": "list", "kind": "documents", "aggregate": {"function": "none", "field": None}},
    }


async def test_a_first_turn_costs_no_model_call(services: Services) -> None:
    modelled, script = with_models(services, [])
    update = await Rewrite(modelled)({"asked": "Hi, when does it end?"}, runtime())
    assert update == {"question": "when does it end?", "edit": ""}
    assert script.calls == []


async def test_a_slip_in_a_word_of_asking_is_mended_and_said(services: Services) -> None:
    update = await Rewrite(services)({"asked": "nubmer of leases with Kestrelwick"}, runtime())
    assert update["question"] == "number of leases with Kestrelwick"
    assert [item["message"] for item in update["notes"]] == ["“nubmer” was read as “number”."]


async def test_the_model_rewrites_a_follow_up(services: Services) -> None:
    modelled, script = with_models(
        services, [{"question": " When does the Oudenveld contract end? "}], "rewrite"
    )
    state: Any = {
        "asked": "when does it end?",
        "turns": [turn("Who signed the Oudenveld contract?") | {"answer": "Two people."}],
    }
    update = await Rewrite(modelled)(state, runtime())
    assert (update["question"], update["usage"]["llm_calls"]) == ("When does the Oudenveld contract end?", 1)
    assert "User: Who signed the Oudenveld contract?\nAnswer: Two people." in script.calls[0].prompt


async def test_a_follow_up_costs_no_call_of_its_own_where_decompose_has_a_model(services: Services) -> None:
    modelled, script = with_models(services, [])
    state: Any = {"asked": "and in May?", "turns": [turn("Invoices in March 2024?") | {"answer": ""}]}
    assert await Rewrite(modelled)(state, runtime()) == {
        "question": "Invoices in March 2024?",
        "edit": "and in May?",
    }
    assert script.calls == []


async def test_an_empty_rewriting_keeps_the_question(services: Services) -> None:
    modelled, _ = with_models(services, [{"question": "  "}], "rewrite")
    state: Any = {"asked": "Hello, when does it end?", "turns": [turn("x") | {"answer": "y"}]}
    assert (await Rewrite(modelled)(state, runtime()))["question"] == "when does it end?"
