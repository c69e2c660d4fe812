"""Which document does the question mean? Rank those that its filters or its words point at."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from citegraph.corpus.index.searcher import TermWeights, term_weights
from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.evidence.passages import hydrate
from citegraph.language.terms import bare, stem, stems, words
from citegraph.plan.stored_filters import bucket_filters
from citegraph.question.answer_form import is_polar
from citegraph.run.services import Corpus, corpus_of
from citegraph.run.state_types import Plan, Reading, Reference

CLOSE_LOOK = 12
"""Filtered sets of up to this many documents are read whole before one of them is chosen."""


MOST_MATCHED = 500
"""Documents that are known to match the filters; where so many do, all count as matching."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that may be meant, with the share of the question's rare words that it holds (0 to 1)."""

    doc_id: str
    bucket: str
    score: float
    title: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    rank: int = 0
    best: float = 0.0
    missing: tuple[str, ...] = ()
    headed: bool = False
    states: int = 0

    def value(self, name: str) -> str:
        """Return the printed value of a field, "" when the document has none."""
        return show(self.values[name]) if name in self.values else ""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates best first, with how many documents the filters match (None: no filter)."""

    ranked: tuple[Candidate, ...]
    matched: int | None
    weights: dict[str, TermWeights]


async def find_candidates(
    corpus: Corpus, plan: Plan, evidence: Sequence[Reference], question: str
) -> Candidates:
    """Rank the documents of the evidence, and of the filtered set when it is small."""
    corpus = corpus_of(corpus, plan)
    weights = {
        name: await term_weights(corpus.index, name, question, corpus.buckets[name].language)
        for name in dict.fromkeys([*plan["buckets"], *(reference["bucket"] for reference in evidence)])
    }
    chunks = await hydrate(corpus, evidence)
    texts: dict[tuple[str, str], list[str]] = {}
    ranks: dict[tuple[str, str], int] = {}
    best: dict[tuple[str, str], float] = {}
    heads: dict[tuple[str, str], str] = {}
    for place, reference in enumerate(evidence):
        chunk = chunks.get(reference["id"])
        if chunk:
            key = (reference["bucket"], reference["doc"])
            texts.setdefault(key, []).append(f"{chunk.context}\n{chunk.text}")
            ranks.setdefault(key, place)
            best[key] = max(best.get(key, 0.0), reference["score"])
            heads[key] = f"{chunk.title}\n{chunk.text[:HEAD] if chunk.start == 0 else heads.get(key, '')}"
    matched = await asyncio.to_thread(matching, corpus, plan)
    for name, doc_ids in (matched or {}).items():
        if len(doc_ids) <= CLOSE_LOOK:
            for doc_id in doc_ids:
                whole = await corpus.index.document_chunks(name, doc_id)
                texts[name, doc_id] = [chunk.text for chunk in whole]
                heads[name, doc_id] = f"{whole[0].title}\n{whole[0].text[:HEAD]}" if whole else ""
    ranked = await asyncio.to_thread(
        rank, corpus, Gathered(texts, ranks, best, heads, matched or {}), weights, plan, question
    )
    total = sum(len(doc_ids) for doc_ids in matched.values()) if matched is not None else None
    return Candidates(tuple(ranked), total, weights)


def matching(corpus: Corpus, plan: Plan) -> dict[str, list[str]] | None:
    """Return the documents that the plan's filters match, per bucket, at most `MOST_MATCHED` each; None without filters."""
    if plan.get("only"):
        return {plan["buckets"][0]: list(plan["only"])}
    filtered = {name: bucket_filters(plan, name) for name in plan["buckets"]}
    if not any(filtered.values()):
        return None
    return {
        name: corpus.annotations.document_ids(name, filters, limit=MOST_MATCHED) if filters else []
        for name, filters in filtered.items()
    }


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was read of each document, by (bucket, document id): texts, search rank, best score, head; what filters match."""

    texts: dict[tuple[str, str], list[str]]
    ranks: dict[tuple[str, str], int]
    best: dict[tuple[str, str], float]
    heads: dict[tuple[str, str], str]
    matched: dict[str, list[str]]

    def is_match(self, bucket: str, doc_id: str) -> bool:
        """Tell whether the filters chose a document, which a second search without them may have found."""
        doc_ids = self.matched.get(bucket, [])
        return doc_id in doc_ids or len(doc_ids) >= MOST_MATCHED


def rank(
    corpus: Corpus, gathered: Gathered, weights: dict[str, TermWeights], plan: Plan, question: str
) -> list[Candidate]:
    """Return the candidates: first those that hold every name, then those headed by a code that the question
    names (others only mention it), those that state what is asked, then by coverage of the question.
    """
    codes = [bare(code) for code in CODE.findall(question)]
    found = []
    texts, ranks, best, heads = gathered.texts, gathered.ranks, gathered.best, gathered.heads
    known = {
        name: corpus.annotations.values_of(name, [doc_id for other, doc_id in texts if other == name])
        for name in dict.fromkeys(name for name, _ in texts)
    }
    for (name, doc_id), parts in texts.items():
        values = known[name].get(doc_id, {})
        bucket: Bucket = corpus.buckets[name]
        described = bucket.document_fields_text(values)
        whole = "\n".join([doc_id, described, *parts])
        score = weights[name].coverage(whole) if name in weights else 0.0
        lead = plan["per_bucket"].get(plan["buckets"][0], {})
        named = plan["per_bucket"].get(name, lead).get("names", [])
        missing = missing_names(whole, named, bucket.language)
        head = bare("\n".join([doc_id, heads.get((name, doc_id), ""), *own_names(bucket, values)]))
        place = ranks.get((name, doc_id), 999)
        found.append(
            Candidate(
                doc_id,
                name,
                round(score, 4),
                bucket.title(values),
                values,
                place,
                best.get((name, doc_id), 0.0),
                missing,
                any(code in head for code in codes),
                stated(plan["per_bucket"].get(name, {}), values) if gathered.is_match(name, doc_id) else 0,
            )
        )
    return sorted(
        found, key=lambda item: (len(item.missing), not item.headed, -item.states, -item.score, item.rank)
    )


def stated(part: Reading, values: dict[str, Any]) -> int:
    """Return 1 when a document has a value for the field asked first, 0 else; only where filters chose the documents."""
    asked = asked_first(part)
    return int(bool(part.get("filters")) and asked in values)


def asked_first(part: Reading) -> str:
    """Return the first field that is asked for and is no condition, "" for none."""
    filtered = {clause.get("field") for clause in part.get("filters", [])}
    return next((name for name in part.get("asked", []) if name not in filtered), "")


def companies_asked(bucket: Bucket, part: Reading) -> list[str]:
    """Return the fields of companies and people that are asked for."""
    fields = (bucket.field(name) for name in part.get("asked", []))
    return [item.name for item in fields if item and item.kind in {"organization", "person"}]


def says_news(stated: Mapping[str, Any], question: str) -> bool:
    """Tell whether a value says more than the question does: the crate that it names is no answer, but to "is it ...?"."""
    said = set() if is_polar(question) else set(words(question))
    return any(not set(words(show(value))) <= said for value in stated.values())


def own_names(bucket: Bucket, values: dict[str, Any]) -> list[str]:
    """Return the printed values that name a document: titles, entities and identifiers, not what it replaces."""
    names = [
        item.name
        for item in bucket.fields
        if (item.name in {*bucket.title_fields, *bucket.entity_fields} or item.kind == "identifier")
        and item.name != bucket.supersedes_field
    ]
    return [show(values[name]) for name in names if name in values]


def missing_names(text: str, names: Sequence[str], language: str) -> tuple[str, ...]:
    """Return the names that a text does not hold; one of letters and digits may be written apart ("LD 271")."""
    held = stems(text, language)
    plain = "".join(words(text))
    initials = "".join(match[0] for match in CAPITALISED.findall(text)).lower()
    return tuple(
        name
        for name in names
        if stem(bare(name), language) not in held
        and not (any(char.isdigit() for char in name) and bare(name) in plain)
        and not (2 <= len(name) <= 5 and name.isalpha() and name in initials)
    )


HEAD = 300
"""Characters of a document in which its own number stands."""
CODE = re.compile(r"(?<![\w-])(?=[\w./-]*\d)(?=[\w./-]*[^\W\d_])\w[\w./-]{3,}\w(?![\w-])")
CAPITALISED = re.compile(r"\b[A-Z][\w.]*")
