"""The single-loop agent: a model calls the tools in one conversation; the same verification and `Answer` end it."""

from typing import Any

from langgraph.graph import END, START, StateGraph

from citegraph.run.context import Context
from citegraph.run.services import Services
from citegraph.run.state import Input, Output, State
from graph.build import Graph, add_step
from graph.langsmith import guard
from graph.routes import after_agent, after_gate, after_verify, at_once
from graph.rule_pass import rule_pass
from graph.step_spans import export
from nodes.agent import Agent
from nodes.compose import Compose
from nodes.gate import Gate
from nodes.tools import Tools
from nodes.verify_citations import VerifyCitations

TARGETS = {"call": "tools", "done": "verify_citations", "write": "compose"}


def build_loop(services: Services) -> Graph:
    """Return the graph over `services`, ready to be compiled with or without a checkpointer.

    Raises:
        BadInput: a part of the user's own cannot be used.
    """
    guard(services.settings)
    export(services.settings)
    _ = services.parts  # one that cannot be used ends it here, not in the middle of a question
    graph: Graph = StateGraph(State, context_schema=Context, input_schema=Input, output_schema=Output)

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
