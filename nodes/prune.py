"""prune: join the searches of a round, keep the best evidence within the token budget, never a needed name."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from langgraph.runtime import Runtime

from citegraph.citations.orders import without_orders
from citegraph.corpus.schema.document import Chunk
from citegraph.evidence.reranking import model_form, rerank_evidence
from citegraph.language import terms
from citegraph.plan.chains import parts_apart
from citegraph.plan.stored_filters import printed
from citegraph.run.context import Context
from citegraph.run.model_calls import Stopwatch, note
from citegraph.run.services import Corpus, Services
from citegraph.run.state import Json, State

CHARACTERS_PER_TOKEN = 4
MAX_EVIDENCE = 24
SHORT_ID = 8
MAX_LOG = 16
"""Searches that a review is told of."""


@dataclass(frozen=True)
class Prune:
    """Node: reads `found`, writes `evidence` (best first), `seen`, `tried` and what was dropped."""

    services: Services

    async def __call__(self, state: State, runtime: Runtime[Context]) -> dict[str, Any]:
        """Merge, order and cut the evidence; empties `found` for the next round."""
        context = runtime.context or Context()
        watch = Stopwatch("prune")
        found = state.get("found", [])
        old = state.get("evidence", [])
        merged = merge(old, [hit for entry in found for hit in entry["hits"]])
        corpus = await self.services.corpus()
        chunks = await hydrate(corpus, merged)
        ordered, ranking = await rerank_evidence(self.services, state, context, merged, chunks)
        if model_form(self.services, context):
            # A model sees deeper lists than a run keeps; without its order the searches' own best stand.
            best = [hit for entry in found for hit in entry["hits"][: width(entry["call"], context)]]
            merged = merge(old, best) if ordered is None else ordered[: len(old) + len(best)]
        if ordered is None and parts_apart(state.get("decomposition", {})):
            merged = in_turn([old, *(entry["hits"] for entry in found)], merged)
        kept, dropped = within_budget(merged, chunks, required_words(state), context.evidence_tokens)
        seen = state.get("seen", [])
        # What found no space was not seen by anybody: found again, it is new.
        shown = [ref["id"][:SHORT_ID] for ref in kept if ref["id"][:SHORT_ID] not in seen]
        fresh = [ref["id"][:SHORT_ID] for ref in merged if ref["id"][:SHORT_ID] not in seen]
        origin = state.get("decision", {}).get("origin")
        kept_memory = state.get("decision", {}).get("memory", {})
        counts = {name: number for entry in found for name, number in entry.get("matched", {}).items()}
        update: Json = {
            "evidence": kept,
            "seen": [*seen, *shown],
            "tried": [
                *state.get("tried", []),
                *(signature(item["call"]) for item in found if not item.get("failed")),
            ],
            "rounds": state.get("rounds", 0) + 1,
            "dropped": state.get("dropped", 0) + len(dropped),
            "found": None,
            "calls": [],
            "decision": {
                **({"origin": origin} if origin else {}),
                "memory": kept_memory
                | {"log": [*kept_memory.get("log", []), *lines(found, fresh)][-MAX_LOG:]},
                "fresh": len(fresh),
                "matched": state.get("decision", {}).get("matched", {}) | counts,
            },
            "usage": watch.update({**ranking.get("usage", {}), "rounds": 1}),
            "notes": ranking.get("notes", []),
        }
        if dropped:
            update["notes"] += [
                note("prune", "evidence dropped", f"{len(dropped)} passages did not fit the evidence budget.")
            ]
        return update


def width(call: Json, context: Context) -> int:
    """Return how many hits of a call a run keeps."""
    return int(call["args"].get("top_k", context.top_k))


def lines(found: Sequence[Json], fresh: Sequence[str]) -> list[str]:
    """Return the log line of each search of a round, with how many of its passages nobody had seen."""
    return [
        log_line(entry, len({hit["id"][:SHORT_ID] for hit in entry["hits"]} & set(fresh))) for entry in found
    ]


def log_line(entry: Json, fresh: int) -> str:
    """Return a finished search as a later review reads it."""
    call = entry["call"]
    arguments = call["args"]
    where = ", ".join(arguments.get("buckets", [arguments.get("bucket", "")]))
    if call["tool"] != "search":
        return f"{call['tool']} in {where}: {sum(entry.get('matched', {}).values())} documents match"
    inside = f" inside {', '.join(arguments['only'])}" if arguments.get("only") else ""
    lifted = "" if arguments.get("filtered", True) else ", inferred filters lifted"
    found = f"{len(entry['hits'])} passages, {fresh} new"
    if entry.get("failed"):
        found += f"; no answer from {', '.join(entry['failed'])}, so it may be made again"
    return (
        f"{arguments.get('mode', 'hybrid')} search in {where}{inside}{lifted}{own_filters(arguments)}: "
        f"“{arguments['query']}”: {found}"
    )


def own_filters(arguments: Json) -> str:
    """Return the filters that a search brought along, in words; "" when it had the plan's or none."""
    if "filters" not in arguments:
        return ""
    said = [
        f"{name}: {', '.join(map(printed, filters))}"
        for name, filters in arguments["filters"].items()
        if filters
    ]
    return f" with ({'; '.join(said)})" if said else " without filters"


def signature(call: Json) -> str:
    """Return what makes two calls the same: tool, buckets, filters lifted or its own, document, folded query words."""
    arguments = call["args"]
    where = ",".join(arguments.get("buckets", [arguments.get("bucket", "")]))
    words = " ".join(sorted(terms.content_words(str(arguments.get("query", "")))))
    only = ",".join(arguments.get("only") or [])
    own = arguments.get("filters") if "side" not in call else None
    bound = hashlib.sha256(repr(own).encode()).hexdigest()[:6] if own else ""
    named = f"{call['tool']}|{where}|{arguments.get('filtered', True)}|{only}|{call.get('side', '')}|{bound}|{words}"
    return named[:300]


def merge(old: Sequence[Json], new: Sequence[Json]) -> list[Json]:
    """Return the references of both by falling score, one per chunk and side; of equals the first stays first."""
    best: dict[tuple[str, Any], Json] = {}
    for reference in [*old, *new]:
        key = (reference["id"], reference.get("side"))
        if key not in best or reference["score"] > best[key]["score"]:
            best[key] = reference
    return sorted(best.values(), key=lambda reference: -reference["score"])


def in_turn(lists: Sequence[Sequence[Json]], merged: Sequence[Json]) -> list[Json]:
    """Return the merged references, the best of each list first, then the second ones.

    Parts of a question that concern different documents have scores of their own: the one with the rarest words would
    take all of the space, and what an earlier round found would yield to a longer list of a later one.
    """
    place: dict[tuple[str, Any], int] = {}
    for references in lists:
        for rank, reference in enumerate(references):
            key = (reference["id"], reference.get("side"))
            place[key] = min(rank, place.get(key, rank))
    return sorted(merged, key=lambda reference: place[reference["id"], reference.get("side")])


async def hydrate(corpus: Corpus, references: Sequence[Json]) -> dict[str, Chunk]:
    """Return the chunks of evidence references by id; one that is gone from the index is left out.

    What in a text speaks to the program that reads it is blanked: neither a prompt nor an extract shows it.
    """
    by_bucket: dict[str, list[str]] = {}
    for reference in references:
        by_bucket.setdefault(reference["bucket"], []).append(reference["id"])
    chunks: dict[str, Chunk] = {}
    for name, ids in by_bucket.items():
        for chunk in await corpus.index.retrieve(name, list(dict.fromkeys(ids))):
            plain, heads = without_orders(chunk.text), without_orders(chunk.heads)
            same = (plain, heads) == (chunk.text, chunk.heads)
            chunks[chunk.chunk_id] = chunk if same else replace(chunk, text=plain, heads=heads)
    return chunks


def required_words(state: State) -> list[str]:
    """Return the names that the question gives, and those that a review found: evidence with the last mention of one stays."""
    plan = state.get("plan", {})
    given = [word for part in plan.get("per_bucket", {}).values() for word in part.get("names", [])]
    found = state.get("decision", {}).get("memory", {}).get("found", [])
    return list(dict.fromkeys([*given, *(word for name in found for word in terms.content_words(name))]))


def within_budget(
    references: Sequence[Json], chunks: dict[str, Chunk], required: Sequence[str], tokens: int
) -> tuple[list[Json], list[Json]]:
    """Return (kept, dropped): by rank until the budget is full, then those that alone hold a required word."""
    kept: list[Json] = []
    dropped: list[Json] = []
    left = tokens * CHARACTERS_PER_TOKEN
    missing = set(required)
    for reference in references:
        chunk = chunks.get(reference["id"])
        if chunk is None:
            continue
        held = missing & set(terms.words(chunk.text))
        fits = len(kept) < MAX_EVIDENCE and (len(chunk.text) <= left or not kept)
        if fits or held:
            kept.append(reference)
            left -= len(chunk.text)
            missing -= held
        else:
            dropped.append(reference)
    return kept, dropped
