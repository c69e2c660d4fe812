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

from citegraph.corpus.filters.qdrant_filter import FilterJSON
from citegraph.corpus.index.collection_record import (
    NOTHING_READY,
    SAMPLE,
    CollectionRecord,
    Encoded,
    SparseVector,
    chunks_of,
    encode_chunks,
    indexed_text,
)
from citegraph.corpus.index.edge.edge_shard import (
    DEFAULT_SIZES,
    Shard,
    Sizes,
    require_room,
    translated,
    updated,
)
from citegraph.corpus.index.index_protocol import (
    DENSE,
    OWN_INDEXES,
    RRF_K,
    SEEN_BY_ALL,
    SPARSE,
    Forwarded,
    Leg,
    SearchRequest,
    asked_chunks,
    documents_condition,
    hits_of,
    identifier_condition,
    legs,
    payload_of,
    stored_chunks,
)
from citegraph.corpus.schema.document import Chunk, Hit
from citegraph.errors import BadInput, Rejected
from citegraph.llm.embeddings import Embedder

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket


_MATCHES: Mapping[str, Callable[[Any], Any]] = {
    "value": edge.MatchValue,
    "any": edge.MatchAny,
    "text": edge.MatchText,
    "phrase": edge.MatchPhrase,
    "prefix": edge.MatchPrefix,
    "substring": edge.MatchSubstring,
}


def edge_filter(given: FilterJSON | None) -> edge.Filter | None:
    """Return the engine's filter, None for none.

    Raises:
        BadInput: a part that this translation does not know; nothing is dropped in silence.
    """
    if not given:
        return None
    unknown = set(given) - {"must", "should", "must_not"}
    if unknown:
        raise BadInput(f"Unknown filter clause {sorted(unknown)[0]!r}.")
    parts: dict[str, Any] = {name: _conditions(conditions) for name, conditions in given.items()}
    return edge.Filter(**parts)


def _conditions(given: Any) -> list[Any] | None:
    if given is None:
        return None
    return [edge_condition(one) for one in (given if isinstance(given, list) else [given])]


def edge_condition(given: Mapping[str, Any]) -> Any:
    """Return one condition: field, emptiness, or a filter inside a filter."""
    if "key" in given:
        return _field(given)
    if "is_empty" in given:
        return edge.IsEmptyCondition(given["is_empty"]["key"])
    return edge_filter(dict(given)) or edge.Filter()


def _field(given: Mapping[str, Any]) -> edge.FieldCondition:
    parts: dict[str, Any] = {}
    for name, value in given.items():
        if name == "key":
            continue
        if name == "match":
            parts["match"] = _match(value)
        elif name == "range":
            parts["range"] = _range(value)
        else:
            raise BadInput(f"Unknown filter condition {name!r} on {given['key']!r}.")
    return edge.FieldCondition(given["key"], **parts)


def _match(given: Mapping[str, Any]) -> Any:
    ((kind, value),) = given.items()
    if kind not in _MATCHES:
        raise BadInput(f"Unknown match {kind!r}.")
    return _MATCHES[kind](value)


def _range(given: Mapping[str, Any]) -> Any:
    bounds = {name: value for name, value in given.items() if value is not None}
    if any(isinstance(value, str) for value in bounds.values()):
        return edge.RangeDateTime(**bounds)
    return edge.RangeFloat(**bounds)


def query_of(request: SearchRequest, fused: Sequence[Leg]) -> edge.QueryRequest:
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


T = TypeVar("T")

SCROLL_PAGE = 1_000


@dataclass(slots=True)
class _Open:
    """A shard in use, what it was built with, and the kinds of its bucket's fields once an ingest has declared them."""

    shard: Shard
    record: CollectionRecord
    fields: Mapping[str, str] | None = None


class EdgeIndex(Forwarded):
    """`Index` on qdrant-edge; blocking calls run in threads, each shard has one handle in one process.

    Args:
        folder: holds one sub-folder and one record file a bucket.
        weights: RRF weights (dense, sparse).
        sizes: from how many points on a shard is rearranged.
    """

    def __init__(
        self, folder: Path, embedder: Embedder, *, weights: tuple[float, float], sizes: Sizes = DEFAULT_SIZES
    ) -> None:
        self._folder = folder
        self._sizes = sizes
        self._embedder = embedder
        self._weights = weights
        self._open: dict[str, _Open] = {}
        self._lock = threading.Lock()

    async def forward(self, method: str, *given: Any) -> Any:
        """Make the call in a thread: the methods that follow block."""
        return await asyncio.to_thread(getattr(self, f"_{method}"), *given)

    async def count(self, bucket: str, filter_json: FilterJSON | None = None) -> int:
        """See `Index.count`; a filter that nobody knows is refused in any case."""
        edge_filter(filter_json)
        return int((await self.counts(bucket, [filter_json]))[0])

    def _set_metadata(self, bucket: str, metadata: Mapping[str, Mapping[str, Any]]) -> None:
        def run(handle: edge.EdgeShard) -> None:
            for doc_id, values in metadata.items():
                chosen = edge_filter(documents_condition([doc_id]))
                assert chosen is not None
                handle.update(edge.UpdateOperation.set_payload_by_filter(chosen, {"meta": dict(values)}))

        self._in_shard(bucket, run)

    def _delete_documents(self, bucket: str, doc_ids: Sequence[str]) -> None:
        chosen = edge_filter(documents_condition(doc_ids))
        if doc_ids and chosen:
            operation = edge.UpdateOperation.delete_points_by_filter(chosen)
            self._in_shard(bucket, lambda handle: handle.update(operation))

    def _document_chunks(self, bucket: str, doc_id: str) -> list[Chunk]:
        chosen = edge_filter(documents_condition([doc_id]))
        points = self._in_shard(
            bucket, lambda handle: [point for page in _scrolled(handle, chosen) for point in page]
        )
        return sorted(chunks_of(points or ()), key=lambda chunk: chunk.ordinal)

    def _retrieve(self, bucket: str, chunk_ids: Sequence[str]) -> list[Chunk]:
        wanted: list[Any] = list(chunk_ids)
        records = self._in_shard(bucket, lambda handle: handle.retrieve(wanted, True, False))
        return asked_chunks(records or (), chunk_ids)

    def _counts(self, bucket: str, filters: Sequence[FilterJSON | None]) -> list[int]:
        opened = self._opened(bucket)
        if opened is None:
            return [0] * len(filters)
        chosen = [edge_filter(opened.record.only_chunks(one)) for one in filters]
        return opened.shard.call(
            lambda handle: [handle.count(edge.CountRequest(exact=True, filter=one)) for one in chosen]
        )

    def _in_shard(self, bucket: str, run: Callable[[edge.EdgeShard], T]) -> T | None:
        opened = self._opened(bucket)
        return None if opened is None else opened.shard.call(run)

    def _ensure(self, bucket: Bucket) -> None:
        opened = self._opened(bucket.name)
        if opened is None:
            record = CollectionRecord(self._embedder.name, self._embedder.dimensions, bucket.language)
            opened = self._create(bucket.name, record)
        opened.record.check_language(bucket)
        opened.fields = bucket.payload_indexes()
        opened.shard.index(OWN_INDEXES, opened.fields)

    def _create(self, bucket: str, record: CollectionRecord) -> _Open:
        with self._lock:
            folder = self._folder / bucket
            self._clear(bucket, folder)
            folder.mkdir(parents=True, exist_ok=True)
            shard = Shard.create(folder, record.dimensions, self._sizes)
            self._write_record(bucket, record)
            self._open[bucket] = _Open(shard, record)
            return self._open[bucket]

    def _clear(self, bucket: str, folder: Path) -> None:
        """Remove what a creation left that was killed before its record was written: it holds no points."""
        if folder.is_dir() and any(folder.iterdir()):
            # Half a shard is refused; one that another process is creating is Unavailable.
            with contextlib.suppress(Rejected):
                translated(bucket, lambda: edge.EdgeShard.load(str(folder))).close()
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
            shard = Shard.load(self._folder / bucket, record.dimensions, self._sizes)
            self._open[bucket] = _Open(shard, record)
            return self._open[bucket]

    def _upsert(
        self,
        bucket: str,
        chunks: Sequence[Chunk],
        metadata: Mapping[str, Mapping[str, Any]],
        ready: Mapping[str, Encoded] = NOTHING_READY,
    ) -> None:
        if not chunks:
            return
        opened = self._opened(bucket)
        if opened is None:
            raise Rejected(f"Bucket {bucket!r} has no collection: call ensure() first.")
        record = opened.record.before(chunks, metadata)
        if record != opened.record:
            self._write_record(bucket, record)
            opened.record = record
        dense, sparse = encode_chunks(chunks, self._embedder, opened.record, ready)
        points = [
            edge.Point(
                chunk.chunk_id,
                {DENSE: dense[row].tolist(), SPARSE: edge.SparseVector(*sparse[row])},
                payload_of(chunk, metadata.get(chunk.doc_id, {})),
            )
            for row, chunk in enumerate(chunks)
        ]
        require_room(self._folder / bucket)
        opened.shard.call(partial(updated, edge.UpdateOperation.upsert_points(points)))
        opened.shard.written(len(points))

    def _optimize(self, bucket: str) -> None:
        opened = self._opened(bucket)
        if opened is None:
            return
        shard = opened.shard
        draw: Any = edge.Sample.Random
        drawn = edge_filter(opened.record.only_chunks(SEEN_BY_ALL))
        sampled = shard.call(
            lambda handle: handle.query(
                edge.QueryRequest(SAMPLE, query=draw, with_payload=True, filter=drawn)
            )
        )
        record = opened.record.refitted(stored_chunks(sampled))
        if record is not None:
            _refit(shard, record)
            # Written last: a refit that was killed is found again by the next ingest.
            self._write_record(bucket, record)
            opened.record = record
        if opened.fields is not None:
            shard.index(OWN_INDEXES, opened.fields)
        shard.finish(rewritten=record is not None)

    def _search(self, request: SearchRequest) -> list[Hit]:
        opened = self._opened(request.bucket)
        if opened is None:
            return []
        fused = legs(request, self._embedder, opened.record, self._weights)
        if not fused:
            return []
        query = query_of(request, fused)
        points = opened.shard.call(lambda handle: handle.query(query))
        return hits_of(points, fused)

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


def _refit(shard: Shard, record: CollectionRecord) -> None:
    """Write the sparse vectors of all points anew."""
    encoder = record.encoder()
    offset: Any = None
    while True:
        chunks, offset = shard.call(partial(_page, None, offset))
        vectors = [
            edge.PointVectors(
                chunk.chunk_id, {SPARSE: edge.SparseVector(*encoder.document(indexed_text(chunk)))}
            )
            for chunk in chunks
        ]
        if vectors:
            shard.call(partial(updated, edge.UpdateOperation.update_vectors(vectors)))
            shard.written(len(vectors))
        if offset is None:
            return


def _scrolled(handle: edge.EdgeShard, chosen: edge.Filter | None) -> Iterator[list[Chunk]]:
    """Yield all chunks that match, a page at a time."""
    offset: Any = None
    while True:
        chunks, offset = _page(chosen, offset, handle)
        yield chunks
        if offset is None:
            return


def _page(chosen: edge.Filter | None, offset: Any, handle: edge.EdgeShard) -> tuple[list[Chunk], Any]:
    """Return a page of the chunks that match, by id, and where the next one begins; None after the last."""
    request = edge.ScrollRequest(offset=offset, limit=SCROLL_PAGE, filter=chosen, with_payload=True)
    records, following = handle.scroll(request)
    return stored_chunks(records), following
