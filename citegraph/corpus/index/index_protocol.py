"""The one seam to a vector engine: what is asked, what comes back, what a collection records about itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from citegraph.corpus.filters.qdrant_filter import FilterJSON
from citegraph.corpus.index.collection_record import (
    LEVEL_KEY,
    NOTHING_READY,
    CollectionRecord,
    Encoded,
    SparseVector,
    chunks_of,
    joined,
    level_condition,
)
from citegraph.corpus.records.access import LABELS_KEY
from citegraph.corpus.schema.document import Chunk, Hit
from citegraph.language.terms import fold
from citegraph.llm.embeddings import Embedder

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket

Mode = Literal["keyword", "semantic", "hybrid"]

DENSE = "dense"
SPARSE = "bm25"
# Cormack, Clarke & Buettcher (SIGIR 2009) set 60; the engine's default of 2 lets rank 1 of a list win alone.
RRF_K = 60
# What every bucket's points carry beside the declared fields, with the kind of payload index.
OWN_INDEXES: Mapping[str, str] = {
    "doc_id": "keyword",
    "identifiers": "keyword",
    "ordinal": "integer",
    "text": "text",
    LABELS_KEY: "keyword",
    LEVEL_KEY: "keyword",
}


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search in one bucket.

    Attributes:
        filter_json: a filter in the shape of Qdrant's REST API, compiled by `citegraph.corpus.filters.clause`.
        doc_ids: only chunks of these documents; empty means any.
        phrases: each must occur word for word in the chunk.
        identifiers: folded to lower case; chunks that carry one come before all others.
        limit: hits returned.
        candidates: hits that each of the fused lists contributes.
        access: what the asking principal may see; every list is cut to it, and words are counted (IDF) within it.
        summaries: find summaries of sections and long documents in place of chunks.
        sections: `search_buckets` looks into that many of the best of them as well; 0 is one level.
    """

    bucket: str
    query: str
    mode: Mode = "hybrid"
    filter_json: FilterJSON | None = None
    doc_ids: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    limit: int = 10
    candidates: int = 100
    access: FilterJSON | None = None
    summaries: bool = False
    sections: int = 0


class Index(Protocol):
    """Chunks by bucket in a vector engine. Every method may raise `Unavailable` or `Rejected`.

    A bucket that was never filled is empty, not an error. Summaries of long documents lie beside the chunks, are
    replaced and removed with them, and are seen by nothing but a search for `summaries`.
    """

    async def ensure(self, bucket: Bucket) -> None:
        """Create collection and payload indexes of `bucket`, or check those that exist.

        Raises:
            BadInput: it was built with another embedding model or layout; the message names the remedy.
        """
        ...

    async def upsert(
        self,
        bucket: str,
        chunks: Sequence[Chunk],
        metadata: Mapping[str, Mapping[str, Any]],
        ready: Mapping[str, Encoded] = NOTHING_READY,
    ) -> None:
        """Write chunks; `metadata` maps a document id to the payload of its declared fields.

        Args:
            ready: chunk id -> its vectors, as far as they were worked out already.
        """
        ...

    async def set_metadata(self, bucket: str, metadata: Mapping[str, Mapping[str, Any]]) -> None:
        """Replace the declared fields' payload of documents whose text did not change."""
        ...

    async def delete_documents(self, bucket: str, doc_ids: Sequence[str]) -> None:
        """Remove every chunk of these documents."""
        ...

    async def search(self, request: SearchRequest) -> list[Hit]:
        """Return the best chunks, best first; `similarity` is set in the semantic and hybrid modes."""
        ...

    async def document_chunks(self, bucket: str, doc_id: str) -> list[Chunk]:
        """Return all chunks of a document in their order."""
        ...

    async def retrieve(self, bucket: str, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Return the chunks that exist among `chunk_ids`, in the order asked."""
        ...

    async def count(self, bucket: str, filter_json: FilterJSON | None = None) -> int:
        """Return how many chunks match."""
        ...

    async def counts(self, bucket: str, filters: Sequence[FilterJSON | None]) -> list[int]:
        """Return how many chunks match each filter, asked at once: a question's words are counted one by one."""
        ...

    async def drop(self, bucket: str) -> None:
        """Remove the bucket's collection, vectors and record."""
        ...

    async def optimize(self, bucket: str) -> None:
        """Make the writes of an ingest durable and searches after it fast and well ranked.

        Fits the sparse vectors to the bucket when its chunks have become much longer or shorter than
        the first ones, and builds the vector graph of a large bucket.
        """
        ...

    async def close(self) -> None:
        """Release every handle and connection."""
        ...


def _handed_on(method: str) -> Any:
    async def call(self: Forwarded, *given: Any) -> Any:
        return await self.forward(method, *given)

    return call


class Forwarded:
    """An `Index` each of whose calls is handed to `forward` by its name; what a method does, `Index` says."""

    ensure, upsert, set_metadata = map(_handed_on, ("ensure", "upsert", "set_metadata"))
    delete_documents, drop, optimize = map(_handed_on, ("delete_documents", "drop", "optimize"))
    search, document_chunks, retrieve = map(_handed_on, ("search", "document_chunks", "retrieve"))
    count, counts, close = map(_handed_on, ("count", "counts", "close"))

    async def forward(self, method: str, *given: Any) -> Any:
        """Make the call of that name."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Leg:
    """One ranked list that a search fuses: a vector, where it is compared, what is let through.

    Several legs are fused to the sum of weight / (RRF_K - 1 + rank). The engine's own weights of RRF
    divide the rank instead, which leaves a list's first hits as strong as ever: measured 0.05 nDCG
    worse. So each leg becomes a prefetch with RRF over itself, and a formula adds the weighted scores.
    `population` are the chunks over which a sparse leg counts words (IDF); None is the whole bucket.
    """

    using: str
    vector: list[float] | SparseVector
    filter_json: FilterJSON | None
    weight: float
    population: FilterJSON | None = None


def legs(
    request: SearchRequest, embedder: Embedder, record: CollectionRecord, weights: tuple[float, float]
) -> list[Leg]:
    """Return the lists to fuse, dense first; none when a keyword question has no searchable term, or no summary is.

    Wanted identifiers add each list once more, restricted to the chunks that carry one, so that
    such a chunk is a candidate however low it ranks otherwise.
    """
    if request.summaries and not record.summaries:
        return []
    vectors: list[tuple[str, list[float] | SparseVector, float]] = []
    if request.mode != "keyword":
        vectors.append((DENSE, embedder.embed_query(request.query).tolist(), weights[0]))
    if request.mode != "semantic":
        terms = record.encoder().query(request.query)
        if terms.indices:
            vectors.append((SPARSE, terms, weights[1]))
    level = level_condition(summaries=request.summaries) if record.summaries else None
    base = joined(level, request_filter(request)) if level else request_filter(request)
    population = joined(level, request.access)
    filters = [base]
    if request.identifiers:
        filters.append({"must": [*([base] if base else []), identifier_condition(request.identifiers)]})
    return [
        Leg(using, vector, allowed, weight, population if using == SPARSE else None)
        for allowed in filters
        for using, vector, weight in vectors
    ]


SEEN_BY_ALL: FilterJSON = {"must": [{"is_empty": {"key": LABELS_KEY}}]}


_SELDOM = ("heads", "level", "covers", "summarised")
_STORED = [field.name for field in fields(Chunk) if field.name != "chunk_id"]
_ORDINARY = Chunk("", "", "", 0, "", 0, 0, "", "")


def payload_of(chunk: Chunk, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the payload of a point; `chunk_from` is its inverse."""
    payload = asdict(chunk)
    del payload["chunk_id"]
    for name in _SELDOM:
        if payload[name] == getattr(_ORDINARY, name):
            del payload[name]
    payload["identifiers"] = list(chunk.identifiers)
    payload["meta"] = dict(metadata)
    return payload


def hits_of(points: Iterable[Any], fused: Sequence[Leg]) -> list[Hit]:
    """Return the hits of an engine's scored points, in their order."""
    return [
        Hit(chunk_from(point.id, point.payload or {}), point.score, similarity(fused, point.vector))
        for point in points
    ]


def stored_chunks(records: Iterable[Any]) -> list[Chunk]:
    """Return the chunks and summaries of an engine's points, in their order."""
    return [chunk_from(record.id, record.payload or {}) for record in records]


def asked_chunks(records: Iterable[Any], chunk_ids: Sequence[str]) -> list[Chunk]:
    """Return the chunks among an engine's points, summaries left out, in the order asked."""
    found = {chunk.chunk_id: chunk for chunk in chunks_of(stored_chunks(records))}
    return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]


def chunk_from(point_id: object, payload: Mapping[str, Any]) -> Chunk:
    """Return the chunk that a point holds."""
    held = {name: payload[name] for name in _STORED if payload.get(name) is not None}
    held["identifiers"] = tuple(held.get("identifiers", ()))
    return Chunk(chunk_id=str(point_id), **held)


def request_filter(request: SearchRequest) -> FilterJSON | None:
    """Join access, the request's filter, document ids and phrases into one filter, or None."""
    must: list[FilterJSON] = [request.access] if request.access else []
    if request.filter_json:
        must.append(request.filter_json)
    if request.doc_ids:
        must.append({"key": "doc_id", "match": {"any": list(request.doc_ids)}})
    must.extend({"key": "text", "match": {"phrase": phrase}} for phrase in request.phrases)
    if len(must) == 1 and (request.filter_json or request.access):
        return must[0]
    return {"must": must} if must else None


def identifier_condition(identifiers: Iterable[str]) -> FilterJSON:
    """Return the condition that a chunk carries one of `identifiers`."""
    return {"key": "identifiers", "match": {"any": [fold(value) for value in identifiers]}}


def documents_condition(doc_ids: Iterable[str]) -> FilterJSON:
    """Return the filter for the chunks of `doc_ids`."""
    return {"must": [{"key": "doc_id", "match": {"any": list(doc_ids)}}]}


def similarity(fused: Sequence[Leg], vectors: object) -> float | None:
    """Return the cosine of the question and a point's vectors, None when it was not asked for."""
    dense = next((leg.vector for leg in fused if leg.using == DENSE), None)
    stored = vectors.get(DENSE) if isinstance(vectors, dict) else None
    if dense is None or stored is None:
        return None
    return round(float(np.dot(np.asarray(dense, np.float32), np.asarray(stored, np.float32))), 6)
