"""Where an ingest writes to, and how it works."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from citegraph.corpus.ingestion.chunking import DEFAULT_OVERLAP, DEFAULT_TOKENS
from citegraph.corpus.ingestion.summaries import DEFAULT_CHARACTERS
from citegraph.corpus.records.access import OWNER, Principal, checked_labels

if TYPE_CHECKING:
    from citegraph.corpus.index.index_protocol import Index
    from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
    from citegraph.corpus.records.documents import DocumentStore
    from citegraph.corpus.records.extracted.extraction_store import ExtractionStore
    from citegraph.settings import Settings

Progress = Callable[[int, int, str], None]
"""Called with (units done, units in all, file name); a unit is a file or a JSONL line."""


Extract = Literal["auto", "always", "never"]


@dataclass(frozen=True, slots=True)
class Stores:
    """Where an ingest writes to."""

    documents: DocumentStore
    annotations: AnnotationStore
    index: Index
    extractions: ExtractionStore


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading may cost.

    Attributes:
        seconds: for one step, which holds at least one document.
        memory_mb: address space of a worker process, libraries included; 0 is no limit.
        file_mb: size of a file that is read whole, and of what an archive unpacks to.
    """

    seconds: float = 300.0
    memory_mb: int = 4096
    file_mb: int = 512


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How an ingest works.

    Attributes:
        chunk_tokens, chunk_overlap: in tokens.
        summaries_from: characters above which a document gets summaries; 0 is none.
        prune: remove the documents of the given folders and files whose file or line is gone.
        dry_run: read and compare, write nothing.
        reread: read files again that have not changed since they were read.
        extract: from which documents values are extracted: `auto` those without an annotation row.
        workers: reading processes; None is one a processor, 0 reads in this process without limits: for
            files of one's own, as in tests.
        limits: what reading a file may cost.
        labels: put on every document that is read, in place of those it has; None keeps what each has.
        writer: who brings the documents. A document's own id names a stored one only if they may change that.
        named_by_folder: the ids of new documents carry the name of their file's folder, so that they are free and
            tell of no other document.
        embeddings: "static" or "minilm": the model of the index, for Ray's tasks; "" leaves vectors to the writer.
        ray: read in the tasks of Ray at this address; "" starts Ray here. None reads in worker processes of this
            machine.
    """

    chunk_tokens: int = DEFAULT_TOKENS
    chunk_overlap: int = DEFAULT_OVERLAP
    summaries_from: int = DEFAULT_CHARACTERS
    prune: bool = False
    dry_run: bool = False
    reread: bool = False
    extract: Extract = "auto"
    workers: int | None = None
    limits: Limits = field(default_factory=Limits)
    labels: tuple[str, ...] | None = None
    writer: Principal = OWNER
    named_by_folder: bool = False
    embeddings: str = ""
    ray: str | None = None


DEFAULTS = IngestOptions()


def options_from(
    settings: Settings,
    *,
    prune: bool = False,
    labels: Sequence[str] | None = None,
    writer: Principal = OWNER,
) -> IngestOptions:
    """Return how the settings say that an ingest works.

    Raises:
        BadInput: a label cannot be stored.
    """
    return IngestOptions(
        chunk_tokens=settings.chunk_tokens,
        prune=prune,
        workers=settings.ingest_workers,
        limits=Limits(settings.ingest_seconds, settings.ingest_memory_mb, settings.ingest_file_mb),
        labels=None if labels is None else checked_labels(labels),
        writer=writer,
        # An endpoint's key does not leave this machine; there is little to win either.
        embeddings="" if settings.embeddings == "openai" else settings.embeddings,
    )
