"""The documents of which one passage holds the words of a condition that no field holds."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from citegraph.corpus.filters.clause import Filters
from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.corpus.index.searcher import TermWeights, holds, narrowing, term_weights
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Chunk
from citegraph.evidence.next_calls import enough
from citegraph.language import terms
from citegraph.plan.stored_filters import bucket_filters
from citegraph.question.wordings import Wording, wordings
from citegraph.run.services import Corpus
from citegraph.run.state_types import Decision, Plan

HITS = 1000
"""Chunks of one search that are looked at."""
ROUNDS = 4
"""Searches of one wording; each further one is among the documents of which no chunk has come up yet."""
CANDIDATES = 5000
"""Documents up to which further searches name those that are left."""
WINDOW, STEP = 420, 210
"""Characters of a passage that must hold the condition, and how far apart passages begin."""
HOLDS = 0.8
"""Share of the condition's words, weighted by rarity, that one passage must hold."""


@dataclass(frozen=True, slots=True)
class EvidenceSet:
    """The documents with a passage that holds a condition: id to character span, best first; and how many were checked."""

    spans: dict[str, tuple[int, int]]
    checked: int


async def find_by_evidence(
    corpus: Corpus, bucket: str, condition: str, *, filters: Filters = ()
) -> EvidenceSet:
    """Return the matching documents that hold the words of one wording of a condition in one passage."""
    declared = corpus.buckets[bucket]
    matching = await asyncio.to_thread(corpus.annotations.document_ids, bucket, filters, (), CANDIDATES + 1)
    found: dict[str, tuple[float, tuple[int, int]]] = {}
    looked: list[set[str]] = []
    for wording in wordings(declared, condition):
        weights = await term_weights(corpus.index, bucket, " ".join(wording.words), declared.language)
        seen: set[str] = set()
        async for chunks in _rounds(corpus, declared, wording, filters=filters, matching=matching, seen=seen):
            held = await asyncio.to_thread(best_passages, chunks, wording, weights)
            found |= {
                doc_id: best for doc_id, best in held.items() if best[0] > found.get(doc_id, NOWHERE)[0]
            }
        looked.append(seen)
    ranked = sorted(found.items(), key=lambda item: -item[1][0])
    checked = set.intersection(*looked) if looked else set()
    return EvidenceSet({doc_id: span for doc_id, (_, span) in ranked}, len(checked | set(found)))


async def not_together(corpus: Corpus, plan: Plan) -> list[str]:
    """Return what to tell whoever wrote a condition on texts that no passage meets: in how many documents each part of it
    stands; [] where it is met, or none was written.
    """
    told, name = plan.get("described", ""), plan["buckets"][0]
    filters = bucket_filters(plan, name)
    if not told or plan["kind"] != "documents":
        return []
    if (await find_by_evidence(corpus, name, told, filters=filters)).spans:
        return []
    parts = [
        part
        for said in told.split("|")
        for wording in wordings(corpus.buckets[name], said)[:1]
        for part in (*wording.words, *(measure.text for measure in wording.measures))
    ]
    counts = [len((await find_by_evidence(corpus, name, part, filters=filters)).spans) for part in parts]
    held = ", ".join(f"“{part}” in {count}" for part, count in zip(parts, counts, strict=True))
    return [f"text “{told}”: no document holds all of it in one passage; alone: {held or 'nothing'}"]


def best_passages(
    chunks: Sequence[Chunk], wording: Wording, weights: TermWeights
) -> dict[str, tuple[float, tuple[int, int]]]:
    """Return, by document, the share of the words that its best passage holds, with the passage's character span."""
    found: dict[str, tuple[float, tuple[int, int]]] = {}
    for chunk in chunks:
        for start in range(0, max(1, len(chunk.text) - STEP), STEP):
            end = min(start + WINDOW, len(chunk.text))
            share = weights.coverage(chunk.text[start:end]) if wording.words else 1.0
            if share < HOLDS or share <= found.get(chunk.doc_id, NOWHERE)[0]:
                continue
            if wording.stands_in(chunk.text[start:end]):
                span = trimmed(chunk.text, start, end)
                found[chunk.doc_id] = share, (chunk.start + span[0], chunk.start + span[1])
    return found


NOWHERE = (0.0, (0, 0))


async def _rounds(
    corpus: Corpus,
    bucket: Bucket,
    wording: Wording,
    *,
    filters: Filters,
    matching: Sequence[str],
    seen: set[str],
) -> AsyncIterator[list[Chunk]]:
    """Yield, a search at a time, the chunks that hold a word of the wording, best first, and note in `seen` which documents that decides.

    When a search brings fewer chunks than it may, the other documents hold none of the words: they are decided too.
    """
    asked = SearchRequest(
        bucket.name,
        wording.searched,
        mode="keyword",
        filter_json=await asyncio.to_thread(narrowing, corpus.annotations, bucket.name, filters),
        limit=HITS,
        candidates=HITS,
    )
    left: list[str] = []
    for _ in range(ROUNDS):
        hits = await corpus.index.search(replace(asked, doc_ids=tuple(left)))
        seen.update(hit.chunk.doc_id for hit in hits)
        yield [hit.chunk for hit in hits]
        if len(hits) < HITS:
            seen.update(matching)
        left = [doc_id for doc_id in matching if doc_id not in seen]
        if not left or len(matching) > CANDIDATES:
            return


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a passage's span without the broken words at its ends."""
    if start:
        gap = re.search(r"\s+", text[start:end])
        start += gap.end() if gap else 0
    if end < len(text):
        gap = re.search(r"\s+\S*$", text[start:end])
        end = start + gap.start() if gap else end
    return start, end


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
        partial=BY_WORDS if found.checked < matched else "",
    )


BY_WORDS = "the documents were chosen by words found in one passage of each, not by a field"


async def evidence_set(corpus: Corpus, plan: Plan, names: Sequence[str]) -> list[str]:
    """Return the matching documents whose text holds every one of `names`; the list is by evidence, not by a field."""
    name = plan["buckets"][0]
    condition = await asyncio.to_thread(narrowing, corpus.annotations, name, bucket_filters(plan, name))
    words = [holds(word)["must"][0] for word in names]
    request = SearchRequest(
        name,
        " ".join(names),
        mode="keyword",
        filter_json={"must": [condition, *words] if condition else words},
        limit=200,
        candidates=400,
    )
    return list(dict.fromkeys(hit.chunk.doc_id for hit in await corpus.index.search(request)))
