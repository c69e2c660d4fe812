"""Run the graph from a program: ask and reply, with the guards that LangGraph leaves to the caller."""

import asyncio
import re
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from graph.answer import Answer, Clarification, Note, Usage
from graph.build import build
from graph.context import Context
from graph.policies import recursion_limit
from graph.state import Json
from graph.tracing import settle
from llm.errors import BadInput, CitegraphError, Unavailable
from tools.services import Services

OnEvent = Callable[[Json], None]
LAST_TRACES = 3.0
"""Seconds that a session waits at its end for traces still to be sent; only while tracing is on."""


class UnknownThread(BadInput):
    """There is no such thread (HTTP 404)."""


class NothingPending(BadInput):
    """The thread waits for no reply (HTTP 409)."""


class WrongInterrupt(BadInput):
    """The reply names another clarification than the one that is open (HTTP 409)."""


class Session:
    """The compiled graph with a checkpointer; every run ends in an `Answer`, whatever happens.

    Args:
        services: stores and models.
        saver: where threads are kept.
    """

    def __init__(self, services: Services, saver: BaseCheckpointSaver[Any]) -> None:
        self.services = services
        self.graph: CompiledStateGraph[Any, Context, Any, Any] = build(services).compile(
            checkpointer=saver, name="agent"
        )

    async def ask(
        self,
        question: str,
        *,
        thread_id: str | None = None,
        context: Context | None = None,
        new: bool = False,
        on_event: OnEvent | None = None,
    ) -> Answer:
        """Answer a question; on a thread that waits for a reply the text is that reply unless `new` is set.

        Returns:
            The answer, or one with status `needs_clarification` when the run paused.
        """
        thread = thread_id or uuid.uuid4().hex
        if thread_id and not new and await self.pending(thread_id):
            return await self.reply(thread_id, question, context=context, on_event=on_event)
        return await self._run({"query": question, "messages": []}, thread, context or Context(), on_event)

    async def reply(
        self,
        thread_id: str,
        reply: Any,
        *,
        interrupt_id: str | None = None,
        context: Context | None = None,
        on_event: OnEvent | None = None,
    ) -> Answer:
        """Resume a paused thread with text, an option id or an object.

        Raises:
            UnknownThread: there is no such thread.
            NothingPending: it waits for no reply.
            WrongInterrupt: `interrupt_id` is not the open clarification's.
        """
        snapshot = await self.graph.aget_state(_config(thread_id))
        if not snapshot.values and not snapshot.next:
            raise UnknownThread(f"There is no thread {thread_id!r}; ask a question to start one.")
        if not snapshot.interrupts:
            raise NothingPending(f"Thread {thread_id!r} waits for no reply; ask a new question instead.")
        if interrupt_id and interrupt_id not in {item.id for item in snapshot.interrupts}:
            raise WrongInterrupt(
                f"Clarification {interrupt_id!r} is not open; the open one is {snapshot.interrupts[0].id!r}."
            )
        chosen = context or Context()
        update = {"deadline": time.time() + chosen.max_seconds}
        # By id: LangGraph takes a bare None or {} for no reply at all, and leaves the run where it was.
        resume = {snapshot.interrupts[0].id: "" if reply is None else reply}
        return await self._run(Command(resume=resume, update=update), thread_id, chosen, on_event)

    async def pending(self, thread_id: str) -> Clarification | None:
        """Return the clarification that a thread waits on, None when it waits for nothing."""
        snapshot = await self.graph.aget_state(_config(thread_id))
        return _clarification(snapshot.interrupts) if snapshot.interrupts else None

    async def _run(self, given: Any, thread_id: str, context: Context, on_event: OnEvent | None) -> Answer:
        config = _config(thread_id) | {"recursion_limit": recursion_limit(context)}
        started = time.time()
        final: Json = {}
        try:
            stream: AsyncIterator[Any] = self.graph.astream(
                given, config, context=context, stream_mode=["updates", "custom"], durability="exit"
            )
            async for mode, part in stream:
                if mode == "updates":
                    final = part if "__interrupt__" in part else final | _answer_of(part)
                if on_event is not None:
                    on_event(_event(mode, part))
        except CitegraphError as error:
            return failed(given, thread_id, str(error), started)
        except Exception as error:
            return failed(given, thread_id, f"unexpected {type(error).__name__}", started)
        if "__interrupt__" in final:
            return await self._paused(final["__interrupt__"], thread_id, started)
        return Answer(**final["answer"]).model_copy(update={"thread_id": thread_id})

    async def _paused(self, interrupts: Any, thread_id: str, started: float) -> Answer:
        """Return the answer of a run that waits for a reply."""
        values = (await self.graph.aget_state(_config(thread_id))).values
        clarification = _clarification(interrupts)
        plan = values.get("plan", {})
        usage = {key: value for key, value in values.get("usage", {}).items() if key != "started"}
        return Answer(
            question=values.get("question", ""),
            text=clarification.question,
            status="needs_clarification",
            intent=plan.get("intent", "qa"),
            buckets=plan.get("buckets", []),
            clarification=clarification,
            notes=[Note(**item) for item in values.get("notes", [])],
            usage=Usage(**usage | {"seconds": round(time.time() - started, 4)}),
            thread_id=thread_id,
        )


@asynccontextmanager
async def open_session(
    services: Services, saver: BaseCheckpointSaver[Any] | None = None
) -> AsyncIterator[Session]:
    """Open a session; threads live in Postgres when the database is one, else in SQLite; closes all of it."""
    async with AsyncExitStack() as stack:
        if saver is None:
            url = services.settings.database_url or ""
            kept = postgres_saver(url) if url.startswith("postgres") else None
            saver = await stack.enter_async_context(
                kept or sqlite_saver(services.settings.home / "threads.sqlite")
            )
        try:
            yield Session(services, saver)
        finally:
            await services.close()
            await asyncio.to_thread(settle, LAST_TRACES)


@asynccontextmanager
async def postgres_saver(url: str) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """Open the Postgres checkpointer at an SQLAlchemy URL and make its tables.

    Raises:
        BadInput: the packages for Postgres are not installed.
        Unavailable: the database does not answer.
    """
    try:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg import OperationalError
    except ImportError as missing:
        raise BadInput(
            "Threads in Postgres need its packages: pip install 'citegraph[postgres]'."
        ) from missing

    async with AsyncExitStack() as stack:
        try:
            opening = AsyncPostgresSaver.from_conn_string(
                re.sub(r"^postgres(ql)?(\+\w+)?:", "postgresql:", url)
            )
            saver = await stack.enter_async_context(opening)
            await saver.setup()
        except OperationalError as error:
            raise Unavailable("The Postgres database of the threads does not answer.") from error
        yield saver


@asynccontextmanager
async def sqlite_saver(path: Path) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """Open the SQLite checkpointer at `path`."""
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    path.parent.mkdir(parents=True, exist_ok=True)
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        yield saver


def failed(given: Any, thread_id: str, reason: str, started: float) -> Answer:
    """Return the answer of a run that could not be finished: what failed, never a stack trace."""
    question = given.get("query", "") if isinstance(given, dict) else ""
    return Answer(
        question=question,
        text=f"The question could not be answered: {reason}",
        status="failed",
        notes=[Note(step="run", kind="failed", message=reason)],
        usage=Usage(seconds=round(time.time() - started, 4)),
        thread_id=thread_id,
    )


def _config(thread_id: str) -> Any:
    return {"configurable": {"thread_id": thread_id}}


def _clarification(interrupts: Any) -> Clarification:
    first = interrupts[0]
    return Clarification(**first.value, interrupt_id=first.id)


def _answer_of(part: Json) -> Json:
    for update in part.values():
        if isinstance(update, dict) and update.get("answer"):
            return {"answer": update["answer"]}
    return {}


def _event(mode: str, part: Json) -> Json:
    """Return a stream part as an event for people: a finished step, or what a step told."""
    if mode == "custom":
        return part
    if "__interrupt__" in part:
        return {"event": "clarification"}
    name = next(iter(part), "")
    step = name.removeprefix("__error_handler__")
    update = part.get(name) or {}
    event: Json = {"event": "step", "step": step}
    if step == "route":
        event["detail"] = ", ".join(
            f"{route['bucket']} {route['score']:.2f}" for route in update.get("routes", [])
        )
    if step == "schema_plan" and update.get("plan"):
        filters = [
            clause
            for name in update["plan"]["buckets"]
            for clause in update["plan"]["per_bucket"][name]["filters"]
        ]
        event["detail"] = f"{update['plan']['intent']}, {len(filters)} filters"
        event["filters"] = filters
    if step == "review" and update.get("decision"):
        event["detail"] = f"{update['decision'].get('status')}: {update['decision'].get('reason', '')}"
    return event
