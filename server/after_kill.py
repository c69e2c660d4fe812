"""What a killed server or ingest left half done, or a database that was lost, is brought to its end by a server."""

import asyncio
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from citegraph.corpus.ingestion.ingest_options import Stores, options_from
from citegraph.corpus.ingestion.pipeline import ingest
from citegraph.corpus.ingestion.writing import BATCH_DOCUMENTS, remove_documents
from citegraph.corpus.records.database import claim_file
from citegraph.corpus.records.document_record import DocumentRecord
from citegraph.corpus.records.documents import DocumentStore
from citegraph.corpus.schema.document import file_of
from citegraph.errors import CitegraphError
from citegraph.run.services import Services
from citegraph.settings import Settings
from server.logs import write

CUT_OFF = 60.0
"""Seconds within which an upload claims its folder at the latest, as long as it goes on."""


async def settled(services: Services) -> bool:
    """Write, correct or remove to the end what a kill left, and delete the files of uploads that were cut off.

    Returns whether nothing is left.

    A kill leaves as many documents as are written together; more are left by a command that goes on where it was when it
    is run again. A store that does not answer, or that another process writes to, leaves all as it is, and a line in the
    log: whoever writes to the bucket next completes it.
    """
    settings = services.settings
    try:
        documents = await asyncio.to_thread(DocumentStore, settings.sql_url)
        left = await asyncio.to_thread(documents.unfinished, BATCH_DOCUMENTS)
        await asyncio.to_thread(delete_cut_off, settings, documents)
    except (CitegraphError, OSError) as error:
        write("what a kill left stays for now", reason=type(error).__name__)
        return False
    done = True
    for bucket, records in left.items():
        try:
            await _settled(services, bucket, records)
        except CitegraphError as error:
            write("what a kill left stays for now", bucket=bucket, reason=type(error).__name__)
            done = False
    return done


async def _settled(services: Services, bucket: str, records: Mapping[str, DocumentRecord]) -> None:
    whole = await asyncio.to_thread(services.open)
    if bucket not in whole.buckets:
        return
    stores = whole.stores
    uploads = await asyncio.to_thread(upload_folder, services.settings)
    removing = {
        doc_id: record
        for doc_id, record in records.items()
        if record.status == "removing" and Path(file_of(record.source_path)).parent.parent == uploads
    }
    async with stores.documents.one_writer(bucket):
        for doc_id, record in removing.items():
            await forget_document(doc_id, bucket, record.source_path, stores=stores, uploads=uploads)
    # A file that was uploaded may be the next version already, of which its documents know nothing.
    left = [record for record in records.values() if record.status != "removing"]
    files = await asyncio.to_thread(_files, [record.source_path for record in left], uploads)
    options = replace(options_from(services.settings), named_by_folder=True)
    if not files:  # so no process is started to read any
        options = replace(options, workers=0)
    await ingest(files, whole.buckets[bucket], stores=stores, options=options)
    write("completed what a kill left", bucket=bucket, documents=len(records))


async def forget_document(
    doc_id: str, bucket: str, source_path: str, *, stores: Stores, uploads: Path
) -> None:
    """Remove a document, what people corrected in it, and the file that was uploaded with it if no other is of it.

    Marked first, and its row goes last: a kill at any point leaves what tells that, and what, is to be removed.
    """
    await asyncio.to_thread(stores.documents.mark, [doc_id], "removing")
    await asyncio.to_thread(_delete_file, stores.documents, source_path, uploads)
    await remove_documents([doc_id], bucket, stores=stores, forget=True)


def _files(sources: Sequence[str], uploads: Path) -> list[Path]:
    files = {Path(file_of(source)) for source in sources}
    return sorted(file for file in files if file.parent.parent == uploads and file.is_file())


def _delete_file(documents: DocumentStore, source_path: str, uploads: Path) -> None:
    file = file_of(source_path)
    others = documents.sources_in(file) - {source_path}
    if Path(file).parent.parent == uploads and not others and documents.alone(source_path):
        shutil.rmtree(Path(file).parent, ignore_errors=True)


def upload_folder(settings: Settings) -> Path:
    """Return the folder that holds a folder for each uploaded file."""
    return (settings.home / "uploads").resolve()


def delete_cut_off(settings: Settings, documents: DocumentStore) -> None:
    """Delete uploaded files that gave no document and that no upload works on; blocking."""
    uploads = upload_folder(settings)
    if not uploads.is_dir():
        return
    before = time.time() - CUT_OFF
    old = [entry for entry in uploads.iterdir() if entry.is_dir() and entry.stat().st_mtime < before]
    claims = {folder: claim for folder in old if (claim := claim_file(folder)) is not None}
    try:
        # Looked up once they are claimed: an upload that ended meanwhile has its documents by now.
        held = {Path(file_of(source)).parent for source in documents.sources_in(f"{uploads}/")}
        for folder in claims.keys() - held:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        for claim in claims.values():
            os.close(claim)
