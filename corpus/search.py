"""Searches several buckets at once: one time limit, strict or partial, duplicates removed, reranked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from corpus.fields import fold
from corpus.index import RRF_K, Index, Mode, SearchRequest
from corpus.rerank import Reranker
from corpus.types import Hit
from llm.errors import CitegraphError, TimedOut


@dataclass(frozen=True, slots=True)
class SearchFailure:
    """A bucket whose search failed, wholly or in part.

    Attributes:
        bucket: empty when the reranking failed.
        reason: one line, safe to show.
        fallback: the mode that answered instead; None when the bucket gave nothing.
    """

    bucket: str
    reason: str
    fallback: Mode | None = None


class SearchResult(NamedTuple):
    """Hits of all buckets, best first, and the buckets that failed."""

    hits: list[Hit]
    failed: list[SearchFailure]


class _Answer(NamedTuple):
    mode: Mode
    hits: list[Hit]
    failure: SearchFailure | None
    error: CitegraphError | None


async def search_buckets(
    index: Index,
    requests: Sequence[SearchRequest],
    *,
    timeout: float = 5.0,
    strict: bool = False,
    reranker: Reranker | None = None,
) -> SearchResult:
    """Run all requests in parallel and merge their hits, best first.

    Without its vectors (embedding endpoint down) a bucket is searched by keyword, without its keyword index by
    meaning, and `failed` says so.

    Args:
        timeout: seconds for all requests together.
        strict: raise the first failure, partial ones included, instead of reporting it.
        reranker: reorders the merged hits; when it fails their order stands.

    Raises:
        CitegraphError: only when strict.
    """
    answers = await _all(index, requests, timeout)
    for answer in answers:
        if strict and answer.error is not None:
            raise answer.error
    hits = deduplicated(_merged(answers))
    failed = [answer.failure for answer in answers if answer.failure is not None]
    if reranker is not None and hits:
        try:
            hits = await reranker.rerank(requests[0].query, hits)
        except CitegraphError as error:
            if strict:
                raise
            failed.append(SearchFailure("", f"reranking failed: {error}"))
    return SearchResult(hits, failed)


async def _all(index: Index, requests: Sequence[SearchRequest], seconds: float) -> list[_Answer]:
    tasks = [asyncio.create_task(_one(index, request)) for request in requests]
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


async def _one(index: Index, request: SearchRequest) -> _Answer:
    try:
        return _Answer(request.mode, await index.search(request), None, None)
    except CitegraphError as error:
        failure = SearchFailure(request.bucket, str(error))
        for mode in _OTHERS[request.mode]:
            try:
                hits = await index.search(replace(request, mode=mode))
            except CitegraphError:
                continue
            return _Answer(mode, hits, replace(failure, fallback=mode), error)
        return _Answer(request.mode, [], failure, error)


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
