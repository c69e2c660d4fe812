"""What a run tells while it works: steps, tools, tokens and corrections, through `Session` and LangGraph's streams."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, get_args

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import TypeAdapter

from citegraph.answer.chat_text import chat_text
from citegraph.errors import Rejected, Unavailable
from citegraph.llm.scripted import ScriptedChatModel, scripted
from citegraph.run.answer_types import Answer, Clarification
from citegraph.run.context import Context
from citegraph.run.events import BROKEN_OFF, REWRITTEN, VERIFIED, Event
from graph.session import NothingPending, Session, UnknownThread
from tests.graph.conftest import OpenSession
from tests.graph.test_citation_flow import QUESTION, RIGHT, WRONG, writing

AMBIGUOUS = "What was the total of the Larut catering receipt?"
UNBACKED = "The NV2N517 weighs 77 grams [nv2n517]."
UNMARKED = RIGHT.removesuffix(" [nv2n517].")
EVENTS: TypeAdapter[Event] = TypeAdapter(Event)


def texts(events: Sequence[Event]) -> list[str]:
    """Return the text of each attempt: the tokens up to each correction, and those after the last."""
    attempts = [""]
    for event in events:
        if event["event"] == "correction":
            attempts.append("")
        elif event["event"] == "token":
            attempts[-1] += event["text"]
    return attempts


def reasons(events: Sequence[Event]) -> list[str]:
    return [event["reason"] for event in events if event["event"] == "correction"]


async def told(session: Session, question: str = QUESTION, **given: Any) -> tuple[list[Event], Answer]:
    """Return the events of a run and its answer; each is of a declared shape, and the answer is the end."""
    events = [EVENTS.validate_python(event, strict=True) async for event in session.stream(question, **given)]
    assert [event["event"] for event in events].index("answer") == len(events) - 1
    last = events[-1]
    assert last["event"] == "answer"
    return events, Answer.model_validate(last["answer"])


async def test_tokens_arrive_one_by_one_while_the_model_writes(open_session: OpenSession) -> None:
    models, script = writing(RIGHT)
    async with open_session(models) as session:
        events, answer = await told(session)
    tokens = [event["text"] for event in events if event["event"] == "token"]
    assert len(tokens) == len(RIGHT.split(" ")), "one event a piece, not the whole at the end"
    assert texts(events) == [RIGHT] == [answer.text]
    order = [event["event"] for event in events]
    steps = [event["step"] for event in events if event["event"] == "step"]
    assert order.index("token") < order.index("step", order.index("token")), "before compose has ended"
    assert steps[-2:] == ["compose", "verify_citations"]
    assert [call.streamed for call in script.calls if call.step == "compose"] == [True]


async def test_the_twins_text_is_told_too(session: Session) -> None:
    events, answer = await told(session)
    assert answer.text
    assert texts(events) == [answer.text]
    (tool,) = [event for event in events if event["event"] == "tool"]
    assert (tool["tool"], tool["query"], tool["error"]) == ("search", QUESTION, "")
    assert "datasheets" in tool["buckets"]
    assert (1 <= tool["hits"] <= 10, tool["ms"] >= 0) == (True, True)
    steps = {event["step"]: event for event in events if event["event"] == "step"}
    assert steps["route"]["detail"].startswith("datasheets ")
    assert steps["compose"]["seconds"] > 0


async def test_a_correction_replaces_what_was_streamed(open_session: OpenSession) -> None:
    models, _ = writing(WRONG, RIGHT)
    async with open_session(models) as session:
        events, answer = await told(session)
    assert texts(events) == [WRONG, RIGHT]
    assert reasons(events) == [REWRITTEN]
    assert answer.text == RIGHT


async def test_a_claim_that_code_cuts_is_a_correction(open_session: OpenSession) -> None:
    models, _ = writing(f"{RIGHT} {UNBACKED}")
    async with open_session(models) as session:
        events, answer = await told(session, context=Context(max_corrections=0))
    assert texts(events) == [f"{RIGHT} {UNBACKED}", RIGHT]
    assert reasons(events) == [VERIFIED]
    assert answer.text == RIGHT


async def test_thoughts_and_space_around_the_text_are_not_told(open_session: OpenSession) -> None:
    models, _ = writing(f"<think>The user wants 45 V, I think.</think>\n\n  {RIGHT}  \n")
    async with open_session(models) as session:
        events, answer = await told(session)
    assert texts(events) == [RIGHT] == [answer.text]


async def test_a_model_that_breaks_off_is_taken_back_and_the_twin_told(
    open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ScriptedChatModel._astream

    async def broken(self: Any, *arguments: Any, **named: Any) -> AsyncIterator[Any]:
        pieces = whole(self, *arguments, **named)
        for _ in range(3):
            yield await anext(pieces)
        raise Unavailable("the endpoint hung up")

    monkeypatch.setattr(ScriptedChatModel, "_astream", broken)
    models, script = writing(WRONG)
    async with open_session(models) as session:
        events, answer = await told(session)
    assert script.steps().count("compose") == 2, "tried again once"
    begun = "The collector-emitter voltage"
    assert texts(events) == [begun, begun, answer.text]
    assert reasons(events) == [BROKEN_OFF, BROKEN_OFF]
    assert "45" in answer.text


async def test_json_in_the_answers_stead_is_taken_back_and_the_twin_told(open_session: OpenSession) -> None:
    # Its numbers and names are in the passages: as a claim it would be found supported.
    for written in ('{"status": 3}', '```json\n[{"VCEO": "45 V"}]\n```'):
        models, script = writing(written)
        async with open_session(models) as session:
            events, answer = await told(session)
        assert script.steps().count("compose") == 1
        *before, last = texts(events)
        assert (before, last) in [([], answer.text), ([written], answer.text)], "an open brace may wait"
        assert reasons(events) == [BROKEN_OFF] * len(before)
        assert ("compose", "fallback") in [(item.step, item.kind) for item in answer.notes]
        assert answer.text.startswith("“")


async def test_a_run_that_dies_tells_its_text_as_well(open_session: OpenSession, monkeypatch: Any) -> None:
    models, _ = writing(RIGHT)
    async with open_session(models) as session:
        whole = session._parts

        async def dying(*arguments: Any) -> AsyncIterator[Any]:
            async for mode, part in whole(*arguments):
                yield mode, part
                if mode == "custom" and part["event"] == "token":
                    raise RuntimeError("secret detail")

        monkeypatch.setattr(session, "_parts", dying)
        events, answer = await told(session)
    assert answer.status == "failed"
    assert "secret" not in str(events)
    assert texts(events) == ["The", answer.text]


async def test_a_pause_tells_the_clarification_and_a_reply_goes_on(session: Session) -> None:
    events, answer = await told(session, AMBIGUOUS, thread_id="paused")
    (asked,) = [event for event in events if event["event"] == "clarification"]
    assert (answer.status, asked["thread_id"]) == ("needs_clarification", "paused")
    assert Clarification.model_validate(asked["clarification"]) == answer.clarification
    assert texts(events) == [""], "the question back is no answer"
    option = asked["clarification"]["options"][0]["id"]
    resumed = [event async for event in session.stream_reply("paused", option)]
    last = resumed[-1]
    assert last["event"] == "answer"
    assert last["answer"]["status"] == "answered"
    assert texts(resumed) == [last["answer"]["text"]]


async def test_guards_raise_before_the_first_event(session: Session) -> None:
    with pytest.raises(UnknownThread):
        await anext(session.stream_reply("nowhere", "1"))
    await session.ask(QUESTION, thread_id="done")
    with pytest.raises(NothingPending):
        await anext(session.stream_reply("done", "1"))


async def test_a_reader_that_leaves_ends_the_run(open_session: OpenSession) -> None:
    models, script = writing(RIGHT)
    async with open_session(models) as session:
        events = session.stream(QUESTION)
        await anext(events)
        await events.aclose()
    assert "compose" not in script.steps()


# --- LangGraph's own message stream ---------------------------------------------------------------


async def messages_of(session: Session, thread: str, **context: Any) -> list[Any]:
    config: Any = {"configurable": {"thread_id": thread}}
    given = {"messages": [{"role": "user", "content": QUESTION}]}
    stream = session.graph.astream(given, config, context=Context(**context), stream_mode="messages")
    return [message async for message, _ in stream]  # type: ignore[misc]


async def test_the_message_stream_holds_the_answer_and_nothing_else(open_session: OpenSession) -> None:
    def reply(step: str, messages: list[BaseMessage]) -> Any:
        if step == "compose":
            return f"<think>hm</think>{RIGHT}"
        return Rejected("no JSON from me") if step == "decompose" else "inner nonsense, never to be shown"

    models, script = scripted(reply)
    async with open_session(models) as session:
        seen = await messages_of(session, "chat")
        state = await session.graph.aget_state({"configurable": {"thread_id": "chat"}})
    assert {"compose", "decompose"} < set(script.steps()), "inner calls were made"
    assert "".join(message.text for message in seen) == RIGHT
    (message_id,) = {message.id for message in seen}
    kept = state.values["messages"][-1]
    assert isinstance(kept, AIMessage)
    assert kept.id == message_id, "chat clients show the streamed message once"
    assert kept.text == chat_text(Answer.model_validate(state.values["answer"]))
    assert kept.text.startswith(f"{UNMARKED} [[1]](/cited/nv2n517?"), "with links in the markers' stead"


async def test_the_message_stream_gets_a_corrected_answer_as_a_message_of_its_own(
    open_session: OpenSession,
) -> None:
    models, _ = writing(f"{RIGHT} {UNBACKED}")
    async with open_session(models) as session:
        seen = await messages_of(session, "cut", max_corrections=0)
        state = await session.graph.aget_state({"configurable": {"thread_id": "cut"}})
    by_id: dict[str, str] = {}
    for message in seen:
        by_id[message.id] = by_id.get(message.id, "") + message.text
    kept = chat_text(Answer.model_validate(state.values["answer"]))
    assert kept.startswith(f"{UNMARKED} [[1]](/cited/nv2n517?")
    assert "77 grams" not in kept
    assert list(by_id.values()) == [f"{RIGHT} {UNBACKED}", kept]
    assert [message.text for message in state.values["messages"]] == [QUESTION, kept]
    assert state.values["messages"][-1].id == list(by_id)[-1]


def test_every_event_has_a_name_of_its_own() -> None:
    names = [get_args(event.__annotations__["event"])[0] for event in get_args(Event)]
    assert names == ["run", "step", "tool", "token", "correction", "clarification", "answer"]
