"""prune: join the searches of a round, keep the best evidence within the token budget, never a needed name."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from langgraph.runtime import Runtime

from citegraph.corpus.schema.document import Chunk
from citegraph.evidence.passages import (
    SHORT_ID,
    hydrate,
    in_turn,
    lines,
    memory,
    merge,
    signature,
    within_budget,
)
from citegraph.evidence.rerank_by_model import rerank_evidence
from citegraph.evidence.shown import SHORT, of_asked_codes
from citegraph.language import terms
from citegraph.plan.narrowing import parts_apart
from citegraph.run.context import Context
from citegraph.run.model_calls import Stopwatch, has_model, model_form, note
from citegraph.run.services import Corpus, Services
from citegraph.run.state import State, Update, add_usage
from citegraph.run.state_types import CitedSpan, Reference, ToolCall

PART = 1200
"""Characters that are shown of a long passage, more or less."""
MAX_LOG = 16
"""Searches that a review is told of."""


@dataclass(frozen=True)
class Prune:
    """Node: reads `found`, writes `evidence` (best first), `seen`, `tried` and what was dropped."""

    services: Services

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        """Merge, order and cut the evidence; empties `found` for the next round."""
        context = runtime.context or Context()
        watch = Stopwatch("prune")
        found = state.get("found", [])
        corpus = await self.services.corpus()
        old = state.get("evidence", [])
        merged = merge(old, [hit for entry in found for hit in entry["hits"]])
        read = state.get("decomposition", {}).get("by") and has_model(self.services, "review", context)
        if not old and merged and read:
            merged = await focused(corpus, state, merged)
        chunks = await hydrate(corpus, merged)
        ordered, ranking = None, Update()
        if model_form(self.services, context):
            ordered, ranking = await rerank_evidence(self.services, state, context, merged, chunks)
            # A model sees deeper lists than a run keeps; without its order the searches' own best stand.
            best = [hit for entry in found for hit in entry["hits"][: width(entry["call"], context)]]
            merged = merge(old, best) if ordered is None else ordered[: len(old) + len(best)]
        # What a model that reviews searched for anew stands beside what it had: passages of one search do not hide the next one's.
        anew = bool(old) and has_model(self.services, "review", context)
        several = len(found) > 1 and has_model(self.services, "compose", context)
        held = memory(state).get("holding", [])
        first = [item for item in old if holds(chunks.get(item["id"]), held)] if anew else old
        if anew and first:
            # What a review did not keep, and was not found again, gives way.
            here = {item["id"] for items in (first, *(entry["hits"] for entry in found)) for item in items}
            merged = [item for item in merged if item["id"] in here]
        if ordered is None and (anew or several or parts_apart(state.get("decomposition", {}))):
            merged = in_turn([first, *(entry["hits"] for entry in found)], merged)
        kept, dropped = within_budget(
            merged, chunks, required_words(state), context.evidence_tokens, self.most(state, context)
        )
        seen = state.get("seen", [])
        # What found no space was not seen by anybody: found again, it is new.
        shown = [ref["id"][:SHORT_ID] for ref in kept if ref["id"][:SHORT_ID] not in seen]
        fresh = [ref["id"][:SHORT_ID] for ref in merged if ref["id"][:SHORT_ID] not in seen]
        chain = state.get("decision", {}).get("chain")
        kept_memory = state.get("decision", {}).get("memory", {})
        stays = {ref["id"][:SHORT_ID] for ref in kept}
        unshown = dict.fromkeys([*kept_memory.get("left", []), *(ref["id"][:SHORT_ID] for ref in dropped)])
        left = [name for name in unshown if name not in stays]
        counts = {name: number for entry in found for name, number in entry.get("matched", {}).items()}
        update: Update = {
            "evidence": kept,
            "seen": [*seen, *shown],
            "tried": [
                *state.get("tried", []),
                *(signature(item["call"]) for item in found if not item.get("failed")),
            ],
            "rounds": state.get("rounds", 0) + 1,
            "dropped": len(left),
            "found": None,
            "calls": [],
            "decision": {
                **({"chain": chain} if chain else {}),
                "memory": kept_memory
                | {
                    "log": [*kept_memory.get("log", []), *lines(found, fresh, state.get("rounds", 0) + 1)][
                        -MAX_LOG:
                    ],
                    "left": left,
                },
                # Of a passage that was seen in part, a search inside its document shows other lines.
                "fresh": len(fresh)
                or sum(len(item["hits"]) for item in found if item["call"]["args"].get("only")),
                "matched": state.get("decision", {}).get("matched", {}) | counts,
            },
            "usage": watch.update(add_usage(ranking.get("usage") or {}, {"rounds": 1})),
            "notes": ranking.get("notes", []),
        }
        if dropped:
            update["notes"] += [
                note("prune", "evidence dropped", f"{len(dropped)} passages did not fit the evidence budget.")
            ]
        return update

    def most(self, state: State, context: Context) -> int | None:
        """Return the characters that a long passage counts with: a model is shown the lines of it that are pointed at."""
        cut = state.get("plan", {}).get("intent") != "summarize" and has_model(
            self.services, "compose", context
        )
        return PART if cut else None


async def focused(corpus: Corpus, state: State, found: list[Reference]) -> list[Reference]:
    """Return what a first search found, of the documents with the codes that are asked about where there are some; of a
    single short document all.
    """
    kept = await asyncio.to_thread(of_asked_codes, corpus, state.get("decomposition", {}), found)
    documents = {(item["bucket"], item["doc"]) for item in kept}
    if len(documents) > 1:
        return kept
    whole = await corpus.index.document_chunks(*documents.pop())
    last = min(item["score"] for item in kept)
    known = {item["id"] for item in kept}
    rest: list[Reference] = [
        {"id": chunk.chunk_id, "doc": chunk.doc_id, "bucket": chunk.bucket, "score": last}
        for chunk in whole
        if chunk.chunk_id not in known
    ]
    return [*kept, *rest] if len(whole) <= SHORT else kept


def holds(chunk: Chunk | None, held: Sequence[CitedSpan]) -> bool:
    """Tell whether a chunk has a part that a review has said to keep."""
    return chunk is not None and any(
        item["doc"] == chunk.doc_id and item["start"] < chunk.end and chunk.start < item["end"]
        for item in held
    )


def width(call: ToolCall, context: Context) -> int:
    """Return how many hits of a call a run keeps."""
    return int(call["args"].get("top_k", context.top_k))


def required_words(state: State) -> list[str]:
    """Return the names that the question gives, and those that a review found: evidence with the last mention of one stays."""
    plan = state.get("plan", {})
    given = [word for part in plan.get("per_bucket", {}).values() for word in part.get("names", [])]
    found = state.get("decision", {}).get("memory", {}).get("found", [])
    return list(dict.fromkeys([*given, *(word for name in found for word in terms.content_words(name))]))
