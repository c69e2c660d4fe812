"""The single-loop agent: a model calls the tools in one conversation; the same verification and `Answer` end it."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from langgraph.graph import END, START
from langgraph.runtime import Runtime

from citegraph.evidence.rerank_by_model import NOT_RERANKED
from citegraph.run.budgets import seconds_left
from citegraph.run.context import Context
from citegraph.run.services import Services
from citegraph.run.state import Json, State, Update, add_usage
from graph.build import Graph, add_step, new_graph
from graph.edges import after_agent, after_gate, after_verify, at_once
from nodes.agent import Agent
from nodes.compose import Compose
from nodes.decompose import Decompose
from nodes.gate import Gate
from nodes.prune import Prune
from nodes.review import Review
from nodes.rewrite import Rewrite
from nodes.route import Route
from nodes.schema_plan import SchemaPlan
from nodes.search import run_call
from nodes.tools import Tools
from nodes.verify_citations import VerifyCitations


async def rule_pass(services: Services, state: State, context: Context) -> Update:
    """Return the update of a whole pass: plan, evidence and decision, ready to be composed.

    Raises:
        BadInput, Unavailable: the question or its filters cannot be used, or nothing answered.
    """
    context = context.model_copy(update={"max_rounds": 1, "max_clarifications": 0})
    now: Any = {**state, "calls": [], "rounds": 0, "tried": [], "seen": [], "decision": {}}
    made: Json = {"notes": [], "usage": {}}
    for node in (Rewrite(services), Decompose(services), Route(services), SchemaPlan(services)):
        keep(now, made, await node.twin(now, context))
    corpus = await services.corpus()
    timeout = min(max(0.1, seconds_left(state)), services.settings.search_timeout)
    results = await asyncio.gather(
        *(run_call(corpus, call, now["plan"], context, timeout=timeout) for call in now["calls"])
    )
    now["found"] = [found for found, _ in results]
    notes = [item for _, said in results for item in said]
    fell_back = sum(item["kind"] in {NOT_RERANKED, "fallback"} for item in notes)
    keep(now, made, {"notes": notes, "usage": {"tool_calls": len(results), "fallbacks": fell_back}})
    keep(now, made, await Prune(services)(now, Runtime(context=context)))
    keep(now, made, await Review(services).twin(now, context))
    return cast(Update, made | {"calls": []})


def keep(now: Any, made: Json, update: Mapping[str, Any]) -> None:
    """Put a step's update into the state `now` and into the update `made`, as the graph's reducers would."""
    for key, value in update.items():
        if key == "usage":
            made["usage"], now["usage"] = (
                add_usage(made["usage"], value),
                add_usage(now.get("usage", {}), value),
            )
        elif key == "notes":
            made["notes"], now["notes"] = [*made["notes"], *value], [*now.get("notes", []), *value]
        elif key != "found":
            made[key] = now[key] = value


TARGETS = {"call": "tools", "done": "verify_citations", "write": "compose"}


def build_loop(services: Services) -> Graph:
    """Return the graph over `services`, ready to be compiled with or without a checkpointer.

    Raises:
        BadInput: a part of the user's own cannot be used.
    """
    graph = new_graph(services)

    def add(name: str, node: Any, onward: Any) -> None:
        add_step(graph, services, name, node, onward)

    add("gate", Gate(services), lambda state: "agent")
    add("agent", Agent(services, rule_pass), lambda state: TARGETS[after_agent(state)])
    add("tools", Tools(services), lambda state: "agent")
    add("compose", Compose(services), lambda state: "verify_citations")
    add("verify_citations", VerifyCitations(services), lambda state: END)

    graph.add_edge(START, "gate")
    # A loop never pauses; a thread that another graph left waiting starts anew.
    graph.add_conditional_edges(
        "gate", at_once(after_gate), {"retrieve": "agent", "skip": "compose", "resume": "agent"}
    )
    graph.add_conditional_edges(
        "agent", at_once(after_agent), {"call": "tools", "done": "verify_citations", "write": "compose"}
    )
    graph.add_edge("tools", "agent")
    graph.add_edge("compose", "verify_citations")
    graph.add_conditional_edges("verify_citations", at_once(after_verify), {"correct": "agent", "done": END})
    return graph
