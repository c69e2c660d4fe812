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

from corpus.fields import fold
from corpus.index import RRF_K, FilterJSON, SearchRequest, request_filter
from corpus.own_filter import filtered_fields, index_kinds, own_filter, payload_key, point_of
from corpus.qdrant_index import seam
from corpus.sparse import SparseEncoder
from corpus.types import Chunk, Document, Hit, Page
from llm.embeddings import Embedder
from llm.errors import BadInput, Rejected

if TYPE_CHECKING:
    from corpus.buckets import Bucket
    from corpus.fields import Value
    from settings import Settings

T = TypeVar("T")

VALUES = 10_000
"""Distinct values of a payload key among which a filter's words are looked up."""


def connect_own(settings: Settings) -> QdrantClient:
    """Return a blocking client for the server that holds the collections; nothing is sent yet.

    Raises:
        BadInput: no server is set.
    """
    if not settings.qdrant_url:
        raise BadInput("A bucket with a `collection` needs the Qdrant server that holds it: set QDRANT_URL.")
    key = settings.qdrant_api_key
    return QdrantClient(
        url=settings.qdrant_url, api_key=key.get_secret_value() if key else None, check_compatibility=False
    )


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
        indexed: whether the collection must have the payload indexes that a filter needs; the client's
            local mode has none.
    """

    def __init__(
        self, bucket: Bucket, client: QdrantClient, embedder: Embedder, *, indexed: bool = True
    ) -> None:
        assert bucket.collection is not None
        self.bucket = bucket
        self.declared = bucket.collection
        self._client = client
        self._embedder = embedder
        self._indexed = indexed
        self._stores: dict[str, QdrantVectorStore] = {}

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

    def document(self, doc_id: str) -> Document | None:
        """Return a point as a document, its page from the metadata; None when there is none of that id."""
        found = self._points([point_of(doc_id)])
        if not found:
            return None
        point_id, payload = found[0]
        chunk, metadata = self._read(point_id, payload), self._metadata(payload)
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
        return self.bucket.validate_row(self._metadata(found[0][1]))[0] if found else None

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
        self._check_indexes(given)
        own = own_filter(self.bucket, given, self._spelled)
        grouped = own.keys() <= {"must", "should", "must_not"}
        return models.Filter.model_validate(own if grouped else {"must": [own]})

    def _check_indexes(self, given: FilterJSON) -> None:
        fields = filtered_fields(self.bucket, given)
        if not fields or not self._indexed:
            return
        schema = self._asked(lambda: self._client.get_collection(self.declared.name)).payload_schema
        for field in fields:
            key, kinds = payload_key(self.bucket, field), index_kinds(field)
            held = schema.get(key)
            if held is None or held.data_type.value not in kinds:
                raise BadInput(
                    f"Collection {self.declared.name!r} has no payload index of kind {kinds[0]!r} on {key!r}, "
                    f"which a filter on {field.name!r} needs. Create it: client.create_payload_index("
                    f"{self.declared.name!r}, {key!r}, {kinds[0]!r})."
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

    def _metadata(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        if not self.declared.metadata_key:
            return {key: value for key, value in payload.items() if key != self.declared.content_key}
        held = payload.get(self.declared.metadata_key)
        return dict(held) if isinstance(held, Mapping) else {}

    def _read(self, point_id: object, payload: Mapping[str, Any]) -> Chunk:
        text = str(payload.get(self.declared.content_key) or "")
        return self._chunk(point_id, text, self._metadata(payload))

    def _chunk(self, point_id: object, text: str, metadata: Mapping[str, Any]) -> Chunk:
        """Return a point as the one chunk of its document; offsets count in the stored text."""
        named = metadata.get(self.declared.id_key) if self.declared.id_key else None
        doc_id = f"{self.bucket.name}:{named}#{point_id}" if named else f"{self.bucket.name}:{point_id}"
        number = metadata.get(self.declared.page_key)
        page = number - self.declared.first_page + 1 if isinstance(number, int) else None
        found = self.bucket.find_identifiers(text)
        return Chunk(
            chunk_id=str(point_id),
            doc_id=doc_id,
            bucket=self.bucket.name,
            ordinal=0,
            text=text,
            start=0,
            end=len(text),
            content_hash=hashlib.sha256(text.encode()).hexdigest(),
            source_file=str(metadata.get(self.declared.source_key) or doc_id),
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
