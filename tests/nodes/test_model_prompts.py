"""What each step's model is sent, frozen, and how many calls a question costs; its schemas: tests/citegraph/llm/test_every_schema.py.

A snapshot that is missing is written, and the test fails once: read it before you commit it, and raise the prompt's
version when what a model sees has changed.
"""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

from citegraph.run.context import Context
from citegraph.run.services import Services
from graph.session import Session
from tests.node_runtime import TODAY, with_models

SNAPSHOTS = Path(__file__).parent / "snapshots"
RIGHT = "The collector-emitter voltage VCEO of the NV2N517 is 45 V at most [nv2n517]."
VAGUE = "A ceiling for collector-emitter voltage with open base appears among tabulated ratings of this part [nv2n517]."


def decomposed(**parts: Any) -> dict[str, Any]:
    return {
        "question": "",
        "small_talk": False,
        "reply": "",
        "intent": "qa",
        "aggregate": "none",
        "primary_buckets": [],
        "entities": [],
        "constraints": [],
        "topic_terms": [],
        "subqueries": [],
        "format": "prose",
    } | parts


DONE = {"status": "enough", "reason": "it is stated", "next_calls": []}
NO_SHAPE = {"aggregate": "none", "aggregate_field": "", "group_by": [], "order_by": "", "limit": 0}


def model(step: str, messages: list[BaseMessage]) -> Any:
    """Answer as a capable model would: by the question at the end of the prompt."""
    asked = messages[-1].text.rsplit("<question>", 1)[-1]
    if step == "decompose":
        if "thanks a lot, mate" in asked:
            return decomposed(small_talk=True, reply="You are welcome!")
        if "Prinz" in asked:
            unpaid = {"field": "state", "operator": "=", "value": ["unpaid"], "raw_text": "unpaid"}
            return decomposed(intent="list", primary_buckets=["invoices"], constraints=[unpaid])
        if "what about its" in asked:
            part = {"name": "NV2N517", "role": "identifier"}
            return decomposed(
                question="What is the package of the NV2N517?",
                primary_buckets=["datasheets"],
                entities=[part],
            )
        if "NV2N517" not in asked:
            return decomposed(primary_buckets=["datasheets"])
        return decomposed(
            primary_buckets=["datasheets"], entities=[{"name": "NV2N517", "role": "identifier"}]
        )
    if step == "schema_plan":
        plan = {"bucket": "invoices", "filters": [], **NO_SHAPE}
        return {"plans": [plan], "whole_set": True, "strategy": "hybrid", "queries": []}
    if step == "review":
        return DONE
    if step == "verify":
        return {"rulings": [{"number": 1, "verdict": "supported", "reason": "a limit is listed"}]}
    return f"{RIGHT} {VAGUE}" if "NV2N517" in asked else "The documents do not state it."


@pytest.fixture
async def asked(services: Services) -> Any:
    """Return every request of a question, a follow-up and a list, by step, and how many each of them took."""
    modelled, script = with_models(services, model)
    session = Session(modelled, InMemorySaver())
    context = Context(today=TODAY.isoformat())
    counts, answers = [], []
    for question in (
        "What is the maximum collector-emitter voltage VCEO of the NV2N517?",
        "And what about its package?",
        "List the invoices to Prinz that are unpaid",
        "thanks a lot, mate",
        "Which transistor takes 45 V?",
    ):
        before = len(script.calls)
        answers.append(await session.ask(question, thread_id="t", context=context, new=True))
        counts.append(script.steps()[before:])
    return script, counts, answers


async def test_the_prompts_are_as_they_were(asked: Any) -> None:
    script, _, _ = asked
    shown = {}
    for call in script.calls:
        shown[call.step] = "\n\n".join(f"--- {item.type}\n{item.text}" for item in call.messages) + "\n"
        if call.step == "verify":
            break
    later = {call.step: call for call in script.calls if call.step in {"schema_plan", "review"}}
    for step, call in later.items():
        shown[step] = "\n\n".join(f"--- {item.type}\n{item.text}" for item in call.messages) + "\n"
    assert set(shown) == {"decompose", "schema_plan", "review", "compose", "verify"}
    written = []
    for step, text in shown.items():
        file = SNAPSHOTS / f"{step}.txt"
        if not file.exists():
            file.write_text(text, "utf-8")
            written.append(file.name)
        assert text == file.read_text("utf-8"), step
    assert written == []


async def test_a_question_for_one_fact_of_a_named_document_costs_three_calls_and_any_other_four(
    asked: Any,
) -> None:
    _, counts, answers = asked
    assert counts[0] == ["decompose", "compose", "verify"], "its document is read whole"
    assert "review" in counts[4]
    assert len(counts[4]) <= 4
    assert answers[0].text == f"{RIGHT} {VAGUE}"


async def test_a_follow_up_is_rewritten_in_the_call_that_reads_it(asked: Any) -> None:
    _, counts, answers = asked
    assert counts[1][0] == "decompose"
    assert "rewrite" not in counts[1]
    assert len(counts[1]) <= 4
    assert answers[1].question == "What is the package of the NV2N517?"


async def test_a_list_is_planned_by_a_model_only_where_rules_leave_something_open(asked: Any) -> None:
    _, counts, _ = asked
    assert counts[2] == ["decompose", "schema_plan"], "the database lists; nobody composes"


async def test_small_talk_that_rules_do_not_know_costs_one_call(asked: Any) -> None:
    _, counts, answers = asked
    assert len(counts[3]) <= 1
    assert (answers[3].retrieval, answers[3].status) == (False, "answered")
