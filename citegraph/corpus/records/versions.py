"""A number per bucket that every write of its index raises, in the SQL database: what caches are keyed by."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Column, MetaData, String, Table, insert, select, update
from sqlalchemy.exc import IntegrityError

from citegraph.corpus.index.caching import CountCache, SearchCache
from citegraph.corpus.index.encoding import NOTHING_READY, Encoded
from citegraph.corpus.index.index_protocol import FilterJSON, Index, SearchRequest
from citegraph.corpus.records.database import create_tables, open_database, translated
from citegraph.corpus.schema.document import Chunk, Hit

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket

_metadata = MetaData()
_versions = Table(
    "index_versions",
    _metadata,
    Column("bucket", String, primary_key=True),
    Column("version", BigInteger, nullable=False),
)


class IndexVersions:
    """The versions of the buckets' indexes; all methods block.

    Every method raises `Unavailable` when the database does not answer.
    """

    def __init__(self, sql_url: str) -> None:
        self._engine = open_database(sql_url)
        translated(lambda: create_tables(_metadata, self._engine))

    def of(self, bucket: str) -> int:
        """Return the version of a bucket's index, 0 before its first write."""

        def run() -> int:
            with self._engine.connect() as connection:
                found = connection.scalar(select(_versions.c.version).where(_versions.c.bucket == bucket))
                return int(found or 0)

        return translated(run)

    def raise_(self, bucket: str) -> None:
        """Raise the version of a bucket's index by one; also when several processes do so at once."""
        higher = update(_versions).where(_versions.c.bucket == bucket).values(version=_versions.c.version + 1)

        def run() -> None:
            for _ in range(2):
                try:
                    with self._engine.begin() as connection:
                        if not connection.execute(higher).rowcount:
                            connection.execute(insert(_versions).values(bucket=bucket, version=1))
                    return
                except IntegrityError:
                    continue  # another process wrote the first version in between

        translated(run)


class VersionedIndex:
    """An `Index` whose writes raise their bucket's version, before they begin and when they have ended.

    Before, so that nothing kept is found while the write goes on; after, so that what was found meanwhile is not
    found any more.
    """

    def __init__(
        self, inner: Index, versions: IndexVersions, *, cache: bool = True, theirs: Collection[str] = ()
    ) -> None:
        """Keep searches and counts with `cache`, but none of the buckets that others write (`theirs`)."""
        self.inner = inner
        self._versions = versions
        self._theirs = theirs
        self.searches = SearchCache(self._version_of) if cache else None
        self._counts = CountCache(self._version_of) if cache else None

    def around(self, inner: Index, theirs: Collection[str]) -> VersionedIndex:
        """Return the same around another index, some of whose buckets others write."""
        return VersionedIndex(inner, self._versions, cache=self.searches is not None, theirs=theirs)

    def _version_of(self, bucket: str) -> int | None:
        return None if bucket in self._theirs else self._versions.of(bucket)

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
