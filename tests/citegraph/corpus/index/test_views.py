"""Results are kept by their exact key, within bounds, and never after a write of the index."""

import asyncio
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citegraph.corpus.index.index_protocol import Index, SearchRequest
from citegraph.corpus.index.searcher import search_buckets
from citegraph.corpus.index.views import ExactCache, SearchCache, VersionedIndex
from citegraph.corpus.records.database import IndexVersions
from citegraph.corpus.records.left_out import LeftOutStore
from citegraph.corpus.schema.document import Hit
from citegraph.errors import Unavailable
from tests.citegraph.corpus.index.test_searcher import ScriptedIndex, hit

REQUEST = SearchRequest("letters", "ferry")


class Shelf:
    """An index that holds the names of chunks and finds all of them."""

    def __init__(self) -> None:
        self.held: list[str] = []
        self.searches = 0
        self.counted: list[Any] = []

    async def counts(self, bucket: str, filters: Sequence[Any]) -> list[int]:
        self.counted += filters
        return [len(self.held) + (one or 0) for one in filters]

    async def search(self, request: SearchRequest) -> list[Hit]:
        self.searches += 1
        return [hit(name, 1.0 - place / 100) for place, name in enumerate(self.held)]

    async def upsert(self, bucket: str, chunks: Sequence[Any], metadata: Any) -> None:
        self.held += chunks

    async def delete_documents(self, bucket: str, doc_ids: Sequence[str]) -> None:
        self.held = [name for name in self.held if name not in doc_ids]

    async def set_metadata(self, bucket: str, metadata: Any) -> None:
        self.held = [*self.held[1:], *self.held[:1]]

    async def optimize(self, bucket: str) -> None:
        self.held.reverse()

    async def drop(self, bucket: str) -> None:
        self.held = []


def shelf(folder: Path) -> tuple[Shelf, VersionedIndex, IndexVersions]:
    url = f"sqlite:///{folder / 'versions.sqlite'}"
    versions, inner = IndexVersions(url), Shelf()
    return inner, VersionedIndex(inner, versions, LeftOutStore(url)), versions  # type: ignore[arg-type]


async def found(index: Index, cache: SearchCache, **changed: Any) -> tuple[list[str], int]:
    request = replace(REQUEST, **changed)
    result = await search_buckets(index, [request], cached=cache)
    return [one.chunk.chunk_id for one in result.hits], result.cache_hits


async def test_the_same_request_is_answered_once_and_any_difference_is_another(tmp_path: Path) -> None:
    inner, index, versions = shelf(tmp_path)
    await index.upsert("letters", ["a"], {})  # type: ignore[list-item]
    cache = SearchCache(versions.of)
    assert await found(index, cache) == (["a"], 0)
    assert await found(index, cache) == (["a"], 1)
    assert inner.searches == 1
    others: dict[str, Any] = {
        "bucket": "invoices",
        "query": "Ferry",
        "mode": "keyword",
        "filter_json": {"must": []},
        "doc_ids": ("d",),
        "phrases": ("p",),
        "identifiers": ("i",),
        "limit": 11,
        "candidates": 99,
        "access": {"must": []},
        "summaries": True,
        "sections": 20,
    }
    assert set(others) == {field.name for field in fields(SearchRequest)}, "every field parts the cache"
    for name, value in others.items():
        assert (await found(index, cache, **{name: value}))[1] == 0, name


async def test_a_filter_is_counted_once_until_the_next_write(tmp_path: Path) -> None:
    inner, index, versions = shelf(tmp_path)
    await index.upsert("letters", ["a"], {})  # type: ignore[list-item]
    asked: Any = [None, 10, 10, 20]
    assert await index.counts("letters", asked) == [1, 11, 11, 21]
    assert await index.counts("letters", [20, None, 30]) == [21, 1, 31]  # type: ignore[list-item]
    assert inner.counted == [None, 10, 20, 30], "each filter once"
    assert await index.counts("invoices", [None]) == [1]
    assert inner.counted == [None, 10, 20, 30, None], "a bucket's counts are its own"
    await index.upsert("letters", ["b"], {})  # type: ignore[list-item]
    assert await index.counts("letters", asked) == [2, 12, 12, 22]
    uncached = VersionedIndex(inner, versions, index.left_out, cache=False)  # type: ignore[arg-type]
    assert [await uncached.counts("letters", [None]) for _ in "ab"] == [[2], [2]]
    assert inner.counted[-2:] == [None, None]


async def test_what_is_left_out_is_found_by_no_search_and_leaves_no_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner, index, _ = shelf(tmp_path)
    inner.held = ["a", "b", "c", "d"]
    assert index.searches is not None
    first = await found(index, index.searches, limit=2)
    away = hit("a", 1.0).chunk
    async with index.writing("letters"):
        index.left_out.leave_out("letters", away.doc_id, away.content_hash, "ana")
    assert await found(index, index.searches, limit=2) == (["b", "c"], 0)
    assert await found(index, index.searches, bucket="invoices") == (["a", "b", "c", "d"], 0)

    def down(bucket: str) -> frozenset[tuple[str, str]]:
        raise Unavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(index.left_out, "of_bucket", down)
        assert [one.chunk.chunk_id for one in await index.search(REQUEST)] == ["b", "c", "d"]
    async with index.writing("letters"):
        index.left_out.put_back(away.doc_id, away.content_hash)
    assert (await found(index, index.searches, limit=2))[0] == first[0]


WRITES = st.lists(
    st.sampled_from(["upsert", "delete", "metadata", "optimize", "drop", "search"]), max_size=12
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(writes=WRITES)
def test_after_any_writes_a_search_finds_what_the_index_holds(
    writes: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    inner, index, versions = shelf(tmp_path_factory.mktemp("versions"))
    # Another process has a cache of its own over the same database.
    caches = [SearchCache(versions.of), SearchCache(versions.of)]

    async def run() -> None:
        for number, write in enumerate(writes):
            if write == "upsert":
                await index.upsert("letters", [f"c{number}"], {})  # type: ignore[list-item]
            elif write == "delete":
                await index.delete_documents("letters", inner.held[:1])
            elif write == "metadata":
                await index.set_metadata("letters", {})
            elif write in {"optimize", "drop"}:
                await getattr(index, write)("letters")
            for cache in caches:
                assert (await found(index, cache))[0] == inner.held

    asyncio.run(run())


async def test_what_was_found_while_a_write_went_on_is_not_kept(tmp_path: Path) -> None:
    inner, index, versions = shelf(tmp_path)
    cache = SearchCache(versions.of)
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slowly(bucket: str, chunks: Sequence[Any], metadata: Any) -> None:
        begun.set()
        await go_on.wait()
        inner.held += chunks

    inner.upsert = slowly  # type: ignore[method-assign]
    write = asyncio.create_task(index.upsert("letters", ["late"], {}))  # type: ignore[list-item]
    await begun.wait()
    assert await found(index, cache) == ([], 0)
    go_on.set()
    await write
    assert await found(index, cache) == (["late"], 0)


async def test_failures_are_not_kept_and_no_version_means_no_cache(
    tmp_path: Path,
) -> None:
    versions = IndexVersions(f"sqlite:///{tmp_path / 'v.sqlite'}")
    index: Any = ScriptedIndex(
        {("letters", "hybrid"): Unavailable("no vectors"), ("letters", "keyword"): [hit("k", 1.0)]}
    )
    cache = SearchCache(versions.of)
    first = await search_buckets(index, [REQUEST], cached=cache)
    again = await search_buckets(index, [REQUEST], cached=cache)
    assert first.failed == again.failed != []
    assert again.cache_hits == 1, "the keyword search that stood in is an exact result of its own"

    def gone(bucket: str) -> int:
        raise Unavailable("the database is away")

    assert (await search_buckets(index, [REQUEST], cached=SearchCache(gone))).cache_hits == 0


async def test_versions_rise_in_several_processes_at_once(tmp_path: Path) -> None:
    _, _, versions = shelf(tmp_path)
    assert versions.of("letters") == 0
    await asyncio.gather(*(asyncio.to_thread(versions.raise_, "letters") for _ in range(6)))
    assert (versions.of("letters"), versions.of("invoices")) == (6, 0)


def test_an_exact_cache_has_bounds() -> None:
    cache: ExactCache[str] = ExactCache(5, weigh=len)
    cache.put("a", "123")
    cache.put("b", "45")
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ("123", "45", None)
    cache.put("c", "678")
    assert cache.get("c") == "678"
    assert [key for key in "ab" if cache.get(key)] != ["a", "b"]
    cache.put("long", "123456")
    assert cache.get("long") is None
    off: ExactCache[str] = ExactCache(0)
    off.put("a", "x")
    assert off.get("a") is None
