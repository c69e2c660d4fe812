"""What of a chunk is indexed, and its vectors: worked out where it is written, or before, where its file is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from citegraph.corpus.index.sparse import SparseEncoder, SparseVector
from citegraph.corpus.schema.document import Chunk
from citegraph.llm.embeddings import Embedder, Vectors

if TYPE_CHECKING:
    pass


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
