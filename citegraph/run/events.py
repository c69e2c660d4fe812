"""What a run tells while it works: typed events of plain JSON, each told as it happens.

The tokens since the last correction, one after the other, are always the text of the answer that follows.
"""

from typing import Literal, NotRequired

from typing_extensions import TypedDict  # pydantic makes schemas of no other on Python 3.11

from citegraph.run.pieces import StoredClause
from citegraph.run.state import Json


class RunEvent(TypedDict):
    """A run begins, before its first step: the thread to resume when the connection is lost."""

    event: Literal["run"]
    run_id: str
    thread_id: str


class StepEvent(TypedDict):
    """A step has ended; `detail` is one line for people, "" when there is nothing to say."""

    event: Literal["step"]
    step: str
    seconds: float
    detail: str
    filters: NotRequired[list[StoredClause]]


class ToolEvent(TypedDict):
    """A tool call has ended: what it looked for, how much it found, and in how many milliseconds.

    `hits` counts passages, or documents where the tool counts or lists those; `error` is "" when it worked.
    """

    event: Literal["tool"]
    tool: str
    buckets: list[str]
    query: str
    hits: int
    ms: int
    error: str


class TokenEvent(TypedDict):
    """The next piece of the answer's text, not verified yet; a model's thoughts are not in it."""

    event: Literal["token"]
    text: str


class CorrectionEvent(TypedDict):
    """What was told of the text so far is void; the tokens that follow replace it."""

    event: Literal["correction"]
    reason: str


class ClarificationEvent(TypedDict):
    """The run waits for a reply; `clarification` is a `citegraph.run.answer_types.Clarification` as JSON."""

    event: Literal["clarification"]
    thread_id: str
    clarification: Json


class AnswerEvent(TypedDict):
    """The end of every run: a `citegraph.run.answer_types.Answer` as JSON, whatever its status."""

    event: Literal["answer"]
    answer: Json


Event = RunEvent | StepEvent | ToolEvent | TokenEvent | CorrectionEvent | ClarificationEvent | AnswerEvent


def token(text: str) -> TokenEvent:
    """Return the event of a piece of text."""
    return {"event": "token", "text": text}


def correction(reason: str) -> CorrectionEvent:
    """Return the event that takes the text so far back."""
    return {"event": "correction", "reason": reason}
