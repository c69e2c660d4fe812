"""The one seam to a vector engine: what is asked, what comes back, what a collection records about itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from citegraph.corpus.index.encoding import NOTHING_READY, Encoded, indexed_text
from citegraph.corpus.index.levels import LEVEL_KEY, chunks_of, joined, level_condition
from citegraph.corpus.index.sparse import SparseEncoder, SparseVector, mean_length
from citegraph.corpus.records.access import LABELS_KEY
from citegraph.corpus.schema.document import Chunk, Hit
from citegraph.errors import BadInput
from citegraph.language.terms import fold
from citegraph.llm.embeddings import Embedder

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket
    from citegraph.settings import Settings

Mode = Literal["keyword", "semantic", "hybrid"]
FilterJSON = dict[str, Any]

DENSE = "dense"
SPARSE = "bm25"
# Cormack, Clarke & Buettcher (SIGIR 2009) set 60; the engine's default of 2 lets rank 1 of a list win alone.
RRF_K = 60
# Layout of payload, chunking and vectors; raise it when an old index cannot be read any more.
INDEX_VERSION = 1
# Chunks sampled after an ingest, and the factor by which their mean length may have drifted: length
# normalisation of BM25 changes little within it.
SAMPLE = 1_000
DRIFT = 1.25
# What every bucket's points carry beside the declared fields, with the kind of payload index.
OWN_INDEXES: Mapping[str, str] = {
    "doc_id": "keyword",
    "content_hash": "keyword",
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

    async def facet(
        self, bucket: str, key: str, filter_json: FilterJSON | None = None, limit: int = 10
    ) -> list[tuple[str, int]]:
        """Return the commonest values of an indexed keyword, e.g. "meta.vendor", with their chunk counts."""
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


def load_index(settings: Settings, embedder: Embedder) -> Index:
    """Return the index that the settings name: a Qdrant server by URL, else the embedded engine.

    Nothing is opened or sent before the first call.
    """
    if settings.qdrant_url:
        from citegraph.corpus.index.qdrant_index import QdrantIndex, connect

        return QdrantIndex(connect(settings), embedder, weights=settings.fusion)
    if settings.engine == "process":
        from citegraph.corpus.index.engine_process import ProcessIndex

        return ProcessIndex(settings)
    from citegraph.corpus.index.edge.edge_index import EdgeIndex

    return EdgeIndex(settings.home / "index", embedder, weights=settings.fusion)


@dataclass(frozen=True, slots=True)
class CollectionRecord:
    """What a collection was built with; kept beside it and compared when it is opened.

    `average_length`, in indexed terms, is fitted to the first chunks written (0.0 before) and again
    when it has drifted. `summaries` tells whether it may hold any: without, no search is filtered for them.
    """

    embedding: str
    dimensions: int
    language: str
    average_length: float = 0.0
    version: int = INDEX_VERSION
    summaries: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the record as stored."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> CollectionRecord:
        """Read a stored record; one without a version is older than any."""
        return cls(
            embedding=str(stored.get("embedding", "")),
            dimensions=int(stored.get("dimensions", 0)),
            language=str(stored.get("language", "english")),
            average_length=float(stored.get("average_length", 0.0)),
            version=int(stored.get("version", 0)),
            summaries=bool(stored.get("summaries", False)),
        )

    def check_language(self, bucket: Bucket) -> None:
        """Raise BadInput when the declaration now names another language."""
        if self.language != bucket.language:
            raise BadInput(
                f"The index of bucket {bucket.name!r} was built for language {self.language!r}, the "
                f"declaration says {bucket.language!r}. Run `citegraph reembed {bucket.name}`."
            )

    def check(self, bucket: str, embedder: Embedder) -> None:
        """Raise BadInput when vectors of `embedder` do not belong into this collection."""
        remedy = f"Run `citegraph reembed {bucket}` to build it anew, or restore the old setting."
        if self.version != INDEX_VERSION:
            raise BadInput(
                f"The index of bucket {bucket!r} has layout {self.version}, this version of Citegraph "
                f"writes {INDEX_VERSION}. {remedy}"
            )
        if (self.embedding, self.dimensions) != (embedder.name, embedder.dimensions):
            raise BadInput(
                f"The index of bucket {bucket!r} holds vectors of {self.embedding} ({self.dimensions} "
                f"dimensions), the settings ask for {embedder.name} ({embedder.dimensions}). {remedy}"
            )

    def encoder(self) -> SparseEncoder:
        """Return the sparse encoder that fits this collection."""
        return SparseEncoder(self.language, self.average_length)

    def before(self, chunks: Sequence[Chunk], metadata: Mapping[str, Mapping[str, Any]]) -> CollectionRecord:
        """Return the record as it must stand before these points are written; itself when that is how it stands."""
        fit = self if self.average_length else self.fitted(unlabelled(chunks_of(chunks) or chunks, metadata))
        first = not fit.summaries and any(chunk.level != "segment" for chunk in chunks)
        return replace(fit, summaries=True) if first else fit

    def only_chunks(self, *filters: FilterJSON | None) -> FilterJSON | None:
        """Return a filter that holds where these hold and lets no summary through."""
        return joined(*filters, level_condition(summaries=False) if self.summaries else None)

    def fitted(self, chunks: Sequence[Chunk]) -> CollectionRecord:
        """Return the record with `average_length` set from `chunks`."""
        length = mean_length(self.language, (indexed_text(chunk) for chunk in chunks))
        return replace(self, average_length=max(length, 1.0))

    def refitted(self, sample: Sequence[Chunk]) -> CollectionRecord | None:
        """Return a better fitting record when a sample of the chunks says so, else None."""
        if not sample or not self.average_length:
            return None
        fresh = self.fitted(sample)
        drift = fresh.average_length / self.average_length
        return fresh if not 1 / DRIFT <= drift <= DRIFT else None


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


def unlabelled(chunks: Sequence[Chunk], metadata: Mapping[str, Mapping[str, Any]]) -> Sequence[Chunk]:
    """Return the chunks that everyone sees, to fit a collection to; all of them when there is none.

    The length of documents that few may see must not move the ranks of what the others find.
    """
    return [chunk for chunk in chunks if not metadata.get(chunk.doc_id, {}).get("_labels")] or chunks


SEEN_BY_ALL: FilterJSON = {"must": [{"is_empty": {"key": LABELS_KEY}}]}


_SELDOM = ("heads", "level", "covers", "summarised")
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


def chunk_from(point_id: object, payload: Mapping[str, Any]) -> Chunk:
    """Return the chunk that a point holds."""
    return Chunk(
        chunk_id=str(point_id),
        doc_id=payload["doc_id"],
        bucket=payload["bucket"],
        ordinal=payload["ordinal"],
        text=payload["text"],
        start=payload["start"],
        end=payload["end"],
        content_hash=payload["content_hash"],
        source_file=payload["source_file"],
        page_first=payload.get("page_first"),
        page_last=payload.get("page_last"),
        identifiers=tuple(payload.get("identifiers") or ()),
        title=payload.get("title") or "",
        context=payload.get("context") or "",
        **{name: payload[name] for name in _SELDOM if name in payload},
    )


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
