"""Failure policy and budgets of the graph: what is retried, how long, and how often."""

import time
from collections.abc import Mapping
from typing import Any

from langgraph.types import RetryPolicy

from citegraph.errors import TimedOut, Unavailable
from citegraph.run.context import Context

STEPS_BEFORE_LOOP = 7
STEPS_PER_ROUND = 3
STEPS_PER_CLARIFICATION = 5
STEPS_PER_CORRECTION = 2


def retry_on(error: Exception) -> bool:
    """Retry only what may work later; a spent deadline (`TimedOut`) and what was retried already are not.

    LangGraph's default would retry OpenAI's 400 and 401 and would not retry a time-out or a 429.
    """
    return isinstance(error, Unavailable) and not isinstance(error, TimedOut) and not error.final


RETRY = RetryPolicy(
    initial_interval=0.1, backoff_factor=2.0, max_interval=2.0, max_attempts=2, retry_on=retry_on
)


def attempts(error: BaseException) -> int:
    """Return how often a node ran before it gave up on `error`."""
    return RETRY.max_attempts if isinstance(error, Exception) and retry_on(error) else 1


def recursion_limit(context: Context) -> int:
    """Return the number of super-steps that the budgets can need at most, with a small reserve.

    LangGraph's default of about 10,000 would let a broken router loop for minutes.
    """
    return (
        STEPS_BEFORE_LOOP
        + STEPS_PER_ROUND * (context.max_rounds + 1) * (context.max_clarifications + 1)
        + STEPS_PER_CLARIFICATION * context.max_clarifications
        + STEPS_PER_CORRECTION * (context.max_corrections + 1)
        + 5
    )


def loop_limit(context: Context) -> int:
    """Return the number of super-steps that the single-loop agent can need at most, with a small reserve."""
    return 2 * (context.max_llm_calls + 2) + STEPS_PER_CORRECTION * (context.max_corrections + 1) + 5


CLOSING, CLOSING_AT_MOST = 0.3, 10.0
"""Share of a run's seconds, and seconds, that are kept to compose and check by code once nothing more is asked."""
TELLING, TELLING_AT_MOST = 0.15, 2.0
"""The same at its very end, for the answer that says that the time is spent."""


def deadline_of(context: Context, now: float | None = None) -> float:
    """Return the time (Unix seconds) from which a run that begins `now` composes from what it has."""
    begun = time.time() if now is None else now
    return begun + context.max_seconds - min(CLOSING * context.max_seconds, CLOSING_AT_MOST)


def seconds_to_end(state: Mapping[str, Any], context: Context, now: float | None = None) -> float:
    """Return the seconds until every step of the run is broken off, negative when that time has passed.

    They are never more than the whole run's, though the clock was set back meanwhile.
    """
    whole = context.max_seconds
    left = seconds_left(state, now) + min(CLOSING * whole, CLOSING_AT_MOST)
    return min(whole, left) - min(TELLING * whole, TELLING_AT_MOST)


def seconds_left(state: Mapping[str, Any], now: float | None = None) -> float:
    """Return the seconds in which the run may still ask and search, negative after them; 1 hour when no deadline is set."""
    deadline = state.get("deadline")
    return 3600.0 if deadline is None else float(deadline) - (time.time() if now is None else now)


def tool_calls_left(state: Mapping[str, Any], context: Context) -> int:
    """Return how many tool calls the run may still make, never below 0."""
    return max(0, context.max_tool_calls - int(state.get("usage", {}).get("tool_calls", 0)))


def llm_calls_left(state: Mapping[str, Any], context: Context) -> int:
    """Return how many model calls the run may still make, never below 0."""
    return max(0, context.max_llm_calls - int(state.get("usage", {}).get("llm_calls", 0)))


def tokens_left(state: Mapping[str, Any], context: Context) -> int | None:
    """Return how many model tokens the run may still use, never below 0; None without a limit."""
    usage = state.get("usage", {})
    used = int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0))
    return None if context.max_tokens is None else max(0, context.max_tokens - used)


def cost_left(state: Mapping[str, Any], context: Context) -> float | None:
    """Return how much money the run may still spend on model calls, never below 0; None without a limit."""
    used = float(state.get("usage", {}).get("cost", 0.0))
    return None if context.max_cost is None else max(0.0, context.max_cost - used)


def model_budget_spent(state: Mapping[str, Any], context: Context) -> str | None:
    """Return which budget allows no further model call ("model calls", "tokens", "money"), or None."""
    if llm_calls_left(state, context) <= 0:
        return "model calls"
    if tokens_left(state, context) == 0:
        return "model tokens"
    if cost_left(state, context) == 0:
        return "money"
    return None


def spent(state: Mapping[str, Any], context: Context) -> str | None:
    """Return which budget is spent ("seconds", "tool calls", "rounds"), or None while work may go on."""
    if seconds_left(state) <= 0:
        return "seconds"
    if tool_calls_left(state, context) <= 0:
        return "tool calls"
    if int(state.get("rounds", 0)) >= context.max_rounds:
        return "rounds"
    return None
