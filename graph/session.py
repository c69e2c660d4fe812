"""Run the graph from a program: ask and reply, with the guards that LangGraph leaves to the caller."""

import asyncio
import re
import sqlite3
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from langchain_core.messages import AnyMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import RunControl
from langgraph.types import Command

from citegraph.corpus.records.access import Principal
from citegraph.corpus.records.database import FORMAT, refuse_newer
from citegraph.errors import BadInput, CitegraphError, Unavailable
from citegraph.plan.reply_edits import is_new_question
from citegraph.run.answer_types import Answer, Clarification, Note, Usage
from citegraph.run.budgets import deadline_of, loop_limit, recursion_limit
from citegraph.run.context import USER_KEY, Context, user_of
from citegraph.run.events import Event, StepEvent, StepSeen, correction, token
from citegraph.run.node_cache import node_cache
from citegraph.run.services import Services
from citegraph.run.state import Json, Update
from graph.build import build
from graph.langsmith import settle
from graph.loop import build_loop
from graph.watch import KEPT, RunSpan, observe, run_span

OnEvent = Callable[[Event], None]
BROKEN = "The run broke off."
DRAINED = "The server is shutting down; the run is kept and can be resumed."
LAST_TRACES = 3.0
"""Seconds that a session waits at its end for traces still to be sent; only while tracing is on."""


class UnknownThread(BadInput):
    """There is no such thread (HTTP 404)."""


class NothingPending(BadInput):
    """The thread waits for no reply (HTTP 409)."""


class WrongInterrupt(BadInput):
    """The reply names another clarification than the one that is open (HTTP 409)."""


@dataclass(frozen=True)
class _Run:
    """One run: what LangGraph is given, where it is kept, its settings, what halts it, whether it is a reply."""

    given: Any
    thread_id: str
    context: Context
    control: RunControl
    reply: bool = False


class Session:
    """The compiled graph with a checkpointer; every run ends in an `Answer`, whatever happens.

    Args:
        services: stores and models.
        saver: where threads are kept.
        graph: which of the served graphs runs.
    """

    def __init__(
        self,
        services: Services,
        saver: BaseCheckpointSaver[Any],
        graph: Literal["agent", "tool_loop"] = "agent",
    ) -> None:
        self.services = services
        built, self._limit = (
            (build(services), recursion_limit) if graph == "agent" else (build_loop(services), loop_limit)
        )
        self.graph: CompiledStateGraph[Any, Context, Any, Any] = built.compile(
            checkpointer=saver, name=graph, cache=node_cache(services)
        )
        self.principal: Principal | None = None
        self.running: set[RunControl] = set()

    def seen_by(self, principal: Principal) -> "Session":
        """Return the same session whose runs see what a principal may see, and nothing else."""
        theirs = copy(self)
        theirs.principal = principal
        return theirs

    def drain(self) -> None:
        """Let every run that is going on end at its next step; what it has done is kept, `resume` goes on."""
        for control in list(self.running):
            control.request_drain()

    async def ask(
        self,
        question: str,
        *,
        thread_id: str | None = None,
        context: Context | None = None,
        new: bool = False,
        on_event: OnEvent | None = None,
    ) -> Answer:
        """Answer a question; on a thread that waits for a reply the text is that reply unless `new` is set
        or it is a question of its own (`plan/reply_edits.py`).

        Returns:
            The answer, or one with status `needs_clarification` when the run paused.
        """
        events = self.stream(question, thread_id=thread_id, context=context, new=new)
        return await _answer_at_the_end(events, on_event)

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
        events = self.stream_reply(thread_id, reply, interrupt_id=interrupt_id, context=context)
        return await _answer_at_the_end(events, on_event)

    async def stream(
        self,
        question: str,
        *,
        thread_id: str | None = None,
        context: Context | None = None,
        new: bool = False,
        history: Sequence[AnyMessage] = (),
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of `ask` as they happen; the last one is the `answer`, also when the run paused.

        `history` is what was said before in a new thread, as the client knows it.
        """
        thread, chosen = thread_id or uuid.uuid4().hex, context or Context()
        with self._going_on() as control:
            given: Any = {"query": question, "messages": list(history)}
            reply = bool(thread_id and not new and await self._is_reply(thread, question, chosen))
            if reply:
                given = await self._resuming(thread, question, chosen)
            async with aclosing(self._run(_Run(given, thread, chosen, control, reply))) as events:
                async for event in events:
                    yield event

    async def stream_reply(
        self,
        thread_id: str,
        reply: Any,
        *,
        interrupt_id: str | None = None,
        context: Context | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of `reply` as they happen; raises as it does, before the first event."""
        chosen = context or Context()
        with self._going_on() as control:
            given = await self._resuming(thread_id, reply, chosen, interrupt_id)
            async with aclosing(self._run(_Run(given, thread_id, chosen, control, True))) as events:
                async for event in events:
                    yield event

    async def _is_reply(self, thread_id: str, text: str, context: Context) -> bool:
        snapshot = await self.graph.aget_state(_config(thread_id))
        asked = snapshot.values.get("decision", {}).get("clarification")
        if not snapshot.interrupts or not asked:
            return bool(snapshot.interrupts)
        corpus = await self.services.corpus()
        return not await asyncio.to_thread(is_new_question, corpus, asked, text, context.now)

    async def _resuming(
        self, thread_id: str, reply: Any, context: Context, interrupt_id: str | None = None
    ) -> Command[Any]:
        """Return what resumes a paused thread; raises as `reply` does."""
        snapshot = await self.graph.aget_state(_config(thread_id))
        if not snapshot.values and not snapshot.next:
            raise UnknownThread(f"There is no thread {thread_id!r}; ask a question to start one.")
        if not snapshot.interrupts:
            raise NothingPending(f"Thread {thread_id!r} waits for no reply; ask a new question instead.")
        if interrupt_id and interrupt_id not in {item.id for item in snapshot.interrupts}:
            raise WrongInterrupt(
                f"Clarification {interrupt_id!r} is not open; the open one is {snapshot.interrupts[0].id!r}."
            )
        update = {"deadline": deadline_of(context)}
        # By id: LangGraph takes a bare None or {} for no reply at all, and leaves the run where it was.
        resume = {snapshot.interrupts[0].id: "" if reply is None else reply}
        return Command(resume=resume, update=update)

    async def stream_resume(
        self, thread_id: str, *, context: Context | None = None
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of a run that goes on where a shutdown or a lost connection ended it.

        Raises:
            UnknownThread: there is no such thread.
            NothingPending: its last run came to an end, or waits for a reply.
        """
        with self._going_on() as control:
            snapshot = await self.graph.aget_state(_config(thread_id))
            if not snapshot.values and not snapshot.next:
                raise UnknownThread(f"There is no thread {thread_id!r}; ask a question to start one.")
            if snapshot.interrupts or not snapshot.next:
                raise NothingPending(f"Thread {thread_id!r} has no run that broke off.")
            chosen = context or Context()
            again: Command[Any] = Command(update={"deadline": deadline_of(chosen)})
            async with aclosing(self._run(_Run(again, thread_id, chosen, control))) as events:
                async for event in events:
                    yield event

    async def forget(self, thread_id: str) -> None:
        """Delete everything that is kept of a thread."""
        saver = self.graph.checkpointer
        assert isinstance(saver, BaseCheckpointSaver)
        await saver.adelete_thread(thread_id)

    async def pending(self, thread_id: str) -> Clarification | None:
        """Return the clarification that a thread waits on, None when it waits for nothing."""
        snapshot = await self.graph.aget_state(_config(thread_id))
        return _clarification(snapshot.interrupts) if snapshot.interrupts else None

    @contextmanager
    def _going_on(self) -> Iterator[RunControl]:
        """Count a run among those that go on, before anything is awaited, so that a limit on them holds."""
        control = RunControl()
        self.running.add(control)
        try:
            yield control
        finally:
            self.running.discard(control)

    async def _run(self, run: _Run) -> AsyncGenerator[Event, None]:
        """Yield the events of one run, within its span; whatever happens the last one is an answer."""
        with run_span(self.graph.name, run.thread_id) as span:
            async with aclosing(self._events_of(run, span)) as events:
                async for event in events:
                    if event["event"] == "answer":
                        span.ended(event["answer"]["status"])
                    yield event

    async def _events_of(self, run: _Run, span: RunSpan) -> AsyncGenerator[Event, None]:
        started = time.time()
        final: Json = {}
        told = ""
        failure = ""
        yield {"event": "run", "run_id": span.run_id, "thread_id": run.thread_id, "reply": run.reply}
        try:
            async with aclosing(self._parts(run, span)) as parts:
                async for mode, part in parts:
                    if mode == "updates":
                        final = part if "__interrupt__" in part else final | _answer_of(part)
                    for event in _events(mode, part):
                        told = _text_so_far(told, event)
                        yield event
        except GraphDrained:
            failure = DRAINED
        except CitegraphError as error:
            failure = str(error)
        except Exception as error:
            failure = f"unexpected {type(error).__name__}"
        if failure:
            status = "drained" if failure == DRAINED else "failed"
            seen = StepSeen(
                "run", span.run_id, run.thread_id, status=status, run_seconds=time.time() - started
            )
            observe(self.services.observers, seen)
            answer = failed(run.given, run.thread_id, failure, started).model_dump(mode="json")
            for event in ([correction(BROKEN)] if told else []) + [token(answer["text"])]:
                yield event
        elif "__interrupt__" in final:
            answer = (await self._paused(final["__interrupt__"], run.thread_id, started)).model_dump(
                mode="json"
            )
            yield {
                "event": "clarification",
                "thread_id": run.thread_id,
                "clarification": answer["clarification"],
            }
        else:
            answer = {**final["answer"], "thread_id": run.thread_id}
        yield {"event": "answer", "answer": answer}

    def _parts(self, run: _Run, span: RunSpan) -> Any:
        """Return LangGraph's stream of (mode, part) of one run."""
        config = _config(run.thread_id) | {"recursion_limit": self._limit(run.context)}
        config["configurable"] |= span.config() | {KEPT: {}}
        config["metadata"] = {"run_id": span.run_id}
        # The trace has the run's own id: what a reader says of the answer later is attached by it.
        config["run_id"] = uuid.UUID(span.run_id)
        if self.principal is not None:
            config["configurable"][USER_KEY] = user_of(self.principal)
        return self.graph.astream(
            run.given,
            config,
            context=run.context,
            stream_mode=["updates", "custom"],
            durability="exit",
            control=run.control,
        )

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


async def _answer_at_the_end(events: AsyncGenerator[Event, None], on_event: OnEvent | None) -> Answer:
    """Pass the events on and return the answer that the last one holds."""
    last: Json = {}
    async with aclosing(events):
        async for event in events:
            if on_event is not None:
                on_event(event)
            if event["event"] == "answer":
                last = event["answer"]
    return Answer.model_validate(last)


@asynccontextmanager
async def open_session(
    services: Services,
    saver: BaseCheckpointSaver[Any] | None = None,
    graph: Literal["agent", "tool_loop"] = "agent",
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
            yield Session(services, saver, graph)
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

        from graph.postgres_threads import Connections
    except ImportError as missing:
        raise BadInput(
            "Threads in Postgres need its packages: pip install 'citegraph[postgres]'."
        ) from missing

    async with Connections(re.sub(r"^postgres(ql)?(\+\w+)?:", "postgresql:", url)) as connections:
        saver = AsyncPostgresSaver(connections)
        await saver.setup()
        yield saver


@asynccontextmanager
async def sqlite_saver(path: Path) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """Open the SQLite checkpointer at `path`, which bears the stamp of its format.

    Raises:
        BadInput: a newer version wrote it.
        Unavailable: it is damaged or cannot be written.
    """
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    # The folder alone: what fails while the threads are used (a time-out is an OSError too) is not theirs.
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"{error.filename or path}: {error.strerror or type(error).__name__}.") from error
    try:
        async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
            async with saver.conn.execute("PRAGMA user_version") as found:
                row = await found.fetchone()
            refuse_newer(int(row[0]) if row else 0, "The store of the threads")
            await saver.conn.execute(f"PRAGMA user_version = {FORMAT}")
            yield saver
    except sqlite3.DatabaseError as error:
        raise Unavailable(
            f"The threads in {path.name} cannot be used ({error}): `citegraph doctor --repair` puts the file aside or "
            "restores the last backup."
        ) from error


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


def _text_so_far(told: str, event: Event) -> str:
    """Return the text that the events have told up to and including this one."""
    if event["event"] == "correction":
        return ""
    return told + event["text"] if event["event"] == "token" else told


BESIDE = ("__interrupt__", "__metadata__")
"""What LangGraph puts beside the updates of nodes: a pause, and that an update came from the node cache."""


def _events(mode: str, part: Json) -> list[Event]:
    """Return the events of a stream part: what a step told, or the steps that have ended."""
    if mode == "custom":
        return [cast(Event, part)]
    return [_step(name, update or {}) for name, update in part.items() if name not in BESIDE]


def _step(name: str, update: Update) -> StepEvent:
    """Return the event of an ended step with what is worth a line."""
    step = name.removeprefix("__error_handler__")
    usage = update.get("usage")
    seconds = usage.get("steps", {}) if isinstance(usage, dict) else {}
    event: StepEvent = {"event": "step", "step": step, "seconds": seconds.get(step, 0.0), "detail": ""}
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
