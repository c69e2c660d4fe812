"""The ladder that judges each claim of an answer against the spans it cites, cheap steps first."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from citegraph.citations.assessment import Assessment
from citegraph.citations.cited_pool import Pool, Unit, Window, build_pool, index_stems, page_of, windows
from citegraph.citations.claims import Statement, split_claims
from citegraph.citations.comparisons import (
    COMPARED,
    SWAPPED,
    UNBRIDGED,
    UNSAID,
    Side,
    bind,
    missing,
    spoiled,
    unbridged,
    unnamed,
    values_of,
)
from citegraph.citations.derivations import derive
from citegraph.citations.facts import Fact, hard_facts, names
from citegraph.citations.findings import (
    TOGETHER,
    Finding,
    Query,
    blame,
    clauses_of,
    decide,
    examine,
    joint,
    make_query,
    passage_of,
    praise,
    together_of,
)
from citegraph.citations.matching import View, facts_agree, squeeze, view
from citegraph.citations.quotations import folded_words, labelled, quoted_in, stands_exactly, stitched
from citegraph.citations.repair import MARK
from citegraph.citations.verdicts import Claim, Derivation, Evidence, Report, Verdict
from citegraph.language.claim_tokens import words
from citegraph.language.terms import bare

# Cosine from which two sentences of the embedded models say much the same.
SIMILAR = 0.75


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
        if MARK in statement.text:
            return self._claim(statement, "unsupported", None, "marked as not supported")
        query = make_query(self.pool, statement.text, statement.context)
        cited = list(dict.fromkeys(i for m in statement.markers for i in self.spans_of(m)))
        if not statement.markers and statement.nearby:
            near = list(dict.fromkeys(i for m in statement.nearby for i in self.spans_of(m)))
            shared = replace(statement, markers=statement.nearby)
            verdict, finding, reason = self._try(query, near)
            if verdict == "supported":
                return self._claim(shared, "supported", finding, reason)
        verdict, finding, reason = self._try(query, cited)
        across = self._across(statement, query, cited, finding)
        if across is not None and (verdict != "supported" or across.verdict not in _BACKED):
            return across
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

    def _across(
        self, statement: Statement, query: Query, cited: Sequence[int], finding: Finding | None
    ) -> Claim | None:
        """Judge a claim that rests on two or more documents by all of them, None when that decides nothing.

        Its values must stand beside the names of the documents that state them; without values a name that all of
        them have must hold them together.
        """
        documents = list(dict.fromkeys(self.pool.evidence[i].doc_id for i in cited))
        if len(documents) < 2 or finding is None or query.quotes:
            return None
        sides = {name: self._side(query, self.pool.members[name]) for name in documents}
        bound = bind(query.view, sides)
        apart = unbridged(query.view, sides)
        if bound is not None and bound.outcome == "swapped":
            said = f"the documents say otherwise: {bound.formula}" if bound.formula else SWAPPED
            return self._claim(statement, "contradicted", finding, said)
        together = joint(self.pool, query, cited)
        if together is None:
            return None
        if bound is not None:
            alone = missing(query.view, sides) or unnamed(query.view, sides)
            if (
                alone
                or spoiled(together.assessment.problems)
                or together.assessment.coverage < COMPARED
                or together.assessment.gap >= UNSAID
            ):
                return None
            claim = self._claim(statement, "derived", finding, f"compared: {bound.formula}")
            return replace(claim, formula=bound.formula, backed_by=statement.markers)
        if together.assessment.problems or values_of(query.view):
            return None
        holds = not apart and together.assessment.coverage >= TOGETHER
        text = "\n\n".join(f"[{name}]\n{self._closest(query, name)}" for name in documents)
        said_of = ("supported", praise(together)) if holds else ("unsupported", blame(together))
        verdict, found, reason = self._ask(query, said_of[0], together, said_of[1], text)  # type: ignore[arg-type]
        if verdict != "supported" and not apart:
            return None
        return self._claim(statement, verdict, found, UNBRIDGED if reason == said_of[1] and apart else reason)

    def _side(self, query: Query, spans: Sequence[int]) -> Side:
        """Return what a document's passages on a claim state, and what is known of it."""
        document = self.pool.document(self.pool.evidence[spans[0]].doc_id)
        facts = [
            fact
            for w in windows(self.pool, query.roots, spans, 4)
            for fact in passage_of(self.pool, w).view.facts
        ]
        named = frozenset(
            root
            for i in spans
            for _, value in self.pool.evidence[i].facts
            for name in names(value)
            for root in name.stems
        )
        stated = [*facts, *document.annotations]
        return Side(stated, document.text, document.vocabulary, document.known, named)

    def _closest(self, query: Query, document: str) -> str:
        """Return the evidence text of a document that speaks most of a claim."""
        best = windows(self.pool, query.roots, self.pool.members[document], 1)
        return self.pool.evidence[best[0].evidence if best else self.pool.members[document][0]].text

    def _try(
        self, query: Query, evidence: Sequence[int], least: float = 0.0
    ) -> tuple[Verdict, Finding | None, str]:
        """Go up the ladder for one set of evidence spans: exact, quotes, facts and words, clauses, judge."""
        if not evidence:
            return "unsupported", None, "no evidence is cited"
        window = stands_exactly(self.pool, query.view.text, evidence)
        if window is not None:
            whole = Assessment(1.0, 0, 0, 0, 0, 1.0)
            return "supported", Finding(window, whole), "word for word in the source"
        findings = examine(self.pool, query, evidence, least=least)
        verdict, finding = decide(findings)
        broken = self._broken_quote(query, evidence) if query.quotes else ""
        if verdict == "unsupported" and not broken and (findings or not least):
            together = self._by_clause(query, evidence) or together_of(self.pool, query, evidence, findings)
            if together is not None:
                verdict, finding = "supported", together
        if verdict == "supported" and finding is not None:
            broken = broken or self._stitched(query, evidence)
            if not broken:
                return self._ask(query, verdict, finding, praise(finding))
        if not broken and verdict == "unsupported" and finding is not None and self._alike(query, finding):
            return self._ask(query, "supported", finding, "every value agrees and the meaning is close")
        if broken:
            return "contradicted" if verdict == "contradicted" else "unsupported", finding, broken
        reason = blame(finding) if finding else "nothing in the evidence speaks of this"
        return self._ask(query, verdict, finding, reason)

    def _broken_quote(self, query: Query, evidence: Sequence[int]) -> str:
        """Return why a quotation of the claim is not one of the source, "" when all are."""
        for quote in query.quotes:
            parts = [squeeze(p).strip(" .,;:!?") for p in re.split(r"\s*(?:\[?\.\.\.\]?|\[?…\]?)\s*", quote)]
            parts = [p for p in parts if p]
            if not any(quoted_in(squeeze(self.pool.evidence[e].text), parts) for e in evidence):
                short = quote if len(quote) < 60 else quote[:57] + "..."
                return f'the quotation "{short}" does not stand in the source in one piece'
        return ""

    def _stitched(self, query: Query, evidence: Sequence[int]) -> str:
        """Return why a claim is glued from verbatim halves of two sentences, "" when it is not."""
        quote = max(query.quotes, key=len, default=query.view.text)
        tokens = tuple(bare(w) for w in words(quote))
        if len(tokens) < 8:
            return ""
        for doc_id in dict.fromkeys(self.pool.evidence[e].doc_id for e in evidence):
            rows = [
                folded_words(self.pool.units[m].text)
                for e in evidence
                if self.pool.evidence[e].doc_id == doc_id
                for m in self.pool.by_evidence.get(e, [])
                if self.pool.units[m].start >= 0
            ]
            glued = stitched(tokens, rows)
            if glued and not labelled(query.view.text, doc_id, (self.pool.evidence[e] for e in evidence)):
                return f'glued from two places of the source: "{glued[0]}" and "{glued[1]}"'
        return ""

    def _by_clause(self, query: Query, evidence: Sequence[int]) -> Finding | None:
        """Judge the coordinated clauses of a claim one by one; all must be backed."""
        clauses = clauses_of(query.view.text)
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
        return self.similarity(query.view.text, passage_of(self.pool, finding.window).view.text) >= SIMILAR

    def _ask(
        self, query: Query, verdict: Verdict, finding: Finding | None, reason: str, text: str = ""
    ) -> tuple[Verdict, Finding | None, str]:
        """Let the judge decide what similarity alone decided, by the evidence of the finding or by `text`; hard facts
        are not up for judgement.
        """
        if self.judge is None or finding is None or finding.assessment.problems:
            return verdict, finding, reason
        if finding.assessment.coverage >= 0.9 or finding.assessment.coverage < 0.25:
            return verdict, finding, reason
        said = self.judge(query.view.text, text or self.pool.evidence[finding.window.evidence].text)
        if said is None:
            return verdict, finding, reason
        return said.verdict, finding, said.reason or f"judged {said.verdict}"

    def _passages(self, query: Query, evidence: Sequence[int]) -> list[View]:
        """Return the passages of the cited documents from which a number may be derived."""
        best: dict[str, list[Window]] = {}
        for window in windows(self.pool, query.roots, evidence, 4):
            best.setdefault(self.pool.evidence[window.evidence].doc_id, []).append(window)
        return [passage_of(self.pool, w).view for group in best.values() for w in group[:4]]

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
            page=page_of(span, first.start),
            score=score,
        )

    def _written(self, span: Evidence, annotation: Unit) -> Unit | None:
        """Return the sentence of an evidence span that prints the value of an annotation.

        Of several the one that says it literally, then with its unit, and among those the one that names the field.
        """
        name, _, value = annotation.text.partition(": ")
        wanted, named = hard_facts(value), index_stems(name)
        best: tuple[tuple[int, int], Unit] | None = None
        for m in self.pool.by_evidence.get(annotation.evidence, []):
            unit = self.pool.units[m]
            if unit.start < 0:
                continue
            if squeeze(value) in squeeze(unit.text):
                way = 3
            elif wanted and all(_has(w, unit, unit.text) for w in wanted):
                way = 2
            elif wanted and all(_has(w, unit, span.text) for w in wanted):
                way = 1
            else:
                continue
            rank = (way, len(named & unit.stems))
            if best is None or rank > best[0]:
                best = (rank, unit)
        return best[1] if best else None


def _has(wanted: Fact, unit: Unit, around: str) -> bool:
    return any(facts_agree(wanted, f, around) for f in view(unit.text).facts)


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
    if claim.verdict not in _BACKED or claim.backed_by:
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
