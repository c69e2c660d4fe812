"""Asks a model once more when its endpoint may work later, waiting as long as it asks for within the deadline."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from citegraph.errors import CircuitOpen, CitegraphError, TimedOut, Unavailable
from citegraph.llm.budget import CallBudget

T = TypeVar("T")

ATTEMPTS = 3
PAUSE = 0.2
"""Seconds before the second attempt where the endpoint names none; there is no third then."""
SHARE = 0.5
"""Share of the remaining time that may be waited away; what is left must do for the steps that follow."""


async def patiently(ask: Callable[[], Awaitable[T]], budget: CallBudget) -> T:
    """Return what `ask` returns; an endpoint that may work later is asked again, at most twice.

    Raises:
        CitegraphError: as the last attempt, with the calls of all attempts; `final`, so that nobody asks again.
    """
    before = len(budget.calls)

    def again(error: BaseException) -> bool:
        return isinstance(error, Unavailable) and _worth_it(error, budget)

    attempts = AsyncRetrying(
        retry=retry_if_exception(again), stop=_stop, wait=lambda state: _wait(_error(state)), reraise=True
    )
    try:
        async for attempt in attempts:
            with attempt:
                return await ask()
    except CitegraphError as error:
        error.calls, error.final = tuple(budget.calls[before:]), True
        raise
    raise AssertionError("tenacity returns or raises")


def _stop(state: RetryCallState) -> bool:
    error = _error(state)
    asked = isinstance(error, Unavailable) and error.retry_after is not None
    return stop_after_attempt(ATTEMPTS if asked else ATTEMPTS - 1)(state)


def _worth_it(error: Unavailable, budget: CallBudget) -> bool:
    """Tell whether there are calls and time for another attempt; a time-out has had its time."""
    if isinstance(error, TimedOut) or budget.calls_left < 1:
        return False
    if isinstance(error, CircuitOpen) and error.retry_after is None:
        return False
    return _wait(error) < SHARE * budget.seconds_left()


def _wait(error: BaseException | None) -> float:
    asked = error.retry_after if isinstance(error, Unavailable) else None
    return PAUSE if asked is None else asked + 0.01


def _error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None
