"""Lets an endpoint that failed rest, so that a dead one costs one time-out and not one per step."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from citegraph.errors import CircuitOpen, TimedOut, Unavailable

REST, LONGEST_REST = 10.0, 120.0
"""Seconds of rest after a failure; doubled with each trial that fails too, up to the longest."""
FAILURES = 3
"""Failures in a row, other than time-outs, after which an endpoint rests."""
TRIAL = 60.0
"""Seconds after which a trial that never came back (a cancelled run) no longer keeps others out."""


@dataclass
class Circuit:
    """What is known of one endpoint: failures in a row, and until when it rests.

    `asked` says that the endpoint itself named the time (Retry-After): then waiting for it is worth it.
    """

    failures: int = 0
    rests: int = 0
    until: float = 0.0
    asked: bool = False
    trial: float = 0.0


class Breakers:
    """One circuit per endpoint, and one per endpoint and model for time-outs and waits that the endpoint asks for.

    A slow model is no dead endpoint, and rates are limited by model: the others answer meanwhile.

    Written here and not taken from a package: pybreaker's async form needs Tornado, aiobreaker was last released
    in 2021, and purgatory has one fixed rest per name and lets every waiting call through at once when it ends.

    Args:
        clock: seconds on a scale that never goes back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._circuits: dict[tuple[str, ...], Circuit] = {}

    def admit(self, endpoint: str | None, model: str, *, step: str) -> None:
        """Let a call pass, as the only trial when a rest is over.

        Raises:
            CircuitOpen: the endpoint rests, or a trial is on its way; no call was made. `retry_after` is set
                when the endpoint asked to wait that long.
        """
        now = self._clock()
        circuits = [circuit for key in _keys(endpoint, model) if (circuit := self._circuits.get(key))]
        for circuit in circuits:
            if now < circuit.until:
                left = circuit.until - now
                raise CircuitOpen(
                    f"{step}: the model endpoint failed before and is asked again in {left:.0f} s",
                    retry_after=left if circuit.asked else None,
                )
            if circuit.rests and not circuit.asked and now - circuit.trial < TRIAL:
                raise CircuitOpen(f"{step}: the model endpoint failed before and is being tried again")
        for circuit in circuits:
            circuit.trial = now

    def worked(self, endpoint: str | None, model: str) -> None:
        """Note that the endpoint answered, were it with a refusal: it is alive."""
        for key in _keys(endpoint, model):
            self._circuits.pop(key, None)

    def failed(self, endpoint: str | None, model: str, error: Unavailable) -> None:
        """Note a failure: a time-out, a wait that the endpoint asked for, or the third in a row starts a rest."""
        whole, own = _keys(endpoint, model)
        of_the_model = isinstance(error, TimedOut) or error.retry_after is not None
        circuit = self._circuits.setdefault(own if of_the_model else whole, Circuit())
        now = self._clock()
        circuit.failures += 1
        circuit.asked = error.retry_after is not None
        if error.retry_after is not None:
            circuit.until = now + error.retry_after
        elif isinstance(error, TimedOut) or circuit.failures >= FAILURES or circuit.rests:
            circuit.until = now + min(LONGEST_REST, REST * 2**circuit.rests)
            circuit.rests += 1
        circuit.trial = 0.0


def _keys(endpoint: str | None, model: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (endpoint or "",), (endpoint or "", model)
