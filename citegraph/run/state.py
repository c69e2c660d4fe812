"""The state of a run: plain JSON data and ids, with pure named reducers."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar, cast

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict  # pydantic makes Studio's schemas of no other on Python 3.11

from citegraph.run.state_types import (
    AgentTurn,
    AskedBack,
    Correction,
    Decision,
    Decomposed,
    Draft,
    Found,
    GateVerdict,
    Plan,
    Reference,
    Routed,
    Spent,
    StoredNote,
    ToolCall,
    Turn,
)

STATE_VERSION = 1

Json = dict[str, Any]


T = TypeVar("T")


def collect(left: list[T], right: list[T] | None) -> list[T]:
    """Append `right` to `left`; None empties the channel (a new question, a new round)."""
    return [] if right is None else [*left, *right]


def add_usage(left: Mapping[str, Any], right: Mapping[str, Any] | None) -> Spent:
    """Add counters key by key, nested one level (`seconds` per step); None starts from zero.

    Counters that carry the `run` of another one were kept by the node cache: nothing of them was spent now.
    """
    if right is None:
        return {}
    if "run" in right and right["run"] != left.get("started"):
        return add_usage(left, {"cache_hits": 1})
    total: Json = dict(left)
    for key, value in right.items():
        if key == "run":
            continue
        if isinstance(value, dict):
            total[key] = add_usage(total.get(key, {}), value)
        else:
            total[key] = round(total.get(key, 0) + value, 6)
    return cast(Spent, total)


def told(description: str) -> Any:
    """Return what names a channel in the schemas that Studio shows."""
    return Field(description=description)


class Input(TypedDict, total=False):
    """What a caller sends: a `query`, or chat `messages` whose last one is the question.

    On a thread that waits for a reply a chat message is that reply, unless `new` says that it is a question.
    """

    query: str
    messages: Annotated[list[AnyMessage], add_messages]
    new: bool


class Output(TypedDict, total=False):
    """What a caller gets: the typed answer (`citegraph.run.answer_types.Answer` as JSON) and the chat messages."""

    answer: Json
    messages: Annotated[list[AnyMessage], add_messages]


class _Kept(TypedDict, total=False):
    """The channels that a node replaces whole."""

    state_version: Annotated[int, told("Form in which the thread is kept.")]
    turns: Annotated[list[Turn], told("Earlier questions of the thread with their answers.")]
    asked: Annotated[str, told("The question as it was typed.")]
    asked_id: Annotated[str, told("Id of the message that asked it.")]
    question: Annotated[str, told("The question as it stands alone.")]
    edit: Annotated[str, told("What a follow-up changes in the plan before it.")]
    new: Annotated[bool, told("Whether a message on a waiting thread was sent as a question.")]
    gate: Annotated[GateVerdict, told("Whether documents are needed, and why.")]
    decomposition: Annotated[Decomposed, told("Parts, intent, entities and conditions of the question.")]
    routes: Annotated[list[Routed], told("Buckets to search, with scores.")]
    plan: Annotated[Plan, told("Filters, searches and computations of each bucket; change it and fork.")]
    calls: Annotated[list[ToolCall], told("Searches that the next step runs.")]
    transcript: Annotated[list[AgentTurn], told("What the model of tool_loop called, and what came back.")]
    evidence: Annotated[list[Reference], told("Passages kept for the answer: ids and scores, no texts.")]
    seen: Annotated[list[str], told("Beginnings of the ids of passages that were looked at.")]
    tried: Annotated[list[str], told("Searches that were run.")]
    rounds: Annotated[int, told("Reviews so far.")]
    dropped: Annotated[int, told("Passages that did not fit in.")]
    decision: Annotated[Decision, told("Enough, more or clarify, with its reason.")]
    clarifications: Annotated[list[AskedBack], told("What was asked back, with the replies.")]
    draft: Annotated[Draft, told("The answer before its check.")]
    corrections: Annotated[list[Correction], told("What was to be mended in a draft, and why.")]
    deadline: Annotated[float, told("Time at which the run composes from what it has (Unix seconds).")]
    answer: Annotated[Json, told("The answer with claims, verdicts and citations.")]


class State(_Kept, total=False):
    """Everything between question and answer.

    Texts stay in the corpus: `evidence` holds references and is hydrated when a prompt or an extract is made. Every key
    but `messages`, `turns` and `state_version` belongs to the current question; `gate` clears them.
    """

    query: Annotated[str, told("A question, where none is sent as a message.")]
    messages: Annotated[list[AnyMessage], told("The conversation as a chat shows it."), add_messages]
    found: Annotated[list[Found], told("Hits of the searches of this round."), collect]
    notes: Annotated[list[StoredNote], told("What fell back or was left out on the way."), collect]
    usage: Annotated[Spent, told("Calls, tokens, money and seconds by step."), add_usage]


class Update(_Kept, total=False):
    """What a node returns: only the keys that it changed; None empties a channel that collects."""

    messages: list[AnyMessage]
    found: list[Found] | None
    notes: list[StoredNote]
    usage: Any


class SearchTask(TypedDict, total=False):
    """The payload of one `Send` to `search`: one tool call with what it may cost.

    The first of a round has the run's `usage` and may ask a model; the others run beside it and may not.
    """

    call: Annotated[ToolCall, told("The search of one run of the step; sent, not kept.")]
    plan: Plan
    deadline: float
    usage: Spent
