"""The two ways in which something outside the process fails, and the run's own limit.

    CitegraphError
    ├── Unavailable     it may work later: retried, then the step's twin answers
    │   ├── TimedOut    no answer within the time that remained
    │   └── CircuitOpen it failed before and rests: no call was made
    ├── Rejected        it will not work as asked: never retried
    │   └── BadInput    the caller's own input; the message says what to do
    └── BudgetSpent     the run's own limit: no call was made, the step's twin answers

Clients translate foreign exceptions into these at the seam; nothing else is caught inside a node.
"""

from typing import Any


class CitegraphError(Exception):
    """Base of the errors that Citegraph raises; `str()` is safe to show (no secret, no stack trace).

    `calls` holds the model calls (`citegraph.llm.model_call.ModelCall`) that were made before it failed, so that usage
    counts them too; `final` says that what could be retried was; `part` is the kind of the user's own part that
    failed, which is not asked again in the same run.
    """

    calls: tuple[Any, ...] = ()
    final: bool = False
    part: str = ""


class Unavailable(CitegraphError):
    """A dependency did not answer: network, overload, rate limit, 5xx."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TimedOut(Unavailable):
    """No answer within the time that remained of the run's deadline."""


class CircuitOpen(Unavailable):
    """The endpoint failed before and is left alone for a while; no call was made."""


class Rejected(CitegraphError):
    """A dependency refused the request for good: bad key, unknown model, malformed request."""


class BadInput(Rejected):
    """The caller's input cannot be used; the message says why and what to do instead."""


class BudgetSpent(CitegraphError):
    """A budget of the run (calls, tokens or seconds) allows no further model call; none was made."""
