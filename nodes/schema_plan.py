"""schema_plan: load the chosen buckets' schemas and plan typed filters, strategy, first searches and budget."""

import asyncio
from dataclasses import dataclass

from langgraph.runtime import Runtime

from citegraph.errors import Unavailable
from citegraph.llm.prompts import Material
from citegraph.plan.make import first_calls, make_plan, plan_without_metadata
from citegraph.plan.planned_by_model import (
    PROMPT,
    SearchPlan,
    adopt,
    conditions_shown,
    draft_shown,
    open_points,
)
from citegraph.run.context import Context
from citegraph.run.model_calls import ask_model, wants_model
from citegraph.run.services import Services
from citegraph.run.state import State, Update


@dataclass(frozen=True)
class SchemaPlan:
    """Node: reads `question`, `decomposition`, `routes` and replies; writes `plan` and the first `calls`."""

    services: Services

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        """Plan by rules; a model is asked only for what they leave open, and sees only these buckets' schemas."""
        context = runtime.context or Context()
        update = await self.plan(state, context)
        plan, decomposition = update["plan"], state["decomposition"]
        points = [] if state.get("clarifications") or state.get("edit") else open_points(plan, decomposition)
        if not points or not wants_model(self.services, "schema_plan", state, context, keep=1):
            return update
        corpus = await self.services.corpus()
        schemas = "\n\n".join(corpus.buckets[name].llm_schema() for name in plan["per_bucket"])
        material = Material(
            question=state["question"],
            facts=(
                ("today", context.now.isoformat()),
                ("schemas", schemas),
                ("conditions", conditions_shown(decomposition)),
                ("draft", await asyncio.to_thread(draft_shown, corpus, plan)),
                ("open", "\n".join(points)),
            ),
        )
        reply = await ask_model(self.services, PROMPT, material, SearchPlan, state=state, context=context)
        planned, said = await asyncio.to_thread(adopt, corpus, plan, reply.parsed, context)
        notes = [item for item in update["notes"] if item["kind"] != "relaxed"] + said
        return {"plan": planned, "calls": first_calls(planned, context, state), "notes": notes} | reply.update

    async def twin(self, state: State, context: Context) -> Update:
        """Plan by rules; while the metadata store does not answer, plan an unfiltered search of passages."""
        try:
            return await self.plan(state, context)
        except Unavailable as error:
            corpus = await self.services.corpus()
            plan, notes = await asyncio.to_thread(plan_without_metadata, corpus, state, context, error)
            return {"plan": plan, "calls": first_calls(plan, context, state), "notes": notes}

    async def plan(self, state: State, context: Context) -> Update:
        """Plan by rules: read the question against each routed bucket, bind the caller's filters, pick a kind."""
        corpus = await self.services.corpus()
        plan, notes = await asyncio.to_thread(make_plan, corpus, state, context)
        return {"plan": plan, "calls": first_calls(plan, context, state), "notes": notes}
