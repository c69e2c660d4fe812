"""A Qdrant collection that langchain-qdrant wrote, read as a bucket: each point is a document of one chunk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.embeddings import Embeddings
from langchain_qdrant import QdrantVectorStore, RetrievalMode
from langchain_qdrant.qdrant import QdrantVectorStoreError
from langchain_qdrant.sparse_embeddings import SparseEmbeddings
from langchain_qdrant.sparse_embeddings import SparseVector as SparseValues
from pydantic import ValidationError
from qdrant_client import QdrantClient, models

from citegraph.corpus.filters.qdrant_filter import FilterJSON
from citegraph.corpus.foreign.foreign_filter import (
    Lookups,
    filtered_fields,
    index_kinds,
    own_filter,
    payload_key,
    point_of,
)
from citegraph.corpus.foreign.foreign_reading import Reading, document_name, metadata_of, page_of
from citegraph.corpus.index.index_protocol import RRF_K, SearchRequest, request_filter
from citegraph.corpus.index.qdrant_index import seam
from citegraph.corpus.index.sparse import SparseEncoder
from citegraph.corpus.schema.document import Chunk, Document, Hit, Page
from citegraph.corpus.schema.field import Field
from citegraph.corpus.schema.values import read_row
from citegraph.errors import BadInput, Rejected
from citegraph.language.terms import fold
from citegraph.llm.embeddings import Embedder

if TYPE_CHECKING:
    from citegraph.corpus.filters.conditions import Condition
    from citegraph.corpus.foreign.mirror import Mirror
    from citegraph.corpus.schema.bucket import Bucket
    from citegraph.corpus.schema.field import Value

T = TypeVar("T")

PAGE = 1000
"""Points that one request of a reading asks for."""
VALUES = 10_000
"""Distinct values of a payload key among which a filter's words are looked up."""


class _Dense(Embeddings):
    """The settings' embedding model as LangChain asks for one."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [row.tolist() for row in self._embedder.embed_documents(texts)]

    def embed_query(self, text: str) -> list[float]:
        return [float(value) for value in self._embedder.embed_query(text)]


class _Sparse(SparseEmbeddings):
    """Our own BM25 terms; a collection that another sparse encoder wrote has to have the same term ids."""

    def __init__(self, language: str) -> None:
        self._encoder = SparseEncoder(language, 256.0)

    def embed_documents(self, texts: list[str]) -> list[SparseValues]:
        found = [self._encoder.document(text) for text in texts]
        return [SparseValues(indices=one.indices, values=one.values) for one in found]

    def embed_query(self, text: str) -> SparseValues:
        found = self._encoder.query(text)
        return SparseValues(indices=found.indices, values=found.values)


class OwnCollection:
    """Reads one declared collection through `QdrantVectorStore`; all methods block, nothing is written.

    Args:
        client: a client, or what opens one at its first use.
        indexed: whether the collection must have the payload indexes that a filter needs; the client's
            local mode has none.

    Attributes:
        mirror: what was read of the whole collection; None when nothing is.
    """

    def __init__(
        self,
        bucket: Bucket,
        client: QdrantClient | Callable[[], QdrantClient],
        embedder: Embedder,
        *,
        indexed: bool = True,
    ) -> None:
        assert bucket.collection is not None
        self.bucket = bucket
        self.declared = bucket.collection
        self.mirror: Mirror | None = None
        self._open = client if callable(client) else lambda: client
        self._embedder = embedder
        self._indexed = indexed
        self._stores: dict[str, QdrantVectorStore] = {}

    @property
    def _client(self) -> QdrantClient:
        return self._open()

    def search(self, request: SearchRequest) -> list[Hit]:
        """Return the best chunks of a search in a mode that the collection has, best first.

        Raises:
            BadInput: the collection or a payload index is missing, or the vectors do not fit the embedding model.
        """
        mode = self._mode(request.mode)
        asked = request_filter(request)
        chosen = self._filter({"must": asked["must"]} if asked and set(asked) == {"must"} else asked)
        found = self._asked(
            lambda: self._store(mode).similarity_search_with_score(
                request.query, k=request.limit, filter=chosen
            )
        )
        scores = {str(document.metadata["_id"]): score for document, score in found}
        points = self._points([document.metadata["_id"] for document, _ in found])
        self._check_layout([payload for _, payload in points])
        read = {point_id: self._read(point_id, payload) for point_id, payload in points}
        chunks = [(read[point_id], score) for point_id, score in scores.items() if point_id in read]
        wanted = {fold(value) for value in request.identifiers}
        # A stable sort: what carries a wanted identifier comes first, else the collection's order stands.
        chunks.sort(key=lambda one: not wanted & set(one[0].identifiers))
        kept = [
            (chunk, score)
            for chunk, score in chunks
            if all(fold(phrase) in fold(chunk.text) for phrase in request.phrases)
        ]
        cosine = mode == request.mode == "semantic"
        return [
            Hit(chunk, score if cosine else 1 / (RRF_K + rank), score if cosine else None)
            for rank, (chunk, score) in enumerate(kept, 1)
        ]

    def chunks(self, point_ids: Sequence[str | int]) -> list[Chunk]:
        """Return the points that exist among these, in the order asked."""
        found = self._asked(lambda: self._client.retrieve(self.declared.name, list(point_ids)))
        by_id = {str(point.id): self._read(point.id, point.payload or {}) for point in found}
        return [by_id[str(point)] for point in point_ids if str(point) in by_id]

    def texts(self, point_ids: Sequence[str | int]) -> list[str]:
        """Return the texts of the points that exist among these, in the order asked."""
        found: dict[str, str] = {}
        for begin in range(0, len(point_ids), PAGE):
            points = self._points(point_ids[begin : begin + PAGE])
            found |= {str(one): str(payload.get(self.declared.content_key) or "") for one, payload in points}
        return [found[str(point)] for point in point_ids if str(point) in found]

    def document(self, doc_id: str) -> Document | None:
        """Return a point as a document, its page from the metadata; None when there is none of that id."""
        found = self._points([point_of(doc_id)])
        if not found:
            return None
        point_id, payload = found[0]
        chunk, metadata = self._read(point_id, payload), metadata_of(self.declared, payload)
        if chunk.doc_id != doc_id:
            return None
        label = metadata.get("page_label")
        page = (
            Page(chunk.page_first, 0, chunk.end, str(label) if label else None) if chunk.page_first else None
        )
        return Document(
            doc_id=doc_id,
            bucket=self.bucket.name,
            text=chunk.text,
            source_file=chunk.source_file,
            content_hash=chunk.content_hash,
            title=chunk.title,
            pages=(page,) if page else (),
        )

    def values(self, doc_id: str) -> dict[str, Value] | None:
        """Return the typed values of a point's metadata by field; None when there is none of that id."""
        found = self._points([point_of(doc_id)])
        return read_row(self.bucket, metadata_of(self.declared, found[0][1]))[0] if found else None

    def count(self, given: FilterJSON | None = None) -> int:
        """Return how many points match."""
        chosen = self._filter(given)
        return self._asked(
            lambda: self._client.count(self.declared.name, count_filter=chosen, exact=True)
        ).count

    def doc_ids(self, given: FilterJSON | None, limit: int) -> list[str]:
        """Return the document ids of at most `limit` points that match."""
        chosen = self._filter(given)
        points, _ = self._asked(
            lambda: self._client.scroll(self.declared.name, scroll_filter=chosen, limit=limit)
        )
        return [self._read(point.id, point.payload or {}).doc_id for point in points]

    def read(self) -> Reading:
        """Return what all points state, read one after the other with their texts.

        Raises:
            BadInput: the collection is not there, or none of its points has the keys of the declaration.
        """
        reading, offset = Reading(self.bucket), None
        while True:
            at = offset
            points, offset = self._asked(
                lambda at=at: self._client.scroll(self.declared.name, limit=PAGE, offset=at)  # type: ignore[misc]
            )
            for point in points:
                reading.add(_plain_id(point.id), point.payload or {})
            if offset is None:
                break
        self._check_layout([dict.fromkeys(reading.keys)] if reading.points else [])
        return reading

    def _mode(self, asked: str) -> str:
        if self.declared.mode == "hybrid":
            return asked
        return "semantic" if self.declared.mode == "dense" else "keyword"

    def _store(self, mode: str) -> QdrantVectorStore:
        if mode not in self._stores:
            modes = {
                "semantic": RetrievalMode.DENSE,
                "keyword": RetrievalMode.SPARSE,
                "hybrid": RetrievalMode.HYBRID,
            }
            self._stores[mode] = QdrantVectorStore(
                self._client,
                self.declared.name,
                embedding=None if mode == "keyword" else _Dense(self._embedder),
                retrieval_mode=modes[mode],
                vector_name=self.declared.vector,
                content_payload_key=self.declared.content_key,
                metadata_payload_key=self.declared.metadata_key,
                distance=models.Distance(self.declared.distance),
                sparse_embedding=None if mode == "semantic" else _Sparse(self.bucket.language),
                sparse_vector_name=self.declared.sparse_vector,
            )
        return self._stores[mode]

    def _filter(self, given: FilterJSON | None) -> models.Filter | None:
        if not given:
            return None
        own = own_filter(self.bucket, given, self._lookups(given))
        grouped = own.keys() <= {"must", "should", "must_not"}
        return models.Filter.model_validate(own if grouped else {"must": [own]})

    def _lookups(self, given: FilterJSON) -> Lookups:
        """Return what a filter may ask: of fields without a payload index, or stored otherwise, what was read of them.

        Raises:
            BadInput: a payload index is missing, and the values have not been read.
        """
        mirror = self.mirror if self.mirror and self.mirror.current() else None
        lacking = self._unindexed(given)
        if mirror is None:
            for field in lacking:
                raise self._without_index(field)
            return Lookups(self._spelled, lambda doc_ids: [point_of(one) for one in doc_ids])

        def points_of(doc_ids: Sequence[str]) -> list[str | int]:
            alone = [point_of(one) for one in doc_ids if "#" in one]
            return [*mirror.points_of(doc_ids), *alone]

        def named(condition: Condition) -> Sequence[str | int]:
            points = mirror.matching(condition)
            if points is not None:
                return points
            if condition.field in lacking:
                raise self._without_index(condition.field)
            raise BadInput(
                f"The values of {condition.field.name!r} in collection {self.declared.name!r} are not stored as "
                f"{condition.field.type}, so that a search can only name the points that match, and these are too many: "
                "narrow the filter, or store them as numbers, ISO dates and plain texts."
            )

        foreign = mirror.foreign() | {field.name for field in lacking}
        return Lookups(self._spelled, points_of, foreign, named)

    def _unindexed(self, given: FilterJSON) -> list[Field]:
        """Return the fields of a filter whose values no payload index of the collection serves."""
        fields = filtered_fields(self.bucket, given)
        if not fields or not self._indexed:
            return []
        schema = self._asked(lambda: self._client.get_collection(self.declared.name)).payload_schema
        held = {field.name: schema.get(payload_key(self.bucket, field)) for field in fields}
        return [
            field
            for field in fields
            if (found := held[field.name]) is None or found.data_type.value not in index_kinds(field)
        ]

    def _without_index(self, field: Field) -> BadInput:
        key, kind = payload_key(self.bucket, field), index_kinds(field)[0]
        return BadInput(
            f"Collection {self.declared.name!r} has no payload index of kind {kind!r} on {key!r}, "
            f"which a filter on {field.name!r} needs. Create it: client.create_payload_index("
            f"{self.declared.name!r}, {key!r}, {kind!r})."
        )

    def _spelled(self, key: str) -> list[str]:
        hits = self._asked(lambda: self._client.facet(self.declared.name, key, limit=VALUES)).hits
        if len(hits) >= VALUES:
            raise BadInput(
                f"{key!r} of collection {self.declared.name!r} holds {VALUES} different values or more: "
                "too many to filter by."
            )
        return [str(hit.value) for hit in hits]

    def _check_layout(self, payloads: Sequence[Mapping[str, Any]]) -> None:
        """Raise BadInput when none of the points found has the text, or the metadata, where it is declared to be."""
        keys = sorted({key for payload in payloads for key in payload})
        wanted = [("content_key", self.declared.content_key, "")]
        if self.declared.metadata_key and self.bucket.fields:
            wanted.append(
                ("metadata_key", self.declared.metadata_key, ' ("" when they stand beside the text)')
            )
        for name, key, hint in wanted:
            if payloads and key not in keys:
                raise BadInput(
                    f"The points of collection {self.declared.name!r} have no {key!r}, but {', '.join(keys)}: "
                    f"correct `{name}`{hint} in the declaration of bucket {self.bucket.name!r}."
                )

    def _points(self, ids: Sequence[str | int]) -> list[tuple[str | int, Mapping[str, Any]]]:
        found = self._asked(lambda: self._client.retrieve(self.declared.name, list(ids)))
        return [(str(point.id), point.payload or {}) for point in found]

    def _read(self, point_id: object, payload: Mapping[str, Any]) -> Chunk:
        """Return a point as the one chunk of a document of its own; offsets count in the stored text."""
        text = str(payload.get(self.declared.content_key) or "")
        metadata = metadata_of(self.declared, payload)
        name = document_name(self.declared, metadata)
        doc_id = f"{self.bucket.name}:{name or ''}#{point_id}"
        page = page_of(self.declared, metadata)
        found = self.bucket.find_identifiers(text)
        return Chunk(
            # Other collections count their points from 1 too.
            chunk_id=f"{self.bucket.name}:#{point_id}",
            doc_id=doc_id,
            bucket=self.bucket.name,
            ordinal=0,
            text=text,
            start=0,
            end=len(text),
            content_hash=hashlib.sha256(text.encode()).hexdigest(),
            source_file=str(metadata.get(self.declared.source_key) or name or doc_id),
            page_first=page,
            page_last=page,
            identifiers=tuple(dict.fromkeys(fold(shown) for _, shown, _, _ in found)),
            title=str(metadata.get("title") or ""),
        )

    def _asked(self, call: Callable[[], T]) -> T:
        """Return what a call of the client gives; its failures as this project's."""
        try:
            with seam():
                return call()
        except QdrantVectorStoreError as error:
            # The client's last sentence says how to delete the collection and make another.
            reason = " ".join(str(error).partition("If you want to recreate")[0].split())[:300]
            raise BadInput(
                f"Collection {self.declared.name!r} does not fit its declaration: {reason} Correct the declaration "
                f"of bucket {self.bucket.name!r}, or the embedding model of the settings."
            ) from error
        except TypeError as error:
            raise self._unreadable() from error
        except Rejected as error:
            if isinstance(error.__cause__, ValidationError):
                raise self._unreadable() from error
            with seam():
                held = self._client.collection_exists(self.declared.name)
            if held:
                raise
            raise BadInput(
                f"There is no collection {self.declared.name!r} on the Qdrant server: correct `name` under "
                f"`collection` in the declaration of bucket {self.bucket.name!r}."
            ) from error

    def _unreadable(self) -> BadInput:
        return BadInput(
            f"Collection {self.declared.name!r} holds points that langchain-qdrant cannot read: "
            f"{self.declared.content_key!r} must be a text and {self.declared.metadata_key!r} an object."
        )


def _plain_id(point_id: object) -> str | int:
    return point_id if isinstance(point_id, int) else str(point_id)
