"""Works out the values of stored documents anew: after a correction, a changed declaration, or by the language model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from citegraph.corpus.extraction.engine import extract_document
from citegraph.corpus.ingestion.annotation_files import Sidecar
from citegraph.corpus.ingestion.ingest_options import DEFAULTS, IngestOptions, Progress, Stores
from citegraph.corpus.ingestion.planning import Planned, Planner
from citegraph.corpus.ingestion.writing import Writer
from citegraph.corpus.records.extracted.found import Extraction
from citegraph.corpus.schema.document import Document
from citegraph.errors import BadInput

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket

Extractor = Callable[[Document], Awaitable[Extraction]]


@dataclass(frozen=True, slots=True)
class Again:
    """How values are worked out anew.

    Attributes:
        extractor: finds the values instead of the bucket's rules.
        fields: the only fields that are extracted again; of the others stays what was found. Empty: all.
        changes: makes corrections first, and returns the ids of their documents.
    """

    extractor: Extractor | None = None
    fields: Sequence[str] = ()
    changes: Callable[[], Sequence[str]] | None = None
    progress: Progress | None = None


async def reannotate(
    bucket: Bucket,
    doc_ids: Sequence[str] | None = None,
    *,
    stores: Stores,
    options: IngestOptions = DEFAULTS,
    again: Again | None = None,
) -> int:
    """Extract and correct the values of stored documents again and return how many documents there were.

    Args:
        doc_ids: default: those of the changes, else the whole bucket.

    Raises:
        BadInput: a document is not in the bucket, or a change cannot be made; then nothing was changed.
        Unavailable: a store does not answer, or another process writes to the bucket.
    """
    again = again or Again()
    async with stores.documents.one_writer(bucket.name):
        # The index is opened first: another process that holds it is told of before anything was changed.
        await stores.index.ensure(bucket)
        if again.changes:
            changed = await asyncio.to_thread(again.changes)
            doc_ids = changed if doc_ids is None else doc_ids
        known = await asyncio.to_thread(stores.documents.all_records, bucket.name)
        chosen = sorted(known) if doc_ids is None else list(doc_ids)
        if unknown := [doc_id for doc_id in chosen if doc_id not in known]:
            raise BadInput(f"There is no document {unknown[0]!r} in bucket {bucket.name!r}.")
        planner = await asyncio.to_thread(Planner, bucket, stores, options, Sidecar(), known)
        # What a model was paid for is kept when it fails on a later document.
        plan = partial(_planned, planner, stores, again)
        await Writer(planner, stores).write_again(chosen, plan, again.progress)
    return len(chosen)


async def _planned(planner: Planner, stores: Stores, again: Again, document: Document) -> Planned | None:
    found = await again.extractor(document) if again.extractor else None
    if again.fields:
        found = await asyncio.to_thread(_only, planner.bucket, stores, document, again.fields, found)
    return await asyncio.to_thread(planner.plan, document, None, again=True, extraction=found)


def _only(
    bucket: Bucket, stores: Stores, document: Document, fields: Sequence[str], found: Extraction | None
) -> Extraction:
    """Return what was found of some fields now, and of all others before."""
    now = found or extract_document(bucket, document)
    before = stores.extractions.extraction(bucket, document.doc_id)
    kept = {name: item for name, item in before.fields.items() if name not in fields}
    new = {name: item for name, item in now.fields.items() if name in fields}
    refused = [item for item in before.refused if item.field not in fields]
    refused += [item for item in now.refused if item.field in fields]
    return replace(now, fields=kept | new, refused=tuple(refused))
