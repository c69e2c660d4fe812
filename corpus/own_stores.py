"""Index, documents and annotations of a corpus in which some buckets are collections that someone else wrote."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement

from corpus.annotations import AnnotationStore, Order
from corpus.buckets import Bucket
from corpus.documents import DocumentRecord, DocumentStore
from corpus.facets import Facet
from corpus.fields import Value
from corpus.filter_qdrant import to_qdrant
from corpus.filters import Filters
from corpus.index import FilterJSON, Index, SearchRequest
from corpus.own_collection import OwnCollection
from corpus.relaxing import Relaxation, weaker_filters
from corpus.types import Chunk, Document, Hit, Page
from llm.errors import BadInput

Own = Mapping[str, OwnCollection]


def refused(bucket: str) -> BadInput:
    """Return what is said of a write to such a bucket."""
    return BadInput(
        f"Bucket {bucket!r} is a Qdrant collection that Citegraph only reads: write to it with your own program."
    )


class OwnIndex:
    """An `Index` that reads some buckets from their own collections, and everything else from `inner`."""

    def __init__(self, inner: Index, own: Own) -> None:
        self.inner = inner
        self._own = own

    async def search(self, request: SearchRequest) -> list[Hit]:
        """See `Index.search`; such a collection holds no summaries."""
        own = self._own.get(request.bucket)
        if own and request.summaries:
            return []
        return await (asyncio.to_thread(own.search, request) if own else self.inner.search(request))

    async def document_chunks(self, bucket: str, doc_id: str) -> list[Chunk]:
        """See `Index.document_chunks`."""
        from corpus.own_filter import point_of

        own = self._own.get(bucket)
        if own is None:
            return await self.inner.document_chunks(bucket, doc_id)
        return await asyncio.to_thread(own.chunks, [point_of(doc_id)])

    async def retrieve(self, bucket: str, chunk_ids: Sequence[str]) -> list[Chunk]:
        """See `Index.retrieve`."""
        own = self._own.get(bucket)
        if own is None:
            return await self.inner.retrieve(bucket, chunk_ids)
        return await asyncio.to_thread(
            own.chunks, [int(one) if one.isdecimal() else one for one in chunk_ids]
        )

    async def count(self, bucket: str, filter_json: FilterJSON | None = None) -> int:
        """See `Index.count`."""
        own = self._own.get(bucket)
        if own is None:
            return await self.inner.count(bucket, filter_json)
        return await asyncio.to_thread(own.count, filter_json)

    async def counts(self, bucket: str, filters: Sequence[FilterJSON | None]) -> list[int]:
        """See `Index.counts`."""
        own = self._own.get(bucket)
        if own is None:
            return await self.inner.counts(bucket, filters)
        return await asyncio.to_thread(lambda: [own.count(one) for one in filters])

    async def facet(
        self, bucket: str, key: str, filter_json: FilterJSON | None = None, limit: int = 10
    ) -> list[tuple[str, int]]:
        """See `Index.facet`; of such a collection nothing is offered."""
        return [] if bucket in self._own else await self.inner.facet(bucket, key, filter_json, limit)

    async def ensure(self, bucket: Bucket) -> None:
        """See `Index.ensure`."""
        await self._written(bucket.name).ensure(bucket)

    async def upsert(
        self, bucket: str, chunks: Sequence[Chunk], metadata: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """See `Index.upsert`."""
        await self._written(bucket).upsert(bucket, chunks, metadata)

    async def set_metadata(self, bucket: str, metadata: Mapping[str, Mapping[str, Any]]) -> None:
        """See `Index.set_metadata`."""
        await self._written(bucket).set_metadata(bucket, metadata)

    async def delete_documents(self, bucket: str, doc_ids: Sequence[str]) -> None:
        """See `Index.delete_documents`."""
        await self._written(bucket).delete_documents(bucket, doc_ids)

    async def drop(self, bucket: str) -> None:
        """See `Index.drop`."""
        await self._written(bucket).drop(bucket)

    async def optimize(self, bucket: str) -> None:
        """See `Index.optimize`."""
        await self._written(bucket).optimize(bucket)

    async def close(self) -> None:
        """See `Index.close`."""
        await self.inner.close()

    def _written(self, bucket: str) -> Index:
        if bucket in self._own:
            raise refused(bucket)
        return self.inner


class OwnDocuments(DocumentStore):
    """Documents of which some are points of such collections: their ids begin with the bucket's name and a colon."""

    def __init__(self, sql_url: str, own: Own) -> None:
        super().__init__(sql_url)
        self._own = own

    def get(self, doc_id: str) -> Document | None:
        """See `DocumentStore.get`."""
        bucket = doc_id.partition(":")[0]
        if bucket not in self._own:
            return super().get(doc_id)
        return self._own[bucket].document(doc_id) if self._principal.may_see(bucket) else None

    def text(self, doc_id: str, start: int = 0, end: int | None = None) -> str:
        """See `DocumentStore.text`."""
        if doc_id.partition(":")[0] not in self._own:
            return super().text(doc_id, start, end)
        document = self.get(doc_id)
        return document.text[start:end] if document else ""

    def pages(self, doc_id: str) -> tuple[Page, ...]:
        """See `DocumentStore.pages`."""
        if doc_id.partition(":")[0] not in self._own:
            return super().pages(doc_id)
        document = self.get(doc_id)
        return document.pages if document else ()

    def records(self, doc_ids: Sequence[str]) -> dict[str, DocumentRecord]:
        """See `DocumentStore.records`."""
        own = [doc_id for doc_id in doc_ids if doc_id.partition(":")[0] in self._own]
        found = super().records([doc_id for doc_id in doc_ids if doc_id not in own])
        read = [document for doc_id in own if (document := self.get(doc_id))]
        return found | {document.doc_id: _record(document) for document in read}


def _record(document: Document) -> DocumentRecord:
    return DocumentRecord(
        doc_id=document.doc_id,
        bucket=document.bucket,
        source_file=document.source_file,
        source_path=document.source_path,
        title=document.title,
        media_type=document.media_type,
        url=None,
        content_hash=document.content_hash,
        index_hash="",
        annotation_hash="",
        status="done",
        characters=len(document.text),
    )


class OwnAnnotations(AnnotationStore):
    """Annotations of which some are metadata of such collections: looked up and counted, never listed or summed."""

    def __init__(self, sql_url: str, buckets: Mapping[str, Bucket], own: Own) -> None:
        super().__init__(sql_url, buckets)
        self._own = own

    def get(self, doc_id: str, bucket: str | None = None) -> dict[str, Value] | None:
        """See `AnnotationStore.get`."""
        name = doc_id.partition(":")[0]
        if name not in self._own or bucket not in (None, name):
            return super().get(doc_id, bucket)
        return self._own[name].values(doc_id) if name in self.buckets else None

    def values_of(self, bucket: str, doc_ids: Sequence[str]) -> dict[str, dict[str, Value]]:
        """See `AnnotationStore.values_of`."""
        if bucket not in self._own:
            return super().values_of(bucket, doc_ids)
        found = {doc_id: self.get(doc_id, bucket) for doc_id in doc_ids}
        return {doc_id: values for doc_id, values in found.items() if values is not None}

    def count(self, bucket: str, filters: Filters = ()) -> int:
        """See `AnnotationStore.count`; each point counts."""
        if bucket not in self._own:
            return super().count(bucket, filters)
        return self._own[bucket].count(to_qdrant(self.buckets[bucket], filters))

    def document_ids(
        self, bucket: str, filters: Filters = (), order_by: Order = (), limit: int | None = None
    ) -> list[str]:
        """See `AnnotationStore.document_ids`; at most 1,000, in no order of their values."""
        if bucket not in self._own:
            return super().document_ids(bucket, filters, order_by, limit)
        return self._own[bucket].doc_ids(to_qdrant(self.buckets[bucket], filters), min(limit or 1000, 1000))

    def facets(
        self, bucket: str, filters: Filters = (), fields: Sequence[str] | None = None, limit: int = 10
    ) -> dict[str, list[Facet]]:
        """See `AnnotationStore.facets`; of such a bucket none are offered."""
        return {} if bucket in self._own else super().facets(bucket, filters, fields, limit)

    def telling_facets(
        self, bucket: str, filters: Filters = (), *, fields: int = 3, limit: int = 10
    ) -> dict[str, list[Facet]]:
        """See `AnnotationStore.telling_facets`; of such a bucket none are offered."""
        return (
            {} if bucket in self._own else super().telling_facets(bucket, filters, fields=fields, limit=limit)
        )

    def relaxations(self, bucket: str, filters: Filters) -> list[Relaxation]:
        """See `AnnotationStore.relaxations`; one count each."""
        if bucket not in self._own:
            return super().relaxations(bucket, filters)
        weaker = weaker_filters(self.buckets[bucket], filters)
        return [Relaxation(dropped, left, self.count(bucket, left)) for dropped, left in weaker]

    def unknown(self, bucket: str, filters: Filters) -> dict[str, int]:
        """See `AnnotationStore.unknown`; not counted for such a bucket."""
        return {} if bucket in self._own else super().unknown(bucket, filters)

    def condition(self, bucket: str, filters: Filters) -> ColumnElement[bool]:
        """See `AnnotationStore.condition`.

        Raises:
            BadInput: the values of the bucket are not in SQL, so that nothing can be listed or computed there.
        """
        if bucket in self._own:
            raise BadInput(
                f"Bucket {bucket!r} is a collection of your own: it can be searched, filtered and cited, but not "
                "listed, counted or summed over. Ask for what a document says, or ingest the files into a bucket."
            )
        return super().condition(bucket, filters)
