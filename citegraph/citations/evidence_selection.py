"""A claim held against windows of the evidence: which one decides, and what it says."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from citegraph.citations.cited_pool import Pool, Window, build_pool, index_stems, windows
from citegraph.citations.claim_checks import Assessment, Passage, assess, unknown_names
from citegraph.citations.fact_matching import View, view
from citegraph.citations.report_types import Evidence
from citegraph.language.claim_tokens import Span, content_stems, stem
from citegraph.language.word_tables import listed

# Share of a claim's weighted content words that one passage must have. A claim glued from two sentences has
# about half of its words in either; a paraphrase keeps about two thirds.
ENOUGH = 0.62


@dataclass(frozen=True, slots=True)
class Query:
    """A claim made ready for search: its view, the weights of its stems and the search roots with numbers.

    Attributes:
        told: the claim as somebody reads it who does not see the answer: a row with its heads, an item with its list's lead-in.
    """

    view: View
    weights: dict[str, float]
    roots: dict[str, float]
    quotes: tuple[str, ...]
    told: str = ""


_QUOTATION = re.compile(r"[\"“„«»]([^\"“”„«»]{3,}?)[\"”“»«]")


# Headers of a table that say nothing of what stands below them.
_HEADERS = frozenset(map(stem, listed("statements", "empty_heads")))


def make_query(pool: Pool, text: str, context: str = "") -> Query:
    """Prepare a claim for search in a pool."""
    claim = view(text)
    weights = {s: pool.weight(s) for s in claim.stems}
    roots = dict(weights)
    for root in index_stems(text):
        roots.setdefault(root, pool.weight(root))
    for s in content_stems(context):
        if s not in roots and s not in _HEADERS:
            roots[s] = 0.5 * pool.weight(s)
            weights[s] = 0.5 * pool.weight(s)
    quotes = tuple(q.strip() for q in _QUOTATION.findall(text) if len(q.split()) >= 3)
    return Query(claim, weights, roots, quotes)


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one claim against one window, or against several sentences of which the window is the
    best.
    """

    window: Window
    assessment: Assessment

    @property
    def clean(self) -> bool:
        """Tell whether the window backs the claim."""
        return self.assessment.coverage >= ENOUGH and not self.assessment.conflict


def passage_of(pool: Pool, window: Window) -> Passage:
    """Return what a claim is held against: a window's text with what is known of its document."""
    span = pool.evidence[window.evidence]
    document = pool.document(span.doc_id)
    first, last = pool.units[window.first], pool.units[window.last]
    text = first.text if first.start < 0 else span.text[first.start : last.end]
    units = [pool.units[m] for m in range(window.first, window.last + 1)]
    return Passage(
        view(text, document.comma),
        document.text,
        document.known,
        document.annotations,
        tuple((u.start - first.start, u.end - first.start) for u in units if first.start >= 0),
    )


def examine(pool: Pool, query: Query, evidence: Sequence[int], limit: int = 3) -> list[Finding]:
    """Hold a claim against the best windows of the given evidence spans, best finding first.

    Args:
        limit: windows of each document that are looked at.
    """
    findings = [
        Finding(w, assess(query.view, passage_of(pool, w), query.weights))
        for w in windows(pool, query.roots, evidence, limit)
    ]
    return sorted(findings, key=_rank)


# A sentence joins the others when it says at least a tenth of the claim that they do not say.
_SHARE = 0.1
_SENTENCES = 6


def supporting_sentences(pool: Pool, query: Query, evidence: Sequence[int]) -> list[int]:
    """Return the units that together have most of a claim's weighted words and numbers, the best first."""
    total = sum(query.roots.values()) or 1.0
    members = [m for e in evidence for m in pool.by_evidence.get(e, [])]
    has = {m: [r for r in query.roots if r in pool.units[m].stems] for m in members}
    left = dict(query.roots)
    chosen: list[int] = []
    while len(chosen) < _SENTENCES and has:
        # what others have said already still speaks a little for a sentence that says all of it again
        best = max(has, key=lambda m: sum(left.get(r, 0.0) + 0.15 * query.roots[r] for r in has[m]))
        gain = sum(left.get(r, 0.0) for r in has[best]) / total
        if not gain or (chosen and gain < _SHARE):
            break
        chosen.append(best)
        for root in has.pop(best):
            left.pop(root, None)
    return chosen


def joint(pool: Pool, query: Query, evidence: Sequence[int]) -> Finding | None:
    """Hold a claim against the sentences that together say most of it, None when fewer than two do."""
    chosen = supporting_sentences(pool, query, evidence)
    if len(chosen) < 2:
        return None
    documents = [
        pool.document(d) for d in dict.fromkeys(pool.evidence[pool.units[m].evidence].doc_id for m in chosen)
    ]
    text = "\n".join(pool.units[m].text for m in chosen)
    passage = Passage(
        view(text, documents[0].comma),
        "\n".join(d.text for d in documents),
        frozenset().union(*(d.known for d in documents)),
        tuple(f for d in documents for f in d.annotations),
        _parts([pool.units[m].text for m in chosen]),
    )
    best = pool.units[chosen[0]]
    window = Window(best.evidence, chosen[0], chosen[0], 0.0)
    return Finding(window, assess(query.view, passage, query.weights))


def _parts(texts: list[str]) -> tuple[Span, ...]:
    """Return where each text lies in their join by line breaks."""
    ends = list(accumulate(len(t) + 1 for t in texts))
    return tuple((end - 1 - len(t), end - 1) for end, t in zip(ends, texts, strict=True))


def _rank(finding: Finding) -> tuple[float, float]:
    found = finding.assessment
    penalty = 0.25 * sum(1.0 if p.conflict else 0.8 for p in found.problems)
    return (penalty - found.coverage - 0.01 * found.found, finding.window.last - finding.window.first)


def closeness(finding: Finding) -> tuple[float, float, int]:
    """Return the order of findings by how closely they speak of the claim; the shorter window wins a tie."""
    found = finding.assessment
    return found.coverage + found.tight, found.found, finding.window.first - finding.window.last


@dataclass(frozen=True, slots=True)
class Support:
    """How far evidence backs one claim, without a decision.

    Attributes:
        score: weighted share of the claim's words in the best passage, less one for each fact that fails.
        problems: how much fails in the passage that is closest to the claim, names that no passage has included.
        sentences: (index of the evidence, start, end) of the sentences that together say most of the claim.
    """

    score: float
    problems: int
    sentences: tuple[tuple[int, int, int], ...]


def support(claim: str, evidence: Sequence[Evidence]) -> Support:
    """Return how far evidence backs one claim: the ladder's values for those who decide by a threshold of
    their own.
    """
    pool = build_pool(evidence)
    query = make_query(pool, claim)
    everything = range(len(evidence))
    findings = examine(pool, query, everything, 6)
    together = joint(pool, query, everything)
    documents = [pool.document(name) for name in pool.members]
    known = frozenset[str]().union(*(d.vocabulary | d.known for d in documents))
    strange = sum(1 for _ in unknown_names(query.view, known))
    scores = [f.assessment.coverage - len(f.assessment.problems) for f in findings]
    if together is not None:
        scores.append(together.assessment.coverage - len(together.assessment.problems))
    closest = max(findings, key=closeness, default=None)
    units = [pool.units[m] for m in supporting_sentences(pool, query, everything)]
    return Support(
        max(scores, default=-float(len(query.view.facts))) - strange,
        strange + (len(closest.assessment.problems) if closest else 0),
        tuple((u.evidence, u.start, u.end) for u in units),
    )
