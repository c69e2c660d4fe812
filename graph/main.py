"""The served graphs. Importing this module opens nothing: stores and models are opened by the first run."""

from citegraph.run.events import Relay
from citegraph.run.node_cache import node_cache
from citegraph.run.services import Services
from graph.build import build
from graph.draw import drawable, mermaid
from graph.loop import build_loop

watched = Relay()
"""Hears of every step of the served graphs; the HTTP routes beside them count and log what it passes on."""

services = Services(observers=(watched,))
"""What the served graphs read from; the HTTP routes beside them share it, since an embedded index has one owner."""

agent = drawable(build(services).compile(name="agent", cache=node_cache(services)))
"""The search agent, for `langgraph dev` and LangGraph Server, which bring their own checkpointer."""

tool_loop = drawable(build_loop(services).compile(name="tool_loop"))
"""The single-loop agent: a model calls the tools itself; same budgets, verification and `Answer`."""

if __name__ == "__main__":
    print(mermaid(agent), end="")
