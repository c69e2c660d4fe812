"""Routes of the values of documents: each with its place and certainty, what to review, corrections, versions."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query

from citegraph.corpus.ingestion.annotating import Again, reannotate
from citegraph.corpus.ingestion.ingest_options import options_from
from citegraph.corpus.records.access import Principal
from citegraph.corpus.records.extracted.editing import Change, Editor
from citegraph.corpus.records.extracted.review_list import REVIEW_BELOW, ReviewList
from citegraph.corpus.schema.document import Document
from citegraph.run.services import Corpus
from server.guard.rights import may_change, may_replace, may_write
from server.problems import RESPONSES
from server.routes.browsing import DocumentId, Name, declared_bucket, known_document, reading, summary_of
from server.routes.value_schemas import Correcting, DocumentValue, Review, ReviewItem, Versions
from server.running import Running, Server, Who
from server.schemas import DocumentSummary
from tools.value_rows import document_rows, review_rows, shown

router = APIRouter(tags=["documents"], responses=RESPONSES)


@router.get("/documents/{doc_id:path}/values")
async def values(server: Server, who: Who, doc_id: DocumentId) -> list[DocumentValue]:
    """List the values of a document: what stands, what was found beside it, and what was corrected."""
    return await reading(server, who, lambda corpus: _values(server, corpus, doc_id))


@router.post("/documents/{doc_id:path}/corrections")
async def correct(server: Server, who: Who, doc_id: DocumentId, given: Correcting) -> list[DocumentValue]:
    """Correct a value of a document; 422 when the field does not take it. Returns the document's values."""
    may_write(who)
    whole = await asyncio.to_thread(server.services.open)
    change = Change(doc_id, given.field, given.action, given.value, given.note or None)
    async with server.ingesting:
        found = await reading(server, who, lambda corpus: _to_correct(who, corpus, doc_id, given))
        bucket = whole.buckets[found.bucket]
        editor = Editor(bucket, whole.documents, whole.annotations, whole.stores.extractions, who.name)
        await reannotate(
            bucket,
            [doc_id],
            stores=whole.stores,
            options=options_from(server.settings),
            again=Again(changes=lambda: editor.apply([change])),
        )
    return await reading(server, who, lambda corpus: _values(server, corpus, doc_id))


def _to_correct(who: Principal, corpus: Corpus, doc_id: str, given: Correcting) -> Document:
    """Return the document that a correction is about, if this principal may make it."""
    found = known_document(corpus, doc_id)
    may_change(who, found)
    if given.field == corpus.buckets[found.bucket].supersedes_field and given.value:
        may_replace(who, corpus, given.value)
    return found


@router.get("/review")
async def review(
    server: Server,
    who: Who,
    bucket: Name,
    field: Annotated[str, Query(max_length=41, description="Only this field.")] = "",
    below: Annotated[float, Query(ge=0, le=1, description="List what is less certain.")] = REVIEW_BELOW,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> Review:
    """List the values of a bucket that a person should look at, what matters most first."""

    def work(corpus: Corpus) -> Review:
        declared = declared_bucket(corpus, bucket)
        fields = [corpus.annotations.field(bucket, field).name] if field else []
        listed = ReviewList(server.settings.sql_url, who)
        page = listed.page(declared, below=below, fields=fields, limit=limit, offset=offset)
        return Review(
            items=[
                ReviewItem(**row | {"found": [_value(item) for item in row["found"]]})
                for row in review_rows(corpus, page.items)
            ],
            total=page.total,
        )

    return await reading(server, who, work)


@router.get("/documents/{doc_id:path}/versions")
async def versions(server: Server, who: Who, doc_id: DocumentId) -> Versions:
    """List the documents that this one replaces and those that replace it, as an ingest found them."""

    def work(corpus: Corpus) -> Versions:
        known_document(corpus, doc_id)
        older, newer = corpus.documents.versions(doc_id)
        found = summaries(corpus, [*older, *newer])
        return Versions(
            older=[found[item] for item in older if item in found],
            newer=[found[item] for item in newer if item in found],
        )

    return await reading(server, who, work)


def summaries(corpus: Corpus, doc_ids: list[str]) -> dict[str, DocumentSummary]:
    """Return documents as they are listed, by id; those that cannot be seen are left out."""
    records, added = corpus.documents.records(doc_ids), corpus.documents.arrivals(doc_ids)
    return {
        doc_id: summary_of(record, corpus.annotations.get(doc_id, record.bucket) or {}, added.get(doc_id))
        for doc_id, record in records.items()
    }


def _values(server: Running, corpus: Corpus, doc_id: str) -> list[DocumentValue]:
    document = known_document(corpus, doc_id)
    # The document may be seen, so may everything that was found in it.
    whole = server.services.open()
    if document.bucket not in whole.buckets:
        return []
    rows = document_rows(whole, whole.buckets[document.bucket], doc_id)
    return [_value(row) for row in rows]


def _value(row: Mapping[str, Any]) -> DocumentValue:
    more = {name: row.get(name) for name in DocumentValue.model_fields if name in row}
    return DocumentValue(
        **more | {"shown": shown(row.get("value")), "instead_of": shown(row.get("instead_of"))}
    )
