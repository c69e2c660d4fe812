"""search_text, search_semantic and get_document_metadata as LangChain tools: schemas, defaults and behaviour."""

from datetime import date
from typing import Any

import pytest
from langchain_core.tools import BaseTool
from pydantic import ValidationError

from citegraph.corpus.filters.clause import typed_filters
from citegraph.corpus.filters.qdrant_filter import to_qdrant
from citegraph.corpus.index.index_protocol import documents_condition
from citegraph.corpus.schema.document import Chunk, Hit
from citegraph.errors import BadInput
from citegraph.run.services import Services
from tools.document_metadata import document_metadata, metadata_tools
from tools.scope import Scope
from tools.search_tools import (
    FilterClause,
    PassageQuery,
    checked_filters,
    search_passages,
    search_tools,
    snippet,
)


@pytest.fixture
def tools(services: Services) -> dict[str, BaseTool]:
    """Return the tools by name."""
    return {tool.name: tool for tool in [*search_tools(services), *metadata_tools(services)]}


def test_the_names(tools: dict[str, BaseTool]) -> None:
    assert list(tools) == ["search_text", "search_semantic", "get_document_metadata"]
    assert all(len(tool.description) > 30 for tool in tools.values())


@pytest.mark.parametrize(("name", "context_chars"), [("search_text", 400), ("search_semantic", 500)])
def test_the_schema_of_a_search(tools: dict[str, BaseTool], name: str, context_chars: int) -> None:
    schema = tools[name].tool_call_schema.model_json_schema()  # type: ignore[union-attr]
    assert schema["required"] == ["bucket", "query"]
    defaults = {key: item.get("default") for key, item in schema["properties"].items()}
    assert defaults == {
        "bucket": None,
        "query": None,
        "filters": None,
        "top_k": 10,
        "context_chars": context_chars,
        "doc_id": None,
    }
    assert (schema["properties"]["top_k"]["minimum"], schema["properties"]["top_k"]["maximum"]) == (1, 100)


def test_the_schema_of_metadata(tools: dict[str, BaseTool]) -> None:
    schema = tools["get_document_metadata"].tool_call_schema.model_json_schema()  # type: ignore[union-attr]
    assert (schema["required"], list(schema["properties"])) == (["doc_id"], ["doc_id"])


async def found(tool: BaseTool, bucket: str, query: str, **arguments: Any) -> dict[str, Any]:
    """Return what a search tool answers."""
    answer: dict[str, Any] = await tool.ainvoke({"bucket": bucket, "query": query, **arguments})
    return answer


@pytest.mark.parametrize("name", ["search_text", "search_semantic"])
async def test_a_search_returns_passages(tools: dict[str, BaseTool], name: str) -> None:
    answer = await found(tools[name], "invoices", "regional replica object storage")
    assert list(answer) == ["hits", "dropped_filters"]
    assert 0 < len(answer["hits"]) <= 10
    first = answer["hits"][0]
    assert list(first) == ["doc_id", "evidence_id", "source_file", "page", "score", "text"]
    assert first["doc_id"].startswith("cobaltine-cbc-")
    assert len({hit["evidence_id"] for hit in answer["hits"]}) == len(answer["hits"])
    assert first["source_file"].endswith(f"{first['doc_id']}.txt")
    assert answer["dropped_filters"] == []
    scores = [hit["score"] for hit in answer["hits"]]
    assert scores == sorted(scores, reverse=True)


async def test_top_k_document_and_size(tools: dict[str, BaseTool]) -> None:
    search = tools["search_text"]
    assert len((await found(search, "invoices", "invoice total", top_k=2))["hits"]) == 2
    inside = await found(search, "invoices", "invoice total", doc_id="oudenveld-of-24-01")
    assert {hit["doc_id"] for hit in inside["hits"]} == {"oudenveld-of-24-01"}
    short = await found(search, "contracts", "notice of termination", context_chars=60)
    assert short["hits"]
    assert all(len(hit["text"]) <= 62 for hit in short["hits"])


async def test_filters_hold_and_a_bad_one_is_dropped_alone(tools: dict[str, BaseTool]) -> None:
    filters = [
        {"field": "vendor", "value": "Oudenveld Facility B.V."},
        {"field": "total_amount", "operator": ">=", "value": "1200 EUR"},
        {"field": "colour", "value": "red"},
        {"field": "invoice_date", "operator": "<", "value": "soon"},
    ]
    answer = await found(tools["search_text"], "invoices", "daily cleaning", filters=filters)
    assert {hit["doc_id"] for hit in answer["hits"]} == {"oudenveld-of-24-02"}
    assert [line.split(":")[0] for line in answer["dropped_filters"]] == [
        "colour = red",
        "invoice_date < soon",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        {"bucket": "invoices"},
        {"bucket": "invoices", "query": "x", "top_k": 0},
        {"bucket": "invoices", "query": "x", "top_k": 101},
        {"bucket": "invoices", "query": "x", "context_chars": 39},
        {"bucket": "invoices", "query": "x", "sql": "drop"},
        {"bucket": "invoices", "query": "x", "filters": [{"field": "a", "operator": "like", "value": "b"}]},
    ],
)
async def test_arguments_out_of_bounds_are_refused(
    tools: dict[str, BaseTool], arguments: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        await tools["search_text"].ainvoke(arguments)


async def test_an_unknown_bucket_lists_those_that_exist(tools: dict[str, BaseTool]) -> None:
    with pytest.raises(BadInput, match=r"no bucket 'secrets'; the buckets are .*invoices"):
        await found(tools["search_text"], "secrets", "x")


async def test_metadata_of_a_document(tools: dict[str, BaseTool]) -> None:
    shown = await tools["get_document_metadata"].ainvoke({"doc_id": "oudenveld-of-24-02"})
    assert {key: shown[key] for key in ("doc_id", "bucket", "pages")} == {
        "doc_id": "oudenveld-of-24-02",
        "bucket": "invoices",
        "pages": None,
    }
    assert shown["source_file"].endswith("oudenveld-of-24-02.txt")
    assert shown["characters"] > 100
    assert shown["metadata"]["invoice_number"] == "OF-24-02"
    assert shown["metadata"]["invoice_date"] == "2024-02-29"
    with pytest.raises(BadInput, match="copy the doc_id"):
        await tools["get_document_metadata"].ainvoke({"doc_id": "nothing"})


def test_metadata_counts_pages(services: Services) -> None:
    assert document_metadata(services.open(), "fl-200-user-manual")["pages"] >= 2


async def test_a_search_over_two_buckets_with_their_own_filters(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = services.open()
    clause = FilterClause(field="currency", value="EUR")
    filters, dropped = checked_filters(corpus, "invoices", [clause], None)
    assert dropped == ()
    barred = Scope({"invoices": ()}, date(2025, 3, 1), frozenset({"currency"}))
    assert checked_filters(corpus, "invoices", [clause], barred) == (
        (),
        ("currency: the user wants no filter on it",),
    )
    assert typed_filters([item.model_dump(mode="json") for item in filters]) == filters
    query = PassageQuery(("invoices", "contracts"), "Oudenveld", filters=(("invoices", filters),), top_k=4)
    named, unfiltered = query.requests(corpus)
    matching = corpus.annotations.document_ids("invoices", filters)
    assert named.filter_json == documents_condition(matching)
    assert unfiltered.filter_json is None
    with monkeypatch.context() as patch:
        patch.setattr("citegraph.corpus.index.searcher.MOST_IDS", len(matching) - 1)
        many, _ = query.requests(corpus)
    assert many.filter_json == to_qdrant(corpus.buckets["invoices"], filters)
    result = await search_passages(corpus, query, timeout=20)
    assert {hit.chunk.bucket for hit in result.hits} == {"invoices", "contracts"}
    assert len(result.hits) <= 4
    with pytest.raises(BadInput, match="secrets"):
        PassageQuery(("secrets",), "x").requests(corpus)


def test_a_snippet_is_cut_around_the_first_word() -> None:
    text = "a" * 300 + " needle " + "b" * 300
    chunk = Chunk(
        chunk_id="d:0",
        doc_id="d",
        bucket="generic",
        ordinal=0,
        start=0,
        end=len(text),
        text=text,
        content_hash="",
        source_file="d.txt",
    )
    cut = snippet(Hit(chunk=chunk, score=1.0), "the needle", 100)
    assert "needle" in cut
    assert (cut[0], cut[-1], len(cut)) == ("…", "…", 102)
    assert snippet(Hit(chunk=chunk, score=1.0), "absent", 100) == "a" * 100 + "…"
    assert snippet(Hit(chunk=chunk, score=1.0), "needle", 9000) == text
