"""Ingests that kill themselves: `kill -9` at the n-th step of the stores, some milliseconds into what follows."""

import asyncio
import contextlib
import multiprocessing
import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus.annotations import AnnotationStore
from corpus.buckets import Bucket, Identifier
from corpus.documents import DocumentStore
from corpus.edge_index import EdgeIndex
from corpus.fields import Field
from corpus.index import SearchRequest
from corpus.ingestion import writing
from corpus.ingestion.run import ingest
from corpus.ingestion.stores import IngestOptions, Stores
from llm.embeddings import StaticEmbedder

BUCKET = Bucket(
    name="notes",
    description="Notes of a yard.",
    nouns=("note",),
    fields=(
        Field(name="code", type="keyword", description="Code."),
        Field(name="supersedes", type="keyword", description="What it replaces."),
    ),
    identifiers=(Identifier(name="code", pattern=r"\bYD-\d+\b", field="code"),),
    supersedes_field="supersedes",
)
WORDS = "anchor rope crane quay tide ferry pilot mast sail crate hull deck port buoy chain winch".split()
SMALL_BATCH = 8
WRITES = {
    "documents": ("put", "mark", "delete", "settle"),
    "annotations": ("put", "delete"),
    "index": ("ensure", "upsert", "set_metadata", "delete_documents", "optimize"),
}


@contextlib.contextmanager
def small_batches() -> Iterator[None]:
    """Write few documents at a time, so that an ingest has many steps."""
    before = writing.BATCH_CHUNKS, writing.BATCH_DOCUMENTS
    writing.BATCH_CHUNKS = writing.BATCH_DOCUMENTS = SMALL_BATCH
    yield
    writing.BATCH_CHUNKS, writing.BATCH_DOCUMENTS = before


def write_folder(folder: Path, *, second: bool = False) -> None:
    """Write notes with their annotations; in the second state some are gone, new, other or newly annotated."""
    draw = random.Random(5)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = []
    for number in range(60):
        versioned = number // 2 % 4 == 0
        words = random.Random(number // 2).choices(WORDS, k=40) if versioned else draw.choices(WORDS, k=40)
        text = " ".join(words) + f" note {number}, see YD-{number}."
        name = f"plan {number // 2} v{number % 2 + 1}" if versioned else f"note {number}"
        code = number // 2 if versioned else number
        if second and number % 5 == 0:
            text += " It was written again."
        if second and number % 11 == 3:
            continue
        (folder / f"{name}.txt").write_text(text)
        rows.append(f'"{name}.txt",YD-{code + 1000 * (second and number % 6 == 2)}')
    if second:
        for number in range(60, 70):
            (folder / f"note {number}.txt").write_text(f"A new note {number} of the winch.")
    folder.with_suffix(".csv").write_text("\n".join(["file,code", *rows]))


def open_stores(home: Path) -> Stores:
    """Return the embedded stores in a folder."""
    url = f"sqlite:///{home / 'citegraph.sqlite'}"
    index = EdgeIndex(home / "index", StaticEmbedder(), weights=(1.0, 3.0))
    return Stores(DocumentStore(url), AnnotationStore(url, {BUCKET.name: BUCKET}), index)


def ingest_folder(home: Path, folder: Path, kill: "Kill | None" = None) -> int:
    """Ingest the notes, in small batches; returns the steps that the stores took."""
    stores = open_stores(home)
    steps = Steps(stores, kill)

    async def run() -> None:
        options = IngestOptions(prune=True, workers=0)
        await ingest(
            [folder], BUCKET, stores=stores, annotations=[folder.with_suffix(".csv")], options=options
        )
        await stores.index.close()

    with small_batches():
        asyncio.run(run())
    return steps.count


@dataclass(frozen=True, slots=True)
class Kill:
    """When an ingest dies: so many seconds after it began a step."""

    step: int
    after: float


class Steps:
    """Counts the writing calls of the stores, and kills this process in one of them."""

    def __init__(self, stores: Stores, kill: Kill | None) -> None:
        self.count = 0
        self._kill = kill
        for store, names in WRITES.items():
            for name in names:
                self._watch(getattr(stores, store), name)

    def _watch(self, store: Any, name: str) -> None:
        call = getattr(store, name)

        def counted(*arguments: Any, **named: Any) -> Any:
            self.count += 1
            if self._kill and self.count == self._kill.step:
                threading.Thread(target=_die, args=(self._kill.after,), daemon=True).start()
                time.sleep(0)
            return call(*arguments, **named)

        setattr(store, name, counted)


def _die(after: float) -> None:
    time.sleep(after)
    os.kill(os.getpid(), signal.SIGKILL)


def killed_ingest(home: Path, folder: Path, kill: Kill) -> bool:
    """Run an ingest in a process of its own that is to die; returns whether it did before it was done."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "qdrant_edge"])
    child = context.Process(target=ingest_folder, args=(home, folder, kill))
    child.start()
    child.join()
    assert child.exitcode in {0, -signal.SIGKILL}
    return child.exitcode != 0


def contents(home: Path) -> dict[str, Any]:
    """Return all that the stores hold: documents, annotations, likeness, chunks, and what searches find."""

    async def read() -> dict[str, Any]:
        stores = open_stores(home)
        documents = stores.documents
        ids = sorted(documents.all_records(BUCKET.name))
        found = {
            "documents": {doc_id: (documents.whole(doc_id), documents.record(doc_id)) for doc_id in ids},
            "annotations": {doc_id: stores.annotations.get(doc_id) for doc_id in ids},
            "rows": stores.annotations.rows(BUCKET.name),  # type: ignore[attr-defined]
            "likeness": documents.likeness(ids),
            "unsettled": documents.unsettled(BUCKET.name, 10),
            "chunks": {doc_id: await stores.index.document_chunks(BUCKET.name, doc_id) for doc_id in ids},
            "count": await stores.index.count(BUCKET.name),
            "codes": sorted(await stores.index.facet(BUCKET.name, "meta.code", limit=1000)),
        }
        for query in ("winch", "anchor rope YD-14", "the tide at the quay"):
            for mode in ("keyword", "semantic", "hybrid"):
                hits = await stores.index.search(SearchRequest(BUCKET.name, query, mode, limit=200))  # type: ignore[arg-type]
                # Fused scores are of ranks, and the engine ranks equal scores in the order of their writing.
                scores = [0.0 if mode == "hybrid" else round(-hit.score, 5) for hit in hits]
                found[f"{mode}: {query}"] = sorted(
                    zip(scores, (hit.chunk.chunk_id for hit in hits), strict=True)
                )
        await stores.index.close()
        return found

    return asyncio.run(read())
