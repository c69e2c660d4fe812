"""Index, documents and annotations of a corpus in which some buckets are collections that someone else wrote."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement

from citegraph.corpus.filters.clause import Filters
from citegraph.corpus.filters.qdrant_filter import FilterJSON, to_qdrant
from citegraph.corpus.filters.relaxing import Relaxation, weaker_filters
from citegraph.corpus.foreign.foreign_clients import OwnClients
from citegraph.corpus.foreign.foreign_collection import OwnCollection
from citegraph.corpus.foreign.foreign_filter import point_of
from citegraph.corpus.foreign.foreign_reading import BETWEEN, pages_of
from citegraph.corpus.foreign.mirror import Mirror
from citegraph.corpus.index.encoding import NOTHING_READY, Encoded
from citegraph.corpus.index.index_protocol import Index, SearchRequest
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore, Facet, Order
from citegraph.corpus.records.document_record import DocumentRecord
from citegraph.corpus.records.documents import DocumentStore
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Chunk, Document, Hit, Page
from citegraph.corpus.schema.field import Value
from citegraph.errors import BadInput, CitegraphError

Own = Mapping[str, OwnCollection]


def refused(bucket: str) -> BadInput:
    """Return what is said of a write to such a bucket."""
    return BadInput(
        f"Bucket {bucket!r} is a Qdrant collection that Citegraph only reads: write to it with your own program."
    )


class OwnIndex:
    """An `Index` that reads some buckets from their own collections, and everything else from `inner`."""

    def __init__(self, inner: Index, own: Own, clients: OwnClients | None = None) -> None:
        self.inner = inner
        self._own = own
        self._clients = clients

    async def search(self, request: SearchRequest) -> list[Hit]:
        """See `Index.search`; such a collection holds no summaries."""
        own = self._own.get(request.bucket)
        if own and request.summaries:
            return []
        if own is None:
            return await self.inner.search(request)
        return await asyncio.to_thread(_found, own, request)

    async def document_chunks(self, bucket: str, doc_id: str) -> list[Chunk]:
        """See `Index.document_chunks`."""
        own = self._own.get(bucket)
        if own is None:
            return await self.inner.document_chunks(bucket, doc_id)
        return await asyncio.to_thread(lambda: placed(own, own.chunks(points_of(own, doc_id))))

    async def retrieve(self, bucket: str, chunk_ids: Sequence[str]) -> list[Chunk]:
        """See `Index.retrieve`."""
        own = self._own.get(bucket)
        if own is None:
            return await self.inner.retrieve(bucket, chunk_ids)
        ids = [point_of(one) for one in chunk_ids]
        return await asyncio.to_thread(lambda: placed(own, own.chunks(ids)))

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
        self,
        bucket: str,
        chunks: Sequence[Chunk],
        metadata: Mapping[str, Mapping[str, Any]],
        ready: Mapping[str, Encoded] = NOTHING_READY,
    ) -> None:
        """See `Index.upsert`."""
        await self._written(bucket).upsert(bucket, chunks, metadata, ready)

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
        if self._clients:
            await asyncio.to_thread(self._clients.close)
        await self.inner.close()

    def _written(self, bucket: str) -> Index:
        if bucket in self._own:
            raise refused(bucket)
        return self.inner


def placed(own: OwnCollection, chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return points as parts of their documents, as far as the collection has been read."""
    return own.mirror.placed(chunks) if own.mirror else list(chunks)


def points_of(own: OwnCollection, doc_id: str) -> Sequence[str | int]:
    """Return the points of a document in their order; the one point of an id that names one."""
    held = own.mirror.document(doc_id) if own.mirror else None
    if held:
        return [span.point for span in held.spans]
    return [point_of(doc_id)] if "#" in doc_id else []


def _found(own: OwnCollection, request: SearchRequest) -> list[Hit]:
    hits = own.search(request)
    chunks = placed(own, [hit.chunk for hit in hits])
    return [replace(hit, chunk=chunk) for hit, chunk in zip(hits, chunks, strict=True)]


class OwnDocuments(DocumentStore):
    """Documents of which some are points of such collections: their ids begin with the bucket's name and a colon."""

    def __init__(self, sql_url: str, own: Own) -> None:
        super().__init__(sql_url)
        self._own = own

    def get(self, doc_id: str) -> Document | None:
        """See `DocumentStore.get`; the text is that of the points as it is now."""
        bucket = doc_id.partition(":")[0]
        if bucket not in self._own:
            return super().get(doc_id)
        return _document(self._own[bucket], doc_id) if self._principal.may_see(bucket) else None

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
        for name, ids in groupby(sorted(own), lambda doc_id: doc_id.partition(":")[0]):
            if self._principal.may_see(name):
                found |= _records(self._own[name], list(ids))
        return found

    def named(self, name: str, bucket: str | None = None, limit: int = 6) -> Sequence[str]:
        """See `DocumentStore.named`."""
        asked = [bucket] if bucket else [*self._own]
        seen = [self._own[one] for one in asked if one in self._own and self._principal.may_see(one)]
        held = [doc_id for own in seen if own.mirror for doc_id in own.mirror.named(name, limit)]
        return [*super().named(name, bucket, limit), *held][:limit]

    def count(self, bucket: str | None = None) -> int:
        """See `DocumentStore.count` and `Mirror.size`."""
        own = [self._own[name] for name in ([bucket] if bucket else self._own) if name in self._own]
        held = [one for one in own if self._principal.may_see(one.bucket.name)]
        return super().count(bucket) + sum(one.mirror.size() for one in held if one.mirror)


def _document(own: OwnCollection, doc_id: str) -> Document | None:
    mirror = own.mirror
    for again in (False, True):
        held = mirror.document(doc_id) if mirror else None
        if held is None:
            break
        texts = own.texts([span.point for span in held.spans])
        if [len(text) for text in texts] == [span.end - span.start for span in held.spans]:
            text = BETWEEN.join(texts)
            return Document(
                doc_id=doc_id,
                bucket=own.bucket.name,
                text=text,
                source_file=held.source_file,
                content_hash=hashlib.sha256(text.encode()).hexdigest(),
                title=held.title,
                pages=pages_of(held.spans),
            )
        if mirror is not None and not again:
            mirror.read()  # points of the document were changed or removed since
    return own.document(doc_id) if "#" in doc_id else None


def _records(own: OwnCollection, doc_ids: Sequence[str]) -> dict[str, DocumentRecord]:
    held = own.mirror.documents(doc_ids) if own.mirror else {}
    alone = [document for one in doc_ids if one not in held and (document := _document(own, one))]
    told = [(one.doc_id, one.source_file, one.title, one.digest, one.spans[-1].end) for one in held.values()]
    told += [(one.doc_id, one.source_file, one.title, one.content_hash, len(one.text)) for one in alone]
    return {
        doc_id: DocumentRecord(
            doc_id=doc_id,
            bucket=own.bucket.name,
            source_file=source_file,
            source_path="",
            title=title,
            media_type="text/plain",
            url=None,
            content_hash=digest,
            index_hash="",
            annotation_hash="",
            status="done",
            characters=characters,
        )
        for doc_id, source_file, title, digest, characters in told
    }


class OwnAnnotations(AnnotationStore):
    """Annotations of which some are metadata of such collections, read into the tables of their buckets.

    Of a collection that is too large to be read while somebody waits, and that nobody had read, values are looked up
    and counted point by point; nothing of it is listed or summed.
    """

    def __init__(self, sql_url: str, buckets: Mapping[str, Bucket], own: Own) -> None:
        super().__init__(sql_url, buckets)
        self._own = own

    def mirror(self, bucket: str) -> Mirror | None:
        """Return what holds the values of a collection; None for every other bucket."""
        return self._own[bucket].mirror if bucket in self._own and bucket in self.buckets else None

    def get(self, doc_id: str, bucket: str | None = None) -> dict[str, Value] | None:
        """See `AnnotationStore.get`."""
        name = doc_id.partition(":")[0]
        found = super().get(doc_id, bucket)
        if (
            found is not None
            or name not in self._own
            or bucket not in (None, name)
            or name not in self.buckets
        ):
            return found
        return self._own[name].values(doc_id) if "#" in doc_id else None

    def values_of(self, bucket: str, doc_ids: Sequence[str]) -> dict[str, dict[str, Value]]:
        """See `AnnotationStore.values_of`."""
        found = super().values_of(bucket, doc_ids)
        alone = [doc_id for doc_id in doc_ids if doc_id not in found] if bucket in self._own else []
        return found | {
            doc_id: values for doc_id in alone if (values := self.get(doc_id, bucket)) is not None
        }

    def version(self, bucket: str) -> int:
        """See `AnnotationStore.version`."""
        self._read([bucket])
        return super().version(bucket)

    def all_versions(self) -> dict[str, int]:
        """See `AnnotationStore.all_versions`."""
        self._read(list(self.buckets))
        return super().all_versions()

    def count(self, bucket: str, filters: Filters = ()) -> int:
        """See `AnnotationStore.count`; of a collection that has not been read each point counts."""
        own = self._unread(bucket)
        return own.count(to_qdrant(self.buckets[bucket], filters)) if own else super().count(bucket, filters)

    def document_ids(
        self, bucket: str, filters: Filters = (), order_by: Order = (), limit: int | None = None
    ) -> list[str]:
        """See `AnnotationStore.document_ids`; of a collection that has not been read at most 1,000, in no order."""
        own = self._unread(bucket)
        if own is None:
            return super().document_ids(bucket, filters, order_by, limit)
        return own.doc_ids(to_qdrant(self.buckets[bucket], filters), min(limit or 1000, 1000))

    def facets(
        self, bucket: str, filters: Filters = (), fields: Sequence[str] | None = None, limit: int = 10
    ) -> dict[str, list[Facet]]:
        """See `AnnotationStore.facets`."""
        return {} if self._unread(bucket) else super().facets(bucket, filters, fields, limit)

    def telling_facets(
        self, bucket: str, filters: Filters = (), *, fields: int = 3, limit: int = 10
    ) -> dict[str, list[Facet]]:
        """See `AnnotationStore.telling_facets`."""
        return (
            {}
            if self._unread(bucket)
            else super().telling_facets(bucket, filters, fields=fields, limit=limit)
        )

    def relaxations(self, bucket: str, filters: Filters) -> list[Relaxation]:
        """See `AnnotationStore.relaxations`."""
        if self._unread(bucket) is None:
            return super().relaxations(bucket, filters)
        weaker = weaker_filters(self.buckets[bucket], filters)
        return [Relaxation(dropped, left, self.count(bucket, left)) for dropped, left in weaker]

    def unknown(self, bucket: str, filters: Filters) -> dict[str, int]:
        """See `AnnotationStore.unknown`."""
        return {} if self._unread(bucket) else super().unknown(bucket, filters)

    def remarks(self, bucket: str, fields: Sequence[str]) -> list[str]:
        """See `AnnotationStore.remarks`."""
        mirror = self.mirror(bucket)  # none where the bucket is hidden from the principal
        return mirror.remarks(fields) if mirror else super().remarks(bucket, fields)

    def condition(self, bucket: str, filters: Filters) -> ColumnElement[bool]:
        """See `AnnotationStore.condition`.

        Raises:
            BadInput: the values of the collection have not been read, so that nothing can be listed or computed.
        """
        if own := self._unread(bucket):
            raise BadInput(
                f"Collection {own.declared.name!r} of bucket {bucket!r} holds {own.count():,} points. Its values are read "
                f"once before they are listed, counted or summed: `citegraph mirror {bucket}`. Searches need no reading."
            )
        return super().condition(bucket, filters)

    def _unread(self, bucket: str) -> OwnCollection | None:
        """Return the collection of a bucket whose values have not been read; None for every other bucket."""
        own = self._own.get(bucket)
        return own if own and (own.mirror is None or own.mirror.current() is None) else None

    def _read(self, buckets: Sequence[str]) -> None:
        """Have what is new in these buckets read; one that cannot be says so where it is asked."""
        for mirror in [self._own[name].mirror for name in buckets if name in self._own]:
            with suppress(CitegraphError):
                if mirror is not None:
                    mirror.current()
