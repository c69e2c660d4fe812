"""Files read in Ray's tasks give the same index, annotations and report as files read in worker processes."""

import json
import sys
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from citegraph.corpus.ingestion.ingest_options import IngestOptions, Limits
from citegraph.corpus.ingestion.on_ray import files_a_task, open_ray
from citegraph.corpus.ingestion.pipeline import ingest
from citegraph.corpus.ingestion.worker import Step
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.errors import BadInput, Unavailable
from cli.ingest import Ingest
from tests.citegraph.corpus.ingestion.killing import points_of
from tests.citegraph.corpus.open_stores import open_stores

BUCKET = load_buckets()["invoices"]


def never(path: Path) -> Step:
    raise AssertionError(path)


def write_files(folder: Path) -> None:
    """Write invoices, lines with annotations, a table, a text long enough for summaries, and what cannot be read."""
    folder.mkdir()
    for number in range(40):
        text = f"Invoice\nInvoice number: INV-{number:04}\nInvoice date: 2023-02-{number % 28 + 1:02}\n"
        (folder / f"{number:02}.txt").write_text(text + f"Total: {number + 10}.00 EUR\n")
    given = {"doc_id": "row", "text": "Tax invoice of oak.", "metadata": {"invoice_number": "GIVEN-1"}}
    (folder / "rows.jsonl").write_text(json.dumps(given))
    (folder / "table.csv").write_text("Part;Weight\n" + "\n".join(f"P-{row};{row} kg" for row in range(900)))
    (folder / "long.md").write_text(
        "\n\n".join(f"# Part {part}\n\nOak of part {part}." for part in range(900))
    )
    (folder / "empty.txt").write_text("")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 broken")


async def left_by(home: Path, folder: Path, ray: str | None) -> AsyncIterator[Any]:
    """Yield the report of two ingests, then what the stores hold."""
    stores = open_stores(home, BUCKET)
    annotations, index = stores.annotations, stores.index
    options = IngestOptions(ray=ray, embeddings="static", workers=1, summaries_from=20_000)
    for _ in range(2):
        report = await ingest([folder], BUCKET, stores=stores, options=options)
        yield asdict(report) | {"seconds": 0}
    records = stores.documents.all_records(BUCKET.name)
    for doc_id, record in sorted(records.items()):
        yield record, annotations.get(doc_id), annotations.get_sources(doc_id, BUCKET.name)
        yield await index.document_chunks(BUCKET.name, doc_id)
    yield stores.documents.likeness(sorted(records)), points_of(index, BUCKET.name)
    await index.close()


def only_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process, which is the writer, work out no chunk, no vector and no signature."""

    def never(given: object, *_: object) -> list[Any]:
        assert not given, "left to the writer"
        return []

    for name in (
        "ingestion.planning.points_of",
        "ingestion.planning.extract_document",
        "index.collection_record.encode",
    ):
        monkeypatch.setattr(f"citegraph.corpus.{name}", never)
    monkeypatch.setattr("citegraph.corpus.records.likeness.signature_of", never)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # Ray warns of itself
@pytest.mark.ray
async def test_an_ingest_on_ray_leaves_what_a_local_one_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path / "in")
    local = [found async for found in left_by(tmp_path / "local", tmp_path / "in", None)]
    only_write(monkeypatch)
    on_ray = [found async for found in left_by(tmp_path / "ray", tmp_path / "in", "")]
    assert on_ray == local
    assert [report["new"] for report in on_ray[:2]] == [43, 0]
    assert [report["unchanged"] for report in on_ray[:2]] == [0, 43]
    assert len(on_ray[-1][1]) > 60


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


def test_a_task_reads_more_of_many_files() -> None:
    assert [files_a_task(count) for count in (1, 1_000, 2_048, 100_000)] == [16, 16, 32, 64]


def test_an_address_goes_with_ray() -> None:
    asked = [("local", None), ("ray", None), ("ray", "head:6379")]
    given = [Ingest([], bucket="generic", engine=engine, ray_address=address) for engine, address in asked]  # type: ignore[arg-type]
    assert [item.ray for item in given] == [None, "", "head:6379"]
    with pytest.raises(BadInput, match="goes with --engine ray"):
        _ = Ingest([], bucket="generic", ray_address="head:6379").ray
