"""Files read in Ray's tasks give the same index, annotations and report as files read in worker processes."""

import sys
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from cli.ingest import ray_at
from corpus.annotations import AnnotationStore
from corpus.buckets import load_buckets
from corpus.documents import DocumentStore
from corpus.edge_index import EdgeIndex
from corpus.extraction.store import ExtractionStore
from corpus.ingestion.on_ray import open_ray
from corpus.ingestion.run import ingest
from corpus.ingestion.stores import IngestOptions, Stores
from corpus.ingestion.worker import Limits, Step
from llm.embeddings import StaticEmbedder
from llm.errors import BadInput, Unavailable

BUCKET = load_buckets()["invoices"]
STATIC = StaticEmbedder()


def never(path: Path) -> Step:
    raise AssertionError(path)


async def left_by(home: Path, folder: Path, ray: str | None) -> AsyncIterator[Any]:
    """Yield the report of two ingests, then what the stores hold."""
    url = f"sqlite:///{home / 'citegraph.sqlite'}"
    index = EdgeIndex(home / "index", STATIC, weights=(1.0, 3.0))
    annotations = AnnotationStore(url, {BUCKET.name: BUCKET})
    stores = Stores(DocumentStore(url), annotations, index, ExtractionStore(url))
    for _ in range(2):
        report = await ingest([folder], BUCKET, stores=stores, options=IngestOptions(ray=ray, workers=1))
        yield asdict(report) | {"seconds": 0}
    for doc_id, record in sorted(stores.documents.all_records(BUCKET.name).items()):
        yield record, annotations.get(doc_id), annotations.get_sources(doc_id, BUCKET.name)
        yield await index.document_chunks(BUCKET.name, doc_id)
    await index.close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # Ray warns of itself
@pytest.mark.ray
async def test_an_ingest_on_ray_leaves_what_a_local_one_leaves(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(40):
        text = f"Invoice\nInvoice number: INV-{number:04}\nInvoice date: 2023-02-{number % 28 + 1:02}\n"
        (folder / f"{number:02}.txt").write_text(text + f"Total: {number + 10}.00 EUR\n")
    (folder / "empty.txt").write_text("")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    local = [found async for found in left_by(tmp_path / "local", folder, None)]
    on_ray = [found async for found in left_by(tmp_path / "ray", folder, "")]
    assert on_ray == local
    assert [report["new"] for report in on_ray[:2]] == [40, 0]
    assert [report["unchanged"] for report in on_ray[:2]] == [0, 40]


async def test_a_cluster_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: make test-ray")
    with pytest.raises(Unavailable, match=r"Ray does not answer at 127\.0\.0\.1:9"):
        async with open_ray("127.0.0.1:9", never, Limits()):
            pass


async def test_without_ray_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BadInput, match=r"pip install 'citegraph\[ray\]'"):
        async with open_ray("", never, Limits()):
            pass


def test_an_engine_that_nobody_knows_is_refused() -> None:
    assert [ray_at("local", None), ray_at("ray", None), ray_at("ray", "head:6379")] == [None, "", "head:6379"]
    with pytest.raises(BadInput, match="local or ray"):
        ray_at("spark", None)
    with pytest.raises(BadInput, match="goes with --engine ray"):
        ray_at("local", "head:6379")
