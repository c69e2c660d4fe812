"""Searches several buckets at once: one time limit, strict or partial, duplicates removed, reranked."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

from citegraph.corpus.filters.clause import Filters, clauses_in, other_field
from citegraph.corpus.filters.qdrant_filter import FilterJSON, to_qdrant
from citegraph.corpus.index.collection_record import fused, indexed_text, inside, joined
from citegraph.corpus.index.index_protocol import (
    RRF_K,
    Index,
    Mode,
    SearchRequest,
    documents_condition,
)
from citegraph.corpus.index.rerankers import Reranker
from citegraph.corpus.index.views import SearchCache
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.schema.document import Hit
from citegraph.errors import CitegraphError, TimedOut
from citegraph.language.terms import WORD, bare, content_words, fold, stem, stems
from citegraph.llm.embeddings import Embedder


@dataclass(frozen=True, slots=True)
class SearchFailure:
    """A bucket whose search failed, wholly or in part.

    Attributes:
        bucket: empty when the reranking failed.
        reason: one line, safe to show.
        fallback: the mode that answered instead, "index" where a searcher of the user's own failed; None when the
            bucket gave nothing.
    """

    bucket: str
    reason: str
    fallback: Mode | Literal["index"] | None = None


class SearchResult(NamedTuple):
    """Hits of all buckets, best first, the buckets that failed, and how many were answered from the cache."""

    hits: list[Hit]
    failed: list[SearchFailure]
    cache_hits: int = 0


class _Answer(NamedTuple):
    mode: Mode
    hits: list[Hit]
    failure: SearchFailure | None
    error: CitegraphError | None
    cached: bool = False


class Searcher(Protocol):
    """What is asked before the index, which answers when it fails."""

    async def search(self, index: Index, request: SearchRequest, seconds: float) -> list[Hit]:
        """Return the hits of one request, best first, none that the request or the index would not allow.

        Raises:
            CitegraphError: it failed, or took longer than `seconds`.
        """
        ...


async def search_buckets(
    index: Index,
    requests: Sequence[SearchRequest],
    *,
    timeout: float = 5.0,
    strict: bool = False,
    reranker: Reranker | None = None,
    searcher: Searcher | None = None,
    cached: SearchCache | None = None,
) -> SearchResult:
    """Run all requests in parallel and merge their hits, best first.

    Without its vectors (embedding endpoint down) a bucket is searched by keyword, without its keyword index by
    meaning, and `failed` says so.

    Args:
        timeout: seconds for all requests together.
        strict: raise the first failure, partial ones included, instead of reporting it.
        reranker: reorders the merged hits; when it fails their order stands.
        searcher: asked in place of the index, for half of the time; nothing of it is kept.
        cached: answers the requests that it has answered before; a search that failed is not kept.

    Raises:
        CitegraphError: only when strict.
    """
    answers = await _all(index, requests, timeout, searcher or cached)
    for answer in answers:
        if strict and answer.error is not None:
            raise answer.error
    hits = deduplicated(_merged(answers))
    failed = [answer.failure for answer in answers if answer.failure is not None]
    if reranker is not None and hits:
        hits, failure = await reranked(reranker, requests[0].query, hits, strict=strict)
        failed += [failure] if failure else []
    return SearchResult(hits, failed, sum(answer.cached for answer in answers))


async def reranked(
    reranker: Reranker, query: str, hits: Sequence[Hit], *, strict: bool = False
) -> tuple[list[Hit], SearchFailure | None]:
    """Return the hits in the reranker's order; when it fails in their own, and the failure.

    Raises:
        CitegraphError: only when strict.
    """
    try:
        return await reranker.rerank(query, hits), None
    except CitegraphError as error:
        if strict:
            raise
        return list(hits), SearchFailure("", f"reranking failed: {error}")


async def _all(
    index: Index, requests: Sequence[SearchRequest], seconds: float, by: Searcher | SearchCache | None
) -> list[_Answer]:
    if by is None or isinstance(by, SearchCache):
        tasks = [asyncio.create_task(_one(index, request, by)) for request in requests]
    else:
        tasks = [asyncio.create_task(_own(index, request, by, seconds / 2)) for request in requests]
    if not tasks:
        return []
    try:
        await asyncio.wait(tasks, timeout=seconds)
    finally:
        for task in tasks:
            task.cancel()
    answers = []
    for request, task in zip(requests, tasks, strict=True):
        if task.done() and not task.cancelled():
            answers.append(task.result())
        else:
            late = TimedOut(f"The search in bucket {request.bucket!r} took longer than {seconds:g} seconds.")
            answers.append(_Answer(request.mode, [], SearchFailure(request.bucket, str(late)), late))
    return answers


async def _own(index: Index, request: SearchRequest, searcher: Searcher, seconds: float) -> _Answer:
    """Return the answer of a searcher of the user's own, of the index when it fails: strict mode has nothing to refuse."""
    try:
        return _Answer(request.mode, await searcher.search(index, request, seconds), None, None)
    except CitegraphError as error:
        answer = await _one(index, request, None)
        failure = answer.failure or SearchFailure(request.bucket, str(error), "index")
        return answer._replace(failure=failure)


async def _one(index: Index, request: SearchRequest, cached: SearchCache | None) -> _Answer:
    try:
        hits, known = await _found(index, request, cached)
        return _Answer(request.mode, hits, None, None, known)
    except CitegraphError as error:
        failure = SearchFailure(request.bucket, str(error))
        for mode in _OTHERS[request.mode]:
            try:
                hits, known = await _found(index, replace(request, mode=mode), cached)
            except CitegraphError:
                continue
            return _Answer(mode, hits, replace(failure, fallback=mode), error, known)
        return _Answer(request.mode, [], failure, error)


async def _found(index: Index, request: SearchRequest, cached: SearchCache | None) -> tuple[list[Hit], bool]:
    """Return the hits of one request, and whether they were kept from before."""
    if cached is None:
        return await _levels(index, request), False
    # The key is made before the search: what an ingest changes meanwhile is kept under a version that has passed.
    key = await cached.key(request)
    kept = cached.get(key)
    if kept is not None:
        return kept, True
    hits = await _levels(index, request)
    cached.put(key, hits)
    return hits, False


async def _levels(index: Index, request: SearchRequest) -> list[Hit]:
    """Search all chunks and, where there are summaries, those inside the best sections as well."""
    if not request.sections:
        return await index.search(request)
    # A summary carries no identifier and repeats no phrase: the chunks inside are held against both.
    looked = replace(request, summaries=True, limit=request.sections, phrases=(), identifiers=())
    best = [hit.chunk for hit in await index.search(looked)]
    if not best:
        return await index.search(request)
    deeper = replace(request, filter_json=joined(request.filter_json, inside(best)))
    everywhere, within = await asyncio.gather(index.search(request), index.search(deeper))
    return fused(everywhere, within, rank_constant=RRF_K, identifiers=request.identifiers)


_OTHERS: dict[Mode, tuple[Mode, ...]] = {
    "hybrid": ("keyword", "semantic"),
    "semantic": ("keyword",),
    "keyword": ("semantic",),
}
"""What answers in place of a mode that failed, in order."""


def _merged(answers: Sequence[_Answer]) -> list[Hit]:
    """Return all hits by falling score; equal ones by similarity, then in the order of the requests."""
    lists = [answer.hits for answer in answers]
    if len({answer.mode for answer in answers if answer.hits}) > 1:
        # BM25 weights, cosines and fused ranks have nothing in common but their order.
        lists = [
            [replace(hit, score=1 / (RRF_K + rank)) for rank, hit in enumerate(hits, 1)] for hits in lists
        ]
    hits = [hit for hits in lists for hit in hits]
    return sorted(hits, key=lambda hit: (-hit.score, -(hit.similarity or 0.0)))


def deduplicated(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits without repetitions, in their order; the one with the higher score stays.

    Three layers: the same chunk; the same text anywhere; the same text but for case and blanks from
    the same file. What a repetition knows (`tools`, `similarity`) is kept.
    """
    place: dict[tuple[str, ...], int] = {}
    kept: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: -hit.score):
        chunk = hit.chunk
        keys = [
            ("chunk", chunk.chunk_id),
            ("content", chunk.content_hash),
            ("source", chunk.source_file, fold(chunk.text)),
        ]
        known = next((place[key] for key in keys if key in place), None)
        if known is None:
            known = len(kept)
            kept.append(hit)
        elif chunk.chunk_id == kept[known].chunk.chunk_id:
            kept[known] = _joined(kept[known], hit)
        for key in keys:
            place.setdefault(key, known)
    return kept


def _joined(hit: Hit, repetition: Hit) -> Hit:
    tools = tuple(dict.fromkeys((*hit.tools, *repetition.tools)))
    similarity = hit.similarity if hit.similarity is not None else repetition.similarity
    return replace(hit, tools=tools, similarity=similarity)


MOST_IDS = 5_000
"""Documents that a search names one by one; where more match, the index tests the fields of each chunk."""


def narrowing(annotations: AnnotationStore, bucket: str, filters: Filters) -> FilterJSON | None:
    """Return what keeps a search to the documents that match checked filters, None without filters; blocking.

    SQL knows them at once: by their ids the index needs to know no field of a small bucket.
    """
    if not filters:
        return None
    by_two = any(other_field(clause) for item in filters for clause in clauses_in(item))
    found = annotations.document_ids(bucket, filters, limit=None if by_two else MOST_IDS + 1)
    if by_two or len(found) <= MOST_IDS:
        return documents_condition(found)
    return to_qdrant(annotations.buckets[bucket], filters)


@dataclass(frozen=True, slots=True)
class TermWeights:
    """Content words of a question with their rarity in one bucket.

    Attributes:
        counts: word -> number of chunks that hold it (0: the bucket does not know the word).
        total: chunks in the bucket.
    """

    counts: Mapping[str, int]
    total: int
    language: str = "en"

    def weight(self, word: str) -> float:
        """Return the inverse document frequency (Robertson-Sparck Jones with +1, never negative)."""
        count = self.counts.get(word, 0)
        return math.log(1 + (self.total - count + 0.5) / (count + 0.5))

    def coverage(self, text: str, among: Iterable[str] | None = None) -> float:
        """Return the share (0 to 1) of the question's rarity that `text` holds, by stems.

        `among` limits it to some of the words; 0.0 when there are none.
        """
        chosen = list(self.counts if among is None else among)
        whole = sum(self.weight(word) for word in chosen)
        if not whole:
            return 0.0
        held = stems(text, self.language)
        found = sum(self.weight(word) for word in chosen if stem(word, self.language) in held)
        return found / whole

    def unknown(self) -> list[str]:
        """Return the words that no chunk holds."""
        return [word for word, count in self.counts.items() if not count]


async def term_weights(index: Index, bucket: str, question: str, language: str = "en") -> TermWeights:
    """Count, in the index, the chunks that hold each content word of `question` (as written, lower case)."""
    chosen = content_words(question)
    written = {bare(raw): raw.lower() for raw in WORD.findall(question)}
    total, *counts = await index.counts(bucket, [None, *(holds(written.get(word, word)) for word in chosen)])
    return TermWeights(dict(zip(chosen, counts, strict=True)), total, language)


def holds(word: str) -> dict[str, Any]:
    """Return the filter for chunks whose text holds `word` as a token."""
    return {"must": [{"key": "text", "match": {"text": word}}]}


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
