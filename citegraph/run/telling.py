"""How the answer is told while it is made: its text as events and chat messages, and what replaces it."""

import uuid
from collections.abc import AsyncIterable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessageChunk

from citegraph.run.events import correction, token
from citegraph.run.pieces import Draft
from citegraph.run.state import Json, Update

Write = Callable[[Any], None]
BROKEN_OFF = "The model broke off; the answer is written anew."
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
