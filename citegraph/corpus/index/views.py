"""Views of an index: one that counts writes and keeps searches, one that shows what a principal may see."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import asdict, replace
from typing import Any, Generic, TypeVar

from cachetools import TTLCache

from citegraph.corpus.filters.qdrant_filter import FilterJSON
from citegraph.corpus.index.collection_record import joined
from citegraph.corpus.index.index_protocol import Forwarded, Index, SearchRequest
from citegraph.corpus.records.access import LABELS_KEY, Principal
from citegraph.corpus.records.database import IndexVersions
from citegraph.corpus.records.documents import DocumentStore
from citegraph.corpus.records.left_out import LeftOutStore
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Chunk, Hit
from citegraph.errors import CitegraphError

V = TypeVar("V")

SECONDS = 3600.0
"""A kept result is forgotten after an hour, though nothing but a write makes it wrong."""
CHARACTERS = 32_000_000
"""Text that all kept searches may hold together."""
MOST_LEFT_OUT = 1_000
"""Hits beyond those wanted that a search of a bucket with passages left out asks for at most."""
COUNTS = 50_000
"""Counts of words that are kept: the words of some thousand questions."""


class ExactCache(Generic[V]):
    """Values by key within a total size; what does not fit is not kept.

    Args:
        size: sum of what `weigh` returns for the values kept; entries without it. 0 keeps nothing.
    """

    def __init__(self, size: int, *, weigh: Callable[[V], int] | None = None) -> None:
        self._kept: TTLCache[Hashable, V] = TTLCache(size, SECONDS, getsizeof=weigh)
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> V | None:
        """Return the value of a key, None when there is none."""
        with self._lock:
            return self._kept.get(key)

    def put(self, key: Hashable, value: V) -> None:
        """Keep a value, dropping the least recently used ones when there is no room."""
        with self._lock:
            weight = self._kept.getsizeof(value)
            if weight <= self._kept.maxsize:
                self._kept[key] = value


class SearchCache:
    """Hits of one bucket's searches by the exact request and the version of the bucket's index.

    A write of the index changes its version, so that nothing older is found afterwards, in any process.

    Args:
        version_of: returns the version of a bucket's index, None when nothing of it is kept; blocking, may raise
            CitegraphError.
    """

    def __init__(self, version_of: Callable[[str], int | None]) -> None:
        self._version_of = version_of
        self._kept: ExactCache[tuple[Hit, ...]] = ExactCache(CHARACTERS, weigh=_characters)

    async def key(self, request: SearchRequest) -> Hashable | None:
        """Return the key of a request as the index is now; None when no version tells."""
        try:
            version = await asyncio.to_thread(self._version_of, request.bucket)
        except CitegraphError:
            return None
        if version is None:
            return None
        return version, json.dumps(asdict(request), sort_keys=True, default=str)

    def get(self, key: Hashable | None) -> list[Hit] | None:
        """Return the kept hits of a key, None when there are none."""
        kept = None if key is None else self._kept.get(key)
        return None if kept is None else list(kept)

    def put(self, key: Hashable | None, hits: Sequence[Hit]) -> None:
        """Keep the hits that were found after `key` was made."""
        if key is not None:
            self._kept.put(key, tuple(hits))


Counted = Callable[[str, Sequence[FilterJSON | None]], Awaitable[list[int]]]
"""`Index.counts`."""


class CountCache:
    """How many chunks match a filter, by the exact filter and the version of the bucket's index.

    A run counts the words of its question in several steps, and questions share words. A principal's access is
    part of the filter.

    Args:
        version_of: as for `SearchCache`.
    """

    def __init__(self, version_of: Callable[[str], int | None]) -> None:
        self._version_of = version_of
        self._kept: ExactCache[int] = ExactCache(COUNTS)

    async def of(self, bucket: str, filters: Sequence[FilterJSON | None], counted: Counted) -> list[int]:
        """Return the counts, asking `counted` for those alone that are not kept."""
        try:
            version = await asyncio.to_thread(self._version_of, bucket)
        except CitegraphError:
            version = None
        if version is None:
            return await counted(bucket, filters)
        keys = [(bucket, version, json.dumps(one, sort_keys=True)) for one in filters]
        found = {key: count for key in keys if (count := self._kept.get(key)) is not None}
        missing = {key: one for key, one in zip(keys, filters, strict=True) if key not in found}
        if missing:
            fresh = dict(zip(missing, await counted(bucket, list(missing.values())), strict=True))
            for key, count in fresh.items():
                self._kept.put(key, count)
            found |= fresh
        return [found[key] for key in keys]


def _characters(hits: Sequence[Hit]) -> int:
    return sum(len(hit.chunk.text) for hit in hits) + 1


WRITES = {"upsert", "set_metadata", "delete_documents", "drop", "optimize"}
"""The calls that change what a bucket holds or how it is ranked; `ensure` makes an empty collection at most."""


class IndexView(Forwarded):
    """An `Index` that hands every call to another one; a view overrides what it sees or does differently.

    Every change of a bucket goes through `writing`.
    """

    def __init__(self, inner: Index) -> None:
        self.inner = inner

    def writing(self, bucket: str) -> AbstractAsyncContextManager[Any]:
        """Hold while a bucket is written to."""
        return nullcontext()

    async def forward(self, method: str, *given: Any) -> Any:
        """Hand the call on."""
        async with self.writing(given[0]) if method in WRITES else nullcontext():
            return await getattr(self.inner, method)(*given)


class VersionedIndex(IndexView):
    """A view whose writes raise their bucket's version, before they begin and when they have ended.

    Before, so that nothing kept is found while the write goes on; after, so that what was found meanwhile is not
    found any more. What people left out (`left_out`) is read by nobody; `inner` has it still.
    """

    def __init__(
        self, inner: Index, versions: IndexVersions, left_out: LeftOutStore, *, cache: bool = True
    ) -> None:
        """Keep searches and counts with `cache`."""
        super().__init__(inner)
        self._versions = versions
        self.left_out = left_out
        self._known: dict[str, frozenset[tuple[str, str]]] = {}
        self.searches = SearchCache(self._versions.of) if cache else None
        self._counts = CountCache(self._versions.of) if cache else None

    @asynccontextmanager
    async def writing(self, bucket: str) -> AsyncIterator[None]:
        """Hold while a bucket is written to, between two versions."""
        await asyncio.to_thread(self._versions.raise_, bucket)
        try:
            yield
        finally:
            await asyncio.to_thread(self._versions.raise_, bucket)

    async def search(self, request: SearchRequest) -> list[Hit]:
        """See `Index.search`."""
        out = await self._out(request.bucket)
        if not out:
            return await self.inner.search(request)
        more = min(len(out), MOST_LEFT_OUT)
        wider = replace(request, limit=request.limit + more, candidates=request.candidates + more)
        hits = [hit for hit in await self.inner.search(wider) if _key(hit.chunk) not in out]
        return hits[: request.limit]

    async def document_chunks(self, bucket: str, doc_id: str) -> list[Chunk]:
        """See `Index.document_chunks`."""
        return await self._kept(bucket, await self.inner.document_chunks(bucket, doc_id))

    async def retrieve(self, bucket: str, chunk_ids: Sequence[str]) -> list[Chunk]:
        """See `Index.retrieve`."""
        return await self._kept(bucket, await self.inner.retrieve(bucket, chunk_ids))

    async def _out(self, bucket: str) -> frozenset[tuple[str, str]]:
        """Return what is left out of a bucket; while the database does not answer, what was when it last did."""
        with suppress(CitegraphError):
            self._known[bucket] = await asyncio.to_thread(self.left_out.of_bucket, bucket)
        return self._known.get(bucket, frozenset())

    async def _kept(self, bucket: str, chunks: list[Chunk]) -> list[Chunk]:
        out = await self._out(bucket)
        return [chunk for chunk in chunks if _key(chunk) not in out]

    async def counts(self, bucket: str, filters: Sequence[FilterJSON | None]) -> list[int]:
        """See `Index.counts`; what was counted since the last write is kept."""
        if self._counts is None:
            return await self.inner.counts(bucket, filters)
        return await self._counts.of(bucket, filters, self.inner.counts)


def _key(chunk: Chunk) -> tuple[str, str]:
    return chunk.doc_id, chunk.content_hash


def index_condition(principal: Principal) -> FilterJSON | None:
    """Return the filter of chunks that may be seen, by document and by the labels in their payload; None when all may."""
    chosen: FilterJSON | None = None
    if principal.documents is not None:
        chosen = {"must": [{"key": "doc_id", "match": {"any": sorted(principal.documents)}}]}
    if principal.labels is None:
        return chosen
    unlabelled: FilterJSON = {"is_empty": {"key": LABELS_KEY}}
    allowed: FilterJSON = {"key": LABELS_KEY, "match": {"any": sorted(principal.labels)}}
    return joined(chosen, {"should": [unlabelled, allowed] if principal.labels else [unlabelled]})


class SeenIndex(IndexView):
    """A view for reading as one principal sees it; nothing can be written through it.

    The engine counts words (IDF) over the seen chunks alone, so that ranks do not tell of others. What comes
    back is held against the labels in SQL once more: they are the ones that count while an ingest changes them.
    """

    def __init__(self, index: Index, documents: DocumentStore, principal: Principal) -> None:
        super().__init__(index)
        self._documents = documents
        self._principal = principal

    def writing(self, bucket: str) -> AbstractAsyncContextManager[Any]:
        """Refuse."""
        raise NotImplementedError("the corpus as a principal sees it is for reading")

    async def ensure(self, bucket: Bucket) -> None:
        """Refuse."""
        self.writing(bucket.name)

    async def search(self, request: SearchRequest) -> list[Hit]:
        """See `Index.search`."""
        if not self._principal.may_see(request.bucket):
            return []
        hits = await self.inner.search(replace(request, access=index_condition(self._principal)))
        seen = await self._seen(hit.chunk.doc_id for hit in hits)
        return [hit for hit in hits if hit.chunk.doc_id in seen]

    async def document_chunks(self, bucket: str, doc_id: str) -> list[Chunk]:
        """See `Index.document_chunks`."""
        seen = self._principal.may_see(bucket) and await self._seen([doc_id])
        return await self.inner.document_chunks(bucket, doc_id) if seen else []

    async def retrieve(self, bucket: str, chunk_ids: Sequence[str]) -> list[Chunk]:
        """See `Index.retrieve`."""
        if not self._principal.may_see(bucket):
            return []
        chunks = await self.inner.retrieve(bucket, chunk_ids)
        seen = await self._seen(chunk.doc_id for chunk in chunks)
        return [chunk for chunk in chunks if chunk.doc_id in seen]

    async def count(self, bucket: str, filter_json: FilterJSON | None = None) -> int:
        """See `Index.count`."""
        return (await self.counts(bucket, [filter_json]))[0]

    async def counts(self, bucket: str, filters: Sequence[FilterJSON | None]) -> list[int]:
        """See `Index.counts`."""
        if not self._principal.may_see(bucket):
            return [0] * len(filters)
        seen = index_condition(self._principal)
        return await self.inner.counts(bucket, [joined(one, seen) for one in filters])

    async def close(self) -> None:
        """Leave the index open: it belongs to everyone."""

    async def _seen(self, doc_ids: Iterable[str]) -> set[str]:
        ids = list(dict.fromkeys(doc_ids))
        return set(await asyncio.to_thread(self._documents.records, ids)) if ids else set()
