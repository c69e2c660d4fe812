"""Budgets hold: a reviewer that never has enough, a deadline that passes, and the size of a thread."""

import sqlite3
from asyncio import Future
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, repeat
from pathlib import Path
from threading import Event
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.messages import BaseMessage

from benches.steady import ONE_HOP
from citegraph.corpus.index.index_protocol import Index, SearchRequest
from citegraph.corpus.schema.document import Chunk, Hit
from citegraph.errors import Rejected
from citegraph.llm.chat import ChatModels
from citegraph.llm.scripted import Script, scripted
from citegraph.run.budgets import deadline_of, recursion_limit, seconds_left, seconds_to_end
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from graph.session import Session
from tests.graph.conftest import OpenSession

QUESTION = "What is the maximum collector-emitter voltage VCEO of the NV2N517?"
TOPICS = (
    "collector current package marking",
    "hotel cap for Penang travel",
    "notice period renewal of the agreement",
    "calibration deviation thermometer",
    "firmware release advisory",
    "invoice total payment terms",
    "root certificate public key",
    "audit report findings",
    "storage temperature humidity",
    "supplier register review",
    "safety data flash point",
    "licence maintenance fee",
)


def insatiable(searches: int = 2) -> tuple[ChatModels, Script]:
    """Return models whose reviewer always names some new searches; the other steps fall back."""
    asked = count()

    def reply(step: str, messages: list[BaseMessage]) -> Any:
        if step != "review":
            return Rejected(f"{step}: not in this script")
        calls = []
        for _ in range(searches):
            number = next(asked)
            bucket = ("datasheets", "generic", "contracts", "invoices", "certificates")[number % 5]
            query = f"{TOPICS[number % len(TOPICS)]} {number}"
            calls.append({"tool": "search_text", "bucket": bucket, "query": query, "doc_id": ""})
        return {"status": "more", "reason": "never enough", "next_calls": calls}

    return scripted(reply)


@dataclass
class Endless:
    """The real index, but every hit is a chunk that was never seen before."""

    index: Index
    copies: dict[str, Chunk] = field(default_factory=dict)

    async def search(self, request: SearchRequest) -> list[Hit]:
        hits = []
        for hit in await self.index.search(request):
            copy = replace(hit.chunk, chunk_id=str(uuid4()), content_hash=str(uuid4()))
            self.copies[copy.chunk_id] = copy
            hits.append(replace(hit, chunk=copy))
        return hits

    async def retrieve(self, bucket: str, chunk_ids: Sequence[str]) -> list[Chunk]:
        return [self.copies[chunk_id] for chunk_id in chunk_ids]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.index, name)


def endless(corpus: Corpus) -> Corpus:
    return replace(corpus, index=Endless(corpus.index))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "budgets",
    [
        {},
        {"max_rounds": 8, "max_tool_calls": 3},
        {"max_rounds": 2, "max_tool_calls": 100, "max_llm_calls": 200},
        {"max_rounds": 4, "max_tool_calls": 100, "max_llm_calls": 200, "max_corrections": 0},
        {"max_rounds": 20, "max_tool_calls": 100, "max_llm_calls": 6},
    ],
    ids=str,
)
async def test_a_reviewer_that_never_has_enough_ends_partial_within_the_budgets(
    budgets: dict[str, Any], open_session: OpenSession
) -> None:
    models, script = insatiable()
    context = Context(**budgets)
    async with open_session(models) as session:
        answer = await session.ask(QUESTION, context=context)
    assert answer.status == "partial", answer
    assert answer.citations
    assert "45 V" in answer.text
    assert answer.usage.rounds <= context.max_rounds
    assert answer.usage.tool_calls <= context.max_tool_calls
    assert answer.usage.llm_calls == len(script.calls) <= context.max_llm_calls
    assert [note for note in answer.notes if note.step == "compose" and note.kind == "partial"]


async def test_no_review_is_asked_where_it_could_only_end_the_search(open_session: OpenSession) -> None:
    models, script = insatiable()
    async with open_session(models) as session:
        answer = await session.ask(QUESTION, context=Context(max_rounds=1))
    assert "review" not in script.steps()
    assert "45 V" in answer.text


async def test_the_recursion_limit_covers_the_largest_budgets(
    open_session: OpenSession, corpus: Corpus
) -> None:
    """20 rounds of a reviewer that always says more need fewer steps than the limit, and not many fewer."""
    models, _ = insatiable()
    context = Context(max_rounds=20, max_tool_calls=100, max_llm_calls=200, max_clarifications=0)
    async with open_session(models, corpus=endless(corpus)) as session:
        answer = await session.ask(QUESTION, context=context)
        assert answer.thread_id
        snapshot = await session.graph.aget_state({"configurable": {"thread_id": answer.thread_id}})
    assert answer.usage.rounds == 20
    steps = (snapshot.metadata or {})["step"]
    assert 60 <= steps < recursion_limit(context)


@pytest.mark.parametrize("seconds", [0.001, 0.02, 0.05])
async def test_a_passed_deadline_still_gives_an_answer(seconds: float, session: Session) -> None:
    answer = await session.ask(QUESTION, context=Context(max_seconds=seconds))
    assert answer.status in {"answered", "partial", "unanswerable"}
    assert answer.text
    assert answer.question == QUESTION


async def test_what_runs_after_the_model_ends_with_the_run_too(
    open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = Event()
    monkeypatch.setattr("nodes.verify_citations.verify_undecided", lambda *_: released.wait())
    end_soon_once(monkeypatch, lambda state: bool(state.get("draft")))
    models, script = scripted(lambda step, messages: ONE_HOP.reply(step, messages[-1].text))
    async with open_session(models) as session:
        answer = await session.ask(QUESTION)
        released.set()
    assert script.steps()[-1] == "compose"
    assert (answer.status, answer.claims) == ("partial", [])
    assert "45 V" not in answer.text  # it was not checked
    assert "nv2n517" in answer.text
    assert ("verify_citations", "out of time") in {(note.step, note.kind) for note in answer.notes}


async def test_the_twin_of_a_step_ends_with_the_run_too(
    open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forever(*_: Any) -> Any:
        await Future()

    monkeypatch.setattr("nodes.compose.Compose.twin", forever)
    end_soon_once(monkeypatch, lambda state: state.get("decision", {}).get("status") == "enough")
    models, _ = scripted(lambda step, messages: Rejected("none"))
    async with open_session(models) as session:
        answer = await session.ask(QUESTION)
    assert answer.status == "partial"
    assert ("compose", "out of time") in {(note.step, note.kind) for note in answer.notes}


def end_soon_once(monkeypatch: pytest.MonkeyPatch, reached: Callable[[Any], bool]) -> None:
    """Let a run end soon from a state on, and not before, however busy the machine is."""
    left = chain((0.2,), repeat(-1.0))
    for module in ("graph.watch", "graph.build"):
        monkeypatch.setattr(
            f"{module}.seconds_to_end", lambda state, _: next(left) if reached(state) else 600.0
        )


def test_models_and_searches_end_before_the_run_does() -> None:
    context = Context(max_seconds=10)
    state = {"deadline": deadline_of(context, now=100.0)}
    assert seconds_left(state, now=100.0) == 7.0
    assert seconds_to_end(state, context, now=100.0) == 8.5
    assert seconds_to_end(state, context, now=100.0 - 7200) == 8.5, "the clock was set back by two hours"
    long = Context(max_seconds=600)
    assert deadline_of(long, now=0.0) == 590.0
    assert seconds_to_end({"deadline": 590.0}, long, now=0.0) == 598.0


async def test_a_round_without_anything_new_is_the_last(open_session: OpenSession) -> None:
    """The sample holds fewer chunks than 20 rounds of 10 hits would need."""
    models, _ = insatiable()
    context = Context(max_rounds=20, max_tool_calls=100, max_llm_calls=200)
    async with open_session(models) as session:
        answer = await session.ask(QUESTION, context=context)
    assert 2 <= answer.usage.rounds < 20
    assert answer.status == "answered"


async def test_a_query_that_was_tried_is_refused(open_session: OpenSession, corpus: Corpus) -> None:
    again = {"tool": "search_text", "bucket": "contracts", "query": "notice period", "doc_id": ""}

    def reply(step: str, messages: list[BaseMessage]) -> Any:
        more = {"status": "more", "reason": "again", "next_calls": [again]}
        return more if step == "review" else Rejected("not in this script")

    models, _ = scripted(reply)
    context = Context(max_rounds=20, max_tool_calls=100, max_llm_calls=200)
    async with open_session(models, corpus=endless(corpus)) as session:
        answer = await session.ask(QUESTION, context=context)
    assert (answer.usage.rounds, answer.usage.tool_calls, answer.status) == (2, 2, "answered")


async def test_a_deadline_that_passed_before_the_search_is_said(session: Session) -> None:
    answer = await session.ask(QUESTION, context=Context(max_seconds=0.001))
    assert answer.status in {"partial", "unanswerable"}
    assert any("time" in note.message for note in answer.notes)


def stored_bytes(path: Path) -> dict[str, int]:
    """Return the bytes of checkpoints and of pending writes in an SQLite saver's file."""
    with sqlite3.connect(path) as database:
        checkpoints = database.execute("SELECT sum(length(checkpoint) + length(metadata)) FROM checkpoints")
        writes = database.execute("SELECT sum(length(value)) FROM writes")
        rows = database.execute("SELECT count(*) FROM checkpoints")
        return {
            "checkpoints": checkpoints.fetchone()[0] or 0,
            "writes": writes.fetchone()[0] or 0,
            "rows": rows.fetchone()[0],
        }


@pytest.mark.parametrize(("durability", "limit"), [("exit", 30_000), ("async", 400_000)])
async def test_checkpoints_of_ten_rounds_of_ten_hits_stay_small(
    durability: Any, limit: int, open_session: OpenSession, corpus: Corpus, tmp_path: Path
) -> None:
    """Sessions keep one checkpoint a run; one a step (39 of them) repeats 3 kB of versions each time."""
    models, _ = insatiable(searches=1)
    context = Context(max_rounds=10, max_tool_calls=100, max_llm_calls=200, evidence_tokens=20_000)
    async with open_session(models, corpus=endless(corpus)) as session:
        config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": recursion_limit(context)}
        result = await session.graph.ainvoke(
            {"query": QUESTION}, config, context=context, durability=durability
        )
    assert result["answer"]["usage"]["rounds"] == 10
    assert result["answer"]["usage"]["tool_calls"] == 10
    sizes = stored_bytes(tmp_path / "threads.sqlite")
    assert sizes["checkpoints"] + sizes["writes"] < limit, sizes
