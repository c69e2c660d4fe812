"""Writes what an ingest planned, in an order that a kill at any point leaves repairable."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from citegraph.corpus.ingestion.report import Skipped
from citegraph.corpus.records.access import labelled
from citegraph.corpus.records.annotations.annotation_tables import Annotation
from citegraph.corpus.records.likeness import traits_of
from citegraph.corpus.schema.document import file_of
from citegraph.corpus.schema.values import payload

if TYPE_CHECKING:
    from citegraph.corpus.ingestion.ingest_options import Progress, Stores
    from citegraph.corpus.ingestion.planning import Planned, Planner
    from citegraph.corpus.schema.document import Document

    Replan = Callable[[Document], Awaitable[Planned | None]]

BATCH_CHUNKS = 256
BATCH_DOCUMENTS = 256


class DryWriter:
    """Counts what would be written."""

    queue_is_long = False

    def __init__(self, planner: Planner) -> None:
        self._planner = planner

    def add(self, planned: Planned) -> None:
        """Count a document."""
        report = self._planner.report
        if planned.document.doc_id in self._planner.known:
            report.changed += 1
        else:
            report.new += 1
        report.chunks += len(planned.chunks or ())

    async def flush(self) -> None:
        """Nothing is queued."""


class Writer:
    """The queue of planned documents, and how it goes into the stores."""

    def __init__(self, planner: Planner, stores: Stores) -> None:
        self._planner = planner
        self._report = planner.report
        self._bucket = planner.bucket
        self._stores = stores
        self._queue: list[Planned] = []
        self._chunks = 0

    @property
    def queue_is_long(self) -> bool:
        """Return whether it is time to write."""
        return self._chunks >= BATCH_CHUNKS or len(self._queue) >= BATCH_DOCUMENTS

    def add(self, planned: Planned) -> None:
        """Queue a document."""
        self._queue.append(planned)
        self._chunks += len(planned.chunks or ())

    async def flush(self) -> None:
        """Write the queue: out of the index what changed, then texts, annotations, chunks, then the mark.

        In this order a kill at any point leaves either the old document, or one marked `pending`;
        the next ingest writes it again.
        """
        batch = await asyncio.to_thread(self._admitted)
        self._queue, self._chunks = [], 0
        if not batch:
            return
        documents, index, known = self._stores.documents, self._stores.index, self._planner.known
        ids = [item.document.doc_id for item in batch]
        stale = [item.document.doc_id for item in batch if item.chunks is not None]
        stale = [doc_id for doc_id in stale if doc_id in known]
        if stale:
            await asyncio.to_thread(documents.mark, stale, "pending")
            await index.delete_documents(self._bucket.name, stale)
        await asyncio.to_thread(self._write_rows, batch)
        payloads = {
            item.document.doc_id: labelled(payload(self._bucket, item.values), item.document.labels)
            for item in batch
        }
        relabelled = {item.document.doc_id for item in batch if item.chunks is None}
        if relabelled:
            changed = {doc_id: payloads[doc_id] for doc_id in relabelled}
            await index.set_metadata(self._bucket.name, changed)
        points = [point for item in batch for point in item.points]
        ready = {name: vectors for item in batch for name, vectors in item.ready.items()}
        for begin in range(0, len(points), BATCH_CHUNKS):
            some = points[begin : begin + BATCH_CHUNKS]
            await index.upsert(self._bucket.name, some, payloads, ready)
        await asyncio.to_thread(documents.mark, ids, "done")
        self._report.chunks += sum(len(item.chunks or ()) for item in batch)
        # What others left half-written is completed too, and is not this one's news.
        own = [doc_id for doc_id in ids if doc_id in self._planner.seen or self._planner.sees_all]
        self._report.changed += sum(doc_id in known for doc_id in own)
        self._report.new += sum(doc_id not in known for doc_id in own)

    async def write_again(
        self, doc_ids: Sequence[str], plan: Replan | None = None, progress: Progress | None = None
    ) -> None:
        """Plan stored documents again and write what differs, also what was planned before one failed."""
        try:
            for done, doc_id in enumerate(doc_ids, 1):
                document = await asyncio.to_thread(self._stores.documents.whole, doc_id)
                if document is not None:
                    again = plan(document) if plan else asyncio.to_thread(self._planner.plan, document, None)
                    if (planned := await again) is not None:
                        self.add(planned)
                if self.queue_is_long:
                    await self.flush()
                if progress:
                    progress(done, len(doc_ids), doc_id)
        finally:
            await self.flush()

    def _write_rows(self, batch: Sequence[Planned]) -> None:
        hashes = {item.document.doc_id: item.hashes for item in batch}
        traits = {
            item.document.doc_id: traits_of(self._bucket, item.document, item.values, item.signature)
            for item in batch
        }
        documents = [item.document for item in batch]
        extracted = {item.document.doc_id: item.extraction for item in batch if item.extraction is not None}
        extractions = self._stores.extractions
        # First: a document that is known already takes over no corrections.
        extractions.corrected.adopt({item.document.doc_id: item.heir_of for item in batch if item.heir_of})
        self._stores.documents.put(documents, hashes=hashes, traits=traits, status="pending")
        extractions.tables.put(documents, self._bucket.date_order)
        known = {doc_id: found for doc_id, found in extracted.items() if doc_id in self._planner.known}
        new = {doc_id: found for doc_id, found in extracted.items() if doc_id not in known}
        extractions.put(self._bucket.name, new)
        extractions.announce(self._bucket.name, known)
        self._stores.annotations.put(
            self._bucket.name, [Annotation(item.document.doc_id, item.values, item.places) for item in batch]
        )
        extractions.put(self._bucket.name, known)

    def _admitted(self) -> list[Planned]:
        """Return the queue without documents whose id another bucket holds."""
        new = [item.document.doc_id for item in self._queue]
        taken = self._stores.documents.records(
            [doc_id for doc_id in new if doc_id not in self._planner.known]
        )
        for item in self._queue:
            doc_id = item.document.doc_id
            if doc_id in taken:
                reason = f"doc_id {doc_id} is in bucket {taken[doc_id].bucket}"
                self._report.skipped.append(Skipped(item.document.source_path, reason))
        return [item for item in self._queue if item.document.doc_id not in taken]


async def remove_documents(
    doc_ids: Sequence[str], bucket: str, *, stores: Stores, forget: bool = False
) -> None:
    """Remove documents everywhere; the document's own row goes last, so that a kill can be repeated.

    Args:
        forget: remove what people corrected too; else it waits for the documents to come back.
    """
    if doc_ids:
        records = await asyncio.to_thread(stores.documents.records, doc_ids)
        sources = {file_of(record.source_path) for record in records.values()}
        await asyncio.to_thread(stores.documents.files.forget, bucket, sources)
        await asyncio.to_thread(stores.documents.mark, doc_ids, "removing")
        await stores.index.delete_documents(bucket, doc_ids)
        await asyncio.to_thread(stores.annotations.delete, bucket, doc_ids)
        await asyncio.to_thread(stores.extractions.delete, doc_ids)
        if forget:
            await asyncio.to_thread(stores.extractions.corrected.forget, doc_ids)
            await asyncio.to_thread(stores.extractions.left_out.forget, doc_ids)
        await asyncio.to_thread(stores.documents.delete, doc_ids)
