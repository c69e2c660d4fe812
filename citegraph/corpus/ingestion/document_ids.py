"""The id of a file's document: the one that it has, that of the file that was renamed to it, else a name of its own.

A document that its writer may not change is nobody's for them: neither its id nor its text leads to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from citegraph.corpus.ingestion.sources import is_absent, printable
from citegraph.corpus.schema.document import file_of, part_path, safe_id

if TYPE_CHECKING:
    from citegraph.corpus.readers.protocol import Reading
    from citegraph.corpus.records.access import Principal
    from citegraph.corpus.records.document_record import DocumentRecord
    from citegraph.corpus.records.documents import DocumentStore


FRESH = 12
"""Hexadecimal digits that make an id its own."""


def text_hash(text: str) -> str:
    """Return the fingerprint of a document's text."""
    return hashlib.sha256(text.encode()).hexdigest()


class DocumentIds:
    """The ids of one bucket's documents, stored and seen in this ingest.

    `labels` gives those of a stored document, `writer` is who brings the new ones.
    """

    def __init__(
        self,
        known: Mapping[str, DocumentRecord],
        seen: Mapping[str, str],
        bucket: str,
        documents: DocumentStore,
        *,
        labels: Callable[[str], Sequence[str]],
        writer: Principal,
        by_folder: bool = False,
    ) -> None:
        self._by_folder = by_folder
        self._known, self._seen, self._bucket, self._documents = known, seen, bucket, documents
        self._labels, self._writer = labels, writer
        self._of_source = {record.source_path: doc_id for doc_id, record in known.items()}

    def of(self, path: Path, source: str, reading: Reading) -> str:
        """Return the id of a file's document, or of one of its parts, which carries the file's name too."""
        part = reading.part
        place = part_path(source, part)
        named = path.with_name(f"{path.stem}-{Path(part).name}") if part else path
        return self._of_source.get(place) or self._renamed(place, reading.text) or self._free(named, place)

    def given(self, doc_id: str, source: str) -> str:
        """Return the id of a document that names its own: a new one where that is not its writer's to take.

        Who does not see everything gets a new id also where the given one is free: an id that stays would tell that
        there is no hidden document of it.
        """
        wanted = safe_id(doc_id)
        if self._writer.sees_all or (wanted in self._known and self.may_change(wanted)):
            return wanted
        for attempt in range(1000):
            token = hashlib.sha256(f"{source}\0{doc_id}\0{attempt}".encode()).hexdigest()[:FRESH]
            fresh = safe_id(f"{wanted[:180]}-{token}")
            if fresh not in self._known and not self._elsewhere(fresh):
                return fresh
        raise AssertionError("a thousand hashes are not all taken")

    def may_change(self, doc_id: str) -> bool:
        """Tell whether the writer may change a stored document of the bucket."""
        return self._writer.may_change(self._bucket, self._labels(doc_id))

    def _renamed(self, place: str, text: str) -> str | None:
        """Return the stored document of this text whose file is gone."""
        ending = Path(place).suffix.lower()
        for record in self._of_text.get(text_hash(text), ()):
            same = record.doc_id not in self._seen and Path(record.source_path).suffix.lower() == ending
            if same and is_absent(file_of(record.source_path)) and self.may_change(record.doc_id):
                return record.doc_id
        return None

    @cached_property
    def _of_text(self) -> Mapping[str, Sequence[DocumentRecord]]:
        found: dict[str, list[DocumentRecord]] = {}
        for record in self._known.values():
            found.setdefault(record.content_hash, []).append(record)
        return found

    def _free(self, path: Path, source: str) -> str:
        """Return a file's name as id, made unique."""
        short = hashlib.sha256(source.encode()).hexdigest()[:8]
        folder, stem, name = printable(path.parent.name), printable(path.stem), printable(path.name)
        if self._by_folder:
            stem = f"{stem}-{folder}"
        names = [stem, f"{folder}-{stem}", f"{folder}-{name}", f"{stem}-{short}"]
        for name in map(safe_id, names):
            record = self._known.get(name)
            # A stored document whose file is gone was moved here.
            free = record is None or (is_absent(file_of(record.source_path)) and self.may_change(name))
            if free and name not in self._seen and not self._elsewhere(name):
                return name
        return safe_id(names[-1])

    def _elsewhere(self, doc_id: str) -> bool:
        record = self._documents.record(doc_id) if doc_id not in self._known else None
        return record is not None and record.bucket != self._bucket
