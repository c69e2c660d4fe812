"""One ingest from the first file to the last mark; safe to repeat, to kill and to resume."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from citegraph.corpus.ingestion.annotation_files import Sidecar
from citegraph.corpus.ingestion.ingest_options import DEFAULTS, IngestOptions, Progress, Stores
from citegraph.corpus.ingestion.new_versions import find_versions
from citegraph.corpus.ingestion.planning import NO_TEXT, Planner
from citegraph.corpus.ingestion.preparing import preparation
from citegraph.corpus.ingestion.report import Filled, IngestReport, Skipped, with_places
from citegraph.corpus.ingestion.sources import SourceFile, Sources, find_sources, is_absent, printable
from citegraph.corpus.ingestion.unchanged import FileMemory
from citegraph.corpus.ingestion.worker import Step, StepReader
from citegraph.corpus.ingestion.worker_pool import FileReader, ReadAlready, open_readers
from citegraph.corpus.ingestion.writing import DryWriter, Writer, remove_documents
from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread
from citegraph.corpus.records.extracted.review_list import ReviewList
from citegraph.corpus.records.source_files import Told
from citegraph.corpus.schema.document import file_of

if TYPE_CHECKING:
    from citegraph.corpus.ingestion.preparing import Prepared
    from citegraph.corpus.records.document_record import DocumentRecord, Status
    from citegraph.corpus.schema.bucket import Bucket


async def ingest(
    paths: Sequence[Path] | Sources,
    bucket: Bucket,
    *,
    stores: Stores,
    annotations: Sequence[Path] = (),
    options: IngestOptions = DEFAULTS,
    progress: Progress | None = None,
    ready: FileReader | None = None,
) -> IngestReport:
    """Bring the documents of files and folders into a bucket and report what happened.

    A document that is stored already with the same text, title, chunking and annotations is left
    alone. What a killed ingest left half-written is marked and written again by the next one.

    Args:
        paths: files and folders; or what `ready` reads in their place.
        annotations: CSV or JSONL files whose rows name a document id or a file.
        progress: called with (units done, units in all, file name); a unit is a file or a JSONL line.
        ready: reads them in place of worker processes: what was read already (`read_ahead`), so that the bucket is
            held for the writing alone, or a source that holds no files.

    Raises:
        BadInput: an annotation file cannot be read, the index has another embedding model, or Ray is not installed.
        Unavailable: a store or Ray does not answer, or another process writes to the bucket; what was written stays.
    """
    began = time.monotonic()
    reading = ReadOptions(language=bucket.language)
    sidecar = await asyncio.to_thread(Sidecar, annotations)
    prepare = preparation(bucket, options, sidecar)
    read = StepReader(reading, options.limits, prepare)
    reader = contextlib.nullcontext(ready) if ready is not None else _readers(options, read)
    async with _alone(bucket, stores, options), reader as readers:
        if not options.dry_run:
            await stores.index.ensure(bucket)
        known = await asyncio.to_thread(stores.documents.all_records, bucket.name)
        lost = 0 if options.dry_run else await _lost(known, bucket, stores)
        if lost:
            known = await asyncio.to_thread(stores.documents.all_records, bucket.name)
        planner = await asyncio.to_thread(Planner, bucket, stores, options, sidecar, known)
        memory = await asyncio.to_thread(FileMemory, planner, stores, options, reading)
        run = _Run(planner, stores, memory, dry_run=options.dry_run)
        report = planner.report
        if lost:
            report.notes.append(Skipped(bucket.name, f"its index was empty: {lost:,} documents indexed anew"))
        if isinstance(paths, Sources):
            sources = paths
        else:
            sources = await asyncio.to_thread(find_sources, paths, annotations, report)
        sidecar.meet(file.source for file in sources.files)
        await run.read(sources, readers, progress)
        await run.settle(sources, prune=options.prune)
    if not options.dry_run:
        report.values = await asyncio.to_thread(filled, bucket, stores, sorted(planner.seen))
    report.unused_annotations, report.unused_rows = sidecar.unused, sidecar.unused_names
    report.notes += [Skipped(name, said) for name, said in sidecar.doubtful]
    report.seconds = time.monotonic() - began
    return report


def filled(bucket: Bucket, stores: Stores, doc_ids: Sequence[str]) -> list[Filled]:
    """Return which fields of these documents have a value, and which are to be looked at; blocking."""
    found = stores.annotations.filled(bucket.name, doc_ids)
    listed = ReviewList(stores.extractions.sql_url).counts(bucket, doc_ids)
    counts = (
        Filled(item.name, found.get(item.name, 0), listed.get(item.name, 0), item.name in bucket.telling)
        for item in bucket.fields
    )
    return [item for item in counts if doc_ids and (item.telling or item.found or item.review)]


async def read_ahead(
    path: Path, bucket: Bucket, *, stores: Stores, options: IngestOptions = DEFAULTS
) -> ReadAlready:
    """Read one new file in a worker process under the limits of an ingest; nothing is written or held meanwhile."""
    prepare = preparation(bucket, options, Sidecar())
    read = StepReader(ReadOptions(language=bucket.language), options.limits, prepare)
    workers = options.workers if options.workers == 0 else 1
    async with open_readers(workers, read, options.limits) as readers:
        return ReadAlready({path: [step async for _, step in readers.read([path], {path})]})


def _alone(bucket: Bucket, stores: Stores, options: IngestOptions) -> AbstractAsyncContextManager[None]:
    return contextlib.nullcontext() if options.dry_run else stores.documents.one_writer(bucket.name)


async def _lost(known: Mapping[str, DocumentRecord], bucket: Bucket, stores: Stores) -> int:
    """Mark the stored documents to be written again when the index holds nothing; returns how many they are.

    So it is after the index was removed, or when another machine with an index of its own wrote to the database.
    """
    done = [doc_id for doc_id, record in known.items() if record.status == "done"]
    if not done or await stores.index.count(bucket.name):
        return 0
    await asyncio.to_thread(stores.documents.mark, done, "pending")
    return len(done)


def _readers(options: IngestOptions, read: StepReader) -> AbstractAsyncContextManager[FileReader]:
    if options.ray is None:
        return open_readers(options.workers, read, options.limits)
    from citegraph.corpus.ingestion.on_ray import open_ray

    return open_ray(options.ray, read, options.limits)


async def reembed(
    bucket: Bucket,
    *,
    stores: Stores,
    options: IngestOptions = DEFAULTS,
    progress: Progress | None = None,
) -> int:
    """Build a bucket's index anew from the stored documents, with the embedding model of the settings.

    Returns the number of documents. When it is killed, running it again completes it.

    Raises:
        Unavailable: a store does not answer, or another process writes to the bucket.
    """
    async with stores.documents.one_writer(bucket.name):
        stored = await asyncio.to_thread(stores.documents.all_records, bucket.name)
        kept = [doc_id for doc_id, record in stored.items() if record.status != "removing"]
        await asyncio.to_thread(stores.documents.mark, kept, "pending")
        known = await asyncio.to_thread(stores.documents.all_records, bucket.name)
        await stores.index.drop(bucket.name)
        await stores.index.ensure(bucket)
        planner = await asyncio.to_thread(Planner, bucket, stores, options, Sidecar(), known)
        await Writer(planner, stores).write_again(sorted(known), progress=progress)
        await stores.index.optimize(bucket.name)
    return len(known)


@dataclass(slots=True)
class _Opened:
    """A file that is being read.

    Attributes:
        count: readings so far; `documents` are those of them that gave a document.
        problems: what could not be used, by reason.
        notes: (part, note) of its readings.
        passing: whether what could not be used may be another time.
        told: whether values that came with its texts were refused; the next report is to say so again.
    """

    file: SourceFile
    count: int = 0
    documents: int = 0
    passing: bool = False
    problems: dict[str, list[str]] = field(default_factory=dict)
    notes: list[tuple[str, str]] = field(default_factory=list)
    told: bool = False


class _Run:
    """The state of one ingest."""

    def __init__(self, planner: Planner, stores: Stores, memory: FileMemory, *, dry_run: bool) -> None:
        self.planner = planner
        self._memory = memory
        self._writer: Writer | DryWriter = DryWriter(planner) if dry_run else Writer(planner, stores)
        self._dry_run = dry_run
        self._stores = stores
        self._read_whole: set[str] = set()

    async def read(self, sources: Sources, readers: FileReader, progress: Progress | None) -> None:
        """Read the files that are new or changed, and write what is."""
        unread = await asyncio.to_thread(self._memory.unread, sources.files)
        total = sum(file.units for file in sources.files)
        done = total - sum(file.units for file in unread)
        if progress and done:
            progress(done, total, "")
        files = iter(unread)
        opened: _Opened | None = None
        stored = {file_of(record.source_path) for record in self.planner.known.values()}
        fresh = {file.path for file in unread if file.source not in stored}
        async for _, step in readers.read([file.path for file in unread], fresh):
            opened = opened or _Opened(next(files))
            await self._take(opened, step)
            if progress:
                progress(done + min(opened.count, opened.file.units), total, opened.file.path.name)
            if step.finished:
                await asyncio.to_thread(self._close, opened, step)
                done += opened.file.units
                opened = None
                if self._memory.is_full:
                    await self._flush()
        await self._flush()

    async def _flush(self) -> None:
        await self._writer.flush()
        await asyncio.to_thread(self._memory.write)

    async def _take(self, opened: _Opened, step: Step) -> None:
        rest = zip_longest(step.readings, step.prepared)
        # Exactly as many chunks a batch, however the readings came: the same files give the same index.
        while await asyncio.to_thread(self._plan, opened, rest):
            await self._flush()

    def _plan(self, opened: _Opened, rest: Iterator[tuple[Reading | Unread, Prepared | None]]) -> bool:
        """Plan readings until the queue is long enough; returns whether it is."""
        for reading, prepared in rest:
            opened.count += 1
            if isinstance(reading, Unread):
                opened.problems.setdefault(reading.reason, []).append(reading.where)
                opened.passing |= reading.passing
                continue
            refused = self.planner.report.refused
            planned = self.planner.read(opened.file.path, opened.file.source, reading, prepared)
            opened.notes += [(reading.part, note) for note in reading.notes]
            opened.told |= bool(reading.metadata) and self.planner.report.refused != refused
            if isinstance(planned, str):
                opened.problems.setdefault(planned, []).append(reading.doc_id or reading.part)
                # Whether an id is taken depends on other files too.
                opened.passing |= planned != NO_TEXT
                continue
            opened.documents += 1
            if planned is not None:
                self._writer.add(planned)
                if self._writer.queue_is_long:
                    return True
        return False

    def _close(self, opened: _Opened, step: Step) -> None:
        if step.failure:
            opened.problems[step.failure] = []
            opened.passing |= not step.lasting
        else:
            self._read_whole.add(opened.file.source)
        given = self.planner.taken()
        skipped = [with_places(reason, places) for reason, places in opened.problems.items()]
        if not opened.passing and not opened.told:
            told = Told(tuple(opened.notes), tuple(skipped))
            self._memory.learn(opened.file, given, told, documents=opened.documents)
        name = printable(str(opened.file.path))
        self.planner.report.skipped += [Skipped(name, reason) for reason in skipped]

    async def settle(self, sources: Sources, *, prune: bool) -> None:
        """Remove, or only count, what is gone; complete what a kill left; look for versions; make searches fast."""
        report = self.planner.report
        gone = await asyncio.to_thread(self._gone, sources)
        report.missing = len(gone)
        removing = [doc_id for doc_id, status in self._left_by_a_kill() if status == "removing"]
        removed = sorted({*removing, *(gone if prune else ())})
        if self._dry_run:
            report.deleted = len(removed)
            return
        await remove_documents(removed, report.bucket, stores=self._stores)
        report.deleted = len(removed)
        await self._complete(set(removed))
        await find_versions(self.planner.bucket, self._stores, report)
        await self._stores.index.optimize(report.bucket)

    def _left_by_a_kill(self) -> list[tuple[str, Status]]:
        known, seen = self.planner.known.items(), self.planner.seen
        return [
            (doc_id, item.status) for doc_id, item in known if item.status != "done" and doc_id not in seen
        ]

    async def _complete(self, removed: set[str]) -> None:
        """Write the documents again whose writing was killed and whose file is gone or unreadable now."""
        left = [doc_id for doc_id, _ in self._left_by_a_kill() if doc_id not in removed]
        await Writer(self.planner, self._stores).write_again(left)

    def _gone(self, sources: Sources) -> list[str]:
        listed = {file.source for file in sources.files}
        return [
            doc_id
            for doc_id, record in self.planner.known.items()
            if doc_id not in self.planner.seen and self._is_gone(record.source_path, sources.folders, listed)
        ]

    def _is_gone(self, source: str, folders: Sequence[str], listed: set[str]) -> bool:
        file = file_of(source)
        if file in self._read_whole:
            return True
        if file in listed:
            return False
        return any(file.startswith(folder) for folder in folders) and is_absent(file)
