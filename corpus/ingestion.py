"""Brings files into a bucket: read, annotate, chunk, index; safe to repeat, to kill and to resume."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from corpus.buckets import show
from corpus.chunking import DEFAULT_OVERLAP, DEFAULT_TOKENS, chunk_document
from corpus.readers import NO_TEXT_HINT, Reading, Unread, read_file, units
from corpus.sidecar import FILE_COLUMNS, Row, Sidecar
from corpus.types import Chunk, Document
from llm.errors import BadInput

if TYPE_CHECKING:
    from corpus.buckets import Bucket
    from corpus.documents import DocumentRecord, DocumentStore
    from corpus.fields import Value
    from corpus.index import Index

BATCH_CHUNKS = 256
BATCH_DOCUMENTS = 256
CONTEXT_LENGTH = 300
READINGS_A_STEP = 64  # between two reports of progress

Progress = Callable[[int, int, str], None]


class AnnotationWriter(Protocol):
    """The part of the annotation store that an ingest needs."""

    def put(self, bucket: str, rows: Iterable[tuple[str, Mapping[str, Value]]]) -> object:
        """Insert or replace the values of documents."""
        ...

    def get(self, doc_id: str) -> Mapping[str, Value] | None:
        """Return the values of a document."""
        ...

    def delete(self, bucket: str, doc_ids: Sequence[str]) -> object:
        """Remove the values of documents."""
        ...


@dataclass(frozen=True, slots=True)
class Stores:
    """Where an ingest writes to."""

    documents: DocumentStore
    annotations: AnnotationWriter
    index: Index


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How an ingest works; chunk sizes are in tokens, `prune` removes documents whose source is gone."""

    chunk_tokens: int = DEFAULT_TOKENS
    chunk_overlap: int = DEFAULT_OVERLAP
    prune: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file, or lines of it, that gave no document."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class BadValue:
    """An annotation value that its field refused; it is not stored."""

    doc_id: str
    column: str
    value: str
    reason: str


@dataclass(slots=True)
class IngestReport:
    """What one ingest did, in documents unless said otherwise.

    Attributes:
        changed: text, title, chunking or annotations differ from what was stored.
        missing: stored documents whose source is gone; removed (`deleted`) only when pruning.
        unknown_columns: annotation columns that the bucket does not declare, with their row counts.
        unused_annotations: annotation rows that belong to no document that was read.
    """

    bucket: str
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    deleted: int = 0
    missing: int = 0
    chunks: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    bad_values: list[BadValue] = field(default_factory=list)
    unknown_columns: Counter[str] = field(default_factory=Counter)
    annotated: int = 0
    unused_annotations: int = 0
    seconds: float = 0.0

    @property
    def documents(self) -> int:
        """Return how many documents were read."""
        return self.new + self.changed + self.unchanged


async def ingest(
    paths: Sequence[Path],
    bucket: Bucket,
    *,
    stores: Stores,
    annotations: Sequence[Path] = (),
    options: IngestOptions = IngestOptions(),
    progress: Progress | None = None,
) -> IngestReport:
    """Bring the documents of files and folders into a bucket and report what happened.

    A document that is stored already with the same text, title, chunking and annotations is left
    alone. What a killed ingest left half-written is marked and written again by the next one.

    Args:
        annotations: CSV or JSONL files whose rows name a document id or a file.
        progress: called with (units done, units in all, file name); a unit is a file or a JSONL line.

    Raises:
        BadInput: an annotation file cannot be read, or the index has another embedding model.
        Unavailable: a store does not answer; everything reported so far is safe.
    """
    began = time.monotonic()
    await stores.index.ensure(bucket)
    sidecar = await asyncio.to_thread(Sidecar, annotations)
    known = await asyncio.to_thread(stores.documents.all_records, bucket.name)
    run = _Run(bucket, stores, options, sidecar, known)
    files = await asyncio.to_thread(_files, paths, annotations, run.report)
    done, total = 0, sum(files.values())
    for file, size in files.items():
        opened = _Opened(file)
        while not opened.finished:
            await asyncio.to_thread(run.read, opened)
            if run.queue_is_long:
                await run.flush()
            if progress:
                progress(done + min(opened.count, size), total, file.name)
        done += size
    await run.flush()
    await run.prune(paths)
    await stores.index.optimize(bucket.name)
    run.report.unused_annotations = sidecar.unused
    run.report.seconds = time.monotonic() - began
    return run.report


async def remove_documents(doc_ids: Sequence[str], bucket: str, *, stores: Stores) -> None:
    """Remove documents everywhere; the document's own row goes last, so that a kill can be repeated."""
    if doc_ids:
        await asyncio.to_thread(stores.documents.mark_pending, doc_ids)
        await stores.index.delete_documents(bucket, doc_ids)
        await asyncio.to_thread(stores.annotations.delete, bucket, doc_ids)
        await asyncio.to_thread(stores.documents.delete, doc_ids)


async def reembed(
    bucket: Bucket,
    *,
    stores: Stores,
    options: IngestOptions = IngestOptions(),
    progress: Progress | None = None,
) -> int:
    """Build a bucket's index anew from the stored documents, with the embedding model of the settings.

    Returns the number of documents. When it is killed, running it again completes it.
    """
    stored = await asyncio.to_thread(stores.documents.all_records, bucket.name)
    await asyncio.to_thread(stores.documents.mark_pending, list(stored))
    known = await asyncio.to_thread(stores.documents.all_records, bucket.name)
    await stores.index.drop(bucket.name)
    await stores.index.ensure(bucket)
    run = _Run(bucket, stores, options, Sidecar(), known)
    for done, doc_id in enumerate(sorted(known), 1):
        document = await asyncio.to_thread(stores.documents.get, doc_id)
        if document is not None:
            await asyncio.to_thread(run.plan, document, None)
        if run.queue_is_long:
            await run.flush()
        if progress:
            progress(done, len(known), doc_id)
    await run.flush()
    await stores.index.optimize(bucket.name)
    return len(known)


@dataclass(frozen=True, slots=True)
class _Planned:
    """A document that must be written: all of it, or (chunks None) its annotations alone."""

    document: Document
    values: Mapping[str, Value]
    hashes: tuple[str, str]
    chunks: list[Chunk] | None


@dataclass(slots=True)
class _Opened:
    """A file that is being read: how far, and what could not be used, by reason."""

    path: Path
    readings: Iterator[Reading | Unread] | None = None
    count: int = 0
    finished: bool = False
    problems: dict[str, list[str]] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """Return the path that identifies the file."""
        return str(self.path.resolve())


class _Run:
    """The state of one ingest."""

    def __init__(
        self,
        bucket: Bucket,
        stores: Stores,
        options: IngestOptions,
        sidecar: Sidecar,
        known: dict[str, DocumentRecord],
    ) -> None:
        self.report = IngestReport(bucket.name)
        self._bucket = bucket
        self._stores = stores
        self._options = options
        self._sidecar = sidecar
        self._known = known
        self._ids = {record.source_path: doc_id for doc_id, record in known.items()}
        self._seen: dict[str, str] = {}
        self._read_whole: set[str] = set()
        self._planned: list[_Planned] = []
        self._planned_chunks = 0
        self._declaration = bucket.model_dump_json(include={"fields"})
        patterns = [(kind.name, kind.pattern) for kind in bucket.identifiers]
        self._recipe = [options.chunk_tokens, options.chunk_overlap, patterns]

    @property
    def queue_is_long(self) -> bool:
        """Return whether it is time to write."""
        return self._planned_chunks >= BATCH_CHUNKS or len(self._planned) >= BATCH_DOCUMENTS

    def read(self, file: _Opened) -> None:
        """Read on in a file until it ends or the queue is long enough; a bad file is reported and ends."""
        try:
            file.readings = file.readings or read_file(file.path)
            for reading in file.readings:
                file.count += 1
                if isinstance(reading, Unread):
                    file.problems.setdefault(reading.reason, []).append(reading.where)
                elif reason := self._reading(file, reading):
                    file.problems.setdefault(reason, []).append(reading.doc_id)
                if self.queue_is_long or file.count % READINGS_A_STEP == 0:
                    return
            self._read_whole.add(file.source)
        except BadInput as error:
            file.problems[str(error)] = []
        file.finished = True
        for reason, places in file.problems.items():
            self.report.skipped.append(Skipped(str(file.path), _with_places(reason, places)))

    def _reading(self, file: _Opened, reading: Reading) -> str:
        """Plan the document of a reading; returns why it was left out, or nothing."""
        if not reading.text.strip():
            return "empty"
        doc_id = safe_id(reading.doc_id) if reading.doc_id else self._file_id(file.path, file.source)
        if doc_id in self._seen:
            return f"doc_id already read from {Path(self._seen[doc_id]).name}"
        self._seen[doc_id] = file.source
        document, row = self._document(file, reading, doc_id)
        self.plan(document, row)
        return ""

    def _document(self, opened: _Opened, reading: Reading, doc_id: str) -> tuple[Document, Row | None]:
        file = reading.source_file if reading.doc_id else opened.path.name
        row = self._sidecar.find(reading.doc_id or doc_id, file)
        if row is not None:
            self.report.annotated += 1
        merged: Row | None = {**reading.metadata, **(row or {})} if reading.metadata or row else None
        named = next((str(merged[name]) for name in FILE_COLUMNS if merged.get(name)), "") if merged else ""
        stored = self._known[doc_id].source_file if doc_id in self._known else doc_id
        file = Path((file or named).replace("\\", "/")).name or stored
        document = Document(
            doc_id=doc_id,
            bucket=self._bucket.name,
            text=reading.text,
            source_file=file,
            content_hash=hashlib.sha256(reading.text.encode()).hexdigest(),
            title=reading.title,
            media_type=reading.media_type,
            pages=reading.pages,
            url=reading.url,
            source_path=opened.source,
        )
        return document, merged

    def plan(self, document: Document, row: Row | None) -> None:
        """Queue a document if it, its annotations or the way to index it differ from what is stored."""
        record = self._known.get(document.doc_id)
        settled = record is not None and record.status == "done"
        if row is None and record is not None and settled and record.content_hash == document.content_hash:
            # Without a row for it in this ingest a document keeps the annotations that it has.
            values = self._bucket.derive(self._stored_values(document.doc_id), document.text)
            values_hash = record.annotation_hash.partition(":")[0]
        else:
            values = self._values(document, row)
            values_hash = _hash({name: repr(value) for name, value in sorted(values.items())})
        document = replace(document, title=self._bucket.title(values) or document.title)
        context = context_of(self._bucket, document, values)
        index_hash = _hash([document.content_hash, document.source_file, context, self._recipe])
        annotation_hash = f"{values_hash}:{_hash([self._declaration, document.source_path])}"
        chunks = None
        if not settled or record is None or record.index_hash != index_hash:
            chunks = chunk_document(
                document,
                self._bucket,
                tokens=self._options.chunk_tokens,
                overlap=self._options.chunk_overlap,
                context=context,
            )
        elif record.annotation_hash == annotation_hash:
            self.report.unchanged += 1
            return
        self._planned.append(_Planned(document, values, (index_hash, annotation_hash), chunks))
        self._planned_chunks += len(chunks or ())

    def _stored_values(self, doc_id: str) -> Mapping[str, Value]:
        known = doc_id in self._known
        return (self._stores.annotations.get(doc_id) if known else None) or {}

    def _values(self, document: Document, row: Row | None) -> dict[str, Value]:
        """Return the typed values of a row, or those stored before, completed from the text."""
        if row is None:
            return self._bucket.derive(self._stored_values(document.doc_id), document.text)
        values, problems = self._bucket.validate_row(row)
        for problem in problems:
            if problem.reason == "unknown column":
                self.report.unknown_columns[problem.column] += 1
            else:
                bad = BadValue(document.doc_id, problem.column, problem.value, problem.reason)
                self.report.bad_values.append(bad)
        return self._bucket.derive(values, document.text)

    def _file_id(self, path: Path, source: str) -> str:
        """Return the id of a file's document: the one that it has, else its name, made unique."""
        if source in self._ids:
            return self._ids[source]
        short = hashlib.sha256(source.encode()).hexdigest()[:8]
        folder = path.parent.name
        names = [path.stem, f"{folder}-{path.stem}", f"{folder}-{path.name}", f"{path.stem}-{short}"]
        for name in map(safe_id, names):
            record = self._known.get(name)
            # A stored document whose file is gone was moved here.
            free = record is None or _is_absent(record.source_path)
            if free and name not in self._seen and not self._elsewhere(name):
                return name
        return safe_id(names[-1])

    def _elsewhere(self, doc_id: str) -> bool:
        record = self._stores.documents.record(doc_id) if doc_id not in self._known else None
        return record is not None and record.bucket != self._bucket.name

    async def flush(self) -> None:
        """Write the queue: out of the index what changed, then texts, annotations, chunks, then the mark.

        In this order a kill at any point leaves either the old document, or one marked `pending`
        that no search returns; the next ingest writes it again.
        """
        batch = await asyncio.to_thread(self._admitted)
        self._planned, self._planned_chunks = [], 0
        if not batch:
            return
        documents, index = self._stores.documents, self._stores.index
        ids = [item.document.doc_id for item in batch]
        stale = [item.document.doc_id for item in batch if item.chunks is not None]
        stale = [doc_id for doc_id in stale if doc_id in self._known]
        if stale:
            await asyncio.to_thread(documents.mark_pending, stale)
            await index.delete_documents(self._bucket.name, stale)
        await asyncio.to_thread(self._write_rows, batch)
        payloads = {item.document.doc_id: self._bucket.payload(item.values) for item in batch}
        relabelled = {item.document.doc_id for item in batch if item.chunks is None}
        if relabelled:
            changed = {doc_id: payloads[doc_id] for doc_id in relabelled}
            await index.set_metadata(self._bucket.name, changed)
        chunks = [chunk for item in batch for chunk in item.chunks or ()]
        for begin in range(0, len(chunks), BATCH_CHUNKS):
            await index.upsert(self._bucket.name, chunks[begin : begin + BATCH_CHUNKS], payloads)
        await asyncio.to_thread(documents.mark_done, ids)
        self.report.chunks += len(chunks)
        self.report.changed += sum(doc_id in self._known for doc_id in ids)
        self.report.new += sum(doc_id not in self._known for doc_id in ids)

    def _write_rows(self, batch: Sequence[_Planned]) -> None:
        hashes = {item.document.doc_id: item.hashes for item in batch}
        self._stores.documents.put([item.document for item in batch], hashes=hashes, status="pending")
        self._stores.annotations.put(
            self._bucket.name, [(item.document.doc_id, item.values) for item in batch]
        )

    def _admitted(self) -> list[_Planned]:
        """Return the queue without documents whose id another bucket holds."""
        new = [item.document.doc_id for item in self._planned if item.document.doc_id not in self._known]
        taken = self._stores.documents.records(new)
        for item in self._planned:
            doc_id = item.document.doc_id
            if doc_id in taken:
                reason = f"doc_id {doc_id} is in bucket {taken[doc_id].bucket}"
                self.report.skipped.append(Skipped(item.document.source_path, reason))
        return [item for item in self._planned if item.document.doc_id not in taken]

    async def prune(self, paths: Sequence[Path]) -> None:
        """Remove, or only count, the stored documents whose file or line is gone."""
        gone = await asyncio.to_thread(self._gone, paths)
        self.report.missing = len(gone)
        if self._options.prune and gone:
            await remove_documents(gone, self._bucket.name, stores=self._stores)
            self.report.deleted = len(gone)

    def _gone(self, paths: Sequence[Path]) -> list[str]:
        folders = [str(path.resolve()) + os.sep for path in paths if path.is_dir()]
        return [
            doc_id
            for doc_id, record in self._known.items()
            if doc_id not in self._seen and self._is_gone(record.source_path, folders)
        ]

    def _is_gone(self, source: str, folders: Sequence[str]) -> bool:
        if source in self._read_whole:
            return True
        return any(source.startswith(folder) for folder in folders) and _is_absent(source)


def context_of(bucket: Bucket, document: Document, values: Mapping[str, Value]) -> str:
    """Return the title and the names that a document is asked for by, for its chunks to be found with.

    A clause deep in a contract names neither its parties nor its title; with this line in front the
    first hit of a question for one document was the right one 5 to 10 times more in a hundred.
    """
    names = [document.title]
    for name in (*bucket.title_fields, *bucket.entity_fields):
        if name in values:
            names.append(show(values[name]))
    return " | ".join(dict.fromkeys(part for part in names if part))[:CONTEXT_LENGTH]


def safe_id(name: str) -> str:
    """Return a document id that can stand in a `[doc_id]` marker: no blanks, brackets or separators."""
    return re.sub(r"[\s\[\]{}<>|,;\"'`]+", "-", name).strip("-")[:200] or "document"


def _is_absent(path: str) -> bool:
    """Return whether a file does not exist; one that may not be looked at is not absent."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _files(paths: Sequence[Path], annotations: Sequence[Path], report: IngestReport) -> dict[Path, int]:
    """Return the files to read, in order, with their units."""
    exclude = {path.resolve() for path in annotations}
    return {file: units(file) for file in _walk(paths, report) if file.resolve() not in exclude}


def _walk(paths: Sequence[Path], report: IngestReport) -> Iterator[Path]:
    """Yield the files to read in a fixed order, each once, without a folder's hidden and read-me files."""
    seen: set[Path] = set()

    def unreadable(error: OSError) -> None:
        report.skipped.append(Skipped(str(error.filename), f"cannot be read ({error.strerror})"))

    for path in paths:
        if path.is_dir():
            found: list[Path] = []
            for folder, inner, names in os.walk(path, onerror=unreadable):
                inner[:] = sorted(name for name in inner if not name.startswith("."))
                found.extend(Path(folder) / name for name in sorted(names) if not name.startswith("."))
        elif path.exists():
            found = [path]
        else:
            report.skipped.append(Skipped(str(path), "no such file or folder"))
            continue
        for file in found:
            if path.is_dir() and file.stem.lower() == "readme":
                report.skipped.append(Skipped(str(file), "describes the folder: name the file to ingest it"))
            elif file.resolve() not in seen:
                seen.add(file.resolve())
                yield file


def _with_places(reason: str, places: Sequence[str]) -> str:
    if not places or places == [""]:
        return reason
    if reason == NO_TEXT_HINT or len(places) > 3:
        return (
            f"{places[0]} and {len(places) - 1} more: {reason}"
            if len(places) > 1
            else f"{places[0]}: {reason}"
        )
    return f"{', '.join(places)}: {reason}"


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()
