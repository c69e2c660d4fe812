"""Translates what the model client raises into Citegraph's own errors, without key, prompt or stack trace."""

import asyncio
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from citegraph.errors import CitegraphError, Rejected, TimedOut, Unavailable

TRY_LATER = {408, 409, 425, 429}
SUBJECTS = {
    "temperature": ("temperature",),
    "reasoning_effort": ("reasoning_effort", "reasoning effort", "reasoning.effort"),
    "stream_options": ("stream_options", "include_usage"),
    "json_schema": ("response_format", "json_schema", "schema", "structured output", "grammar"),
    "tool_call": ("tool", "function"),
}
REASONS = {
    400: "did not accept the request",
    401: "refused the key",
    403: "does not allow this request",
    404: "does not know this model or address",
    408: "timed out",
    413: "says that the request is too large",
    422: "did not accept the request",
    429: "limits the rate of requests",
}
TRANSPORTS = {"httpx", "httpx2", "httpcore", "httpcore2", "h11", "h2", "anyio", "ssl", "socket"}


class NotAccepted(Rejected):
    """A 4xx about the request itself; `subjects` are the features (keys of SUBJECTS) that it names."""

    def __init__(self, message: str, *, status: int, subjects: frozenset[str]) -> None:
        super().__init__(message)
        self.status = status
        self.subjects = subjects


def translate(error: BaseException, step: str) -> CitegraphError | None:
    """Return the error to raise in place of `error`, or None for one that is a defect of ours.

    Only the status, a short error code and the class are used: the endpoint's own text can quote the key
    or the prompt.
    """
    if isinstance(error, CitegraphError):
        return error
    if isinstance(error.__cause__, CitegraphError):  # of our own bounds, which the client wraps
        return error.__cause__
    if isinstance(error, asyncio.TimeoutError | TimeoutError):
        return TimedOut(f"{step}: the model did not answer in time")
    package = type(error).__module__.split(".")[0]
    names = {c.__name__ for c in type(error).__mro__}
    if names & {"ContextOverflowError"}:
        return Rejected(f"{step}: the prompt is longer than the model accepts")
    if names & {"ModelRefusalError", "ContentFilterFinishReasonError"}:
        return Rejected(f"{step}: the model refused to answer")
    if names & {"APITimeoutError", "TimeoutException"}:
        return TimedOut(f"{step}: the model did not answer in time")
    if names & {"APIStatusError"}:
        return _from_status(error, step)
    if names & {"APIConnectionError"} or package in TRANSPORTS or isinstance(error, ConnectionError):
        return Unavailable(f"{step}: the connection to the model endpoint failed ({type(error).__name__})")
    if names & {"APIResponseValidationError", "OutputParserException", "ValidationError", "JSONDecodeError"}:
        return Rejected(f"{step}: the model endpoint sent a reply of another shape ({type(error).__name__})")
    if names & {"APIError"}:
        return Unavailable(f"{step}: the model endpoint broke off its reply{_code(error)}")
    if names & {"OpenAIError", "LangChainException"}:
        return Rejected(f"{step}: the model client refused the request ({type(error).__name__})")
    return None


def malformed(error: BaseException, step: str) -> CitegraphError | None:
    """Return Rejected for what the client raises on a reply with pieces missing, None for anything else."""
    if isinstance(error, TypeError | KeyError | AttributeError | ValueError | IndexError):
        return Rejected(f"{step}: the model endpoint sent a reply of another shape ({type(error).__name__})")
    return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the endpoint asks to wait (milliseconds, seconds or an HTTP date), or None."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d+)?", value):
            return float(value) * scale
    try:
        when = parsedate_to_datetime(headers.get("retry-after", ""))
    except (TypeError, ValueError):
        return None
    return max(0.0, when.timestamp() - time.time())


def _from_status(error: Any, step: str) -> CitegraphError:
    status = int(error.status_code)
    reason = REASONS.get(status, "failed" if status >= 500 else "refused the request")
    message = f"{step}: the model endpoint {reason} (HTTP {status}{_code(error, ', ')})"
    if status in TRY_LATER or (status >= 500 and status != 501):
        return Unavailable(message, retry_after=retry_after(error.response.headers))
    if status in {400, 404, 422, 501}:
        return NotAccepted(message, status=status, subjects=_subjects(error))
    return Rejected(message)


def _subjects(error: Any) -> frozenset[str]:
    said = f"{error} {error.body} {error.param}".lower()
    return frozenset(name for name, words in SUBJECTS.items() if any(w in said for w in words))


def _code(error: Any, before: str = ": ") -> str:
    """Return the endpoint's error code when it is a plain word such as model_not_found, else nothing."""
    code = getattr(error, "code", None)
    return before + code if isinstance(code, str) and re.fullmatch(r"[a-z]+(_[a-z]+){1,5}", code) else ""
