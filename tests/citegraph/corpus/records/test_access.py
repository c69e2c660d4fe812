"""Labels in the stores: kept, replaced and removed with their documents; SQL hides what they hide."""

import asyncio
from pathlib import Path

import pytest

from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.corpus.index.views import index_condition
from citegraph.corpus.ingestion.ingest_options import IngestOptions
from citegraph.corpus.ingestion.pipeline import ingest
from citegraph.corpus.records.access import NOBODY, OWNER, Principal, checked_labels
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.records.documents import DocumentStore
from citegraph.corpus.schema.document import Document
from citegraph.errors import BadInput
from tests.citegraph.corpus.open_stores import open_stores
from tests.citegraph.corpus.records.annotations.test_annotation_store import BUCKETS, RECEIPTS, values_of

STAFF = Principal("ana", None, frozenset({"staff"}))
PUBLIC = Principal("bo", None, frozenset())


def document(doc_id: str, *labels: str, bucket: str = "invoices") -> Document:
    return Document(doc_id, bucket, f"text of {doc_id}", f"{doc_id}.txt", "hash", labels=labels)


@pytest.fixture
def documents(new_database) -> DocumentStore:
    store = DocumentStore(new_database())
    store.put([document("r1"), document("r2", "staff", "board"), document("r3", "board")])
    return store


@pytest.mark.parametrize(
    ("principal", "seen"),
    [
        (OWNER, ["r1", "r2", "r3"]),
        (STAFF, ["r1", "r2"]),
        (PUBLIC, ["r1"]),
        (NOBODY, []),
        (Principal("c", frozenset({"contracts"})), []),
    ],
)
def test_every_read_of_the_documents_shows_the_same_set(documents, principal, seen) -> None:
    view, ids = documents.seen_by(principal), ["r1", "r2", "r3"]
    assert [doc_id for doc_id in ids if view.get(doc_id)] == seen
    assert [doc_id for doc_id in ids if view.text(doc_id)] == seen
    assert sorted(view.records(ids)) == seen
    assert [doc_id for doc_id in ids if view.record(doc_id)] == seen
    assert sorted(view.all_records("invoices")) == seen
    assert sorted(view.all_records("invoices")) == seen
    assert (view.count(), view.count("invoices")) == (len(seen), len(seen))


def test_labels_are_replaced_and_removed_with_their_document(documents) -> None:
    assert documents.get("r2").labels == ("board", "staff")
    documents.put(document("r2", "board"))
    assert documents.labels_of("invoices") == {"r2": ("board",), "r3": ("board",)}
    documents.delete(["r2"])
    assert documents.labels(["r2", "r3"]) == {"r3": ("board",)}


def test_counts_and_values_are_those_of_seen_documents(new_database) -> None:
    url = new_database()
    DocumentStore(url).put(
        [document("r2", "board"), document("r3", "board", "staff"), document("r5", "staff")]
    )
    store = AnnotationStore(url, BUCKETS)
    store.put("invoices", RECEIPTS.items())
    view = store.seen_by(STAFF)
    assert (store.count("invoices"), view.count("invoices")) == (5, 4)
    assert values_of(store, "invoices", "vendor_name") == {"Acorn Ltd": 2, "Birch GmbH": 2}
    assert values_of(view, "invoices", "vendor_name") == {"Acorn Ltd": 1, "Birch GmbH": 2}
    assert values_of(view, "invoices", "invoice_date") == {"2017": 1, "2018": 2}
    assert view.get("r2", "invoices") is None
    assert view.get_sources("r2", "invoices") == {}
    assert view.get("r3", "invoices") == store.get("r3", "invoices")
    assert store.seen_by(Principal("c", frozenset({"contracts"}))).get("r1") is None


async def test_an_ingest_labels_keeps_and_takes_labels_away(tmp_path: Path) -> None:
    stores = open_stores(tmp_path, *BUCKETS.values())
    index = stores.index
    file = tmp_path / "memo.txt"
    file.write_text("The heliport opens in June.", "utf-8")
    found = SearchRequest("generic", "heliport", access=index_condition(STAFF))

    async def ingested(labels: tuple[str, ...] | None) -> tuple[tuple[str, ...], int]:
        await ingest([file], BUCKETS["generic"], stores=stores, options=IngestOptions(labels=labels))
        held = await asyncio.to_thread(stores.documents.labels, ["memo"])
        return held.get("memo", ()), len(await index.search(found))

    try:
        assert await ingested(("board",)) == (("board",), 0)
        assert await ingested(None) == (("board",), 0), "an ingest that names no label keeps them"
        assert await ingested(("board", "staff")) == (("board", "staff"), 1)
        assert await ingested(()) == ((), 1)
    finally:
        await index.close()


def test_labels_are_checked() -> None:
    assert checked_labels([" staff ", "board", "board", ""]) == ("board", "staff")
    for bad in ("a,b", "x" * 101, "a\nb"):
        with pytest.raises(BadInput, match="Label"):
            checked_labels([bad])
