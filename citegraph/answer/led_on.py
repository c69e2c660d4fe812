"""The document that another one leads to: what it names where it is asked about, and which says what it does not."""

import asyncio
import re
from collections.abc import Iterator

from citegraph.answer.found_spans import WINDOW
from citegraph.answer.one_document import Reading, reading_of
from citegraph.corpus.schema.bucket import show
from citegraph.question.named_values import clause_of
from citegraph.run.services import Corpus
from citegraph.run.state_types import Plan

NAMED = re.compile(r"`([^`\n]{2,60})`|\[([\w.-]{2,40})\]\(|((?<![\w-])(?=[\w/-]*[^\W\d_])[\w/-]*\d[\w/-]*)")
"""What texts set apart as a name: in backticks, as a link, or a code of letters and digits."""
NEAR = 2
"""Passages of the first document, the likeliest ones, of which one has to hold the name."""
MOST = 3
"""Documents that a name may have."""


async def led_to(corpus: Corpus, plan: Plan, doc_id: str, question: str) -> str | None:
    """Return the document that answers surely where one does not state what is asked but names it; None without one.

    "The advisory on A says to use another crate: which version of that one is fixed?" The name stands in a passage that
    comes near to the question, or anywhere in a short document, and is the name of few documents.
    """
    first = await reading_of(corpus, plan, doc_id, question)
    if first is None or first.stated or first.sure:
        return None
    for other in await asyncio.to_thread(_named_by, corpus, first):
        told = await reading_of(corpus, plan, other, question)
        if told is not None and not told.silent and (told.stated or told.sure):
            return other
    return None


def _named_by(corpus: Corpus, first: Reading) -> list[str]:
    """Return the documents whose own name a document gives in its likeliest passages, or in a field; blocking."""
    bucket = corpus.buckets[first.document.bucket]
    own = corpus.annotations.get(first.document.doc_id, bucket.name) or {}
    fields = [name for name in bucket.title_fields if name in bucket.naming_fields]
    found: dict[str, None] = {}
    for name in dict.fromkeys(_names(first)):
        for link in corpus.linker.link(bucket.name, name, fields=fields):
            held = own.get(link.field, ())
            if link.how not in {"exact", "folded"} or any(value in show(held) for value in link.values):
                continue
            ids = corpus.annotations.document_ids(bucket.name, (clause_of(bucket, link),), limit=MOST + 1)
            if len(ids) <= MOST:
                found |= dict.fromkeys(one for one in ids if one != first.document.doc_id)
    return list(found)[:MOST]


def _names(first: Reading) -> Iterator[str]:
    """Yield the names of the likeliest passages, of a short document those of all of it."""
    text, short = first.document.text, len(first.document.text) <= 2 * WINDOW
    for said in [text] if short else [passage.text for passage, _ in first.passages[:NEAR]]:
        for match in NAMED.finditer(said):
            yield next(filter(None, match.groups()))
