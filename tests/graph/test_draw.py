"""The drawing shows every node and a label on each conditional edge; README shows the same."""

from pathlib import Path

import pytest
from langchain_core.runnables.graph import Graph as Drawing

from graph.draw import mermaid
from graph.main import agent

README = Path(__file__).parents[2] / "README.md"

NODES = [
    "__start__",
    "gate",
    "rewrite",
    "decompose",
    "route",
    "schema_plan",
    "search",
    "prune",
    "review",
    "clarify",
    "compose",
    "verify_citations",
    "__end__",
]

EDGES = {
    ("__start__", None, "gate"),
    ("gate", "retrieve", "rewrite"),
    ("gate", "skip", "compose"),
    ("gate", "resume", "schema_plan"),
    ("rewrite", None, "decompose"),
    ("decompose", "retrieve", "route"),
    ("decompose", "skip", "compose"),
    ("route", None, "schema_plan"),
    ("schema_plan", "search", "search"),
    ("schema_plan", "clarify", "clarify"),
    ("schema_plan", "none", "prune"),
    ("schema_plan", "open", "compose"),
    ("search", None, "prune"),
    ("prune", None, "review"),
    ("review", "enough", "compose"),
    ("review", "more", "search"),
    ("review", "clarify", "clarify"),
    ("clarify", None, "schema_plan"),
    ("compose", "written", "verify_citations"),
    ("compose", "unread", "review"),
    ("verify_citations", "correct", "compose"),
    ("verify_citations", "done", "__end__"),
}


def shape(drawing: Drawing) -> tuple[list[str], set[tuple[str, str | None, str]]]:
    return list(drawing.nodes), {(edge.source, edge.data, edge.target) for edge in drawing.edges}  # type: ignore[misc]


def test_drawing_has_every_node_and_labelled_edge() -> None:
    assert shape(agent.get_graph()) == (NODES, EDGES)


async def test_the_server_draws_the_same() -> None:
    assert shape(await agent.aget_graph()) == (NODES, EDGES)


def test_a_copy_with_a_checkpointer_draws_the_same() -> None:
    """LangGraph Server runs a copy of the graph with its own checkpointer."""
    assert shape(agent.copy(update={"checkpointer": None}).get_graph()) == (NODES, EDGES)


@pytest.mark.parametrize("label", ["enough", "more", "clarify"])
def test_mermaid_carries_the_reviews_labels(label: str) -> None:
    assert f"review -. &nbsp;{label}&nbsp; .->" in mermaid(agent)


def test_readme_shows_what_the_command_prints() -> None:
    blocks = README.read_text("utf-8").split("```mermaid\n")[1:]
    assert [block.split("```", 1)[0] for block in blocks] == [mermaid(agent)]
