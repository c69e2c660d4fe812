"""The second stage: reorders the best hits, locally with MiniLM or by a served cross-encoder."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from citegraph.corpus.index.index_protocol import RRF_K
from citegraph.corpus.index.views import ExactCache
from citegraph.corpus.schema.document import Hit
from citegraph.errors import BadInput, Rejected, TimedOut, Unavailable
from citegraph.llm.embeddings import Embedder, MiniLMEmbedder

if TYPE_CHECKING:
    from citegraph.settings import Settings

DEPTH = 50
# What MiniLM's window of 256 tokens holds of English text, about.
PASSAGE = 1000
CACHED = 256


class Reranker(Protocol):
    """Reorders hits by their relevance to the question."""

    async def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """Return all hits, best first, with new scores; those beyond the depth keep their order behind.

        Raises:
            Unavailable, Rejected: a served reranker failed.
        """
        ...


def load_reranker(settings: Settings) -> Reranker | None:
    """Return the reranker that the settings name; None for none.

    Where MiniLM vectors are stored the first stage has used them, and the same model adds nothing.

    Raises:
        BadInput: a setting or a package is missing.
    """
    cached = CACHED if settings.cache else 0
    if settings.reranker == "served":
        if not settings.rerank_url:
            raise BadInput("CITEGRAPH_RERANKER=served needs CITEGRAPH_RERANK_URL.")
        return ServedReranker(settings.rerank_url, timeout=settings.search_timeout, cached=cached)
    if settings.reranker == "minilm" and settings.embeddings != "minilm":
        return CosineReranker(MiniLMEmbedder(), cached=cached)
    return None


Scores = ExactCache[list[float]]
"""The scores of the last questions, by question and chunks."""


def score_key(query: str, hits: Sequence[Hit]) -> tuple[str, ...]:
    """Return what the scores of these hits are kept under; a chunk's id changes with its text."""
    return (query, *(hit.chunk.chunk_id for hit in hits))


class CosineReranker:
    """Cosine of a better embedding model over the top 50, fused by rank with the order that was.

    The only local second stage that was measured to help on each of three test sets; 1 to 3 seconds.
    """

    def __init__(self, embedder: Embedder, *, depth: int = DEPTH, cached: int = CACHED) -> None:
        self._embedder = embedder
        self._depth = depth
        self._cache = Scores(cached)

    async def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """See `Reranker.rerank`."""
        head = list(hits[: self._depth])
        cosines = self._cache.get(score_key(query, head))
        if cosines is None:
            cosines = await asyncio.to_thread(self._cosines, query, head)
            self._cache.put(score_key(query, head), cosines)
        by_cosine = sorted(range(len(head)), key=lambda place: -cosines[place])
        rank = {place: position for position, place in enumerate(by_cosine, 1)}
        scores = [1 / (RRF_K + place + 1) + 1 / (RRF_K + rank[place]) for place in range(len(head))]
        return in_order(head, scores, list(hits[self._depth :]))

    def _cosines(self, query: str, hits: Sequence[Hit]) -> list[float]:
        passages = [passage(query, hit.chunk.text) for hit in hits]
        vectors = self._embedder.embed_documents(passages)
        return [float(value) for value in np.asarray(vectors @ self._embedder.embed_query(query))]


class ServedReranker:
    """A cross-encoder behind a `/rerank` endpoint of Cohere's, Jina's or TEI's shape."""

    def __init__(self, url: str, *, timeout: float, depth: int = DEPTH, cached: int = CACHED) -> None:
        self._url = url if url.rstrip("/").endswith("/rerank") else f"{url.rstrip('/')}/rerank"
        self._timeout = timeout
        self._depth = depth
        self._cache = Scores(cached)
        self._shape: Callable[[str, list[str]], dict[str, Any]] = _cohere

    async def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """See `Reranker.rerank`."""
        head = list(hits[: self._depth])
        scores = self._cache.get(score_key(query, head))
        if scores is None:
            scores = await self._ask(query, [hit.chunk.text for hit in head])
            self._cache.put(score_key(query, head), scores)
        return in_order(head, scores, list(hits[self._depth :]))

    async def _ask(self, query: str, texts: list[str]) -> list[float]:
        import httpx

        from citegraph.llm.endpoint_client import async_endpoint_client

        try:
            async with asyncio.timeout(self._timeout), async_endpoint_client(self._timeout) as client:
                response = await client.post(self._url, json=self._shape(query, texts))
                if response.status_code in {400, 422} and self._shape is _cohere:
                    self._shape = _tei
                    response = await client.post(self._url, json=self._shape(query, texts))
        except (httpx.TimeoutException, TimeoutError) as error:
            raise TimedOut("The reranking endpoint did not answer in time.") from error
        except httpx.HTTPError as error:
            raise Unavailable("The reranking endpoint cannot be reached.") from error
        if response.status_code == 429 or response.status_code >= 500:
            raise Unavailable(f"The reranking endpoint answered with HTTP {response.status_code}.")
        if response.status_code >= 400:
            raise Rejected(f"The reranking endpoint answered with HTTP {response.status_code}.")
        return _scores(response.content, len(texts))


def _cohere(query: str, texts: list[str]) -> dict[str, Any]:
    return {"query": query, "documents": texts, "top_n": len(texts)}


def _tei(query: str, texts: list[str]) -> dict[str, Any]:
    return {"query": query, "texts": texts, "truncate": True}


def _scores(content: bytes, count: int) -> list[float]:
    """Return the scores in the order of the texts; a text that the answer leaves out comes last."""
    import json

    try:
        answer = json.loads(content)
        rows = answer["results"] if isinstance(answer, dict) else answer
        found = {int(row["index"]): float(row.get("relevance_score", row.get("score"))) for row in rows}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Rejected("The reranking endpoint sent an answer that cannot be read.") from error
    lowest = min(found.values(), default=0.0) - 1.0
    return [found.get(place, lowest) for place in range(count)]


def in_order(head: list[Hit], scores: Sequence[float], rest: list[Hit]) -> list[Hit]:
    """Return the head by falling score, then the rest scored below it, in its order."""
    scored = sorted(zip(head, scores, strict=True), key=lambda pair: -pair[1])
    lowest = min(scores, default=0.0)
    below = [replace(hit, score=lowest - (place + 1) * 1e-6) for place, hit in enumerate(rest)]
    return [*(replace(hit, score=score) for hit, score in scored), *below]


def passage(query: str, text: str, size: int = PASSAGE) -> str:
    """Return the part of a long text, at most `size` characters, that holds most of the question's words."""
    if len(text) <= size:
        return text
    words = set(re.findall(r"\w{3,}", query.casefold()))

    def found(start: int) -> int:
        part = text[start : start + size].casefold()
        return sum(word in part for word in words)

    best = max(range(0, len(text) - size // 2, size // 2), key=lambda start: (found(start), -start))
    return text[best : best + size]
