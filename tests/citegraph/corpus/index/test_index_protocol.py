"""One contract, run on the embedded engine, the client's local mode and a real server if there is one."""

import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import NAMESPACE_URL, uuid4, uuid5

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient

from citegraph.corpus.index.collection_record import encode, indexed_text
from citegraph.corpus.index.edge.edge_index import EdgeIndex
from citegraph.corpus.index.edge.edge_shard import Shard, Sizes
from citegraph.corpus.index.engine_process import ProcessIndex
from citegraph.corpus.index.index_protocol import OWN_INDEXES, Index, SearchRequest
from citegraph.corpus.index.qdrant_index import QdrantIndex
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Chunk
from citegraph.corpus.schema.field import Field
from citegraph.errors import BadInput, Rejected, Unavailable
from citegraph.llm.embeddings import StaticEmbedder, Vectors
from citegraph.run.services import load_index
from citegraph.settings import Settings

BUCKET = Bucket(
    name="letters",
    description="Letters of a harbour office.",
    nouns=("letter",),
    fields=(
        Field(name="sender", type="keyword", description="Who wrote it."),
        Field(name="sent", type="date", description="When it was sent."),
        Field(name="crates", type="integer", description="How many crates."),
    ),
)
TEXTS = {
    "anchors": "The anchors of the ferry were weighed at dawn, reference HB-1001.",
    "ropes": "Fresh ropes arrived; the ferry is moored with the ropes of the tug HB-2002.",
    "cranes": "Both cranes need paint before the inspection of the quay.",
    "tides": "A table of the tides and the currents in the estuary, see HB-1001 and HB-3003.",
}
METADATA = {
    "anchors": {"sender": "harbour master", "sent": "2021-03-04T00:00:00Z", "crates": 4.0},
    "ropes": {"sender": "chandler", "sent": "2022-03-04T00:00:00Z", "crates": 12.0},
    "cranes": {"sender": "harbour master", "sent": "2022-11-30T00:00:00Z", "crates": 0.0},
    "tides": {"sender": "pilot"},
}
IDENTIFIERS = {"anchors": ("hb-1001",), "ropes": ("hb-2002",), "tides": ("hb-1001", "hb-3003")}
STATIC = StaticEmbedder()


SENT_BY_CHANDLER = {"must": [{"key": "meta.sender", "match": {"value": "chandler"}}]}


def chunk(doc_id: str, text: str, ordinal: int = 0) -> Chunk:
    return Chunk(
        chunk_id=str(uuid5(NAMESPACE_URL, f"{doc_id}/{ordinal}/{text}")),
        doc_id=doc_id,
        bucket=BUCKET.name,
        ordinal=ordinal,
        text=text,
        start=ordinal * 100,
        end=ordinal * 100 + len(text),
        content_hash=f"hash of {text}",
        source_file=f"{doc_id}.txt",
        page_first=2 if doc_id == "tides" else None,
        page_last=3 if doc_id == "tides" else None,
        identifiers=IDENTIFIERS.get(doc_id, ()),
        title=f"Letter about {doc_id}",
        context=f"Letter about {doc_id} | archive",
    )


CHUNKS = [chunk(doc_id, text) for doc_id, text in TEXTS.items()]

SIZES = {
    "edge": Sizes(),
    "ended": Sizes(rest=2),
    "sealed": Sizes(seal=4),
    "graph": Sizes(seal=4, graph=4),
}
"""The embedded engine as it lays out few points, some at the end of an ingest, many, and a very large number of them."""
ENGINES = [
    *SIZES,
    "process",
    "local",
    *(["server"] if os.environ.get("QDRANT_URL") else []),
]


def make_index(engine: str, folder: Path, embedder: object = STATIC) -> Index:
    if engine in SIZES:
        return EdgeIndex(folder, embedder, weights=(1.0, 6.0), sizes=SIZES[engine])  # type: ignore[arg-type]
    if engine == "process":
        return ProcessIndex(Settings(home=folder, qdrant_url=None))
    client = (
        AsyncQdrantClient(os.environ["QDRANT_URL"]) if engine == "server" else AsyncQdrantClient(":memory:")
    )
    prefix = f"test_{uuid4().hex}_"
    return QdrantIndex(client, embedder, weights=(1.0, 6.0), prefix=prefix)  # type: ignore[arg-type]


PROCESS: dict[str, Index] = {}


@pytest.fixture(params=ENGINES)
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Index]:
    if request.param == "process":
        # One process for all tests: its start takes longer than they do.
        index = PROCESS.get("writable") or make_index("process", tmp_path)
        PROCESS["writable"] = index
    else:
        index = make_index(request.param, tmp_path)
    yield index
    await index.drop(BUCKET.name)
    if request.param != "process":
        await index.close()


async def fill(index: Index) -> Index:
    await index.ensure(BUCKET)
    await index.upsert(BUCKET.name, CHUNKS, METADATA)
    return index


@pytest.fixture
async def writable(index: Index) -> Index:
    """A filled index of the test's own."""
    return await fill(index)


READ_ONLY: dict[str, Index] = {}


@pytest.fixture(params=ENGINES)
async def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Index]:
    """A filled index that tests only read; a server's client belongs to one event loop and is not shared."""
    index = READ_ONLY.get(request.param)
    if index is None:
        index = await fill(make_index(request.param, tmp_path_factory.mktemp("index")))
    if request.param != "server":
        READ_ONLY[request.param] = index
    yield index
    if request.param == "server":
        await index.drop(BUCKET.name)
        await index.close()


async def found(index: Index, query: str, **given: object) -> list[str]:
    request = replace(SearchRequest(BUCKET.name, query), **given)  # type: ignore[arg-type]
    return [hit.chunk.doc_id for hit in await index.search(request)]


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
class TestContract:
    async def test_a_bucket_never_filled_is_empty(self, index: Index) -> None:
        assert await index.search(SearchRequest("letters", "ferry")) == []
        assert await index.count("letters") == 0
        assert await index.counts("letters", [None, None]) == [0, 0]
        assert await index.document_chunks("letters", "anchors") == []
        assert await index.retrieve("letters", [CHUNKS[0].chunk_id]) == []
        await index.delete_documents("letters", ["anchors"])
        with pytest.raises(Rejected, match="ensure"):
            await index.upsert("letters", CHUNKS, {})

    async def test_keyword_search_stems_and_ranks(self, filled: Index) -> None:
        assert await found(filled, "rope", mode="keyword") == ["ropes"]
        assert await found(filled, "the ferries", mode="keyword") in (
            ["anchors", "ropes"],
            ["ropes", "anchors"],
        )
        assert await found(filled, "the of and", mode="keyword") == []

    async def test_a_chunk_survives_the_round_trip(self, filled: Index) -> None:
        (hit,) = await filled.search(SearchRequest("letters", "estuary currents", mode="keyword"))
        assert hit.chunk == CHUNKS[3]
        assert hit.similarity is None

    async def test_semantic_search_gives_the_cosine(self, filled: Index) -> None:
        hits = await filled.search(SearchRequest("letters", "painting cranes", mode="semantic"))
        assert len(hits) == 4
        assert hits[0].chunk.doc_id == "cranes"
        expected = STATIC.embed_query("painting cranes") @ STATIC.embed_query(indexed_text(CHUNKS[2]))
        assert hits[0].similarity == pytest.approx(float(expected), abs=1e-4)
        assert hits[0].score == pytest.approx(float(expected), abs=1e-4)

    async def test_hybrid_fuses_both_lists_by_rank(self, filled: Index) -> None:
        hits = await filled.search(SearchRequest("letters", "ropes of the tug", limit=2))
        assert hits[0].chunk.doc_id == "ropes"
        # Rank 1 in both lists: sum of weight / (k - 1 + rank) with k = 60 and weights 1 and 6.
        assert hits[0].score == pytest.approx(1 / 60 + 6 / 60, abs=1e-6)
        # The second is not found by a word of the question, but by the vectors.
        assert hits[1].score == pytest.approx(1 / 61, abs=1e-6)
        assert len(hits) == 2
        assert hits[0].similarity is not None

    async def test_filters_are_pushed_down(self, filled: Index) -> None:
        master = {"must": [{"key": "meta.sender", "match": {"value": "harbour master"}}]}
        assert set(await found(filled, "ferry", filter_json=master)) == {"anchors", "cranes"}
        assert await found(filled, "ferry", mode="keyword", filter_json=master) == ["anchors"]
        late = {"must": [{"key": "meta.sent", "range": {"gte": "2022-01-01T00:00:00Z"}}]}
        assert set(await found(filled, "ferry", filter_json=late)) == {"ropes", "cranes"}
        many = {"must": [{"key": "meta.crates", "range": {"gt": 0, "lt": 12.0}}]}
        assert await found(filled, "ferry", filter_json=many) == ["anchors"]
        unsent = {"must": [{"is_empty": {"key": "meta.sent"}}]}
        assert await found(filled, "ferry", filter_json=unsent) == ["tides"]
        nested = {"must_not": [{"should": [*master["must"], *unsent["must"]]}]}
        assert await found(filled, "ferry", filter_json=nested) == ["ropes"]
        assert await filled.count("letters", late) == 2
        assert await filled.count("letters") == 4
        assert await filled.counts("letters", [late, None, late]) == [2, 4, 2]
        assert await filled.counts("letters", []) == []

    async def test_document_ids_restrict(self, filled: Index) -> None:
        assert await found(filled, "ferry", doc_ids=("cranes", "tides")) != []
        assert set(await found(filled, "ferry", doc_ids=("cranes", "tides"))) == {"cranes", "tides"}

    async def test_phrases_match_word_for_word(self, filled: Index) -> None:
        assert await found(filled, "quay", phrases=("Inspection of the QUAY",)) == ["cranes"]
        assert await found(filled, "quay", phrases=("quay inspection",)) == []

    @pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
    async def test_identifiers_come_first(self, filled: Index, mode: str) -> None:
        hits = await found(filled, "cranes in the estuary", mode=mode, identifiers=("HB-3003",))
        assert hits[0] == "tides"
        both = await found(filled, "cranes and paint", mode="hybrid", identifiers=("hb-1001",))
        assert set(both[:2]) == {"anchors", "tides"}
        assert both[2] == "cranes"

    async def test_upsert_replaces_the_same_chunk(self, writable: Index) -> None:
        await writable.upsert("letters", [replace(CHUNKS[0], source_file="moved.txt")], METADATA)
        assert await writable.count("letters") == 4
        (stored,) = await writable.retrieve("letters", [CHUNKS[0].chunk_id])
        assert stored.source_file == "moved.txt"

    async def test_vectors_that_are_ready_are_taken(self, writable: Index) -> None:
        first, second = CHUNKS[:2]
        await writable.upsert(
            "letters", [first], METADATA, {first.chunk_id: encode([second], STATIC, BUCKET.language)[0]}
        )
        for mode in ("keyword", "semantic"):
            hits = await found(writable, indexed_text(second), mode=mode, limit=2)
            assert set(hits) == {first.doc_id, second.doc_id}
        for hit in await writable.search(SearchRequest("letters", indexed_text(second), "semantic", limit=2)):
            assert hit.similarity == pytest.approx(1.0, abs=1e-5)

    async def test_metadata_can_change_alone(self, writable: Index) -> None:
        await writable.set_metadata("letters", {"cranes": {"sender": "painter"}})
        painter = {"must": [{"key": "meta.sender", "match": {"any": ["painter"]}}]}
        assert await found(writable, "ferry", filter_json=painter) == ["cranes"]
        (stored,) = await writable.document_chunks("letters", "cranes")
        assert stored == CHUNKS[2]
        gone = {"must": [{"key": "meta.crates", "range": {"gte": 0}}]}
        assert await writable.count("letters", gone) == 2

    async def test_delete_removes_every_chunk_of_a_document(self, writable: Index) -> None:
        await writable.upsert("letters", [chunk("ropes", "More about the ropes.", 1)], METADATA)
        await writable.delete_documents("letters", ["ropes", "unknown"])
        assert await writable.count("letters") == 3
        assert await found(writable, "ropes", mode="keyword") == []

    async def test_chunks_of_a_document_come_in_order(self, writable: Index) -> None:
        more = [chunk("tides", f"Page {number} of the tables.", number) for number in (3, 1, 2)]
        await writable.upsert("letters", more, METADATA)
        assert [c.ordinal for c in await writable.document_chunks("letters", "tides")] == [0, 1, 2, 3]

    async def test_retrieve_keeps_the_order_asked(self, filled: Index) -> None:
        wanted = [CHUNKS[2].chunk_id, str(uuid4()), CHUNKS[0].chunk_id]
        assert await filled.retrieve("letters", wanted) == [CHUNKS[2], CHUNKS[0]]

    async def test_ensure_twice_changes_nothing(self, writable: Index) -> None:
        await writable.ensure(BUCKET)
        await writable.optimize("letters")
        assert await writable.count("letters") == 4

    async def test_sparse_vectors_fit_the_bucket_whatever_came_first(
        self, index: Index, request: pytest.FixtureRequest
    ) -> None:
        if request.node.callspec.params["index"] == "sealed":
            pytest.xfail("Of more points than half a segment holds, replaced ones still count as documents.")
        long = [chunk(f"long{n}", f"Crate {n} of ropes. " + "anchor chain mast sail " * n) for n in range(9)]
        await index.ensure(BUCKET)
        await index.upsert("letters", CHUNKS[:1], {})
        await index.upsert("letters", [*CHUNKS[1:], *long], {})
        drifted = await index.search(SearchRequest("letters", "ropes", "keyword"))
        await index.optimize("letters")
        fitted = await index.search(SearchRequest("letters", "ropes", "keyword"))
        await index.drop("letters")
        await index.ensure(BUCKET)
        await index.upsert("letters", [*CHUNKS, *long], {})
        expected = await index.search(SearchRequest("letters", "ropes", "keyword"))
        assert fitted == expected
        assert [hit.score for hit in drifted] != [hit.score for hit in fitted]

    async def test_summaries_are_seen_by_a_search_for_them_alone(self, writable: Index) -> None:
        asked = SearchRequest("letters", "ropes of the tug", limit=10)
        before = await writable.search(asked)
        assert await writable.search(replace(asked, summaries=True)) == []
        added = [
            replace(chunk("ropes", "Ropes, ropes and a tug.", n), level="section", covers=4) for n in (4, 8)
        ]
        await writable.upsert("letters", [added[0]], METADATA)
        await writable.upsert("letters", [added[1]], METADATA)
        hits = await writable.search(replace(asked, summaries=True, filter_json=SENT_BY_CHANDLER))
        assert sorted((hit.chunk for hit in hits), key=lambda found: found.ordinal) == added
        assert await writable.search(asked) == before, "neither found, nor counted among the words"
        assert await writable.count("letters") == 4
        assert await writable.count("letters", SENT_BY_CHANDLER) == 1
        assert await writable.document_chunks("letters", "ropes") == [CHUNKS[1]]
        assert await writable.retrieve("letters", [added[0].chunk_id, CHUNKS[1].chunk_id]) == [CHUNKS[1]]
        await writable.optimize("letters")
        assert await writable.search(asked) == before
        await writable.delete_documents("letters", ["ropes"])
        assert await writable.search(replace(asked, summaries=True)) == []

    async def test_another_language_asks_for_reembedding(self, writable: Index) -> None:
        with pytest.raises(BadInput, match=r"language 'en'.*'de'.*reembed letters"):
            await writable.ensure(BUCKET.model_copy(update={"language": "de"}))

    async def test_drop_empties_the_bucket(self, writable: Index) -> None:
        await writable.drop("letters")
        assert await writable.count("letters") == 0
        await writable.ensure(BUCKET)
        await writable.upsert("letters", CHUNKS[:1], METADATA)
        assert await writable.count("letters") == 1


class OtherModel:
    """An embedding model of another name and length."""

    name = "other"
    dimensions = 8

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 8), dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        return np.ones(8, dtype=np.float32)


async def test_edge_refuses_another_embedding_model(tmp_path: Path) -> None:
    first = make_index("edge", tmp_path)
    await first.ensure(BUCKET)
    await first.upsert("letters", CHUNKS, METADATA)
    await first.close()
    second = make_index("edge", tmp_path, OtherModel())
    with pytest.raises(BadInput, match=r"ask for other \(8\).*`citegraph reembed letters`"):
        await second.search(SearchRequest("letters", "ferry"))
    with pytest.raises(BadInput, match="reembed"):
        await second.ensure(BUCKET)
    await second.drop("letters")
    await second.ensure(BUCKET)
    assert await second.count("letters") == 0
    await second.close()


async def test_qdrant_refuses_another_embedding_model() -> None:
    client = AsyncQdrantClient(":memory:")
    await QdrantIndex(client, STATIC, weights=(1, 3)).ensure(BUCKET)
    other = QdrantIndex(client, OtherModel(), weights=(1, 3))
    with pytest.raises(BadInput, match="reembed letters"):
        await other.search(SearchRequest("letters", "ferry"))


async def test_a_process_that_knew_of_no_summaries_shows_none() -> None:
    client = AsyncQdrantClient(":memory:")
    first, second = (QdrantIndex(client, STATIC, weights=(1, 3)) for _ in range(2))
    await fill(first)
    asked = SearchRequest("letters", "ropes of the tug")
    before = await second.search(asked)
    await first.upsert(
        "letters", [replace(chunk("ropes", "Ropes of the tug.", 1), level="section")], METADATA
    )
    found = await second.search(asked)
    assert [hit.chunk for hit in found] == [hit.chunk for hit in before]


async def test_edge_survives_a_restart_and_is_locked_meanwhile(tmp_path: Path) -> None:
    first = make_index("edge", tmp_path)
    await first.ensure(BUCKET)
    await first.upsert("letters", CHUNKS, METADATA)
    best = await first.search(SearchRequest("letters", "ropes"))
    second = make_index("edge", tmp_path)
    with pytest.raises(Unavailable, match="open in another process"):
        await second.search(SearchRequest("letters", "ferry"))
    await first.close()
    assert await second.search(SearchRequest("letters", "ropes")) == best
    await second.close()


async def test_edge_recovers_from_a_creation_without_record(tmp_path: Path) -> None:
    first = make_index("edge", tmp_path)
    await first.ensure(BUCKET)
    (tmp_path / "letters.json").unlink()
    second = make_index("edge", tmp_path)
    with pytest.raises(Unavailable, match="open in another process"):
        await second.ensure(BUCKET)
    await first.close()
    await second.ensure(BUCKET)
    await second.upsert("letters", CHUNKS, METADATA)
    assert await second.count("letters") == 4
    await second.close()


async def test_declared_fields_are_indexed_once_a_shard_is_large(tmp_path: Path) -> None:
    async def indexed(sizes: Sizes) -> set[str]:
        index = EdgeIndex(tmp_path, STATIC, weights=(1, 3), sizes=sizes)
        await index.ensure(BUCKET)
        await index.upsert("letters", CHUNKS, METADATA)
        await index.optimize("letters")
        assert await index.count("letters", SENT_BY_CHANDLER) == 1
        opened = index._opened("letters")
        assert opened is not None
        keys = set(opened.shard.call(lambda handle: handle.info().payload_schema))
        await index.close()
        return keys

    assert await indexed(Sizes()) == set(OWN_INDEXES)
    assert await indexed(Sizes(fields=4)) == {*OWN_INDEXES, *BUCKET.payload_indexes()}
    # Homes of earlier versions have them all; the next ingest drops what a small bucket does not need.
    assert await indexed(Sizes()) == set(OWN_INDEXES)


@pytest.mark.slow
async def test_a_growing_shard_is_laid_on_disk_then_joined_under_a_graph(tmp_path: Path) -> None:
    async def fill_with(sizes: Sizes) -> tuple[int, bool, list[str]]:
        index = EdgeIndex(tmp_path, STATIC, weights=(1, 3), sizes=sizes)
        await index.ensure(BUCKET)
        for part in range(3):
            chunks = [chunk(name, f"{text} {part}", part) for name, text in TEXTS.items()]
            await index.upsert("letters", chunks, METADATA)
        await index.optimize("letters")
        hits = await index.search(SearchRequest("letters", "paint of the cranes", limit=3))
        assert await index.count("letters") == 12
        opened = index._opened("letters")
        assert opened is not None
        segments = opened.shard.call(lambda handle: handle.info().segments_count)
        await index.close()
        return segments, opened.shard.graph, [hit.chunk.doc_id for hit in hits]

    assert await fill_with(Sizes(seal=4)) == (4, False, ["cranes"] * 3)
    # All points are replaced; the segments of the old ones are joined.
    assert await fill_with(Sizes(seal=4, graph=8)) == (2, True, ["cranes"] * 3)


def test_a_shard_stays_claimed_while_the_engine_lets_go_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    shard = Shard.create(folder, 4, Sizes())
    shard._close()
    with pytest.raises(Unavailable, match="open in another process"):
        Shard.load(folder, 4, Sizes())
    shard.close()
    Shard.load(folder, 4, Sizes()).close()


async def test_a_server_that_does_not_answer_is_unavailable() -> None:
    settings = Settings(_env_file=None, qdrant_url="http://127.0.0.1:9")
    index = load_index(settings, STATIC)
    assert isinstance(index, QdrantIndex)
    with pytest.raises(Unavailable, match="cannot be reached"):
        await index.search(SearchRequest("letters", "ferry"))
    await index.close()


async def test_the_embedded_engine_is_the_default(tmp_path: Path) -> None:
    index = load_index(Settings(_env_file=None, home=tmp_path, qdrant_url=None), STATIC)
    assert isinstance(index, EdgeIndex)
    await index.ensure(BUCKET)
    assert (tmp_path / "index" / "letters.json").is_file()
    await index.close()


async def test_a_filter_that_no_engine_knows_is_refused(tmp_path: Path) -> None:
    index = make_index("edge", tmp_path)
    for wrong in (
        {"musst": []},
        {"must": [{"key": "a", "matsch": {}}]},
        {"must": [{"key": "a", "match": {"x": 1}}]},
    ):
        with pytest.raises(BadInput, match="Unknown"):
            await index.count("letters", wrong)
    await index.close()
