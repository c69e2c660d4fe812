"""What is searched next: what a review asks for, the set that what was found leads to, and wider where nothing was."""

import asyncio
from collections.abc import Sequence
from typing import Any, Literal, cast

from pydantic import BaseModel, Field

from citegraph.corpus.filters.clause import typed_filters
from citegraph.corpus.index.searcher import SearchFailure, holds
from citegraph.evidence.names_in_texts import worded
from citegraph.evidence.passages import KEYWORD_ONLY, SEMANTIC_ONLY, signature
from citegraph.evidence.questions_back import may_ask, no_results_question
from citegraph.evidence.rerank_by_model import NOT_RERANKED
from citegraph.language import terms
from citegraph.plan.make_plan import first_calls, make_plan
from citegraph.plan.plan_by_model import PlannedFilter, checked_clauses
from citegraph.plan.stored_filters import inferred, printed
from citegraph.question.phrases import named
from citegraph.run.budgets import spent, tool_calls_left
from citegraph.run.context import Context
from citegraph.run.model_calls import note
from citegraph.run.services import Corpus, corpus_of
from citegraph.run.state import State
from citegraph.run.state_types import (
    CallArguments,
    Decision,
    Decomposed,
    Plan,
    Reading,
    Routed,
    StoredClause,
    StoredNote,
    ToolCall,
    WantedNumber,
)


class NextCall(BaseModel, extra="forbid"):
    """One further search."""

    tool: Literal["search_text", "search_semantic", "query_documents", "count_names"]
    bucket: str = Field(max_length=80)
    query: str = Field(max_length=300)
    doc_id: str = Field("", max_length=200)
    filters: list[PlannedFilter] = Field(default_factory=list, max_length=6)
    keep_filters: bool = True


def allowed_buckets(corpus: Corpus, plan: Plan, context: Context) -> list[str]:
    """Return the buckets that this run may search: with hard filters only those that the filters were bound to."""
    return list(plan["per_bucket"]) if context.filters else list(context.buckets or corpus.buckets)


async def new_calls(
    corpus: Corpus, asked: Sequence[NextCall], state: State, context: Context
) -> list[ToolCall]:
    """Return the searches of a model that are allowed: known bucket, not made before, within the budget."""
    plan, tried = state["plan"], set(state.get("tried", []))
    calls: list[ToolCall] = []
    for item in asked[: tool_calls_left(state, context)]:
        if item.tool in {"query_documents", "count_names"} or not item.query.strip():
            continue
        if item.bucket not in allowed_buckets(corpus, plan, context):
            continue
        call = await asyncio.to_thread(search_call, corpus, item, plan, context)
        if signature(call) not in tried:
            tried.add(signature(call))
            calls.append(call)
    return calls


def search_call(corpus: Corpus, item: NextCall, plan: Plan, context: Context) -> ToolCall:
    """Return a model's search as a call: fixed filters always, its own and the inferred ones as far as they match; blocking.

    What of its own conditions was not applied, and why, is `unmet`. A search inside one document needs no filter. Identifiers are those of its own query: the question's would put
    the document first that was found already.
    """
    only = [item.doc_id.strip("[] ")] if item.doc_id.strip("[] ") else []
    codes = [text.lower() for _, text, _, _ in corpus.buckets[item.bucket].find_identifiers(item.query)]
    arguments: CallArguments = {
        "buckets": [item.bucket],
        "query": item.query,
        "mode": "keyword" if item.tool == "search_text" else "hybrid",  # meaning alone misses a name
        "filtered": item.keep_filters and not only and item.bucket in plan["per_bucket"],
        "only": only,
        "identifiers": list(dict.fromkeys(codes)),
    }
    own, notes = ([], []) if only else checked_clauses(corpus, item.bucket, item.filters, context)
    unmet = dropped(notes)
    if own:
        planned = plan["per_bucket"].get(item.bucket, {}).get("filters", [])
        kept = planned if arguments["filtered"] else [clause for clause in planned if not inferred(clause)]
        matching = matching_filters(corpus, item.bucket, kept, own)
        arguments |= {"filters": {item.bucket: matching}, "filtered": True}
        unmet += [
            f"{printed(clause)}: no document meets it, or none together with the others"
            for clause in own
            if clause not in matching
        ]
    call: ToolCall = {"tool": "search", "args": arguments}
    return call | {"unmet": unmet} if unmet else call


def dropped(notes: Sequence[StoredNote]) -> list[str]:
    """Return what notes on a model's conditions say of those that could not be used."""
    return [item["message"] for item in notes if item["kind"] == "clause dropped"]


def matching_filters(
    corpus: Corpus, bucket: str, planned: Sequence[StoredClause], own: Sequence[StoredClause]
) -> list[StoredClause]:
    """Return a search's filters without those that leave nothing: the plan's inferred ones first, then its own; blocking.

    A round that finds nothing new is the last one, so a filter too much would end the search.
    """
    fixed = [clause for clause in planned if not inferred(clause)]
    soft = [clause for clause in planned if inferred(clause)]
    filters = [*fixed, *soft, *own]
    giving_up = [
        *soft,
        *(clause for clause in own if not matches_some(corpus, bucket, [*fixed, clause])),
        *own,
    ]
    for clause in giving_up:
        if matches_some(corpus, bucket, filters):
            break
        filters = [kept for kept in filters if kept is not clause]
    return filters


def matches_some(corpus: Corpus, bucket: str, filters: Sequence[StoredClause]) -> bool:
    """Tell whether a document meets all of the filters; blocking."""
    return corpus.annotations.count(bucket, typed_filters(list(filters))) > 0


def free_search(
    corpus: Corpus,
    buckets: Sequence[str],
    query: str,
    *,
    only: Sequence[str] = (),
    phrases: Sequence[str] = (),
) -> ToolCall:
    """Return the call of a search without inferred filters, for passages that hold each of some phrases."""
    codes = [
        text.lower() for name in buckets for _, text, _, _ in corpus.buckets[name].find_identifiers(query)
    ]
    arguments: CallArguments = {
        "buckets": list(buckets),
        "query": query.strip(),
        "mode": "hybrid",
        "filtered": False,
        "only": list(only),
        "identifiers": list(dict.fromkeys(codes)),
    }
    if phrases:
        arguments["phrases"] = list(phrases)
    return {"tool": "search", "args": arguments}


def resolved_set(
    corpus: Corpus, asked: Sequence[NextCall], state: State, context: Context
) -> tuple[Plan, list[StoredNote]] | None:
    """Return the plan for the set that a found name leads to and its note, None where none is asked for; blocking.

    The database makes the question's own list or number (`plan["set"]`) over the documents that meet the model's filters
    and the fixed ones. The inferred filters of the question are left out: among them are the conditions of the document
    that gave the name. A condition of the question that nobody used, or filters that match nothing, make no set.
    """
    plan = state["plan"]
    wanted = plan.get("set")
    item = next((call for call in asked if call.tool == "query_documents"), None)
    if not wanted or item is None or item.bucket not in plan["per_bucket"]:
        return None
    own, lost = checked_clauses(corpus, item.bucket, item.filters, context)
    part = plan["per_bucket"][item.bucket]
    filters = [*(clause for clause in part["filters"] if not inferred(clause)), *own]
    if not own or not matches_some(corpus, item.bucket, filters) or unused(state["decomposition"], own):
        return None
    found: Plan = {
        **plan,
        **wanted,
        "kind": "documents",
        "buckets": [item.bucket],
        "per_bucket": {item.bucket: settled(part, filters)},
        "only": [],
        "resolved": True,
    }
    said = "; ".join(printed(clause) for clause in own)
    left_out = [one for one in lost if one["kind"] == "clause dropped"]
    return found, [
        note("review", "found", f"The documents were chosen by what others say: {said}."),
        *left_out,
    ]


def counted_names(
    corpus: Corpus, asked: Sequence[NextCall], state: State, context: Context
) -> tuple[Plan, list[StoredNote]] | None:
    """Return the plan for a number of each name that documents print in the same words, and its note, None where none is
    asked for; blocking.
    """
    plan = state["plan"]
    item = next(
        (call for call in asked if call.tool == "count_names" and call.bucket in plan["per_bucket"]), None
    )
    if item is None or worded(item.query) is None:
        return None
    part = plan["per_bucket"][item.bucket]
    planned = part["filters"] if item.keep_filters else [one for one in part["filters"] if not inferred(one)]
    own, lost = checked_clauses(corpus, item.bucket, item.filters, context)
    filters = matching_filters(corpus, item.bucket, planned, own)
    wanted = plan["aggregate"]
    counts: WantedNumber = {"function": "count", "field": None}
    found: Plan = {
        **plan,
        "intent": "compute",
        "kind": "documents",
        "buckets": [item.bucket],
        "per_bucket": {item.bucket: settled(part, filters)},
        "aggregate": wanted if wanted["field"] else counts,
        "worded": item.query,
    }
    left_out = [one for one in lost if one["kind"] == "clause dropped"]
    left_out += [
        note("review", "clause dropped", f"{printed(clause)} matches nothing with the other conditions")
        for clause in own
        if clause not in filters
    ]
    said = f"The documents were grouped by what stands in “{item.query}”."
    return found, [note("review", "found", said), *left_out]


def settled(part: Reading, filters: Sequence[StoredClause]) -> Reading:
    """Return a part with filters for which the words of the question stand: none of them is left."""
    return {**part, "filters": list(filters), "names": [], "terms": [], "identifiers": [], "mentions": []}


def unused(decomposition: Decomposed, own: Sequence[StoredClause]) -> list[str]:
    """Return the conditions of the question that stand neither in one of its parts nor in a model's filters."""
    parts = " ".join(item["query"] for item in decomposition.get("subqueries", []))
    said = set(terms.words(f"{parts} {' '.join(map(printed, own))}"))
    return [
        item["raw_text"]
        for item in decomposition.get("constraints", [])
        if not said
        & {word for text in (item["raw_text"], *item["value"]) for word in terms.content_words(text)}
    ]


def failure_note(failed: SearchFailure) -> StoredNote:
    """Return the note on a search that failed: what answered in its place, or that nothing did."""
    if not failed.bucket:
        return note("search", NOT_RERANKED, failed.reason)
    if failed.fallback is None:
        return note("search", "bucket failed", f"{failed.bucket}: {failed.reason}")
    if failed.fallback == "index":
        return note("search", "fallback", f"{failed.bucket} was searched by its index: {failed.reason}")
    if failed.fallback == "keyword":
        line = f"{failed.bucket} was searched by keyword only, not by meaning: {failed.reason}"
        return note("search", KEYWORD_ONLY, line)
    line = f"{failed.bucket} was searched by meaning only, not by keyword: {failed.reason}"
    return note("search", SEMANTIC_ONLY, line)


def lost_searches(state: Any) -> list[str]:
    """Return what failed in this run's searches: single buckets, or whole calls."""
    notes = state.get("notes", [])
    return [
        item["message"]
        for item in notes
        if item["step"] == "search" and item["kind"] in {"bucket failed", "failed"}
    ]


def enough(reason: str, **more: Any) -> Decision:
    """Return the decision to compose."""
    return cast(Decision, {"status": "enough", "reason": reason, **more})


def vacant(corpus: Corpus, plan: Plan) -> bool:
    """Tell whether the buckets hold nothing that the asking principal may see."""
    corpus = corpus_of(corpus, plan)
    return not corpus.filled(plan["buckets"])


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
    # Who asks for receipts wants no contract.
    if plan["per_bucket"][plan["buckets"][0]].get("noun") == "plural":
        asked = terms.words(state["question"])
        holding = [bucket for bucket in holding if named(asked, corpus.buckets[bucket].nouns)]
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
