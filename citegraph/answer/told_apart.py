"""Which documents to answer from: of those that fit equally well the one that states it, or all of one thing; and the one that another leads to."""

import asyncio
import math
import re
from collections.abc import Iterator, Sequence

from citegraph.answer.cited_spans import cite_values, line_end
from citegraph.answer.conflicts import as_candidate, supersedes
from citegraph.answer.found_spans import ABSENT, STATED, WINDOW
from citegraph.answer.one_document import Told, reading_of
from citegraph.corpus.index.searcher import TermWeights, term_weights
from citegraph.corpus.linking.name_search import Link
from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.corpus.schema.document import Document
from citegraph.evidence.candidates import Candidate, companies_asked, says_news
from citegraph.language.terms import content_words, stem, stems, words
from citegraph.plan.stored_filters import bucket_filters, hard_only
from citegraph.question.named_values import clause_of
from citegraph.question.negation import own_words
from citegraph.run.services import Corpus
from citegraph.run.state_types import AskedBack, Offsets, Plan, Reading, Through


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
    if len(read) <= FEW and all(told.silent for told, _ in read):
        return [told.document.doc_id for told, _ in read]
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


FEW = 4
"""Documents of which it is said one by one that they do not state what is asked."""


async def surest_of_one_thing(
    corpus: Corpus, plan: Plan, ranked: Sequence[Candidate], question: str
) -> Candidate | None:
    """Return the first of some documents, or another one of the same thing that answers more surely: a product's report
    rather than its target. None where there are none.
    """
    alike = [one for one in ranked if _named_alike(corpus, one, ranked[0])][:FEW]
    if len(alike) < 2:
        return next(iter(ranked), None)
    told = [await reading_of(corpus, plan, one.doc_id, question) for one in alike]
    sure = {one.doc_id: _logit(read) for one, read in zip(alike, told, strict=True) if read}
    return max(alike, key=lambda one: sure.get(one.doc_id, -math.inf))


def _named_alike(corpus: Corpus, one: Candidate, other: Candidate) -> bool:
    """Tell whether two documents of a bucket have the same title, which names one thing."""
    bucket = corpus.buckets[one.bucket]
    names = [name for name in bucket.title_fields if name in bucket.naming_fields]
    said = [tuple(held.value(name) for name in names) for held in (one, other)]
    return one.bucket == other.bucket and said[0] == said[1] and any(said[0])


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
SHARED = 60
"""Documents of one name among which the one that the rest of a question speaks of is looked for."""


async def led_to(corpus: Corpus, plan: Plan, doc_id: str, question: str) -> tuple[str, Through] | None:
    """Return the document that a question asks on about from the one that was found, and what leads there; None without one.

    Either the first document does not state what is asked but names another one that surely does ("the advisory on A says
    to use another crate: which version of that one is fixed?"): the name stands in a passage that comes near to the
    question, or anywhere in a short document, and is the name of few documents. Or a company or person of the first
    document, which is asked for and not said, has other documents, and the head of one of them has words of the question that the
    first one lacks ("what did that same customer pay to the shop in Lyon?").
    """
    first = await reading_of(corpus, plan, doc_id, question)
    if first is None:
        return None
    if not says_news(first.stated, question) and not first.sure:
        for other, place in await asyncio.to_thread(_named_by, corpus, plan, first):
            told = await reading_of(corpus, plan, other, question)
            if told is not None and not told.silent and (told.stated or told.sure):
                return other, {"doc": doc_id, "start": place["start"], "end": place["end"]}
    bucket = corpus.buckets[first.document.bucket]
    if not companies_asked(bucket, plan["per_bucket"].get(bucket.name, {})):
        return None
    weights = await term_weights(corpus.index, bucket.name, question, bucket.language)
    found = await asyncio.to_thread(_of_the_same_name, corpus, plan, first.document, question, weights)
    told = (
        await reading_of(corpus, apart_from(plan, found[1], [found[0]]), found[0], question)
        if found
        else None
    )
    return found if told is not None and not told.silent else None


def apart_from(plan: Plan, through: Through, targets: Sequence[str]) -> Plan:
    """Return the plan for the documents that were led to: the conditions chose the first one, which said what is shared.

    Of several values of that field the others are still asked for.
    """
    shared = through.get("field", "")
    per_bucket: dict[str, Reading] = {
        name: {**part, "asked": [one for one in part.get("asked", []) if one != shared or through["listed"]]}
        for name, part in plan["per_bucket"].items()
    }
    return {**plan, "per_bucket": per_bucket, "only": list(targets)}


def _named_by(corpus: Corpus, plan: Plan, first: Told) -> list[tuple[str, Offsets]]:
    """Return the documents whose own name a document gives in its likeliest passages, or in a field, and where; blocking."""
    bucket = corpus.buckets[first.document.bucket]
    own = corpus.annotations.get(first.document.doc_id, bucket.name) or {}
    fields = [name for name in bucket.title_fields if name in bucket.naming_fields]
    places: dict[str, Offsets] = {}
    for name, place in _names(first):
        places.setdefault(name, place)
    found: dict[str, Offsets] = {}
    for name, place in places.items():
        for link in corpus.linker.link(bucket.name, name, fields=fields):
            held = own.get(link.field, ())
            if link.how not in {"exact", "folded"} or any(value in show(held) for value in link.values):
                continue
            meant = (clause_of(bucket, link), *hard_only(bucket_filters(plan, bucket.name)))
            ids = corpus.annotations.document_ids(bucket.name, meant, limit=MOST + 1)
            for other in ids if len(ids) <= MOST else ():
                if other != first.document.doc_id:
                    found.setdefault(other, place)
    return list(found.items())[:MOST]


def _names(first: Told) -> Iterator[tuple[str, Offsets]]:
    """Yield the names of the likeliest passages, of a short document those of all of it, each with its line."""
    text, short = first.document.text, len(first.document.text) <= 2 * WINDOW
    near = [(passage.start, passage.end) for passage, _ in first.passages[:NEAR]]
    for start, end in [(0, len(text))] if short else near:
        for match in NAMED.finditer(text, start, end):
            name = next(filter(None, match.groups()))
            yield name, {"start": text.rfind("\n", 0, match.start()) + 1, "end": line_end(text, match.end())}


def _of_the_same_name(
    corpus: Corpus, plan: Plan, first: Document, question: str, weights: TermWeights
) -> tuple[str, Through] | None:
    """Return the one document that shares an unsaid company or person with the first and whose head has the most of the
    words of the question that the first one lacks; blocking.
    """
    bucket = corpus.buckets[first.bucket]
    values = corpus.annotations.get(first.doc_id, bucket.name) or {}
    said, known = set(words(question)), stems(f"{first.title} {first.text}", bucket.language)
    asked = companies_asked(bucket, plan["per_bucket"].get(bucket.name, {}))
    declared = [item for item in bucket.fields if item.name in asked]
    general = {stem(word, bucket.language) for item in declared for word in own_words(item, bucket)}
    lacked = [
        word
        for word, count in weights.counts.items()
        if count and stem(word, bucket.language) not in known | general
    ]
    links: list[tuple[str, str, Link]] = []
    for name in asked:
        held = values.get(name, ())
        for value in map(str, held if isinstance(held, tuple) else (held,)):
            if not said & set(content_words(value)):
                links += [
                    (name, value, link) for link in corpus.linker.link(bucket.name, value, fields=[name])[:1]
                ]
    found: dict[str, tuple[float, str, str]] = {}
    for name, value, link in links if lacked else ():
        meant = (clause_of(bucket, link), *hard_only(bucket_filters(plan, bucket.name)))
        ids = corpus.annotations.document_ids(bucket.name, meant, limit=SHARED + 1)
        if len(ids) <= SHARED:
            for other, score in _told_by_heads(corpus, bucket, ids, weights, lacked).items():
                found[other] = max(found.get(other, (0.0, "", "")), (score, name, value))
    found.pop(first.doc_id, None)
    ranked = sorted(found.items(), key=lambda item: -item[1][0])
    if not ranked or ranked[0][1][0] < TELLING or (len(ranked) > 1 and ranked[1][1][0] == ranked[0][1][0]):
        return None
    other, (_, name, value) = ranked[0]
    place = cite_values(corpus, bucket, first, {name: value})
    return other, {**place, "field": name, "value": value, "listed": isinstance(values[name], tuple)}


TELLING = 0.2
"""Share of the words that the first document lacks that the head of another one must have."""


def _told_by_heads(
    corpus: Corpus, bucket: Bucket, ids: Sequence[str], weights: TermWeights, lacked: Sequence[str]
) -> dict[str, float]:
    """Return by document the share of some words that its values and its first lines have; blocking."""
    values = corpus.annotations.values_of(bucket.name, ids)
    return {
        doc_id: weights.coverage(
            " ".join(
                [*map(show, values.get(doc_id, {}).values()), document.title, document.text[: 2 * WINDOW]]
            ),
            lacked,
        )
        for doc_id, document in corpus.documents.all_of(ids).items()
    }
