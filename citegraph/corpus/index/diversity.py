"""Maximal marginal relevance: near repetitions of a passage give way to passages that say something else."""

from __future__ import annotations

from collections.abc import Sequence

from citegraph.corpus.index.encoding import indexed_text
from citegraph.corpus.schema.document import Hit
from citegraph.llm.embeddings import Embedder

POOL = 3
"""The passages chosen from are this many times those wanted."""


def diversified(
    embedder: Embedder, query: str, hits: Sequence[Hit], *, count: int, weight: float
) -> list[Hit]:
    """Return `count` of the hits by maximal marginal relevance, the first chosen first; blocking.

    Args:
        weight: lambda of Carbonell & Goldstein (SIGIR 1998): 1 is relevance alone, 0 difference alone; 0.5 is usual.

    Raises:
        Unavailable, Rejected: the embedding model is an endpoint that fails.
    """
    from langchain_core.vectorstores.utils import maximal_marginal_relevance

    pool = list(hits[: POOL * count])
    if len(pool) <= 1:
        return pool
    vectors = embedder.embed_documents([indexed_text(hit.chunk) for hit in pool])
    chosen = maximal_marginal_relevance(embedder.embed_query(query), list(vectors), weight, count)
    return [pool[place] for place in chosen]
