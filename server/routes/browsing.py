"""Routes of what can be asked about: buckets with their fields and values, documents, pages, CSV."""

import asyncio
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Response
from fastapi import Path as InPath
from fastapi.responses import FileResponse, StreamingResponse

from citegraph.corpus.filters.checks import read_filters
from citegraph.corpus.records.access import Principal
from citegraph.corpus.records.csv_rows import export_csv
from citegraph.corpus.records.document_record import DocumentRecord
from citegraph.corpus.schema.bucket import Bucket, bucket_named, show
from citegraph.corpus.schema.document import PART, Document
from citegraph.errors import BadInput
from citegraph.run.services import Corpus
from server.drawing import marked, shares_of
from server.problems import RESPONSES, Refused
from server.running import Running, Server, Who
from server.schemas import (
    BucketDetail,
    BucketSummary,
    DocumentDetail,
    Documents,
    DocumentSummary,
    DocumentText,
    PageText,
)

T = TypeVar("T")
router = APIRouter(responses=RESPONSES)
PNG: dict[int | str, dict[str, Any]] = {200: {"content": {"image/png": {}}}}
AROUND = 20_000
"""Characters of a document that are shown before and after a place in it."""
FOUND = 5_000
"""Documents at most among which a text in their names is looked for together with filters."""
VALUES = 10
"""Values a field that are shown of a bucket."""

Name = Annotated[str, Query(max_length=41, description="Name of a bucket.")]
Filters = Annotated[
    list[Annotated[str, Query(max_length=2000)]],
    Query(
        default_factory=list,
        max_length=20,
        description="Such as total_amount>=100; all must hold.",
        examples=[["total_amount>=100"]],
    ),
]
DocumentId = Annotated[str, InPath(min_length=1, max_length=512)]
Number = Annotated[int, InPath(ge=1, le=1_000_000, description="Number of a page, from 1.")]
Character = Annotated[int, Query(ge=0, le=1_000_000_000)]


async def reading(server: Running, who: Principal, work: Callable[[Corpus], T]) -> T:
    """Return what blocking work finds in the corpus as a principal sees it."""
    return await asyncio.to_thread(lambda: work(server.corpus_of(who)))


@router.get("/buckets", tags=["buckets"])
async def buckets(server: Server, who: Who) -> list[BucketSummary]:
    """List the buckets."""
    return await reading(
        server, who, lambda corpus: [_summary(corpus, bucket) for bucket in corpus.buckets.values()]
    )


@router.get("/buckets/{name}", tags=["buckets"])
async def bucket(server: Server, who: Who, name: Annotated[str, InPath(max_length=41)]) -> BucketDetail:
    """Show a bucket: its fields, how many documents it holds, and frequent values with their counts."""

    def work(corpus: Corpus) -> BucketDetail:
        declared = declared_bucket(corpus, name)
        facets = corpus.annotations.facets(name, limit=VALUES)
        return BucketDetail(
            **_summary(corpus, declared).model_dump(),
            fields=[item.model_dump(mode="json", include=FIELD) for item in declared.fields],
            values={field: [(item.label, item.count) for item in found] for field, found in facets.items()},
        )

    return await reading(server, who, work)


FIELD = {"name", "type", "description", "unit", "currency", "examples"}


@dataclass(frozen=True)
class Part:
    """Which part of a list is shown, in which order, and what its documents are called."""

    limit: Annotated[int, Query(ge=1, le=500)] = 50
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0
    order: Annotated[
        str, Query(max_length=42, description="A field or @added; with - before it descending.")
    ] = ""
    q: Annotated[str, Query(max_length=200, description="Only those whose title or file holds this.")] = ""


@router.get("/documents", tags=["documents"])
async def documents(
    server: Server, who: Who, bucket: Name, filter: Filters, part: Annotated[Part, Depends()]
) -> Documents:
    """List the documents of a bucket that match the filters, by a field, by when they came in, or in the order of their ids."""

    def work(corpus: Corpus) -> Documents:
        declared = declared_bucket(corpus, bucket)
        chosen = read_filters(declared, filter, today=date.today())
        store = corpus.annotations
        text = part.q.replace("\x00", "").strip()
        only = corpus.documents.search(bucket, text, FOUND) if text else None
        ordered = [part.order] if part.order else []
        rows = store.rows(bucket, chosen, order_by=ordered, limit=part.limit, offset=part.offset, only=only)
        ids = [row["doc_id"] for row in rows]
        records, added = corpus.documents.records(ids), corpus.documents.arrivals(ids)
        listed = [
            summary_of(records[doc_id], row, added.get(doc_id))
            for doc_id, row in ((row.pop("doc_id"), row) for row in rows)
            if doc_id in records
        ]
        total = (
            store.count(bucket, chosen) if only is None else len(store.rows(bucket, chosen, [], only=only))
        )
        return Documents(documents=listed, total=total)

    return await reading(server, who, work)


@router.get(
    "/documents/{doc_id:path}/pages/{page}", tags=["documents"], response_model=PageText, responses=PNG
)
async def page(
    server: Server,
    who: Who,
    doc_id: DocumentId,
    page: Number,
    format: Literal["text", "png"] = "text",
    start: Character | None = None,
    end: Character | None = None,
) -> Any:
    """Show a page: its text, or as PNG with the characters from `start` to `end` of the document marked."""

    def work(corpus: Corpus) -> Any:
        document = known_document(corpus, doc_id)
        found = next((item for item in document.pages if item.number == page), None)
        if found is None:
            pages = len(document.pages)
            raise Refused(404, f"The document has {pages} pages." if pages else "The document has no pages.")
        if format == "png":
            needs_file(document)
            layout = corpus.documents.layout(doc_id, page)
            drawn = server.drawer.draw(document.source_path, page)
            return marked(drawn, layout, (start or 0, end or 0))
        layout = corpus.documents.layout(doc_id, page)
        return PageText(
            doc_id=doc_id,
            page=page,
            label=found.label,
            start=found.start,
            end=found.end,
            text=document.text[found.start : found.end],
            marks=shares_of(layout, (start or 0, end or 0)),
        )

    shown = await reading(server, who, work)
    return Response(shown, media_type="image/png") if isinstance(shown, bytes) else shown


@router.get("/documents/{doc_id:path}/text", tags=["documents"])
async def text(
    server: Server, who: Who, doc_id: DocumentId, start: Character = 0, end: Character | None = None
) -> DocumentText:
    """Show the text of a document around the characters from `start` to `end`, for one without pages."""

    def work(corpus: Corpus) -> DocumentText:
        whole = known_document(corpus, doc_id).text
        first = max(0, min(start, len(whole)) - AROUND)
        last = min(len(whole), max(start, min(end or 0, start + AROUND)) + AROUND)
        return DocumentText(doc_id=doc_id, start=first, end=last, text=whole[first:last])

    return await reading(server, who, work)


@router.get("/documents/{doc_id:path}/file", tags=["documents"], response_class=FileResponse)
async def file(server: Server, who: Who, doc_id: DocumentId) -> FileResponse:
    """Send the file that a document was read from."""

    def work(corpus: Corpus) -> tuple[Path, str]:
        document = known_document(corpus, doc_id)
        needs_file(document)
        path = Path(document.source_path)
        # A file with several documents may hold some that this principal may not see.
        if PART in document.source_path or not server.services.open().documents.alone(document.source_path):
            raise Refused(404, "The document is a part of a file with others; only its text can be shown.")
        if not path.is_file():
            raise Refused(404, "The file that the document was read from is gone.")
        return path, document.source_file

    path, name = await reading(server, who, work)
    return FileResponse(
        path,
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}",
            "X-Content-Type-Options": "nosniff",
        },
    )


@router.get("/documents/{doc_id:path}", tags=["documents"])
async def document(server: Server, who: Who, doc_id: DocumentId) -> DocumentDetail:
    """Show everything known about a document but its text."""

    def work(corpus: Corpus) -> DocumentDetail:
        found = known_document(corpus, doc_id)
        values = corpus.annotations.get(doc_id, found.bucket) or {}
        # A label that one may not see says something about others.
        labels = [label for label in found.labels if who.labels is None or label in who.labels]
        return DocumentDetail(
            **summary_of(found, values, corpus.documents.arrivals([doc_id]).get(doc_id)).model_dump(),
            media_type=found.media_type,
            characters=len(found.text),
            labels=labels,
            pages=[
                {"number": item.number, "label": item.label, "start": item.start, "end": item.end}
                for item in found.pages
            ],
        )

    return await reading(server, who, work)


@router.get("/export.csv", tags=["documents"], response_class=StreamingResponse)
async def export(
    server: Server, who: Who, bucket: Name, filter: Filters, excel: bool = False
) -> StreamingResponse:
    """Send the documents of a bucket that match the filters as CSV, as they come from the database."""

    def work(corpus: Corpus) -> Iterator[str]:
        chosen = read_filters(declared_bucket(corpus, bucket), filter, today=date.today())
        rows = export_csv(corpus.annotations, bucket, chosen, bom=excel)
        # The first row now: what fails does so before the answer has begun.
        return itertools.chain([next(rows)], rows)

    rows = await reading(server, who, work)
    return StreamingResponse(
        rows,
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{bucket}.csv"'},
    )


def declared_bucket(corpus: Corpus, name: str) -> Bucket:
    """Return a bucket that the principal may see.

    Raises:
        Refused: 404, there is none of that name.
    """
    try:
        return bucket_named(corpus.buckets, name)
    except BadInput as error:
        raise Refused(404, str(error)) from error


def known_document(corpus: Corpus, doc_id: str) -> Document:
    """Return a document that the principal may see.

    Raises:
        Refused: 404, there is none of that id.
    """
    found = None if "\x00" in doc_id else corpus.documents.get(doc_id)
    if found is None:
        raise Refused(404, f"There is no document {doc_id[:200]!r}.")
    return found


def summary_of(
    document: Document | DocumentRecord, values: Mapping[str, Any], added: datetime | None
) -> DocumentSummary:
    """Return a document as it is listed, with its values printed and when it came in."""
    return DocumentSummary(
        doc_id=document.doc_id,
        bucket=document.bucket,
        title=document.title,
        source_file=document.source_file,
        metadata={name: show(value) for name, value in values.items()},
        added=added,
    )


def needs_file(document: Document) -> None:
    """Refuse to show the file of a document that was read from none, as the points of a Qdrant collection are.

    Raises:
        Refused: 404.
    """
    if not document.source_path or document.source_path.startswith("qdrant:"):
        raise Refused(404, "The file of this document is not kept here; only its text can be shown.")


def _summary(corpus: Corpus, bucket: Bucket) -> BucketSummary:
    count = corpus.documents.count(bucket.name)
    return BucketSummary(name=bucket.name, description=" ".join(bucket.description.split()), documents=count)
