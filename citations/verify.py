"""The ladder that judges each claim of an answer against the spans it cites, cheap steps first."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Protocol

from citations.assessment import Assessment, Passage, Problem, assess
from citations.claims import Statement, split_claims
from citations.derivations import derive
from citations.facts import Fact, hard_facts, uses_comma_decimals
from citations.matching import View, squeeze, view
from citations.tokens import Span, content_stems, fold, is_content, sentence_spans, stem, word_list, words
from citations.types import Claim, Derivation, Evidence, Report, Verdict

# Share of a claim's weighted content words that one passage must have. A claim glued from two sentences has
# about
# half of its words in either; a paraphrase keeps about two thirds.
ENOUGH = 0.62
# As many content words in a row without a trace in the passage are a part of the claim that nothing backs.
GAP = 4
# Cosine from which two sentences of the embedded models say much the same.
SIMILAR = 0.75
_WINDOW_CHARS = 700


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge model says of one claim: a verdict among supported, unsupported and contradicted."""

    verdict: Verdict
    reason: str = ""


class Judge(Protocol):
    """A model that sees one claim and the evidence text it cites, and nothing else."""

    def __call__(self, claim: str, evidence: str) -> Judgement | None:
        """Return a judgement, None when the model gives none."""


Similarity = Callable[[str, str], float]


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or line of an evidence span; `start` is -1 for an annotation, which is no text of the
    document.
    """

    evidence: int
    text: str
    start: int
    end: int
    stems: frozenset[str]


@dataclass(slots=True)
class Pool:
    """The evidence of one answer, cut into units and indexed by stem."""

    evidence: Sequence[Evidence]
    units: list[Unit] = field(default_factory=list)
    postings: dict[str, list[int]] = field(default_factory=dict)
    members: dict[str, list[int]] = field(default_factory=dict)
    by_evidence: dict[int, list[int]] = field(default_factory=dict)
    _documents: dict[str, "_Document"] = field(default_factory=dict)

    def weight(self, root: str) -> float:
        """Return the inverse document frequency of a stem over the units."""
        n = len(self.units)
        return math.log(1 + (n + 1) / (1 + len(self.postings.get(root, ()))))

    def document(self, doc_id: str) -> "_Document":
        """Return what is known of a whole document from its evidence."""
        if doc_id not in self._documents:
            spans = [self.evidence[i] for i in self.members[doc_id]]
            self._documents[doc_id] = _Document(doc_id, spans)
        return self._documents[doc_id]


class _Document:
    """The evidence of one document taken together; facts are read when first asked for."""

    def __init__(self, doc_id: str, spans: list[Evidence]) -> None:
        self.text = "\n".join(e.text for e in spans)
        self.comma = uses_comma_decimals(self.text)
        annotations = "\n".join(f"{n}: {v}" for e in spans for n, v in e.facts)
        self.annotations = hard_facts(annotations, False) if annotations else ()
        self.annotation_text = annotations
        self.known = frozenset(
            content_stems(re.sub(r"[_\W]+", " ", doc_id)) + content_stems(annotations.replace("_", " "))
        )
        self.vocabulary = frozenset(stem(w) for w in set(words(self.text)) if is_content(w))
        self._spans = spans
        self._facts: tuple[Fact, ...] | None = None

    def facts(self) -> tuple[Fact, ...]:
        """Return the hard facts of the document's evidence and annotations."""
        if self._facts is None:
            read: list[Fact] = list(self.annotations)
            for span in self._spans:
                for a, b in _units_of(span.text):
                    read.extend(hard_facts(span.text[a:b], self.comma))
            self._facts = tuple(read)
        return self._facts


@lru_cache(maxsize=1024)
def _units_of(text: str) -> tuple[Span, ...]:
    return tuple(sentence_spans(text))


@lru_cache(maxsize=8192)
def _index_stems(text: str) -> frozenset[str]:
    """Return the stems by which a unit is found: content words and the digits of its numbers."""
    found: set[str] = set()
    for word in words(text):
        if word[0].isdigit():
            found.add("#" + re.sub(r"\D", "", word))
        elif is_content(word):
            found.add(stem(word))
    return frozenset(found)


def build_pool(evidence: Sequence[Evidence]) -> Pool:
    """Cut evidence into sentences and lines and index them."""
    pool = Pool(evidence)
    for i, span in enumerate(evidence):
        pool.members.setdefault(span.doc_id, []).append(i)
        spans: list[tuple[str, int, int]] = [(span.text[a:b], a, b) for a, b in _units_of(span.text)]
        spans += [(f"{name.replace('_', ' ')}: {value}", -1, -1) for name, value in span.facts]
        for text, a, b in spans:
            unit = Unit(i, text, a, b, _index_stems(text))
            pool.by_evidence.setdefault(i, []).append(len(pool.units))
            for root in unit.stems:
                pool.postings.setdefault(root, []).append(len(pool.units))
            pool.units.append(unit)
    return pool


# ---------------------------------------------------------------- passages


@dataclass(frozen=True, slots=True)
class Window:
    """Adjacent units first..last of one evidence span and their lexical score for a claim."""

    evidence: int
    first: int
    last: int
    score: float


def _windows(pool: Pool, roots: dict[str, float], evidence: Iterable[int], limit: int) -> list[Window]:
    """Return the best windows of the given evidence spans, best first, at most `limit` of each document."""
    order = list(roots)
    masks: dict[int, int] = {}
    for bit, root in enumerate(order):
        for member in pool.postings.get(root, ()):
            masks[member] = masks.get(member, 0) | (1 << bit)
    total = sum(roots.values()) or 1.0
    cache: dict[int, float] = {}

    def covered(mask: int) -> float:
        if mask not in cache:
            cache[mask] = sum(roots[order[b]] for b in range(len(order)) if mask >> b & 1) / total
        return cache[mask]

    by_document: dict[str, list[Window]] = {}
    for e in evidence:
        found = by_document.setdefault(pool.evidence[e].doc_id, [])
        members = pool.by_evidence.get(e, [])
        for i, first in enumerate(members):
            mask = masks.get(first, 0)
            if not mask:
                continue
            found.append(Window(e, first, first, covered(mask) - 0.0))
            if pool.units[first].start < 0:
                continue
            for later in members[i + 1 : i + 6]:
                unit = pool.units[later]
                size = unit.end - pool.units[first].start
                if unit.start < 0 or size > _WINDOW_CHARS or (later - first > 2 and size > 300):
                    break
                extra = masks.get(later, 0)
                if extra & ~mask:
                    mask |= extra
                    found.append(Window(e, first, later, covered(mask) - 0.03 * (later - first)))
    best: list[Window] = []
    for found in by_document.values():
        found.sort(key=lambda w: -w.score)
        best.extend(found[:limit])
    best.sort(key=lambda w: -w.score)
    return best


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one claim against one window, or against several sentences of which the window is the
    best.
    """

    window: Window
    assessment: Assessment
    sentences: tuple[int, ...] = ()

    @property
    def clean(self) -> bool:
        """Tell whether the window backs the claim."""
        return (
            not self.assessment.problems and self.assessment.coverage >= ENOUGH and self.assessment.gap < GAP
        )


def _passage(pool: Pool, window: Window) -> Passage:
    span = pool.evidence[window.evidence]
    document = pool.document(span.doc_id)
    first, last = pool.units[window.first], pool.units[window.last]
    text = first.text if first.start < 0 else span.text[first.start : last.end]
    units = [pool.units[m] for m in range(window.first, window.last + 1)]
    return Passage(
        view(text, document.comma),
        document.text,
        document.facts,
        document.known,
        document.vocabulary,
        document.annotations,
        tuple((u.start - first.start, u.end - first.start) for u in units if first.start >= 0),
    )


# ---------------------------------------------------------------- one claim


@dataclass(frozen=True, slots=True)
class Query:
    """A claim made ready for search: its view, the weights of its stems and the search roots with numbers."""

    view: View
    weights: dict[str, float]
    roots: dict[str, float]
    quotes: tuple[str, ...]


_QUOTATION = re.compile(r"[\"“„«»]([^\"“”„«»]{3,}?)[\"”“»«]")


# Headers of a table that say nothing of what stands below them.
_HEADERS = frozenset(
    stem(w)
    for w in word_list("""
    value item field name detail answer result parameter description information entry
    note document file wert feld angabe ergebnis parameter beschreibung dokument datei valeur champ description""")
)


def make_query(pool: Pool, text: str, context: str = "") -> Query:
    """Prepare a claim for search in a pool."""
    claim = view(text)
    weights = {s: pool.weight(s) for s in claim.stems}
    roots = dict(weights)
    for root in _index_stems(text):
        roots.setdefault(root, pool.weight(root))
    for s in content_stems(context):
        if s not in roots and s not in _HEADERS:
            roots[s] = 0.5 * pool.weight(s)
            weights[s] = 0.5 * pool.weight(s)
    quotes = tuple(q.strip() for q in _QUOTATION.findall(text) if len(q.split()) >= 3)
    return Query(claim, weights, roots, quotes)


def examine(
    pool: Pool, query: Query, evidence: Sequence[int], limit: int = 4, least: float = 0.0
) -> list[Finding]:
    """Hold a claim against the best windows of the given evidence spans, best finding first.

    Args:
        limit: windows of each document that are looked at.
        least: lexical score below which a window is not worth a look.
    """
    findings = [
        Finding(w, assess(query.view, _passage(pool, w), query.weights))
        for w in _windows(pool, query.roots, evidence, limit)
        if w.score >= least
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


# Several sentences have a word more easily than one: together they must have more of the claim.
_TOGETHER = 0.75


def _together(pool: Pool, query: Query, evidence: Sequence[int], findings: list[Finding]) -> Finding | None:
    """Judge a claim by all sentences that speak of it, unless one passage is about the claim and does not
    back it.
    """
    found = joint(pool, query, evidence)
    if found is None or any(f.assessment.problems and f.assessment.coverage >= ENOUGH for f in findings):
        return None
    ok = found.assessment.coverage >= _TOGETHER and found.assessment.gap < GAP
    return found if ok and not found.assessment.problems else None


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
        lambda: tuple(f for d in documents for f in d.facts()),
        frozenset().union(*(d.known for d in documents)),
        frozenset().union(*(d.vocabulary for d in documents)),
        tuple(f for d in documents for f in d.annotations),
        _parts([pool.units[m].text for m in chosen]),
    )
    best = pool.units[chosen[0]]
    window = Window(best.evidence, chosen[0], chosen[0], 0.0)
    return Finding(window, assess(query.view, passage, query.weights), tuple(chosen))


def _parts(texts: list[str]) -> tuple[Span, ...]:
    """Return where each text lies in their join by line breaks."""
    ends = list(accumulate(len(t) + 1 for t in texts))
    return tuple((end - 1 - len(t), end - 1) for end, t in zip(ends, texts, strict=True))


@dataclass(frozen=True, slots=True)
class Support:
    """How far evidence backs one claim, without a decision.

    Attributes:
        score: weighted share of the claim's words in the best passage, less one for each fact that fails.
        problems: what fails in the passage that is closest to the claim.
        sentences: (index of the evidence, start, end) of the sentences that together say most of the claim.
    """

    verdict: Verdict
    score: float
    problems: tuple[Problem, ...]
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
    scores = [f.assessment.coverage - len(f.assessment.problems) for f in findings]
    if together is not None:
        scores.append(together.assessment.coverage - len(together.assessment.problems))
    closest = max(findings, key=_closeness, default=None)
    units = [pool.units[m] for m in supporting_sentences(pool, query, everything)]
    return Support(
        decide(findings)[0],
        max(scores, default=-float(len(query.view.facts))),
        closest.assessment.problems if closest else (),
        tuple((u.evidence, u.start, u.end) for u in units),
    )


def _rank(finding: Finding) -> tuple[float, float]:
    found = finding.assessment
    penalty = 0.25 * sum(1.0 if p.conflict else 0.8 for p in found.problems)
    return (penalty - found.coverage - 0.01 * found.found, finding.window.last - finding.window.first)


def decide(findings: list[Finding]) -> tuple[Verdict, Finding | None]:
    """Return supported, contradicted or unsupported with the finding that decides.

    A passage that agrees counts only when no passage that runs closer along the claim, or has clearly more
    of its
    words, disagrees.
    """
    clean = max((f for f in findings if f.clean), key=_closeness, default=None)
    clash = max((f for f in findings if f.assessment.conflict), key=_closeness, default=None)
    if clean is not None and (clash is None or not _outweighs(clash.assessment, clean.assessment)):
        return "supported", clean
    if clash is not None and clash.assessment.coverage >= 0.5:
        return "contradicted", clash
    return "unsupported", findings[0] if findings else None


def _closeness(finding: Finding) -> tuple[float, float, int]:
    found = finding.assessment
    return found.coverage + found.tight, found.found, finding.window.first - finding.window.last


def _outweighs(clash: Assessment, clean: Assessment) -> bool:
    """Tell whether a passage that disagrees speaks of the claim more closely than one that agrees."""
    if clash.tight >= 0.75 or clean.tight >= 0.75:
        return clash.tight > clean.tight + 0.05
    return clash.coverage > clean.coverage + 0.05


def _exact(pool: Pool, query: Query, evidence: Sequence[int]) -> Window | None:
    """Return the window in which the whole claim stands word for word."""
    needle = squeeze(query.view.text).strip(" .;,:!?\"'*")
    if len(needle) < 12 or len(needle.split()) < 3:
        return None
    for e in evidence:
        text = squeeze(pool.evidence[e].text)
        at = text.find(needle)
        while at >= 0:
            if _ends_clean(text, at, at + len(needle)):
                return _window_of(pool, query, e)
            at = text.find(needle, at + 1)
    return None


def _ends_clean(text: str, start: int, end: int) -> bool:
    """Tell whether a match begins and ends between words and cuts no number from its sign, scale or unit."""
    if text[start - 1 : start].isalnum() or text[end : end + 1].isalnum():
        return False
    if text[end - 1].isdigit() and (re.match(r"\s?[^\W\d_]|[.,]?\d|\s?[%€$£°]|-\w", text[end : end + 3])):
        return False
    return not (
        text[start].isdigit()
        and start
        and (text[start - 1] in "-$€£.,/" or text[start - 2 : start - 1] in "$€£")
    )


def _window_of(pool: Pool, query: Query, evidence: int) -> Window | None:
    """Return the window of an evidence span whose text holds the claim word for word, the shortest."""
    needle = squeeze(query.view.text).strip(" .;,:!?\"'*")
    members = [m for m in pool.by_evidence.get(evidence, []) if pool.units[m].start >= 0]
    text = pool.evidence[evidence].text
    for width in range(min(24, len(members))):
        for i in range(len(members) - width):
            first, last = members[i], members[i + width]
            if needle in squeeze(text[pool.units[first].start : pool.units[last].end]):
                return Window(evidence, first, last, 1.0)
    return None


@dataclass(slots=True)
class _Run:
    """One verification: the pool, the names of the evidence and the optional parts."""

    pool: Pool
    derivations: Sequence[Derivation]
    judge: Judge | None
    similarity: Similarity | None

    def spans_of(self, marker: str) -> list[int]:
        """Return the evidence spans that a marker names: all of a document, or the one with that evidence
        id.
        """
        if marker in self.pool.members:
            return self.pool.members[marker]
        return [i for i, e in enumerate(self.pool.evidence) if e.evidence_id == marker]

    def judge_statement(self, statement: Statement) -> Claim:
        """Return the claim with its verdict."""
        query = make_query(self.pool, statement.text, statement.context)
        cited = list(dict.fromkeys(i for m in statement.markers for i in self.spans_of(m)))
        if not statement.markers and statement.nearby:
            near = list(dict.fromkeys(i for m in statement.nearby for i in self.spans_of(m)))
            shared = replace(statement, markers=statement.nearby)
            verdict, finding, reason = self._try(query, near)
            if verdict == "supported":
                return self._claim(shared, "supported", finding, reason)
        verdict, finding, reason = self._try(query, cited)
        if verdict == "supported":
            return self._claim(statement, "supported", finding, reason)
        clear = verdict == "contradicted" and finding is not None and finding.assessment.tight >= 0.6
        passages = [] if clear else self._passages(query, cited)
        derived = derive(query.view, passages, self.derivations, statement.markers)
        if derived is not None:
            return replace(
                self._claim(statement, "derived", finding, derived.reason), formula=derived.formula
            )
        others = [i for i in range(len(self.pool.evidence)) if i not in set(cited)]
        if others:
            again, better, why = self._try(query, others, least=0.5 if cited else 0.0)
            if again == "supported" and better is not None:
                place = self.pool.evidence[better.window.evidence].doc_id
                lead = (
                    f"not cited, but {place} says it"
                    if not statement.markers
                    else f"{place} says it, not what is cited"
                )
                return self._claim(statement, "misattributed", better, lead)
            if not cited:
                verdict, finding, reason = again, better, why
        unknown = [m for m in statement.markers if not self.spans_of(m)]
        if unknown and not cited:
            reason = f"[{unknown[0]}] names no evidence"
        return self._claim(statement, verdict, finding, reason)

    def _try(
        self, query: Query, evidence: Sequence[int], least: float = 0.0
    ) -> tuple[Verdict, Finding | None, str]:
        """Go up the ladder for one set of evidence spans: exact, quotes, facts and words, clauses, judge."""
        if not evidence:
            return "unsupported", None, "no evidence is cited"
        window = _exact(self.pool, query, evidence)
        if window is not None:
            whole = Assessment(1.0, 0, 0, 0, 0, 1.0)
            return "supported", Finding(window, whole), "word for word in the source"
        findings = examine(self.pool, query, evidence, least=least)
        verdict, finding = decide(findings)
        broken = self._broken_quote(query, evidence) if query.quotes else ""
        if verdict == "unsupported" and not broken and (findings or not least):
            together = self._by_clause(query, evidence) or _together(self.pool, query, evidence, findings)
            if together is not None:
                verdict, finding = "supported", together
        if verdict == "supported" and finding is not None:
            broken = broken or self._stitched(query, evidence)
            if not broken:
                return self._ask(query, verdict, finding, _praise(finding))
        if not broken and verdict == "unsupported" and finding is not None and self._alike(query, finding):
            return self._ask(query, "supported", finding, "every value agrees and the meaning is close")
        if broken:
            return "contradicted" if verdict == "contradicted" else "unsupported", finding, broken
        reason = _blame(finding) if finding else "nothing in the evidence speaks of this"
        return self._ask(query, verdict, finding, reason)

    def _broken_quote(self, query: Query, evidence: Sequence[int]) -> str:
        """Return why a quotation of the claim is not one of the source, "" when all are."""
        for quote in query.quotes:
            parts = [squeeze(p).strip(" .,;:!?") for p in re.split(r"\s*(?:\[?\.\.\.\]?|\[?…\]?)\s*", quote)]
            parts = [p for p in parts if p]
            if not any(_quoted_in(squeeze(self.pool.evidence[e].text), parts) for e in evidence):
                short = quote if len(quote) < 60 else quote[:57] + "..."
                return f'the quotation "{short}" does not stand in the source in one piece'
        return ""

    def _stitched(self, query: Query, evidence: Sequence[int]) -> str:
        """Return why a claim is glued from verbatim halves of two sentences, "" when it is not."""
        quote = max(query.quotes, key=len, default=query.view.text)
        tokens = tuple(fold(w) for w in words(quote))
        if len(tokens) < 8:
            return ""
        for doc_id in dict.fromkeys(self.pool.evidence[e].doc_id for e in evidence):
            rows = [
                _folded_words(self.pool.units[m].text)
                for e in evidence
                if self.pool.evidence[e].doc_id == doc_id
                for m in self.pool.by_evidence.get(e, [])
                if self.pool.units[m].start >= 0
            ]
            glued = stitched(tokens, rows)
            if glued:
                return f'glued from two places of the source: "{glued[0]}" and "{glued[1]}"'
        return ""

    def _by_clause(self, query: Query, evidence: Sequence[int]) -> Finding | None:
        """Judge the coordinated clauses of a claim one by one; all must be backed."""
        clauses = _clauses(query.view.text)
        if len(clauses) < 2:
            return None
        best: Finding | None = None
        for clause in clauses:
            verdict, finding = decide(examine(self.pool, make_query(self.pool, clause), evidence))
            if verdict != "supported" or finding is None:
                return None
            best = best or finding
        return best

    def _alike(self, query: Query, finding: Finding) -> bool:
        """Tell whether the similarity model finds the meaning of a passage close where no hard fact speaks
        against it.
        """
        found = finding.assessment
        if self.similarity is None or found.problems or found.found < found.facts or found.coverage < 0.25:
            return False
        return self.similarity(query.view.text, _passage(self.pool, finding.window).view.text) >= SIMILAR

    def _ask(
        self, query: Query, verdict: Verdict, finding: Finding | None, reason: str
    ) -> tuple[Verdict, Finding | None, str]:
        """Let the judge decide what similarity alone decided; hard facts are not up for judgement."""
        if self.judge is None or finding is None or finding.assessment.problems:
            return verdict, finding, reason
        if finding.assessment.coverage >= 0.9 or finding.assessment.coverage < 0.25:
            return verdict, finding, reason
        said = self.judge(query.view.text, self.pool.evidence[finding.window.evidence].text)
        if said is None:
            return verdict, finding, reason
        return said.verdict, finding, said.reason or f"judged {said.verdict}"

    def _passages(self, query: Query, evidence: Sequence[int]) -> list[View]:
        """Return the passages of the cited documents from which a number may be derived."""
        best: dict[str, list[Window]] = {}
        for window in _windows(self.pool, query.roots, evidence, 4):
            best.setdefault(self.pool.evidence[window.evidence].doc_id, []).append(window)
        return [_passage(self.pool, w).view for group in best.values() for w in group[:4]]

    def _claim(self, statement: Statement, verdict: Verdict, finding: Finding | None, reason: str) -> Claim:
        claim = Claim(statement.text, statement.start, statement.end, statement.markers, verdict, reason)
        if finding is None:
            return claim
        span = self.pool.evidence[finding.window.evidence]
        first = self.pool.units[finding.window.first]
        last = self.pool.units[finding.window.last]
        score = round(finding.assessment.coverage, 4)
        if first.start < 0:
            first = last = self._written(span, first) or first
        if first.start < 0:
            return replace(claim, evidence_id=span.evidence_id, doc_id=span.doc_id, score=score)
        return replace(
            claim,
            evidence_id=span.evidence_id,
            doc_id=span.doc_id,
            quote=span.text[first.start : last.end],
            quote_start=span.start + first.start,
            quote_end=span.start + last.end,
            page=_page(span, first.start),
            score=score,
        )

    def _written(self, span: Evidence, annotation: Unit) -> Unit | None:
        """Return the sentence of an evidence span that prints the value of an annotation."""
        value = annotation.text.partition(": ")[2]
        wanted = hard_facts(value)
        for i, e in enumerate(self.pool.evidence):
            if e.doc_id != span.doc_id:
                continue
            for m in self.pool.by_evidence.get(i, []):
                unit = self.pool.units[m]
                if unit.start < 0 or unit.evidence != annotation.evidence:
                    continue
                if squeeze(value) in squeeze(unit.text):
                    return unit
                if wanted and all(_has(w, unit, span.text) for w in wanted):
                    return unit
        return None


def _has(wanted: Fact, unit: Unit, around: str) -> bool:
    from citations.matching import facts_agree

    return any(facts_agree(wanted, f, around) for f in view(unit.text).facts)


def _quoted_in(text: str, parts: list[str]) -> bool:
    """Tell whether the parts of a quotation follow each other in a text, no further apart than a long
    sentence.
    """
    if not parts:
        return True
    at = text.find(parts[0])
    while at >= 0:
        end = at + len(parts[0])
        for part in parts[1:]:
            nxt = text.find(part, end, end + 400 + len(part))
            if nxt < 0:
                break
            end = nxt + len(part)
        else:
            if not text[at - 1 : at].isalnum() and not text[end : end + 1].isalnum():
                return True
        at = text.find(parts[0], at + 1)
    return False


@lru_cache(maxsize=8192)
def _folded_words(text: str) -> tuple[str, ...]:
    return tuple(fold(w) for w in words(text))


# Four words in a row, function words included, are rarely shared by chance.
_PIECE = 4
# Pieces that stand closer than this in their document are one statement with words left out.
_FAR = 8


def stitched(claim: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> tuple[str, str] | None:
    """Return the two pieces of which a text is glued, None when it is not glued.

    A text is glued when a verbatim run of the document begins it and another ends it, the two make up
    nearly all
    of it, no two such runs stand in one sentence or next to each other, and one of them breaks a sentence.

    Args:
        claim: the folded words of the claim.
        rows: the folded words of each sentence of the document in order.
    """
    text = [w for row in rows for w in row]
    row_of = [i for i, row in enumerate(rows) for _ in row]
    n = len(claim)
    heads = _runs(claim, text, backwards=False)
    tails = _runs(claim, text, backwards=True)
    head, tail = max(heads.values(), default=0), max(tails.values(), default=0)
    if head < _PIECE or tail < _PIECE or head >= n or tail >= n or head + tail < 0.85 * n:
        return None
    broken = False
    for a, long in heads.items():
        for b, short in tails.items():
            if long + short < 0.85 * n:
                continue
            stop, start = a + long, b - short + 1
            gap = start - stop if start >= a else a - b - 1
            if gap < _FAR or row_of[stop - 1] == row_of[start]:
                return None
            ends = stop == len(text) or row_of[stop] != row_of[stop - 1]
            begins = start == 0 or row_of[start - 1] != row_of[start]
            broken = broken or not (ends and begins)
    return (" ".join(claim[:head]), " ".join(claim[n - tail :])) if broken else None


def _runs(claim: tuple[str, ...], text: list[str], *, backwards: bool) -> dict[int, int]:
    """Return where the beginning (or the end, backwards) of a claim runs along a text, with the length of
    the run.
    """
    step, origin = (-1, len(claim) - 1) if backwards else (1, 0)
    found: dict[int, int] = {}
    for at, word in enumerate(text):
        if word != claim[origin]:
            continue
        k = 0
        while (
            k < len(claim)
            and 0 <= at + step * k < len(text)
            and text[at + step * k] == claim[origin + step * k]
        ):
            k += 1
        if k >= _PIECE:
            found[at] = k
    return found


_CLAUSE = re.compile(
    r"\s*;\s+|,?\s+(?:and|while|whereas|but|und|während|aber|et|tandis que|mais)\s+(?=(?:the|its|their"
    r"|it|they|he|she|this|that|each|both|der|die|das|sein|ihre?|le|la|les|il|elle|son|sa)\b|[A-ZÀ-Þ])"
)


def _clauses(text: str) -> list[str]:
    """Return the coordinated clauses of a sentence, each long enough to be a statement of its own."""
    parts = [p.strip() for p in _CLAUSE.split(text) if p.strip()]
    if len(parts) < 2 or any(len(content_stems(p)) + len(hard_facts(p)) < 3 for p in parts):
        return []
    return parts


def _praise(finding: Finding) -> str:
    found = finding.assessment
    facts = found.found + found.elsewhere
    if facts:
        return f"{facts} of {found.facts} values agree, {found.coverage:.0%} of the words"
    return f"{found.coverage:.0%} of the words are in the source"


def _blame(finding: Finding) -> str:
    problems = finding.assessment.problems
    if problems:
        first: Problem = next((p for p in problems if p.conflict), problems[0])
        return first.message
    if finding.assessment.gap >= GAP:
        return "a part of the claim has no source"
    return f"only {finding.assessment.coverage:.0%} of the words are in the source"


def _page(span: Evidence, at: int) -> int | None:
    """Return the number of the page on which an offset of an evidence span lies."""
    page = span.page
    for start, number in span.page_breaks:
        if start <= span.start + at:
            page = number
    return page


# ---------------------------------------------------------------- the answer


def verify(
    answer_text: str,
    evidence: Sequence[Evidence],
    *,
    derivations: Sequence[Derivation] = (),
    judge: Judge | None = None,
    similarity: Similarity | None = None,
) -> Report:
    """Hold every claim of an answer against the spans that it cites.

    Args:
        answer_text: the answer with `[doc_id]` markers.
        evidence: the spans that the answer was written from.
        derivations: numbers that code computed and the answer may state.
        judge: optional model for claims that words alone decide.
        similarity: optional semantic similarity of two texts, 0 to 1.

    Returns:
        All claims in order of the answer with verdicts, spans and reasons; citation precision and recall.
    """
    pool = build_pool(evidence)
    ids = [*pool.members, *(e.evidence_id for e in evidence)]
    run = _Run(pool, derivations, judge, similarity)
    statements = split_claims(answer_text, ids)
    claims = tuple(_with_backing(run, run.judge_statement(s)) for s in statements)
    unknown = tuple(dict.fromkeys(m for s in statements for m in s.markers if not run.spans_of(m)))
    return Report(claims, _precision(claims), _recall(claims), unknown)


_BACKED = ("supported", "derived")


def _recall(claims: Sequence[Claim]) -> float:
    return sum(c.verdict in _BACKED for c in claims) / len(claims) if claims else 1.0


def _precision(claims: Sequence[Claim]) -> float:
    """Return the share of the claim-marker pairs whose document backs the claim or a part of it."""
    pairs = sum(len(c.markers) for c in claims)
    return sum(len(c.backed_by) for c in claims) / pairs if pairs else 1.0


def _with_backing(run: _Run, claim: Claim) -> Claim:
    if claim.verdict not in _BACKED:
        return claim
    return replace(claim, backed_by=tuple(m for m in claim.markers if _backs(run, claim, m)))


def _backs(run: _Run, claim: Claim, marker: str) -> bool:
    if len(claim.markers) == 1 or marker in (claim.doc_id, claim.evidence_id):
        return True
    if any(d.formula == claim.formula and marker in d.doc_ids for d in run.derivations):
        return True
    spans = run.spans_of(marker)
    if not spans:
        return False
    findings = examine(run.pool, make_query(run.pool, claim.text), spans, 2)
    return any(
        not f.assessment.conflict and (f.assessment.found or f.assessment.coverage >= 0.4) for f in findings
    )
