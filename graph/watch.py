"""The one wrapper around a node: it runs in the run's mode, its seconds are counted, and who wants to know is told.

A step's begin and end, with what it found (searches) and what it spent (model calls), pass through `Watched.__call__`.
Each single model call is a LangChain run named by its step (`citegraph.llm.chat.Call.config`) and a span
(`citegraph.llm.budget`). `Services.observers` hear of every step as a `StepSeen`, spans are made in
`graph.watch`, and LangSmith is told in `graph.langsmith`. All of them get names, ids and counts.
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from citegraph.corpus.records.database import keeping
from citegraph.errors import BadInput, TimedOut
from citegraph.llm.budget import tracer
from citegraph.run.budgets import seconds_to_end
from citegraph.run.context import Context
from citegraph.run.events import Observer, StepSeen
from citegraph.run.model_calls import Stopwatch
from citegraph.run.state import Update
from citegraph.settings import Settings
from graph.langsmith import tell

if TYPE_CHECKING:
    from opentelemetry.trace import Span


T = TypeVar("T")
PARENT = "__citegraph_traceparent"
"""Key of the run's span in `configurable`; LangGraph keeps keys that begin so out of checkpoints and traces."""

KEPT = "__citegraph_kept"
"""Key of what the run has read (`citegraph.corpus.records.database.keeping`) there; a run without keeps it a step long."""


def export(settings: Settings) -> None:
    """Send spans to OTEL_EXPORTER_OTLP_ENDPOINT when it is set, unless the process exports already.

    Raises:
        BadInput: the packages of the extra `otel` are missing.
    """
    if settings.otlp_endpoint:
        _export_once()


@lru_cache(maxsize=1)
def _export_once() -> None:
    from opentelemetry import trace

    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as missing:
        raise BadInput(
            "OTEL_EXPORTER_OTLP_ENDPOINT needs its packages: pip install 'citegraph[otel]'."
        ) from missing
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return
    provider = TracerProvider(resource=Resource.create({"service.name": "citegraph"}))
    # The exporter reads address, headers and time-out from the OTEL_ variables itself.
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


@dataclass(frozen=True)
class RunSpan:
    """The span of a whole run, and what its steps need to lie below it."""

    run_id: str
    span: "Span"

    def config(self) -> dict[str, Any]:
        """Return what the run's config carries."""
        from opentelemetry.trace import set_span_in_context
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        carried: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(carried, set_span_in_context(self.span))
        return {PARENT: carried["traceparent"]} if carried else {}

    def ended(self, status: str) -> None:
        """Note how the run ended."""
        self.span.set_attribute("citegraph.status", status)
        if status == "failed":
            from opentelemetry.trace import StatusCode

            self.span.set_status(StatusCode.ERROR)


@contextmanager
def run_span(graph: str, thread_id: str) -> Iterator[RunSpan]:
    """Open the span of a run; it is nobody's current span, since a generator yields in its consumer's context."""
    span = tracer().start_span(
        f"invoke_agent {graph}",
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": graph,
            "gen_ai.conversation.id": thread_id,
        },
    )
    run = RunSpan(uuid.uuid4().hex, span)
    span.set_attribute("citegraph.run_id", run.run_id)
    try:
        yield run
    finally:
        span.end()


@contextmanager
def step_span(step: str, state: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator["Span"]:
    """Open the span of a step, current while the step runs; of a failure only its kind is kept."""
    from opentelemetry.trace import StatusCode
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    configurable = config.get("configurable") or {}
    above = configurable.get(PARENT)
    parent = TraceContextTextMapPropagator().extract({"traceparent": above}) if above else None
    tool = str((state.get("call") or {}).get("tool") or "")
    attributes = {"citegraph.step": step, "gen_ai.conversation.id": str(configurable.get("thread_id", ""))}
    if tool:
        attributes |= {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gen_ai.tool.type": "datastore",
        }
    with tracer().start_as_current_span(
        f"execute_tool {tool}" if tool else f"step {step}",
        context=parent,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield span
        except BaseException as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(StatusCode.ERROR)
            raise


def counted(span: "Span", seen: StepSeen) -> None:
    """Put the numbers of a step on its span."""
    if not span.is_recording():
        return
    names = {"input_tokens": "gen_ai.usage.input_tokens", "output_tokens": "gen_ai.usage.output_tokens"}
    span.set_attributes({names.get(key, f"citegraph.{key}"): value for key, value in seen.usage.items()})
    if seen.candidates is not None:
        span.set_attribute("citegraph.candidates", seen.candidates)
    if seen.notes:
        span.set_attribute("citegraph.notes", list(seen.notes))
    if seen.status:
        span.set_attribute("citegraph.status", seen.status)
    if seen.confidence is not None:
        span.set_attribute("citegraph.confidence", seen.confidence)


async def within(seconds: float, step: str, work: Coroutine[Any, Any, T]) -> T:
    """Return what a step's work returns, broken off at the end of the run; a thread that it waits for goes on unheard.

    Raises:
        TimedOut: the seconds are spent.
    """
    spent = f"{step}: the time of the run is spent"
    if seconds <= 0:
        work.close()
        raise TimedOut(spent)
    try:
        async with asyncio.timeout(seconds) as limit:
            return await work
    except TimeoutError:
        if limit.expired():
            raise TimedOut(spent) from None
        raise


Mode = Literal["agentic", "single"]
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Watched:
    """A node as the graph runs it.

    Attributes:
        mode: bounds the run's settings where the caller names no mode.
        timed: its seconds are counted here under `usage.steps`; the other nodes count their own.
    """

    step: str
    node: Any
    mode: Mode
    observers: tuple[Observer, ...] = ()
    timed: bool = False

    async def __call__(self, state: Any, runtime: Runtime[Context]) -> Update:
        """Run the node, then tell what it did."""
        config = get_config()
        context = (runtime.context or Context()).in_mode(self.mode)
        watch = Stopwatch(self.step) if self.timed else None
        kept = config.get("configurable", {}).get(KEPT)
        with step_span(self.step, state, config) as span, keeping({} if kept is None else kept):
            began = time.perf_counter()
            begins = hasattr(
                self.node, "afresh"
            )  # the deadline that its state holds is of the question before
            left = context.max_seconds if begins else seconds_to_end(state, context)
            update: Update = await within(
                left, self.step, self.node(state, runtime.override(context=context))
            )
            if watch is not None:
                # The run that pays: an update that the node cache kept from another one costs nothing.
                paid = {"run": state.get("usage", {}).get("started")}
                update = update | {"usage": watch.update(update.get("usage")) | paid}
            seen = seen_of(self.step, update, config, time.perf_counter() - began)
            counted(span, seen)
        tell(self.step, state, update)
        observe(self.observers, seen)
        return update


def seen_of(
    step: str, update: Mapping[str, Any], config: Mapping[str, Any], seconds: float | None
) -> StepSeen:
    """Return what observers hear of a step that made this update; no text.

    What a new turn overwrites stands in LangGraph's `Overwrite`.
    """
    update = {key: value.value if isinstance(value, Overwrite) else value for key, value in update.items()}
    found = update.get("found")
    hits = [hit for item in found or [] for hit in item.get("hits", [])]
    answer = update.get("answer") or {}
    paused = (update.get("decision") or {}).get("status") == "clarify"
    return StepSeen(
        step=step,
        run_id=str((config.get("metadata") or {}).get("run_id", "")),
        thread_id=str((config.get("configurable") or {}).get("thread_id", "")),
        seconds=seconds,
        tool=str(found[0]["call"]["tool"]) if found else "",
        candidates=len(hits) if found else None,
        scores=tuple(float(hit["score"]) for hit in hits if isinstance(hit.get("score"), int | float)),
        usage={
            key: value for key, value in (update.get("usage") or {}).items() if isinstance(value, int | float)
        },
        notes=tuple(str(item["kind"]) for item in update.get("notes") or []),
        status="needs_clarification" if paused else str(answer.get("status", "")),
        run_seconds=(answer.get("usage") or {}).get("seconds"),
        confidence=answer.get("confidence"),
    )


def observe(observers: Iterable[Observer], seen: StepSeen) -> None:
    """Tell observers of a step; nothing that goes wrong there reaches the run."""
    for observer in observers:
        try:
            observer.saw(seen)
        except Exception as error:
            log.debug("observing step %s failed: %s", seen.step, type(error).__name__)
