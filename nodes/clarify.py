"""clarify: pause the run with one question, and take the reply as text, an option id or an object."""

from dataclasses import dataclass
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from citegraph.run.context import Context
from citegraph.run.model_calls import note
from citegraph.run.pieces import AskedBack
from citegraph.run.state import Json, State, Update

DECLINED = frozenset(
    {"no", "none", "cancel", "skip", "stop", "never mind", "nein", "abbrechen", "non", "annuler", "n/a", ""}
)


@dataclass(frozen=True)
class Clarify:
    """Node: holds exactly one `interrupt`, and nothing before it, since a resume runs it from its first line."""

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        """Return the clarification with its reply appended."""
        reply = interrupt(shown(state["decision"]["clarification"]))
        asked = state["decision"]["clarification"]
        text = reply_text(reply)
        declined = text.casefold().strip(" .!") in DECLINED
        entry: AskedBack = {"type": asked["type"], "question": asked["question"], "options": asked["options"]}
        entry = entry | {"declined": True} if declined else entry | {"reply": text}
        notes = (
            [note("clarify", "declined", "No reply was given, so the answer rests on what was found.")]
            if declined
            else []
        )
        return {
            "clarifications": [*(state.get("clarifications") or []), entry],
            "evidence": [],
            "decision": {},
            "notes": notes,
        }


def shown(clarification: AskedBack) -> Json:
    """Return what the person sees: the effects of the options stay inside."""
    options = [
        {key: option[key] for key in ("id", "label", "count") if key in option}
        for option in clarification["options"]
    ]
    return {
        "type": clarification["type"],
        "question": clarification["question"],
        "options": options,
        "tried": clarification["tried"],
    }


def reply_text(reply: Any) -> str:
    """Return a reply as text: a string, an option id, or an object with `option`, `id`, `reply`, `text` or `value`.

    Clients of chat interrupts wrap the reply in a list of objects; the first one counts.
    """
    if isinstance(reply, list):
        reply = reply[0] if reply else ""
    if isinstance(reply, dict):
        for key in ("option", "id", "reply", "text", "value", "args", "answer"):
            if reply.get(key) not in (None, ""):
                return reply_text(reply[key])
        return ""
    return "" if reply is None else str(reply).strip()
