"""OpenTelemetry spans of runs and steps: names, ids and counts; exported by OTLP where the settings say so."""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from citegraph.errors import BadInput
from citegraph.llm import model_spans
from citegraph.run.observing import StepSeen
from citegraph.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.trace import Span

PARENT = "__citegraph_traceparent"
"""Key of the run's span in `configurable`; LangGraph keeps keys that begin so out of checkpoints and traces."""


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
    span = model_spans.tracer().start_span(
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
    with model_spans.tracer().start_as_current_span(
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
