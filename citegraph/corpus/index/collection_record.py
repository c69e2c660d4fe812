"""What a collection was built with, whether it still fits, and the vectors of chunks made for it: BM25 terms and meaning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from citegraph.corpus.filters.qdrant_filter import FilterJSON
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Chunk, Hit
from citegraph.errors import BadInput
from citegraph.language.terms import fold
from citegraph.llm.embeddings import Embedder, Vectors

if TYPE_CHECKING:
    from qdrant_edge import Bm25


# Saturation and length normalisation of Robertson & Zaragoza, "The Probabilistic Relevance Framework" (2009).
TERM_SATURATION = 1.2
LENGTH_NORMALISATION = 0.75

# Saturation this high leaves a term's weight equal to its count.
_UNSATURATED = 1e12

_UNSEGMENTED = {"chinese", "zh", "japanese", "ja", "korean", "ko", "thai", "th"}


class SparseVector(NamedTuple):
    """Term ids and their weights, or how often each occurs."""

    indices: list[int]
    values: list[float]


class SparseEncoder:
    """Turns text into BM25 term weights of one language.

    `average_length` is the mean number of indexed terms of a chunk in the bucket; the engine's
    default of 256 costs up to 0.02 nDCG on short texts.
    """

    def __init__(self, language: str, average_length: float) -> None:
        self.language = language
        self.average_length = average_length

    @cached_property
    def _counter(self) -> Bm25:
        return _counting_model(self.language)

    def document(self, text: str) -> SparseVector:
        """Return the term weights of an indexed text."""
        return self.weighted(self.query(text))

    def weighted(self, counts: SparseVector) -> SparseVector:
        """Return the term weights of an indexed text of which `query` gave the counts.

        What depends on the collection, its average length, comes in here alone: the counts can be worked out
        elsewhere. The same single-precision numbers as the engine's own BM25 gives.
        """
        found = np.asarray(counts.values, np.float64)
        norm = 1 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * found.sum() / max(self.average_length, 1.0)
        weights = found * (TERM_SATURATION + 1) / (found + TERM_SATURATION * norm)
        return SparseVector(counts.indices, weights.astype(np.float32).tolist())

    def query(self, text: str) -> SparseVector:
        """Return the term weights of a question: how often each term occurs in it.

        A pasted paragraph repeats what it is about; weights of one would lose that.
        """
        vector = self._counter.embed_document(text)
        return SparseVector(list(vector.indices), [float(round(value)) for value in vector.values])


def mean_length(language: str, texts: Iterable[str]) -> float:
    """Return the mean number of indexed terms (stop words removed) of `texts`; 0.0 when there are none."""
    encoder = SparseEncoder(language, 0.0)
    lengths = [sum(encoder.query(text).values) for text in texts]
    return round(sum(lengths) / len(lengths), 2) if lengths else 0.0


def _counting_model(language: str) -> Bm25:
    """Return the engine's BM25 of a language whose weights are counts: not saturated, not normalised."""
    import qdrant_edge

    name = language.lower()
    tokenizer = (
        qdrant_edge.TokenizerType.Multilingual if name in _UNSEGMENTED else qdrant_edge.TokenizerType.Word
    )
    common: dict[str, Any] = {"k": _UNSATURATED, "b": 0.0, "tokenizer": tokenizer, "ascii_folding": True}
    try:
        return qdrant_edge.Bm25(
            qdrant_edge.Bm25Config(language="japanese" if name == "ja" else name, **common)
        )
    except ValueError:  # no stemmer or stop words for this language: plain terms
        plain = qdrant_edge.Bm25Config(
            stemmer=qdrant_edge.DisabledStemmer(), stopwords=qdrant_edge.StopwordsSet(custom=set()), **common
        )
        return qdrant_edge.Bm25(plain)


LEVEL_KEY = "level"
"""Where the payload of a summary holds its level; that of a chunk has no such key."""

SECTIONS = 20
"""Sections, found by their summaries, that a search also looks into; measured in docs/measured.md."""

_SUMMARY: dict[str, Any] = {"key": LEVEL_KEY, "match": {"any": ["section", "document"]}}


def level_condition(*, summaries: bool) -> FilterJSON:
    """Return the filter for the summaries of a collection, or for all else: its chunks."""
    return {"must" if summaries else "must_not": [_SUMMARY]}


def joined(*filters: FilterJSON | None) -> FilterJSON | None:
    """Return the filter that holds where all of these hold, None when there are none."""
    given = [one for one in filters if one]
    return {"must": given} if len(given) > 1 else (given[0] if given else None)


def chunks_of(points: Iterable[Chunk]) -> list[Chunk]:
    """Return what is a passage of a document, without the summaries."""
    return [point for point in points if point.level == "segment"]


def inside(summaries: Sequence[Chunk]) -> FilterJSON:
    """Return the filter for the chunks that begin in what these summaries stand for."""
    spans = (
        {
            "must": [
                {"key": "doc_id", "match": {"value": summary.doc_id}},
                {"key": "ordinal", "range": {"gte": summary.ordinal, "lt": summary.ordinal + summary.covers}},
            ]
        }
        for summary in summaries
    )
    return {"should": list(spans)}


def fused(
    everywhere: Sequence[Hit], within: Sequence[Hit], *, rank_constant: int, identifiers: Iterable[str] = ()
) -> list[Hit]:
    """Return the hits of one level with those inside the best sections, by reciprocal ranks (RRF).

    Only the places of long documents change hands, and a place keeps its score: documents without summaries stay
    where they are, and scores stay comparable with those of other buckets. Chunks that carry a wanted identifier
    come before the others.
    """
    places = [place for place, hit in enumerate(everywhere) if hit.chunk.summarised]
    known: dict[str, Hit] = {}
    scores: dict[str, float] = defaultdict(float)
    for ranking in ([everywhere[place] for place in places], within):
        for rank, hit in enumerate(ranking, 1):
            known.setdefault(hit.chunk.chunk_id, hit)
            scores[hit.chunk.chunk_id] += 1 / (rank_constant + rank)
    wanted = {fold(value) for value in identifiers}
    order = sorted(
        known.values(),
        key=lambda hit: (wanted.isdisjoint(hit.chunk.identifiers), -scores[hit.chunk.chunk_id]),
    )
    result = list(everywhere)
    for place, hit in zip(places, order, strict=False):
        result[place] = replace(hit, score=everywhere[place].score)
    return result


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """The vectors of one chunk, before it is known how long the collection's chunks are on average.

    Attributes:
        embedding: name of the model that gave `dense`, shape (dimensions,).
        language: by which words were counted.
        terms: how often each word occurs.
    """

    embedding: str
    language: str
    dense: Vectors
    terms: SparseVector


NOTHING_READY: Mapping[str, Encoded] = MappingProxyType({})


def encode(chunks: Sequence[Chunk], embedder: Embedder, language: str) -> list[Encoded]:
    """Return the vectors of chunks, in their order, their contexts included."""
    texts = [indexed_text(chunk) for chunk in chunks]
    counter = SparseEncoder(language, 0.0)
    dense = embedder.embed_documents(texts) if texts else ()
    return [
        Encoded(embedder.name, language, vector, counter.query(text))
        for vector, text in zip(dense, texts, strict=True)
    ]


def indexed_text(chunk: Chunk) -> str:
    """Return the chunk's text with its context, or title, in front, unless it begins with it."""
    context = chunk.context.strip() or chunk.title.strip()
    if not context or context.casefold() in chunk.text[: 2 * len(context) + 200].casefold():
        return chunk.text
    return f"{context}\n{chunk.text}"


# Layout of payload, chunking and vectors; raise it when an old index cannot be read any more.
INDEX_VERSION = 1


# Chunks sampled after an ingest, and the factor by which their mean length may have drifted: length
# normalisation of BM25 changes little within it.
SAMPLE = 1_000


DRIFT = 1.25


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
        given = {"embedding": "", "dimensions": 0, "language": "english", "version": 0, **stored}
        return cls(**{name: given[name] for name in cls.__slots__ if name in given})

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


def unlabelled(chunks: Sequence[Chunk], metadata: Mapping[str, Mapping[str, Any]]) -> Sequence[Chunk]:
    """Return the chunks that everyone sees, to fit a collection to; all of them when there is none.

    The length of documents that few may see must not move the ranks of what the others find.
    """
    return [chunk for chunk in chunks if not metadata.get(chunk.doc_id, {}).get("_labels")] or chunks


def encode_chunks(
    chunks: Sequence[Chunk],
    embedder: Embedder,
    record: CollectionRecord,
    ready: Mapping[str, Encoded] = NOTHING_READY,
) -> tuple[Vectors, list[SparseVector]]:
    """Return the dense (n, d) and sparse vectors of chunks for a collection, their contexts included.

    Args:
        ready: chunk id -> its vectors; those of another model or language are not used.
    """
    found = {
        chunk.chunk_id: vectors
        for chunk in chunks
        if (vectors := ready.get(chunk.chunk_id))
        and (vectors.embedding, vectors.language) == (record.embedding, record.language)
    }
    missing = [chunk for chunk in chunks if chunk.chunk_id not in found]
    made = zip(missing, encode(missing, embedder, record.language), strict=True)
    found |= {chunk.chunk_id: vectors for chunk, vectors in made}
    encoder = record.encoder()
    dense = np.stack([found[chunk.chunk_id].dense for chunk in chunks])
    return dense, [encoder.weighted(found[chunk.chunk_id].terms) for chunk in chunks]
