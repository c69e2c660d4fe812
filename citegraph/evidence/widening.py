"""Look further when too little was found: other buckets, lifted filters; else ask, or say that nothing is there."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from citegraph.corpus.index.searcher import holds
from citegraph.evidence.next_calls import allowed_buckets
from citegraph.evidence.passages import signature
from citegraph.evidence.questions_back import no_results_question
from citegraph.evidence.reviewed_by_model import may_ask
from citegraph.plan.make import first_calls, make_plan
from citegraph.plan.stored_filters import inferred
from citegraph.run.budgets import spent, tool_calls_left
from citegraph.run.context import Context
from citegraph.run.degraded import corpus_of
from citegraph.run.model_calls import note
from citegraph.run.pieces import Decision, Plan, Routed, ToolCall
from citegraph.run.services import Corpus
from citegraph.run.state import State


def enough(reason: str, **more: Any) -> Decision:
    """Return the decision to compose."""
    return cast(Decision, {"status": "enough", "reason": reason, **more})


def vacant(corpus: Corpus, plan: Plan) -> bool:
    """Tell whether the buckets hold nothing that the asking principal may see."""
    corpus = corpus_of(corpus, plan)
    return not any(corpus.documents.count(name) or corpus.annotations.count(name) for name in plan["buckets"])


def nothing_there(plan: Plan) -> Decision:
    """Return the decision for buckets without documents: asking back would not help."""
    said = f"There are no documents in {', '.join(plan['buckets'])}: add some (citegraph ingest), then ask again."
    return enough("there are no documents", empty=True, notes=[note("review", "empty", said)])


async def nothing_found(corpus: Corpus, state: State, context: Context, unknown: Sequence[str]) -> Decision:
    """Ask with counts under each relaxation when nothing matches; at the cap say so."""
    plan = state["plan"]
    if await asyncio.to_thread(vacant, corpus, plan):
        return nothing_there(plan)
    if may_ask(state, context, "no_results"):
        question = await asyncio.to_thread(no_results_question, corpus, plan, list(unknown))
        return {"status": "clarify", "reason": "no document matches", "clarification": question}
    return enough("no document matches", empty=True)


async def elsewhere(corpus: Corpus, state: State, context: Context, names: Sequence[str]) -> Decision | None:
    """Return the search of the other buckets that hold every missing name, None when none does or it was done."""
    plan = state["plan"]
    others = [name for name in allowed_buckets(corpus, plan, context) if name not in plan["buckets"]]
    holding = []
    for bucket in others:
        if all(await corpus.index.counts(bucket, [holds(name) for name in names])):
            holding.append(bucket)
    call: ToolCall = {
        "tool": "search",
        "args": {
            "buckets": holding,
            "query": state["question"],
            "mode": "hybrid",
            "filtered": False,
            "only": [],
        },
    }
    if not holding or signature(call) in state.get("tried", []) or not tool_calls_left(state, context):
        return None
    reason = f"{', '.join(names)} stands in {', '.join(holding)}"
    return {
        "status": "more",
        "reason": reason,
        "calls": [call],
        "notes": [note("review", "widened", f"{reason}, so that was searched too.")],
    }


async def moved(corpus: Corpus, state: State, context: Context, names: Sequence[str]) -> Decision | None:
    """Return the plan for the other buckets whose documents hold every name; None when there are none, or it was done.

    One word ("directives" for a kind of policy) may have led to a bucket that does not know what is asked about.
    """
    plan = state["plan"]
    if not names or plan.get("moved") or not tool_calls_left(state, context):
        return None
    others = [name for name in allowed_buckets(corpus, plan, context) if name not in plan["buckets"]]
    counted = [await corpus.index.counts(bucket, [holds(name) for name in names]) for bucket in others]
    holding = [bucket for bucket, counts in zip(others, counted, strict=True) if all(counts)]
    if not holding:
        return None
    reason = f"{', '.join(names)} stands in {', '.join(holding)}"
    routes: list[Routed] = [{"bucket": name, "score": 1.0, "reason": reason} for name in holding[:2]]
    planned, notes = await asyncio.to_thread(make_plan, corpus, {**state, "routes": routes}, context)
    said = note(
        "review", "widened", f"{reason}, so that was searched instead of {', '.join(plan['buckets'])}."
    )
    return {
        "status": "more",
        "reason": reason,
        "plan": planned | {"moved": True},
        "calls": first_calls(planned, context, state),
        "notes": [*notes, said],
    }


async def widen_or_ask(
    corpus: Corpus, state: State, context: Context, missing: Sequence[str], reason: str
) -> Decision:
    """Search once without inferred filters or in other buckets; when that was done, ask."""
    plan = state["plan"]
    if await asyncio.to_thread(vacant, corpus, plan):
        return nothing_there(plan)
    part = plan["per_bucket"][plan["buckets"][0]]
    if not missing and not part["mentions"] and not spent(state, context):
        widened = await widen(corpus, state, context)
        if widened:
            return widened
    if may_ask(state, context, "no_results"):
        question = await asyncio.to_thread(no_results_question, corpus, plan, list(missing))
        return {"status": "clarify", "reason": reason, "clarification": question}
    return enough(reason, empty=True)


async def widen(corpus: Corpus, state: State, context: Context) -> Decision | None:
    """Return one further round: inferred filters lifted, then the buckets not searched yet; None when both were done."""
    plan = state["plan"]
    query = plan["queries"][0]
    others = [name for name in allowed_buckets(corpus, plan, context) if name not in plan["buckets"]]
    hard = any(not inferred(item) for part in plan["per_bucket"].values() for item in part["filters"])
    for buckets, reason in (
        (plan["buckets"], "inferred filters were lifted"),
        (others, "the other buckets were searched too"),
    ):
        call: ToolCall = {
            "tool": "search",
            "args": {"buckets": buckets, "query": query, "mode": "hybrid", "filtered": hard, "only": []},
        }
        if buckets and signature(call) not in state.get("tried", []) and tool_calls_left(state, context):
            return {
                "status": "more",
                "reason": reason,
                "calls": [call],
                "notes": [note("review", "widened", f"Too little was found, so {reason}.")],
            }
    return None
