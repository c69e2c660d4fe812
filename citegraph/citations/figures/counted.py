"""What a value is counted by, and on which side it stands: 900 a month is no 900 a year, net is not gross, below not above."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from citegraph.citations.fact_matching import View, facts_agree
from citegraph.citations.facts import Fact
from citegraph.citations.figures.cell_labels import clauses_of, naming
from citegraph.language.claim_cues import opposites
from citegraph.language.word_tables import any_of, source, table, words_to_keys


@dataclass(frozen=True, slots=True)
class Rate:
    """A period that something is counted by.

    Attributes:
        period: hour, day, week, month, quarter, half-year or year.
        start, end: its place in the text.
        after: it stands behind what it counts ("900 a month"); "monthly" may stand anywhere in its clause.
    """

    period: str
    start: int
    end: int
    after: bool


@cache
def _pattern() -> re.Pattern[str]:
    words = table("rates")
    alone = any_of(words_to_keys("rates", "alone"))
    periods = any_of(words_to_keys("rates", "periods"))
    before = any_of(word.replace("_", " ") for word in str(words["before"]).split())
    articles = any_of(str(words["articles"]).split())
    between = any_of(str(words["between"]).split())
    thing = rf"(?:[^\W\d_]+\s{source('joins')}\s)?"  # "je Rad und Tag"
    return re.compile(
        rf"(?<!\w)(?P<alone>{alone})\w{{0,3}}(?!\w)"
        rf"|(?:(?<!\w){before}\s*{thing}|/\s?|(?<=[\w%€$£)]\s)(?P<article>{articles})\s)"
        rf"(?:{between}\s)?(?P<period>{periods})(?!\w)",
        re.IGNORECASE,
    )


@lru_cache(maxsize=8192)
def rates(text: str) -> tuple[Rate, ...]:
    """Return the periods of a text by which something is counted, in order.

    "a month" is one only behind an amount or the thing that is counted: in "within a month" it is a span of time.
    """
    alone, periods = words_to_keys("rates", "alone"), words_to_keys("rates", "periods")
    found = []
    for match in _pattern().finditer(text):
        if match["alone"]:
            found.append(Rate(alone[match["alone"].casefold()], *match.span(), after=False))
        elif not match["article"] or _counted(text, match.start()):
            found.append(Rate(periods[match["period"].casefold()], *match.span(), after=True))
    return tuple(found)


_AMOUNT = re.compile(r"(?:\d[\d.,]*|[€$£%]|\b[A-Z]{3})[)\s]*$")
_THING = re.compile(r"(?:\d[\d.,]*|\b[^\W\d_]+)\s+[^\W\d_]{4,}s\s*$")


def _counted(text: str, at: int) -> bool:
    """Tell whether an amount ("EUR 900 a month") or a number of things ("two concerts a month") stands before a place."""
    return bool(_AMOUNT.search(text, 0, at) or _THING.search(text, max(0, at - 40), at))


_REACH = 40
"""Characters between a value and its period, at most."""
SPEAKS = 0.5
"""Share of the claim's words from which a sentence speaks of the same thing."""
_SAME = ({"quarter", "year"}, {"half-year", "year"})
"""Periods of which one is told by the other: four times a year."""


def other_period(
    claim: View, lines: Sequence[tuple[View, bool]], around: str
) -> tuple[Fact, str, str] | None:
    """Return a value that a claim counts by another period than its source, with both periods; None for none.

    Every sentence that states the value must count something, and none by the claim's period; a row has its heads elsewhere
    and tells nothing.

    Args:
        lines: the sentences and rows of the source, and whether each is a row.
        around: the text in which their units stand.
    """
    said = rates(claim.text)
    for fact in claim.facts if said else ():
        mine = _beside(claim, fact, said)
        if mine is None or fact.label:
            continue
        homes = [
            (line, row)
            for line, row in lines
            if any(facts_agree(fact, f, around) for f in line.facts if not f.label)
        ]
        theirs = [{rate.period for rate in rates(line.text)} for line, _ in homes]
        if theirs and all(theirs) and not any(row for _, row in homes):
            periods = set[str]().union(*theirs)
            if mine.period not in periods:
                return fact, mine.period, min(periods)
    return None


def _beside(claim: View, fact: Fact, said: Sequence[Rate]) -> Rate | None:
    """Return the period that a value of a claim is counted by: the next one, with no other value in between."""
    for rate in said:
        first, last = (fact.end, rate.start) if rate.start >= fact.end else (rate.end, fact.start)
        if (rate.after and rate.start < fact.end) or not 0 <= last - first <= _REACH:
            continue
        if not any(first <= other.start < last for other in claim.facts if other is not fact):
            return rate
    return None


def other_turn(claim: View, lines: Sequence[tuple[View, bool]]) -> tuple[str, str] | None:
    """Return how often a claim says that something happens, and how often the sentence that speaks of it says; None for no difference.

    Only a period by which the source counts nothing at all is another one.
    """
    mine = {rate.period for rate in rates(claim.text)}
    if not mine or not claim.stem_set:
        return None
    everywhere = {rate.period for line, _ in lines for rate in rates(line.text)}
    speaking = max(
        (line for line, row in lines if not row), key=lambda line: _share(claim, line), default=None
    )
    if speaking is None or _share(claim, speaking) < SPEAKS:
        return None
    theirs = {rate.period for rate in rates(speaking.text)}
    for period in sorted(mine - everywhere):
        other = next((t for t in sorted(theirs) if {period, t} not in _SAME), None)
        if other:
            return period, other
    return None


def _share(claim: View, line: View) -> float:
    return len(claim.stem_set & line.stem_set) / len(claim.stem_set)


def other_way(claim: View, lines: Sequence[tuple[View, bool]], around: str) -> tuple[Fact, str, str] | None:
    """Return a value that a claim has among words opposite to those around it in the source: "gross" for "net"; None for none.

    Every sentence that states the value must turn it round, and none of them may have the claim's word. Not of a claim that
    denies ("not below 5"), nor before and after a date: what does not hold before it holds after it.
    """
    if any(cue.kind == "negation" for cue in claim.cues):
        return None
    for fact, near in clauses_of(claim):
        if fact.label or fact.kind == "date":
            continue
        label, named = claim.text[: fact.start].rstrip(), near
        if len(claim.facts) == 1 and label.endswith(":"):
            named = near | naming(label)  # "Subtotal gross: 11,338.00"
        found = []
        for line, row in lines:
            head = line.stem_set if row and len(line.facts) == 1 else frozenset[str]()
            for other, words in clauses_of(line):
                if not other.label and facts_agree(fact, other, around):
                    found.append(_turned(named, words | head, claim, line))
        if found and all(found) and found[0]:
            return fact, *found[0]
    return None


def _turned(near: frozenset[str], words: frozenset[str], claim: View, line: View) -> tuple[str, str] | None:
    """Return a word beside the claim's value and its opposite beside the source's, which neither says besides."""
    for mine in sorted(near - line.stem_set):
        theirs = sorted((opposites().get(mine, frozenset()) & words) - claim.stem_set)
        if theirs:
            return mine, theirs[0]
    return None
