"""Summaries without a model: what a long document and each of its sections is about, in its own words."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

import numpy as np

from citegraph.corpus.ingestion.chunking import chunk_document
from citegraph.corpus.schema.document import Chunk, Document, Level
from citegraph.llm.embeddings import StaticEmbedder

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket

DEFAULT_CHARACTERS = 120_000
"""Length above which a document gets summaries: some 50 pages."""
SECTION_TOKENS = 4_000
"""Tokens of a section: some five chunks, which end at headings where there are any."""
RECIPE = 1
"""Raise it when the same document would get other summaries: it is then indexed again by the next ingest."""
_SENTENCES = 6
_HEADINGS = 12
_LENGTH = 1_600
_NAMESPACE = UUID("0f0b7c11-5a0e-5b9c-8a8e-b0d1f0a9c2d7")
_SENTENCE = re.compile(r"[^\n.!?]{30,400}[.!?]|[^\n]{30,200}(?=\n)")
# A short line in capitals or title case without an end mark is a heading in most layouts.
_TITLE_LINE = re.compile(r"^[ \t]*((?:[A-Z0-9ÄÖÜ§#][^\n.!?]{3,70}))$", re.MULTILINE)


def with_summaries(
    document: Document, chunks: Sequence[Chunk], bucket: Bucket, *, context: str = ""
) -> tuple[list[Chunk], list[Chunk]]:
    """Return the chunks of a long document, marked so, and its summaries: one a section, one of the whole.

    The span of a summary is the section's, its text the summary, its `ordinal` that of the first of the
    `covers` chunks that begin in the section.
    """
    starts = [chunk.start for chunk in chunks]
    # No summary carries identifiers: they are not looked for.
    plain = bucket.model_copy(update={"identifiers": ()})
    sections = chunk_document(document, plain, tokens=SECTION_TOKENS, overlap=0, context=context)
    summaries = []
    for section in sections:
        first, after = bisect_left(starts, section.start), bisect_left(starts, section.end)
        if first < after:
            placed = replace(section, ordinal=first, covers=after - first)
            summaries.append(_summary(placed, section.text, "section"))
    if summaries:
        whole = replace(
            sections[0],
            ordinal=0,
            covers=len(chunks),
            end=chunks[-1].end,
            page_last=chunks[-1].page_last,
            context=context,
        )
        said = "\n".join(summary.text for summary in summaries)
        summaries.append(_summary(whole, said, "document"))
    return [replace(chunk, summarised=True) for chunk in chunks], summaries


def _summary(placed: Chunk, text: str, level: Level) -> Chunk:
    """Return the summary of a text as a point that stands for `placed`.

    The headings come first, then the first sentence and those nearest to the mean vector (the centroid method of
    Radev et al., 2004) in their order. The static vectors are taken whatever model the index has: thousands of
    sentences a second, and no call of an endpoint for each.
    """
    headings = list(dict.fromkeys(" ".join(line.split()) for line in _TITLE_LINE.findall(text)))
    sentences = [" ".join(found.group().split()) for found in _SENTENCE.finditer(text)]
    parts = [*headings[:_HEADINGS], *_central(list(dict.fromkeys(sentences)))]
    said = "\n".join(dict.fromkeys(parts))[:_LENGTH] or text[:_LENGTH]
    summary = replace(
        placed,
        text=said,
        content_hash=hashlib.sha256(said.encode()).hexdigest(),
        identifiers=(),
        heads="",
        level=level,
        summarised=True,
    )
    return replace(summary, chunk_id=summary_id_of(summary))


def summary_id_of(summary: Chunk) -> str:
    """Return the id of a document's summary."""
    span = f"{summary.start}\n{summary.end}"
    return str(uuid5(_NAMESPACE, f"{summary.doc_id}\n{summary.level}\n{span}\n{summary.content_hash}"))


def _central(sentences: Sequence[str]) -> list[str]:
    if not sentences:
        return []
    vectors = StaticEmbedder().embed_documents(sentences)
    nearness = vectors @ vectors.mean(axis=0)
    chosen = {0, *np.argsort(-nearness, kind="stable")[: _SENTENCES - 1].tolist()}
    return [sentences[place] for place in sorted(chosen)]
