"""The state of a run: plain JSON data and ids, with pure named reducers."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar, cast

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
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

    state_version: int
    turns: list[Turn]
    asked: str
    asked_id: str
    question: str
    edit: str
    new: bool
    gate: GateVerdict
    decomposition: Decomposed
    routes: list[Routed]
    plan: Plan
    calls: list[ToolCall]
    transcript: list[AgentTurn]
    evidence: list[Reference]
    seen: list[str]
    tried: list[str]
    rounds: int
    dropped: int
    decision: Decision
    clarifications: list[AskedBack]
    draft: Draft
    corrections: list[Correction]
    deadline: float
    answer: Json


class State(_Kept, total=False):
    """Everything between question and answer.

    Texts stay in the corpus: `evidence` holds references and is hydrated when a prompt or an extract is made. Every key
    but `messages`, `turns` and `state_version` belongs to the current question; `gate` clears them.
    """

    query: str
    messages: Annotated[list[AnyMessage], add_messages]
    found: Annotated[list[Found], collect]
    notes: Annotated[list[StoredNote], collect]
    usage: Annotated[Spent, add_usage]


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

    call: ToolCall
    plan: Plan
    deadline: float
    usage: Spent
