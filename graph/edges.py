"""Pure decisions between nodes: each reads the state and names the next edge."""

from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from typing import Literal, TypeVar

from langgraph.types import Send

from citegraph.run.state import SearchTask, State

T = TypeVar("T")


def at_once(decide: Callable[[State], T]) -> Callable[[State], Awaitable[T]]:
    """Return a decision as a coroutine function: LangGraph sends a plain one to a thread, which costs more than it."""

    @wraps(decide)
    async def decided(state: State) -> T:
        return decide(state)

    return decided


def after_gate(state: State) -> Literal["retrieve", "skip", "resume"]:
    """Skip retrieval when the gate answered without it; resume the plan when a chat message replied to it."""
    gate = state.get("gate", {})
    if gate.get("resume"):
        return "resume"
    return "retrieve" if gate.get("retrieve", True) else "skip"


def after_decompose(state: State) -> Literal["retrieve", "skip"]:
    """Skip retrieval when the model that read the question found nothing in it to look up."""
    return "retrieve" if state.get("gate", {}).get("retrieve", True) else "skip"


def after_review(state: State) -> Literal["enough", "more", "clarify"]:
    """Follow the review's decision; "more" without a next call is "enough"."""
    status = state.get("decision", {}).get("status", "enough")
    if status == "clarify":
        return "clarify"
    return "more" if status == "more" and state.get("calls") else "enough"


def after_agent(state: State) -> Literal["call", "done", "write"]:
    """Run the calls that the agent's model asked for, verify its answer, or let compose write from what there is."""
    status = state.get("decision", {}).get("status")
    if status == "call" and state.get("calls"):
        return "call"
    return "done" if status == "done" else "write"


def after_compose(state: State) -> Literal["written", "unread"]:
    """Let the review read what the finder chose where its writer misses something in it; else verify what was written."""
    missed = state.get("decision", {}).get("by_finder") is False and not state.get("draft", {}).get("text")
    return "unread" if missed else "written"


def after_verify(state: State) -> Literal["done", "correct"]:
    """Send unsupported claims back to compose while corrections are left."""
    return "correct" if state.get("draft", {}).get("feedback") else "done"


def search_tasks(state: State) -> list[Send]:
    """Return one `Send` to `search` per planned tool call, each with the run's deadline, the first with its usage."""
    tasks = [
        SearchTask(call=call, plan=state["plan"], deadline=state.get("deadline", 0.0))
        for call in state.get("calls", [])
    ]
    for task in tasks[:1]:
        task["usage"] = state.get("usage", {})
    return [Send("search", task) for task in tasks]


def plan_edge(state: State) -> Sequence[Send] | Literal["none", "clarify", "open"]:
    """Start the plan's first searches; a plan without a call goes on to be pruned and reviewed.

    Of a reply that said nothing there is nothing to plan: it is asked for once more, or the question is left open.
    """
    decision = state.get("decision", {})
    if decision.get("status") == "clarify":
        return "clarify"
    return "open" if decision.get("left_open") else search_tasks(state) or "none"


def review_edge(state: State) -> Sequence[Send] | Literal["enough", "clarify"]:
    """Turn `after_review` into an edge: "more" becomes the searches themselves."""
    decision = after_review(state)
    return search_tasks(state) if decision == "more" else decision
