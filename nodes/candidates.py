"""Which document does the question mean? Rank those that its filters or its words point at."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from corpus.buckets import Bucket, show
from corpus.terms import TermWeights, bare, stem, stems, term_weights, words
from graph.state import Json
from nodes.prune import hydrate
from nodes.search import bucket_filters
from tools.services import Corpus

CLOSE_LOOK = 12
"""Filtered sets of up to this many documents are read whole before one of them is chosen."""


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

    def value(self, name: str) -> str:
        """Return the printed value of a field, "" when the document has none."""
        return show(self.values[name]) if name in self.values else ""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates best first, with how many documents the filters match (None: no filter)."""

    ranked: tuple[Candidate, ...]
    matched: int | None
    weights: dict[str, TermWeights]


async def find_candidates(corpus: Corpus, plan: Json, evidence: Sequence[Json], question: str) -> Candidates:
    """Rank the documents of the evidence, and of the filtered set when it is small."""
    weights = {
        name: await term_weights(corpus.index, name, question, corpus.buckets[name].language)
        for name in plan["buckets"]
    }
    chunks = await hydrate(corpus, evidence)
    texts: dict[tuple[str, str], list[str]] = {}
    ranks: dict[tuple[str, str], int] = {}
    best: dict[tuple[str, str], float] = {}
    for place, reference in enumerate(evidence):
        chunk = chunks.get(reference["id"])
        if chunk:
            key = (reference["bucket"], reference["doc"])
            texts.setdefault(key, []).append(f"{chunk.title}\n{chunk.text}")
            ranks.setdefault(key, place)
            best[key] = max(best.get(key, 0.0), reference["score"])
    matched = await asyncio.to_thread(matching, corpus, plan)
    for name, doc_ids in (matched or {}).items():
        if len(doc_ids) <= CLOSE_LOOK:
            for doc_id in doc_ids:
                whole = await corpus.index.document_chunks(name, doc_id)
                texts[name, doc_id] = [chunk.text for chunk in whole]
    names = {name: plan["per_bucket"].get(name, {}).get("names", []) for name in plan["buckets"]}
    ranked = await asyncio.to_thread(rank, corpus, texts, ranks, best, weights, names)
    total = sum(len(doc_ids) for doc_ids in matched.values()) if matched is not None else None
    return Candidates(tuple(ranked), total, weights)


def matching(corpus: Corpus, plan: Json) -> dict[str, list[str]] | None:
    """Return the documents that the plan's filters match, per bucket, at most 500 each; None without filters."""
    if plan.get("only"):
        return {plan["buckets"][0]: list(plan["only"])}
    filtered = {name: bucket_filters(plan, name) for name in plan["buckets"]}
    if not any(filtered.values()):
        return None
    return {
        name: corpus.annotations.document_ids(name, filters, limit=500) if filters else []
        for name, filters in filtered.items()
    }


def rank(
    corpus: Corpus,
    texts: dict[tuple[str, str], list[str]],
    ranks: dict[tuple[str, str], int],
    best: dict[tuple[str, str], float],
    weights: dict[str, TermWeights],
    names: dict[str, list[str]],
) -> list[Candidate]:
    """Return the candidates: those that hold every name first, then by coverage of the question by text and values."""
    found = []
    for (name, doc_id), parts in texts.items():
        values = corpus.annotations.get(doc_id, name) or {}
        bucket: Bucket = corpus.buckets[name]
        described = bucket.document_fields_text(values)
        whole = "\n".join([doc_id, described, *parts])
        score = weights[name].coverage(whole) if name in weights else 0.0
        missing = missing_names(whole, names.get(name, []), bucket.language)
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
            )
        )
    return sorted(found, key=lambda item: (len(item.missing), -item.score, item.rank))


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


CAPITALISED = re.compile(r"\b[A-Z][\w.]*")
