"""Ingests that kill themselves: `kill -9` at the n-th step of the stores, some milliseconds into what follows.

Steps are the writing calls of the stores, the commits of the database, each of which also moves its log into its
file, and the moments in which a shard lays its points on disk and opens itself again.
"""

import asyncio
import contextlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import qdrant_edge as edge
from sqlalchemy import Engine, event

from citegraph.corpus.index.edge.edge_index import EdgeIndex
from citegraph.corpus.index.edge.edge_shard import Shard, Sizes
from citegraph.corpus.index.index_protocol import DENSE, SPARSE, SearchRequest
from citegraph.corpus.ingestion import writing
from citegraph.corpus.ingestion.ingest_options import IngestOptions, Stores
from citegraph.corpus.ingestion.pipeline import ingest
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.records.database import open_database
from citegraph.corpus.schema.bucket import Bucket, Identifier
from citegraph.corpus.schema.field import Field
from tests.citegraph.corpus.open_stores import open_stores

BUCKET = Bucket(
    name="notes",
    description="Notes of a yard.",
    nouns=("note",),
    fields=(
        Field(name="code", type="keyword", description="Code."),
        Field(name="keeper", type="keyword", description="Who has it.", extract=({"labels": ["Keeper"]},)),
        Field(name="weighed", type="integer", description="Kilograms.", extract=({"pattern": r"(\d+) kg"},)),
        Field(name="supersedes", type="keyword", description="What it replaces."),
    ),
    identifiers=(Identifier(name="code", pattern=r"\bYD-\d+\b", field="code"),),
    supersedes_field="supersedes",
)
WORDS = "anchor rope crane quay tide ferry pilot mast sail crate hull deck port buoy chain winch".split()
SMALL_BATCH = 8
SIZES = Sizes(seal=40, graph=150)
SUMMARIES_FROM = 1_000
"""Characters; some notes are longer."""
WRITES = {
    "documents": ("put", "mark", "delete", "settle"),
    "annotations": ("put", "delete"),
    "extractions": ("announce", "put", "delete"),
    "index": ("ensure", "upsert", "set_metadata", "delete_documents", "optimize"),
}
ENGINE = ("_seal", "_reopen", "finish")


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
        text = " ".join(words) + f" note {number}, see YD-{number}.\nKeeper: Ada {number % 7}\n"
        if number % 10 == 7:
            parts = [" ".join(draw.choices(WORDS, k=60)) for _ in range(6)]
            text += "\n\n".join(f"# Part {place}\n\n{part}." for place, part in enumerate(parts))
        name = f"plan {number // 2} v{number % 2 + 1}" if versioned else f"note {number}"
        code = number // 2 if versioned else number
        if second and number % 5 == 0:
            text += f" It was written again and weighs {number} kg."
        if second and number % 11 == 3:
            continue
        (folder / f"{name}.txt").write_text(text)
        if number % 4 != 1:  # what the others say is extracted
            rows.append(f'"{name}.txt",YD-{code + 1000 * (second and number % 6 == 2)}')
    if second:
        for number in range(60, 70):
            (folder / f"note {number}.txt").write_text(f"A new note {number} of the winch.")
    folder.with_suffix(".csv").write_text("\n".join(["file,code", *rows]))


def killed_stores(home: Path) -> Stores:
    """Return the embedded stores in a folder; each commit is a checkpoint too."""
    url = f"sqlite:///{home / 'citegraph.sqlite'}"
    engine = open_database(url)
    if not event.contains(engine, "connect", _checkpoint_often):
        event.listen(engine, "connect", _checkpoint_often)
    return open_stores(home, BUCKET, sizes=SIZES)


def _checkpoint_often(connection: Any, _: Any) -> None:
    connection.execute("PRAGMA wal_autocheckpoint=1")


def ingest_folder(home: Path, folder: Path, kill: "Kill | None" = None) -> list[str]:
    """Ingest the notes, in small batches; returns the names of the steps that were taken."""
    stores = killed_stores(home)
    steps = Steps(kill)

    async def run() -> None:
        options = IngestOptions(prune=True, workers=0, summaries_from=SUMMARIES_FROM)
        try:
            await ingest(
                [folder], BUCKET, stores=stores, annotations=[folder.with_suffix(".csv")], options=options
            )
        finally:
            await stores.index.close()

    with small_batches(), steps.watched(stores, open_database(f"sqlite:///{home / 'citegraph.sqlite'}")):
        asyncio.run(run())
    return steps.taken


@dataclass(frozen=True, slots=True)
class Kill:
    """When an ingest dies: so many seconds after it began a step, counted from 0."""

    step: int
    after: float


class Steps:
    """Notes the steps of an ingest, and kills this process in one of them."""

    def __init__(self, kill: Kill | None) -> None:
        self.taken: list[str] = []
        self._kill = kill

    @contextlib.contextmanager
    def watched(self, stores: Stores, engine: Engine) -> Iterator[None]:
        """Note what is done meanwhile."""
        places = [(getattr(stores, store), name) for store, names in WRITES.items() for name in names]
        with pytest.MonkeyPatch.context() as patch:
            for place, name in [*places, *((Shard, name) for name in ENGINE)]:
                patch.setattr(place, name, self._noted(name, getattr(place, name)))
            event.listen(engine, "commit", self._committed)
            yield
            event.remove(engine, "commit", self._committed)

    def _noted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **named: Any) -> Any:
            self._take(name)
            return call(*arguments, **named)

        return noted

    def _committed(self, _: Any) -> None:
        self._take("commit")

    def _take(self, name: str) -> None:
        if self._kill and len(self.taken) == self._kill.step:
            threading.Thread(target=_die, args=(self._kill.after,), daemon=True).start()
            time.sleep(0)
        self.taken.append(name)


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
    """Return all that the stores hold: documents, values, facts, likeness, points, and what searches find."""

    async def read() -> dict[str, Any]:
        stores = killed_stores(home)
        documents = stores.documents
        ids = sorted(documents.all_records(BUCKET.name))
        index = stores.index
        assert isinstance(index, EdgeIndex)
        assert isinstance(stores.annotations, AnnotationStore)
        found = {
            "documents": {doc_id: (documents.whole(doc_id), documents.record(doc_id)) for doc_id in ids},
            "annotations": {doc_id: stores.annotations.get(doc_id) for doc_id in ids},
            "sources": {doc_id: stores.annotations.get_sources(doc_id, BUCKET.name) for doc_id in ids},
            "facts": {doc_id: stores.extractions.get(doc_id) for doc_id in ids},
            "rows": stores.annotations.rows(BUCKET.name),
            "likeness": documents.likeness(ids),
            "unsettled": documents.unsettled(BUCKET.name, 10),
            "chunks": {doc_id: await stores.index.document_chunks(BUCKET.name, doc_id) for doc_id in ids},
            "points": points_of(index),
            "record": json.loads((home / "index" / f"{BUCKET.name}.json").read_text()),
            "count": await stores.index.count(BUCKET.name),
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


def points_of(index: EdgeIndex, bucket: str = BUCKET.name) -> dict[str, Any]:
    """Return the payload and the vectors of every point of the bucket, summaries included."""
    opened = index._opened(bucket)
    assert opened
    request = edge.ScrollRequest(limit=10_000, with_payload=True, with_vector=True)
    records, following = opened.shard.call(lambda handle: handle.scroll(request))
    assert following is None
    return {str(record.id): (record.payload, *vectors_of(record.vector)) for record in records}


def vectors_of(stored: Any) -> tuple[list[float], dict[int, float]]:
    """Return the dense vector and the weights of the sparse one."""
    sparse = stored[SPARSE]
    return list(stored[DENSE]), dict(zip(sparse.indices, sparse.values, strict=True))
