"""The served graphs. Importing this module opens nothing: stores and models are opened by the first run."""

from graph.build import build
from tools.services import Services

agent = build(Services()).compile(name="agent")
"""The search agent, for `langgraph dev` and LangGraph Server, which bring their own checkpointer."""
