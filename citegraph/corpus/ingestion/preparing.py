"""Works out what a document needs where its file is read, in a worker process or a task of Ray, not in the one writer."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from citegraph.corpus.extraction.engine import extract_document
from citegraph.corpus.schema.values import read_row
from citegraph.errors import BadInput

if TYPE_CHECKING:
    from citegraph.corpus.index.collection_record import Encoded
    from citegraph.corpus.ingestion.annotation_files import Sidecar
    from citegraph.corpus.ingestion.ingest_options import IngestOptions
    from citegraph.corpus.ingestion.points import PointRecipe, Points
    from citegraph.corpus.readers.protocol import Reading
    from citegraph.corpus.records.extracted.found import Extraction
    from citegraph.corpus.schema.bucket import Bucket
    from citegraph.corpus.schema.document import Document
    from citegraph.llm.embeddings import Embedder

LONGEST = 2_000_000
"""Characters; a longer document is left to the writer, which has no limit of time."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What was worked out of a reading.

    Attributes:
        extraction: what the bucket's rules find; None where the writer is to decide whether they are asked.
        points: chunks, without their texts, and summaries of a document that has no name yet.
        vectors: of the points, in their order; empty where the writer makes them.
        signature: of the text, for versions; b"" where the writer makes it.
    """

    extraction: Extraction | None
    points: Points | None = None
    vectors: Sequence[Encoded] = ()
    signature: bytes = b""


@dataclass(frozen=True, slots=True)
class Indexing:
    """How what the index holds is worked out.

    Attributes:
        embeddings: "static" or "minilm"; "" leaves the vectors to the writer.
    """

    recipe: PointRecipe
    embeddings: str = ""


@dataclass(frozen=True, slots=True)
class Preparation:
    """What to work out of a reading; the same functions with the same date give what the writer would find.

    Attributes:
        bucket: pickled once, since this is sent with every step of a file.
        extracts: ask the bucket's rules; `every`: also of readings that bring annotations of their own.
        today: of the writer's machine.
        indexing: work out what the index holds too.
    """

    bucket: bytes
    extracts: bool
    every: bool
    today: date
    indexing: Indexing | None = None

    def __call__(self, reading: Reading) -> Prepared | None:
        """Return what was worked out, None when that is nothing."""
        extracts = self.extracts and (self.every or not reading.metadata)
        if len(reading.text) > LONGEST or not (extracts or self.indexing):
            return None
        bucket = _bucket(self.bucket)
        document = reading.as_document(doc_id="", bucket=bucket.name, source_file="", content_hash="")
        found = extract_document(bucket, document, today=self.today) if extracts else None
        if self.indexing is None:
            return Prepared(found)
        return _indexed(self.indexing, bucket, document, reading, found)


def _indexed(
    indexing: Indexing, bucket: Bucket, document: Document, reading: Reading, found: Extraction | None
) -> Prepared:
    """Return points, vectors and signature of a document, as the writer makes them when it knows no more of it."""
    # The database's library comes with them: workers that only extract do without.
    from citegraph.corpus.index.collection_record import encode
    from citegraph.corpus.ingestion.points import context_of, points_of, to_send
    from citegraph.corpus.records.extracted.found import Extraction
    from citegraph.corpus.records.extracted.settle import settle
    from citegraph.corpus.records.likeness import signature_of

    given = read_row(bucket, reading.metadata)[0] if reading.metadata else {}
    values = settle(bucket, document.text, given, found or Extraction(), {}).values
    document = replace(document, title=bucket.title(values) or document.title)
    points = points_of(bucket, document, context_of(bucket, document, values), indexing.recipe)
    embedder = _embedder(indexing.embeddings) if indexing.embeddings else None
    vectors = encode(points.all, embedder, bucket.language) if embedder else ()
    return Prepared(found, to_send(points), vectors, signature_of(document.text))


@lru_cache(maxsize=2)
def _bucket(pickled: bytes) -> Bucket:
    found: Bucket = pickle.loads(pickled)  # noqa: S301  # nosec B301
    return found


@lru_cache(maxsize=1)
def _embedder(name: str) -> Embedder | None:
    from citegraph.llm.embeddings import MiniLMEmbedder, StaticEmbedder

    try:
        return MiniLMEmbedder() if name == "minilm" else StaticEmbedder()
    except BadInput:  # a machine of the cluster without the model's packages: the writer has them
        return None


def preparation(bucket: Bucket, options: IngestOptions, sidecar: Sidecar) -> Preparation | None:
    """Return what the readers work out of new files, None when that is nothing.

    Where rows beside the documents mostly give the values, they are not extracted; and since each row's names are
    indexed with its document, the vectors are then left to the writer.
    """
    every = options.extract == "always"
    extracts = options.extract != "never" and (every or not sidecar)
    indexing = _indexing(options, sidecar) if options.ray is not None else None
    if not extracts and indexing is None:
        return None
    return Preparation(pickle.dumps(bucket), extracts, every, date.today(), indexing)


def _indexing(options: IngestOptions, sidecar: Sidecar) -> Indexing:
    from citegraph.corpus.ingestion.points import PointRecipe

    recipe = PointRecipe(options.chunk_tokens, options.chunk_overlap, options.summaries_from)
    return Indexing(recipe, "" if sidecar else options.embeddings)
