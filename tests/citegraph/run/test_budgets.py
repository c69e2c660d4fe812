"""What is retried, how many steps a run may take, and which budget is spent."""

import asyncio
import time
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from citegraph.errors import BadInput, CitegraphError, Rejected, TimedOut, Unavailable
from citegraph.run.budgets import (
    RETRY,
    attempts,
    cost_left,
    llm_calls_left,
    model_budget_spent,
    recursion_limit,
    retry_on,
    seconds_left,
    spent,
    tokens_left,
    tool_calls_left,
)
from citegraph.run.context import Context


def invalid() -> ValidationError:
    class Number(BaseModel):
        value: int

    with pytest.raises(ValidationError) as caught:
        Number.model_validate({"value": "x"})
    return caught.value


def tried(error: CitegraphError) -> CitegraphError:
    """Return an error of a model that was asked again already."""
    error.final = True
    return error


@pytest.mark.parametrize(
    ("error", "retried"),
    [
        (Unavailable("429"), True),
        (tried(Unavailable("429")), False),
        (TimedOut("no time is left"), False),
        (Rejected("401"), False),
        (BadInput("no such bucket"), False),
        (CitegraphError("other"), False),
        (TimeoutError(), False),
        (asyncio.CancelledError(), False),
        (ValueError("a bug"), False),
        (ConnectionError("not translated at the seam"), False),
        (invalid(), False),
    ],
)
def test_retry_table(error: Any, retried: bool) -> None:
    assert retry_on(error) is retried


def test_attempts_follow_the_table() -> None:
    assert [attempts(error) for error in (Unavailable("503"), TimedOut("late"), Rejected("401"))] == [2, 1, 1]


def test_the_graph_uses_the_table() -> None:
    assert RETRY.retry_on is retry_on
    assert RETRY.max_attempts == 2


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({}, None),
        ({"usage": {"tool_calls": 4}, "rounds": 2}, None),
        ({"usage": {"tool_calls": 5}}, "tool calls"),
        ({"usage": {"tool_calls": 9}}, "tool calls"),
        ({"rounds": 3}, "rounds"),
        ({"deadline": 1.0, "usage": {"tool_calls": 5}}, "seconds"),
        ({"deadline": 4e9}, None),
    ],
)
def test_which_budget_is_spent(state: dict[str, Any], expected: str | None) -> None:
    assert spent(state, Context()) == expected


def test_counters_never_fall_below_zero() -> None:
    state = {"usage": {"tool_calls": 8, "llm_calls": 40}}
    assert (tool_calls_left(state, Context()), llm_calls_left(state, Context())) == (0, 0)
    assert (tool_calls_left({}, Context()), llm_calls_left({}, Context(max_llm_calls=0))) == (5, 0)


def test_seconds_left() -> None:
    assert seconds_left({"deadline": 110.0}, now=100.0) == 10.0
    assert seconds_left({"deadline": 90.0}, now=100.0) == -10.0
    assert seconds_left({}) == 3600.0
    assert 0 < seconds_left({"deadline": time.time() + 5}) <= 5


@pytest.mark.parametrize("field", ["max_rounds", "max_clarifications", "max_corrections"])
def test_the_limit_grows_with_every_loop(field: str) -> None:
    assert recursion_limit(Context(**{field: 4})) > recursion_limit(Context(**{field: 1}))


def test_the_limit_is_far_below_the_default_of_langgraph() -> None:
    assert recursion_limit(Context()) < 100


@pytest.mark.parametrize(
    ("usage", "limits", "expected"),
    [
        ({}, {}, None),
        ({"llm_calls": 12}, {}, "model calls"),
        ({"input_tokens": 90, "output_tokens": 9}, {"max_tokens": 100}, None),
        ({"input_tokens": 90, "output_tokens": 11}, {"max_tokens": 100}, "model tokens"),
        ({"cost": 0.4}, {"max_cost": 0.5}, None),
        ({"cost": 0.6}, {"max_cost": 0.5}, "money"),
        ({"llm_calls": 12, "cost": 0.6}, {"max_cost": 0.5}, "model calls"),
    ],
)
def test_which_budget_allows_no_further_call(
    usage: dict[str, Any], limits: dict[str, Any], expected: str | None
) -> None:
    assert model_budget_spent({"usage": usage}, Context(**limits)) == expected


def test_without_limits_tokens_and_money_are_unlimited() -> None:
    usage = {"usage": {"input_tokens": 10**9, "cost": 10**9}}
    assert (tokens_left(usage, Context()), cost_left(usage, Context())) == (None, None)
    assert (tokens_left(usage, Context(max_tokens=5)), cost_left(usage, Context(max_cost=1))) == (0, 0.0)
