"""What the index is to hold of a document: its chunks and, when it is long, its summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from citegraph.corpus.ingestion.chunking import (
    DEFAULT_OVERLAP,
    DEFAULT_TOKENS,
    chunk_document,
    chunk_id_of,
    context_within,
)
from citegraph.corpus.ingestion.summaries import DEFAULT_CHARACTERS, summary_id_of, with_summaries
from citegraph.corpus.schema.bucket import show
from citegraph.corpus.schema.document import Chunk, Document

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket
    from citegraph.corpus.schema.field import Value

CONTEXT_LENGTH = 300


@dataclass(frozen=True, slots=True)
class PointRecipe:
    """How points are made.

    Attributes:
        tokens, overlap: of a chunk.
        summaries_from: characters above which a document gets summaries; 0 is none.
    """

    tokens: int = DEFAULT_TOKENS
    overlap: int = DEFAULT_OVERLAP
    summaries_from: int = DEFAULT_CHARACTERS

    def is_long(self, document: Document) -> bool:
        """Return whether a document gets summaries."""
        return 0 < self.summaries_from < len(document.text)


@dataclass(frozen=True, slots=True)
class Points:
    """A document's chunks and summaries, made with this context and title."""

    context: str
    title: str
    chunks: Sequence[Chunk]
    summaries: Sequence[Chunk] = ()

    @property
    def all(self) -> list[Chunk]:
        """Return them in the order in which they are written."""
        return [*self.chunks, *self.summaries]


def points_of(
    bucket: Bucket,
    document: Document,
    context: str,
    recipe: PointRecipe,
    *,
    spans: Sequence[tuple[int, int]] | None = None,
) -> Points:
    """Return a document's points; `spans` are those of its chunks where they are cut already."""
    chunks = chunk_document(
        document, bucket, tokens=recipe.tokens, overlap=recipe.overlap, context=context, spans=spans
    )
    return _with_summaries(bucket, document, context, recipe, chunks)


def _with_summaries(
    bucket: Bucket, document: Document, context: str, recipe: PointRecipe, chunks: list[Chunk]
) -> Points:
    if not recipe.is_long(document):
        return Points(context, document.title, chunks)
    return Points(context, document.title, *with_summaries(document, chunks, bucket, context=context))


def to_send(points: Points) -> Points:
    """Return points without the texts of chunks, which are sent with the document already."""
    return replace(points, chunks=[replace(chunk, text="") for chunk in points.chunks])


def placed(points: Points, bucket: Bucket, document: Document, context: str, recipe: PointRecipe) -> Points:
    """Return the points that `to_send` gave, made of a document without a name, as those of this document.

    Args:
        context: of the document as it is known now; where it is another one, the spans of the chunks stay.
    """
    chunks = [
        replace(
            chunk,
            chunk_id=chunk_id_of(document.doc_id, chunk.start, chunk.end, chunk.content_hash),
            doc_id=document.doc_id,
            source_file=document.source_file,
            text=document.text[chunk.start : chunk.end],
            title=document.title,
            context=context_within(context, document.title, chunk.heads),
        )
        for chunk in points.chunks
    ]
    if (points.context, points.title) != (context, document.title):
        return _with_summaries(bucket, document, context, recipe, chunks)
    named = [
        replace(summary, doc_id=document.doc_id, source_file=document.source_file)
        for summary in points.summaries
    ]
    return Points(
        context,
        document.title,
        chunks,
        [replace(summary, chunk_id=summary_id_of(summary)) for summary in named],
    )


def context_of(bucket: Bucket, document: Document, values: Mapping[str, Value]) -> str:
    """Return the title and the names that a document is asked for by, for its chunks to be found with.

    A clause deep in a contract names neither its parties nor its title; with this line in front the
    first hit of a question for one document was the right one 5 to 10 times more in a hundred.
    """
    names = [document.title]
    for name in (*bucket.title_fields, *bucket.entity_fields):
        if name in values:
            names.append(show(values[name]))
    return " | ".join(dict.fromkeys(part for part in names if part))[:CONTEXT_LENGTH]
