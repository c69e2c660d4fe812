"""Follow one document to another: the names that the first one gives become the next search."""

import re
from collections.abc import Sequence

from citegraph.corpus.index.term_weights import TermWeights, term_weights
from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.evidence.candidates import Candidate, Candidates
from citegraph.evidence.passages import hydrate
from citegraph.language.terms import bare, content_words, stem, stems
from citegraph.run.pieces import CallArguments, Origin, Plan, Reference, ToolCall
from citegraph.run.services import Corpus

COMPLETE = 0.8
"""A document that holds this share of the question's rarity needs no second one."""
GAIN = 0.3
"""Share of the uncovered rarity that a second document must hold."""
MAX_NAMES, MAX_CALLS = 4, 2
QUOTED = re.compile(r"`([^`\n]{2,60})`|\[([\w.-]{2,40})\]\(https?:")
RUN = re.compile(r"\b[A-Z][\w&.’'-]+(?:[ \t]+(?:of[ \t]+)?[A-Z][\w&.’'-]+){1,4}")


async def bridge_calls(
    corpus: Corpus, plan: Plan, question: str, candidates: Candidates, allowed: Sequence[str]
) -> tuple[Origin, list[ToolCall]] | None:
    """Return the first document with its bridging names, and the searches that they lead to; None when not needed."""
    first = candidates.ranked[0]
    weights = candidates.weights.get(first.bucket)
    if weights is None or first.score >= COMPLETE:
        return None
    text = await whole_text(corpus, first)
    left = uncovered(weights, text)
    if not left:
        return None
    names = bridging_names(corpus.buckets[first.bucket], first, text, question)
    if not names:
        return None
    calls: list[ToolCall] = []
    for name in names[:MAX_CALLS]:
        query = f"{name} {' '.join(left)}"
        arguments: CallArguments = {
            "buckets": list(allowed),
            "query": query,
            "mode": "hybrid",
            "filtered": False,
            "only": [],
            "identifiers": [],
        }
        calls.append({"tool": "search", "args": arguments})
    return {"doc": first.doc_id, "bucket": first.bucket, "names": names, "left": left}, calls


async def whole_text(corpus: Corpus, candidate: Candidate) -> str:
    """Return the text of a candidate's chunks with its printed values."""
    chunks = await corpus.index.document_chunks(candidate.bucket, candidate.doc_id)
    values = " ".join(show(value) for value in candidate.values.values())
    return "\n".join([values, *(chunk.text for chunk in chunks)])


def uncovered(weights: TermWeights, text: str) -> list[str]:
    """Return the question's words that a text does not hold and that are rarer than the question's middle one."""
    held = stems(text, weights.language)
    ranked = sorted(weights.counts, key=weights.weight)
    rare = ranked[len(ranked) // 3 :]
    return [word for word in weights.counts if word in rare and stem(word, weights.language) not in held]


def bridging_names(bucket: Bucket, candidate: Candidate, text: str, question: str) -> list[str]:
    """Return names that the document gives and the question does not: its entities' values, quoted words, capitalised runs."""
    asked = set(content_words(question))
    named = [show(candidate.values[name]) for name in bucket.entity_fields if name in candidate.values]
    parts = [part.strip() for value in named for part in value.split(";")]
    quoted = [match[1] or match[2] for match in QUOTED.finditer(text[:6000])]
    runs = [match.group() for match in RUN.finditer(text[:3000])]
    fresh = []
    for name in dict.fromkeys([*quoted, *parts, *runs]):
        words = content_words(name)
        if words and not set(words) <= asked and len(name) <= 60:
            fresh.append(name)
    return fresh[:MAX_NAMES]


async def second_document(
    corpus: Corpus, origin: Origin, evidence: Sequence[Reference], candidates: Candidates
) -> str | None:
    """Return the document that holds most of what the first one lacks, together with one of its names; None without one."""
    chunks = await hydrate(corpus, evidence)
    texts: dict[tuple[str, str], str] = {}
    for reference in evidence:
        chunk = chunks.get(reference["id"])
        if chunk is not None and reference["doc"] != origin["doc"]:
            key = (reference["bucket"], reference["doc"])
            texts[key] = texts.get(key, chunk.title) + "\n" + chunk.text
    best: tuple[float, str] | None = None
    wanted = " ".join(origin["left"])
    for (name, doc_id), text in texts.items():
        plain = bare(text)
        if not any(bare(bridge) in plain for bridge in origin["names"]):
            continue
        weights = await term_weights(corpus.index, name, wanted, corpus.buckets[name].language)
        gain = weights.coverage(text, origin["left"])
        if gain >= GAIN and (best is None or gain > best[0]):
            best = (gain, doc_id)
    return best[1] if best else None
