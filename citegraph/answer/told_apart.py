"""Which documents to answer from: of those that fit equally well the one that states it, or all of one thing; and the one that another leads to."""

import asyncio
import math
import re
from collections.abc import Iterator, Sequence

from citegraph.answer.conflicts import as_candidate, supersedes
from citegraph.answer.found_spans import ABSENT, STATED, WINDOW
from citegraph.answer.one_document import Told, reading_of
from citegraph.corpus.schema.bucket import show
from citegraph.question.named_values import clause_of
from citegraph.run.services import Corpus
from citegraph.run.state_types import AskedBack, Plan


async def documents_that_say(corpus: Corpus, plan: Plan, asked: AskedBack, question: str) -> list[str]:
    """Return the documents to answer from among those that a question back offers, none where the user has to choose.

    One document must rather answer than not. It is taken where the others do not, or where all are about one thing (a
    product's report and its target) and no two have a value for a field that is asked for. Where none of these surely
    answers, all are read: who asks about the thing cannot know which of them says it.
    """
    offered = [doc_id for option in asked["options"] for doc_id in option["effect"].get("only", [])]
    read = [
        (told, _logit(told))
        for doc_id in offered
        if (told := await reading_of(corpus, plan, doc_id, question)) is not None
    ]
    if len(read) < 2:
        return []
    read = await asyncio.to_thread(_in_force, corpus, read)
    if len(read) == 1:
        return [read[0][0].document.doc_id] if read[0][1] >= EVEN else []
    read.sort(key=lambda item: -item[1])
    (best, sure), (_, next_sure) = read[:2]
    of_one_thing = await asyncio.to_thread(_one_thing, corpus, [told for told, _ in read])
    of_one_thing = of_one_thing and sum(bool(told.stated) for told, _ in read) < 2
    if sure >= EVEN and (of_one_thing or next_sure < ABSENT):
        return [best.document.doc_id]
    return [told.document.doc_id for told, _ in read] if of_one_thing else []


EVEN = 1.0
"""Logit from which a passage surely enough answers to be preferred to what another document says."""


def _in_force(corpus: Corpus, read: Sequence[tuple[Told, float]]) -> list[tuple[Told, float]]:
    """Return what documents say without the versions that another one replaces, which may answer as well; blocking."""
    bucket = corpus.buckets[read[0][0].document.bucket]
    values = corpus.annotations.values_of(bucket.name, [told.document.doc_id for told, _ in read])
    known = [as_candidate(told.document, bucket, values.get(told.document.doc_id, {})) for told, _ in read]
    return [
        item
        for item, old in zip(read, known, strict=True)
        if not any(
            supersedes(bucket, new, old) and logit >= STATED
            for new, (_, logit) in zip(known, read, strict=True)
        )
    ]


def _one_thing(corpus: Corpus, read: Sequence[Told]) -> bool:
    """Tell whether documents have one title, and are of the same companies or people; blocking."""
    bucket = corpus.buckets[read[0].document.bucket]
    values = corpus.annotations.values_of(bucket.name, [told.document.doc_id for told in read])
    names = (*bucket.title_fields, *bucket.entity_fields)
    known = [{name: show(held[name]) for name in names if name in held} for held in values.values()]
    titled = not bucket.naming_fields.isdisjoint({*bucket.title_fields} & known[0].keys()) if known else False
    return titled and len(known) == len(read) and all(one == known[0] for one in known)


def _logit(told: Told) -> float:
    """Return how likely a document answers, in logits: a stated field surely does, a silent document does not."""
    if told.silent:
        return -math.inf
    return math.inf if told.stated or told.whole else told.passages[0][1]


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


def _named_by(corpus: Corpus, first: Told) -> list[str]:
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


def _names(first: Told) -> Iterator[str]:
    """Yield the names of the likeliest passages, of a short document those of all of it."""
    text, short = first.document.text, len(first.document.text) <= 2 * WINDOW
    for said in [text] if short else [passage.text for passage, _ in first.passages[:NEAR]]:
        for match in NAMED.finditer(said):
            yield next(filter(None, match.groups()))
