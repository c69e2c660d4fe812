"""Several buckets at once: time limit, strict and partial mode, fallback, duplicates, order."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from citegraph.corpus.index.index_protocol import Mode, SearchRequest
from citegraph.corpus.index.searcher import SearchFailure, deduplicated, search_buckets
from citegraph.corpus.schema.document import Chunk, Hit
from citegraph.errors import CitegraphError, Rejected, TimedOut, Unavailable


def hit(chunk_id: str, score: float, text: str = "", **given: Any) -> Hit:
    text = text or f"text of {chunk_id}"
    fields = {"doc_id": f"doc-{chunk_id}", "source_file": f"{chunk_id}.txt", "content_hash": f"hash {text}"}
    similarity = given.pop("similarity", None)
    tools = given.pop("tools", ())
    chunk = Chunk(
        chunk_id=chunk_id,
        bucket="letters",
        ordinal=0,
        text=text,
        start=0,
        end=len(text),
        **{**fields, **given},
    )
    return Hit(chunk, score, similarity, tools)


class ScriptedIndex:
    """Answers each (bucket, mode) with what it was given: hits, an error, or a delay in seconds."""

    def __init__(self, answers: Mapping[tuple[str, str], Sequence[Hit] | CitegraphError | float]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, str]] = []

    async def search(self, request: SearchRequest) -> list[Hit]:
        self.asked.append((request.bucket, request.mode))
        answer = self.answers[request.bucket, request.mode]
        if isinstance(answer, CitegraphError):
            raise answer
        if isinstance(answer, float):
            await asyncio.sleep(answer)
            return []
        return list(answer)


class Backwards:
    """A reranker that turns the order round, or fails."""

    def __init__(self, error: CitegraphError | None = None) -> None:
        self.error = error

    async def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        if self.error:
            raise self.error
        return list(reversed(hits))


def ask(*buckets: str, mode: Any = "hybrid") -> list[SearchRequest]:
    return [SearchRequest(bucket, "ferry", mode) for bucket in buckets]


async def run(index: ScriptedIndex, requests: list[SearchRequest], **given: Any) -> tuple[list[str], Any]:
    hits, failed, _ = await search_buckets(index, requests, **given)  # type: ignore[arg-type]
    return [hit.chunk.chunk_id for hit in hits], failed


async def test_hits_of_all_buckets_by_score_then_similarity() -> None:
    index = ScriptedIndex(
        {
            ("a", "hybrid"): [hit("a1", 0.03, similarity=0.2), hit("a2", 0.01)],
            ("b", "hybrid"): [hit("b1", 0.03, similarity=0.6), hit("b2", 0.02)],
        }
    )
    assert await run(index, ask("a", "b")) == (["b1", "a1", "b2", "a2"], [])
    assert await run(index, []) == ([], [])


async def test_buckets_run_in_parallel_under_one_limit() -> None:
    index = ScriptedIndex({("a", "hybrid"): [hit("a1", 1.0)], ("b", "hybrid"): 30.0, ("c", "hybrid"): 30.0})
    hits, failed = await run(index, ask("b", "a", "c"), timeout=0.05)
    assert hits == ["a1"]
    reason = "The search in bucket 'b' took longer than 0.05 seconds."
    assert failed == [SearchFailure("b", reason), SearchFailure("c", reason.replace("'b'", "'c'"))]
    with pytest.raises(TimedOut, match="bucket 'b'"):
        await run(index, ask("b", "a"), timeout=0.05, strict=True)


async def test_partial_names_the_bucket_and_strict_raises() -> None:
    index = ScriptedIndex(
        {
            ("a", "keyword"): [hit("a1", 1.0)],
            ("b", "keyword"): Rejected("b is broken"),
            ("b", "semantic"): Rejected("b is broken"),
        }
    )
    requests = ask("a", "b", mode="keyword")
    assert await run(index, requests) == (["a1"], [SearchFailure("b", "b is broken")])
    with pytest.raises(Rejected, match="b is broken"):
        await run(index, requests, strict=True)


async def test_without_vectors_a_bucket_is_searched_by_keyword() -> None:
    index = ScriptedIndex(
        {
            ("a", "hybrid"): Unavailable("no vectors"),
            ("a", "keyword"): [hit("a1", 14.0), hit("a2", 9.0)],
            ("b", "hybrid"): [hit("b1", 0.033)],
            ("c", "hybrid"): Unavailable("c is down"),
            ("c", "keyword"): Unavailable("c is still down"),
            ("c", "semantic"): Unavailable("c is down for good"),
        }
    )
    hits, failed = await run(index, ask("a", "b", "c"))
    assert hits == ["a1", "b1", "a2"]  # by rank: 14.0 and 0.033 are no common scale
    assert failed == [SearchFailure("a", "no vectors", "keyword"), SearchFailure("c", "c is down")]
    with pytest.raises(Unavailable, match="no vectors"):
        await run(index, ask("a"), strict=True)


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
async def test_without_keywords_a_bucket_is_searched_by_meaning(mode: Mode) -> None:
    gone = Unavailable("no keywords")
    index = ScriptedIndex(
        {("a", "hybrid"): gone, ("a", "keyword"): gone, ("a", "semantic"): [hit("a1", 0.7)]}
    )
    assert await run(index, ask("a", mode=mode)) == (["a1"], [SearchFailure("a", "no keywords", "semantic")])
    with pytest.raises(Unavailable, match="no keywords"):
        await run(index, ask("a", mode=mode), strict=True)


async def test_reranking_comes_last_and_may_fail() -> None:
    index = ScriptedIndex({("a", "hybrid"): [hit("a1", 2.0), hit("a2", 1.0), hit("a1", 0.5)]})
    assert await run(index, ask("a"), reranker=Backwards()) == (["a2", "a1"], [])
    hits, failed = await run(index, ask("a"), reranker=Backwards(Unavailable("asleep")))
    assert hits == ["a1", "a2"]
    assert failed == [SearchFailure("", "reranking failed: asleep")]
    with pytest.raises(Unavailable):
        await run(index, ask("a"), reranker=Backwards(Unavailable("asleep")), strict=True)


def test_three_layers_of_duplicates() -> None:
    hits = [
        hit("one", 5.0, "The ferry", tools=("search_text",)),
        hit("two", 4.0, "Another"),
        hit("one", 9.0, "The ferry", tools=("search_semantic",), similarity=0.5),
        hit("three", 3.0, "Another"),
        hit("four", 2.0, "The  FERRY", source_file="one.txt"),
        hit("five", 1.0, "The  FERRY", source_file="elsewhere.txt", content_hash="other"),
    ]
    kept = deduplicated(hits)
    assert [(h.chunk.chunk_id, h.score) for h in kept] == [("one", 9.0), ("two", 4.0), ("five", 1.0)]
    assert kept[0].tools == ("search_semantic", "search_text")
    assert kept[0].similarity == 0.5
    assert deduplicated(kept) == kept
    assert deduplicated([]) == []
