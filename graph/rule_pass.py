"""One pass by rules, without a model: plan, one round of searches, review; what the agent falls back on."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from langgraph.runtime import Runtime

from citegraph.evidence.reranking import NOT_RERANKED
from citegraph.run.budgets import seconds_left
from citegraph.run.context import Context
from citegraph.run.services import Services
from citegraph.run.state import Json, State, Update, add_usage
from nodes.decompose import Decompose
from nodes.prune import Prune
from nodes.review import Review
from nodes.rewrite import Rewrite
from nodes.route import Route
from nodes.schema_plan import SchemaPlan
from nodes.search import run_call


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
