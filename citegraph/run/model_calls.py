"""How a node asks its model, or a part of the user's own: within the run's budgets and time, counted; and how it falls back."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from pydantic import BaseModel, TypeAdapter

from citegraph.llm.budget import CallBudget
from citegraph.llm.model_call import ModelCall
from citegraph.run.budgets import cost_left, llm_calls_left, model_budget_spent, seconds_left, tokens_left
from citegraph.run.context import Context
from citegraph.run.state import State, Update
from citegraph.run.state_types import Spent, StoredNote

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from citegraph.llm.call_options import Step
    from citegraph.llm.prompt_assembly import Assembled, Material, Prompt
    from citegraph.run.part_protocols import Kind
    from citegraph.run.replacements import Part
    from citegraph.run.services import Services


T = TypeVar("T", bound=BaseModel)
Form = Literal["scores", "order"]
"""How a model says which passages are best."""


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """A parsed reply and the state update that accounts for it."""

    parsed: T
    update: Update


def has_model(services: "Services", step: "Step", context: Context) -> bool:
    """Tell whether a model answers `step`; where none is named anywhere, no chat models are made to say so."""
    settings = services.settings
    named = services.models or settings.model or settings.step_models or context.models
    return bool(named) and services.chat.configured(step, context.models)


def model_form(services: "Services", context: Context) -> Form | None:
    """Return how a model reranks in this run, None when none does: the run's choice before the process's.

    A reranker of the user's own stands in the place of the process's.
    """
    usual = "none" if "reranker" in services.settings.parts else services.settings.reranker
    chosen = usual if context.rerank == "default" else context.rerank
    return chosen if chosen in {"scores", "order"} else None


def wants_model(services: "Services", step: "Step", state: State, context: Context, *, keep: int = 0) -> bool:
    """Tell whether `step` has a model and the run's budgets allow a call of it, `keep` calls more for later."""
    if llm_calls_left(state, context) <= keep:
        return False
    if context.mode == "single" and step != "compose":
        return False
    if not has_model(services, step, context):
        return False
    return model_budget_spent(state, context) is None and seconds_left(state) > 0


def budget_of(state: State, context: Context) -> CallBudget:
    """Return what this run may still spend on model calls."""
    return CallBudget.of(
        llm_calls_left(state, context),
        seconds_left(state),
        tokens=tokens_left(state, context),
        cost=cost_left(state, context),
    )


def assemble(services: "Services", prompt: "Prompt", material: "Material", context: Context) -> "Assembled":
    """Return the messages of a step for its model: cut to what that model takes, in the user's own words if so set."""
    chat = services.chat
    return chat.prompts.assemble(prompt, material, model=chat.spec(prompt.step, context.models).model)  # type: ignore[arg-type]


async def ask_model(
    services: "Services",
    prompt: "Prompt",
    material: "Material",
    schema: type[T],
    *,
    state: State,
    context: Context,
) -> Reply[T]:
    """Return the model's structured reply to a prompt about some material; raises as `call_model`."""
    made = assemble(services, prompt, material, context)
    return await call_model(
        services,
        prompt.step,
        made.messages,
        schema,
        state=state,
        context=context,
        prompt_version=made.version,
    )


async def call_model(
    services: "Services",
    step: Any,
    messages: "Sequence[BaseMessage]",
    schema: type[T],
    *,
    state: State,
    context: Context,
    prompt_version: str = "",
) -> Reply[T]:
    """Return the model's structured reply.

    Raises:
        Unavailable, TimedOut, Rejected, BudgetSpent: the node's error handler runs its twin.
    """
    from citegraph.llm.call_options import Call
    from citegraph.llm.retry import patiently
    from citegraph.llm.structured import structured

    call = Call(
        step=step,
        messages=messages,
        budget=budget_of(state, context),
        overrides=context.models,
        prompt_version=prompt_version,
    )
    parsed = await patiently(lambda: structured(services.chat, call, schema), call.budget)
    return Reply(parsed.value, {"usage": spent_on(call.budget.calls)})


def spent_on(calls: Sequence[ModelCall]) -> Spent:
    """Return the usage counters of some model calls; without a price there is no `cost`."""
    spent: Spent = {
        "llm_calls": len(calls),
        "input_tokens": sum(call.tokens_in for call in calls),
        "output_tokens": sum(call.tokens_out for call in calls),
    }
    if estimated := sum(call.estimated for call in calls):
        spent["estimated_calls"] = estimated
    if prices := [call.cost for call in calls if call.cost is not None]:
        spent["cost"] = round(sum(prices), 6)
    return spent


def note(
    step: str, kind: str, message: str, *, failure: BaseException | None = None, quote: str = ""
) -> StoredNote:
    """Return a note for the reader of the answer; one of a failure names the user's own part that failed, if one did.

    Args:
        quote: what of the message are a document's own words.
    """
    part = getattr(failure, "part", "")
    made: StoredNote = {"step": step, "kind": kind, "message": message}
    if quote:
        made["quote"] = quote
    return made | {"part": part} if part else made


class Stopwatch:
    """Measures one node; `update` adds its seconds to the usage of the state."""

    def __init__(self, step: str) -> None:
        self.step = step
        self.started = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Return the seconds since the start."""
        return round(time.perf_counter() - self.started, 4)

    def update(self, usage: Mapping[str, Any] | None = None) -> Spent:
        """Return the usage counters with the seconds since the start under `steps`."""
        return cast(Spent, {**(usage or {}), "steps": {self.step: self.seconds}})


Said = TypeVar("Said")
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
    shape: TypeAdapter[Said],
    *,
    state: State,
    context: Context,
    **offered: Any,
) -> Said:
    """Return what a part says, of the given shape.

    Raises:
        TimedOut, Rejected: it says nothing that can be used; the node's error handler runs its twin.
    """
    return await part.ask(shape, time_for(services, part, state, context), **offered)
