"""Sets whose condition no field holds: candidates by search, each checked against its own passages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from corpus.filter_qdrant import to_qdrant
from corpus.filters import Filters
from corpus.index import SearchRequest
from corpus.terms import bare, term_weights, words
from graph.state import Json
from nodes import lexicon
from tools.services import Corpus

HITS = 400
"""Chunks that are looked at; a document of which none is among them is not checked."""
WINDOW, STEP = 420, 210
"""Characters of a passage that must hold the condition, and how far apart passages begin."""
HOLDS = 0.8
"""Share of the condition's words, weighted by rarity, that one passage must hold."""

STRUCTURE = frozenset(
    words("clause clauses provision provisions section sections paragraph paragraphs condition conditions")
)
"""Words for a part of a document: they say where a condition stands, not what it is."""


@dataclass(frozen=True, slots=True)
class EvidenceSet:
    """The documents with a passage that holds a condition: id to character span, best first; and how many were checked."""

    spans: dict[str, tuple[int, int]]
    checked: int


def described(question: str, part: Json) -> list[str]:
    """Return the words of a condition that is described ("contracts that contain an audit right"), [] for none.

    Only words after "contain", "mention", "with a" ... that became no clause count, and only where nothing is negated.
    """
    match = lexicon.CONTAINS.search(question)
    if not match or lexicon.NEGATION.search(question):
        return []
    after = set(words(question[match.end() :]))
    return [word for word in part["terms"] if word in after - STRUCTURE and len(bare(word)) > 2]


async def find_by_evidence(
    corpus: Corpus, bucket: str, condition: Sequence[str], *, filters: Filters = ()
) -> EvidenceSet:
    """Return the matching documents that hold a condition's words together in one passage, with that passage."""
    declared = corpus.buckets[bucket]
    weights = await term_weights(corpus.index, bucket, " ".join(condition), declared.language)
    request = SearchRequest(
        bucket,
        " ".join(condition),
        mode="keyword",
        filter_json=to_qdrant(declared, filters) or None,
        limit=HITS,
        candidates=HITS,
    )
    found: dict[str, tuple[float, tuple[int, int]]] = {}
    seen: set[str] = set()
    for hit in await corpus.index.search(request):
        chunk = hit.chunk
        seen.add(chunk.doc_id)
        for start in range(0, max(1, len(chunk.text) - STEP), STEP):
            share = weights.coverage(chunk.text[start : start + WINDOW])
            if share >= HOLDS and share > found.get(chunk.doc_id, (0.0, (0, 0)))[0]:
                span = trimmed(chunk.text, start, min(start + WINDOW, len(chunk.text)))
                found[chunk.doc_id] = share, (chunk.start + span[0], chunk.start + span[1])
    ranked = sorted(found.items(), key=lambda item: -item[1][0])
    return EvidenceSet({doc_id: span for doc_id, (_, span) in ranked}, len(seen))


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a passage's span without the broken words at its ends."""
    if start:
        gap = re.search(r"\s+", text[start:end])
        start += gap.end() if gap else 0
    if end < len(text):
        gap = re.search(r"\s+\S*$", text[start:end])
        end = start + gap.start() if gap else end
    return start, end
