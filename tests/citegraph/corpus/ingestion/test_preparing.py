"""What is worked out where a file is read is what the writer would find, and only new files have it."""

import json
import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from inspect import stack
from pathlib import Path
from random import Random
from typing import Any

import pytest

from citegraph.corpus.ingestion import pipeline, planning, preparing
from citegraph.corpus.ingestion.annotation_files import Sidecar
from citegraph.corpus.ingestion.ingest_options import DEFAULTS, IngestOptions, Limits
from citegraph.corpus.ingestion.pipeline import ingest
from citegraph.corpus.ingestion.preparing import LONGEST, preparation
from citegraph.corpus.ingestion.worker_pool import FileReader, InlineReader, ReadStep
from citegraph.corpus.readers.protocol import Reading
from citegraph.corpus.records.extracted.found import Extraction
from citegraph.corpus.schema.bucket import Bucket, load_buckets
from citegraph.corpus.schema.document import Document
from citegraph.errors import BadInput
from tests.citegraph.corpus.ingestion.killing import points_of
from tests.citegraph.corpus.open_stores import open_stores

BUCKET = load_buckets()["invoices"]


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


DRAW = Random(5)
WORDS = "oak ash elm quay mast sail rope tar crane ferry buoy tide gull sand reef hull keel deck bolt nail".split()
LONG = "\n\n".join(
    f"# Part {part}\n\nThe goods of part {part} are {' '.join(DRAW.choices(WORDS, k=DRAW.randint(9, 40)))}."
    for part in range(200)
)
TABLE = "Part;Weight\n" + "\n".join(f"P-{row};{row} kg" for row in range(600))


async def left_by(home: Path, folder: Path, workers: int, *, again: bool = False, **given: Any) -> list[Any]:
    stores = open_stores(home, BUCKET)
    annotations, index = stores.annotations, stores.index
    try:
        options = IngestOptions(workers=workers, reread=again, **given)
        rows = sorted(folder.parent.glob("rows-beside.csv"))
        await ingest([folder], BUCKET, stores=stores, annotations=rows, options=options)
        rows = [
            (
                doc_id,
                annotations.get(doc_id),
                annotations.get_sources(doc_id, BUCKET.name),
                stores.extractions.get(doc_id),
                await index.document_chunks(BUCKET.name, doc_id),
                stores.documents.likeness([doc_id])[doc_id],
            )
            for doc_id in sorted(stores.documents.all_records(BUCKET.name))
        ]
        return [*rows, points_of(index, BUCKET.name)]
    finally:
        await index.close()


@pytest.mark.parametrize("workers", [0, 1])
async def test_prepared_values_are_those_of_the_writer(
    tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_invoices(tmp_path / "in")
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "preparation", lambda *_, **__: None)
        expected = await left_by(tmp_path / "writer", tmp_path / "in", workers)
    assert len(expected) == 10
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

    monkeypatch.setattr("citegraph.corpus.ingestion.preparing.extract_document", never)
    assert await left_by(tmp_path / "home", tmp_path / "in", 0, again=True) == expected


@pytest.mark.parametrize(
    ("extract", "rows"),
    [("auto", ""), ("never", ""), ("auto", "file,invoice_number\n0.txt,ROW-7\nlong.md,ROW-8\n")],
)
async def test_prepared_points_are_those_of_the_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extract: str, rows: str
) -> None:
    write_invoices(tmp_path / "in")
    (tmp_path / "in" / "long.md").write_text(f"Invoice number: INV-L\n\n{LONG}")
    (tmp_path / "in" / "table.csv").write_text(TABLE)
    if rows:
        (tmp_path / "rows-beside.csv").write_text(rows)
    recipe = {"extract": extract, "summaries_from": 20_000, "chunk_tokens": 120, "chunk_overlap": 20}
    expected = await left_by(tmp_path / "writer", tmp_path / "in", 0, **recipe)
    assert len(expected[-1]) > 100

    @asynccontextmanager
    async def inline(address: str, read: ReadStep, limits: Limits) -> AsyncIterator[FileReader]:
        yield InlineReader(lambda *given: pickle.loads(pickle.dumps(read(*given))))

    monkeypatch.setattr("citegraph.corpus.ingestion.on_ray.open_ray", inline)
    written: list[str] = []
    for name in (
        "citegraph.corpus.ingestion.planning.points_of",
        "citegraph.corpus.records.likeness.signature_of",
        "citegraph.corpus.index.collection_record.encode",
    ):
        monkeypatch.setattr(name, noting(name, written))
    found = await left_by(tmp_path / "ray", tmp_path / "in", 0, ray="", embeddings="static", **recipe)
    assert found == expected
    asked = {name.rpartition(".")[2] for name in written}
    assert asked == ({"encode"} if rows else set()), "the writer only writes"


def noting(name: str, written: list[str]) -> Any:
    """Return a function that notes that the writer called it; a call by the reading side is not noted."""
    module, _, attribute = name.rpartition(".")
    real = getattr(import_module(module), attribute)

    def call(*given: Any) -> Any:
        by = {frame.function for frame in stack()}
        if given[0] and "_indexed" not in by:
            written.append(name)
        return real(*given)

    return call


def test_what_is_not_prepared() -> None:
    text = "Invoice number: INV-7"
    prepare = preparation(BUCKET, DEFAULTS, Sidecar())
    every = preparation(BUCKET, IngestOptions(extract="always"), Sidecar())
    assert prepare
    assert every
    found = prepare(Reading(text))
    assert found
    assert found.extraction
    assert found.extraction.values["invoice_number"] == "INV-7"
    annotated = Reading(text, metadata={"invoice_number": "INV-8"})
    assert prepare(annotated) is None
    assert every(annotated) == found
    assert prepare(Reading(text + " " * LONGEST)) is None
    assert preparation(BUCKET, IngestOptions(extract="never"), Sidecar()) is None


def test_a_machine_without_the_model_leaves_vectors_to_the_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare = preparation(BUCKET, IngestOptions(ray="", embeddings="minilm"), Sidecar())
    assert prepare

    def missing() -> None:
        raise BadInput("The MiniLM embeddings need onnxruntime.")

    monkeypatch.setattr("citegraph.llm.embeddings.MiniLMEmbedder", missing)
    preparing._embedder.cache_clear()
    found = prepare(Reading("Invoice number: INV-7"))
    preparing._embedder.cache_clear()
    assert found
    assert found.points
    assert (len(found.points.chunks), found.vectors) == (1, ())


def test_rows_beside_the_documents_leave_it_to_the_writer(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("file,invoice_number\na.txt,7\n")
    rows = Sidecar([tmp_path / "rows.csv"])
    assert preparation(BUCKET, DEFAULTS, rows) is None
    assert preparation(BUCKET, IngestOptions(extract="always"), rows)
