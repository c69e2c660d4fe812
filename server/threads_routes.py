"""Routes of one's own threads: list, state with history, delete."""

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from graph.session import Session
from server.problems import RESPONSES
from server.running import ServerAlone, Who
from server.schemas import Thread, ThreadId, Threads, ThreadState, Turn

router = APIRouter(prefix="/threads", tags=["threads"], responses=RESPONSES)
Limit = Annotated[int, Query(ge=1, le=500)]
Offset = Annotated[int, Query(ge=0, le=10_000_000)]
STEPS = 100
"""Steps of a thread's history that are shown."""


@router.get("")
async def threads(server: ServerAlone, who: Who, limit: Limit = 50, offset: Offset = 0) -> Threads:
    """List one's own threads, the last used first."""
    found, total = await asyncio.to_thread(server.threads.page, who.name, limit, offset)
    return Threads(threads=[Thread(**asdict(record)) for record in found], total=total)


@router.get("/{thread_id}")
async def thread(server: ServerAlone, who: Who, thread_id: ThreadId) -> ThreadState:
    """Show a thread: its messages, its last answer, and what it waits on."""
    record = await asyncio.to_thread(server.threads.get, thread_id, who.name)
    return ThreadState(**asdict(record), **await state_of(server.session, thread_id))


@router.delete("/{thread_id}", status_code=204)
async def delete(server: ServerAlone, who: Who, thread_id: ThreadId) -> Response:
    """Forget a thread and everything that was said in it."""
    await asyncio.to_thread(server.threads.get, thread_id, who.name)
    await server.session.forget(thread_id)
    await asyncio.to_thread(server.threads.delete, thread_id)
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
