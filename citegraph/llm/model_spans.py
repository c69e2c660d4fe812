"""OpenTelemetry spans of model calls, by the semantic conventions for generative AI; ids, names and numbers only.

Without an SDK in the process the API makes no spans and costs nothing.
"""

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from citegraph.llm.model_call import ModelCall

PROVIDER = "openai"
"""Every endpoint is asked through OpenAI's protocol, whoever runs it."""


def tracer() -> "Tracer":
    """Return the tracer of this project."""
    from opentelemetry import trace

    return trace.get_tracer("citegraph")


def chat_span(call: "ModelCall") -> None:
    """Record a model call that has just ended as a span of the current step."""
    from opentelemetry.trace import SpanKind, StatusCode

    end = time.time_ns()
    span = tracer().start_span(
        f"chat {call.model}", kind=SpanKind.CLIENT, start_time=end - int(call.seconds * 1e9)
    )
    if not span.is_recording():
        return
    span.set_attributes(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": PROVIDER,
            "gen_ai.request.model": call.model,
            "gen_ai.usage.input_tokens": call.tokens_in,
            "gen_ai.usage.output_tokens": call.tokens_out,
            "gen_ai.output.type": "text" if call.rung == "text" else "json",
            "citegraph.step": call.step,
            "citegraph.prompt_version": call.prompt_version,
        }
    )
    if call.finish:
        span.set_attribute("gen_ai.response.finish_reasons", [call.finish])
    if call.failure:
        span.set_attribute("error.type", call.failure)
        span.set_status(StatusCode.ERROR)
    span.end(end)
