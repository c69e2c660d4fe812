"""Tells which files need not be read again, and remembers those that were read as far as their bytes allow."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from citegraph.corpus.ingestion.report import Skipped
from citegraph.corpus.ingestion.sources import printable
from citegraph.corpus.readers.reader_registry import reading_recipe
from citegraph.corpus.records.source_files import SourceRecord, Told, hash_of, settled, stamp_of
from citegraph.corpus.schema.document import file_of, part_path

if TYPE_CHECKING:
    from citegraph.corpus.ingestion.ingest_options import IngestOptions, Stores
    from citegraph.corpus.ingestion.planning import Given, Planner
    from citegraph.corpus.ingestion.sources import SourceFile
    from citegraph.corpus.readers.protocol import ReadOptions

KEPT = 256
"""Files that are remembered at once."""


class FileMemory:
    """What a bucket's stores know of its files: bytes, readers and settings that their documents came from."""

    def __init__(
        self, planner: Planner, stores: Stores, options: IngestOptions, reading: ReadOptions
    ) -> None:
        self._planner = planner
        self._files = stores.documents.files
        self._bucket = planner.bucket.name
        self._dry_run = options.dry_run
        self._reread = options.reread
        self._recipe = [planner.recipe, reading_recipe(reading)]
        # What is too much of an archive depends on these.
        self._limits = repr(options.limits)
        self._stamps: dict[str, tuple[str, int]] = {}
        self._learned: list[SourceRecord] = []

    def unread(self, files: Sequence[SourceFile]) -> list[SourceFile]:
        """Return the files that must be read; the documents of the others go into the report as unchanged."""
        known = self._files.of(self._bucket)
        stored = self._documents()
        left: list[SourceFile] = []
        for file in files:
            stamp = stamp_of(file.path)
            self._stamps[file.source] = (stamp, time.time_ns())
            record = known.get(file.source)
            if record is None or self._reread or not self._is_same(record, file, stored.get(file.source, ())):
                left.append(file)
                continue
            self._keep(file, record, stored.get(file.source, ()))
        if not self._dry_run:
            # A file that is put back as it was after a killed ingest of another text must be read again.
            self._files.forget(self._bucket, [file.source for file in left if file.source in known])
        self.write()
        return left

    def learn(
        self,
        file: SourceFile,
        given: Sequence[Given],
        told: Told,
        *,
        documents: int,
    ) -> None:
        """Remember a file that was read as far as it can be, unless it was written to meanwhile."""
        stamp, taken = self._stamps[file.source]
        content = hash_of(file.path)
        if not content or stamp_of(file.path) != stamp:
            return
        trusted = stamp if settled(stamp, taken) else ""
        recipe = self._recipe_of(given, told)
        self._learned.append(SourceRecord(file.source, trusted, content, recipe, documents, told))

    @property
    def is_full(self) -> bool:
        """Return whether it is time to write."""
        return len(self._learned) >= KEPT

    def write(self) -> None:
        """Store what was learned; only after all documents of those files are stored."""
        learned, self._learned = self._learned, []
        if not self._dry_run:
            self._files.put(self._bucket, learned)

    def _documents(self) -> dict[str, list[str]]:
        """Return the ids of the documents of each file; of a file with one that is half-written, none."""
        found: dict[str, list[str]] = {}
        halves: set[str] = set()
        for doc_id, record in self._planner.known.items():
            file = file_of(record.source_path)
            found.setdefault(file, []).append(doc_id)
            if record.status != "done":
                halves.add(file)
        return {file: sorted(ids) for file, ids in found.items() if file not in halves}

    def _is_same(self, record: SourceRecord, file: SourceFile, doc_ids: Sequence[str]) -> bool:
        if (
            len(doc_ids) != record.documents
            or self._recipe_of(self._planner.given_to(doc_ids), record.told) != record.recipe
        ):
            return False
        stamp, taken = self._stamps[file.source]
        if record.stamp and record.stamp == stamp:
            return True
        if not stamp or hash_of(file.path) != record.content_hash or stamp_of(file.path) != stamp:
            return False
        if settled(stamp, taken):
            self._learned.append(replace(record, stamp=stamp))
        return True

    def _keep(self, file: SourceFile, record: SourceRecord, doc_ids: Sequence[str]) -> None:
        report = self._planner.report
        self._planner.seen.update(dict.fromkeys(doc_ids, file.source))
        for given in self._planner.given_to(doc_ids):
            if given.row is not None:
                report.annotated += 1
                self._planner.check_row(given.doc_id, given.row)
        report.unchanged += len(doc_ids)
        report.not_read += len(doc_ids)
        report.notes += [Skipped(part_path(str(file.path), part), note) for part, note in record.told.notes]
        name = printable(str(file.path))
        report.skipped += [Skipped(name, reason) for reason in record.told.skipped]

    def _recipe_of(self, given: Iterable[Given], told: Told) -> str:
        """Return the fingerprint of what a file's documents depend on beside its bytes."""
        limits = [self._limits] if told.skipped else []
        parts = [*self._recipe, *limits, *sorted(json.dumps(item, default=str) for item in given)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
