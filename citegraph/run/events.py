"""What a run tells while it works: typed events of plain JSON, each told as it happens.

The tokens since the last correction, one after the other, are always the text of the answer that follows.
"""

import uuid
from collections.abc import AsyncIterable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, Protocol

from langchain_core.messages import AIMessageChunk
from typing_extensions import TypedDict  # pydantic makes schemas of no other on Python 3.11

from citegraph.run.state import Json, Update
from citegraph.run.state_types import Draft, StoredClause


class RunEvent(TypedDict):
    """A run begins, before its first step: the thread to resume when the connection is lost.

    `reply` says whether the text was taken for the reply to what the thread had asked back.
    """

    event: Literal["run"]
    run_id: str
    thread_id: str
    reply: bool


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


@dataclass(frozen=True, slots=True)
class StepSeen:
    """A step that ended, or the end of a whole run that no step saw (`step` is then "run").

    Attributes:
        seconds: wall clock of the step; None when its twin stood in for it.
        tool: the tool that a search called.
        candidates: hits that a search brought; None for other steps. `scores` are theirs, in order.
        usage: model calls, tokens, cache hits, fallbacks and cost of this step alone.
        notes: kinds of the notes that the step left.
        status: of the run, when it ended or paused with this step. `run_seconds` is then its wall clock, `confidence` that of an answer without a model.
    """

    step: str
    run_id: str = ""
    thread_id: str = ""
    seconds: float | None = None
    tool: str = ""
    candidates: int | None = None
    scores: tuple[float, ...] = ()
    usage: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    status: str = ""
    run_seconds: float | None = None
    confidence: float | None = None


class Observer(Protocol):
    """Hears of every step; must neither block nor raise."""

    def saw(self, seen: StepSeen) -> None:
        """Take note of a step."""
        ...


class Relay:
    """An observer that passes on to those who come later: graphs are built before the server beside them starts."""

    def __init__(self) -> None:
        self.to: tuple[Observer, ...] = ()

    def saw(self, seen: StepSeen) -> None:
        """See `Observer.saw`."""
        for observer in self.to:
            observer.saw(seen)


Write = Callable[[Any], None]
BROKEN_OFF = "The model broke off; the answer is written anew."
UNREAD = "The first passages do not state all of it; the search goes on."
REWRITTEN = "Claims that their sources do not support are written again."
VERIFIED = "The text was changed by its verification."


@dataclass
class Speaker:
    """Tells one text piece by piece, without white space around the whole; `said` is all of it so far."""

    write: Write
    message_id: str = field(default_factory=lambda: f"answer-{uuid.uuid4().hex}")
    said: str = ""
    _held: str = ""

    def say(self, piece: str) -> None:
        """Tell the next piece of the text, to the caller's events and to LangGraph's message stream."""
        piece = self._held + piece if self.said else piece.lstrip()
        shown = piece.rstrip()
        self._held = piece[len(shown) :]
        if shown:
            self.said += shown
            self.write(token(shown))
            push(shown, self.message_id)


@contextmanager
def speaking(write: Write) -> Iterator[Speaker]:
    """Yield a speaker; when the text cannot be finished, what it said is taken back."""
    speaker = Speaker(write)
    try:
        yield speaker
    except Exception:
        if speaker.said:
            write(correction(BROKEN_OFF))
        raise


async def speak(pieces: AsyncIterable[str], write: Write) -> Speaker:
    """Tell the pieces as they come and return the speaker; raises as they do."""
    with speaking(write) as speaker:
        async for piece in pieces:
            speaker.say(piece)
    return speaker


def push(text: str, message_id: str) -> None:
    """Add text to a chat message in LangGraph's message stream; the state is not touched.

    The model calls themselves stay out of that stream: it would show their thoughts, and attempts that failed.
    """
    from langgraph.config import get_config
    from langgraph.graph.message import push_message

    try:
        get_config()
    except RuntimeError:  # a node called by hand, outside of any run
        return
    push_message(AIMessageChunk(content=text, id=message_id), state_key=None)


def told(update: Update, state: Any, write: Write) -> Update:
    """Tell what an update of compose or verify_citations changes in the text; return it with the message's id.

    A draft that was streamed brings its id; one that code wrote is told here. An answer that differs from its
    draft, and a draft that goes back to be corrected, take back what was told.
    """
    before = str(state.get("draft", {}).get("text", "")).strip()
    answer: Json | None = update.get("answer")
    draft: Draft = update.get("draft") or {}
    if answer:
        if answer["text"].strip() != before:
            if before:
                write(correction(VERIFIED))
            write(token(answer["text"].strip()))
        return update
    if draft.get("feedback"):
        write(correction(REWRITTEN))
        return update
    if not draft.get("text") or draft.get("message_id"):
        return update
    with speaking(write) as speaker:
        speaker.say(draft["text"])
    draft = draft | {"message_id": speaker.message_id}
    return {**update, "draft": draft}
