"""What was said in a thread, question by question: every answer as it was given, and what was asked back."""

from collections.abc import Sequence
from typing import Any

from graph.session import Session
from server.schemas import Exchange, ThreadTurn

Json = dict[str, Any]
MOST = 200
"""Runs of a thread that are looked back on."""


async def turns_of(session: Session, thread_id: str) -> list[ThreadTurn]:
    """Return the questions of a thread with their answers, the first asked first.

    A run leaves one checkpoint, at its end: its answer, or the pause at which it asks back.
    """
    config: Any = {"configurable": {"thread_id": thread_id}}
    runs = [kept async for kept in session.graph.aget_state_history(config, limit=MOST)]
    turns: list[ThreadTurn] = []
    for kept in reversed(runs):
        values: Json = kept.values
        if not values.get("asked"):
            continue
        turn = ThreadTurn(
            question=values["asked"],
            created=kept.created_at or "",
            run_id=str((kept.metadata or {}).get("run_id", "")),
            exchanges=_exchanges(values.get("clarifications") or [], kept.interrupts),
            answer=None if kept.interrupts else values.get("answer") or None,
        )
        if turns and _goes_on(turns[-1], turn):
            turns.pop()
        turns.append(turn)
    return turns


def _goes_on(before: ThreadTurn, now: ThreadTurn) -> bool:
    """Tell whether a run is the reply to what the one before it asked back."""
    if before.question != now.question or before.answer or not before.exchanges:
        return False
    asked = [item.question for item in before.exchanges]
    return [item.question for item in now.exchanges][: len(asked)] == asked and (
        len(now.exchanges) > len(asked) or now.exchanges[len(asked) - 1].reply is not None
    )


def _exchanges(answered: Sequence[Json], interrupts: Sequence[Any]) -> list[Exchange]:
    replied = [
        Exchange(
            question=item.get("question", ""),
            options=[
                {key: option.get(key) for key in ("id", "label", "count")}
                for option in item.get("options", [])
            ],
            reply=_words_of(item),
        )
        for item in answered
    ]
    waiting = [Exchange(question=item.value.get("question", ""), reply=None) for item in interrupts[:1]]
    return [*replied, *waiting]


def _words_of(item: Json) -> str:
    """Return a reply as the reader saw it: the label of the option that it chose, else what was written."""
    reply = item.get("reply")
    if isinstance(reply, dict):
        reply = reply.get("option") or reply.get("text") or ""
    labels = {option.get("id"): option.get("label") for option in item.get("options", [])}
    return str(labels.get(str(reply)) or reply or "")
