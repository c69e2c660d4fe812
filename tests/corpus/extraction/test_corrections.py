"""Extraction inside an ingest, corrections that survive it, and what is listed for review."""

from collections.abc import AsyncIterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from corpus.annotations import AnnotationStore
from corpus.buckets import Bucket, load_buckets
from corpus.documents import DocumentStore
from corpus.edge_index import EdgeIndex
from corpus.extraction.store import ExtractionStore
from corpus.fields import Money
from corpus.ingestion.annotating import reannotate
from corpus.ingestion.run import ingest
from corpus.ingestion.stores import IngestOptions, Stores
from llm.embeddings import StaticEmbedder
from llm.errors import BadInput

SLIP = "ELM TRADING LTD\nTAX INVOICE\nInvoice No: E-77   Date: 14/03/2024\nTotal: GBP 48.00\n"


@pytest.fixture
def invoices() -> Bucket:
    return load_buckets()["invoices"]


@pytest.fixture
async def stores(tmp_path: Path, invoices: Bucket) -> AsyncIterator[Stores]:
    url = f"sqlite:///{tmp_path / 'store.sqlite'}"
    annotations = AnnotationStore(url, {"invoices": invoices})
    index = EdgeIndex(tmp_path / "index", StaticEmbedder(), weights=(1.0, 3.0))
    yield Stores(DocumentStore(url), annotations, index, ExtractionStore(url))
    await index.close()


async def bring(folder: Path, invoices: Bucket, stores: Stores, **more: Any) -> Any:
    return await ingest([folder], invoices, stores=stores, options=IngestOptions(workers=0), **more)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "slips"
    made.mkdir()
    (made / "slip.txt").write_text(SLIP)
    return made


def number(stores: Stores) -> Any:
    return (stores.annotations.get("slip") or {}).get("invoice_number")


async def test_an_ingest_extracts_with_places(folder: Path, invoices: Bucket, stores: Stores) -> None:
    await bring(folder, invoices, stores)
    values = stores.annotations.get("slip") or {}
    assert values["invoice_number"] == "E-77"
    assert values["invoice_date"] == date(2024, 3, 14)
    assert values["total_amount"] == Money(Decimal(48), "GBP")
    place = stores.annotations.get_sources("slip", "invoices")["invoice_number"]
    assert SLIP[place.start : place.end] == "E-77"
    again = await bring(folder, invoices, stores)
    assert (again.unchanged, again.changed) == (1, 0)


async def test_a_correction_survives_ingestion_and_change(
    folder: Path, invoices: Bucket, stores: Stores
) -> None:
    await bring(folder, invoices, stores)
    assert stores.extractions is not None
    stores.extractions.correct("invoices", "slip", "invoice_number", "E-78")
    stores.extractions.correct("invoices", "slip", "total_amount", None)
    assert await reannotate(invoices, ["slip"], stores=stores) == 1
    assert number(stores) == "E-78"
    (folder / "slip.txt").write_text(SLIP + "Thank you\n")
    report = await bring(folder, invoices, stores)
    assert report.changed == 1
    values = stores.annotations.get("slip") or {}
    assert (values["invoice_number"], "total_amount" in values) == ("E-78", False)
    assert "invoice_number" not in stores.annotations.get_sources("slip", "invoices")
    assert stores.extractions.undo("slip", "invoice_number")
    await reannotate(invoices, ["slip"], stores=stores)
    assert number(stores) == "E-77"


async def test_an_ingest_applies_a_correction_that_was_only_noted(
    folder: Path, invoices: Bucket, stores: Stores
) -> None:
    await bring(folder, invoices, stores)
    assert stores.extractions is not None
    stores.extractions.correct("invoices", "slip", "invoice_number", "E-79")  # killed before it was applied
    await bring(folder, invoices, stores)
    assert number(stores) == "E-79"


async def test_annotated_documents_are_left_alone(
    folder: Path, tmp_path: Path, invoices: Bucket, stores: Stores
) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("file,invoice_number\nslip.txt,GIVEN-1\n")
    await bring(folder, invoices, stores, annotations=[rows])
    values = stores.annotations.get("slip") or {}
    assert (values["invoice_number"], "invoice_date" in values) == ("GIVEN-1", False)
    await reannotate(invoices, stores=stores)
    assert number(stores) == "GIVEN-1"


async def test_always_fills_what_a_row_leaves_open(
    folder: Path, tmp_path: Path, invoices: Bucket, stores: Stores
) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("file,invoice_number\nslip.txt,GIVEN-1\n")
    options = IngestOptions(workers=0, extract="always")
    await ingest([folder], invoices, stores=stores, annotations=[rows], options=options)
    await reannotate(invoices, stores=stores, options=options)
    values = stores.annotations.get("slip") or {}
    assert (values["invoice_number"], values["invoice_date"]) == ("GIVEN-1", date(2024, 3, 14))
    assert stores.extractions is not None
    said = [(item.field, item.status, item.raw) for item in stores.extractions.review("invoices", below=0)]
    assert said == [("invoice_number", "other", "E-77")]  # the paper says otherwise than the row


async def test_never_extracts_nothing(folder: Path, invoices: Bucket, stores: Stores) -> None:
    options = IngestOptions(workers=0, extract="never")
    await ingest([folder], invoices, stores=stores, options=options)
    assert set(stores.annotations.get("slip") or {}) == {"document_type"}  # by the bucket's text rules


async def test_doubtful_values_are_for_review_and_not_for_filters(tmp_path: Path, stores: Stores) -> None:
    unsure = Bucket.model_validate(
        {
            "name": "invoices",
            "description": "",
            "nouns": ["slip"],
            "fields": [
                {"name": "sure", "type": "keyword", "description": "", "extract": [{"pattern": r"no (\w+)"}]},
                {
                    "name": "unsure",
                    "type": "keyword",
                    "description": "",
                    "extract": [{"pattern": r"ref (\w+)", "confidence": 0.4}],
                },
                {"name": "count", "type": "integer", "description": "", "extract": [{"pattern": r"n (\w+)"}]},
            ],
        }
    )
    url = f"sqlite:///{tmp_path / 'other.sqlite'}"
    annotations = AnnotationStore(url, {"invoices": unsure})
    own = Stores(DocumentStore(url), annotations, stores.index, ExtractionStore(url))
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "one.txt").write_text("no A\nref B\nn many\n")
    await bring(folder, unsure, own)
    assert annotations.get("one") == {"sure": "A"}
    assert own.extractions is not None
    listed = own.extractions.review("invoices")
    assert [(item.field, item.status, item.raw) for item in listed] == [
        ("count", "refused", "many"),
        ("unsure", "uncertain", "B"),
    ]
    own.extractions.correct("invoices", "one", "unsure", "C")
    assert [item.field for item in own.extractions.review("invoices")] == ["count"]


async def test_a_document_that_is_gone_takes_its_extraction_along(
    folder: Path, invoices: Bucket, stores: Stores
) -> None:
    await bring(folder, invoices, stores)
    assert stores.extractions is not None
    stores.extractions.correct("invoices", "slip", "currency", "EUR")
    (folder / "slip.txt").unlink()
    await ingest([folder], invoices, stores=stores, options=IngestOptions(workers=0, prune=True))
    assert stores.extractions.get("slip") == []
    assert stores.extractions.corrections("invoices") == {}


async def test_reannotate_names_an_unknown_document(invoices: Bucket, stores: Stores) -> None:
    with pytest.raises(BadInput, match="no document 'ghost'"):
        await reannotate(invoices, ["ghost"], stores=stores)
