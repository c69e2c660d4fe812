"""One claim held against one passage: what agrees, what is missing and what the passage says instead."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from citegraph.citations import word_differences
from citegraph.citations.fact_matching import Slot, View, as_token, facts_agree, family, fit
from citegraph.citations.facts import Fact, Name
from citegraph.citations.figures.rows import Rows
from citegraph.language import claim_cues
from citegraph.language.claim_tokens import Span, content_stems
from citegraph.language.terms import language_of

ProblemKind = Literal["value", "slot", "negation", "modality", "row", "party"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that keeps a passage from backing a claim; `conflict` when the passage says otherwise.

    `fact` is the claim's value that stands where the passage has another one.
    """

    kind: ProblemKind
    message: str
    conflict: bool = False
    fact: Fact | None = None


@dataclass(frozen=True, slots=True)
class Assessment:
    """A claim against a passage.

    Attributes:
        coverage: weighted share of the claim's content words that the passage has, 0 to 1.
        found: number of hard facts of the claim that stand in the passage.
        tight: how far the claim runs along one sentence of the passage word by word, 0 to 1.
        changed: what a claim that repeats the passage nearly word for word says otherwise.
    """

    coverage: float
    found: int
    tight: float = 0.0
    problems: tuple[Problem, ...] = ()
    changed: tuple[Problem, ...] = ()

    @property
    def conflict(self) -> bool:
        """Tell whether the passage contradicts the claim."""
        return any(p.conflict for p in self.problems)


@dataclass(frozen=True, slots=True)
class Passage:
    """What a claim is held against.

    Attributes:
        view: the passage (some adjacent sentences).
        around: the whole evidence text of the document, where a table keeps its units.
        known: stems known of the document beyond the passage (annotations, title, id).
        annotations: facts from the annotations alone.
        parts: spans of the sentences or lines within the passage.
    """

    view: View
    around: str
    known: frozenset[str] = frozenset()
    annotations: tuple[Fact, ...] = ()
    parts: tuple[Span, ...] = ()


# From here on a claim repeats its source, and each word that it changes counts.
NEAR_VERBATIM = 0.75


@dataclass(slots=True)
class _Work:
    claim: View
    passage: Passage
    rows: Rows
    problems: list[Problem] = field(default_factory=list)
    found: int = 0

    def add(self, kind: ProblemKind, message: str, conflict: bool = False) -> None:
        self.problems.append(Problem(kind, message, conflict))


def assess(claim: View, passage: Passage, weights: dict[str, float]) -> Assessment:
    """Hold a claim against a passage.

    Args:
        weights: the weight of each content stem of the claim (rarer words weigh more).
    """
    rows = Rows(claim, passage.view, passage.parts, passage.around)
    work = _Work(claim, passage, rows)
    _check_values(work)
    coverage = _coverage(claim, passage, weights, work.found)
    tight = 0.0
    changed: tuple[Problem, ...] = ()
    if coverage >= 0.45:
        _check_slots(work)
        found = _closest(claim, passage)
        tight = found.tight
        if found.share >= NEAR_VERBATIM:
            before = len(work.problems)
            _check_differences(work, found)
            changed = tuple(p for p in work.problems[before:] if p.conflict and tight >= 0.5)
        else:
            _check_negation(work, claim.cues, passage.view.cues)
            _check_modality(work, claim.cues, passage.view.cues)
    changed += _close(work, coverage, tight)
    return Assessment(coverage, work.found, tight, tuple(work.problems), changed)


def _close(work: _Work, coverage: float, tight: float) -> tuple[Problem, ...]:
    """Return the problems of rows, and those of small words and places that count because the claim runs close.

    Far from it they say little: a paraphrase puts its words in another order, and its negations elsewhere.
    """
    near = {
        "row": True,
        "slot": tight >= 0.45,
        "party": tight >= 0.45 or coverage >= 0.7,
        "modality": coverage >= 0.6,
        "negation": tight >= 0.6,
    }
    return tuple(p for p in work.problems if p.conflict and near.get(p.kind))


def _closest(claim: View, passage: Passage) -> word_differences.Differences:
    """Align the claim with the sentence of the passage that it repeats, else with the whole passage."""
    whole = word_differences.compare(claim.text, passage.view.text)
    if len(passage.parts) < 2 or whole.share < NEAR_VERBATIM:
        return whole
    text = passage.view.text
    parts = [word_differences.compare(claim.text, text[a:b]) for a, b in passage.parts]
    best = max(parts, key=lambda d: (d.share >= NEAR_VERBATIM, d.tight))
    return best if best.share >= NEAR_VERBATIM else whole


# A value with its unit that stands in the passage speaks for it a little more than a word does.
_VALUE = 1.2


def _coverage(claim: View, passage: Passage, weights: dict[str, float], values: int) -> float:
    have = passage.view.stem_set
    total = got = 0.0
    for s, weight in weights.items():
        total += weight
        if s in have:
            got += weight
        elif s in passage.known:
            got += 0.8 * weight
    each = _VALUE * (total / len(weights) if weights else 1.0)
    total, got = total + values * each, got + values * each
    return got / total if total else 1.0


# ---------------------------------------------------------------- values


def _check_values(work: _Work) -> None:
    claim, passage = work.claim, work.passage
    used: set[int] = set()
    missing: list[Fact] = []
    for fact in claim.facts:
        about = claim.bound(fact) == "~"
        hits = [s for s in passage.view.facts if facts_agree(fact, s, passage.around, about=about)]
        used.update(s.start for s in hits)
        if (
            hits
            or as_token(fact, passage.view.text)
            or any(facts_agree(fact, s, passage.around, about=about) for s in passage.annotations)
        ):
            work.found += 1
        else:
            missing.append(fact)
    if mixed := work.rows.mixed():
        work.add("row", mixed, conflict=True)
    for fact in missing:
        rival = any(s.start not in used and _rival(fact, s) for s in passage.view.facts)
        work.add("value", f"{_show(fact)} is not in the source", conflict=rival)


def _show(fact: Fact) -> str:
    return f'"{" ".join(fact.text.split())}"'


def _rival(fact: Fact, source: Fact) -> bool:
    """Tell whether a source value could be what the claim's value should have been."""
    if source.label and fact.dimension:
        return False
    mine, theirs = family(fact), family(source)
    if mine == theirs:
        return True
    if fact.kind != "number" or source.kind != "number":
        return False
    return fact.printed == source.printed or {mine, theirs} <= {"number", "money"}


# ---------------------------------------------------------------- names


def unknown_names(claim: View, known: frozenset[str]) -> Iterator[Name]:
    """Yield the names of a claim of which the better part is not among the stems that are known."""
    nouns_are_capital = _capital_nouns(claim)
    for name in claim.names:
        opener = name.start <= 1 or claim.text[: name.start].rstrip()[-1:] in (".", ":", "!", "?", '"', "|")
        stems = name.stems
        if nouns_are_capital and len(stems) < 2 and not name.text.isupper():
            continue
        if opener and len(stems) == 1 and not name.text.isupper():
            continue
        lacking = [s for s in stems if s not in known]
        if opener and lacking and lacking[0] == stems[0] and len(stems) > 1 and len(lacking) == 1:
            continue
        if lacking and len(lacking) * 2 >= len(stems):
            yield name


def initials_of(name: str, text: str) -> bool:
    """Tell whether a name is the initials of words that follow each other in a text: "EEA", "SG&A"; two letters of capital ones."""
    letters = name.replace("&", "")
    if not (letters.isupper() and letters.isalpha() and 1 < len(letters) < 7):
        return False
    words = r"\w*\W+".join(letters) if letters == name else r"\w*\W+(?:\w+\W+)?".join(letters)
    return re.search(rf"\b{words}\w*", text, re.IGNORECASE if len(letters) > 2 else 0) is not None


def _capital_nouns(claim: View) -> bool:
    return language_of(claim.text) == "de"


# ---------------------------------------------------------------- who does what to whom


def _check_slots(work: _Work) -> None:
    """Report a name or value that another one holds in the passage: swapped parties, a number bound
    elsewhere.
    """
    theirs = work.passage.view.slots
    mine = work.claim.slots
    for slot in mine:
        if slot.fact is not None and work.rows.binds(slot.fact):
            continue  # the row and the head of its column tell
        same, other, rival = 0.0, 0.0, None
        speaks = -1  # words of the claim in the sentence that has what it says
        for candidate in theirs:
            alike = _same_filler(slot, candidate, work)
            if alike is None:
                continue
            score = fit(slot, candidate)
            if alike:
                same = max(same, score)
                speaks = max(speaks, _spoken(work, candidate))
            elif score > other:
                other, rival = score, candidate
        if rival is None or (rival.fact is not None and _claimed(rival.fact, work)):
            continue
        if speaks > _spoken(work, rival):
            continue
        if slot.fact is not None:
            if other >= 1.0 and same <= other - 1.0 and not (other < 2.0 and _is_another(slot, rival, work)):
                said = f'where the claim has "{slot.text}" the source has "{rival.text}"'
                work.problems.append(Problem("slot", said, True, slot.fact))
        elif _is_label(work.claim.text, slot.span[1]):
            continue  # "Freelancers: only on equipment of the licensee" says nothing of who does what
        elif other >= 1.5 and same <= other - 1.5 and _known_name(slot, theirs):
            work.add(
                "party", f'where the claim has "{slot.text}" the source has "{rival.text}"', conflict=True
            )


def _spoken(work: _Work, slot: Slot) -> int:
    """Return how many words of the claim the sentence of the passage has in which a slot stands."""
    text = work.passage.view.text
    part = next((text[a:b] for a, b in work.passage.parts if a <= slot.span[0] < b), text)
    return len(work.claim.stem_set.intersection(content_stems(part)))


def _is_label(text: str, end: int) -> bool:
    """Tell whether a name that ends at a place is the label before a colon that opens a claim."""
    return text[end : end + 1] == ":" and len(text[:end].split()) <= _LABEL_WORDS


_LABEL_WORDS = 4


def _claimed(fact: Fact, work: _Work) -> bool:
    """Tell whether the claim states a value too: "of the 88 in stock, 61 are reserved" puts neither in the other's place."""
    return any(facts_agree(own, fact, work.passage.around) for own in work.claim.facts)


def _is_another(slot: Slot, rival: Slot, work: _Work) -> bool:
    """Tell whether the labels of two values name two things: the claim lacks a word of the rival's, and the other way.

    "Total amount: 119" is not said of "Net amount 100", though both speak of an amount.
    """
    return bool(_label_of(rival) - work.claim.stem_set and _label_of(slot) - _label_of(rival))


def _label_of(slot: Slot) -> frozenset[str]:
    """Return the content stems between a value and the one before it."""
    label: set[str] = set()
    for item in slot.left:
        if isinstance(item, str):
            label |= set() if item.startswith("~") else {item}
        elif any(stem.startswith("#") for stem in item):
            break
        else:
            label |= item
    return frozenset(label)


def _known_name(slot: Slot, theirs: tuple[Slot, ...]) -> bool:
    return any(slot.ids & t.ids for t in theirs)


def _same_filler(slot: Slot, candidate: Slot, work: _Work) -> bool | None:
    """Tell whether two slots hold the same thing; None when they cannot be compared."""
    if slot.fact is not None and candidate.fact is not None:
        if family(slot.fact) != family(candidate.fact):
            return None
        return facts_agree(slot.fact, candidate.fact, work.passage.around, about=True)
    if slot.fact is None and candidate.fact is None:
        return bool(slot.ids & candidate.ids)
    return None


# ---------------------------------------------------------------- small words


def _check_differences(work: _Work, found: word_differences.Differences) -> None:
    """Judge the words that a near-verbatim claim changes."""
    added, dropped = found.added, found.dropped
    mine, theirs = any(t.negation for t in added), any(t.negation for t in dropped)
    both_deny = 0 < _denials(work.claim) == _denials(work.passage.view)
    if (
        mine
        and not theirs
        and not any(claim_cues.is_soft_negation(t.text) for t in dropped)
        and not both_deny
    ):
        work.add("negation", "the claim negates what the source states", conflict=True)
    soft = any(claim_cues.is_soft_negation(t.text) for t in added)
    if theirs and not mine and not soft and not both_deny and _denied(work, dropped):
        work.add("negation", "the source negates what the claim states", conflict=True)
    my_force, their_force = {t.modal for t in added} - {""}, {t.modal for t in dropped} - {""}
    clash = next(((m, t) for m in my_force for t in their_force if frozenset((m, t)) in _CLASHES), None)
    if clash and not my_force & their_force:
        work.add("modality", f'the claim says "{clash[0]}", the source "{clash[1]}"', conflict=True)
    elif "may" in my_force and not their_force:
        work.add("modality", 'the claim says "may", the source does not')
    # The cells of a row stand in no order that a sentence must keep.
    swap = None if work.rows.rows else word_differences.exchanged(found)
    if swap:
        work.add("slot", f'"{swap[0]}" and "{swap[1]}" have traded places', conflict=True)
    unit = word_differences.unit_changed(found)
    if unit:
        work.add("value", f'the claim says "{unit[0]}", the source says "{unit[1]}"', conflict=True)


def _denied(work: _Work, dropped: tuple[word_differences.Token, ...]) -> bool:
    """Tell whether negations that a claim drops are of what it says: two turn nothing round ("not without"), nor does "no major
    and three minor findings" of the minor ones.
    """
    words = [t.text for t in dropped if t.negation]
    cues = [
        cue
        for cue in work.passage.view.cues
        if cue.kind == "negation"
        and any(work.passage.view.text.startswith(word, cue.start) for word in words)
    ]
    of = work.claim.stem_set
    return len(words) % 2 == 1 and (not cues or any(not cue.heads or cue.heads[0] in of for cue in cues))


def _denials(text: View) -> int:
    """Return how often a text negates when it opens with that ("Nothing in this lease obliges ..."), else 0."""
    found = [cue.start for cue in text.cues if cue.kind == "negation" and not cue.soft]
    return len(found) if found and found[0] < _OPENING else 0


_OPENING = 12
"""Characters of a sentence in which its first word stands."""


def _governs(one: claim_cues.Cue, other: claim_cues.Cue) -> bool:
    return bool(set(one.heads) & set(other.heads)) or (bool(one.before) and one.before == other.before)


def _check_negation(
    work: _Work, mine: tuple[claim_cues.Cue, ...], theirs: tuple[claim_cues.Cue, ...]
) -> None:
    my_negations = [c for c in mine if c.kind == "negation"]
    their_negations = [c for c in theirs if c.kind == "negation"]
    for cue in my_negations:
        if cue.soft or any(_governs(cue, t) for t in their_negations):
            continue
        if any(h in work.passage.view.stem_set for h in cue.heads[:2]):
            work.add(
                "negation",
                f'the claim negates "{_heads(work.claim, cue)}", the source does not',
                conflict=True,
            )


def _heads(text_view: View, cue: claim_cues.Cue) -> str:
    return " ".join(text_view.text[cue.start : cue.start + 40].split()[:4])


_CLASHES = {
    frozenset(pair)
    for pair in (("may", "must"), ("may", "will"), ("may", "should"), ("must", "should"), ("should", "will"))
}


def _check_modality(
    work: _Work, mine: tuple[claim_cues.Cue, ...], theirs: tuple[claim_cues.Cue, ...]
) -> None:
    my_modals = [c for c in mine if c.kind == "modality"]
    their_modals = [c for c in theirs if c.kind == "modality"]
    for cue in my_modals:
        value = _force(cue, mine)
        partners = [t for t in their_modals if set(cue.heads[:2]) & set(t.heads[:2])]
        partners = partners or [t for t in their_modals if set(cue.heads) & set(t.heads)]
        if partners:
            forces = {_force(t, theirs) for t in partners}
            if value not in forces and all(frozenset((value, f)) in _CLASHES for f in forces):
                work.add(
                    "modality", f'the claim says "{value}", the source "{sorted(forces)[0]}"', conflict=True
                )


def _force(cue: claim_cues.Cue, around: tuple[claim_cues.Cue, ...]) -> str:
    """Return the force of a modal verb with its negation: "may not" forbids as "must not" does."""
    negated = any(c.kind == "negation" and not c.soft and 0 <= c.start - cue.start <= 14 for c in around)
    return "must" if negated and cue.value in ("may", "must", "will") else cue.value
