"""Maximal marginal relevance chooses what differs, and relevance alone at weight 1."""

from collections.abc import Sequence

import numpy as np

from citegraph.corpus.index.searcher import diversified
from citegraph.llm.embeddings import Vectors
from tests.citegraph.corpus.index.test_searcher import hit


class Compass:
    """Texts are directions in degrees; the question looks north."""

    name, dimensions = "compass", 2

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        angles = np.radians([float(text) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    def embed_query(self, text: str) -> Vectors:
        return np.array([1.0, 0.0], dtype=np.float32)


HITS = [hit("near", 0.9, "10"), hit("twin", 0.8, "11"), hit("other", 0.7, "-50"), hit("far", 0.6, "120")]


def chosen(weight: float, count: int = 2) -> list[str]:
    hits = diversified(Compass(), "north", HITS, count=count, weight=weight)
    return [one.chunk.chunk_id for one in hits]


def test_weights() -> None:
    assert chosen(1.0) == ["near", "twin"]
    assert chosen(0.5) == ["near", "other"]
    assert chosen(0.5, count=9)[0] == "near"
    assert len(chosen(0.5, count=9)) == 4
    assert diversified(Compass(), "north", HITS[:1], count=3, weight=0.5) == HITS[:1]
    assert diversified(Compass(), "north", [], count=3, weight=0.5) == []
