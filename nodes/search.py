"""search: run one planned tool call and report its hits; several run in parallel, one `Send` each."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from langgraph.runtime import Runtime

from citegraph.corpus.index.passage_scores import DEPTH
from citegraph.corpus.index.searcher import TermWeights, term_weights
from citegraph.corpus.schema.document import Hit
from citegraph.errors import CitegraphError, TimedOut
from citegraph.evidence.expand_by_model import merged_by_rank, other_wordings, wants_wordings
from citegraph.evidence.next_calls import failure_note
from citegraph.evidence.rerank_by_model import NOT_RERANKED
from citegraph.plan.plan_by_model import FEW
from citegraph.plan.stored_filters import bucket_filters, hard_only
from citegraph.run.context import Context
from citegraph.run.events import ToolEvent
from citegraph.run.model_calls import Stopwatch, model_form, note
from citegraph.run.services import Corpus, Services
from citegraph.run.state import SearchTask, Update, add_usage
from citegraph.run.state_types import Found, Plan, Reference, Spent, StoredNote, ToolCall
from tools.document_metadata import document_metadata
from tools.search_tools import PassageQuery, search_passages

OF_FEW = 2
"""Times as many hits are kept of several wordings where they are of few documents: what is asked stands in one of these."""


@dataclass(frozen=True)
class Search:
    """Node: takes a `SearchTask`, appends one entry to `found`: the call, its hits or its count."""

    services: Services

    async def __call__(self, state: SearchTask, runtime: Runtime[Context]) -> Update:
        """Run the call within the time that remains; failures of single buckets become notes."""
        context = runtime.context or Context()
        watch = Stopwatch("search")
        await self.services.warm(state["call"]["args"].get("buckets", ()))
        left = state["deadline"] - time.time()
        if left <= 0:
            raise TimedOut("search: no time is left in this run")
        corpus = await self.services.corpus()
        if model_form(self.services, context):
            context = context.model_copy(update={"top_k": max(context.top_k, DEPTH)})
        timeout = min(left, self.services.settings.search_timeout)
        found, notes = await run_call(corpus, state["call"], state["plan"], context, timeout=timeout)
        # What the expansion falls back on, it counts itself.
        fell_back = sum(item["kind"] in {NOT_RERANKED, "fallback"} for item in notes)
        usage: Spent = {"tool_calls": 1}
        if wordings := state["call"]["args"].get("wordings", []):
            found = await self.also(corpus, state, context, found, wordings)
        if context.expand != "off" and "cache_hits" in found and wants_wordings(found, context):
            found, more, usage = await self.expanded(corpus, state, context, found)
            notes += more
        runtime.stream_writer(tool_event(found, watch.seconds))
        usage["cache_hits"] = found.pop("cache_hits", 0)
        usage["fallbacks"] = usage.get("fallbacks", 0) + fell_back
        spent = cast(Spent, {key: number for key, number in usage.items() if number})
        return {"found": [found], "notes": notes, "usage": watch.update(spent)}

    async def expanded(
        self, corpus: Corpus, state: SearchTask, context: Context, found: Found
    ) -> tuple[Found, list[StoredNote], Spent]:
        """Search with other wordings too; return the entry with all lists merged, the notes and what it cost.

        It stays one tool call. A wording whose search fails is left out, since the query itself was answered.
        """
        arguments = found["call"]["args"]
        buckets = [corpus.buckets[name] for name in arguments["buckets"]]
        wordings, update = await other_wordings(self.services, arguments["query"], buckets, state, context)
        usage = add_usage({"tool_calls": 1}, update.get("usage") or {})
        if wordings:
            found = await self.also(corpus, state, context, found, wordings)
        return found, update.get("notes", []), usage

    async def also(
        self, corpus: Corpus, state: SearchTask, context: Context, found: Found, wordings: Sequence[str]
    ) -> Found:
        """Return a search's entry with what other wordings of it find, merged by rank; those that fail are left out."""
        arguments = found["call"]["args"]
        left = min(state["deadline"] - time.time(), self.services.settings.search_timeout)
        if left <= 0:
            return found
        calls = [found["call"] | {"args": arguments | {"query": wording}} for wording in wordings]
        results = await asyncio.gather(
            *(run_call(corpus, call, state["plan"], context, timeout=left) for call in calls),
            return_exceptions=True,
        )
        entries = [found]
        for result in results:
            if isinstance(result, CitegraphError):
                continue
            if isinstance(result, BaseException):
                raise result
            entries.append(result[0])
        few = len({hit["doc"] for entry in entries for hit in entry["hits"]}) <= FEW
        count = arguments.get("top_k", context.top_k) * (OF_FEW if few else 1)
        return {
            **found,
            "hits": merged_by_rank([entry["hits"] for entry in entries], count),
            "cache_hits": sum(entry["cache_hits"] for entry in entries),
        }


async def run_call(
    corpus: Corpus, call: ToolCall, plan: Plan, context: Context, *, timeout: float
) -> tuple[Found, list[StoredNote]]:
    """Run one tool call of a plan; return its entry for `found` and the notes about what failed.

    Raises:
        Unavailable: nothing answered (in strict mode: one bucket did not answer).
        BadInput: the call names no such tool or bucket.
    """
    if call["tool"] == "query_documents":
        name = call["args"]["bucket"]
        filters = bucket_filters(plan, name, call)
        matched = await asyncio.to_thread(corpus.annotations.count, name, filters)
        return {"call": call, "hits": [], "matched": {name: matched}}, []
    if call["tool"] == "get_document_metadata":
        shown = await asyncio.to_thread(document_metadata, corpus, call["args"]["doc_id"])
        return {"call": call, "hits": [], "metadata": shown}, []
    query = passage_query(plan, call, context)
    result = await search_passages(corpus, query, timeout=timeout, strict=context.strict_search)
    weights = await bucket_weights(corpus, query)
    hits = [hit_reference(hit, weights[hit.chunk.bucket], call.get("side")) for hit in result.hits]
    notes = [failure_note(failed) for failed in result.failed]
    notes += [note("search", "clause dropped", line) for line in result.dropped]
    entry: Found = {"call": call, "hits": hits, "cache_hits": result.cache_hits}
    if silent := [item.bucket for item in result.failed if item.bucket and item.fallback is None]:
        entry["failed"] = silent
    return entry, notes


def passage_query(plan: Plan, call: ToolCall, context: Context) -> PassageQuery:
    """Return the typed search of a call; the plan's filters apply unless the call lifts them."""
    arguments = call["args"]
    filters = tuple((name, bucket_filters(plan, name, call)) for name in arguments["buckets"])
    if not arguments.get("filtered", True):
        filters = tuple((name, hard_only(clauses)) for name, clauses in filters)
    parts = [plan["per_bucket"].get(name, {}) for name in arguments["buckets"]]
    identifiers = arguments.get("identifiers")
    if (
        identifiers is None
    ):  # a search for something else, as for the next document of a chain, brings its own
        identifiers = [code for part in parts for code in part.get("identifiers", [])]
    return PassageQuery(
        buckets=tuple(arguments["buckets"]),
        query=arguments["query"],
        mode=arguments.get("mode", "hybrid"),
        filters=filters,
        doc_ids=tuple(arguments.get("only") or ()),
        phrases=tuple(arguments.get("phrases", ())),
        identifiers=tuple(dict.fromkeys(identifiers)),
        top_k=arguments.get("top_k", context.top_k),
        mmr=context.mmr,
    )


async def bucket_weights(corpus: Corpus, query: PassageQuery) -> dict[str, TermWeights]:
    """Return the rarity of the query's words in each bucket."""
    weights = await asyncio.gather(
        *(
            term_weights(corpus.index, name, query.query, corpus.buckets[name].language)
            for name in query.buckets
        )
    )
    return dict(zip(query.buckets, weights, strict=True))


def hit_reference(hit: Hit, weights: TermWeights, side: int | None) -> Reference:
    """Return what the state keeps of a hit: ids and a score between 0 and 1 (the share of rare words held)."""
    score = round(weights.coverage(f"{hit.chunk.context} {hit.chunk.text}"), 3)
    reference: Reference = {
        "id": hit.chunk.chunk_id,
        "doc": hit.chunk.doc_id,
        "bucket": hit.chunk.bucket,
        "score": score,
    }
    return reference if side is None else reference | {"side": side}


def tool_event(found: Found, seconds: float) -> ToolEvent:
    """Return the event of a finished call."""
    call, matched = found["call"], found.get("matched")
    arguments = call["args"]
    return {
        "event": "tool",
        "tool": call["tool"],
        "buckets": list(arguments.get("buckets") or filter(None, [arguments.get("bucket")])),
        "query": str(arguments.get("query") or ""),
        "hits": sum(matched.values()) if matched else len(found["hits"]),
        "ms": round(seconds * 1000),
        "error": "",
    }
