"""Every node and edge of the search graph on one screen; compiles nothing."""

from collections.abc import Callable
from typing import Any

from langgraph.config import get_config
from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import CachePolicy, Command

from citegraph.errors import CitegraphError, TimedOut
from citegraph.run.budgets import RETRY, attempts, seconds_to_end
from citegraph.run.context import Context
from citegraph.run.events import Observer, told
from citegraph.run.model_calls import Stopwatch, note, spent_on
from citegraph.run.node_cache import cache_key
from citegraph.run.services import Services
from citegraph.run.state import Input, Output, SearchTask, State, Update, add_usage
from graph.edges import (
    after_compose,
    after_decompose,
    after_gate,
    after_verify,
    at_once,
    plan_edge,
    review_edge,
)
from graph.langsmith import guard, tell
from graph.watch import Mode, Watched, export, observe, seen_of, within
from nodes.clarify import Clarify
from nodes.compose import Compose
from nodes.decompose import Decompose
from nodes.gate import Gate
from nodes.prune import Prune
from nodes.review import Review
from nodes.rewrite import Rewrite
from nodes.route import Route
from nodes.schema_plan import SchemaPlan
from nodes.search import Search
from nodes.verify_citations import VerifyCitations, finish, with_reply

TIMED = frozenset({"rewrite", "decompose", "route", "schema_plan"})
"""Planning nodes, whose seconds are counted around them; the others count their own."""
NAMED = 5
"""Documents that an answer without time names."""
Graph = StateGraph[State, Context, Input, Output]


def new_graph(services: Services) -> Graph:
    """Return a graph without nodes, what is traced set up; raises as `build`."""
    guard(services.settings)
    export(services.settings)
    _ = services.parts  # one that cannot be used ends it here, not in the middle of a question
    return StateGraph(State, context_schema=Context, input_schema=Input, output_schema=Output)


def build(services: Services) -> Graph:
    """Return the graph over `services`, ready to be compiled with or without a checkpointer.

    Raises:
        BadInput: a part of the user's own cannot be used.
    """
    graph = new_graph(services)

    def add(name: str, node: Any, onward: Callable[[State], Any], **policy: Any) -> None:
        add_step(graph, services, name, node, onward, **policy)

    add("gate", Gate(services), lambda state: "rewrite")
    add("rewrite", Rewrite(services), lambda state: "decompose")
    add("decompose", Decompose(services), lambda state: "route", cache_policy=CachePolicy(key_func=cache_key))
    add("route", Route(services), lambda state: "schema_plan")
    add("schema_plan", SchemaPlan(services), plan_target)
    add("search", Search(services), lambda state: "prune", input_schema=SearchTask)
    add("prune", Prune(services), lambda state: "review", defer=True)
    add("review", Review(services), review_target)
    graph.add_node("clarify", Clarify())
    add("compose", Compose(services), lambda state: "verify_citations")
    add("verify_citations", VerifyCitations(services), lambda state: END)

    graph.add_edge(START, "gate")
    graph.add_conditional_edges(
        "gate", at_once(after_gate), {"retrieve": "rewrite", "skip": "compose", "resume": "schema_plan"}
    )
    graph.add_edge("rewrite", "decompose")
    graph.add_conditional_edges(
        "decompose", at_once(after_decompose), {"retrieve": "route", "skip": "compose"}
    )
    graph.add_edge("route", "schema_plan")
    graph.add_conditional_edges(
        "schema_plan",
        at_once(plan_edge),
        {"search": "search", "none": "prune", "clarify": "clarify", "open": "compose"},
    )
    graph.add_edge("search", "prune")
    graph.add_edge("prune", "review")
    graph.add_conditional_edges(
        "review", at_once(review_edge), {"enough": "compose", "more": "search", "clarify": "clarify"}
    )
    graph.add_edge("clarify", "schema_plan")
    graph.add_conditional_edges(
        "compose", at_once(after_compose), {"written": "verify_citations", "unread": "review"}
    )
    graph.add_conditional_edges(
        "verify_citations", at_once(after_verify), {"correct": "compose", "done": END}
    )
    return graph


def add_step(
    graph: Graph, services: Services, name: str, node: Any, onward: Callable[[State], Any], **policy: Any
) -> None:
    """Add a node that runs in the run's mode, is watched, retried, and replaced by its twin when it fails."""
    observers, mode = services.observers, services.settings.mode
    handler = fallback(name, node, onward, mode, observers=observers)
    run = Watched(name, node, mode, observers, timed=name in TIMED)
    graph.add_node(name, run, retry_policy=RETRY, error_handler=handler, **policy)


def plan_target(state: State) -> Any:
    """Return where a failed schema_plan goes on after its twin."""
    target = plan_edge(state)
    return (
        {"none": "prune", "clarify": "clarify", "open": "compose"}[target]
        if isinstance(target, str)
        else target
    )


def review_target(state: State) -> Any:
    """Return where a failed review goes on after its twin."""
    target = review_edge(state)
    return {"enough": "compose", "clarify": "clarify"}[target] if isinstance(target, str) else target


def fallback(
    name: str,
    node: Any,
    onward: Callable[[State], Any],
    mode: Mode = "agentic",
    *,
    observers: tuple[Observer, ...] = (),
) -> Callable[..., Any]:
    """Return the error handler of a node: its twin answers, a note says so, and the node's edges are followed.

    LangGraph does not follow the edges of a failed node, so the handler says where to go. A node without a twin
    goes on with what is there; the note names the step and the kind of failure, never a stack trace.
    """

    def watched(state: State, update: Update) -> None:
        tell(name, state, update)
        observe(observers, seen_of(name, update, get_config(), None))

    async def handler(state: State, error: NodeError, runtime: Runtime[Context]) -> Command[Any]:
        update: Update = {}
        context = (runtime.context or Context()).in_mode(mode)
        # The error holds the model calls of its own attempt; those before it failed alike, or it had not been retried.
        calls = tuple(getattr(error.error, "calls", ())) * attempts(error.error)
        paid = {"fallbacks": 1} | (spent_on(calls) if calls else {})
        # The twin, which may ask a model too, has what the failed attempt left of the budgets.
        charged: State = {**state, "usage": add_usage(state.get("usage", {}), paid)}
        afresh, twin = getattr(node, "afresh", None), getattr(node, "twin", None)
        if afresh is not None:
            # What the channels hold is of the question before: there is nothing to go on with.
            update = told(given_up(name, afresh(charged), error.error), state, runtime.stream_writer)
            watched(state, update)
            return Command(update=update, goto=END)
        if twin is not None:
            try:
                done = await within(seconds_to_end(state, context), name, twin(charged, context))
                update = told(done, state, runtime.stream_writer)
            except Exception as failure:
                update = told(given_up(name, charged, failure), state, runtime.stream_writer)
                watched(state, update)
                return Command(update=update, goto=END)
        late = isinstance(error.error, TimedOut)
        kind = "out of time" if late else "fallback" if twin else "failed"
        failed = note(name, kind, explain(error.error), failure=error.error)
        usage = add_usage(paid, update.get("usage", {}))
        update = update | {"notes": [*update.get("notes", []), failed], "usage": usage}
        watched(state, update)
        # What comes next is told what was spent in all, as the channels will hold it.
        spent = add_usage(state.get("usage", {}), update["usage"])
        return Command(update=update, goto=onward({**state, **update, "usage": spent}))  # type: ignore[typeddict-item]

    handler.__name__ = f"{name}_fallback"
    return handler


def given_up(name: str, state: State, failure: BaseException) -> Update:
    """Return the last update of a run whose step and its twin both failed, as the caller's own mistakes and the end of
    its time make them; at that end nothing is stated, since it was not checked, but where it stands is said.
    """
    reason, late = explain(failure), isinstance(failure, TimedOut)
    kind = "out of time" if late else "failed"
    failed = {**state, "notes": [*state.get("notes", []), note(name, kind, reason)]}
    text = f"The question could not be answered: {reason}"
    if late:
        found = list(dict.fromkeys(item["doc"] for item in state.get("evidence", [])))[:NAMED]
        where = f" Found until then: {', '.join(found)}." if found else ""
        text = f"The time of this run was spent before an answer was checked.{where}"
    status = "partial" if late else "failed"
    ended = finish(failed, text, status=status, watch=Stopwatch(name))  # type: ignore[arg-type]
    return with_reply(ended, failed)  # type: ignore[arg-type]


def explain(error: BaseException) -> str:
    """Return what may be said of an error: our own messages are safe to show, of others only the kind is."""
    if isinstance(error, CitegraphError):
        return str(error)[:300]
    return f"unexpected {type(error).__name__}"
