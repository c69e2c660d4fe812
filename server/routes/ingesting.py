"""Routes that change the corpus: bring a file in, with its progress as events, and remove a document."""

import asyncio
import os
import re
import shutil
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response, UploadFile
from sse_starlette import EventSourceResponse

from citegraph.corpus.ingestion.ingest_options import IngestOptions, Stores, options_from
from citegraph.corpus.ingestion.pipeline import ingest, read_ahead
from citegraph.corpus.ingestion.report import IngestReport
from citegraph.corpus.ingestion.worker_pool import ReadAlready
from citegraph.corpus.records.access import Principal
from citegraph.corpus.records.database import claim_file
from citegraph.corpus.records.source_files import hash_of
from citegraph.corpus.schema.document import file_of
from citegraph.errors import CitegraphError
from citegraph.run.json_output import dumped
from server.after_kill import forget_document, upload_folder
from server.guard.rights import may_bring, may_change, may_write
from server.line_safe import JsonText
from server.problems import RESPONSES, Refused, status_of
from server.routes.asking import STREAM, wants_events
from server.routes.browsing import DocumentId, declared_bucket, known_document, reading
from server.running import Place, Running, Server, Who
from server.schemas import FieldFilled, Ingested

router = APIRouter(prefix="/documents", tags=["documents"], responses=RESPONSES)
BLOCK = 1024 * 1024
INGESTED: dict[int | str, dict[str, Any]] = {
    201: {
        "model": Ingested,
        "description": "What became of the file; with `Accept: text/event-stream` the events progress, and at the "
        "end ingested or problem.",
        "content": {STREAM: {"schema": {"type": "string"}}},
    }
}
Labelled = tuple[str, ...] | None
Labels = Annotated[list[Annotated[str, Form(max_length=100)]], Form(default_factory=list, max_length=20)]


@router.post("", status_code=201, responses=INGESTED, response_model=Ingested)
async def upload(
    request: Request,
    server: Server,
    who: Who,
    file: UploadFile,
    bucket: Annotated[str, Form(max_length=41)],
    labels: Labels,
) -> Response:
    """Bring a file into a bucket, for those who may see one of the labels; without a label for everyone there.

    Someone who sees the documents of some labels only gives one or more of those. A file whose bytes were uploaded
    before, under whatever name, is the document that is there; another one of the same name is its new version.
    """
    may_write(who)
    await reading(server, who, lambda corpus: declared_bucket(corpus, bucket))
    # Without a label a document that is replaced keeps its own, and a new one is everyone's in the bucket.
    options = replace(options_from(server.settings, labels=labels or None, writer=who), named_by_folder=True)
    may_bring(who, bucket, options.labels or ())
    path = await asyncio.to_thread(_keep, server.settings.home / "uploads", file)
    work = _ingested(server, path, bucket, options, request.state.place)
    if wants_events(request):
        return EventSourceResponse(_events(work), ping=15)
    ended: dict[str, Any] = {}
    async for event in work:
        ended = event
    if "problem" in ended:
        raise Refused(ended["status"], ended["problem"])
    return JsonText(ended["ingested"], 201)


@router.delete("/{doc_id:path}", status_code=204)
async def remove(server: Server, who: Who, doc_id: DocumentId) -> Response:
    """Remove a document from the corpus; a file that was uploaded goes with its last document."""
    may_write(who)
    stores = (await asyncio.to_thread(server.services.open)).stores
    async with server.ingesting:
        # Looked for only now: a write that went on before may have given it to others.
        found = await reading(server, who, lambda corpus: known_document(corpus, doc_id))
        may_change(who, found)
        uploads = await asyncio.to_thread(upload_folder, server.settings)
        async with stores.documents.one_writer(found.bucket):
            await forget_document(doc_id, found.bucket, found.source_path, stores=stores, uploads=uploads)
    return Response(status_code=204)


def _keep(uploads: Path, file: UploadFile) -> Path:
    """Store an uploaded file under its own name in a folder that no other has; its documents' ids carry both."""
    given = Path((file.filename or "").replace("\\", "/").replace("\x00", "")).name
    stem = re.sub(r"[^\w .,()&'+-]+", "-", Path(given).stem).strip(" -.")[:80] or "document"
    suffix = re.sub(r"[^\w.]+", "", Path(given).suffix)[:10].lower()
    target = uploads / uuid.uuid4().hex[:8] / f"{stem}{suffix}"
    target.parent.mkdir(parents=True)
    with target.open("wb") as out:
        shutil.copyfileobj(file.file, out, BLOCK)
    return target


@dataclass(frozen=True, slots=True)
class Earlier:
    """An upload that a new one repeats (`same`) or follows, and its documents."""

    file: Path
    doc_ids: tuple[str, ...]
    same: bool


def _before(stores: Stores, path: Path, bucket: str, who: Principal, labels: Labelled) -> Earlier | None:
    """Return the upload that a new one repeats or follows, None for a new one; blocking.

    It counts as far as its documents are this principal's to change, for the same readers: what others brought is
    neither told nor touched.
    """
    uploads = path.parent.parent.resolve()
    content = hash_of(path)
    documents: dict[str, list[str]] = {}
    for doc_id, record in stores.documents.all_records(bucket).items():
        documents.setdefault(file_of(record.source_path), []).append(doc_id)
    known = stores.documents.labels_of(bucket)
    earlier: Earlier | None = None
    for source, read in stores.documents.files.of(bucket).items():
        file, held = Path(source), documents.get(source, [])
        same = read.content_hash == content
        if file.parent.parent != uploads or not held or not (same or file.name == path.name):
            continue
        given = [known.get(doc_id, ()) for doc_id in held]
        if not all(
            who.may_change(bucket, mine) and (labels is None or set(mine) == set(labels)) for mine in given
        ):
            continue
        earlier = Earlier(file, tuple(held), same)
        if same:
            return earlier
    return earlier


async def _ingested(
    server: Running, path: Path, bucket: str, options: IngestOptions, place: Place
) -> AsyncIterator[dict[str, Any]]:
    """Yield the progress of an ingest, and what came of it; files are read side by side, and written one by one."""
    told: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    async def work() -> IngestReport:
        nonlocal path
        ready: ReadAlready | None
        claim = await asyncio.to_thread(claim_file, path.parent)
        try:
            whole = await asyncio.to_thread(server.services.open)
            stores, declared = whole.stores, whole.buckets[bucket]
            async with server.reading:
                ready = await read_ahead(path, declared, stores=stores, options=options)
            async with server.ingesting:
                earlier = await asyncio.to_thread(
                    _before, stores, path, bucket, options.writer, options.labels
                )
                if earlier is not None:
                    await asyncio.to_thread(_put_away, path, earlier, stores)
                    path, ready = earlier.file, None
                return await ingest(
                    [path],
                    declared,
                    stores=stores,
                    options=options,
                    progress=lambda done, total, name: told.put_nowait({"done": done, "total": total}),
                    ready=ready,
                )
        finally:
            if claim is not None:
                os.close(claim)
            place.leave()
            told.put_nowait(None)

    # A file that has come in is ingested to the end, though the client may go away.
    place.hold()
    task = asyncio.ensure_future(work())
    while (event := await told.get()) is not None:
        yield {"progress": event}
    try:
        report = await asyncio.shield(task)
        stored = await asyncio.to_thread(_documents_of, server, path, bucket)
    except CitegraphError as error:
        if status_of(error) >= 500:
            server.left.set()
        elif not await asyncio.to_thread(_documents_of, server, path, bucket):
            await asyncio.to_thread(shutil.rmtree, path.parent, ignore_errors=True)
        yield {"problem": str(error), "status": status_of(error)}
        return
    if not stored:
        # A version that gives no document has taken the place of the one before, which is gone with it.
        await asyncio.to_thread(shutil.rmtree, path.parent, ignore_errors=True)
        reasons = "; ".join(dict.fromkeys(item.reason for item in report.skipped)) or "it holds no text"
        yield {"problem": f"The file gave no document: {reasons}.", "status": 422}
        return
    yield {"ingested": _report(report, stored)}


def _put_away(path: Path, earlier: Earlier, stores: Stores) -> None:
    """Put an upload in the place of an earlier one, or drop it when it says the same.

    The documents are marked before: after a kill they are read again from the file that is there.
    """
    if not earlier.same:
        stores.documents.mark(earlier.doc_ids, "revising", only="done")
        path.replace(earlier.file)
    shutil.rmtree(path.parent, ignore_errors=True)


def _documents_of(server: Running, path: Path, bucket: str) -> list[str]:
    records = server.services.open().documents.all_records(bucket)
    source = str(path.resolve())
    return sorted(doc_id for doc_id, record in records.items() if record.source_path.startswith(source))


def _report(report: IngestReport, stored: list[str]) -> dict[str, Any]:
    return Ingested(
        documents=stored,
        new=report.new,
        changed=report.changed,
        unchanged=report.unchanged,
        skipped=[item.reason for item in report.skipped],
        bad_values=[f"{item.doc_id}: {item.column}: {item.reason}" for item in report.bad_values],
        values=[
            FieldFilled(field=item.field, found=item.found, review=item.review)
            for item in report.values
            if item.telling or item.review
        ],
    ).model_dump()


async def _events(work: AsyncIterator[dict[str, Any]]) -> AsyncIterator[dict[str, str]]:
    async for event in work:
        name = next(iter(event))
        yield {"event": name, "data": dumped(event)}
