"""search_text and search_semantic: ranked passages of a bucket, filters checked and pushed down."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from citegraph.corpus.filters.checks import check_filters
from citegraph.corpus.filters.clause import Clause, Filters, Operator, filtered_fields
from citegraph.corpus.index.collection_record import SECTIONS
from citegraph.corpus.index.index_protocol import Mode, SearchRequest
from citegraph.corpus.index.rerankers import DEPTH
from citegraph.corpus.index.searcher import (
    POOL,
    SearchFailure,
    diversified,
    narrowing,
    search_buckets,
)
from citegraph.corpus.index.views import VersionedIndex
from citegraph.corpus.schema.bucket import bucket_named
from citegraph.corpus.schema.document import Hit
from citegraph.errors import CitegraphError
from citegraph.run.services import Corpus, Services
from citegraph.settings import Settings
from tools.scope import Scope, day_of, hard_filters

KEYWORD_CONTEXT = 400
SEMANTIC_CONTEXT = 500


class FilterClause(BaseModel, extra="forbid"):
    """One condition: field of the bucket, operator, and the value as text (a list for in, not in, between)."""

    field: str = Field(max_length=80)
    operator: Operator = "="
    value: str | float | bool | list[str] | None = None


class SearchInput(BaseModel, extra="forbid"):
    """Arguments of a passage search."""

    bucket: str = Field(description="Bucket to search, e.g. invoices or contracts.")
    query: str = Field(description="Words to look for.", max_length=2000)
    filters: list[FilterClause] | None = Field(
        None, description="Conditions on the bucket's fields, all must hold."
    )
    top_k: int = Field(10, ge=1, le=100, description="Passages to return.")
    context_chars: int = Field(
        KEYWORD_CONTEXT, ge=40, le=8000, description="Characters shown of each passage."
    )
    doc_id: str | None = Field(None, description="Search inside this document only.")


class SemanticInput(SearchInput):
    """Arguments of a semantic search."""

    context_chars: int = Field(
        SEMANTIC_CONTEXT, ge=40, le=8000, description="Characters shown of each passage."
    )


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits best first, the buckets that did not answer, and what became of the filters."""

    hits: tuple[Hit, ...]
    failed: tuple[SearchFailure, ...] = ()
    dropped: tuple[str, ...] = ()
    cache_hits: int = 0


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """What one search asks of one or several buckets; `filters` are already checked, per bucket.

    `mmr` is the weight of relevance against difference, None for relevance alone.
    """

    buckets: tuple[str, ...]
    query: str
    mode: Mode = "hybrid"
    filters: tuple[tuple[str, Filters], ...] = ()
    doc_ids: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    top_k: int = 10
    mmr: float | None = None

    def requests(self, corpus: Corpus) -> list[SearchRequest]:
        """Return one engine request per bucket; blocking.

        Raises:
            BadInput: a bucket is not declared.
        """
        per_bucket = dict(self.filters)
        for name in self.buckets:
            bucket_named(corpus.buckets, name)
        return [
            SearchRequest(
                bucket=name,
                query=self.query,
                mode=self.mode,
                filter_json=narrowing(corpus.annotations, name, per_bucket.get(name, ())),
                doc_ids=self.doc_ids,
                phrases=self.phrases,
                identifiers=self.identifiers,
                limit=self.depth(corpus),
                sections=SECTIONS,
            )
            for name in self.buckets
        ]

    def depth(self, corpus: Corpus) -> int:
        """Return how many hits are asked for: a reranker and a choice for difference see more than they return."""
        pool = POOL * self.top_k if self.mmr is not None else self.top_k
        return max(pool, DEPTH) if corpus.reranker else pool


async def search_passages(
    corpus: Corpus, query: PassageQuery, *, timeout: float, strict: bool = False
) -> SearchResult:
    """Search the buckets of `query` in parallel within `timeout` seconds; dedupe and rerank the hits.

    Raises:
        Unavailable: every bucket failed, or any of them in strict mode.
    """
    found = await search_buckets(
        corpus.index,
        await asyncio.to_thread(query.requests, corpus),
        timeout=timeout,
        strict=strict,
        reranker=corpus.reranker,
        searcher=corpus.searcher,
        cached=corpus.index.searches if isinstance(corpus.index, VersionedIndex) else None,
    )
    hits, failed = found.hits, list(found.failed)
    if query.mmr is not None and corpus.embedder is not None:
        try:
            hits = await asyncio.to_thread(
                diversified, corpus.embedder, query.query, hits, count=query.top_k, weight=query.mmr
            )
        except CitegraphError as error:
            failed.append(SearchFailure("", f"not chosen for difference: {error}"))
    return SearchResult(tuple(hits[: query.top_k]), tuple(failed), cache_hits=found.cache_hits)


def checked_filters(
    corpus: Corpus, bucket: str, clauses: Sequence[FilterClause], scope: Scope | None
) -> tuple[Filters, tuple[str, ...]]:
    """Return the clauses that fit the bucket's schema and the scope, typed, and a line about each that was dropped."""
    asked = [Clause(**clause.model_dump()) for clause in clauses]
    checked = check_filters(bucket_named(corpus.buckets, bucket), asked, today=day_of(scope))
    barred = [item for item in checked.filters if scope and filtered_fields(item) & scope.without]
    lines = [
        *map(str, checked.problems),
        *(f"{', '.join(sorted(filtered_fields(item)))}: the user wants no filter on it" for item in barred),
    ]
    return tuple(item for item in checked.filters if item not in barred), tuple(lines)


def snippet(hit: Hit, query: str, size: int) -> str:
    """Return about `size` characters of the hit's text around the first query word that it holds."""
    text = hit.chunk.text
    if len(text) <= size:
        return text
    folded = text.casefold()
    places = [folded.find(word.casefold()) for word in query.split() if len(word) > 3]
    first = min((place for place in places if place >= 0), default=0)
    start = max(0, min(first - size // 4, len(text) - size))
    return ("…" if start else "") + text[start : start + size] + ("…" if start + size < len(text) else "")


def search_tools(services: Services, scope: Scope | None = None) -> list[BaseTool]:
    """Return `search_text` and `search_semantic` as LangChain tools over `services`, within `scope`."""

    def tool(name: str, description: str, mode: Mode, schema: type[SearchInput]) -> BaseTool:
        async def run(**arguments: Any) -> dict[str, Any]:
            found = await passages_found(
                await services.corpus(), schema(**arguments), mode, services.settings, scope
            )
            return found if found["failed"] else {key: found[key] for key in ("hits", "dropped_filters")}

        return StructuredTool.from_function(
            coroutine=run, name=name, description=description, args_schema=schema
        )

    return [
        tool(
            "search_text",
            "Keyword and phrase search (BM25) within a bucket; identifiers match as whole tokens.",
            "keyword",
            SearchInput,
        ),
        tool(
            "search_semantic",
            "Search by meaning within a bucket: 100 candidates, reranked, the best returned.",
            "semantic",
            SemanticInput,
        ),
    ]


async def passages_found(
    corpus: Corpus, asked: SearchInput, mode: Mode, settings: Settings, scope: Scope | None = None
) -> dict[str, Any]:
    """Return the passages that a search finds, the filters that were dropped, and why a search failed.

    Raises:
        BadInput: there is no such bucket, or it may not be searched.
    """
    hard = hard_filters(scope, asked.bucket)
    filters, dropped = checked_filters(corpus, asked.bucket, asked.filters or [], scope)
    query = PassageQuery(
        buckets=(asked.bucket,),
        query=asked.query,
        mode=mode,
        filters=((asked.bucket, (*hard, *filters)),),
        doc_ids=(asked.doc_id,) if asked.doc_id else (),
        top_k=asked.top_k,
    )
    result = await search_passages(corpus, query, timeout=settings.search_timeout)
    return {
        "hits": [described(hit, asked.query, asked.context_chars) for hit in result.hits],
        "dropped_filters": list(dropped),
        "failed": [failure.reason for failure in result.failed],
    }


def described(hit: Hit, query: str, context_chars: int) -> dict[str, Any]:
    """Return a hit as a tool shows it to a model."""
    return {
        "doc_id": hit.chunk.doc_id,
        "evidence_id": hit.chunk.chunk_id,
        "source_file": hit.chunk.source_file,
        "page": hit.chunk.page_first,
        "score": round(hit.score, 4),
        "text": snippet(hit, query, context_chars),
    }
