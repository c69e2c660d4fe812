"""Routes that change the corpus: bring a file in, with its progress as events, and remove a document."""

import asyncio
import json
import re
import shutil
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response, UploadFile
from fastapi.responses import JSONResponse
from sse_starlette import EventSourceResponse

from citegraph.corpus.ingestion.ingest_options import Stores, options_from
from citegraph.corpus.ingestion.pipeline import ingest
from citegraph.corpus.ingestion.report import IngestReport
from citegraph.corpus.ingestion.writing import remove_documents
from citegraph.corpus.records.access import Principal
from citegraph.errors import CitegraphError
from server.asking import STREAM, wants_events
from server.browsing import DocumentId, declared_bucket, known_document, reading
from server.problems import RESPONSES, Refused, status_of
from server.running import Running, Server, Who
from server.schemas import Ingested

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

    Someone who sees the documents of some labels only gives one or more of those.
    """
    may_write(who)
    await reading(server, who, lambda corpus: declared_bucket(corpus, bucket))
    if who.labels is not None and not (labels and who.labels.issuperset(labels)):
        raise Refused(403, f"Give one of your labels: {', '.join(sorted(who.labels)) or 'you have none'}.")
    server.limits.admit(0)
    options_from(server.settings, labels=labels)
    path = await asyncio.to_thread(_keep, server.settings.home / "uploads", file)
    work = _ingested(server, path, bucket, labels)
    if wants_events(request):
        return EventSourceResponse(_events(work), ping=15)
    ended: dict[str, Any] = {}
    async for event in work:
        ended = event
    if "problem" in ended:
        raise Refused(ended["status"], ended["problem"])
    return JSONResponse(ended["ingested"], 201)


@router.delete("/{doc_id:path}", status_code=204)
async def remove(server: Server, who: Who, doc_id: DocumentId) -> Response:
    """Remove a document from the corpus; a file that was uploaded goes with its last document."""
    may_write(who)
    found = await reading(server, who, lambda corpus: known_document(corpus, doc_id))
    async with server.ingesting:
        documents = server.services.open().documents
        alone = await asyncio.to_thread(documents.alone, found.source_path)
        async with documents.one_writer(found.bucket):
            await remove_documents([doc_id], found.bucket, stores=stores_of(server), forget=True)
    folder = Path(found.source_path).parent
    if alone and folder.parent == (server.settings.home / "uploads").resolve():
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    return Response(status_code=204)


def may_write(who: Principal) -> None:
    """Refuse, with 403, those who may only read."""
    if not who.may_write:
        raise Refused(403, "This key may read only.")


def _keep(uploads: Path, file: UploadFile) -> Path:
    """Store an uploaded file under a name that no other has, so that its document's id tells of no other."""
    token = uuid.uuid4().hex[:8]
    given = Path((file.filename or "").replace("\\", "/").replace("\x00", "")).name
    stem = re.sub(r"[^\w.-]+", "-", Path(given).stem).strip("-.")[:80] or "document"
    suffix = re.sub(r"[^\w.]+", "", Path(given).suffix)[:10].lower()
    target = uploads / token / f"{stem}-{token}{suffix}"
    target.parent.mkdir(parents=True)
    with target.open("wb") as out:
        shutil.copyfileobj(file.file, out, BLOCK)
    return target


async def _ingested(
    server: Running, path: Path, bucket: str, labels: list[str]
) -> AsyncIterator[dict[str, Any]]:
    """Yield the progress of an ingest, one at a time in this process, and what came of it."""
    told: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    async def work() -> IngestReport:
        try:
            async with server.ingesting:
                whole = await asyncio.to_thread(server.services.open)
                return await ingest(
                    [path],
                    whole.buckets[bucket],
                    stores=stores_of(server),
                    options=options_from(server.settings, labels=labels),
                    progress=lambda done, total, name: told.put_nowait({"done": done, "total": total}),
                )
        finally:
            told.put_nowait(None)

    # A file that has come in is ingested to the end, though the client may go away.
    task = asyncio.ensure_future(work())
    while (event := await told.get()) is not None:
        yield {"progress": event}
    try:
        report = await asyncio.shield(task)
        stored = await asyncio.to_thread(_documents_of, server, path, bucket)
    except CitegraphError as error:
        yield {"problem": str(error), "status": status_of(error)}
        return
    if not stored:
        await asyncio.to_thread(shutil.rmtree, path.parent, ignore_errors=True)
        reasons = "; ".join(dict.fromkeys(item.reason for item in report.skipped)) or "it holds no text"
        yield {"problem": f"The file gave no document: {reasons}.", "status": 422}
        return
    yield {"ingested": _report(report, stored)}


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
    ).model_dump()


async def _events(work: AsyncIterator[dict[str, Any]]) -> AsyncIterator[dict[str, str]]:
    async for event in work:
        name = next(iter(event))
        yield {"event": name, "data": json.dumps(event, ensure_ascii=False)}


def stores_of(server: Running) -> Stores:
    """Return the stores that an ingest writes to."""
    whole = server.services.open()
    return Stores(whole.documents, whole.annotations, whole.index, whole.extractions)
