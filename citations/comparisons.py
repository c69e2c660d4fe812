"""A claim over two or more documents: each value beside the name of the document that states it, the greater one greater."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from citations.facts import Fact
from citations.matching import View, facts_agree, family
from citations.tokens import content_stem

MORE = re.compile(
    r"\b(?:longer|more|higher|greater|larger|bigger|later|newer|heavier|costlier|stricter|exceeds?|länger\w*|mehr|höher\w*|größer\w*|"
    r"später\w*|teurer\w*|plus\s+(?:long|grand|élevé|tard)\w*)\b",
    re.IGNORECASE,
)
LESS = re.compile(
    r"\b(?:shorter|less|lower|fewer|smaller|earlier|sooner|older|cheaper|kürzer\w*|weniger|niedriger\w*|geringer\w*|kleiner\w*|"
    r"früher\w*|billiger\w*|moins|plus\s+(?:court|petit|bas|tôt)\w*)\b",
    re.IGNORECASE,
)
ALIKE = re.compile(r"\b(?:both|same|equal\w*|identical|beide[nrs]?|gleich\w*|jeweils|chacun\w*|deux)\b", re.I)
THAN = re.compile(r"\b(?:than|als|que)\b", re.IGNORECASE)
DENIED = re.compile(r"(?:\b(?:no|not|never|neither|nicht|kein\w*|pas)|n['’]t)\s+(?:\w+\s+)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Side:
    """One cited document.

    Attributes:
        facts: what its passages on the claim state; `around` is the text in which their units stand.
        stems: every stem of its evidence; `known` those of its title, id and fields; `named` those of names in its fields.
    """

    facts: Sequence[Fact]
    around: str
    stems: frozenset[str]
    known: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Bound:
    """How the values of a claim lie over its documents: `right` with the formula of what it compares, or `swapped`."""

    outcome: Literal["right", "swapped"]
    formula: str = ""


@dataclass(frozen=True, slots=True)
class _Mention:
    """A word that only one document has, or a value that only one states: its place in the claim and that document."""

    at: int
    side: str
    fact: Fact | None = None


def bind(claim: View, sides: Mapping[str, Side]) -> Bound | None:
    """Tell whether each value of a claim stands beside the name of the document that states it.

    Names and values are paired by their order ("X: 18, Y: 12", "18 for X and 12 for Y", "X and Y: 18 and 12"). A value that
    no document states, or that all state, pairs with nothing. A comparing word must fit the values that it compares.

    Args:
        sides: what each cited document states, by its id; two or more.

    Returns:
        None when that cannot be told: a name or a value is missing, or the order is not plain.
    """
    names = _named(claim, sides)
    values, shared = _valued(claim, sides)
    if any(
        DENIED.search(claim.text[: word.start()])
        for word in (MORE.search(claim.text), LESS.search(claim.text))
        if word
    ):
        return None
    if not values:
        everywhere = shared and ALIKE.search(claim.text) and not _compares(claim.text)
        return (
            Bound("right", " = ".join(dict.fromkeys(_shown(fact) for fact in shared))) if everywhere else None
        )
    if ALIKE.search(claim.text) and not _compares(claim.text):
        only = f"only [{values[0].side}] states {_shown(values[0].fact)}"
        return Bound("swapped", only) if len(names) == len(sides) else None
    if len(names) != len({item.side for item in values}):
        return None
    order = list(dict.fromkeys(item.side for item in values))
    runs = [item.side for at, item in enumerate(values) if not at or values[at - 1].side != item.side]
    if runs != order:
        return None
    if [item.side for item in names] != order:
        return Bound("swapped") if {item.side for item in names} == set(order) else None
    return _ordered(claim, names, values)


def _named(claim: View, sides: Mapping[str, Side]) -> list[_Mention]:
    """Return the first word of the claim that tells each document from the others, in order of the claim."""
    first: dict[str, _Mention] = {}
    taken = [(fact.start, fact.end) for fact in claim.facts if fact.kind != "identifier"]
    for match in re.finditer(r"[^\W_](?:[\w.’'-]*\w)?", claim.text):
        if any(start < match.end() and match.start() < end for start, end in taken):
            continue
        parts = {content_stem(part) for part in re.split(r"[-’'.]", match.group())} | {
            content_stem(match.group())
        }
        homes = [side for side, known in sides.items() if (parts - {""}) & (known.stems | known.known)]
        if len(homes) == 1 and _telling(claim.text, match, bool((parts - {""}) & sides[homes[0]].known)):
            first.setdefault(homes[0], _Mention(match.start(), homes[0]))
    return sorted(first.values(), key=lambda item: item.at)


def _telling(text: str, match: re.Match[str], known: bool) -> bool:
    """Tell whether a word is a name; one that opens a sentence has its capital in any case, so it must be known as one."""
    word = match.group()
    if _quoted(text, match) or any(map(str.isdigit, word)) or (not word[1:].islower() and word[1:]):
        return True
    opens = text[: match.start()].rstrip()[-1:] in ("", ".", ":", "!", "?")
    return word[0].isupper() and (known or not opens)


def _quoted(text: str, match: re.Match[str]) -> bool:
    """Tell whether a word stands in quotes or is marked as code: then it is a name, however it is written."""
    return (
        text[: match.start()][-1:] in "`'\"“„‘" and text[match.end() :][:1] in "`'\"”“’" and match.start() > 0
    )


def _valued(claim: View, sides: Mapping[str, Side]) -> tuple[list[_Mention], list[Fact]]:
    """Return the values that some documents state and others do not, in order, and those that all state."""
    some, shared = [], []
    for fact in sorted(claim.facts, key=lambda item: item.start):
        if fact.kind == "identifier":
            continue
        homes = [
            side
            for side, known in sides.items()
            if any(facts_agree(fact, other, known.around) for other in known.facts)
        ]
        if len(homes) == 1:
            some.append(_Mention(fact.start, homes[0], fact))
        elif len(homes) == len(sides):
            shared.append(fact)
    return some, shared


def missing(claim: View, sides: Mapping[str, Side]) -> list[Fact]:
    """Return the values of a claim that none of the documents states."""
    return [
        fact
        for fact in claim.facts
        if not any(facts_agree(fact, other, side.around) for side in sides.values() for other in side.facts)
    ]


def values_of(claim: View) -> list[Fact]:
    """Return the numbers and dates of a claim: what a document must state beside the right name."""
    return [fact for fact in claim.facts if fact.kind != "identifier"]


def bridged(claim: View, sides: Mapping[str, Side]) -> bool:
    """Tell whether a name holds the documents of a claim together: one that it names and all have, or all have as a field."""
    shared = frozenset.intersection(*(side.stems | side.known for side in sides.values()))
    fields = frozenset.intersection(*(side.named for side in sides.values()))
    return bool(fields) or any(stem in shared for name in claim.names for stem in name.stems)


def unbridged(claim: View, sides: Mapping[str, Side]) -> bool:
    """Tell whether a claim without values joins names of different documents that nothing holds together."""
    return not values_of(claim) and len(_named(claim, sides)) > 1 and not bridged(claim, sides)


def _compares(text: str) -> bool:
    return bool(MORE.search(text) or LESS.search(text))


def _ordered(claim: View, names: Sequence[_Mention], values: Sequence[_Mention]) -> Bound | None:
    """Return the pairs with their formula where the comparing word fits them, `swapped` where it says the reverse."""
    first = {item.side: item.fact for item in reversed(values)}
    more, less = MORE.search(claim.text), LESS.search(claim.text)
    if not more and not less:
        return Bound("right", "; ".join(_shown(fact) for fact in first.values() if fact))
    word = more or less
    subject = _subject(claim.text, names, word) if word and not (more and less) and len(names) == 2 else None
    if subject is None:
        return None
    other = next(item.side for item in names if item.side != subject)
    mine, theirs = _size(first[subject]), _size(first[other])
    if mine is None or theirs is None or family(first[subject]) != family(first[other]):  # type: ignore[arg-type]
        return None
    sign: Callable[[Decimal, Decimal], bool] = Decimal.__gt__ if more else Decimal.__lt__
    formula = f"{_shown(first[subject])} {'>' if more else '<'} {_shown(first[other])}"
    return Bound("right", formula) if sign(mine, theirs) else Bound("swapped", formula)


def _subject(text: str, names: Sequence[_Mention], word: re.Match[str]) -> str | None:
    """Return the side that a comparing word speaks of: the one that does not follow "than", else the one named before it."""
    than = THAN.search(text, word.end())
    if than:
        after = [item for item in names if item.at > than.end()]
        if len(after) == 1:
            return next(item.side for item in names if item.side != after[0].side)
        if len(after) == 2:
            return None
    before = [item for item in names if item.at < word.start()]
    return before[-1].side if before else names[0].side


def _size(fact: Fact | None) -> Decimal | None:
    """Return the amount of a number, or a whole date as one, None for what has no order."""
    if fact is None:
        return None
    if fact.kind == "date" and fact.date and None not in (fact.date.year, fact.date.month, fact.date.day):
        if fact.date.swapped:
            return None
        return Decimal(f"{fact.date.year:04d}{fact.date.month:02d}{fact.date.day:02d}")
    return fact.amounts[0] if fact.kind == "number" and fact.amounts else None


def _shown(fact: Fact | None) -> str:
    return " ".join(fact.text.split()).strip(" ()") if fact else ""
