"""Views of an index: one that counts writes and keeps searches, one that shows what a principal may see."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from citegraph.corpus.filters.qdrant_filter import FilterJSON
from citegraph.corpus.index.caching import CountCache, SearchCache
from citegraph.corpus.index.encoding import NOTHING_READY, Encoded
from citegraph.corpus.index.index_protocol import Index, SearchRequest
from citegraph.corpus.records.access import LABELS_KEY, Principal
from citegraph.corpus.records.documents import DocumentStore
from citegraph.corpus.records.versions import IndexVersions
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Chunk, Hit


class VersionedIndex:
    """An `Index` whose writes raise their bucket's version, before they begin and when they have ended.

    Before, so that nothing kept is found while the write goes on; after, so that what was found meanwhile is not
    found any more.
    """

    def __init__(self, inner: Index, versions: IndexVersions, *, cache: bool = True) -> None:
        """Keep searches and counts with `cache`."""
        self.inner = inner
        self._versions = versions
        self.searches = SearchCache(self._versions.of) if cache else None
        self._counts = CountCache(self._versions.of) if cache else None

    @asynccontextmanager
    async def _write(self, bucket: str) -> AsyncIterator[Index]:
        await asyncio.to_thread(self._versions.raise_, bucket)
        try:
            yield self.inner
        finally:
            await asyncio.to_thread(self._versions.raise_, bucket)

    async def ensure(self, bucket: Bucket) -> None:
        """See `Index.ensure`; an empty collection changes no result."""
        await self.inner.ensure(bucket)

    async def upsert(
        self,
        bucket: str,
        chunks: Sequence[Chunk],
        metadata: Mapping[str, Mapping[str, Any]],
        ready: Mapping[str, Encoded] = NOTHING_READY,
    ) -> None:
        """See `Index.upsert`."""
        async with self._write(bucket) as inner:
            await inner.upsert(bucket, chunks, metadata, ready)

    async def set_metadata(self, bucket: str, metadata: Mapping[str, Mapping[str, Any]]) -> None:
        """See `Index.set_metadata`."""
        async with self._write(bucket) as inner:
            await inner.set_metadata(bucket, metadata)

    async def delete_documents(self, bucket: str, doc_ids: Sequence[str]) -> None:
        """See `Index.delete_documents`."""
        async with self._write(bucket) as inner:
            await inner.delete_documents(bucket, doc_ids)

    async def drop(self, bucket: str) -> None:
        """See `Index.drop`."""
        async with self._write(bucket) as inner:
            await inner.drop(bucket)

    async def optimize(self, bucket: str) -> None:
        """See `Index.optimize`; it may change the scores."""
        async with self._write(bucket) as inner:
            await inner.optimize(bucket)

    async def search(self, request: SearchRequest) -> list[Hit]:
        """See `Index.search`."""
        return await self.inner.search(request)

    async def document_chunks(self, bucket: str, doc_id: str) -> list[Chunk]:
        """See `Index.document_chunks`."""
        return await self.inner.document_chunks(bucket, doc_id)

    async def retrieve(self, bucket: str, chunk_ids: Sequence[str]) -> list[Chunk]:
        """See `Index.retrieve`."""
        return await self.inner.retrieve(bucket, chunk_ids)

    async def count(self, bucket: str, filter_json: FilterJSON | None = None) -> int:
        """See `Index.count`."""
        return await self.inner.count(bucket, filter_json)

    async def counts(self, bucket: str, filters: Sequence[FilterJSON | None]) -> list[int]:
        """See `Index.counts`; what was counted since the last write is kept."""
        if self._counts is None:
            return await self.inner.counts(bucket, filters)
        return await self._counts.of(bucket, filters, self.inner.counts)

    async def facet(
        self, bucket: str, key: str, filter_json: FilterJSON | None = None, limit: int = 10
    ) -> list[tuple[str, int]]:
        """See `Index.facet`."""
        return await self.inner.facet(bucket, key, filter_json, limit)

    async def close(self) -> None:
        """See `Index.close`."""
        await self.inner.close()


def index_condition(principal: Principal) -> FilterJSON | None:
    """Return the filter of chunks that may be seen, by the labels in their payload; None when all may."""
    if principal.labels is None:
        return None
    unlabelled: FilterJSON = {"is_empty": {"key": LABELS_KEY}}
    allowed: FilterJSON = {"key": LABELS_KEY, "match": {"any": sorted(principal.labels)}}
    return {"should": [unlabelled, allowed] if principal.labels else [unlabelled]}


class SeenIndex:
    """An `Index` for reading as one principal sees it; nothing can be written through it.

    The engine counts words (IDF) over the seen chunks alone, so that ranks do not tell of others. What comes
    back is held against the labels in SQL once more: they are the ones that count while an ingest changes them.
    """

    def __init__(self, index: Index, documents: DocumentStore, principal: Principal) -> None:
        self._index = index
        self._documents = documents
        self._principal = principal

    async def search(self, request: SearchRequest) -> list[Hit]:
        """See `Index.search`."""
        if not self._principal.may_see(request.bucket):
            return []
        hits = await self._index.search(replace(request, access=index_condition(self._principal)))
        seen = await self._seen(hit.chunk.doc_id for hit in hits)
        return [hit for hit in hits if hit.chunk.doc_id in seen]

    async def document_chunks(self, bucket: str, doc_id: str) -> list[Chunk]:
        """See `Index.document_chunks`."""
        seen = self._principal.may_see(bucket) and await self._seen([doc_id])
        return await self._index.document_chunks(bucket, doc_id) if seen else []

    async def retrieve(self, bucket: str, chunk_ids: Sequence[str]) -> list[Chunk]:
        """See `Index.retrieve`."""
        if not self._principal.may_see(bucket):
            return []
        chunks = await self._index.retrieve(bucket, chunk_ids)
        seen = await self._seen(chunk.doc_id for chunk in chunks)
        return [chunk for chunk in chunks if chunk.doc_id in seen]

    async def count(self, bucket: str, filter_json: FilterJSON | None = None) -> int:
        """See `Index.count`."""
        if not self._principal.may_see(bucket):
            return 0
        return await self._index.count(bucket, self._with(filter_json))

    async def counts(self, bucket: str, filters: Sequence[FilterJSON | None]) -> list[int]:
        """See `Index.counts`."""
        if not self._principal.may_see(bucket):
            return [0] * len(filters)
        return await self._index.counts(bucket, [self._with(one) for one in filters])

    async def facet(
        self, bucket: str, key: str, filter_json: FilterJSON | None = None, limit: int = 10
    ) -> list[tuple[str, int]]:
        """See `Index.facet`."""
        if not self._principal.may_see(bucket):
            return []
        return await self._index.facet(bucket, key, self._with(filter_json), limit)

    async def close(self) -> None:
        """Leave the index open: it belongs to everyone."""

    def _with(self, filter_json: FilterJSON | None) -> FilterJSON | None:
        parts = [part for part in (filter_json, index_condition(self._principal)) if part]
        return {"must": parts} if len(parts) > 1 else (parts[0] if parts else None)

    async def _seen(self, doc_ids: Iterable[str]) -> set[str]:
        ids = list(dict.fromkeys(doc_ids))
        return set(await asyncio.to_thread(self._documents.records, ids)) if ids else set()

    async def _refuse(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("the corpus as a principal sees it is for reading")

    ensure = upsert = set_metadata = delete_documents = drop = optimize = _refuse
