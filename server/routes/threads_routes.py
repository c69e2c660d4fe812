"""Routes of one's own threads: list and search, state with history, rename, rate, note, delete."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from citegraph.corpus.records.access import Principal
from citegraph.run.answer_types import Answer
from graph.langsmith import reader_feedback
from graph.session import Session
from server.logs import write
from server.problems import RESPONSES, Refused
from server.routes.browsing import reading
from server.routes.examples import next_of
from server.routes.value_schemas import Example
from server.running import RunningAlone, ServerAlone, Who
from server.schemas import (
    Exchange,
    Noted,
    Rating,
    Thread,
    ThreadId,
    Threads,
    ThreadState,
    ThreadTurn,
    Title,
    Turn,
)

router = APIRouter(prefix="/threads", tags=["threads"], responses=RESPONSES)
Limit = Annotated[int, Query(ge=1, le=500)]
Offset = Annotated[int, Query(ge=0, le=10_000_000)]
Text = Annotated[
    str, Query(max_length=200, description="Only threads whose title, questions or notes hold this text.")
]
STEPS = 100
"""Steps of a thread's history that are shown."""


@router.get("")
async def threads(
    server: ServerAlone, who: Who, limit: Limit = 50, offset: Offset = 0, q: Text = ""
) -> Threads:
    """List one's own threads, the last used first."""
    text = q.replace("\x00", "").strip()
    found, total = await asyncio.to_thread(server.threads.page, who.name, limit, offset, text)
    return Threads(threads=found, total=total)


@router.get("/{thread_id}")
async def thread(server: ServerAlone, who: Who, thread_id: ThreadId) -> ThreadState:
    """Show a thread: its questions with their answers, its messages, and what it waits on."""
    record = await asyncio.to_thread(server.threads.get, thread_id, who.name)
    ratings = await asyncio.to_thread(server.threads.ratings, thread_id)
    notes = await asyncio.to_thread(server.threads.notes, thread_id)
    turns = [
        turn.model_copy(update={"rating": ratings.get(turn.run_id), "note": notes.get(turn.run_id, "")})
        for turn in await turns_of(server.session, thread_id)
    ]
    if not turns and (asked := await asyncio.to_thread(server.threads.last_asked, thread_id)):
        turns = [ThreadTurn(question=asked, created="", run_id="")]  # stopped before its first step ended
    return ThreadState(**record.model_dump(), turns=turns, **await state_of(server.session, thread_id))


@router.get("/{thread_id}/next")
async def next_questions(server: ServerAlone, who: Who, thread_id: ThreadId) -> list[Example]:
    """Return questions that go on from a thread's last answer; those over several documents keep its filters."""
    await asyncio.to_thread(server.threads.get, thread_id, who.name)
    turns = await turns_of(server.session, thread_id)
    last = turns[-1].answer if turns else None
    if not last:
        return []
    answer = Answer.model_validate(last)
    return await reading(server, who, lambda corpus: next_of(corpus, answer))


@router.patch("/{thread_id}")
async def rename(server: ServerAlone, who: Who, thread_id: ThreadId, given: Title) -> Thread:
    """Give a thread another title."""
    return await asyncio.to_thread(server.threads.rename, thread_id, who.name, given.title.strip())


@router.post("/{thread_id}/feedback", status_code=204)
async def feedback(server: ServerAlone, who: Who, thread_id: ThreadId, given: Rating) -> Response:
    """Say whether a run's answer was good; it goes to the log, and to LangSmith where runs are traced."""
    await _own_run(server, who, thread_id, given.run_id)
    await asyncio.to_thread(server.threads.rate, thread_id, given.run_id, given.score, given.comment)
    write("feedback", run_id=given.run_id, thread_id=thread_id, score=given.score)
    comment = given.comment if server.settings.trace_text else ""
    reader_feedback(given.run_id, given.score, comment)
    return Response(status_code=204)


@router.post("/{thread_id}/notes", status_code=204)
async def note(server: ServerAlone, who: Who, thread_id: ThreadId, given: Noted) -> Response:
    """Keep one's own words on a run's answer, in place of earlier ones; an empty text takes them back."""
    await _own_run(server, who, thread_id, given.run_id)
    await asyncio.to_thread(server.threads.note, thread_id, given.run_id, given.text.strip())
    return Response(status_code=204)


async def _own_run(server: RunningAlone, who: Principal, thread_id: str, run_id: str) -> None:
    """Refuse, with 404, a run that is in no thread of one's own."""
    await asyncio.to_thread(server.threads.get, thread_id, who.name)
    if run_id not in {turn.run_id for turn in await turns_of(server.session, thread_id)}:
        raise Refused(404, "The thread has no such run.")


@router.delete("/{thread_id}", status_code=204)
async def delete(server: ServerAlone, who: Who, thread_id: ThreadId) -> Response:
    """Forget a thread and everything that was said in it."""
    await asyncio.to_thread(server.threads.get, thread_id, who.name)
    await asyncio.to_thread(server.threads.delete, thread_id)
    await server.session.forget(thread_id)
    await asyncio.to_thread(server.threads.forgotten, thread_id)
    return Response(status_code=204)


async def state_of(session: Session, thread_id: str) -> dict[str, Any]:
    """Return what is kept of a thread, for `ThreadState`."""
    config: Any = {"configurable": {"thread_id": thread_id}}
    snapshot = await session.graph.aget_state(config)
    steps = [
        {"created": past.created_at, "next": list(past.next), "step": (past.metadata or {}).get("step")}
        async for past in session.graph.aget_state_history(config, limit=STEPS)
    ]
    return {
        "messages": [
            Turn(role=item.type, text=str(item.text)) for item in snapshot.values.get("messages", [])
        ],
        "answer": snapshot.values.get("answer") or None,
        "clarification": await session.pending(thread_id),
        "unfinished": bool(snapshot.next) and not snapshot.interrupts,
        "steps": steps,
    }


Json = dict[str, Any]
MOST = 200
"""Runs of a thread that are looked back on."""


async def turns_of(session: Session, thread_id: str) -> list[ThreadTurn]:
    """Return the questions of a thread with their answers, the first asked first.

    A run leaves one checkpoint, at its end: its answer, or the pause at which it asks back.
    """
    config: Any = {"configurable": {"thread_id": thread_id}}
    runs = [kept async for kept in session.graph.aget_state_history(config, limit=MOST)]
    turns: list[ThreadTurn] = []
    for kept in reversed(runs):
        values: Json = kept.values
        if not values.get("asked"):
            continue
        turn = ThreadTurn(
            question=values["asked"],
            created=kept.created_at or "",
            run_id=str((kept.metadata or {}).get("run_id", "")),
            exchanges=_exchanges(values.get("clarifications") or [], kept.interrupts),
            answer=None if kept.interrupts else values.get("answer") or None,
        )
        if turns and _goes_on(turns[-1], turn):
            turns.pop()
        turns.append(turn)
    return turns


def _goes_on(before: ThreadTurn, now: ThreadTurn) -> bool:
    """Tell whether a run is the reply to what the one before it asked back."""
    if before.question != now.question or before.answer or not before.exchanges:
        return False
    asked = [item.question for item in before.exchanges]
    return [item.question for item in now.exchanges][: len(asked)] == asked and (
        len(now.exchanges) > len(asked) or now.exchanges[len(asked) - 1].reply is not None
    )


def _exchanges(answered: Sequence[Json], interrupts: Sequence[Any]) -> list[Exchange]:
    replied = [
        Exchange(
            question=item.get("question", ""),
            options=[
                {key: option.get(key) for key in ("id", "label", "count")}
                for option in item.get("options", [])
            ],
            reply=_words_of(item),
        )
        for item in answered
    ]
    waiting = [Exchange(question=item.value.get("question", ""), reply=None) for item in interrupts[:1]]
    return [*replied, *waiting]


def _words_of(item: Json) -> str:
    """Return a reply as the reader saw it: the label of the option that it chose, else what was written."""
    reply = item.get("reply")
    if isinstance(reply, dict):
        reply = reply.get("option") or reply.get("text") or ""
    labels = {option.get("id"): option.get("label") for option in item.get("options", [])}
    return str(labels.get(str(reply)) or reply or "")
