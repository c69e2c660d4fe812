"""The two ways in which something outside the process fails.

    CitegraphError
    ├── Unavailable     it may work later: retried, then the step's twin answers
    │   └── TimedOut    no answer within the time that remained
    └── Rejected        it will not work as asked: never retried
        └── BadInput    the caller's own input; the message says what to do

Clients translate foreign exceptions into these at the seam; nothing else is caught inside a node.
"""


class CitegraphError(Exception):
    """Base of the errors that Citegraph raises; `str()` is safe to show (no secret, no stack trace)."""


class Unavailable(CitegraphError):
    """A dependency did not answer: network, overload, rate limit, 5xx."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TimedOut(Unavailable):
    """No answer within the time that remained of the run's deadline."""


class Rejected(CitegraphError):
    """A dependency refused the request for good: bad key, unknown model, malformed request."""


class BadInput(Rejected):
    """The caller's input cannot be used; the message says why and what to do instead."""
