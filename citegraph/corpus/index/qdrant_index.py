"""The index on a Qdrant server or cluster: one collection a bucket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

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
from citegraph.corpus.index.index_protocol import (
    DENSE,
    OWN_INDEXES,
    RRF_K,
    SEEN_BY_ALL,
    SPARSE,
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
from citegraph.errors import Rejected, TimedOut, Unavailable
from citegraph.llm.embeddings import Embedder

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket
    from citegraph.settings import Settings

T = TypeVar("T")

SCROLL_PAGE = 1_000

_KINDS: Mapping[str, Any] = {
    "keyword": models.PayloadSchemaType.KEYWORD,
    "integer": models.PayloadSchemaType.INTEGER,
    "float": models.PayloadSchemaType.FLOAT,
    "datetime": models.PayloadSchemaType.DATETIME,
    "text": models.TextIndexParams(
        type=models.TextIndexType.TEXT,
        tokenizer=models.TokenizerType.WORD,
        lowercase=True,
        ascii_folding=True,
        phrase_matching=True,
    ),
}


def connect(settings: Settings) -> AsyncQdrantClient:
    """Return a client for the server in the settings; nothing is sent before the first call."""
    key = settings.qdrant_api_key
    return AsyncQdrantClient(
        url=settings.qdrant_url,
        api_key=key.get_secret_value() if key else None,
        # The version check would be a network call at construction.
        check_compatibility=False,
    )


class QdrantIndex:
    """`Index` on qdrant-client; the same vectors, filters and fusion as the embedded engine.

    Args:
        weights: RRF weights (dense, sparse).
        prefix: put before the bucket's name to make the collection's name.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        embedder: Embedder,
        *,
        weights: tuple[float, float],
        prefix: str = "citegraph_",
    ) -> None:
        self._client = client
        self._embedder = embedder
        self._weights = weights
        self._prefix = prefix
        self._records: dict[str, CollectionRecord] = {}

    async def ensure(self, bucket: Bucket) -> None:
        """See `Index.ensure`."""
        record = await self._record(bucket.name)
        if record is None:
            # Asking an endpoint for its dimensions is a network call.
            dimensions = await asyncio.to_thread(lambda: self._embedder.dimensions)
            record = CollectionRecord(self._embedder.name, dimensions, bucket.language)
            await _translated(
                self._client.create_collection(
                    self._name(bucket.name),
                    vectors_config={
                        DENSE: models.VectorParams(size=dimensions, distance=models.Distance.COSINE)
                    },
                    sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
                    metadata=record.as_json(),
                )
            )
            self._records[bucket.name] = record
        record.check_language(bucket)
        info = await _translated(self._client.get_collection(self._name(bucket.name)))
        wanted = {**OWN_INDEXES, **bucket.payload_indexes()}
        for key, kind in wanted.items():
            if key not in info.payload_schema:
                await _translated(
                    self._client.create_payload_index(self._name(bucket.name), key, _KINDS[kind], wait=True)
                )

    async def upsert(
        self,
        bucket: str,
        chunks: Sequence[Chunk],
        metadata: Mapping[str, Mapping[str, Any]],
        ready: Mapping[str, Encoded] = NOTHING_READY,
    ) -> None:
        """See `Index.upsert`."""
        if not chunks:
            return
        record = await self._record(bucket)
        if record is None:
            raise Rejected(f"Bucket {bucket!r} has no collection: call ensure() first.")
        fresh = await asyncio.to_thread(record.before, chunks, metadata)
        if fresh != record:
            record = fresh
            await _translated(self._client.update_collection(self._name(bucket), metadata=record.as_json()))
            self._records[bucket] = record
        dense, sparse = await asyncio.to_thread(encode_chunks, chunks, self._embedder, record, ready)
        points = [
            models.PointStruct(
                id=chunk.chunk_id,
                vector={DENSE: dense[row].tolist(), SPARSE: _sparse(sparse[row])},
                payload=payload_of(chunk, metadata.get(chunk.doc_id, {})),
            )
            for row, chunk in enumerate(chunks)
        ]
        await _translated(self._client.upsert(self._name(bucket), points, wait=True))

    async def set_metadata(self, bucket: str, metadata: Mapping[str, Mapping[str, Any]]) -> None:
        """See `Index.set_metadata`."""
        if await self._record(bucket) is None:
            return
        for doc_id, values in metadata.items():
            await _translated(
                self._client.set_payload(
                    self._name(bucket),
                    payload={"meta": dict(values)},
                    points=_required(documents_condition([doc_id])),
                    wait=True,
                )
            )

    async def delete_documents(self, bucket: str, doc_ids: Sequence[str]) -> None:
        """See `Index.delete_documents`."""
        if doc_ids and await self._record(bucket) is not None:
            chosen = models.FilterSelector(filter=_required(documents_condition(doc_ids)))
            await _translated(self._client.delete(self._name(bucket), chosen, wait=True))

    async def search(self, request: SearchRequest) -> list[Hit]:
        """See `Index.search`."""
        record = await self._record(request.bucket)
        if record is None:
            return []
        fused = await asyncio.to_thread(legs, request, self._embedder, record, self._weights)
        if not fused:
            return []
        response = await _translated(
            self._client.query_points(
                self._name(request.bucket),
                limit=request.limit,
                with_payload=True,
                with_vectors=[DENSE] if fused[0].using == DENSE else False,
                **_query(request, fused),
            )
        )
        hits = hits_of(response.points, fused)
        if not record.summaries and any(hit.chunk.level != "segment" for hit in hits):
            # Another process wrote the first summaries since the record was read: it says so now.
            self._records.pop(request.bucket, None)
            return await self.search(request)
        return hits

    async def document_chunks(self, bucket: str, doc_id: str) -> list[Chunk]:
        """See `Index.document_chunks`."""
        if await self._record(bucket) is None:
            return []
        pages = self._scrolled(bucket, _filter(documents_condition([doc_id])))
        points = [point async for page in pages for point in page]
        return sorted(chunks_of(points), key=lambda chunk: chunk.ordinal)

    async def retrieve(self, bucket: str, chunk_ids: Sequence[str]) -> list[Chunk]:
        """See `Index.retrieve`."""
        if await self._record(bucket) is None:
            return []
        records = await _translated(self._client.retrieve(self._name(bucket), list(chunk_ids)))
        return asked_chunks(records, chunk_ids)

    async def count(self, bucket: str, filter_json: FilterJSON | None = None) -> int:
        """See `Index.count`."""
        record = await self._record(bucket)
        if record is None:
            return 0
        counted = _filter(record.only_chunks(filter_json))
        answer = await _translated(self._client.count(self._name(bucket), count_filter=counted, exact=True))
        return answer.count

    async def counts(self, bucket: str, filters: Sequence[FilterJSON | None]) -> list[int]:
        """See `Index.counts`; Qdrant has no request for several."""
        return await asyncio.gather(*(self.count(bucket, one) for one in filters))

    async def drop(self, bucket: str) -> None:
        """See `Index.drop`."""
        self._records.pop(bucket, None)
        if await _translated(self._client.collection_exists(self._name(bucket))):
            await _translated(self._client.delete_collection(self._name(bucket)))

    async def optimize(self, bucket: str) -> None:
        """See `Index.optimize`; a server builds its graphs by itself."""
        record = await self._record(bucket)
        if record is None:
            return
        drawn = await _translated(
            self._client.query_points(
                self._name(bucket),
                query=models.SampleQuery(sample=models.Sample.RANDOM),
                query_filter=_filter(record.only_chunks(SEEN_BY_ALL)),
                limit=SAMPLE,
            )
        )
        sample = stored_chunks(drawn.points)
        fresh = await asyncio.to_thread(record.refitted, sample)
        if fresh is None:
            return
        async for chunks in self._scrolled(bucket, None):
            vectors = await asyncio.to_thread(_refitted, chunks, fresh)
            await _translated(self._client.update_vectors(self._name(bucket), vectors, wait=True))
        # Written last: a refit that was killed is found again by the next ingest.
        await _translated(self._client.update_collection(self._name(bucket), metadata=fresh.as_json()))
        self._records[bucket] = fresh

    async def close(self) -> None:
        """See `Index.close`."""
        self._records.clear()
        await self._client.close()

    async def _scrolled(self, bucket: str, chosen: models.Filter | None) -> AsyncIterator[list[Chunk]]:
        """Yield all chunks that match, a page at a time."""
        offset: Any = None
        while True:
            records, offset = await _translated(
                self._client.scroll(
                    self._name(bucket), scroll_filter=chosen, limit=SCROLL_PAGE, offset=offset
                )
            )
            if records:
                yield stored_chunks(records)
            if offset is None:
                return

    def _name(self, bucket: str) -> str:
        return f"{self._prefix}{bucket}"

    async def _record(self, bucket: str) -> CollectionRecord | None:
        """Return what the collection was built with, None when there is no collection.

        Raises:
            BadInput: it does not fit the embedding model.
        """
        if bucket in self._records:
            return self._records[bucket]
        if not await _translated(self._client.collection_exists(self._name(bucket))):
            return None
        info = await _translated(self._client.get_collection(self._name(bucket)))
        record = CollectionRecord.from_json(info.config.metadata or {})
        await asyncio.to_thread(record.check, bucket, self._embedder)
        self._records[bucket] = record
        return record


def _query(request: SearchRequest, fused: Sequence[Leg]) -> dict[str, Any]:
    """Return the arguments of `query_points` for one list, or for several fused by rank."""
    if len(fused) == 1:
        only = fused[0]
        return {
            "query": _vector(only),
            "using": only.using,
            "query_filter": _filter(only.filter_json),
            "search_params": _params(only),
        }
    alone = models.RrfQuery(rrf=models.Rrf(k=RRF_K))
    lists = [
        models.Prefetch(
            prefetch=models.Prefetch(
                query=_vector(leg),
                using=leg.using,
                filter=_filter(leg.filter_json),
                params=_params(leg),
                limit=request.candidates,
            ),
            query=alone,
            limit=request.candidates,
        )
        for leg in fused
    ]
    return {"prefetch": lists, "query": _formula(request.identifiers, fused)}


def _formula(identifiers: Sequence[str], fused: Sequence[Leg]) -> models.FormulaQuery:
    """Add the weighted scores of the lists, and 1 for a wanted identifier: more than they can reach."""
    scores = [f"$score[{place}]" for place in range(len(fused))]
    terms: list[Any] = [
        models.MultExpression(mult=[float(leg.weight), score])
        for leg, score in zip(fused, scores, strict=True)
    ]
    if identifiers:
        terms.append(models.FieldCondition.model_validate(identifier_condition(identifiers)))
    return models.FormulaQuery(formula=models.SumExpression(sum=terms), defaults=dict.fromkeys(scores, 0.0))


def _refitted(chunks: Sequence[Chunk], record: CollectionRecord) -> list[models.PointVectors]:
    encoder = record.encoder()
    return [
        models.PointVectors(
            id=chunk.chunk_id, vector={SPARSE: _sparse(encoder.document(indexed_text(chunk)))}
        )
        for chunk in chunks
    ]


def _params(leg: Leg) -> models.SearchParams | None:
    if leg.population is None:
        return None
    return models.SearchParams(idf=models.IdfCorpusParams(corpus=_required(leg.population)))


def _vector(leg: Leg) -> Any:
    return _sparse(leg.vector) if isinstance(leg.vector, SparseVector) else leg.vector


def _sparse(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=vector.indices, values=vector.values)


def _filter(given: FilterJSON | None) -> models.Filter | None:
    return models.Filter.model_validate(given) if given else None


def _required(given: FilterJSON) -> models.Filter:
    return models.Filter.model_validate(given)


async def _translated(call: Awaitable[T]) -> T:
    """Await a call of the client and raise its failures as this project's two kinds."""
    with seam():
        return await call


@contextmanager
def seam() -> Iterator[None]:
    """Raise the failures of the client as `Unavailable` (or `TimedOut`) and `Rejected`."""
    try:
        yield
    except UnexpectedResponse as error:
        status = error.status_code or 0
        message = f"The Qdrant server answered with HTTP {status} {error.reason_phrase}."
        if status in {408, 429} or status >= 500:
            raise Unavailable(message) from error
        raise Rejected(message) from error
    except ResponseHandlingException as error:
        if "timed out" in str(error.source).lower() or "Timeout" in type(error.source).__name__:
            raise TimedOut("The Qdrant server did not answer in time.") from error
        raise Unavailable("The Qdrant server cannot be reached.") from error
    except ValueError as error:  # what the client refuses before it sends anything
        raise Rejected(f"The Qdrant client refused the request: {error}") from error
