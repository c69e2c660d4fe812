"""The drawing of the graph, for Studio and README: `python -m graph.main` prints it as Mermaid."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.graph import Edge
from langchain_core.runnables.graph import Graph as Drawing
from langgraph.graph.state import CompiledStateGraph

from citegraph.run.context import Context

HIDDEN = "__error_handler__"
"""Prefix of LangGraph's error handler nodes: one beside each node, tied to nothing in a drawing."""


class DrawnGraph(CompiledStateGraph[Any, Context, Any, Any]):
    """A compiled graph that draws itself readably.

    LangGraph draws a node for each error handler, and leaves out a label that equals the node it leads to
    ("clarify"). Runs are not touched.
    """

    def get_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Drawing:
        """Return the drawing, every conditional edge with the label that its router returns."""
        return self.readable(super().get_graph(config, xray=xray))

    async def aget_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Drawing:
        """Return the drawing, as `get_graph` does; the server asks for this one."""
        return self.readable(await super().aget_graph(config, xray=xray))

    def readable(self, drawing: Drawing) -> Drawing:
        """Return `drawing` without error handlers and with the missing labels put in."""
        nodes = {name: node for name, node in drawing.nodes.items() if not name.startswith(HIDDEN)}
        return Drawing(nodes=nodes, edges=[self.labelled(edge) for edge in drawing.edges])

    def labelled(self, edge: Edge) -> Edge:
        """Return a conditional edge with its label; others as they are."""
        if not edge.conditional or edge.data is not None:
            return edge
        for branch in self.builder.branches.get(edge.source, {}).values():
            for label, target in (branch.ends or {}).items():
                if target == edge.target:
                    return edge._replace(data=str(label))
        return edge


def drawable(compiled: CompiledStateGraph[Any, Context, Any, Any]) -> DrawnGraph:
    """Return the same compiled graph as one that draws itself readably."""
    return DrawnGraph(**compiled.__dict__)


def mermaid(graph: CompiledStateGraph[Any, Context, Any, Any]) -> str:
    """Return the graph as Mermaid text, ending with a line feed."""
    return graph.get_graph().draw_mermaid().rstrip() + "\n"
