"""Hits of all chunks and hits inside the best sections: long documents change places among themselves only."""

from dataclasses import replace

from citegraph.corpus.index.collection_record import fused, joined
from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.corpus.index.searcher import search_buckets
from citegraph.corpus.schema.document import Hit
from tests.citegraph.corpus.index.test_searcher import hit


def ids(hits: list[Hit]) -> list[tuple[str, float]]:
    return [(found.chunk.chunk_id, found.score) for found in hits]


def long(chunk_id: str, score: float, *identifiers: str) -> Hit:
    return hit(chunk_id, score, summarised=True, identifiers=identifiers)


def test_short_documents_keep_their_places_and_every_place_its_score() -> None:
    everywhere = [long("a", 9), hit("s", 8), long("b", 7), hit("t", 6), long("c", 5)]
    within = [long("c", 3), long("d", 2)]
    assert ids(fused(everywhere, within, rank_constant=60)) == [
        ("c", 9),
        ("s", 8),
        ("a", 7),
        ("t", 6),
        ("b", 5),
    ]
    assert fused(everywhere, [], rank_constant=60) == everywhere
    short = [hit("s", 8), hit("t", 6)]
    assert fused(short, within, rank_constant=60) == short


def test_wanted_identifiers_stay_first() -> None:
    everywhere = [long("a", 9, "hb-1"), long("b", 7), long("c", 5)]
    order = fused(everywhere, [long("c", 3), long("b", 2)], rank_constant=60, identifiers=("HB-1",))
    assert [found.chunk.chunk_id for found in order] == ["a", "c", "b"]


def test_filters_are_joined() -> None:
    one, two = {"must": []}, {"should": []}
    assert (joined(), joined(None, one), joined(one, two)) == (None, one, {"must": [one, two]})


class Recorder:
    """Answers a search for summaries with sections, and others by whether they look inside of them."""

    def __init__(self, sections: list[Hit]) -> None:
        self.sections = sections
        self.asked: list[SearchRequest] = []

    async def search(self, request: SearchRequest) -> list[Hit]:
        self.asked.append(request)
        if request.summaries:
            return self.sections
        return [long("b", 2)] if request.filter_json != BASE else [long("a", 9), hit("s", 8), long("b", 7)]


BASE = {"must": [{"key": "meta.kind", "match": {"value": "manual"}}]}
ASKED = SearchRequest("letters", "ferry", filter_json=BASE, phrases=("the ferry",), identifiers=("x",))


async def asked(index: Recorder, sections: int) -> list[str]:
    found = await search_buckets(index, [replace(ASKED, sections=sections)])  # type: ignore[arg-type]
    return [found.chunk.chunk_id for found in found.hits]


async def test_the_best_sections_are_looked_into() -> None:
    index = Recorder([long("section", 1)])
    assert await asked(index, 7) == ["b", "s", "a"]
    looked, _, deeper = index.asked
    assert (looked.summaries, looked.limit, looked.phrases, looked.identifiers) == (True, 7, (), ())
    assert looked.filter_json == BASE
    assert deeper.phrases == ("the ferry",)
    inside = {"key": "ordinal", "range": {"gte": 0, "lt": 1}}
    of_document = {"key": "doc_id", "match": {"value": "doc-section"}}
    assert deeper.filter_json == {"must": [BASE, {"should": [{"must": [of_document, inside]}]}]}


async def test_without_sections_or_summaries_one_search_is_made() -> None:
    index = Recorder([])
    assert await asked(index, 0) == ["a", "s", "b"]
    assert len(index.asked) == 1
    assert await asked(index, 20) == ["a", "s", "b"]
    assert [request.summaries for request in index.asked[1:]] == [True, False]
