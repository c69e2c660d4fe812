"""Summaries without a model: what a long document and each of its sections is about, in its own words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

import numpy as np

from corpus.chunking import chunk_document
from corpus.types import Chunk, Document
from llm.embeddings import Embedder

if TYPE_CHECKING:
    from corpus.buckets import Bucket

SECTION_TOKENS = 4_000
"""Tokens of a section: some five chunks, which end at headings where there are any."""
_SENTENCES = 6
_HEADINGS = 12
_LENGTH = 1_600
_NAMESPACE = UUID("0f0b7c11-5a0e-5b9c-8a8e-b0d1f0a9c2d7")
_SENTENCE = re.compile(r"[^\n.!?]{30,400}[.!?]|[^\n]{30,200}(?=\n)")
# A short line in capitals or title case without an end mark is a heading in most layouts.
_TITLE_LINE = re.compile(r"^[ \t]*((?:[A-Z0-9ÄÖÜ§#][^\n.!?]{3,70}))$", re.MULTILINE)


def section_summaries(document: Document, bucket: Bucket, embedder: Embedder) -> list[Chunk]:
    """Return one chunk a section; its span is the section's, its text the summary.

    The headings come first, then the sentences nearest to the section's mean vector (the centroid
    method of Radev et al., 2004, on the bucket's own vectors), in their order.
    """
    sections = chunk_document(document, bucket, tokens=SECTION_TOKENS, overlap=0)
    return [_summary(section, embedder) for section in sections]


def _summary(section: Chunk, embedder: Embedder) -> Chunk:
    headings = list(dict.fromkeys(" ".join(line.split()) for line in _TITLE_LINE.findall(section.text)))
    sentences = [" ".join(found.group().split()) for found in _SENTENCE.finditer(section.text)]
    parts = [*headings[:_HEADINGS], *_central(list(dict.fromkeys(sentences)), embedder)]
    text = "\n".join(parts)[:_LENGTH] or section.text[:_LENGTH]
    digest = hashlib.sha256(text.encode()).hexdigest()
    chunk_id = str(uuid5(_NAMESPACE, f"{section.chunk_id}\n{digest}"))
    return replace(section, chunk_id=chunk_id, text=text, content_hash=digest)


def _central(sentences: Sequence[str], embedder: Embedder) -> list[str]:
    if not sentences:
        return []
    vectors = embedder.embed_documents(sentences)
    nearness = vectors @ vectors.mean(axis=0)
    chosen = sorted(np.argsort(-nearness)[:_SENTENCES])
    return [sentences[place] for place in chosen]
