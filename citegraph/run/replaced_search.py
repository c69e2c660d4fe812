"""A searcher and a reranker of the user's own where the search looks for them: what they say is filtered again."""

import asyncio
import math
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from citegraph.corpus.index.index_protocol import RRF_K, Index, SearchRequest, documents_condition
from citegraph.corpus.index.levels import joined
from citegraph.corpus.index.rerankers import DEPTH, in_order
from citegraph.corpus.schema.document import Chunk, Hit
from citegraph.errors import Rejected

if TYPE_CHECKING:
    from citegraph.run.replacements import Part

MOST = 200
"""Ids of a searcher that are looked at."""
PER_DOCUMENT = 3
"""Passages that stand for a document which a searcher named."""
Found = list[str | tuple[str, float]]
FOUND, SCORES = TypeAdapter(Found), TypeAdapter(list[float])


class OwnSearcher:
    """Asks a searcher of the user's own; see `citegraph.corpus.index.searcher.Searcher`."""

    def __init__(self, part: "Part") -> None:
        self.part = part

    async def search(self, index: Index, request: SearchRequest, seconds: float) -> list[Hit]:
        """Return the hits of what the searcher named, as far as the request and the index allow them.

        `index` is the one of the asking principal, so that nothing comes back which they may not see.
        """
        said = await self.part.ask(FOUND, seconds, request=request)
        scores = scored(said[:MOST])
        chunks = [name for name in scores if _is_chunk(name)]
        documents = [name for name in scores if not _is_chunk(name)]
        found = await index.retrieve(request.bucket, chunks) if chunks else []
        hits = [Hit(chunk, scores[chunk.chunk_id]) for chunk in await self.allowed(index, request, found)]
        if documents:
            inside, known = await self.of_documents(index, request, documents)
            hits += [replace(hit, score=scores[hit.chunk.doc_id]) for hit in inside]
        else:
            known = False
        if scores and not found and not known:
            raise Rejected(f"{self.part.title} named nothing that {request.bucket} holds")
        return sorted(hits, key=lambda hit: -hit.score)[: request.limit]

    async def allowed(self, index: Index, request: SearchRequest, chunks: Sequence[Chunk]) -> list[Chunk]:
        """Return the chunks whose documents the request's filters allow, and which hold its phrases."""
        doc_ids = list(dict.fromkeys(chunk.doc_id for chunk in chunks))
        if request.doc_ids:
            doc_ids = [doc_id for doc_id in doc_ids if doc_id in request.doc_ids]
        if request.filter_json:
            conditions = [joined(request.filter_json, documents_condition([doc_id])) for doc_id in doc_ids]
            counts = await asyncio.gather(*(index.count(request.bucket, one) for one in conditions))
            doc_ids = [doc_id for doc_id, count in zip(doc_ids, counts, strict=True) if count]
        phrases = [phrase.casefold() for phrase in request.phrases]
        return [
            chunk
            for chunk in chunks
            if chunk.doc_id in doc_ids
            and chunk.bucket == request.bucket
            and all(phrase in chunk.text.casefold() for phrase in phrases)
        ]

    async def of_documents(
        self, index: Index, request: SearchRequest, doc_ids: Sequence[str]
    ) -> tuple[list[Hit], bool]:
        """Return the best passages of some documents, and whether the bucket holds any of the documents."""
        wanted = [doc_id for doc_id in doc_ids if not request.doc_ids or doc_id in request.doc_ids]
        within = replace(request, doc_ids=tuple(wanted), limit=PER_DOCUMENT * len(wanted), sections=0)
        hits = await index.search(within) if wanted else []
        taken: Counter[str] = Counter()
        kept = []
        for hit in hits:
            taken[hit.chunk.doc_id] += 1
            if taken[hit.chunk.doc_id] <= PER_DOCUMENT:
                kept.append(hit)
        known = bool(hits) or await index.count(request.bucket, documents_condition(doc_ids)) > 0
        return kept, known


def scored(said: Sequence[str | tuple[str, float]]) -> dict[str, float]:
    """Return each id with its score, once; without one the reciprocal of its rank speaks, as where lists are fused.

    Some with a score and some without are all taken by rank.
    """
    ids = [item if isinstance(item, str) else item[0] for item in said]
    given = [item[1] for item in said if not isinstance(item, str)]
    values = given if len(given) == len(ids) else [1 / (RRF_K + rank) for rank in range(1, len(ids) + 1)]
    best: dict[str, float] = {}
    for name, value in zip(ids, values, strict=True):
        best[name] = max(value, best.get(name, -math.inf))
    return best


def _is_chunk(name: str) -> bool:
    """Tell whether an id is one of a chunk: those are UUIDs, and the engine refuses others."""
    try:
        return str(uuid.UUID(name)) == name
    except ValueError:
        return False


class OwnReranker:
    """Orders hits by the numbers of a reranker of the user's own; see `citegraph.corpus.index.rerankers.Reranker`."""

    def __init__(self, part: "Part", seconds: float) -> None:
        self.part = part
        self.seconds = seconds

    async def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """See `Reranker.rerank`."""
        head = list(hits[:DEPTH])
        passages = [hit.chunk.text for hit in head]
        scores = await self.part.ask(SCORES, self.seconds, question=query, passages=passages)
        if len(scores) != len(head):
            said = f"{len(scores)} numbers for {len(head)} passages"
            raise Rejected(f"{self.part.title} returned another shape: {said}")
        return in_order(head, scores, list(hits[DEPTH:]))
