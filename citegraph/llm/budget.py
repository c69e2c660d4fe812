"""What one step may still spend on model calls, and the record of what it spent."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from citegraph.errors import BudgetSpent, CitegraphError
from citegraph.llm.model_call import ModelCall

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


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


@dataclass
class CallBudget:
    """Counts the model calls of one step against what the run has left.

    `deadline` is on `time.monotonic()`'s scale; `tokens_left` and `cost_left` None mean unlimited. Every request
    is one call, also one that fails or that repairs another. What a call will cost is known only afterwards, so
    the call that crosses a limit of tokens or money is the last one.
    """

    calls_left: int
    tokens_left: int | None
    deadline: float
    cost_left: float | None = None
    calls: list[ModelCall] = field(default_factory=list)

    @classmethod
    def of(
        cls, calls: int, seconds: float, *, tokens: int | None = None, cost: float | None = None
    ) -> "CallBudget":
        """Return a budget of `calls` requests, `tokens` tokens and `cost` money within `seconds` from now."""
        return cls(calls, tokens, time.monotonic() + seconds, cost)

    def seconds_left(self) -> float:
        """Return the seconds until the deadline, negative when it has passed."""
        return self.deadline - time.monotonic()

    def take(self, step: str) -> None:
        """Count one call that is about to be made.

        Raises:
            BudgetSpent: no calls, tokens, money or seconds are left; nothing was counted.
        """
        if self.calls_left < 1:
            raise BudgetSpent(f"{step}: no model call is left in this run's budget")
        if self.tokens_left is not None and self.tokens_left < 1:
            raise BudgetSpent(f"{step}: no tokens are left in this run's budget")
        if self.cost_left is not None and self.cost_left <= 0:
            raise BudgetSpent(f"{step}: no money is left in this run's budget")
        if self.seconds_left() <= 0:
            raise BudgetSpent(f"{step}: no time is left for a model call in this run")
        self.calls_left -= 1

    def record(self, call: ModelCall) -> ModelCall:
        """Keep a finished call, charge its tokens and its price, and return it."""
        self.calls.append(call)
        chat_span(call)
        if self.cost_left is not None:
            self.cost_left -= call.cost or 0.0
        if self.tokens_left is not None:
            self.tokens_left = max(0, self.tokens_left - call.tokens)
        return call

    @contextmanager
    def charged(self) -> Iterator[None]:
        """Put the calls made inside the block on an error that leaves it, so that usage counts them."""
        before = len(self.calls)
        try:
            yield
        except CitegraphError as error:
            error.calls = tuple(self.calls[before:])
            raise
