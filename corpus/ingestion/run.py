"""One ingest from the first file to the last mark; safe to repeat, to kill and to resume."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.ingestion.planning import Planned, Planner
from corpus.ingestion.report import IngestReport, Skipped, with_places
from corpus.ingestion.sources import files_to_read, is_absent
from corpus.ingestion.stores import DEFAULTS, IngestOptions, Progress, Stores
from corpus.ingestion.writing import Writer, remove_documents
from corpus.readers.protocol import Reading, ReadOptions, Unread
from corpus.readers.registry import read_file
from corpus.sidecar import Sidecar
from corpus.types import file_of
from llm.errors import BadInput

if TYPE_CHECKING:
    from corpus.buckets import Bucket

READINGS_A_STEP = 64  # between two reports of progress


async def ingest(
    paths: Sequence[Path],
    bucket: Bucket,
    *,
    stores: Stores,
    annotations: Sequence[Path] = (),
    options: IngestOptions = DEFAULTS,
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
    run = _Run(Planner(bucket, stores, options, sidecar, known), stores)
    report = run.planner.report
    files = await asyncio.to_thread(files_to_read, paths, annotations, report)
    done, total = 0, sum(files.values())
    for file, size in files.items():
        opened = _Opened(file)
        while not opened.finished:
            await asyncio.to_thread(run.read, opened)
            if run.writer.queue_is_long:
                await run.writer.flush()
            if progress:
                progress(done + min(opened.count, size), total, file.name)
        done += size
    await run.writer.flush()
    await run.prune(paths, remove=options.prune)
    await stores.index.optimize(bucket.name)
    report.unused_annotations = sidecar.unused
    report.seconds = time.monotonic() - began
    return report


async def reembed(
    bucket: Bucket,
    *,
    stores: Stores,
    options: IngestOptions = DEFAULTS,
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
    planner = Planner(bucket, stores, options, Sidecar(), known)
    writer = Writer(planner, stores)
    for done, doc_id in enumerate(sorted(known), 1):
        document = await asyncio.to_thread(stores.documents.whole, doc_id)
        planned = await asyncio.to_thread(planner.plan, document, None) if document is not None else None
        if planned is not None:
            writer.add(planned)
        if writer.queue_is_long:
            await writer.flush()
        if progress:
            progress(done, len(known), doc_id)
    await writer.flush()
    await stores.index.optimize(bucket.name)
    return len(known)


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

    def __init__(self, planner: Planner, stores: Stores) -> None:
        self.planner = planner
        self.writer = Writer(planner, stores)
        self._stores = stores
        self._options = ReadOptions(language=planner.bucket.language)
        self._read_whole: set[str] = set()

    def read(self, file: _Opened) -> None:
        """Read on in a file until it ends or the queue is long enough; a bad file is reported and ends."""
        try:
            file.readings = file.readings or read_file(file.path, self._options)
            for reading in file.readings:
                file.count += 1
                if isinstance(reading, Unread):
                    file.problems.setdefault(reading.reason, []).append(reading.where)
                else:
                    self._plan(file, reading)
                if self.writer.queue_is_long or file.count % READINGS_A_STEP == 0:
                    return
            self._read_whole.add(file.source)
        except BadInput as error:
            file.problems[str(error)] = []
        file.finished = True
        for reason, places in file.problems.items():
            self.planner.report.skipped.append(Skipped(str(file.path), with_places(reason, places)))

    def _plan(self, file: _Opened, reading: Reading) -> None:
        planned = self.planner.read(file.path, file.source, reading)
        if isinstance(planned, Planned):
            self.writer.add(planned)
        elif planned:
            file.problems.setdefault(planned, []).append(reading.doc_id)

    async def prune(self, paths: Sequence[Path], *, remove: bool) -> None:
        """Remove, or only count, the stored documents whose file or line is gone."""
        gone = await asyncio.to_thread(self._gone, paths)
        report = self.planner.report
        report.missing = len(gone)
        if remove and gone:
            await remove_documents(gone, report.bucket, stores=self._stores)
            report.deleted = len(gone)

    def _gone(self, paths: Sequence[Path]) -> list[str]:
        folders = [str(path.resolve()) + os.sep for path in paths if path.is_dir()]
        return [
            doc_id
            for doc_id, record in self.planner.known.items()
            if doc_id not in self.planner.seen and self._is_gone(record.source_path, folders)
        ]

    def _is_gone(self, source: str, folders: Sequence[str]) -> bool:
        file = file_of(source)
        if file in self._read_whole:
            return True
        return any(file.startswith(folder) for folder in folders) and is_absent(file)
