"""Collections that langchain-qdrant wrote, read as buckets: searched, filtered and cited by whole runs."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from qdrant_client import QdrantClient, models

from citegraph.corpus.filters.clause import Clause
from citegraph.corpus.foreign.foreign_clients import connect_own
from citegraph.corpus.foreign.foreign_collection import OwnCollection
from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.corpus.index.searcher import search_buckets
from citegraph.corpus.records.access import Principal
from citegraph.corpus.schema.bucket import Bucket, Collection
from citegraph.corpus.schema.field import Field
from citegraph.errors import BadInput, Unavailable
from citegraph.llm.embeddings import StaticEmbedder
from citegraph.run.context import Context
from citegraph.run.services import Corpus, Services, open_corpus, with_collections
from citegraph.settings import Settings
from graph.session import Session
from tests.graph.own_invoices import write_points
from tests.qdrant_server import served
from tools.search_tools import PassageQuery, kept_searches, search_passages

Mode = Literal["dense", "sparse", "hybrid"]
TEXTS = [
    "The pump P-100 must be serviced every 400 operating hours. Use grease G4 only.",
    "The pump P-100 must be serviced every 750 operating hours, says the older manual.",
    "Compressor C-7 starts at a pressure of 12 bar and stops at 16 bar.",
]
METADATA: list[dict[str, Any]] = [
    {
        "source": "pump-2023.pdf",
        "page": 4,
        "maker": "Nordval AG",
        "year": 2023,
        "date": "2023-05-02T14:30:00Z",
    },
    {"source": "pump-2011.pdf", "page": 0, "maker": "Ostermann", "year": 2011, "date": "2011-01-10"},
    {"source": "compressor.pdf", "page": 8, "maker": "nordval ag", "year": 2020, "date": "2020-03-01"},
]


def declared(mode: Mode, **given: Any) -> Bucket:
    """Return the declaration of the collection of these tests."""
    return Bucket(
        name="manuals",
        description="Service manuals of pumps and compressors.",
        nouns=("manual",),
        fields=(
            Field(name="manufacturer", type="keyword", description="Who made it.", columns=("maker",)),
            Field(name="year", type="integer", description="Year of the manual."),
            Field(name="issued", type="date", description="Day of issue.", columns=("date",)),
        ),
        collection=Collection(name="theirs", mode=mode, **given),
    )


def written(mode: Mode) -> QdrantClient:
    """Return a client in local mode with a collection that langchain-qdrant wrote."""
    client = QdrantClient(":memory:")
    write_points(client, list(zip(TEXTS, METADATA, strict=True)), mode)
    return client


def opened(home: Path, mode: Mode, **given: Any) -> tuple[Settings, Corpus]:
    """Return a corpus whose one bucket is the collection."""
    settings = Settings(home=home, embeddings="static", reranker="none")
    bucket = declared(mode, **given)
    own = OwnCollection(bucket, written(mode), StaticEmbedder(), indexed=False)
    corpus = replace(open_corpus(settings), buckets={"manuals": bucket})
    return settings, with_collections(corpus, [own], settings)


@pytest.mark.parametrize("mode", ["dense", "sparse", "hybrid"])
async def test_a_run_answers_from_the_collection_with_filter_page_and_citation(
    mode: Mode, tmp_path: Path
) -> None:
    settings, corpus = opened(tmp_path, mode)
    session = Session(Services(settings=settings, ready=corpus), InMemorySaver())
    context = Context(buckets=["manuals"], filters=["manufacturer=NORDVAL AG", "year>=2021"])
    answer = await session.ask(
        "After how many operating hours must the pump P-100 be serviced?", context=context
    )
    assert answer.status == "answered"
    assert "400" in answer.text
    assert "750" not in answer.text
    cited = answer.citations[0]
    assert (cited.doc_id, cited.source_file, cited.page) == ("manuals:pump-2023.pdf", "pump-2023.pdf", 5)
    assert TEXTS[0][cited.start : cited.end] == cited.quote
    await corpus.index.close()


def count(corpus: Corpus, *clauses: Clause) -> int:
    return corpus.annotations.count("manuals", clauses)


def test_filters_compare_as_those_of_an_ingested_bucket(tmp_path: Path) -> None:
    _, corpus = opened(tmp_path, "dense")
    assert count(corpus) == 3
    assert count(corpus, Clause(field="manufacturer", operator="=", value="Nordval AG")) == 2
    assert count(corpus, Clause(field="manufacturer", operator="!=", value="Nordval AG")) == 1
    assert count(corpus, Clause(field="manufacturer", operator="starts with", value="oster")) == 1
    assert count(corpus, Clause(field="manufacturer", operator="contains", value="none such")) == 0
    assert count(corpus, Clause(field="manufacturer", operator="missing")) == 0
    assert count(corpus, Clause(field="year", operator="between", value=[2011, 2020])) == 2
    assert count(corpus, Clause(field="issued", operator="<=", value="2023-05-02")) == 3
    assert count(corpus, Clause(field="issued", operator=">", value="2023-05-02")) == 0
    assert corpus.annotations.document_ids("manuals", (Clause(field="year", operator="<", value=2015),)) == [
        "manuals:pump-2011.pdf"
    ]


def test_a_document_takes_its_id_and_page_from_the_metadata(tmp_path: Path) -> None:
    _, corpus = opened(tmp_path, "dense", id_key="source", first_page=1)
    document = corpus.documents.get("manuals:pump-2023.pdf#1")
    assert document is not None
    assert (document.text, document.pages[0].number) == (TEXTS[0], 4)
    assert corpus.documents.get("manuals:another.pdf#1") is None
    assert corpus.documents.get("manuals:9") is None
    values = corpus.annotations.get(document.doc_id)
    assert values is not None
    assert values["manufacturer"] == "Nordval AG"
    assert values["year"] == 2023


async def test_no_passage_passes_for_a_summary(tmp_path: Path) -> None:
    _, corpus = opened(tmp_path, "dense")
    request = SearchRequest("manuals", "pump", mode="semantic")
    assert await corpus.index.search(request)
    assert await corpus.index.search(replace(request, summaries=True)) == []


async def test_searches_of_other_buckets_alone_are_kept(tmp_path: Path) -> None:
    _, corpus = opened(tmp_path, "dense")
    cached = kept_searches(corpus.index, "")
    for hits_kept in (0, 1):
        theirs, ours = SearchRequest("manuals", "pump", mode="semantic"), SearchRequest("letters", "pump")
        found = await search_buckets(corpus.index, [theirs, ours], strict=True, timeout=60, cached=cached)
        assert (found.cache_hits, len(found.hits)) == (hits_kept, 3)
        assert await corpus.index.counts("manuals", [None]) == [3]
    await corpus.index.close()


async def test_nothing_is_written(tmp_path: Path) -> None:
    _, corpus = opened(tmp_path, "dense")
    with pytest.raises(BadInput, match="only reads"):
        await corpus.index.delete_documents("manuals", ["manuals:1"])
    with pytest.raises(BadInput, match="only reads"):
        await corpus.index.drop("manuals")
    assert await corpus.index.count("manuals") == 3


async def test_who_may_see_the_bucket_sees_all_of_it(tmp_path: Path) -> None:
    settings, whole = opened(tmp_path, "dense")
    services = Services(settings=settings, ready=whole)
    query = PassageQuery(buckets=("manuals",), query="pump", mode="semantic")
    seen = services.seen_by(Principal("ana", frozenset({"manuals"}), frozenset({"staff"})), whole)
    assert len((await search_passages(seen, query, timeout=60)).hits) == 3
    assert await seen.index.count("manuals") == 3
    other = services.seen_by(Principal("bo", frozenset({"letters"}), frozenset()), whole)
    assert other.documents.get("manuals:pump-2023.pdf") is None
    assert (other.documents.count(), other.documents.named("pump")) == (0, [])
    assert other.annotations.get("manuals:pump-2023.pdf") is None
    assert other.annotations.remarks("manuals", ["year"]) == []
    assert len(seen.annotations.remarks("manuals", ["year"])) == 1
    assert await other.index.count("manuals") == 0


class Served:
    """A client of a server whose collection has these payload indexes; all else is local mode."""

    def __init__(self, client: QdrantClient, schema: dict[str, str]) -> None:
        self.client = client
        self.schema = {
            key: SimpleNamespace(data_type=SimpleNamespace(value=kind)) for key, kind in schema.items()
        }

    def get_collection(self, name: str) -> Any:
        return SimpleNamespace(payload_schema=self.schema)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)


@pytest.mark.parametrize("schema", [{}, {"metadata.maker": "text"}])
def test_a_missing_payload_index_is_named_with_what_makes_it(schema: dict[str, str]) -> None:
    served = cast(QdrantClient, Served(written("dense"), schema))
    own = OwnCollection(declared("dense"), served, StaticEmbedder())
    with pytest.raises(
        BadInput, match=r"no payload index of kind 'keyword' on 'metadata\.maker'.*create_payload_index"
    ):
        own.count({"must": [{"key": "meta.manufacturer", "match": {"value": "ostermann"}}]})
    assert own.count() == 3


def test_a_payload_index_that_is_there_serves() -> None:
    served = cast(QdrantClient, Served(written("dense"), {"metadata.maker": "keyword"}))
    own = OwnCollection(declared("dense"), served, StaticEmbedder())
    assert own.count({"must": [{"key": "meta.manufacturer", "match": {"value": "ostermann"}}]}) == 1


def test_a_collection_that_does_not_fit_or_is_not_there_is_refused(tmp_path: Path) -> None:
    own = OwnCollection(declared("hybrid"), written("dense"), StaticEmbedder(), indexed=False)
    with pytest.raises(BadInput, match="does not fit its declaration"):
        own.search(SearchRequest("manuals", "pump"))


def made(
    payload: dict[str, Any] | None = None, *, name: str = "", size: int = 0, distance: str = "Cosine"
) -> QdrantClient:
    """Return a client with a collection of dense vectors that holds one point, if any."""
    client, embedder = QdrantClient(":memory:"), StaticEmbedder()
    params = models.VectorParams(size=size or embedder.dimensions, distance=models.Distance(distance))
    client.create_collection("theirs", vectors_config={name: params})
    if payload is not None:
        vector = {name: embedder.embed_query("pump").tolist()}
        client.upsert("theirs", [models.PointStruct(id=1, vector=vector, payload=payload)])
    return client


@pytest.mark.parametrize(
    ("client", "said"),
    [
        (QdrantClient(":memory:"), "There is no collection 'theirs' on the Qdrant server: correct `name`"),
        (made(size=64), "64 dimensions. Selected embeddings are 256-dimensional. Correct the declaration"),
        (made(distance="Dot"), "requested COSINE"),
        (made(name="text"), "one of the existing vectors: text?"),
        (made({"text": "Pump."}), "have no 'page_content', but text: correct `content_key`"),
        (made({"page_content": "Pump.", "meta": {}}), "have no 'metadata', but meta, page_content"),
        (made({"page_content": 5, "metadata": {}}), "'page_content' must be a text and 'metadata' an object"),
        (made({"page_content": "Pump.", "metadata": "x"}), "'metadata' an object"),
    ],
)
def test_what_does_not_fit_is_named_with_what_to_correct(client: QdrantClient, said: str) -> None:
    own = OwnCollection(declared("dense"), client, StaticEmbedder(), indexed=False)
    with pytest.raises(BadInput) as caught:
        own.search(SearchRequest("manuals", "pump"))
    assert said in str(caught.value)
    assert "recreate" not in str(caught.value)  # it would delete what is there


def test_an_empty_collection_finds_nothing() -> None:
    own = OwnCollection(declared("dense"), made(), StaticEmbedder(), indexed=False)
    assert own.search(SearchRequest("manuals", "pump")) == []
    assert own.count() == 0


def test_metadata_may_stand_beside_the_text() -> None:
    client = made(
        {"body": "The pump is red.", "source": "a.pdf", "page": 2, "maker": "Nordval AG", "year": 2020}
    )
    own = OwnCollection(
        declared("dense", content_key="body", metadata_key=""), client, StaticEmbedder(), indexed=False
    )
    chosen = {"must": [{"key": "meta.manufacturer", "match": {"value": "nordval ag"}}]}
    (hit,) = own.search(SearchRequest("manuals", "pump", filter_json=chosen))
    assert (hit.chunk.text, hit.chunk.source_file, hit.chunk.page_first) == ("The pump is red.", "a.pdf", 3)
    assert own.values(hit.chunk.doc_id) == {"manufacturer": "Nordval AG", "year": 2020}
    assert own.count({"must": [{"key": "meta.year", "range": {"gt": 2020}}]}) == 0


def test_a_collection_needs_the_server_it_is_on(tmp_path: Path) -> None:
    folder = tmp_path / "buckets"
    folder.mkdir()
    (folder / "manuals.yaml").write_text(
        "name: manuals\ndescription: Manuals.\nnouns: [manual]\nfields: []\ncollection: {name: theirs}\n",
        "utf-8",
    )
    with pytest.raises(BadInput, match="set QDRANT_URL"):
        open_corpus(Settings(home=tmp_path, buckets_dir=folder, embeddings="static", reranker="none"))


@pytest.mark.parametrize("mode", ["dense", "sparse", "hybrid"])
def test_a_server_is_read_by_its_url(mode: Mode) -> None:
    chosen = {"must": [{"key": "meta.manufacturer", "match": {"value": "nordval ag"}}]}
    request = SearchRequest("manuals", "how often is the pump serviced?", filter_json=chosen)
    local = OwnCollection(declared(mode), written(mode), StaticEmbedder(), indexed=False)
    with served(written(mode), {"metadata.maker": "keyword"}) as (url, asked):
        own = OwnCollection(declared(mode), connect_own(Settings(qdrant_url=url)), StaticEmbedder())
        hits = own.search(request)
        assert own.count(chosen) == 2
        assert own.doc_ids(None, 10) == [
            "manuals:pump-2023.pdf#1",
            "manuals:pump-2011.pdf#2",
            "manuals:compressor.pdf#3",
        ]
        document = own.document("manuals:pump-2023.pdf#1")
        with pytest.raises(BadInput, match=r"no payload index of kind 'integer' on 'metadata\.year'"):
            own.count({"must": [{"key": "meta.year", "range": {"gt": 2020}}]})
    assert [(hit.chunk, hit.similarity) for hit in hits] == [
        (hit.chunk, pytest.approx(hit.similarity)) for hit in local.search(request)
    ]
    assert document == local.document("manuals:pump-2023.pdf#1")
    assert {"POST points/query", "POST points", "POST facet", "POST points/count", "GET"} <= set(asked)


def test_a_server_without_the_collection_and_no_server_are_told_apart() -> None:
    request = SearchRequest("manuals", "pump")
    with served(QdrantClient(":memory:")) as (url, _):
        client = connect_own(Settings(qdrant_url=url))
        with pytest.raises(BadInput, match="There is no collection 'theirs' on the Qdrant server"):
            OwnCollection(declared("dense"), client, StaticEmbedder()).search(request)
    with pytest.raises(Unavailable, match="cannot be reached"):
        OwnCollection(declared("dense"), connect_own(Settings(qdrant_url=url)), StaticEmbedder()).search(
            request
        )
