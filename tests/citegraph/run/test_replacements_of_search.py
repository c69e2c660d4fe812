"""What a searcher and a reranker of the user's own name is held to the request and to what the asking one may see."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from citegraph.corpus.filters.clause import Clause
from citegraph.corpus.filters.qdrant_filter import to_qdrant
from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.corpus.index.searcher import search_buckets
from citegraph.corpus.index.views import SeenIndex
from citegraph.corpus.records.access import Principal
from citegraph.corpus.schema.document import Chunk, Hit
from citegraph.errors import Rejected
from citegraph.run.replacements import PER_DOCUMENT, OwnReranker, OwnSearcher, Part, scored
from citegraph.run.services import Corpus
from citegraph.settings import Settings
from tests import parts_of_users
from tests.parts_of_users import HERE

CLOUD, PUMP = "cobaltine-cbc-10904", "oudenveld-of-24-01"


@pytest.fixture
def naming(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what makes a searcher that names some ids."""

    def made(*ids: Any) -> OwnSearcher:
        monkeypatch.setattr(parts_of_users, "named", lambda: list(ids), raising=False)
        return OwnSearcher(Part("searcher", f"{HERE}:named", Settings.model_construct()))

    return made


async def found(searcher: OwnSearcher, index: Any, **more: Any) -> list[Hit]:
    return await searcher.search(
        index, SearchRequest(**{"bucket": "invoices", "query": "invoice total"} | more), 5
    )


async def chunk_of(corpus: Corpus, doc_id: str, bucket: str = "invoices") -> Chunk:
    return (await corpus.index.document_chunks(bucket, doc_id))[0]


async def test_chunks_and_documents_come_in_the_searchers_order(corpus: Corpus, naming: Any) -> None:
    chunk = await chunk_of(corpus, CLOUD)
    hits = await found(naming(PUMP, chunk.chunk_id), corpus.index)
    documents = [hit.chunk.doc_id for hit in hits]
    assert documents == [PUMP] * documents.count(PUMP) + [CLOUD]
    assert 1 <= documents.count(PUMP) <= PER_DOCUMENT
    hits = await found(naming((PUMP, 0.5), (chunk.chunk_id, 7)), corpus.index)
    assert [(hit.chunk.doc_id, hit.score) for hit in hits][:2] == [(CLOUD, 7.0), (PUMP, 0.5)]


async def test_nothing_found_is_an_answer_and_nothing_known_is_a_failure(corpus: Corpus, naming: Any) -> None:
    assert await found(naming(), corpus.index) == []
    for unknown in ("nowhere", str(uuid.uuid4()), "nv2n517"):
        with pytest.raises(Rejected, match="named nothing that invoices holds"):
            await found(naming(unknown), corpus.index)


async def test_the_requests_filters_documents_and_phrases_hold(corpus: Corpus, naming: Any) -> None:
    chunks = {doc_id: await chunk_of(corpus, doc_id) for doc_id in (CLOUD, PUMP)}
    for searcher in (naming(CLOUD, PUMP), naming(*(chunk.chunk_id for chunk in chunks.values()))):
        clause = Clause(field="vendor_name", operator="=", value="Cobaltine Cloud Inc.")
        condition = to_qdrant(corpus.buckets["invoices"], (clause,))
        for held in ({"filter_json": condition}, {"doc_ids": (CLOUD,)}, {"phrases": ("Telemetry Platform",)}):
            hits = await found(searcher, corpus.index, **held)
            assert {hit.chunk.doc_id for hit in hits} == {CLOUD}, held
        assert len(await found(searcher, corpus.index, limit=1)) == 1


@dataclass
class Records:
    """The documents that may be seen, as the store's labels say."""

    seen: frozenset[str]

    def records(self, doc_ids: Iterable[str]) -> dict[str, Any]:
        return {doc_id: None for doc_id in doc_ids if doc_id in self.seen}


async def test_what_may_not_be_seen_does_not_come_back(corpus: Corpus, naming: Any) -> None:
    staff = Principal("ana", frozenset({"invoices"}), frozenset({"staff"}))
    index: Any = SeenIndex(corpus.index, Records(frozenset({CLOUD})), staff)  # type: ignore[arg-type]
    hidden, open_one = await chunk_of(corpus, PUMP), await chunk_of(corpus, CLOUD)
    for ids in ((PUMP, CLOUD), (hidden.chunk_id, open_one.chunk_id)):
        assert {hit.chunk.doc_id for hit in await found(naming(*ids), index)} == {CLOUD}
    with pytest.raises(Rejected, match="named nothing"):
        await found(naming(hidden.chunk_id), index)
    lease = await chunk_of(corpus, "bukit-seraya-lease", "contracts")
    with pytest.raises(Rejected, match="named nothing"):
        await found(naming(lease.chunk_id), index, bucket="contracts")


async def test_a_searcher_that_fails_leaves_the_search_to_the_index(corpus: Corpus, naming: Any) -> None:
    request = SearchRequest("invoices", "telemetry platform invoice")
    without = await search_buckets(corpus.index, [request])
    for strict in (False, True):
        result = await search_buckets(corpus.index, [request], searcher=naming("nowhere"), strict=strict)
        assert result.hits == without.hits
        (failure,) = result.failed
        assert (failure.bucket, failure.fallback) == ("invoices", "index")


def test_ids_without_scores_are_taken_by_rank() -> None:
    assert list(scored(["a", "b", "a"])) == ["a", "b"]
    assert scored(["a", "b"])["a"] > scored(["a", "b"])["b"]
    assert scored([("a", 1.0), ("a", 3.0)]) == {"a": 3.0}
    mixed = scored([("a", 0.001), "b"])
    assert mixed["a"] > mixed["b"], "where one has no score the order counts"


async def test_a_reranker_gives_one_number_for_each_passage(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    hits = await corpus.index.search(SearchRequest("invoices", "telemetry platform invoice", limit=60))
    assert len(hits) > 10
    seen: list[Any] = []

    def rerank(question: str, passages: list[str]) -> list[float]:
        seen.append((question, passages))
        return [float(place) for place in range(len(passages))]

    monkeypatch.setattr(parts_of_users, "ranks", rerank, raising=False)
    reranker = OwnReranker(Part("reranker", f"{HERE}:ranks", Settings.model_construct()), 5)
    ordered = await reranker.rerank("q", hits[:10])
    assert [hit.chunk for hit in ordered] == [hit.chunk for hit in reversed(hits[:10])]
    assert seen == [("q", [hit.chunk.text for hit in hits[:10]])]
    monkeypatch.setattr(parts_of_users, "ranks", lambda passages: [1.0], raising=False)
    reranker = OwnReranker(Part("reranker", f"{HERE}:ranks", Settings.model_construct()), 5)
    with pytest.raises(Rejected, match="returned another shape: 1 numbers for 10 passages"):
        await reranker.rerank("q", hits[:10])


async def test_nothing_is_written_through_what_a_principal_sees(corpus: Corpus) -> None:
    index: Any = SeenIndex(corpus.index, Records(frozenset()), Principal("ana", None, None))  # type: ignore[arg-type]
    bucket = corpus.buckets["invoices"]
    for write in (
        index.ensure(bucket),
        index.upsert("invoices", [], {}),
        index.set_metadata("invoices", {}),
        index.delete_documents("invoices", [CLOUD]),
        index.drop("invoices"),
        index.optimize("invoices"),
    ):
        with pytest.raises(NotImplementedError):
            await write
