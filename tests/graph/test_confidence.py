"""How sure an answer without a model is: learned from signs of its run, said as a number, and in words where it is low."""

import json
import logging

import pytest

from citegraph.evidence.confidence import FORMS, LOG, WEIGHTS, confidence_of, learned, with_confidence
from citegraph.run.services import Corpus
from graph.langsmith import feedback_of
from graph.session import Session
from graph.watch import seen_of
from training.confidence import fitted, left_out, report, said_by

ODD = "We argued about it twice. Does the purple clause in the lease from KW-240117 bind whoever mops the stairs on Sundays?"


def test_the_file_of_weights_is_what_the_program_writes() -> None:
    held = json.loads(WEIGHTS.read_text("utf-8"))
    assert held.keys() == {"threshold", "bias", "weights"}
    assert 0 < held["threshold"] < 1
    kinds = {name.removeprefix("kind: ") for name in held["weights"] if name.startswith("kind: ")}
    assert {"list", "number", "fact"} <= kinds <= FORMS.keys()
    assert all(name.startswith(("kind: ", "set: ", "passages: ")) for name in held["weights"])


async def test_a_plain_question_is_answered_surely_and_an_odd_one_with_a_doubt(
    session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, LOG.name)
    plain = await session.ask("What is the total amount of all invoices from Cobaltine in 2024?")
    assert plain.status == "answered"
    assert plain.confidence is not None
    assert plain.confidence > 0.8
    told = plain.model_dump(mode="json")
    assert feedback_of(told)["confidence"] == plain.confidence
    assert seen_of("verify_citations", {"answer": told}, {}, None).confidence == plain.confidence
    odd = await session.ask(ODD)
    assert odd.status == "partial"
    assert odd.confidence is not None
    assert odd.confidence < learned()["threshold"] / 2
    first, *rest = odd.text.splitlines()
    assert f"about {round(100 * odd.confidence)} in 100 were right" in first
    assert "invoice number = KW-240117" in first
    assert "stairs" in first
    assert rest
    assert odd.claims
    assert all(odd.text[claim.start :].startswith(claim.text[:20]) for claim in odd.claims)
    (of_plain, of_odd) = (record.__dict__["signs"] for record in caplog.records if record.name == LOG.name)
    assert of_plain["kind: number"] == of_odd["kind: fact"] == 1
    assert of_odd["passages: by passage"] == 1
    assert of_odd["passages: unsaid"] > 0
    assert not any(name.startswith("passages") for name in of_plain)
    assert round(confidence_of(of_odd), 2) == odd.confidence


async def test_a_doubt_is_said_in_the_language_of_the_question(session: Session) -> None:
    answer = await session.ask(
        "Il capo brontola da giorni. Quanto pesa la cassa che Oudenveld ha mandato con KW-240117, e chi la porta?"
    )
    assert answer.text.startswith("Nota: può essere sbagliato")


async def test_nothing_is_said_of_what_states_nothing(session: Session) -> None:
    assert (await session.ask("Which invoices of Zorblatt?")).confidence is None
    assert (await session.ask("hello")).confidence is None


def test_nothing_is_said_where_a_model_read_the_question(corpus: Corpus) -> None:
    draft = {"text": "Two.", "documents": ["a", "b"]}
    state = {"plan": {"kind": "documents"}, "question": "how many?"}
    assert with_confidence(corpus, {**state, "decomposition": {"by": "model"}}, draft) == draft  # type: ignore[arg-type, typeddict-item]
    assert with_confidence(corpus, {**state, "usage": {"llm_calls": 1}}, draft) == draft  # type: ignore[arg-type, typeddict-item]


def test_the_weights_of_first_looks_are_learned_beside_those_that_were_worked_on() -> None:
    rows = [
        {
            "batch": batch,
            "status": "answered",
            "right": (place % 4 != 0) if clear else (place % 4 == 0) or (batch == "old" and place % 4 == 1),
            "signs": {"kind: list": 1.0, **({} if clear else {"set: unread": 1.0})},
        }
        for batch in ("old", "new", "newer")
        for clear in (True, False)
        for place in range(40)
    ]
    bias, weights = fitted(rows, ["new", "newer"])
    assert weights["set: unread"] < 0
    clear, unclear = said_by(bias, weights, [rows[0], rows[40]])
    assert clear > 0.6
    assert unclear < 0.4
    said = left_out(rows, ["new", "newer"])
    assert said.shape == (240,)
    first = report(rows, said, 300)[0]
    assert first.startswith("240 stated of 300, right 0.5")
