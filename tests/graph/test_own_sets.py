"""Lists, sums, counts, groups and facets over collections that langchain-qdrant wrote, by whole runs and by the tools."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from qdrant_client import QdrantClient

from citegraph.corpus.filters.clause import Clause
from citegraph.corpus.foreign import mirror
from citegraph.corpus.foreign.foreign_clients import connect_own
from citegraph.corpus.foreign.foreign_collection import OwnCollection
from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.corpus.index.searcher import search_buckets
from citegraph.corpus.records.querying.aggregates import Aggregate
from citegraph.corpus.schema.field import Field
from citegraph.errors import BadInput, Unavailable
from citegraph.llm.embeddings import StaticEmbedder
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.services import Corpus, Services, open_corpus, with_collections
from citegraph.settings import Settings
from graph.session import Session
from tests.graph.own_invoices import BILLS, FIELDS, Row, bill, bills_bucket, write_folder, write_points
from tests.qdrant_server import served
from tools.query_documents import QueryInput, query_documents
from tools.search_tools import FilterClause

SETTINGS: dict[str, Any] = {"embeddings": "static", "reranker": "none"}


@pytest.fixture(autouse=True)
def always_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no time pass between a change of a collection and its being seen."""
    monkeypatch.setattr(mirror, "CHECKED", 0.0)


def opened(
    home: Path,
    client: QdrantClient,
    fields: tuple[Field, ...] = FIELDS,
    *,
    indexed: bool = False,
    **given: Any,
) -> Corpus:
    """Return a corpus whose one bucket is the client's collection."""
    settings, bucket = Settings(home=home, **SETTINGS), bills_bucket(fields, **given)
    own = OwnCollection(bucket, client, StaticEmbedder(), indexed=indexed)
    return with_collections(replace(open_corpus(settings), buckets={"bills": bucket}), [own], settings)


def holding(points: list[tuple[str, Row]], **given: Any) -> QdrantClient:
    client = QdrantClient(":memory:")
    write_points(client, points, **given)
    return client


async def ask(home: Path, corpus: Corpus, question: str) -> Answer:
    services = Services(settings=Settings(home=home, **SETTINGS), ready=corpus)
    answer = await Session(services, InMemorySaver()).ask(question, context=Context(buckets=["bills"]))
    await corpus.index.close()
    return answer


async def test_a_server_that_does_not_answer_is_asked_once_and_leaves_the_rest_alone(tmp_path: Path) -> None:
    with served(holding(BILLS)) as (url, asked):
        corpus = opened(tmp_path, connect_own(Settings(qdrant_url=url)), indexed=True)
        assert corpus.annotations.count("bills") == 5
    asked.clear()
    assert corpus.documents.count() == 5  # as last read
    assert corpus.annotations.all_versions() == {"bills": 1}
    with pytest.raises(Unavailable, match="cannot be reached"):
        corpus.annotations.count("bills")
    answer = await ask(tmp_path, corpus, "How many invoices from ACME are there?")
    assert answer.status == "failed"
    assert "cannot be reached" in answer.text


def declared_folder(tmp_path: Path, path: Path, mode: str) -> Settings:
    """Return settings whose one declared bucket is a folder of a local-mode client."""
    folder = tmp_path / "buckets"
    folder.mkdir()
    declared = bills_bucket(path=path, mode=mode).model_dump(mode="json", exclude_unset=True)
    (folder / "bills.yaml").write_text(json.dumps(declared), "utf-8")
    return Settings(home=tmp_path / "home", buckets_dir=folder, **SETTINGS)


@pytest.mark.parametrize("mode", ["dense", "sparse", "hybrid"])
async def test_a_question_lists_the_documents_with_the_place_of_each_value(mode: str, tmp_path: Path) -> None:
    settings = declared_folder(tmp_path, write_folder(tmp_path / "theirs", BILLS, mode=mode), mode)
    services = Services(settings=settings, trusted=True)
    answer = await Session(services, InMemorySaver()).ask(
        "Which of our invoices from ACME are over 1,000 EUR?"
    )
    await services.close()
    assert answer.status == "answered"
    assert answer.documents == ["bills:A-1.pdf", "bills:A-3.pdf"]
    assert [(one.doc_id, one.source_file, one.page, one.quote) for one in answer.citations] == [
        ("bills:A-3.pdf", "A-3.pdf", 2, "Total due: 3,000.00 EUR"),
        ("bills:A-1.pdf", "A-1.pdf", 2, "Total due: 1,250.00 EUR"),
    ]
    assert any("5 documents in 10 points" in note.message for note in answer.notes)


async def test_a_sum_keeps_currencies_apart_and_counts_documents_not_points(tmp_path: Path) -> None:
    answer = await ask(
        tmp_path, opened(tmp_path, holding(BILLS)), "What is the total of ACME's invoices in 2023?"
    )
    assert "2,050.50 EUR" in answer.text
    assert "99.00 USD" in answer.text
    assert "3 of 3 documents were included." in answer.text
    counted = await ask(tmp_path, opened(tmp_path, holding(BILLS)), "How many invoices from ACME are there?")
    assert "The number of matching documents in bills is 4" in counted.text
    assert [one.quote for one in counted.citations] == ["ACME GmbH"] * 4


def test_groups_and_facets_count_documents(tmp_path: Path) -> None:
    corpus = opened(tmp_path, holding(BILLS))
    grouped = query_documents(
        corpus,
        QueryInput(
            bucket="bills", aggregate=[Aggregate(function="count")], group_by=["vendor", "invoice_date.year"]
        ),
    )
    assert grouped["rows"] == [
        {"vendor": "ACME GmbH", "invoice_date.year": "2022", "count": 1},
        {"vendor": "ACME GmbH", "invoice_date.year": "2023", "count": 3},
        {"vendor": "Brandt KG", "invoice_date.year": "2023", "count": 1},
    ]
    facets = corpus.annotations.facets("bills", fields=["vendor", "invoice_date"])
    assert {name: [(one.label, one.count) for one in found] for name, found in facets.items()} == {
        "vendor": [("ACME GmbH", 4), ("Brandt KG", 1)],
        "invoice_date": [("2023", 4), ("2022", 1)],
    }


async def test_values_that_differ_lack_or_cannot_be_read_are_told_and_not_added(tmp_path: Path) -> None:
    first, second = bill("C-1", "ACME GmbH", "2023-01-01", 10.0)
    second[1]["total"] = 20.0
    wrong, nothing = (
        bill("C-2", "ACME GmbH", "2023-01-02", "twelve"),
        bill("C-3", "ACME GmbH", "2023-01-03", None),
    )
    corpus = opened(tmp_path, holding([*BILLS, first, second, *wrong, *nothing]))
    answer = await ask(tmp_path, corpus, "What is the total of ACME's invoices in 2023?")
    assert "2,050.50 EUR" in answer.text
    assert "3 of 6 documents have no total." in answer.text
    said = [note.message for note in answer.notes if note.kind == "values"]
    assert said[:2] == [
        "In 1 document total has different values in different points and counts as missing "
        "(bills:C-1.pdf: 10 EUR and 20 EUR).",
        "In 1 document total cannot be read and counts as missing (bills:C-2.pdf: twelve).",
    ]


OTHERWISE = [
    ({"total": "1.250,00 EUR"}, Clause(field="total", operator=">", value="1000")),
    ({"total": "99"}, Clause(field="total", operator="<", value="100")),
    ({"date": 1675209600}, Clause(field="invoice_date", operator="=", value="2023-02-01")),
    (
        {"date": 1675209600000},
        Clause(field="invoice_date", operator="between", value=["2023-01-31", "2023-02-02"]),
    ),
    ({"date": "1 February 2023"}, Clause(field="invoice_date", operator="<", value="2023-03-01")),
    ({"date": "2023-02-01T23:30:00-05:00"}, Clause(field="invoice_date", operator="=", value="2023-02-01")),
    ({"seller": ["ACME GmbH"]}, Clause(field="vendor", operator="=", value="acme gmbh")),
    ({"currency": "€"}, Clause(field="total", operator=">", value={"amount": "1000", "currency": "EUR"})),
]


@pytest.mark.parametrize(("row", "clause"), OTHERWISE)
def test_a_search_and_a_list_agree_however_a_value_is_stored(
    row: Row, clause: Clause, tmp_path: Path
) -> None:
    from citegraph.corpus.filters.qdrant_filter import to_qdrant

    (text, held), other = (
        bill("A-1", "ACME GmbH", "2023-02-01", 1250.0)[0],
        bill("B-1", "Brandt KG", "2024-05-05", 500.0),
    )
    corpus = opened(tmp_path, holding([(text, {**held, **row}), *other]))
    assert corpus.annotations.document_ids("bills", (clause,)) == ["bills:A-1.pdf"]
    request = SearchRequest(
        "bills", "invoice", mode="semantic", filter_json=to_qdrant(corpus.buckets["bills"], (clause,))
    )
    own = corpus.annotations.mirror("bills")  # type: ignore[attr-defined]
    assert [hit.chunk.doc_id for hit in own.collection.search(request)] == ["bills:A-1.pdf#1"]


def test_metadata_may_be_nested_or_lists(tmp_path: Path) -> None:
    fields = (
        Field(name="vendor", type="keyword", description="Who.", columns=("invoice.seller",)),
        Field(
            name="total", type="money", description="Sum.", columns=("invoice.sum.amount",), currency="EUR"
        ),
        Field(name="tags", type="keywords", description="Tags."),
        Field(name="currency", type="keyword", description="One."),
    )
    nested = {"invoice": {"seller": "ACME GmbH", "sum": {"amount": 7.5}}, "source": "a.pdf"}
    points: list[tuple[str, Row]] = [
        ("one", {**nested, "tags": ["red", "blue"], "currency": ["EUR", "USD"]}),
        ("two", {**nested, "tags": "green"}),
    ]
    corpus = opened(tmp_path, holding(points), fields)
    found = query_documents(
        corpus,
        QueryInput(
            bucket="bills",
            select=["vendor", "total", "tags", "currency"],
            filters=[FilterClause(field="vendor", operator="=", value="ACME GmbH")],
        ),
    )
    assert found["rows"] == [
        {
            "doc_id": "bills:a.pdf",
            "vendor": "ACME GmbH",
            "total": {"amount": "7.5", "currency": "EUR"},
            "tags": ["red", "blue", "green"],
            "currency": None,
        }
    ]
    assert (
        "currency cannot be read and counts as missing (bills:a.pdf: a list of 2 values)" in found["notes"][0]
    )


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({}, ["bills:list.csv"]),
        ({"id_key": ("source", "row")}, ["bills:list.csv-0", "bills:list.csv-1"]),
        ({"id_key": "_id"}, ["bills:#1", "bills:#2"]),
        ({"id_key": "none such"}, ["bills:#1", "bills:#2"]),
        ({"id_key": "name"}, ["bills:my-invoice--3-(1).pdf-8e2f8da9", "bills:other"]),
    ],
)
def test_what_a_document_is_can_be_declared(given: Row, ids: list[str], tmp_path: Path) -> None:
    names = ["my invoice #3 (1).pdf", "other"]
    rows = [{"source": "list.csv", "row": row, "name": names[row], "number": f"N-{row}"} for row in (0, 1)]
    corpus = opened(tmp_path, holding([(f"Invoice N-{row['row']}", row) for row in rows]), **given)
    assert corpus.annotations.document_ids("bills") == ids
    assert corpus.documents.count("bills") == len(ids)
    text = corpus.documents.text(ids[-1])
    assert text == ("Invoice N-0\n\nInvoice N-1" if len(ids) == 1 else "Invoice N-1")
    (first,) = corpus.annotations.values_of("bills", ids[:1]).values()
    assert first == ({} if len(ids) == 1 else {"number": "N-0"})  # one file of two numbers has none


def test_what_is_added_changed_and_removed_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = holding(BILLS)
    corpus = opened(tmp_path, client)
    assert corpus.annotations.count("bills") == 5
    write_points(client, bill("D-1", "Dorn AG", "2023-01-01", 5.0))
    assert [link.field for link in corpus.linker.link("bills", "Dorn")] == ["vendor"]
    client.delete("theirs", [1, 2])
    assert corpus.annotations.document_ids("bills")[0] == "bills:A-2.pdf"
    client.set_payload("theirs", {"total": 801.0}, [3, 4], key="metadata")
    monkeypatch.setattr(mirror, "LEAST", 0.0)
    monkeypatch.setattr(mirror, "SHARE", 0.0)
    values = corpus.annotations.rows("bills", fields=["total"], limit=1)
    assert str(values[0]["total"].amount) == "801"


def test_a_document_that_changed_since_it_was_read_is_read_again(tmp_path: Path) -> None:
    client = holding(BILLS)
    corpus = opened(tmp_path, client)
    assert corpus.annotations.count("bills") == 5
    client.set_payload("theirs", {"page_content": "Rewritten."}, [1])
    assert corpus.documents.text("bills:A-1.pdf").startswith("Rewritten.\n\nGoods")
    client.delete("theirs", [1, 2])
    assert corpus.documents.get("bills:A-1.pdf") is None


async def test_a_hit_is_a_place_in_its_document(tmp_path: Path) -> None:
    corpus = opened(tmp_path, holding(BILLS))
    (hit,) = await corpus.index.search(
        SearchRequest("bills", "goods as agreed, total due", mode="semantic", limit=1)
    )
    document = corpus.documents.get(hit.chunk.doc_id)
    assert document is not None
    assert document.text[hit.chunk.start : hit.chunk.end] == hit.chunk.text
    page = document.page_of(hit.chunk.start)
    assert page is not None
    assert page.number == 2
    chunks = await corpus.index.document_chunks("bills", document.doc_id)
    assert [(one.ordinal, one.start) for one in chunks] == [(0, 0), (1, len(chunks[0].text) + 2)]


def test_a_collection_too_large_for_a_question_says_how_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "MOST", 9)
    client = holding(BILLS)
    corpus = opened(tmp_path, client)
    asked = QueryInput(bucket="bills", select=["vendor"])
    with pytest.raises(BadInput, match=r"holds 10 points.*`citegraph mirror bills`"):
        query_documents(corpus, asked)
    acme = (Clause(field="vendor", operator="=", value="ACME GmbH"),)
    assert corpus.annotations.count("bills", acme) == 8  # points, as they are counted without a reading
    assert corpus.annotations.facets("bills") == {}
    assert corpus.documents.get("bills:A-1.pdf#1") is not None
    kept = corpus.annotations.mirror("bills")  # type: ignore[attr-defined]
    assert kept.read().documents == 5
    write_points(client, bill("D-1", "Dorn AG", "2023-01-01", 5.0))
    found = query_documents(corpus, asked)
    assert len(found["rows"]) == 5
    assert "5 documents in 10 points; it holds 12 points now." in found["notes"][-1]


def test_two_buckets_share_a_folder_that_one_process_holds(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "theirs", BILLS)
    settings = declared_folder(tmp_path, path, "dense")
    other = bills_bucket(FIELDS[:2], name="others", path=path, id_key="_id")
    (settings.buckets_dir or path).joinpath("others.yaml").write_text(
        json.dumps(other.model_dump(mode="json", exclude_unset=True)), "utf-8"
    )
    corpus, second = open_corpus(settings), open_corpus(settings)
    assert (corpus.annotations.count("bills"), corpus.annotations.count("others")) == (5, 10)
    assert corpus.annotations.document_ids("others", limit=1) == ["others:#1"]
    with pytest.raises(Unavailable, match="is open in another process"):
        second.annotations.count("bills")
    assert second.annotations.all_versions() == corpus.annotations.all_versions()  # what was read stands


@pytest.mark.parametrize(("make", "said"), [(Path.mkdir, "is no folder"), (lambda _: None, "is no folder")])
def test_a_folder_without_a_collection_is_not_made_one(
    make: Callable[[Path], None], said: str, tmp_path: Path
) -> None:
    make(tmp_path / "theirs")
    corpus = open_corpus(declared_folder(tmp_path, tmp_path / "theirs", "dense"))
    with pytest.raises(BadInput, match=said):
        corpus.annotations.count("bills")
    assert not (tmp_path / "theirs" / "meta.json").exists()


async def test_an_empty_collection_and_one_that_is_dropped(tmp_path: Path) -> None:
    client = holding([])
    corpus = opened(tmp_path, client)
    answer = await ask(tmp_path, corpus, "Which invoices from ACME are over 1,000 EUR?")
    assert answer.status == "unanswerable"
    write_points(client, BILLS)
    assert corpus.annotations.count("bills") == 5
    client.delete_collection("theirs")
    with pytest.raises(BadInput, match="There is no collection 'theirs'"):
        corpus.annotations.count("bills")
    answer = await ask(tmp_path, corpus, "Which invoices from ACME are over 1,000 EUR?")
    assert answer.status in ("failed", "unanswerable", "partial")
    assert "There is no collection 'theirs'" in answer.model_dump_json()


def test_a_server_is_read_page_by_page_and_needs_no_payload_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("citegraph.corpus.foreign.foreign_collection.PAGE", 3)
    with served(holding(BILLS, vector="text")) as (url, asked):
        client = connect_own(Settings(qdrant_url=url))
        corpus = opened(tmp_path, client, indexed=True, vector="text")
        found = query_documents(
            corpus,
            QueryInput(
                bucket="bills",
                aggregate=[Aggregate(function="sum", field="total")],
                filters=[FilterClause(field="vendor", operator="=", value="ACME GmbH")],
            ),
        )
        assert asked.count("POST points/scroll") == 4
        own = corpus.annotations.mirror("bills").collection  # type: ignore[attr-defined]
        chosen = {"must": [{"key": "meta.vendor", "match": {"value": "brandt kg"}}]}
        assert own.count(chosen) == 2
        monkeypatch.setattr(mirror, "FILTERED", 1)
        with pytest.raises(BadInput, match=r"no payload index of kind 'keyword' on 'metadata\.seller'"):
            own.count(chosen)
    assert found["rows"] == [
        {"sum_total": {"amount": "5050.5", "currency": "EUR"}},
        {"sum_total": {"amount": "99", "currency": "USD"}},
    ]


async def test_the_group_with_the_most_is_named_a_currency_each_with_its_documents(tmp_path: Path) -> None:
    tied = bill("D-1", "Dorn AG", "2023-01-01", 99.0, "USD")
    answer = await ask(
        tmp_path, opened(tmp_path, holding([*BILLS, *tied])), "Which vendor billed us the most?"
    )
    assert answer.status == "answered"
    assert answer.text.splitlines()[:3] == [
        "ACME GmbH: sum of total 5,050.50 EUR [bills:A-1.pdf] [bills:A-2.pdf] [bills:A-3.pdf].",
        "ACME GmbH: sum of total 99.00 USD [bills:A-4.pdf].",
        "Dorn AG: sum of total 99.00 USD [bills:D-1.pdf].",
    ]
    assert [note.kind for note in answer.notes] == ["values"]
    counted = await ask(tmp_path, opened(tmp_path, holding(BILLS)), "Who sent the most invoices in 2023?")
    assert counted.text == "ACME GmbH: 3 documents [bills:A-1.pdf] [bills:A-2.pdf] [bills:A-4.pdf]."
    assert {one.doc_id for one in counted.citations} == {"bills:A-1.pdf", "bills:A-2.pdf", "bills:A-4.pdf"}


async def test_documents_without_a_value_are_listed_and_not_summed(tmp_path: Path) -> None:
    corpus = opened(tmp_path, holding([*BILLS, *bill("N-1", "Dorn AG", "2023-08-08", None)]))
    answer = await ask(tmp_path, corpus, "Which invoices have no total?")
    assert answer.text == "1 document in bills:\n- Dorn AG, N-1, 2023-08-08 [bills:N-1.pdf]"


async def test_points_of_two_collections_with_the_same_ids_are_two_hits(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, **SETTINGS)
    own = [
        OwnCollection(
            bills_bucket(name=name),
            holding([(f"The {name} pump is red.", {})]),
            StaticEmbedder(),
            indexed=False,
        )
        for name in ("bills", "others")
    ]
    buckets = {one.bucket.name: one.bucket for one in own}
    corpus = with_collections(replace(open_corpus(settings), buckets=buckets), own, settings)
    found = await search_buckets(
        corpus.index, [SearchRequest(name, "pump", mode="semantic") for name in buckets]
    )
    assert {hit.chunk.doc_id for hit in found.hits} == {"bills:#1", "others:#1"}
    kept = [await corpus.index.retrieve(hit.chunk.bucket, [hit.chunk.chunk_id]) for hit in found.hits]
    assert [chunks[0].text for chunks in kept] == [hit.chunk.text for hit in found.hits]
    await corpus.index.close()


def test_a_bucket_that_is_no_collection_any_more_holds_nothing_of_it(tmp_path: Path) -> None:
    assert opened(tmp_path, holding(BILLS)).annotations.count("bills") == 5
    folder = tmp_path / "declared"
    folder.mkdir()
    data = bills_bucket().model_dump(mode="json", exclude_unset=True)
    del data["collection"]
    (folder / "bills.yaml").write_text(json.dumps(data), "utf-8")
    corpus = open_corpus(Settings(home=tmp_path, buckets_dir=folder, **SETTINGS))
    assert corpus.annotations.count("bills") == 0
    assert corpus.linker.link("bills", "ACME") == []


def test_a_bucket_with_ingested_documents_does_not_become_a_collection(tmp_path: Path) -> None:
    corpus = opened(tmp_path, holding(BILLS))
    corpus.annotations.put("bills", [("ours.pdf", {"vendor": "Ours"})])
    with pytest.raises(BadInput, match="holds 1 documents that were ingested"):
        corpus.annotations.count("bills")
    assert corpus.annotations.get("ours.pdf") == {"vendor": "Ours"}
