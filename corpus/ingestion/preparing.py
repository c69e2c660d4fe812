"""Extracts values where a file is read, in a worker process or a task of Ray, so that the one writer need not."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from corpus.extraction.engine import extract_document
from corpus.types import Document

if TYPE_CHECKING:
    from corpus.buckets import Bucket
    from corpus.extraction.found import Extraction
    from corpus.ingestion.stores import IngestOptions
    from corpus.readers.protocol import Reading
    from corpus.sidecar import Sidecar

LONGEST = 2_000_000
"""Characters; a longer document is left to the writer, which has no limit of time."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """What to work out of a reading; the same functions with the same date give what the writer would find.

    Attributes:
        bucket: pickled once, since this is sent with every step of a file.
        every: also of readings that bring annotations of their own.
        today: of the writer's machine.
    """

    bucket: bytes
    every: bool
    today: date

    def __call__(self, reading: Reading) -> Extraction | None:
        """Return what the bucket's rules find, None where the writer is to decide whether they are asked."""
        if (reading.metadata and not self.every) or len(reading.text) > LONGEST:
            return None
        bucket = _bucket(self.bucket)
        document = Document(
            doc_id="",
            bucket=bucket.name,
            text=reading.text,
            source_file="",
            content_hash="",
            pages=reading.pages,
            layouts=reading.layouts,
            embedded=reading.embedded,
        )
        return extract_document(bucket, document, today=self.today)


@lru_cache(maxsize=2)
def _bucket(pickled: bytes) -> Bucket:
    found: Bucket = pickle.loads(pickled)
    return found


def preparation(bucket: Bucket, options: IngestOptions, sidecar: Sidecar) -> Preparation | None:
    """Return what the readers work out of new files; None when values are not extracted, or rows mostly give them."""
    every = options.extract == "always"
    if options.extract == "never" or (sidecar and not every):
        return None
    return Preparation(pickle.dumps(bucket), every, date.today())
