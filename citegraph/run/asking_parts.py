"""How a node asks a part of the user's own: within the step's time, once more never after it failed in a run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter

from citegraph.run.budgets import seconds_left
from citegraph.run.context import Context
from citegraph.run.state import State

if TYPE_CHECKING:
    from citegraph.llm.call_options import Step
    from citegraph.run.part_kinds import Kind
    from citegraph.run.replacements import Part
    from citegraph.run.services import Services

T = TypeVar("T")
STEPS: "Mapping[Kind, Step]" = {
    "rewriter": "rewrite",
    "decomposer": "decompose",
    "router": "route",
    "reviewer": "review",
    "composer": "compose",
    "verifier": "verify",
}
"""The step whose time a part has, by kind; the searcher and the reranker have that of a search."""


def own_part(services: "Services", kind: "Kind", state: State) -> "Part | None":
    """Return the user's part of a kind, None without one and when it has failed before in this run."""
    part = services.parts.get(kind)
    if part is None or any(item.get("part") == kind for item in state.get("notes", [])):
        return None
    return part


def time_for(services: "Services", part: "Part", state: State, context: Context) -> float:
    """Return the seconds that a part may take: those of its step, at most half of what the run has left."""
    return min(services.chat.spec(STEPS[part.kind], context.models).timeout, seconds_left(state) / 2)


async def ask_part(
    services: "Services",
    part: "Part",
    shape: TypeAdapter[T],
    *,
    state: State,
    context: Context,
    **offered: Any,
) -> T:
    """Return what a part says, of the given shape.

    Raises:
        TimedOut, Rejected: it says nothing that can be used; the node's error handler runs its twin.
    """
    return await part.ask(shape, time_for(services, part, state, context), **offered)
