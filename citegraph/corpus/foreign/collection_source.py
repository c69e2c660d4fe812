"""A Qdrant collection that someone else wrote as a source of an ingest: its points become documents of a bucket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from citegraph.corpus.foreign.foreign_reading import BETWEEN, ForeignDocument, ForeignReading, pages_of
from citegraph.corpus.index.collection_record import Encoded, SparseEncoder, encode, indexed_text
from citegraph.corpus.ingestion.points import PointRecipe, context_of, points_of, to_send
from citegraph.corpus.ingestion.preparing import Prepared
from citegraph.corpus.ingestion.sources import SourceFile, Sources
from citegraph.corpus.ingestion.worker import STEP_READINGS, Step
from citegraph.corpus.ingestion.worker_pool import NONE
from citegraph.corpus.readers.protocol import Reading
from citegraph.corpus.schema.bucket import Collection as Keys
from citegraph.errors import BadInput, Unavailable

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket
    from citegraph.llm.embeddings import Embedder, Vectors
    from citegraph.settings import Settings

PAGE = 1000
"""Points that one request asks for."""
COMPARED = 8
"""Points whose vectors are held against those that the settings' model gives their texts."""
SAME = 0.995
"""Cosine from which on two vectors of one text are of one model: engines keep float32, some of them float16."""


def open_client(settings: Settings, keys: Keys) -> QdrantClient:
    """Return a client of the server (QDRANT_URL), or of the folder that `collection.path` of the bucket names.

    Raises:
        BadInput: there is neither a server nor a folder, or the folder is none of a local-mode client.
        Unavailable: another process has the folder open.
    """
    if keys.path is None:
        if not settings.qdrant_url:
            raise BadInput(
                "--collection: set QDRANT_URL to the server that holds it, or name the folder of a local-mode client "
                "as `path` under `collection` in the bucket's declaration."
            )
        key = settings.qdrant_api_key
        return QdrantClient(
            url=settings.qdrant_url,
            api_key=key.get_secret_value() if key else None,
            check_compatibility=False,
        )
    path = keys.path.expanduser().resolve()
    if not (path / "meta.json").is_file():  # the client would make an empty store there
        raise BadInput(
            f"{path} is no folder of a local-mode Qdrant client: correct `path` under `collection`."
        )
    try:
        return QdrantClient(path=str(path), force_disable_check_same_thread=True)
    except RuntimeError as error:
        raise Unavailable(
            f"{path} is open in another process; local mode lets one at a time. End that one, or serve the collection "
            "from a Qdrant server (QDRANT_URL)."
        ) from error
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(
            f"{path} cannot be opened by the local-mode Qdrant client ({type(error).__name__})."
        ) from error


@dataclass(frozen=True, slots=True)
class _Held:
    """The texts of a document's points in their order, and their vectors where those are of the settings' model."""

    texts: Sequence[str]
    vectors: Sequence[Vectors]


class CollectionSource:
    """Reads a collection for an ingest into `bucket`; see `FileReader`. Nothing is written to the collection.

    The points are gone through once for what they state, and those of each document are asked for again when it is
    written, so that no collection has to fit into memory. Where the model of the settings wrote the vectors, each point is one
    chunk and keeps its vector.

    Args:
        embedder: the model of the settings.
    """

    def __init__(
        self, client: QdrantClient, name: str, bucket: Bucket, embedder: Embedder, recipe: PointRecipe
    ) -> None:
        self._client = client
        self._name = name
        self._bucket = bucket
        self._keys = bucket.collection or Keys()
        self._embedder = embedder
        self._recipe = recipe
        self._documents: list[ForeignDocument] = []
        self.reuses = False

    @property
    def source(self) -> str:
        """Return what identifies the collection in the stores."""
        return f"qdrant:{self._name}"

    def look(self) -> Sources:
        """Go through all points, and return the collection as the one source of an ingest; blocking.

        Raises:
            BadInput: there is no such collection, it is empty, or its payload has not the declared keys.
            Unavailable: the server does not answer.
        """
        reading = ForeignReading(self._bucket, self._keys)
        try:
            if not self._client.collection_exists(self._name):
                names = ", ".join(one.name for one in self._client.get_collections().collections) or "none"
                raise BadInput(f"There is no collection {self._name!r}; there are {names}.")
            for record in self._scrolled():
                reading.add(record.id, record.payload or {})
            self._documents = list(reading.documents())
            self.reuses = bool(self._documents) and self._is_same_model()
        except (ResponseHandlingException, UnexpectedResponse) as error:
            raise Unavailable(f"Qdrant does not give the collection {self._name!r}: {error}") from error
        if not reading.points:
            raise BadInput(f"The collection {self._name!r} is empty.")
        lacking = {self._keys.content_key, *filter(None, [self._keys.metadata_key])} - reading.keys
        if lacking:
            raise BadInput(
                f"The points of {self._name!r} have no {' and no '.join(map(repr, sorted(lacking)))} but "
                f"{', '.join(sorted(reading.keys))}: name what holds text and metadata as `content_key` and "
                "`metadata_key` under `collection` in the bucket's declaration."
            )
        return Sources([SourceFile(Path(self.source), self.source, len(self._documents))])

    async def read(
        self, files: Sequence[Path], fresh: Collection[Path] = NONE
    ) -> AsyncIterator[tuple[Path, Step]]:
        """See `FileReader.read`: the one file is the collection that `look` went through."""
        for file in files:
            for begin in range(0, len(self._documents), STEP_READINGS):
                some = self._documents[begin : begin + STEP_READINGS]
                yield file, await asyncio.to_thread(self._step, some)
            yield file, Step(finished=True)

    def close(self) -> None:
        """Let go of the server or the folder."""
        self._client.close()

    def _scrolled(self) -> Iterator[Any]:
        offset: Any = None
        while True:
            records, offset = self._client.scroll(
                self._name, limit=PAGE, offset=offset, with_payload=True, with_vectors=False
            )
            yield from records
            if offset is None:
                return

    def _is_same_model(self) -> bool:
        """Tell whether the model of the settings gives the first texts the vectors that the collection has."""
        points = [span.point for document in self._documents[:COMPARED] for span in document.spans[:1]]
        held = self._held(points, with_vectors=True)
        if not held.vectors or any(len(vector) != self._embedder.dimensions for vector in held.vectors):
            return False
        mine = self._embedder.embed_documents(list(held.texts))
        theirs = np.stack(list(held.vectors))
        lengths = np.linalg.norm(mine, axis=1) * np.linalg.norm(theirs, axis=1)
        return bool(np.all((mine * theirs).sum(axis=1) >= SAME * lengths))

    def _held(self, points: Sequence[str | int], *, with_vectors: bool) -> _Held:
        """Return texts and vectors of points; no vectors when one of the points has none of the declared name."""
        found: dict[Any, Any] = {}
        for begin in range(0, len(points), PAGE):
            records = self._client.retrieve(
                self._name, list(points[begin : begin + PAGE]), with_payload=True, with_vectors=with_vectors
            )
            found |= {record.id: record for record in records}
        gone = [point for point in points if point not in found]
        if gone:
            raise Unavailable(
                f"{len(gone)} points of {self._name!r} were removed while they were read: try again."
            )
        texts = [str((found[point].payload or {}).get(self._keys.content_key) or "") for point in points]
        vectors = (
            [_vector(found[point].vector, self._keys.vector) for point in points] if with_vectors else []
        )
        whole = [vector for vector in vectors if vector is not None]
        return _Held(texts, whole if len(whole) == len(points) else [])

    def _step(self, documents: Sequence[ForeignDocument]) -> Step:
        try:
            taken = [self._taken(document) for document in documents]
        except (ResponseHandlingException, UnexpectedResponse) as error:
            raise Unavailable(f"Qdrant does not give the collection {self._name!r}: {error}") from error
        return Step(tuple(reading for reading, _ in taken), prepared=tuple(prepared for _, prepared in taken))

    def _taken(self, found: ForeignDocument) -> tuple[Reading, Prepared | None]:
        held = self._held([span.point for span in found.spans], with_vectors=self.reuses)
        text = BETWEEN.join(held.texts)
        reading = Reading(
            text=text,
            pages=pages_of(found.spans),
            title=found.title,
            doc_id=found.doc_id,
            source_file=found.source_file,
            metadata=dict(found.values),
            notes=tuple(
                [f"{name}: its points state {', '.join(said)}" for name, said in found.conflicts.items()]
                + [f"{name}: {said!r} cannot be read" for name, said in found.unreadable.items()]
            ),
        )
        return reading, self._prepared(found, reading, held) if held.vectors else None

    def _prepared(self, found: ForeignDocument, reading: Reading, held: _Held) -> Prepared:
        """Return the chunks of a document, one a point, with the vectors that the points have."""
        document = reading.as_document(doc_id="", bucket=self._bucket.name, source_file="", content_hash="")
        document = replace(document, title=self._bucket.title(found.values) or document.title)
        places = [(span.start, span.end) for span in found.spans]
        kept = [
            (place, vector) for place, vector in zip(places, held.vectors, strict=True) if place[0] < place[1]
        ]
        context = context_of(self._bucket, document, found.values)
        points = points_of(self._bucket, document, context, self._recipe, spans=[place for place, _ in kept])
        language = self._bucket.language
        counter = SparseEncoder(language, 0.0)
        vectors = [
            Encoded(self._embedder.name, language, vector, counter.query(indexed_text(chunk)))
            for chunk, (_, vector) in zip(points.chunks, kept, strict=True)
        ]
        return Prepared(
            None, to_send(points), [*vectors, *encode(points.summaries, self._embedder, language)]
        )


def _vector(given: Any, name: str) -> Vectors | None:
    """Return the dense vector of a point by its name, "" for the unnamed one."""
    vector = given.get(name) if isinstance(given, dict) else given if not name else None
    return np.asarray(vector, dtype=np.float32) if isinstance(vector, list) else None
