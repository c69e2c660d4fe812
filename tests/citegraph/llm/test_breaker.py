"""An endpoint that failed rests; what it asks for is kept; a slow model does not condemn its endpoint."""

from typing import Any

import pytest

from citegraph.errors import CircuitOpen, TimedOut, Unavailable
from citegraph.llm.chat import LONGEST_REST, REST, TRIAL, Breakers

URL = "http://127.0.0.1:9/v1"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def admitted(breakers: Breakers, model: str = "m", endpoint: str | None = URL) -> bool:
    try:
        breakers.admit(endpoint, model, step="review")
    except CircuitOpen:
        return False
    return True


def test_one_time_out_rests_that_model_and_no_other(clock: Clock) -> None:
    breakers = Breakers(clock)
    breakers.failed(URL, "m", TimedOut("late"))
    with pytest.raises(
        CircuitOpen, match=r"^review: the model endpoint failed before and is asked again in 10 s$"
    ):
        breakers.admit(URL, "m", step="review")
    assert (admitted(breakers, "other"), admitted(breakers, "m", None)) == (True, True)


def test_the_third_failure_in_a_row_rests_the_whole_endpoint(clock: Clock) -> None:
    breakers = Breakers(clock)
    for _ in range(2):
        breakers.failed(URL, "m", Unavailable("500"))
    assert admitted(breakers)
    breakers.failed(URL, "other", Unavailable("500"))
    assert (admitted(breakers), admitted(breakers, "other")) == (False, False)


def test_an_answer_starts_the_count_anew(clock: Clock) -> None:
    breakers = Breakers(clock)
    for _ in range(5):
        breakers.failed(URL, "m", Unavailable("500"))
        breakers.worked(URL, "m")
    assert admitted(breakers)


def test_after_the_rest_one_trial_passes_and_decides(clock: Clock) -> None:
    breakers = Breakers(clock)
    breakers.failed(URL, "m", TimedOut("late"))
    clock.now += REST
    assert [admitted(breakers), admitted(breakers)] == [True, False]
    breakers.failed(URL, "m", TimedOut("late"))
    clock.now += REST
    assert not admitted(breakers), "the second rest is longer"
    clock.now += REST
    assert admitted(breakers)
    breakers.worked(URL, "m")
    assert [admitted(breakers), admitted(breakers)] == [True, True]


def test_a_trial_that_never_comes_back_keeps_nobody_out_for_ever(clock: Clock) -> None:
    breakers = Breakers(clock)
    breakers.failed(URL, "m", TimedOut("late"))
    clock.now += REST
    assert admitted(breakers)
    clock.now += TRIAL
    assert admitted(breakers)


def test_rests_grow_to_a_limit(clock: Clock) -> None:
    breakers = Breakers(clock)
    for _ in range(30):
        breakers.failed(URL, "m", TimedOut("late"))
    clock.now += LONGEST_REST
    assert admitted(breakers)


def test_the_time_that_an_endpoint_asks_for_is_kept_and_said(clock: Clock) -> None:
    breakers = Breakers(clock)
    breakers.failed(URL, "m", Unavailable("429", retry_after=7.0))
    clock.now += 3
    with pytest.raises(CircuitOpen) as caught:
        breakers.admit(URL, "m", step="compose")
    assert caught.value.retry_after == 4.0
    assert admitted(breakers, "other"), "rates are limited by model"
    clock.now += 4
    assert [admitted(breakers), admitted(breakers)] == [True, True], "it said itself when it works again"


@pytest.mark.parametrize("error", [Unavailable("500"), TimedOut("late")])
def test_a_rest_of_ours_is_not_worth_waiting_for(error: Any, clock: Clock) -> None:
    breakers = Breakers(clock)
    for _ in range(3):
        breakers.failed(URL, "m", error)
    with pytest.raises(CircuitOpen) as caught:
        breakers.admit(URL, "m", step="compose")
    assert caught.value.retry_after is None
