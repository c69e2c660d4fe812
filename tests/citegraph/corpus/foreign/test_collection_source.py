"""A collection that langchain-qdrant wrote, brought into a bucket: then it is listed, summed and cited like any other."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings
from langchain_qdrant import QdrantVectorStore
from langgraph.checkpoint.memory import InMemorySaver
from qdrant_client import QdrantClient, models

from citegraph.corpus.index.collection_record import encode
from citegraph.errors import BadInput, Unavailable
from citegraph.llm.embeddings import StaticEmbedder
from citegraph.run.context import Context
from citegraph.run.services import Services
from citegraph.settings import Settings
from cli.ingest import Ingest, ingest, ingest_into
from graph.session import Session

BILLS = """
name: bills
description: Invoices of our suppliers.
nouns: [invoice, bill]
main_date: invoice_date
main_amount: total
title_fields: [vendor, number]
entity_fields: [vendor, number]
fields:
  - {name: vendor, type: keyword, kind: organization, description: Who sent it., columns: [seller]}
  - {name: number, type: keyword, kind: identifier, description: Invoice number.}
  - {name: invoice_date, type: date, description: Day of the invoice., columns: [date]}
  - {name: currency, type: keyword, description: Currency.}
  - {name: total, type: money, description: Total with tax., currency_field: currency, words: [total]}
"""
Row = dict[str, Any]


class Dense(Embeddings):
    """The static vectors as LangChain asks for them; `turn` makes another model of them."""

    def __init__(self, turn: int = 0) -> None:
        self._turn = turn

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return np.roll(StaticEmbedder().embed_documents(texts), self._turn, axis=1).tolist()

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def bill(name: str, seller: str, day: str, total: Any, currency: str = "EUR") -> list[tuple[str, Row]]:
    """Return the points of one invoice: its head on the first page, its total on the second."""
    held = {
        "source": f"{name}.pdf",
        "seller": seller,
        "number": name,
        "date": day,
        "total": total,
        "currency": currency,
    }
    printed = f"{total:,.2f}" if isinstance(total, float) else total
    return [
        ("Goods as agreed.\n" * 40 + f"Total due: {printed} {currency}", {**held, "page": 1}),
        (f"{seller}\nInvoice {name}\nDate: {day}", {**held, "page": 0}),
    ]


POINTS = [
    *bill("A-1", "Kestrel GmbH", "2023-02-01", 1250.0),
    *bill("A-2", "Kestrel GmbH", "2023-07-09", 800.5),
    *bill("A-3", "Kestrel GmbH", "2022-03-04", 3000.0),
    *bill("B-1", "Dunlin KG", "2023-05-05", "4.100,00 EUR"),
]


def write(folder: Path, points: Sequence[tuple[str, Row]], *, turn: int = 0, keys: str = "") -> None:
    """Write a collection "theirs" into a folder of a local-mode client, and the declaration of its bucket."""
    client = QdrantClient(path=str(folder / "qdrant"))
    if client.collection_exists("theirs"):
        client.delete_collection("theirs")
    size = StaticEmbedder().dimensions
    client.create_collection("theirs", models.VectorParams(size=size, distance=models.Distance.COSINE))
    store = QdrantVectorStore(client, "theirs", embedding=Dense(turn))
    if points:
        texts, rows = [text for text, _ in points], [row for _, row in points]
        store.add_texts(texts, metadatas=rows, ids=list(range(1, len(points) + 1)))
    client.close()
    declared = folder / "buckets"
    declared.mkdir(exist_ok=True)
    (declared / "bills.yaml").write_text(f"{BILLS}collection:\n  path: {folder / 'qdrant'}\n{keys}")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        home=tmp_path / "home", buckets_dir=tmp_path / "buckets", embeddings="static", reranker="none"
    )


async def bring(settings: Settings, **more: Any) -> Any:
    services = Services(settings=settings, trusted=True)
    try:
        return await ingest_into(services, Ingest(bucket="bills", collection="theirs", **more))
    finally:
        await services.close()


async def test_a_run_sums_and_cites_what_was_brought_in(tmp_path: Path, settings: Settings) -> None:
    write(tmp_path, POINTS)
    report = await bring(settings)
    assert (report.documents, report.new, report.chunks, report.skipped) == (4, 4, 8, [])
    services = Services(settings=settings, trusted=True)
    session = Session(services, InMemorySaver())
    answer = await session.ask(
        "What is the total of our invoices from Kestrel in 2023?", context=Context(buckets=["bills"])
    )
    assert "2,050.50 EUR" in answer.text
    answer = await session.ask("What is the total of invoice B-1?", context=Context(buckets=["bills"]))
    assert "4,100.00 EUR" in answer.text
    cited = answer.citations[0]
    assert (cited.doc_id, cited.source_file) == ("B-1.pdf", "B-1.pdf")
    corpus = await services.corpus()
    document = corpus.documents.get("B-1.pdf")
    assert document is not None
    assert document.text.startswith(
        "Dunlin KG\nInvoice B-1"
    )  # pages in their order, whatever that of the points
    assert [page.number for page in document.pages] == [1, 2]
    assert document.text[cited.start : cited.end] == cited.quote
    await services.close()


async def test_the_vectors_of_the_same_model_are_kept(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def counted(chunks: Sequence[Any], *rest: Any) -> Any:
        made.extend(chunk.text for chunk in chunks)
        return encode(chunks, *rest)

    monkeypatch.setattr("citegraph.corpus.index.collection_record.encode", counted)
    write(tmp_path, POINTS)
    await bring(settings)
    assert made == []
    write(tmp_path, POINTS, turn=3)
    report = await bring(settings, reread=True)
    assert report.unchanged == 4
    other = Settings(**{**settings.model_dump(), "home": tmp_path / "other"})
    await bring(other)
    assert len(made) == 4  # another model: each document is cut and embedded as one of a file


async def test_a_second_ingest_takes_what_changed(tmp_path: Path, settings: Settings) -> None:
    write(tmp_path, POINTS)
    await bring(settings)
    assert (await bring(settings)).unchanged == 4
    write(tmp_path, [*POINTS[2:], *bill("C-1", "Dunlin KG", "2024-01-05", 10.0)])
    report = await bring(settings)
    assert (report.new, report.unchanged, report.missing, report.deleted) == (1, 3, 1, 0)
    assert (await bring(settings, prune=True)).deleted == 1


async def test_what_points_state_of_one_document_is_one_value_or_told(
    tmp_path: Path, settings: Settings
) -> None:
    first, second = bill("A-1", "Kestrel GmbH", "2023-02-01", 1250.0)
    first[1]["total"] = 999.0
    second[1]["date"] = "next to nothing"
    first[1]["date"] = "2023-02-01"
    write(tmp_path, [first, second])
    report = await bring(settings)
    assert [note.reason for note in report.notes] == ["total: its points state 999 EUR, 1250 EUR"]
    services = Services(settings=settings, trusted=True)
    values = (await services.corpus()).annotations.get("A-1.pdf", "bills") or {}
    assert "total" not in values
    assert str(values["invoice_date"]) == "2023-02-01"
    await services.close()


async def test_an_id_key_makes_documents_of_single_points(tmp_path: Path, settings: Settings) -> None:
    write(tmp_path, POINTS[:2], keys="  id_key: _id\n  first_page: 1\n")
    assert (await bring(settings)).new == 2
    services = Services(settings=settings, trusted=True)
    document = (await services.corpus()).documents.get("bills-1")
    assert document is not None
    assert [page.number for page in document.pages] == [1]
    await services.close()


async def test_what_does_not_fit_is_named_with_what_to_correct(tmp_path: Path, settings: Settings) -> None:
    write(tmp_path, [])
    with pytest.raises(BadInput, match="'theirs' is empty"):
        await bring(settings)
    write(tmp_path, POINTS, keys="  content_key: body\n")
    with pytest.raises(BadInput, match="have no 'body' but metadata, page_content"):
        await bring(settings)
    held = QdrantClient(path=str(tmp_path / "qdrant"))
    with pytest.raises(Unavailable, match="is open in another process"):
        await bring(settings)
    held.close()
    (tmp_path / "buckets" / "bills.yaml").write_text(BILLS)
    with pytest.raises(BadInput, match="set QDRANT_URL"):
        await bring(settings)


def test_files_and_a_collection_are_brought_in_apart() -> None:
    for request in (Ingest(bucket="bills"), Ingest([Path("a")], bucket="bills", collection="theirs")):
        with pytest.raises(BadInput, match="one of the two"):
            ingest(request)
