"""The ladder that judges each claim of an answer against the spans it cites, cheap steps first."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from citegraph.citations.cited_pool import (
    Pool,
    Unit,
    Window,
    build_pool,
    index_stems,
    page_of,
    said_of_another,
    says_only_values,
    windows,
)
from citegraph.citations.claim_checks import NEAR_VERBATIM, Assessment, assess, initials_of, unknown_names
from citegraph.citations.claims import Statement, is_claim, says_not_found, split_statements
from citegraph.citations.cross_document import (
    COMPARED,
    SWAPPED,
    UNBRIDGED,
    Side,
    bind,
    missing,
    spoiled,
    unbridged,
    unnamed,
    values_of,
)
from citegraph.citations.evidence_selection import (
    Finding,
    Query,
    closeness,
    examine,
    joint,
    make_query,
    passage_of,
)
from citegraph.citations.fact_lookup import (
    Looked,
    Stated,
    is_article,
    look_up,
    show,
    shown_as_computed,
    stated_in,
)
from citegraph.citations.fact_matching import View, facts_agree, family, squeeze, view
from citegraph.citations.facts import Fact, hard_facts, names
from citegraph.citations.figures.cell_labels import (
    Place,
    misplaced,
    places_of,
    said_in_row,
    said_of,
    well_placed,
)
from citegraph.citations.figures.counted import other_period, other_turn, other_way
from citegraph.citations.figures.derivations import count_of, from_code, recompute
from citegraph.citations.figures.keys import keyed_values, line_of, measured, of_another_key, parts
from citegraph.citations.figures.label_pairs import (
    entries_of,
    exchanged,
    named_cells,
    of_another_label,
    stated_otherwise,
)
from citegraph.citations.figures.tables import in_table
from citegraph.citations.quotations import folded_words, labelled, quoted_in, stands_exactly, stitched
from citegraph.citations.repair import MARK
from citegraph.citations.report_types import Absence, Claim, Derivation, Evidence, Report, Verdict
from citegraph.citations.report_types import Place as Part
from citegraph.citations.word_differences import compare
from citegraph.language.claim_cues import cues, says_silent
from citegraph.language.claim_tokens import content_stem, content_stems, words
from citegraph.language.terms import bare, language_of

FLOOR = 0.2
"""Share of a claim's weighted words below which its spans do not speak of it."""
OWN = 5
"""Content words beside those of the question, of which a source that speaks of the claim has one."""
ALIKE = 5
"""Letters with which two words begin that are one word in two forms: "renews", "renewal"."""
SHOWN = 6_000
"""Characters of the cited spans that a judge sees, the ones that speak most of the claim; twice as many of those that were
pointed at, and the first of them in any case."""
NEAR = 300
"""Characters around what speaks most of a claim, and around its values, which a judge sees beside what the writer saw."""
LEFT_OUT = "…"
"""The line that stands for what of a document a judge does not see."""
SAME = 0.8
"""How far a claim runs along a sentence that it adds nothing to."""
REPEATED = 0.6
"""How far a claim runs along its source to be a repetition, which computes nothing."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge model says of one claim: a verdict among supported, unsupported and contradicted."""

    verdict: Verdict
    reason: str = ""


class Judge(Protocol):
    """A model that sees one claim and the evidence text it cites, and nothing else."""

    def __call__(self, claim: str, evidence: str) -> Judgement | None:
        """Return a judgement, None when the model gives none."""


@dataclass(frozen=True, slots=True)
class _Held:
    """What comes of holding a claim against some spans."""

    verdict: Verdict
    finding: Finding | None
    reason: str
    formula: str = ""


_SHORTENED = re.compile(r"(?<![\w.-])[A-ZÄÖÜ]{4,}(?!\w)")
"""A name in capitals: told from a noun in German too, where it may be the first part of a compound ("EBITDA-Marge")."""
_TABLES = 10_000
"""More tables or sentences than a span has."""
_OPPOSITE = {">=": "<=", "<=": ">="}
_BACKED = ("supported", "derived")


@dataclass(slots=True)
class _Run:
    """One verification: the pool, the optional parts, and what the question and the rest of the answer say.

    Attributes:
        asked: facts of the question.
        said: facts of the answer's claims that stood so far, each claim's with the documents that it cites.
        language: of the whole answer, where a claim is too short to tell its own.
        stated: what sets of spans state, read once; `places` where each span has its values.
        values_stand: the claim at hand stood before a judge ruled on it.
        pointed: the spans that hold the passages which the writer gave for a claim, by the claim's text.
        parts: the parts of documents which these passages show, by the claim's text.
    """

    pool: Pool
    derivations: Sequence[Derivation]
    judge: Judge | None
    asked: tuple[Fact, ...] = ()
    said: tuple[tuple[frozenset[str], tuple[Fact, ...]], ...] = ()
    asked_stems: frozenset[str] = frozenset()
    language: str | None = None
    stated: dict[tuple[int, ...], Stated] = field(default_factory=dict)
    values_stand: bool = False
    places: dict[int, list[Place]] = field(default_factory=dict)
    pointed: Mapping[str, frozenset[int]] = field(default_factory=dict)
    parts: Mapping[str, Sequence[Part]] = field(default_factory=dict)

    def spans_of(self, marker: str) -> list[int]:
        """Return the evidence spans that a marker names: all of a document, or the one with that evidence
        id.
        """
        if marker in self.pool.members:
            return self.pool.members[marker]
        return [i for i, e in enumerate(self.pool.evidence) if e.evidence_id == marker]

    def judge_next(self, statement: Statement) -> Claim:
        """Return the claim with its verdict; what it says may go into what later claims compute.

        So may the values of a claim that a judge refuses: they stand in its source, though not as it says.
        """
        self.values_stand = False
        claim = self.judge_statement(statement)
        if claim.verdict in _BACKED or self.values_stand:
            documents = self._documents(i for m in claim.markers for i in self.spans_of(m))
            self.said = (*self.said, (documents, hard_facts(statement.text)))
        return claim

    def contradicted(self, statement: Statement, stated: Part) -> Claim | None:
        """Return the claim that nothing states what a document does state, None when the judge finds that it does not."""
        doc_id, start, end = stated
        span = next((e for e in self.pool.evidence if _touches(e, stated)), None)
        if span is None:
            return None
        said = self.judge(statement.text, span.text) if self.judge else None
        if said is not None and said.verdict == "supported":
            return None
        begin, stop = max(0, start - span.start), end - span.start
        return Claim(
            statement.text,
            statement.start,
            statement.end,
            statement.markers,
            "contradicted",
            said.reason if said and said.reason else "a document may state it",
            evidence_id=span.evidence_id,
            doc_id=doc_id,
            quote=span.text[begin:stop],
            quote_start=span.start + begin,
            quote_end=span.start + min(stop, len(span.text)),
            page=page_of(span, begin),
            absence=True,
        )

    def judge_statement(self, statement: Statement) -> Claim:
        """Return the claim with its verdict."""
        if MARK in statement.text:
            return self._claim(statement, "unsupported", None, "marked as not supported")
        query = replace(make_query(self.pool, statement.text, statement.context), told=_told(statement))
        cited = list(dict.fromkeys(i for m in statement.markers for i in self.spans_of(m)))
        if not statement.markers and statement.nearby:
            near = list(dict.fromkeys(i for m in statement.nearby for i in self.spans_of(m)))
            shared = replace(statement, markers=statement.nearby)
            held = self._try(shared, query, near)
            if held.verdict in _BACKED and not self._said_elsewhere(query, held, near):
                return self._claim(shared, held.verdict, held.finding, held.reason, held.formula)
        held = self._try(statement, query, cited)
        across = self._across(statement, query, cited, held.finding)
        if across is not None and (held.verdict not in _BACKED or across.verdict not in _BACKED):
            return across
        if held.verdict in _BACKED and not self._said_elsewhere(query, held, cited):
            return self._claim(statement, held.verdict, held.finding, held.reason, held.formula)
        for spans in self._others(cited):
            again = self._try(statement, query, spans, least=0.5)
            if again.verdict == "supported" and again.finding is not None and self._says(again.finding):
                place = self.pool.evidence[again.finding.window.evidence].doc_id
                said = (
                    "not cited, but {} says it" if not statement.markers else "{} says it, not what is cited"
                )
                return self._claim(statement, "misattributed", again.finding, said.format(place))
            if not cited:
                held = again if held.finding is None else held
        unknown = [m for m in statement.markers if not self.spans_of(m)]
        if unknown and not cited:
            held = replace(held, reason=f"[{unknown[0]}] names no evidence")
        return self._claim(statement, held.verdict, held.finding, held.reason)

    def knows(self, statement: Statement) -> bool:
        """Tell whether the evidence or the question has each number, date and identifier of a statement."""
        stated = self.stated_in(range(len(self.pool.evidence)))
        return all(
            any(facts_agree(fact, other, stated.around) for other in (*self.asked, *stated.besides))
            or any(facts_agree(fact, o.fact, stated.around) for o in stated.operands)
            for fact in hard_facts(statement.text)
        )

    def _says(self, finding: Finding) -> bool:
        """Tell whether a passage that is not cited says a claim, in its own words and not in those of the question."""
        exact = finding.assessment.coverage == finding.assessment.tight == 1.0
        return exact or finding.clean

    def _said_elsewhere(self, query: Query, held: "_Held", cited: Sequence[int]) -> bool:
        """Tell whether a claim that is not word for word in its spans stands so in another document."""
        exact = held.finding is not None and held.finding.assessment.tight == 1.0
        return not exact and any(
            stands_exactly(self.pool, query.view.text, spans) for spans in self._others(cited)
        )

    def _documents(self, evidence: Iterable[int]) -> frozenset[str]:
        return frozenset(self.pool.evidence[e].doc_id for e in evidence)

    def _others(self, cited: Sequence[int]) -> list[list[int]]:
        """Return the spans of each document that are not cited."""
        rest = [[i for i in spans if i not in set(cited)] for spans in self.pool.members.values()]
        return [spans for spans in rest if spans]

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
        if bound is not None and bound.outcome == "swapped":
            said = f"the documents say otherwise: {bound.formula}" if bound.formula else SWAPPED
            held = self._ask(query, _Held("contradicted", finding, said), cited)
            return self._claim(statement, held.verdict, held.finding, held.reason)
        if bound is not None:
            together = joint(self.pool, query, cited)
            if (
                missing(query.view, sides)
                or unnamed(query.view, sides)
                or together is None
                or spoiled(together.assessment.problems)
                or together.assessment.coverage < COMPARED
            ):
                return None
            compared = _Held("derived", finding, f"compared: {bound.formula}", bound.formula)
            held = self._ask(query, compared, cited)
            claim = self._claim(statement, held.verdict, finding, held.reason, held.formula)
            return replace(claim, backed_by=statement.markers) if held.verdict in _BACKED else claim
        if values_of(query.view) or not unbridged(query.view, sides):
            return None
        held = self._ask(query, _Held("unsupported", finding, UNBRIDGED), cited)
        return self._claim(statement, held.verdict, held.finding, held.reason)

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

    def _parts_shown(
        self, query: Query, ranked: Sequence[int], best: Window | None
    ) -> tuple[list[Part], list[Part]]:
        """Return the parts of documents that a writer pointed at for a claim, and what speaks most of it with the first place of
        each value, in those parts if it stands there: the names in a claim stand in many passages, what it says in one. [] where
        none was pointed at.
        """
        parts = list(self.parts.get(query.view.text, ()))
        beside = [self._place(best.first, best.last)] if best and parts else []
        for fact in query.view.facts if parts else ():
            stating = [
                self._place(m, m)
                for e in ranked
                for m in self.pool.by_evidence.get(e, [])
                if self.pool.units[m].start >= 0
                and _has(fact, self.pool.units[m], self.pool.evidence[e].text)
            ]
            seen = [
                place
                for place in stating
                if any(place[0] == doc and place[1] < b and a < place[2] for doc, a, b in parts)
            ]
            beside += (seen or stating)[:1]
        return parts, beside

    def _place(self, first: int, last: int) -> Part:
        """Return where some units of one span stand in its document; all of the span for what is known of it."""
        begins, ends = self.pool.units[first], self.pool.units[last]
        span = self.pool.evidence[begins.evidence]
        if begins.start < 0:
            return span.doc_id, span.start, span.start + len(span.text)
        return span.doc_id, span.start + begins.start, span.start + ends.end

    def _shown(self, query: Query, cited: Sequence[int]) -> str:
        """Return the cited spans as a judge sees them, in order, below the id of each document where it may be unclear; of
        those that the writer pointed at what he saw and what is near it.
        """
        found = windows(self.pool, query.roots, list(cited), len(cited))
        ranked = list(dict.fromkeys([*(w.evidence for w in found), *cited]))
        pointed = self.pointed.get(query.view.text, frozenset()).intersection(cited)
        parts, spoken = self._parts_shown(query, ranked, found[0] if found else None) if pointed else ([], [])
        parts = [*parts, *spoken]
        first = [e for e in ranked if any(_touches(self.pool.evidence[e], part) for part in parts)]
        first.sort(key=lambda e: e not in pointed)
        chosen: list[int] = []
        for e in first or ranked:
            if any(self.pool.evidence[e].text in self.pool.evidence[i].text for i in chosen):
                continue
            room = SHOWN * (2 if e in first else 1)
            if not chosen or sum(len(self.pool.evidence[i].text) for i in (*chosen, e)) <= room:
                chosen.append(e)
        # Of each other document that is cited, what speaks most of the claim.
        seen = self._documents(chosen)
        for window in found:
            place = self._place(window.first, window.last)
            if place[0] not in seen:
                seen |= {place[0]}
                chosen.append(window.evidence)
                parts.append(place)
                spoken.append(place)
        headed = bool(parts) or len(self._documents(cited)) > 1
        shown: dict[str, list[Evidence]] = {}
        for e in sorted(chosen):
            shown.setdefault(self.pool.evidence[e].doc_id, []).extend(
                _cut_to(self.pool.evidence[e], parts, spoken)
            )
        heads = {name: f"[{name}]\n" if headed else "" for name in shown}
        return "\n\n".join(heads[name] + as_one(spans) for name, spans in shown.items())

    def _try(
        self, statement: Statement, query: Query, evidence: Sequence[int], least: float = 0.0
    ) -> "_Held":
        """Go up the ladder for one set of evidence spans: exact, quotes, facts, places, words, meaning.

        Args:
            least: share of the claim's words below which the spans do not speak of it.
        """
        if not evidence:
            return _Held("unsupported", None, "no evidence is cited")
        window = stands_exactly(self.pool, query.view.text, evidence)
        if window is not None:
            return _Held("supported", Finding(window, Assessment(1.0, 0, 1.0)), "word for word in the source")
        findings = examine(self.pool, query, evidence)
        documents = self._documents(evidence)
        earlier = tuple(f for cited, facts in self.said if cited & documents for f in facts)
        stated = replace(self.stated_in(evidence), said=earlier)
        repeats = self._repeated(query, findings)
        by_code = {f: code for f in query.view.facts if (code := self._from_code(f, statement.markers))}
        foreign = self._in_another_language(query, evidence)
        looked = look_up(query.view, stated, repeats is None, by_code, foreign)
        silent = not least and repeats is None and says_silent(query.view.text)
        finding = self._best(query, findings, evidence)
        if looked.missing and not silent:  # what is not stated need not stand anywhere
            return self._lacking(looked.missing[0], finding)
        said = self._in_another_field(query, evidence) or self._renumbered(query, repeats)
        if not silent:  # what is not stated stands in no place either
            said = said or self._misplaced(statement, query, evidence, looked, stated)
        said = (
            said or self._other_bound(query, evidence, stated) or self._other_period(query, evidence, stated)
        )
        if said:
            return self._ask(query, _Held("contradicted", finding, said), evidence, least)
        broken = self._broken_quote(query, evidence) or self._stitched(query, evidence)
        if broken:
            return _Held("unsupported", finding, broken)
        # What code computed stands in no source word for word, and is no other value of it.
        if not by_code and not statement.cells and not silent:
            settled = well_placed(said_of(query.view), self._places(evidence, False), stated.around)
            if held := self._changed([_without_places(f, settled) for f in findings]):
                return self._ask(query, held, evidence, least)
        formula = "; ".join(dict.fromkeys(r.formula for _, r in looked.computed))
        if by_code:
            return _Held(
                "derived",
                finding,
                f"computed: {formula or '; '.join(by_code.values())}",
                formula,
            )
        return self._by_words(query, evidence, looked, finding, formula, least)

    def _best(self, query: Query, findings: Sequence[Finding], evidence: Sequence[int]) -> Finding | None:
        """Return what a claim is cited by: where the value stands that the fewest lines have, and most of its others, and of such
        places one that was pointed at.
        """
        pointed = self.pointed.get(query.view.text, frozenset()).intersection(evidence)
        near = examine(self.pool, query, sorted(pointed)) if pointed else []
        found = [*near, *findings]
        rare = self._rarest(query, evidence) if found else frozenset()

        def holds(finding: Finding) -> bool:
            return not rare.isdisjoint(range(finding.window.first, finding.window.last + 1))

        if len(rare) <= FEW and not any(map(holds, found)):
            alone = [Window(self.pool.units[m].evidence, m, m, 0.0) for m in sorted(rare)]
            found += [Finding(w, assess(query.view, passage_of(self.pool, w), query.weights)) for w in alone]
        return max(
            found,
            key=lambda f: (
                holds(f),
                f.assessment.found,
                f.window.evidence in pointed,
                closeness(f),
            ),
            default=None,
        )

    def _rarest(self, query: Query, evidence: Sequence[int]) -> frozenset[int]:
        """Return the units of some spans that state the value of a claim which the fewest of them state."""
        units = [m for e in evidence for m in self.pool.by_evidence.get(e, [])]
        stating = (
            frozenset(
                m
                for m in units
                if _has(fact, self.pool.units[m], self.pool.evidence[self.pool.units[m].evidence].text)
            )
            for fact in query.view.facts
        )
        return min(filter(None, stating), key=len, default=frozenset())

    def _by_words(
        self,
        query: Query,
        evidence: Sequence[int],
        looked: Looked,
        finding: Finding | None,
        formula: str,
        least: float,
    ) -> "_Held":
        """Return what becomes of a claim whose facts stand, by its words: those of what it cites, or of nothing there."""
        if not least and says_silent(query.view.text):  # what a text is silent about has no words in it
            return self._ask(query, _Held("supported", finding, "nothing that is cited states it"), evidence)
        share = self._share(query, evidence, looked)
        foreign = self._in_another_language(query, evidence)
        if not foreign and (name := self._unknown_name(query)):
            held = _Held("unsupported", finding, f'"{name}" is not in the source')
            return self._ask(query, held, evidence, least)
        if foreign:  # words of two languages are never the same: what is cited is not refused for them
            speaks = not least or bool(looked.found) or share >= FLOOR
        else:
            few = not least and 0 < len(self._lacking_words(query, evidence)) < OWN
            speaks = share >= max(least, FLOOR) or (few and share > 0)
        words_of = f"{share:.0%} of the words are in the source"
        if speaks and not foreign and not least and self._only_asked(query, evidence, looked):
            held = _Held("unsupported", finding, "only words of the question are in the source")
            return self._ask(query, held, evidence)
        if not speaks:
            reason = f"only {words_of}" if share else "nothing in the evidence speaks of this"
            return self._ask(query, _Held("unsupported", finding, reason), evidence, least)
        if formula:
            return self._ask(
                query, _Held("derived", finding, f"computed: {formula}", formula), evidence, least
            )
        agree = len(looked.found)
        said = f"{agree} of {agree} values agree, {words_of}" if agree else words_of
        return self._ask(query, _Held("supported", finding, said), evidence, least)

    def _misplaced(
        self, statement: Statement, query: Query, evidence: Sequence[int], looked: Looked, stated: Stated
    ) -> str:
        """Return which value of a claim its words name otherwise than a table or form of its source, "" for none."""
        said = said_in_row(statement.cells) if statement.cells else said_of(query.view, self.asked_stems)
        denies = any(cue.kind == "negation" and not cue.soft for cue in query.view.cues)
        wrong = [
            m
            for m in misplaced(said, self._places(evidence, denies), stated.around)
            if m.clear
            and not shown_as_computed(query.view, m.fact, stated)
            and not self._said_alone(query, m.fact, evidence, stated)
        ]
        if not wrong:
            return (
                self._stated_otherwise(statement, evidence, stated)
                or self._mislabelled(query, evidence, stated)
                or self._of_another(query, evidence, stated)
            )
        worst = max(wrong, key=lambda m: m.weight)
        return f"{show(worst.fact)} stands elsewhere; of this the source says {show(worst.rival.fact)}"

    def _said_alone(self, query: Query, fact: Fact, evidence: Sequence[int], stated: Stated) -> bool:
        """Tell whether a sentence with half of a claim's words has its value, and no other one of that kind."""
        for sentence, row in self._views(evidence):
            alike = [other for other in sentence.facts if family(other) == family(fact)]
            if row or len(alike) != 1 or not facts_agree(fact, alike[0], stated.around):
                continue
            if 2 * len(sentence.stem_set & query.view.stem_set) >= len(query.view.stem_set):
                return True
        return False

    def _stated_otherwise(self, statement: Statement, evidence: Sequence[int], stated: Stated) -> str:
        """Return which cell of an answer's row the source fills otherwise under the same label and head, "" for none."""
        spans = [self.pool.evidence[e] for e in evidence] if statement.cells else []
        cells = [c for span in spans for c in named_cells(span.text, self.pool.document(span.doc_id).comma)]
        for value, rival in stated_otherwise(statement.cells, cells, stated.around):
            return f"of this the source says {show(rival)}, not {show(value)}"
        return ""

    def _mislabelled(self, query: Query, evidence: Sequence[int], stated: Stated) -> str:
        """Return which value of a claim is that of another label than the claim says word for word, "" for none."""
        for e in evidence:
            text = self.pool.evidence[e].text
            entries = entries_of(text, self.pool.document(self.pool.evidence[e].doc_id).comma)
            for fact, rival in of_another_label(query.view, entries, text, stated.around):
                return f'{show(fact)} stands elsewhere; of "{rival.label}" the source says {show(rival.fact)}'
            for one, other in exchanged(query.view, entries, stated.around):
                return f"{show(one)} and {show(other)} are exchanged"
        return ""

    def _other_bound(self, query: Query, evidence: Sequence[int], stated: Stated) -> str:
        """Return which value of a claim is a least one where its source has it as the most, or the other way; "" for none."""
        for fact in query.view.facts:
            wanted = _OPPOSITE.get(query.view.bound(fact))
            if wanted is None:
                continue
            theirs = [
                source.bound(other)
                for source, _ in self._views(evidence)
                for other in source.facts
                if facts_agree(fact, other, stated.around)
            ]
            if theirs and set(theirs) == {wanted}:
                said = "at least" if wanted == ">=" else "at most"
                return f'the source says "{said}" {show(fact)}, the claim the reverse'
        return ""

    def _other_period(self, query: Query, evidence: Sequence[int], stated: Stated) -> str:
        """Return what a claim counts by another period than its source, or says the other way round, "" for nothing."""
        lines = self._views(evidence)
        value = other_period(query.view, lines, stated.around)
        if value:
            return f"the claim counts {show(value[0])} by the {value[1]}, the source by the {value[2]}"
        way = other_way(query.view, lines, stated.around)
        if way:
            return f'the claim says "{way[1]}" of {show(way[0])}, the source "{way[2]}"'
        turn = other_turn(query.view, lines)
        return f'the claim says "by the {turn[0]}", the source "by the {turn[1]}"' if turn else ""

    def _views(self, evidence: Sequence[int]) -> list[tuple[View, bool]]:
        """Return the sentences and rows of some spans, and whether each is a row."""
        return [
            (
                view(self.pool.units[m].text, self.pool.document(self.pool.evidence[e].doc_id).comma),
                in_table(self.pool.evidence[e].text, self.pool.units[m].start),
            )
            for e in evidence
            for m in self.pool.by_evidence.get(e, [])
            if self.pool.units[m].start >= 0
        ]

    def _of_another(self, query: Query, evidence: Sequence[int], stated: Stated) -> str:
        """Return which value of a claim stands in a row of another key, or among the words of another value."""
        spans = [self.pool.evidence[e] for e in evidence]
        for span in spans:
            values = keyed_values(span.text, self.pool.document(span.doc_id).comma)
            for fact, key, rival in of_another_key(query.view, values, stated.around):
                if not shown_as_computed(query.view, fact, stated):
                    return f"{show(fact)} stands elsewhere; for {show(key)} the source says {show(rival)}"
        if not any(map(measured, query.view.facts)):
            return ""
        lines = [
            line_of(
                view(unit.text, self.pool.document(self.pool.evidence[e].doc_id).comma),
                self.pool.evidence[e].doc_id,
                in_table(self.pool.evidence[e].text, unit.start),
            )
            for e in evidence
            for unit in (self.pool.units[m] for m in self.pool.by_evidence.get(e, []))
            if unit.start >= 0
        ]
        for part in parts(query.view, lines, stated.around, self.pool.weight):
            if part.exchanged and not shown_as_computed(query.view, part.fact, stated):
                return f"{show(part.fact)} stands elsewhere; of this the source says {show(part.rival)}"
        return ""

    def stated_in(self, evidence: Sequence[int]) -> Stated:
        key = tuple(evidence)
        if key not in self.stated:
            self.stated[key] = stated_in(self.pool, evidence, self.asked)
        return self.stated[key]

    def _places(self, evidence: Sequence[int], denies: bool) -> list[Place]:
        """Return the values of some spans in their places; a claim that denies names what its value is not."""
        found: list[Place] = []
        for e in evidence:
            if e not in self.places:
                span = self.pool.evidence[e]
                own = places_of(span.text, self.pool.document(span.doc_id).comma)
                # Tables of two spans are two tables, whatever their numbers.
                self.places[e] = [
                    replace(p, group=p.group + (-e if p.group < 0 else e) * _TABLES) for p in own
                ]
            found += self.places[e]
        return [place for place in found if not denies or place.group >= 0]

    def _from_code(self, fact: Fact, markers: Sequence[str]) -> str:
        computed = from_code(fact, self.derivations)
        return computed.formula if computed else count_of(fact, markers)

    def _lacking(self, fact: Fact, finding: Finding | None) -> "_Held":
        """Return what becomes of a claim with a fact that its source lacks: which value the source has instead, if any."""
        near = passage_of(self.pool, finding.window).view.facts if finding else ()
        rival = next((s for s in near if family(s) == family(fact) and not s.label), None)
        rival = rival or next(
            (s for s in near if s.kind == fact.kind == "number" and s.printed == fact.printed), None
        )
        if rival is None:
            return _Held("unsupported", finding, f"{show(fact)} is not in the source")
        return _Held("contradicted", finding, f"the claim says {show(fact)}, the source says {show(rival)}")

    def _in_another_field(self, query: Query, evidence: Sequence[int]) -> str:
        """Return how the claim gives one field of a document the number of another, "" when it does not."""
        for name in dict.fromkeys(self.pool.evidence[e].doc_id for e in evidence):
            document = self.pool.document(name)
            if says_only_values(query.view, document.known) and (
                said := said_of_another(query.view, document.numbers)
            ):
                return said
        return ""

    def _changed(self, findings: Sequence[Finding]) -> "_Held | None":
        """Return what becomes of a claim that repeats a passage and says something of it otherwise, None for any other."""
        clash = max((f for f in findings if f.assessment.changed), key=closeness, default=None)
        same = max((f for f in findings if not f.assessment.changed), key=closeness, default=None)
        if clash is None or (same is not None and same.clean and closeness(same) > closeness(clash)):
            return None
        return _Held("contradicted", clash, clash.assessment.changed[0].message)

    def _repeated(self, query: Query, findings: Sequence[Finding]) -> Unit | None:
        """Return the sentence of the source that a claim repeats nearly word for word, None when it repeats none."""
        near = {m for f in findings for m in range(f.window.first, f.window.last + 1)}
        text = query.view.text
        alike = [(compare(text, self.pool.units[m].text), m) for m in sorted(near)]
        close = [(d.tight, m) for d, m in alike if d.share >= NEAR_VERBATIM and d.tight >= REPEATED]
        return self.pool.units[max(close)[1]] if close else None

    def _renumbered(self, query: Query, sentence: Unit | None) -> str:
        """Return which value a claim that repeats a sentence of its source puts in the place of another, "" when it does
        not; that the source has it somewhere else is no help then.
        """
        if sentence is None:
            return ""
        span = self.pool.evidence[sentence.evidence]
        comma = self.pool.document(span.doc_id).comma
        facts = view(sentence.text, comma).facts
        own = [f for f in facts if not f.label]
        for fact in query.view.facts:
            alike = [f for f in facts if facts_agree(fact, f, span.text)]
            same = [f for f in alike if f.dimension and fact.dimension and not any(fact.amounts)]
            if same and all(
                squeeze(f.text) != squeeze(fact.text) for f in same
            ):  # 0 V is 0 mV, but is not said so
                return f"the claim says {show(fact)}, the source says {show(same[0])}"
            if fact.label or fact.kind == "identifier" or alike or is_article(fact):
                continue
            if from_code(fact, self.derivations):
                continue
            left = [r for r in own if not any(facts_agree(f, r, span.text) for f in query.view.facts)]
            rival = next((r for r in left if family(r) == family(fact)), left[0] if left else None)
            if rival is not None:
                return f"the claim says {show(fact)}, the source says {show(rival)}"
            behind = span.text[sentence.end : sentence.end + len(fact.text) + 4].split()
            if behind[:1] and behind[0].rstrip(".") == fact.text.rstrip(" ."):
                continue  # the number of the next clause, at which the claim ends
            if fact.kind == "number" and compare(query.view.text, sentence.text).tight >= SAME:
                return f"{show(fact)} is not in the sentence that the claim repeats"
        return ""

    def _share(self, query: Query, evidence: Sequence[int], looked: Looked) -> float:
        """Return the weighted share of a claim's words that the cited spans and the question have; a value counts as one."""
        have = self.asked_stems.union(
            *(self.pool.document(self.pool.evidence[e].doc_id).known for e in evidence)
        )
        have |= {
            s for e in evidence for m in self.pool.by_evidence.get(e, []) for s in self.pool.units[m].stems
        }
        cited = "\n".join(self.pool.evidence[e].text for e in evidence)
        have |= {s for n in query.view.names if initials_of(n.text, cited) for s in n.stems}
        weights = {s: self.pool.weight(s) for s in query.view.stems}
        total = sum(weights.values())
        each = total / len(weights) if weights else 1.0
        values = each * (len(looked.found) + len(looked.computed))
        begun = {root[:ALIKE] for root in have if len(root) >= ALIKE}
        said = sum(w for root, w in weights.items() if root in have or root[:ALIKE] in begun)
        return (said + values) / ((total + values) or 1.0)

    def _lacking_words(self, query: Query, evidence: Sequence[int]) -> frozenset[str]:
        """Return the content words of a claim that its spans do not have."""
        there = [self.pool.units[m].stems for e in evidence for m in self.pool.by_evidence.get(e, [])]
        return query.view.stem_set.difference(*there)

    def _only_asked(self, query: Query, evidence: Sequence[int], looked: Looked) -> bool:
        """Tell whether a claim shares with its spans only what the question asked: no value, and no word beside its words."""
        if looked.found or looked.computed:
            return False
        mine = query.view.stem_set
        own = mine - self.asked_stems
        lacking = self._lacking_words(query, evidence)
        return bool(self.asked_stems & mine) and len(own) >= OWN and own <= lacking

    def _unknown_name(self, query: Query) -> str:
        """Return a name of the claim that neither the evidence nor the question has, "" for none; a German noun is none."""
        text = "\n".join(e.text for e in self.pool.evidence)
        if (language_of(query.view.text) or language_of(text)) == "de":
            return self._other_short(query.view.text, text)
        known = self.asked_stems.union(
            *(
                self.pool.document(name).known
                | self.pool.document(name).vocabulary
                | self.pool.document(name).called_stems
                for name in self.pool.members
            )
        )
        unknown = (n.text for n in unknown_names(query.view, known))
        found = (name for name in unknown if not any(initials_of(part, text) for part in name.split()))
        return next(found, "")

    def _other_short(self, claim: str, text: str) -> str:
        """Return a name in capitals of which the source has only another one that begins alike ("EBITDA", "EBIT"), "" for none."""
        theirs = set(_SHORTENED.findall(text))
        mine = (name for name in _SHORTENED.findall(claim) if name not in text)
        other = (name for name in mine if content_stem(name) not in self.asked_stems)
        return next((name for name in other if any(name[:3] == known[:3] for known in theirs)), "")

    def _in_another_language(self, query: Query, evidence: Sequence[int]) -> bool:
        """Tell whether a claim is in another language than its spans: their words cannot be the same, then."""
        mine = language_of(query.view.text) or self.language
        theirs = {language_of(self.pool.evidence[e].text) for e in evidence} - {None}
        return bool(mine) and bool(theirs) and mine not in theirs

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

    def _ask(self, query: Query, held: "_Held", cited: Sequence[int], least: float = 0.0) -> "_Held":
        """Let the judge decide what words, places and computations decide: a claim whose values all stand in what it cites.

        Which label, side, subject or condition a value belongs to is a question of meaning: "A receives from B" has the places
        of "B pays A" exchanged and says the same. What is not cited (`least`) is not worth a question.
        """
        if self.judge is None or not cited or least:
            return held
        said = self.judge(query.told or query.view.text, self._shown(query, cited))
        self.values_stand = self.values_stand or held.verdict in _BACKED
        if said is None or (said.verdict == "supported" and held.verdict == "derived"):
            return held
        return replace(held, verdict=said.verdict, reason=said.reason or f"judged {said.verdict}", formula="")

    def _claim(
        self, statement: Statement, verdict: Verdict, finding: Finding | None, reason: str, formula: str = ""
    ) -> Claim:
        claim = Claim(
            statement.text,
            statement.start,
            statement.end,
            statement.markers,
            verdict,
            reason,
            formula=formula,
        )
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


def _cut_to(span: Evidence, parts: Sequence[Part], spoken: Sequence[Part]) -> list[Evidence]:
    """Return what of a span lies in some parts of its document, or near those of them that are `spoken` of, in whole lines and
    of long ones in whole sentences; the span where none of them is.
    """
    text, end = span.text, span.start + len(span.text)
    near = [(part, NEAR if part in spoken else 0) for part in parts if _touches(span, part)]
    kept: list[tuple[int, int]] = []
    for start, stop in sorted((part[1] - wide, part[2] + wide) for part, wide in near):
        a, b = max(0, start - span.start), min(stop, end) - span.start
        begins = [text.rfind(mark, 0, a) + len(mark) for mark in ("\n", ". ") if mark in text[:a]]
        ends = [text.find(mark, max(a, b - len(mark))) + 1 or len(text) for mark in ("\n", ". ")]
        a, b = max(begins, default=0), max(b, min(ends))
        if kept and a <= kept[-1][1] + 1:
            kept[-1] = kept[-1][0], max(b, kept[-1][1])
        else:
            kept.append((a, b))
    return [
        replace(
            span,
            text=span.text[a:b],
            start=span.start + a,
            cut=(span.cut[0] or bool(span.text[:a].strip()), span.cut[1] or bool(span.text[b:].strip())),
        )
        for a, b in kept
    ] or [span]


def as_one(spans: Sequence[Evidence]) -> str:
    """Return spans of a document as one text in its order: those that overlap as one, "…" where the document goes on."""
    text, end, goes_on = "", -1, False
    for span in sorted(spans, key=lambda span: span.start):
        over = end - span.start
        if text and 0 < over <= len(span.text) and text.endswith(span.text[:over]):
            text += span.text[over:]
        else:
            apart = f"\n{LEFT_OUT}\n" if goes_on or (text and span.cut[0]) else "\n" if text else ""
            text += (f"{LEFT_OUT}\n" if span.cut[0] and not text else apart) + span.text
        end, goes_on = span.start + len(span.text), span.cut[1]
    return f"{text}\n{LEFT_OUT}" if goes_on else text


def _told(statement: Statement) -> str:
    """Return a claim with what stands above it in the answer: a row with the heads of its columns, an item with its lead-in."""
    if statement.cells:
        return " | ".join(f"{cell.head}: {cell.text}" if cell.head else cell.text for cell in statement.cells)
    return f"{statement.context}: {statement.text}" if statement.context else statement.text


def _without_places(finding: Finding, settled: Sequence[Fact]) -> Finding:
    """Return a finding without objections to the place of values that the claim names by the words of their own place."""
    changed = tuple(p for p in finding.assessment.changed if not any(p.fact is fact for fact in settled))
    return replace(finding, assessment=replace(finding.assessment, changed=changed))


FEW = 8
"""Lines with a value of a claim, of which each may be what it is cited by."""


def _has(wanted: Fact, unit: Unit, around: str) -> bool:
    return any(facts_agree(wanted, f, around) for f in view(unit.text).facts)


def verify(
    answer_text: str,
    evidence: Sequence[Evidence],
    *,
    derivations: Sequence[Derivation] = (),
    judge: Judge | None = None,
    question: str = "",
    absent: Sequence[Absence] = (),
    pointed: Mapping[str, Sequence[Part]] | None = None,
) -> Report:
    """Hold every claim of an answer against the spans that it cites.

    Args:
        answer_text: the answer with `[doc_id]` markers.
        evidence: the spans that the answer was written from.
        derivations: numbers that code computed and the answer may state.
        judge: optional model for the claims whose values stand, but not word for word.
        question: what was asked: its names may be used, and its values may go into a computation.
        absent: sentences that say what no document states. No passage can show that, so none is held against them,
            and they are no claims, unless a document states it after all, they bring a value of their own, or nothing
            tells what they say is absent and they deny nothing that can be read: then they are held like any other.
        pointed: by the text of a claim, the parts of documents that its writer gave for it. A marker names a whole
            document; these are cited, and shown to a judge, before its other parts. They decide no verdict of the code.

    Returns:
        All claims in order of the answer with verdicts, spans and reasons; citation precision and recall.
    """
    pool = build_pool(evidence)
    ids = [*pool.members, *(e.evidence_id for e in evidence)]
    statements = split_statements(answer_text, ids)
    stems = frozenset(content_stems(question))
    right = [made for made in derivations if recompute(made)]
    run = _Run(pool, right, judge, hard_facts(question), (), stems, language_of(answer_text))
    run.parts = {text: tuple(parts) for text, parts in (pointed or {}).items()}
    run.pointed = {
        text: frozenset(i for i, span in enumerate(evidence) if any(_touches(span, part) for part in parts))
        for text, parts in (pointed or {}).items()
    }
    silences = {item.text: item for item in absent}
    found: list[Claim] = []
    for statement in statements:
        silence = silences.get(statement.text)
        if silence and (silence.asked or _denies(silence.text)) and run.knows(statement):
            stated = run.contradicted(statement, silence.stated) if silence.stated else None
            found += [stated] if stated else []
        elif is_claim(statement):
            found.append(_with_backing(run, run.judge_next(statement)))
    claims = tuple(found)
    unknown = tuple(dict.fromkeys(m for claim in claims for m in claim.markers if not run.spans_of(m)))
    return Report(claims, _precision(claims), _recall(claims), unknown)


def _touches(span: Evidence, part: Part) -> bool:
    doc_id, start, end = part
    return span.doc_id == doc_id and span.start < end and start < span.start + len(span.text)


def _denies(text: str) -> bool:
    """Tell whether a sentence denies something, so that nothing is said to be so that no document was held against."""
    return says_not_found(text) or any(cue.kind == "negation" for cue in cues(text))


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
    told = run.stated_in(spans)
    if any(facts_agree(fact, known, "") for fact in hard_facts(claim.text) for known in told.besides):
        return True  # "that of 10 March [b]": the date in its fields says which document is spoken of
    # Of "A pays 150 USD, B 96 USD [a] [b]" each document has a value that the other one's quote lacks.
    shown = hard_facts(claim.quote)
    alone = [fact for fact in hard_facts(claim.text) if not any(facts_agree(fact, one, "") for one in shown)]
    operands = hard_facts(claim.formula) if claim.verdict == "derived" else alone
    if any(facts_agree(operand, one.fact, "") for operand in operands for one in told.operands):
        return True
    findings = examine(run.pool, make_query(run.pool, claim.text), spans, 2)
    return any(
        not f.assessment.conflict and (f.assessment.found or f.assessment.coverage >= 0.4) for f in findings
    )
