"""rewrite: filler goes, a follow-up is merged with the turn before, by rules and by a model."""

from typing import Any

import pytest

from citegraph.question.phrases import clean
from citegraph.run.services import Corpus, Services
from nodes.rewrite import Rewrite, is_follow_up, merge, replace_period
from tests.node_runtime import TODAY, runtime, with_models


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("Hi there! Could you please list the leases?", "list the leases?"),
        ("Guten Morgen, bitte alle Verträge", "alle Verträge"),
        ("Bonjour, montre les factures s'il vous plaît", "montre les factures"),
        ("I was wondering whether the lease ends in 2027", "the lease ends in 2027"),
        ("the total ?", "the total?"),
        ("Hello!", "Hello!"),
        ("Hitch Ltd: total?", "Hitch Ltd: total?"),
    ],
)
def test_clean(asked: str, expected: str) -> None:
    assert clean(asked) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("And for 2022?", True),
        ("Und 2022?", True),
        ("what about Colworth?", True),
        ("nur 2023", True),
        ("When does it end?", True),
        ("the second one", True),
        ("Which invoices did Colworth send in May 2023?", False),
        ("Who signed the tenancy agreement with Colworth and when does it end?", False),
    ],
)
def test_is_follow_up(question: str, expected: bool) -> None:
    assert is_follow_up(question) is expected


def turn(question: str, *names: str) -> dict[str, Any]:
    """Return a turn before, over invoices, with the names that its question mentions."""
    return {"question": question, "buckets": ["invoices"], "mentions": [{"text": name} for name in names]}


@pytest.mark.parametrize(
    ("before", "names", "asked", "expected"),
    [
        ("Invoices in March 2024?", (), "and in May?", "Invoices in May 2024?"),
        ("Invoices in March 2024?", (), "and in May 2023?", "Invoices in May 2023?"),
        (
            "What did Cobaltine Cloud bill in 2024?",
            ("Cobaltine Cloud",),
            "and Oudenveld?",
            "What did Oudenveld bill in 2024?",
        ),
        (
            "List the Cobaltine invoices",
            ("Cobaltine",),
            "only over 2000 USD",
            "List the Cobaltine invoices only over 2000 USD",
        ),
        (
            "What is the total of receipt 0314?",
            ("0314",),
            "and number 0322?",
            "What is the total of receipt 0322?",
        ),
        ("Who issued F-2024-087?", ("F-2024-087",), "what is its due date?", "what is due date F-2024-087"),
        ("Invoices from Oudenveld", ("Oudenveld",), "and?", "Invoices from Oudenveld"),
    ],
)
def test_merge(corpus: Corpus, before: str, names: tuple[str, ...], asked: str, expected: str) -> None:
    merged = merge(corpus, turn(before, *names), asked, TODAY)
    assert " ".join(merged.split()) == expected


def test_a_period_is_replaced_or_added() -> None:
    assert replace_period("Leases in 2021?", "2023", TODAY) == "Leases in 2023?"
    assert replace_period("Which leases end?", " in 2023 ", TODAY) == "Which leases end in 2023?"
    assert replace_period("Total for Q1 2024?", "Q2", TODAY) == "Total for Q2 2024?"


async def test_a_first_turn_costs_no_model_call(services: Services) -> None:
    modelled, script = with_models(services, [])
    update = await Rewrite(modelled)({"asked": "Hi, when does it end?"}, runtime())
    assert update == {"question": "when does it end?", "edit": ""}
    assert script.calls == []


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
    assert (await Rewrite(modelled)(state, runtime()))["question"] == "Invoices in May 2024?"
    assert script.calls == []


async def test_an_empty_rewriting_keeps_the_question(services: Services) -> None:
    modelled, _ = with_models(services, [{"question": "  "}], "rewrite")
    state: Any = {"asked": "Hello, when does it end?", "turns": [turn("x") | {"answer": "y"}]}
    assert (await Rewrite(modelled)(state, runtime()))["question"] == "when does it end?"


async def test_the_twin_merges_with_the_last_turn_only(services: Services) -> None:
    state: Any = {
        "asked": "and in May?",
        "turns": [turn("Leases in 2020") | {"answer": ""}, turn("Invoices in March 2024?") | {"answer": ""}],
    }
    assert await Rewrite(services)(state, runtime()) == {"question": "Invoices in May 2024?", "edit": ""}
    state["asked"] = "Which invoices did Colworth send in May 2023?"
    assert await Rewrite(services)(state, runtime()) == {"question": state["asked"], "edit": ""}


@pytest.mark.parametrize(
    "asked", ["only those over 2000 USD", "nur 2024", "sans Brisemarne", "which of them are due?"]
)
async def test_what_narrows_the_last_set_edits_its_question(services: Services, asked: str) -> None:
    state: Any = {"asked": asked, "turns": [turn("List the invoices") | {"answer": ""}]}
    assert await Rewrite(services)(state, runtime()) == {"question": "List the invoices", "edit": asked}
