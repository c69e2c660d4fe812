"""clarify: pause the run with one question, and take the reply as text, an option id or an object."""

import uuid
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from citegraph.evidence.questions_back import DECLINED, offered, replied
from citegraph.run.budgets import deadline_of
from citegraph.run.context import Context
from citegraph.run.model_calls import note
from citegraph.run.state import State, Update
from citegraph.run.state_types import AskedBack


@dataclass(frozen=True)
class Clarify:
    """Node: holds exactly one `interrupt`, and nothing before it, since a resume runs it from its first line."""

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        """Return the clarification with its reply appended."""
        reply = interrupt(offered(state["decision"]["clarification"]))
        asked = state["decision"]["clarification"]
        text = reply_text(reply)
        entry = replied(asked, text)
        notes = [note("clarify", "declined", DECLINED)] if entry.get("declined") else []
        return {
            "clarifications": [*(state.get("clarifications") or []), entry],
            "evidence": [],
            "decision": {},
            "notes": notes,
            "deadline": deadline_of(runtime.context or Context()),
            **chat_message(asked, text),
        }


def chat_message(asked: AskedBack, reply: str) -> Update:
    """Return the update that puts a reply into the chat, as the person saw it; none for no reply."""
    labels = [option["label"] for option in asked["options"] if option["id"] == reply]
    if not reply:
        return {}
    message = HumanMessage((labels or [reply])[0], id=f"replied-{uuid.uuid4().hex}")
    return {"messages": [message], "asked_id": str(message.id)}


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
