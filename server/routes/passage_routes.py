"""Routes of the passages into which a document was cut: seen in its order, left out of search, put back."""

import asyncio
from bisect import bisect_right
from typing import Annotated

from fastapi import APIRouter, Query

from citegraph.corpus.index.views import VersionedIndex
from citegraph.corpus.ingestion.chunking import headings_in
from citegraph.corpus.records.access import Principal
from citegraph.corpus.schema.document import Chunk, Document
from server.guard.rights import may_change, may_write
from server.problems import RESPONSES, Refused
from server.routes.browsing import DocumentId, known_document, reading
from server.routes.value_schemas import Choosing, Passage, Passages
from server.running import Running, Server, Who

router = APIRouter(tags=["documents"], responses=RESPONSES)
SHOWN = 500
"""Characters of a passage that are listed."""


@router.get("/documents/{doc_id:path}/passages")
async def passages(
    server: Server,
    who: Who,
    doc_id: DocumentId,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> Passages:
    """List the passages of a document as search finds them, those that were left out too."""
    document, chunks, index = await _of(server, who, doc_id)
    out = await asyncio.to_thread(index.left_out.of_document, doc_id)
    headings = await asyncio.to_thread(headings_in, document.text)
    listed = []
    for chunk in chunks[offset : offset + limit]:
        under = bisect_right(headings, chunk.start, key=lambda heading: heading[0])
        left = out.get(chunk.content_hash)
        listed.append(
            Passage(
                id=chunk.chunk_id,
                start=chunk.start,
                end=chunk.end,
                page=chunk.page_first,
                heading=chunk.heads or (headings[under - 1][1] if under else ""),
                text=chunk.text[:SHOWN],
                left_out=left is not None,
                by=left.done_by if left else None,
                at=left.done_at if left else None,
            )
        )
    return Passages(passages=listed, total=len(chunks))


@router.post("/documents/{doc_id:path}/passages", status_code=204)
async def choose(server: Server, who: Who, doc_id: DocumentId, given: Choosing) -> None:
    """Leave a passage of a document out of search, with those of the same text in it, or put it back.

    Values that stand in it, and the file, stay as they are.
    """
    may_write(who)
    document, chunks, index = await _of(server, who, doc_id)
    may_change(who, document)
    chunk = next((chunk for chunk in chunks if chunk.chunk_id == given.passage), None)
    if chunk is None:
        raise Refused(404, "The document has no such passage; it may have been read anew: list them again.")
    async with index.writing(document.bucket):
        if given.left_out:
            await asyncio.to_thread(
                index.left_out.leave_out, document.bucket, doc_id, chunk.content_hash, who.name
            )
        else:
            await asyncio.to_thread(index.left_out.put_back, doc_id, chunk.content_hash)


async def _of(server: Running, who: Principal, doc_id: str) -> tuple[Document, list[Chunk], VersionedIndex]:
    """Return a document that one may see, all of its passages, and the index that keeps what is left out."""
    document = await reading(server, who, lambda corpus: known_document(corpus, doc_id))
    index = (await asyncio.to_thread(server.services.open)).index
    assert isinstance(index, VersionedIndex)
    return document, await index.inner.document_chunks(document.bucket, doc_id), index
