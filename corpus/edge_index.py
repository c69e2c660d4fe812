"""The index on the embedded Qdrant engine: one shard a bucket, in a folder, without a server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import qdrant_edge as edge

from corpus.edge_filter import edge_condition, edge_filter
from corpus.index import (
    DENSE,
    OWN_INDEXES,
    RRF_K,
    SAMPLE,
    SEEN_BY_ALL,
    SPARSE,
    CollectionRecord,
    FilterJSON,
    Leg,
    SearchRequest,
    chunk_from,
    documents_condition,
    encode_chunks,
    identifier_condition,
    indexed_text,
    legs,
    payload_of,
    similarity,
)
from corpus.levels import chunks_of
from corpus.sparse import SparseVector
from corpus.types import Chunk, Hit
from llm.embeddings import Embedder
from llm.errors import Rejected, Unavailable

if TYPE_CHECKING:
    from corpus.buckets import Bucket

T = TypeVar("T")

# Below this exact search is fast (18 ms over 100,000 points), and building the graph stops the process.
OPTIMIZE_FROM = 100_000
SCROLL_PAGE = 1_000

_KINDS: Mapping[str, Any] = {
    "keyword": edge.PayloadSchemaType.Keyword,
    "integer": edge.PayloadSchemaType.Integer,
    "float": edge.PayloadSchemaType.Float,
    "bool": edge.PayloadSchemaType.Bool,
    "datetime": edge.PayloadSchemaType.Datetime,
    "uuid": edge.PayloadSchemaType.Uuid,
    "text": edge.TextIndexParams(
        tokenizer=edge.TokenizerType.Word, lowercase=True, ascii_folding=True, phrase_matching=True
    ),
}


@dataclass(slots=True)
class _Open:
    """A shard in use: its handle and what it was built with."""

    shard: edge.EdgeShard
    record: CollectionRecord


class EdgeIndex:
    """`Index` on qdrant-edge; blocking calls run in threads, each shard has one handle in one process.

    Args:
        folder: holds one sub-folder and one record file a bucket.
        weights: RRF weights (dense, sparse).
    """

    def __init__(self, folder: Path, embedder: Embedder, *, weights: tuple[float, float]) -> None:
        self._folder = folder
        self._embedder = embedder
        self._weights = weights
        self._open: dict[str, _Open] = {}
        self._lock = threading.Lock()

    async def ensure(self, bucket: Bucket) -> None:
        """See `Index.ensure`."""
        await asyncio.to_thread(self._ensure, bucket)

    async def upsert(
        self, bucket: str, chunks: Sequence[Chunk], metadata: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """See `Index.upsert`."""
        if chunks:
            await asyncio.to_thread(self._upsert, bucket, chunks, metadata)

    async def set_metadata(self, bucket: str, metadata: Mapping[str, Mapping[str, Any]]) -> None:
        """See `Index.set_metadata`."""

        def run(opened: _Open) -> None:
            for doc_id, values in metadata.items():
                chosen = edge_filter(documents_condition([doc_id]))
                assert chosen is not None
                opened.shard.update(
                    edge.UpdateOperation.set_payload_by_filter(chosen, {"meta": dict(values)})
                )

        await self._with_shard(bucket, run, None)

    async def delete_documents(self, bucket: str, doc_ids: Sequence[str]) -> None:
        """See `Index.delete_documents`."""
        chosen = edge_filter(documents_condition(doc_ids))
        if doc_ids and chosen:
            operation = edge.UpdateOperation.delete_points_by_filter(chosen)
            await self._with_shard(bucket, lambda opened: opened.shard.update(operation), None)

    async def search(self, request: SearchRequest) -> list[Hit]:
        """See `Index.search`."""
        return await asyncio.to_thread(self._search, request)

    async def document_chunks(self, bucket: str, doc_id: str) -> list[Chunk]:
        """See `Index.document_chunks`."""
        chosen = edge_filter(documents_condition([doc_id]))
        none: list[Chunk] = []
        points = await self._with_shard(
            bucket, lambda opened: [point for page in _scrolled(opened.shard, chosen) for point in page], none
        )
        return sorted(chunks_of(points), key=lambda chunk: chunk.ordinal)

    async def retrieve(self, bucket: str, chunk_ids: Sequence[str]) -> list[Chunk]:
        """See `Index.retrieve`."""
        none: list[edge.Record] = []
        wanted: list[Any] = list(chunk_ids)
        records = await self._with_shard(
            bucket, lambda opened: opened.shard.retrieve(wanted, True, False), none
        )
        points = [chunk_from(record.id, record.payload or {}) for record in records]
        found = {chunk.chunk_id: chunk for chunk in chunks_of(points)}
        return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]

    async def count(self, bucket: str, filter_json: FilterJSON | None = None) -> int:
        """See `Index.count`."""

        def run(shard: edge.EdgeShard, counted: edge.Filter | None) -> int:
            return shard.count(edge.CountRequest(exact=True, filter=counted))

        return await self._counted(bucket, filter_json, run, 0)

    async def counts(self, bucket: str, filters: Sequence[FilterJSON | None]) -> list[int]:
        """See `Index.counts`; one thread's work."""

        def run(opened: _Open) -> list[int]:
            chosen = [edge_filter(opened.record.only_chunks(one)) for one in filters]
            return [opened.shard.count(edge.CountRequest(exact=True, filter=one)) for one in chosen]

        return await self._with_shard(bucket, run, [0] * len(filters))

    async def facet(
        self, bucket: str, key: str, filter_json: FilterJSON | None = None, limit: int = 10
    ) -> list[tuple[str, int]]:
        """See `Index.facet`."""

        def run(shard: edge.EdgeShard, counted: edge.Filter | None) -> list[tuple[str, int]]:
            response = shard.facet(edge.FacetRequest(key, limit=limit, exact=True, filter=counted))
            return [(str(hit.value), hit.count) for hit in response.hits]

        none: list[tuple[str, int]] = []
        return await self._counted(bucket, filter_json, run, none)

    async def drop(self, bucket: str) -> None:
        """See `Index.drop`."""
        await asyncio.to_thread(self._drop, bucket)

    async def optimize(self, bucket: str) -> None:
        """See `Index.optimize`."""
        await asyncio.to_thread(self._optimize, bucket)

    async def close(self) -> None:
        """See `Index.close`."""
        await asyncio.to_thread(self._close)

    # What follows blocks and runs in threads.

    async def _with_shard(self, bucket: str, run: Callable[[_Open], T], empty: T) -> T:
        def work() -> T:
            opened = self._opened(bucket)
            return empty if opened is None else _translated(bucket, lambda: run(opened))

        return await asyncio.to_thread(work)

    async def _counted(
        self,
        bucket: str,
        filter_json: FilterJSON | None,
        run: Callable[[edge.EdgeShard, edge.Filter | None], T],
        empty: T,
    ) -> T:
        """Run over the chunks that match, summaries left out; a filter that nobody knows is refused in any case."""
        edge_filter(filter_json)
        return await self._with_shard(
            bucket,
            lambda opened: run(opened.shard, edge_filter(opened.record.only_chunks(filter_json))),
            empty,
        )

    def _ensure(self, bucket: Bucket) -> None:
        opened = self._opened(bucket.name)
        if opened is None:
            record = CollectionRecord(self._embedder.name, self._embedder.dimensions, bucket.language)
            opened = self._create(bucket.name, record)
        opened.record.check_language(bucket)
        wanted = {**OWN_INDEXES, **bucket.payload_indexes()}
        shard = opened.shard
        existing = shard.info().payload_schema
        for key, kind in wanted.items():
            if key not in existing:
                operation = edge.UpdateOperation.create_field_index(key, _KINDS[kind])
                _translated(bucket.name, partial(shard.update, operation))

    def _create(self, bucket: str, record: CollectionRecord) -> _Open:
        with self._lock:
            folder = self._folder / bucket
            self._clear(bucket, folder)
            folder.mkdir(parents=True, exist_ok=True)
            config = edge.EdgeConfig(
                vectors={DENSE: edge.EdgeVectorParams(record.dimensions, edge.Distance.Cosine)},
                sparse_vectors={SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
                # Without the log the lock goes too, and two processes corrupt each other.
                wal_enabled=True,
            )
            shard = _translated(bucket, lambda: edge.EdgeShard.create(str(folder), config))
            self._write_record(bucket, record)
            self._open[bucket] = _Open(shard, record)
            return self._open[bucket]

    def _clear(self, bucket: str, folder: Path) -> None:
        """Remove what a creation left that was killed before its record was written: it holds no points."""
        if folder.is_dir() and any(folder.iterdir()):
            # Half a shard is refused; one that another process is creating is Unavailable.
            with contextlib.suppress(Rejected):
                _translated(bucket, lambda: edge.EdgeShard.load(str(folder))).close()
            shutil.rmtree(folder)

    def _opened(self, bucket: str) -> _Open | None:
        """Return the open shard, opening it at first use; None when the bucket was never filled."""
        with self._lock:
            if bucket in self._open:
                return self._open[bucket]
            try:
                record = CollectionRecord.from_json(json.loads(self._record_file(bucket).read_text("utf-8")))
            except FileNotFoundError:
                return None
            record.check(bucket, self._embedder)
            shard = _translated(bucket, lambda: edge.EdgeShard.load(str(self._folder / bucket)))
            self._open[bucket] = _Open(shard, record)
            return self._open[bucket]

    def _upsert(
        self, bucket: str, chunks: Sequence[Chunk], metadata: Mapping[str, Mapping[str, Any]]
    ) -> None:
        opened = self._opened(bucket)
        if opened is None:
            raise Rejected(f"Bucket {bucket!r} has no collection: call ensure() first.")
        record = opened.record.before(chunks, metadata)
        if record != opened.record:
            self._write_record(bucket, record)
            opened.record = record
        dense, sparse = encode_chunks(chunks, self._embedder, opened.record)
        points = [
            edge.Point(
                chunk.chunk_id,
                {DENSE: dense[row].tolist(), SPARSE: edge.SparseVector(*sparse[row])},
                payload_of(chunk, metadata.get(chunk.doc_id, {})),
            )
            for row, chunk in enumerate(chunks)
        ]
        shard = opened.shard
        _translated(bucket, lambda: shard.update(edge.UpdateOperation.upsert_points(points)))

    def _optimize(self, bucket: str) -> None:
        opened = self._opened(bucket)
        if opened is None:
            return
        shard = opened.shard
        draw: Any = edge.Sample.Random
        drawn = edge_filter(opened.record.only_chunks(SEEN_BY_ALL))
        sampled = _translated(
            bucket,
            lambda: shard.query(edge.QueryRequest(SAMPLE, query=draw, with_payload=True, filter=drawn)),
        )
        record = opened.record.refitted([chunk_from(point.id, point.payload or {}) for point in sampled])
        if record is not None:
            _translated(bucket, lambda: _refit(shard, record))
            # Written last: a refit that was killed is found again by the next ingest.
            self._write_record(bucket, record)
            opened.record = record
        _translated(bucket, shard.flush)
        if shard.info().points_count >= OPTIMIZE_FROM:
            _translated(bucket, shard.optimize)

    def _search(self, request: SearchRequest) -> list[Hit]:
        opened = self._opened(request.bucket)
        if opened is None:
            return []
        fused = legs(request, self._embedder, opened.record, self._weights)
        if not fused:
            return []
        query, shard = _query(request, fused), opened.shard
        points = _translated(request.bucket, lambda: shard.query(query))
        return [
            Hit(chunk_from(point.id, point.payload or {}), point.score, similarity(fused, point.vector))
            for point in points
        ]

    def _drop(self, bucket: str) -> None:
        with self._lock:
            opened = self._open.pop(bucket, None)
            if opened:
                opened.shard.close()
            self._record_file(bucket).unlink(missing_ok=True)
            shutil.rmtree(self._folder / bucket, ignore_errors=True)

    def _close(self) -> None:
        with self._lock:
            for opened in self._open.values():
                opened.shard.close()
            self._open.clear()

    def _record_file(self, bucket: str) -> Path:
        return self._folder / f"{bucket}.json"

    def _write_record(self, bucket: str, record: CollectionRecord) -> None:
        target = self._record_file(bucket)
        draft = target.with_suffix(".json.new")
        draft.write_text(json.dumps(record.as_json(), indent=2), "utf-8")
        os.replace(draft, target)


def _query(request: SearchRequest, fused: Sequence[Leg]) -> edge.QueryRequest:
    """Build the engine's query over one list, or over several fused by rank."""
    common: dict[str, Any] = {
        "limit": request.limit,
        "with_payload": True,
        "with_vector": [DENSE] if fused[0].using == DENSE else False,
    }
    if len(fused) == 1:
        (only,) = fused
        allowed = edge_filter(only.filter_json)
        return edge.QueryRequest(query=_nearest(only), filter=allowed, params=_params(only), **common)
    alone: Any = edge.Fusion.Rrf(k=RRF_K)
    lists = [
        edge.Prefetch(
            request.candidates,
            prefetches=[
                edge.Prefetch(
                    request.candidates,
                    query=_nearest(leg),
                    filter=edge_filter(leg.filter_json),
                    params=_params(leg),
                )
            ],
            query=alone,
        )
        for leg in fused
    ]
    return edge.QueryRequest(prefetches=lists, query=_formula(request.identifiers, fused), **common)


def _params(leg: Leg) -> edge.SearchParams | None:
    if leg.population is None:
        return None
    return edge.SearchParams(idf=edge.IdfParams(edge_filter(leg.population)))


def _nearest(leg: Leg) -> edge.Query:
    vector = edge.SparseVector(*leg.vector) if isinstance(leg.vector, SparseVector) else leg.vector
    return edge.Query.Nearest(vector, using=leg.using)


def _formula(identifiers: Sequence[str], fused: Sequence[Leg]) -> edge.Formula:
    """Add the weighted scores of the lists, and 1 for a wanted identifier: more than they can reach."""
    scores = [f"$score[{place}]" for place in range(len(fused))]
    terms = [
        edge.Expression.Mult([edge.Expression.Constant(leg.weight), edge.Expression.Variable(score)])
        for leg, score in zip(fused, scores, strict=True)
    ]
    if identifiers:
        terms.append(edge.Expression.Condition(edge_condition(identifier_condition(identifiers))))
    return edge.Formula(edge.Expression.Sum(terms), dict.fromkeys(scores, 0.0))


def _refit(shard: edge.EdgeShard, record: CollectionRecord) -> None:
    """Write the sparse vectors of all points anew."""
    encoder = record.encoder()
    for chunks in _scrolled(shard, None):
        vectors = [
            edge.PointVectors(
                chunk.chunk_id, {SPARSE: edge.SparseVector(*encoder.document(indexed_text(chunk)))}
            )
            for chunk in chunks
        ]
        shard.update(edge.UpdateOperation.update_vectors(vectors))


def _scrolled(shard: edge.EdgeShard, chosen: edge.Filter | None) -> Iterator[list[Chunk]]:
    """Yield all chunks that match, a page at a time."""
    offset = None
    while True:
        records, offset = shard.scroll(
            edge.ScrollRequest(offset=offset, limit=SCROLL_PAGE, filter=chosen, with_payload=True)
        )
        if records:
            yield [chunk_from(record.id, record.payload or {}) for record in records]
        if offset is None:
            return


def _translated(bucket: str, call: Callable[[], T]) -> T:
    """Call the engine and raise its failures as this project's two kinds."""
    try:
        return call()
    except Exception as error:  # the engine raises plain Exception: only its text tells the cases apart
        text = str(error)
        if "WouldBlock" in text:
            raise Unavailable(
                f"The index of bucket {bucket!r} is open in another process. Close that process, "
                f"or serve both from a Qdrant server (QDRANT_URL)."
            ) from error
        if "not initialized" in text:
            raise Unavailable(f"The index of bucket {bucket!r} was closed during the call.") from error
        raise Rejected(f"The embedded index refused the request on bucket {bucket!r}: {text}") from error
