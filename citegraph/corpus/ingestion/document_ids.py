"""The id of a file's document: the one that it has, that of the file that was renamed to it, else a name of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from citegraph.corpus.ingestion.sources import is_absent, printable
from citegraph.corpus.schema.document import file_of, part_path, safe_id

if TYPE_CHECKING:
    from citegraph.corpus.readers.protocol import Reading
    from citegraph.corpus.records.documents import DocumentRecord, DocumentStore


def text_hash(text: str) -> str:
    """Return the fingerprint of a document's text."""
    return hashlib.sha256(text.encode()).hexdigest()


class DocumentIds:
    """The ids of one bucket's documents, stored and seen in this ingest."""

    def __init__(
        self,
        known: Mapping[str, DocumentRecord],
        seen: Mapping[str, str],
        bucket: str,
        documents: DocumentStore,
    ) -> None:
        self._known, self._seen, self._bucket, self._documents = known, seen, bucket, documents
        self._of_source = {record.source_path: doc_id for doc_id, record in known.items()}

    def of(self, path: Path, source: str, reading: Reading) -> str:
        """Return the id of a file's document, or of one of its parts, which carries the file's name too."""
        part = reading.part
        place = part_path(source, part)
        named = path.with_name(f"{path.stem}-{Path(part).name}") if part else path
        return self._of_source.get(place) or self._renamed(place, reading.text) or self._free(named, place)

    def _renamed(self, place: str, text: str) -> str | None:
        """Return the stored document of this text whose file is gone."""
        ending = Path(place).suffix.lower()
        for record in self._of_text.get(text_hash(text), ()):
            same = record.doc_id not in self._seen and Path(record.source_path).suffix.lower() == ending
            if same and is_absent(file_of(record.source_path)):
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
        names = [stem, f"{folder}-{stem}", f"{folder}-{name}", f"{stem}-{short}"]
        for name in map(safe_id, names):
            record = self._known.get(name)
            # A stored document whose file is gone was moved here.
            free = record is None or is_absent(file_of(record.source_path))
            if free and name not in self._seen and not self._elsewhere(name):
                return name
        return safe_id(names[-1])

    def _elsewhere(self, doc_id: str) -> bool:
        record = self._documents.record(doc_id) if doc_id not in self._known else None
        return record is not None and record.bucket != self._bucket
