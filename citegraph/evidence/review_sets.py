"""review of a question about a set of documents: does anything match, too much, or only by evidence?"""

import asyncio
from collections.abc import Sequence

from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.corpus.index.term_weights import holds
from citegraph.evidence.evidence_sets import described, find_by_evidence, uncovered
from citegraph.evidence.questions_back import facets_question
from citegraph.evidence.reviewed_by_model import (
    may_ask,
)
from citegraph.evidence.widening import enough, moved, nothing_found
from citegraph.language import terms
from citegraph.plan.stored_filters import bucket_filters
from citegraph.run.context import Context
from citegraph.run.pieces import Decision, Plan
from citegraph.run.services import Corpus
from citegraph.run.state import State


async def review_set(corpus: Corpus, state: State, context: Context) -> Decision:
    """Review a question about a set of documents by the number that match."""
    plan = state["plan"]
    counted = state.get("decision", {}).get("matched", {})
    matched = sum(counted.get(name, 0) for name in plan["buckets"])
    unknown = await unknown_names(corpus, plan, context)
    if unknown and matched:
        found = await evidence_set(corpus, plan, unknown)
        if not found:
            return await moved(corpus, state, context, unknown) or await nothing_found(
                corpus, state, context, unknown
            )
        return enough(
            f"{len(found)} documents hold {', '.join(unknown)}",
            targets=found,
            matched={plan["buckets"][0]: len(found)},
        )
    if not matched:
        return await moved(corpus, state, context, unknown) or await nothing_found(
            corpus, state, context, unknown
        )
    # Of a set that a found name led to, a reader of the question has put all of its words into filters.
    by_field = plan.get("resolved") or plan.get("export") or bool(state.get("clarifications"))
    told = plan.get("described", "")
    told = "" if by_field else told or described(state["question"], plan["per_bucket"][plan["buckets"][0]])
    if told:
        return await by_evidence(corpus, state, context, told, matched)
    if plan["intent"] == "list" and not by_field:
        open_condition = uncovered(state["question"], plan["per_bucket"][plan["buckets"][0]])
        held = await listed_by_evidence(corpus, plan, open_condition, matched) if open_condition else None
        if held:
            return held
    order = plan.get("order_by")
    limit = order["limit"] if order else 0
    if plan["intent"] == "list" and matched >= context.overload and not limit and not plan.get("export"):
        if may_ask(state, context, "overload"):
            question = await asyncio.to_thread(facets_question, corpus, plan, matched)
            return {"status": "clarify", "reason": f"{matched} documents match", "clarification": question}
        return enough(f"{matched} documents match; the first are listed", partial="too many to list")
    return enough(f"{matched} documents match")


async def by_evidence(corpus: Corpus, state: State, context: Context, told: str, matched: int) -> Decision:
    """Return the decision for a condition that no field holds; where no document holds its words, that nothing matches."""
    found = await listed_by_evidence(corpus, state["plan"], told, matched)
    return found or await nothing_found(corpus, state, context, terms.content_words(told))


async def listed_by_evidence(corpus: Corpus, plan: Plan, told: str, matched: int) -> Decision | None:
    """Return the decision to list the documents with a passage that holds the condition's words; None for none."""
    name = plan["buckets"][0]
    found = await find_by_evidence(corpus, name, told, filters=bucket_filters(plan, name))
    if not found.spans:
        return None
    coverage = f"checked {found.checked} of {matched} candidates; {len(found.spans)} by evidence"
    return enough(
        f"{len(found.spans)} documents hold “{told}” in one passage",
        targets=list(found.spans),
        spans={doc_id: {"start": start, "end": end} for doc_id, (start, end) in found.spans.items()},
        coverage=coverage,
        described=terms.content_words(told),
        matched={name: len(found.spans)},
        partial="the list rests on words found in one passage of each document, not on a field"
        if found.checked < matched
        else "",
    )


async def unknown_names(corpus: Corpus, plan: Plan, context: Context) -> list[str]:
    """Return the names of the question that no clause holds; in a set question each must be held by the documents."""
    part = plan["per_bucket"][plan["buckets"][0]]
    taken = {word for clause in part["filters"] for word in str(clause.get("raw", "")).casefold().split()}
    return [name for name in part["names"] if name not in taken]


async def evidence_set(corpus: Corpus, plan: Plan, names: Sequence[str]) -> list[str]:
    """Return the matching documents whose text holds every one of `names`; the list is by evidence, not by a field."""
    from citegraph.corpus.filters.qdrant_filter import to_qdrant

    name = plan["buckets"][0]
    filters = bucket_filters(plan, name)
    condition = to_qdrant(corpus.buckets[name], filters) if filters else {"must": []}
    words = [holds(word)["must"][0] for word in names]
    request = SearchRequest(
        name,
        " ".join(names),
        mode="keyword",
        filter_json={"must": [condition, *words]} if filters else {"must": words},
        limit=200,
        candidates=400,
    )
    return list(dict.fromkeys(hit.chunk.doc_id for hit in await corpus.index.search(request)))
