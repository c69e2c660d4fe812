"""Routes that run the graph: ask, reply and resume, as one JSON answer or as server-sent events."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sse_starlette import EventSourceResponse

from citegraph.run.answer_types import Answer
from citegraph.run.events import Event
from citegraph.run.json_output import dumped
from server.line_safe import JsonText
from server.problems import RESPONSES, Refused
from server.running import RunningAlone, ServerAlone, Who
from server.schemas import Ask, Reply, Resume, ThreadId

STREAM = "text/event-stream"
PING = 15
"""Seconds between the comments that keep a quiet connection open."""

router = APIRouter(tags=["questions"], responses=RESPONSES)
ANSWERED: dict[int | str, dict[str, Any]] = {
    200: {
        "model": Answer,
        "description": "The answer; with `Accept: text/event-stream` the events run, step, tool, token, correction, "
        "clarification and answer as they happen.",
        "content": {STREAM: {"schema": {"type": "string"}}},
    }
}


@router.post("/ask", responses=ANSWERED, response_model=Answer)
async def ask(request: Request, server: ServerAlone, who: Who, asked: Ask) -> Response:
    """Answer a question, in a new thread or in one's own."""
    thread_id = await asyncio.to_thread(server.threads.enter, asked.thread_id, who.name, asked.question)
    session = server.session.seen_by(who)
    events = session.stream(asked.question, thread_id=thread_id, context=asked.context, new=asked.new)
    return await respond(request, server, events)


@router.post("/threads/{thread_id}/reply", responses=ANSWERED, response_model=Answer)
async def reply(
    request: Request, server: ServerAlone, who: Who, thread_id: ThreadId, given: Reply
) -> Response:
    """Answer the clarification that a thread waits on: 409 when it waits for none, or for another."""
    await asyncio.to_thread(server.threads.use, thread_id, who.name)
    session = server.session.seen_by(who)
    events = session.stream_reply(
        thread_id, given.reply, interrupt_id=given.interrupt_id, context=given.context
    )
    return await respond(request, server, events)


@router.post("/threads/{thread_id}/resume", responses=ANSWERED, response_model=Answer)
async def resume(
    request: Request, server: ServerAlone, who: Who, thread_id: ThreadId, how: Resume
) -> Response:
    """Go on with a run that a shutdown or a lost connection ended: 409 when there is none."""
    await asyncio.to_thread(server.threads.use, thread_id, who.name)
    events = server.session.seen_by(who).stream_resume(thread_id, context=how.context)
    return await respond(request, server, events)


async def respond(request: Request, server: RunningAlone, events: AsyncGenerator[Event, None]) -> Response:
    """Return the events, or the answer at their end; a client that goes away ends the run."""
    server.limits.admit(server.working)
    # What refuses the request does so before the first event, so that it has its own status. The run is counted
    # before anything is awaited: no other is let in between.
    told = await begun(events)
    if wants_events(request):
        return EventSourceResponse(_as_sse(told), ping=PING, headers={"X-Accel-Buffering": "no"})
    return JsonText(await until_gone(request, answer_of(told)))


async def begun(events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
    """Return the events once there is a first one; what refuses the request is raised here."""
    first = await anext(events)
    return _from(first, events)


def wants_events(request: Request) -> bool:
    """Tell whether the client asks for server-sent events."""
    return STREAM in request.headers.get("accept", "")


async def _from(first: Event, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
    async with aclosing(events):
        yield first
        async for event in events:
            yield event


async def _as_sse(events: AsyncGenerator[Event, None]) -> AsyncIterator[dict[str, str]]:
    async with aclosing(events):
        async for event in events:
            yield {"event": event["event"], "data": dumped(event)}


async def answer_of(events: AsyncGenerator[Event, None]) -> Any:
    """Return the answer at the end of the events, as JSON."""
    answer: Any = None
    async with aclosing(events):
        async for event in events:
            if event["event"] == "answer":
                answer = event["answer"]
    return answer


async def until_gone(request: Request, work: Any) -> Any:
    """Return the result of a coroutine, which is cancelled when the client goes away."""
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise Refused(400, "The client went away.")
    finally:
        watch.cancel()
        task.cancel()
        await asyncio.gather(task, watch, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
