"""A keyword probe of buckets: which one holds the question's rare words together?"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.corpus.index.searcher import term_weights
from citegraph.run.services import Corpus

PROBE_HITS = 3


@dataclass(frozen=True, slots=True)
class Probe:
    """What a bucket's best keyword hits hold: share of the question's rarity, and whether an identifier hit."""

    coverage: float = 0.0
    identifier: bool = False


async def probe_buckets(
    corpus: Corpus, question: str, names: Sequence[str], *, timeout: float
) -> dict[str, Probe]:
    """Probe these buckets in parallel; one that fails or is late counts as empty."""

    async def probe(name: str) -> Probe:
        bucket = corpus.buckets[name]
        identifiers = tuple(text.lower() for _, text, _, _ in bucket.find_identifiers(question))
        request = SearchRequest(
            name, question, mode="keyword", identifiers=identifiers, limit=PROBE_HITS, candidates=20
        )
        hits, weights = await asyncio.gather(
            corpus.index.search(request), term_weights(corpus.index, name, question, bucket.language)
        )
        coverage = max(
            (weights.coverage(f"{hit.chunk.context} {hit.chunk.text}") for hit in hits), default=0.0
        )
        return Probe(coverage, any(set(identifiers) & set(hit.chunk.identifiers) for hit in hits))

    results = await asyncio.gather(
        *(asyncio.wait_for(probe(name), timeout) for name in names), return_exceptions=True
    )
    return {
        name: result if isinstance(result, Probe) else Probe()
        for name, result in zip(names, results, strict=True)
    }
