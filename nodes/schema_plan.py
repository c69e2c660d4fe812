"""schema_plan: load the chosen buckets' schemas and plan typed filters, strategy, first searches and budget."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from langgraph.runtime import Runtime

from citegraph.answer.chat_text import with_question
from citegraph.corpus.index.searcher import holds
from citegraph.errors import CitegraphError, Unavailable
from citegraph.evidence.passages import question_shown
from citegraph.evidence.questions_back import asked_once_more, left_open, may_ask_again
from citegraph.evidence.sets_by_texts import not_together
from citegraph.llm.prompt_assembly import Material
from citegraph.plan.make_plan import finished, first_calls, make_plan, plan_as_read, plan_without_metadata
from citegraph.plan.plan_by_model import (
    PROMPT,
    SearchPlan,
    adopt,
    bound_by_names,
    problems_of,
    reading_shown,
    schemas_shown,
    to_bind,
    values_shown,
    vouched,
)
from citegraph.plan.reply_edits import apply_reply
from citegraph.run.context import Context
from citegraph.run.model_calls import ask_model, has_model, note, spent_on, wants_model
from citegraph.run.services import Corpus, Services
from citegraph.run.state import State, Update, add_usage
from citegraph.run.state_types import Plan, Spent


@dataclass(frozen=True)
class SchemaPlan:
    """Node: reads `question`, `decomposition`, `routes` and replies; writes `plan` and the first `calls`."""

    services: Services

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        """Read the question; where a model is there its reading is bound to the fields of the chosen buckets, else the rules' is.

        The model is shown facts, no draft: how many documents state a field, which stored values are near a name. At a value
        that cannot be used it is told once. It is not asked with nothing to bind, nor where the names that it read are
        each one stored value's.
        """
        context = runtime.context or Context()
        if (missed := await self.missed(state, context)) is not None:
            return missed
        if state.get("clarifications") or state.get("edit"):
            return await self.plan(state, context)
        corpus, decomposition = await self.services.corpus(), state["decomposition"]
        plan, notes = await asyncio.to_thread(plan_as_read, corpus, state, context)
        asks = wants_model(self.services, "schema_plan", state, context, keep=1)
        if not asks or not to_bind(corpus, plan, decomposition):
            plan = vouched(plan, decomposition) if decomposition.get("by") else plan
            plan, said = await asyncio.to_thread(finished, corpus, plan, state, context)
            return {"plan": plan, "calls": first_calls(plan, context, state), "notes": notes + said}
        if bound := await asyncio.to_thread(bound_by_names, corpus, plan, decomposition, context):
            plan, said = await asyncio.to_thread(adopt, corpus, plan, bound, decomposition, context)
            return {"plan": plan, "calls": first_calls(plan, context, state), "notes": said}
        return await self.by_model(corpus, plan, state, context)

    async def by_model(self, corpus: Corpus, plan: Plan, state: State, context: Context) -> Update:
        """Let a model bind its reading to the fields, and tell it once what of its reply could not be used."""
        decomposition = state["decomposition"]
        names, asked = list(plan["per_bucket"]), question_shown(state)
        near = await asyncio.to_thread(values_shown, corpus, names, decomposition)
        facts = [
            ("today", context.now.isoformat()),
            ("schemas", await asyncio.to_thread(schemas_shown, corpus, names)),
            ("reading", reading_shown(decomposition)),
            ("values", near),
        ]
        material = Material(question=asked, facts=tuple(facts))
        reply = await ask_model(self.services, PROMPT, material, SearchPlan, state=state, context=context)
        update_of, parsed = reply.update, reply.parsed
        planned, said = await asyncio.to_thread(adopt, corpus, plan, parsed, decomposition, context)
        problems = await asyncio.to_thread(problems_of, corpus, parsed, said, context, near)
        with suppress(Unavailable):  # the plan stands without it, and the search will say so
            problems += await not_together(corpus, planned)
        spent: State = {**state, "usage": add_usage(state.get("usage", {}), update_of.get("usage"))}
        if problems and wants_model(self.services, "schema_plan", spent, context, keep=1):
            told = Material(question=asked, facts=(*facts, ("problems", "\n".join(problems))))
            try:
                again = await ask_model(self.services, PROMPT, told, SearchPlan, state=spent, context=context)
            except CitegraphError as error:
                # What the first reply said well stays, and both calls are counted.
                more: Spent = {**spent_on(error.calls), "fallbacks": 1}
                said = [*said, note("schema_plan", "fallback", f"not corrected: {error}"[:300])]
            else:
                more = again.update["usage"]
                planned, said = await asyncio.to_thread(
                    adopt, corpus, plan, again.parsed, decomposition, context
                )
            update_of = {**update_of, "usage": add_usage(update_of.get("usage", {}), more)}
        return {"plan": planned, "calls": first_calls(planned, context, state), "notes": said, **update_of}

    async def missed(self, state: State, context: Context) -> Update | None:
        """Return the update that asks once more for a reply that said nothing, or leaves the question open; None for others.

        The second time a model that answers reads the replies itself.
        """
        asked = state.get("clarifications") or []
        if not asked or "reply" not in asked[-1]:
            return None
        corpus, last = await self.services.corpus(), asked[-1]
        replied = await asyncio.to_thread(apply_reply, corpus, state["plan"], last, context)
        if replied.understood or (replied.words and await held(corpus, state["plan"], replied.words)):
            return None
        again = may_ask_again(asked, context)
        if not again and has_model(self.services, "compose", context):
            return None
        said = note("schema_plan", "reply", f"“{last['reply'][:80]}” says nothing about what was asked back.")
        update: Update = {
            "clarifications": [*asked[:-1], {**last, "missed": True}],
            "calls": [],
            "notes": [said],
        }
        plan = state["plan"]
        if again:
            more = asked_once_more(plan, last)
            return with_question(
                update
                | {"decision": {"status": "clarify", "reason": "not understood", "clarification": more}}
            )
        return update | {"decision": {"status": "enough", "left_open": left_open(plan, last)}}

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


async def held(corpus: Corpus, plan: Plan, words: Sequence[str]) -> bool:
    """Tell whether a passage of the first bucket holds one of some words."""
    return any(await corpus.index.counts(plan["buckets"][0], [holds(word) for word in words]))
