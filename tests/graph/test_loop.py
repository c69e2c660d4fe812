"""The single-loop agent: a model that calls the tools itself, whole runs by script, whatever it does."""

import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage

from citegraph.errors import Rejected, Unavailable
from citegraph.llm.scripted import Script, scripted
from citegraph.run.answer_types import Answer
from citegraph.run.budgets import loop_limit
from citegraph.run.context import Context
from citegraph.run.services import Corpus, Services
from graph.main import tool_loop
from graph.session import Session, sqlite_saver
from nodes.agent import NO_MODEL, ONE_PASS
from tests.graph.test_answers import check_citations
from tests.graph.test_citation_flow import QUESTION, RIGHT, WRONG
from tests.graph.test_streaming import EVENTS, texts
from tests.scripted_judge import judging

FIND = {"bucket": "datasheets", "query": "NV2N517 collector-emitter voltage VCEO"}
SUM: dict[str, Any] = {
    "bucket": "invoices",
    "filters": [{"field": "vendor_name", "operator": "=", "value": "Cobaltine Cloud Inc."}],
    "aggregate": [{"function": "count", "field": None}],
}

Turns = list[Any]


def call(*made: tuple[str, Any]) -> AIMessage:
    """Return a reply that calls tools."""
    calls = [
        {"name": name, "args": arguments, "id": f"x{place}"} for place, (name, arguments) in enumerate(made)
    ]
    return AIMessage(content="", tool_calls=calls)


def done(answer: str) -> AIMessage:
    return call(("done", {"answer": answer}))


@pytest.fixture
def open_loop(services: Services, tmp_path: Path) -> Callable[..., Any]:
    def opened(replies: Any, **more: Any) -> tuple[Session, Script, Any]:
        models, script = scripted(replies if callable(replies) else judging(replies))
        saver = sqlite_saver(tmp_path / "loop.sqlite")
        chosen = Services(settings=services.settings, ready=services.open(), models=models)
        return chosen, script, saver  # type: ignore[return-value]

    return opened


async def ask(
    open_loop: Any, replies: Any, question: str = QUESTION, **context: Any
) -> tuple[Answer, Script]:
    chosen, script, saver = open_loop(replies)
    async with saver as kept:
        answer = await Session(chosen, kept, "tool_loop").ask(question, context=Context(**context))
    return answer, script


async def test_a_question_is_searched_answered_and_verified(open_loop: Any, corpus: Corpus) -> None:
    answer, script = await ask(open_loop, [call(("search_text", FIND)), done(RIGHT)])
    assert (answer.status, answer.text) == ("answered", RIGHT)
    assert [claim.verdict for claim in answer.claims] == ["supported"]
    assert (answer.usage.llm_calls, answer.usage.tool_calls, answer.usage.rounds) == (2, 1, 1)
    assert answer.buckets == ["datasheets"]
    check_citations(answer, corpus)
    assert script.steps() == ["agent", "agent"], "the finder reads the value as the rules do: no judge"
    tools = [tool["function"]["name"] for tool in script.calls[0].arguments["tools"]]
    assert tools == ["search_text", "search_semantic", "query_documents", "get_document_metadata", "done"]
    assert "45 V" in script.calls[1].prompt


async def test_plain_text_ends_it_too_and_calls_run_together(open_loop: Any) -> None:
    first = call(
        ("search_text", FIND), ("search_semantic", FIND), ("get_document_metadata", {"doc_id": "nv2n517"})
    )
    answer, script = await ask(open_loop, [first, RIGHT])
    assert answer.text == RIGHT
    assert (answer.usage.tool_calls, answer.usage.rounds) == (3, 1)
    results = [message for message in script.calls[1].messages if message.type == "tool"]
    assert len(results) == 3
    assert '"title"' in results[2].text


async def test_a_wrong_claim_goes_back_to_the_agent_once(open_loop: Any) -> None:
    answer, script = await ask(open_loop, [call(("search_text", FIND)), done(WRONG), done(RIGHT)])
    assert (answer.status, answer.text) == ("answered", RIGHT)
    assert '"45 V"' in script.calls[2].prompt
    assert [tool["function"]["name"] for tool in script.calls[2].arguments["tools"]] == ["done"]


async def test_an_answer_from_nothing_gives_way_to_the_rules(open_loop: Any) -> None:
    answer, _ = await ask(open_loop, lambda step, messages: done("It is 45 V [nv2n517]. Trust me."))
    assert "Trust me" not in answer.text
    assert {claim.verdict for claim in answer.claims} == {"supported"}
    said = " ".join(item.message for item in answer.notes)
    assert "shown" in said


async def test_the_databases_numbers_back_the_answer(open_loop: Any, corpus: Corpus) -> None:
    wanted = corpus.annotations.document_ids("invoices", ())
    asked = {"bucket": "invoices", "aggregate": [{"function": "sum", "field": "total_amount"}]}
    text = ""

    def reply(step: str, messages: list[BaseMessage]) -> Any:
        nonlocal text
        results = [message for message in messages if message.type == "tool"]
        if not results:
            return call(("query_documents", asked))
        row = next(
            row for row in json.loads(results[0].text)["rows"] if row["sum_total_amount"]["currency"] == "EUR"
        )
        text = f"The sum of total_amount is {row['sum_total_amount']['amount']} EUR [{wanted[0]}]."
        return done(text)

    answer, _ = await ask(open_loop, reply, "What is the sum of all invoices?", max_corrections=0)
    assert (answer.status, answer.text) == ("answered", text)
    assert [claim.verdict for claim in answer.claims] == ["derived"]
    assert (answer.intent, answer.matched) == ("compute", len(wanted))
    assert set(answer.documents) == set(wanted)
    assert answer.table is not None
    wrong, _ = await ask(
        open_loop,
        [call(("query_documents", asked)), done(f"The sum of total_amount is 123456.78 EUR [{wanted[0]}].")],
        max_corrections=0,
    )
    assert "123456" not in wrong.text


async def test_groups_of_the_database_back_the_answer(open_loop: Any) -> None:
    asked = {
        "bucket": "invoices",
        "group_by": ["vendor_name"],
        "aggregate": [{"function": "count", "field": None}],
    }
    replies = [call(("query_documents", asked)), call(("query_documents", SUM))]
    answer, _ = await ask(
        open_loop, replies, "How many invoices has each vendor?", max_tool_calls=1, max_llm_calls=2
    )
    assert answer.table is not None
    assert answer.table.columns[0] == "vendor_name"


async def test_without_a_word_of_the_model_code_writes_the_query(open_loop: Any) -> None:
    asked = {"bucket": "invoices", "aggregate": [{"function": "count", "field": None}]}
    replies = [call(("query_documents", asked)), call(("query_documents", SUM))]
    answer, _ = await ask(open_loop, replies, "How many invoices?", max_tool_calls=1, max_llm_calls=2)
    assert "number of matching documents" in answer.text
    assert answer.status == "partial"


@pytest.mark.parametrize("reply", ["search", "unknown", "broken", "bad bucket", "same", "empty done", "huge"])
async def test_a_model_that_never_ends_ends_within_its_budget(reply: str, open_loop: Any) -> None:
    number = 0

    def never(step: str, messages: list[BaseMessage]) -> Any:
        nonlocal number
        number += 1
        if step == "compose":
            return RIGHT
        return {
            "search": call(("search_text", FIND | {"query": f"NV2N517 VCEO {number}"})),
            "unknown": call(("delete_everything", {})),
            "broken": call(("search_text", {"bucket": "datasheets", "top_k": -1, "haha": 1})),
            "bad bucket": call(("search_text", {"bucket": "secrets", "query": f"x {number}"})),
            "same": call(("search_text", FIND), ("search_text", FIND)),
            "empty done": call(("done", {"answer": ""})),
            "huge": call(("search_text", FIND | {"query": "x" * 100_000})),
        }[reply]

    answer, script = await ask(open_loop, never, max_tool_calls=3, max_llm_calls=6)
    assert script.steps().count("agent") + script.steps().count("compose") <= 6
    assert answer.usage.tool_calls <= 3 + 1
    assert answer.status in {"partial", "unanswerable"}
    assert answer.notes
    if reply == "search":
        assert (answer.status, answer.usage.tool_calls, answer.text) == ("partial", 3, RIGHT)


async def test_mistakes_are_told_to_the_model_which_mends_them(open_loop: Any) -> None:
    replies = [
        call(
            ("find", {}), ("search_text", {"bucket": "nowhere", "query": "x"}), ("search_text", {"query": 1})
        ),
        call(("search_text", FIND)),
        call(("search_text", FIND)),
        done(RIGHT),
    ]
    answer, script = await ask(open_loop, replies)
    assert answer.text == RIGHT
    told = [message.text for message in script.calls[3].messages if message.type == "tool"]
    assert "there is no such tool" in told[0]
    assert "datasheets" in told[1]
    assert told[2].startswith("error: bucket")
    assert "made before" in told[4]


async def test_hard_filters_and_buckets_bind_every_tool(open_loop: Any) -> None:
    everything = {"bucket": "invoices", "query": "invoice total", "top_k": 100}
    listed = {"bucket": "invoices", "limit": 1000}
    replies = [
        call(
            ("search_text", everything),
            ("search_text", FIND),
            ("query_documents", listed),
            ("get_document_metadata", {"doc_id": "nv2n517"}),
        ),
        done("nothing"),
    ]
    answer, script = await ask(
        open_loop,
        replies,
        buckets=["invoices", "contracts"],
        filters=["vendor_name=Cobaltine Cloud Inc."],
        max_corrections=0,
    )
    found, refused, rows, hidden = (
        message.text for message in script.calls[1].messages if message.type == "tool"
    )
    assert {hit["doc_id"][:9] for hit in json.loads(found)["hits"]} == {"cobaltine"}
    assert "no bucket" in refused
    assert {row["doc_id"][:9] for row in json.loads(rows)["rows"]} == {"cobaltine"}
    assert "no document" in hidden
    assert [item.origin for item in answer.filters][:1] == ["user"]


async def test_a_field_of_which_no_filter_is_wanted_binds_the_model_too(open_loop: Any) -> None:
    clauses = [
        {"field": "vendor_name", "operator": "=", "value": "Cobaltine Cloud Inc."},
        {"field": "currency", "operator": "=", "value": "EUR"},
    ]
    listed = {"bucket": "invoices", "limit": 1000, "filters": clauses}
    replies = [call(("query_documents", listed)), done("nothing")]
    _, script = await ask(open_loop, replies, without=["vendor_name"], max_corrections=0)
    (told,) = (message.text for message in script.calls[1].messages if message.type == "tool")
    rows = json.loads(told)
    assert rows["dropped_filters"] == ["vendor_name: the user wants no filter on it"]
    assert len({row["doc_id"][:9] for row in rows["rows"]}) > 1


async def test_without_a_model_it_says_so_and_one_pass_answers(services: Services, tmp_path: Path) -> None:
    async with sqlite_saver(tmp_path / "loop.sqlite") as saver:
        session = Session(services, saver, "tool_loop")
        answer = await session.ask(QUESTION)
        compute = await session.ask("How much did Cobaltine invoice in total?")
        greeting = await session.ask("Hello!")
    assert answer.status == "answered"
    assert "45 V" in answer.text
    assert NO_MODEL in [note.message for note in answer.notes]
    assert compute.table is not None
    assert greeting.retrieval is False


async def test_the_process_in_single_mode_calls_no_agent(services: Services, tmp_path: Path) -> None:
    models, script = scripted(lambda step, messages: RIGHT if step == "compose" else Rejected("no"))
    chosen = Services(
        settings=services.settings.model_copy(update={"mode": "single"}), ready=services.open(), models=models
    )
    async with sqlite_saver(tmp_path / "loop.sqlite") as saver:
        answer = await Session(chosen, saver, "tool_loop").ask(QUESTION)
    assert (script.steps(), answer.text) == (["compose"], RIGHT)
    assert ONE_PASS in [note.message for note in answer.notes]


@pytest.mark.parametrize("failure", [Unavailable("down"), Rejected("no such model")])
async def test_a_model_that_fails_half_way_leaves_an_answer(failure: Exception, open_loop: Any) -> None:
    def reply(step: str, messages: list[BaseMessage]) -> Any:
        return call(("search_text", FIND)) if len(messages) < 3 else failure

    answer, _ = await ask(open_loop, reply)
    assert "45 V" in answer.text
    assert "agent" in [note.step for note in answer.notes if note.kind == "fallback"]


async def test_the_end_of_time_is_a_partial_answer(open_loop: Any) -> None:
    answer, script = await ask(open_loop, lambda step, messages: RIGHT, max_seconds=0.0001)
    assert answer.status in {"partial", "failed", "unanswerable"}
    assert script.steps() == []


async def test_bad_input_is_said(open_loop: Any) -> None:
    answer, script = await ask(open_loop, [], buckets=["nowhere"])
    assert answer.status == "failed"
    assert "nowhere" in answer.text
    assert script.steps() == []


async def test_a_follow_up_sees_the_turns_before_and_starts_clean(open_loop: Any) -> None:
    replies = [call(("search_text", FIND)), done(RIGHT), done("Nothing [nv2n517].")]
    chosen, script, saver = open_loop(replies)
    async with saver as kept:
        session = Session(chosen, kept, "tool_loop")
        await session.ask(QUESTION, thread_id="t")
        await session.ask("and its base voltage?", thread_id="t", context=Context(max_corrections=0))
        state = (await session.graph.aget_state({"configurable": {"thread_id": "t"}})).values
    assert script.steps()[:3] == ["agent", "agent", "agent"]
    follow_up = script.calls[2].messages
    assert [message.type for message in follow_up] == ["system", "human", "ai", "human"]
    assert follow_up[2].text == RIGHT
    assert state["transcript"] == []
    assert [message.type for message in state["messages"]] == ["human", "ai", "human", "ai"]


async def test_chat_messages_in_and_one_message_out(open_loop: Any) -> None:
    chosen, _, saver = open_loop([call(("search_text", FIND)), done(RIGHT)])
    async with saver as kept:
        session = Session(chosen, kept, "tool_loop")
        given: Any = {"messages": [{"role": "user", "content": QUESTION}]}
        config: Any = {"configurable": {"thread_id": "chat"}}
        stream: AsyncIterator[Any] = session.graph.astream(given, config, stream_mode="messages")
        seen = [message async for message, _ in stream]
        state = (await session.graph.aget_state(config)).values
    assert [message.text for message in seen] == [RIGHT], "no tool result, no inner call"
    assert state["messages"][-1].id == seen[0].id


async def test_events_tell_the_tools_and_the_answer(open_loop: Any) -> None:
    chosen, _, saver = open_loop([call(("search_text", FIND), ("find", {})), done(WRONG), done(RIGHT)])
    async with saver as kept:
        stream = Session(chosen, kept, "tool_loop").stream(QUESTION)
        events = [EVENTS.validate_python(event, strict=True) async for event in stream]
    tools = [event for event in events if event["event"] == "tool"]
    assert {
        (event["tool"], *event["buckets"], event["hits"] > 0, bool(event["error"])) for event in tools
    } == {
        ("search_text", "datasheets", True, False),
        ("find", False, True),
    }
    assert texts(events) == [WRONG, RIGHT]


async def test_a_thread_keeps_ids_and_not_what_tools_said(open_loop: Any, tmp_path: Path) -> None:
    def reply(step: str, messages: list[BaseMessage]) -> Any:
        turns = sum(message.type == "ai" for message in messages)
        return call(("search_text", FIND | {"query": f"voltage {turns}"})) if turns < 8 else done(RIGHT)

    chosen, _, saver = open_loop(reply)
    async with saver as kept:
        graph = Session(chosen, kept, "tool_loop").graph
        config: Any = {"configurable": {"thread_id": "t"}}
        limits = Context(max_tool_calls=10, evidence_tokens=100_000)
        await graph.ainvoke({"query": QUESTION}, config, context=limits, durability="sync")  # type: ignore[call-overload]
        for snapshot in [item async for item in graph.aget_state_history(config)]:
            json.dumps({key: value for key, value in snapshot.values.items() if key != "messages"})
            assert "Collector" not in json.dumps(snapshot.values.get("transcript", []))
    with sqlite3.connect(tmp_path / "loop.sqlite") as database:
        (size,) = database.execute("select sum(length(checkpoint)) from checkpoints").fetchone()
    assert size < 400_000


def test_the_drawing_has_labelled_edges() -> None:
    drawing = tool_loop.get_graph()
    edges = {(edge.source, edge.target, edge.data) for edge in drawing.edges}
    assert {
        ("agent", "tools", "call"),
        ("agent", "verify_citations", "done"),
        ("agent", "compose", "write"),
        ("tools", "agent", None),
        ("verify_citations", "agent", "correct"),
    } <= edges


REPLIES = st.one_of(
    st.sampled_from(["", RIGHT, WRONG, "<think>", "[nowhere]"]),
    st.sampled_from([Unavailable("down"), Rejected("no")]),
    st.lists(
        st.tuples(
            st.sampled_from(
                ["search_text", "search_semantic", "query_documents", "get_document_metadata", "done", "x"]
            ),
            st.sampled_from(
                [FIND, SUM, {}, {"answer": RIGHT}, {"answer": 3}, {"doc_id": "nv2n517"}, {"bucket": "x"}]
            ),
        ),
        min_size=1,
        max_size=4,
    ).map(lambda made: call(*made)),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(REPLIES, min_size=1, max_size=8))
@pytest.mark.slow
async def test_whatever_a_model_replies_the_run_ends_in_an_answer(open_loop: Any, replies: Turns) -> None:
    given = iter(replies * 20)
    limits = {"max_tool_calls": 4, "max_llm_calls": 6, "max_seconds": 30}
    answer, script = await ask(open_loop, lambda step, messages: next(given), **limits)
    assert isinstance(answer, Answer)
    assert "unexpected" not in answer.text
    assert len(script.calls) <= 6
    assert loop_limit(Context(**limits)) > 12


async def test_hits_tell_the_fields_of_a_document_once_and_few_are_shown_at_length(open_loop: Any) -> None:
    one = {"bucket": "generic", "query": "ECN-0072 transistor", "top_k": 1}
    again = one | {"query": "ECN-0072 stock of the transistor"}
    _, script = await ask(
        open_loop, [call(("search_text", one)), call(("search_text", again)), done("Nothing was found.")]
    )
    first, second = (
        json.loads(message.text)["hits"] for message in script.calls[2].messages if message.type == "tool"
    )
    assert [hit["doc_id"] for hit in (*first, *second)] == ["ecn-0072", "ecn-0072"]
    assert "document_type=" in first[0]["fields"]
    assert "fields" not in second[0]
    assert len(first[0]["text"]) > 600, "one hit has the room of ten"


async def test_the_loop_goes_on_without_the_fields_of_documents(
    open_loop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*arguments: Any) -> dict[str, str]:
        raise Unavailable("the store does not answer")

    monkeypatch.setattr("nodes.agent.known_fields", down)
    answer, _ = await ask(open_loop, [call(("search_text", FIND)), done(RIGHT)])
    assert (answer.status, answer.text) == ("answered", RIGHT)
