"""A real model that is too small to be wise: nothing it says breaks a run (make test-local-model)."""

from typing import Any, Literal

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel, Field

from citegraph.errors import Rejected
from citegraph.llm.budget import CallBudget
from citegraph.llm.call_options import Call
from citegraph.llm.chat import ChatModels, text
from citegraph.llm.streaming import TextStream
from citegraph.llm.structured import structured
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.services import Services
from graph.session import Session

pytestmark = pytest.mark.local_model

LOOKUP = "What is the maximum collector-emitter voltage VCEO of the NV2N517?"
QUESTIONS = (LOOKUP, "List all invoices from Cobaltine Cloud dated 2024")
RUN_SECONDS = 60.0
FELL_BACK = frozenset({"fallback", "out of time", "failed", "not verified", "not reranked"})


class Sorted(BaseModel):
    """A small reply; every text is bounded, or this model never ends it."""

    kind: Literal["invoice", "contract"]
    reason: str = Field(max_length=40)


def asked(said: str, **overrides: Any) -> Call:
    return Call("decompose", [HumanMessage(said)], CallBudget.of(6, 90), overrides={"decompose": overrides})


async def test_a_json_schema_is_kept(local_chat: ChatModels) -> None:
    parsed = await structured(local_chat, asked("Is a bill with a total an invoice or a contract?"), Sorted)
    assert isinstance(parsed.value, Sorted)
    assert parsed.calls[0].rung == "json_schema"
    assert parsed.calls[0].tokens_in > 0
    assert not parsed.calls[0].estimated
    await local_chat.aclose()


async def test_a_tool_that_it_does_not_call_falls_through_the_ladder(local_chat: ChatModels) -> None:
    call = asked("Is a bill with a total an invoice or a contract?", method="tool_call")
    try:
        parsed = await structured(local_chat, call, Sorted)
        made = parsed.calls
    except Rejected as error:
        made = error.calls
    assert [one.rung for one in made] in (["tool_call"], ["tool_call", "repair"])
    await local_chat.aclose()


async def test_a_stream_comes_in_pieces_that_make_the_reply(local_chat: ChatModels) -> None:
    streaming = TextStream(local_chat, asked("Say in one sentence what an invoice is."))
    pieces = [piece async for piece in streaming]
    assert streaming.result is not None
    assert len(pieces) > 1
    assert "".join(pieces).strip() == streaming.result.content.strip()
    # The server may drop a kept-alive connection after a stream: the next call must not suffer from it.
    assert (await text(local_chat, asked("Say yes."))).content
    await local_chat.aclose()


@pytest.mark.parametrize("mode", ["agent", "tool_loop", "single"])
@pytest.mark.parametrize("question", QUESTIONS, ids=["lookup", "list"])
async def test_a_whole_run_ends_in_an_answer(mode: str, question: str, local_services: Services) -> None:
    session = Session(local_services, InMemorySaver(), "tool_loop" if mode == "tool_loop" else "agent")
    context = Context(mode="single" if mode == "single" else "agentic", max_seconds=RUN_SECONDS)
    events = [event async for event in session.stream(question, context=context)]
    answer = Answer.model_validate(events[-1]["answer"])  # type: ignore[typeddict-item]
    shown = [(note.step, note.kind, note.message) for note in answer.notes]
    print(f"\n{mode}: {answer.status}, {answer.usage}\n{answer.text[:200]}\n{shown}")
    assert answer.status in {"answered", "partial", "unanswerable", "needs_clarification"}
    assert answer.usage.llm_calls <= context.max_llm_calls
    assert answer.usage.tool_calls <= context.max_tool_calls
    assert answer.usage.seconds < RUN_SECONDS + 10
    assert not {claim.verdict for claim in answer.claims} & {"unsupported", "contradicted"}
    if answer.usage.fallbacks:
        assert any(kind in FELL_BACK for _, kind, _ in shown), "no note names the fallback"
    if question == LOOKUP and mode != "tool_loop":
        assert answer.usage.llm_calls >= 1, "the model was asked"
    assert told(events) == answer.text or answer.status == "needs_clarification"
    await local_services.chat.aclose()


def told(events: list[Any]) -> str:
    """Return the text that the tokens since the last correction make."""
    text = ""
    for event in events:
        if event["event"] == "token":
            text += event["text"]
        elif event["event"] == "correction":
            text = ""
    return text
