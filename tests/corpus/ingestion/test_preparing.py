"""Values that are extracted where a file is read are those that the writer would find, and only new files have them."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpus.annotations import AnnotationStore
from corpus.buckets import Bucket, load_buckets
from corpus.documents import DocumentStore
from corpus.edge_index import EdgeIndex
from corpus.extraction.found import Extraction
from corpus.extraction.store import ExtractionStore
from corpus.ingestion import planning, run
from corpus.ingestion.preparing import LONGEST, preparation
from corpus.ingestion.run import ingest
from corpus.ingestion.stores import DEFAULTS, IngestOptions, Stores
from corpus.readers.protocol import Reading
from corpus.sidecar import Sidecar
from corpus.types import Document
from llm.embeddings import StaticEmbedder

BUCKET = load_buckets()["invoices"]
STATIC = StaticEmbedder()


def write_invoices(folder: Path) -> None:
    folder.mkdir()
    texts = [
        f"Invoice\nInvoice number: INV-{number:04}\nInvoice date: 2023-02-{number + 1:02}\nTotal: {number + 10}.00 EUR\n"
        for number in range(6)
    ]
    for number, text in enumerate(texts[:3]):
        (folder / f"{number}.txt").write_text(text)
    rows: list[dict[str, Any]] = [
        {"doc_id": f"row-{number}", "text": text} for number, text in enumerate(texts)
    ]
    rows[1]["metadata"] = {"invoice_number": "GIVEN-1"}
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))


async def left_by(home: Path, folder: Path, workers: int, *, again: bool = False) -> list[Any]:
    url = f"sqlite:///{home / 'citegraph.sqlite'}"
    index = EdgeIndex(home / "index", STATIC, weights=(1.0, 3.0))
    annotations = AnnotationStore(url, {BUCKET.name: BUCKET})
    stores = Stores(DocumentStore(url), annotations, index, ExtractionStore(url))
    try:
        await ingest([folder], BUCKET, stores=stores, options=IngestOptions(workers=workers, reread=again))
        assert stores.extractions
        return [
            (
                doc_id,
                annotations.get(doc_id),
                annotations.get_sources(doc_id, BUCKET.name),
                stores.extractions.get(doc_id),
                await index.document_chunks(BUCKET.name, doc_id),
            )
            for doc_id in sorted(stores.documents.all_records(BUCKET.name))
        ]
    finally:
        await index.close()


@pytest.mark.parametrize("workers", [0, 1])
async def test_prepared_values_are_those_of_the_writer(
    tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_invoices(tmp_path / "in")
    with monkeypatch.context() as patch:
        patch.setattr(run, "preparation", lambda *_: None)
        expected = await left_by(tmp_path / "writer", tmp_path / "in", workers)
    assert len(expected) == 9
    asked: list[Document] = []

    def extract(bucket: Bucket, document: Document) -> Extraction:
        asked.append(document)
        return Extraction()

    monkeypatch.setattr(planning, "extract_document", extract)
    assert await left_by(tmp_path / "readers", tmp_path / "in", workers) == expected
    assert asked == []


async def test_files_that_are_stored_are_left_to_the_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_invoices(tmp_path / "in")
    expected = await left_by(tmp_path / "home", tmp_path / "in", 0)

    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("corpus.ingestion.preparing.extract_document", never)
    assert await left_by(tmp_path / "home", tmp_path / "in", 0, again=True) == expected


def test_what_is_not_prepared() -> None:
    text = "Invoice number: INV-7"
    prepare = preparation(BUCKET, DEFAULTS, Sidecar())
    every = preparation(BUCKET, IngestOptions(extract="always"), Sidecar())
    assert prepare
    assert every
    found = prepare(Reading(text))
    assert found
    assert found.values["invoice_number"] == "INV-7"
    annotated = Reading(text, metadata={"invoice_number": "INV-8"})
    assert prepare(annotated) is None
    assert every(annotated) == found
    assert prepare(Reading(text + " " * LONGEST)) is None
    assert preparation(BUCKET, IngestOptions(extract="never"), Sidecar()) is None


def test_rows_beside_the_documents_leave_it_to_the_writer(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("file,invoice_number\na.txt,7\n")
    rows = Sidecar([tmp_path / "rows.csv"])
    assert preparation(BUCKET, DEFAULTS, rows) is None
    assert preparation(BUCKET, IngestOptions(extract="always"), rows)
