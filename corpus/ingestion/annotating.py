"""Works out the values of stored documents anew: after a correction, or by the language model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from corpus.extraction.found import Extraction
from corpus.ingestion.planning import Planner
from corpus.ingestion.stores import DEFAULTS, IngestOptions, Progress, Stores
from corpus.ingestion.writing import Writer
from corpus.sidecar import Sidecar
from corpus.types import Document
from llm.errors import BadInput

if TYPE_CHECKING:
    from corpus.buckets import Bucket

Extractor = Callable[[Document], Awaitable[Extraction]]


async def reannotate(
    bucket: Bucket,
    doc_ids: Sequence[str] | None = None,
    *,
    stores: Stores,
    options: IngestOptions = DEFAULTS,
    extractor: Extractor | None = None,
    progress: Progress | None = None,
) -> int:
    """Extract and correct the values of stored documents again and return how many documents there were.

    Args:
        doc_ids: default: the whole bucket.
        extractor: finds the values instead of the bucket's rules.

    Raises:
        BadInput: a document is not in the bucket.
        Unavailable: a store does not answer, or another process writes to the bucket.
    """
    async with stores.documents.one_writer(bucket.name):
        return await _reannotate(bucket, doc_ids, stores, options, extractor, progress)


async def _reannotate(
    bucket: Bucket,
    doc_ids: Sequence[str] | None,
    stores: Stores,
    options: IngestOptions,
    extractor: Extractor | None,
    progress: Progress | None,
) -> int:
    known = await asyncio.to_thread(stores.documents.all_records, bucket.name)
    chosen = sorted(known) if doc_ids is None else list(doc_ids)
    if unknown := [doc_id for doc_id in chosen if doc_id not in known]:
        raise BadInput(f"There is no document {unknown[0]!r} in bucket {bucket.name!r}.")
    planner = Planner(bucket, stores, options, Sidecar(), known)
    writer = Writer(planner, stores)
    for done, doc_id in enumerate(chosen, 1):
        document = await asyncio.to_thread(stores.documents.whole, doc_id)
        if document is not None:
            found = await extractor(document) if extractor else None
            planned = await asyncio.to_thread(planner.plan, document, None, again=True, extraction=found)
            if planned is not None:
                writer.add(planned)
        if writer.queue_is_long:
            await writer.flush()
        if progress:
            progress(done, len(chosen), doc_id)
    await writer.flush()
    return len(chosen)
