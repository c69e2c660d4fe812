"""A claim over two or more documents: each value beside the name of the document that states it, the greater one greater."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from citegraph.citations.claim_checks import Problem
from citegraph.citations.fact_matching import View, facts_agree, family
from citegraph.citations.facts import Fact
from citegraph.language.claim_cues import AFTER, ALIKE, BEFORE, LESS, MORE
from citegraph.language.claim_tokens import content_stem
from citegraph.language.word_tables import alternation

# Share of the words of a claim over several documents that they have together, where its values are bound to them.
COMPARED = 0.5
UNBRIDGED = "no name holds the cited documents together; a sentence for each can be checked"
SWAPPED = "the values stand beside the wrong documents' names"
THAN = re.compile(rf"\b(?:{alternation('statements', 'than')})\b", re.IGNORECASE)
DENIED = re.compile(rf"(?:\b(?:{alternation('statements', 'denying')})|n['’]t)\s+(?:\w+\s+)?$", re.IGNORECASE)


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
class _Name:
    """The first word of a claim that only one of its documents has: its place, and that document."""

    at: int
    side: str


@dataclass(frozen=True, slots=True)
class _Value:
    """A value of a claim and the documents that state it, one at least."""

    fact: Fact
    homes: frozenset[str]


def bind(claim: View, sides: Mapping[str, Side]) -> Bound | None:
    """Tell whether each value of a claim stands beside the name of the document that states it.

    Names and values are paired by their order ("X: 18, Y: 12", "18 for X and 12 for Y", "X and Y: 18 and 12"). A value that
    no document states, or that all state, pairs with nothing. A comparing word must fit the values that it compares.

    Args:
        sides: what each cited document states, by its id; two or more.

    Returns:
        None when that cannot be told: a name or a value is missing, or the order is not plain.
    """
    mentions = _named(claim, sides)
    names = sorted(_first(mentions), key=lambda item: item.at)
    values = _valued(claim, sides)
    words = (MORE.search(claim.text), LESS.search(claim.text))
    if not values or any(DENIED.search(claim.text[: word.start()]) for word in words if word):
        return None
    if ALIKE.search(claim.text) and not _compares(claim.text):
        return _alike(names, values, sides)
    if len(values) == len(names) == len(sides):
        pairs = list(zip(names, values, strict=True))
    else:
        pairs = _by_runs(names, [item for item in values if len(item.homes) == 1])
        if len(pairs) != len(sides):
            return None
    if all(name.side in value.homes for name, value in pairs):
        return _ordered(claim, {name.side: value.fact for name, value in pairs}, mentions)
    return Bound("swapped")


def _alike(names: "Sequence[_Name]", values: "Sequence[_Value]", sides: Mapping[str, Side]) -> Bound | None:
    """Return what comes of "both" or "the same": every document must state the value."""
    if len({item.fact.text for item in values}) > 1:
        return None  # "both" may be said of one of the values alone
    lone = next((item for item in values if len(item.homes) < len(sides)), None)
    if lone is None:
        return Bound("right", " = ".join(dict.fromkeys(_shown(item.fact) for item in values)))
    only = f"only {', '.join(f'[{side}]' for side in sorted(lone.homes))} states {_shown(lone.fact)}"
    return Bound("swapped", only) if len(names) == len(sides) else None


def _by_runs(names: "Sequence[_Name]", values: "Sequence[_Value]") -> "list[tuple[_Name, _Value]]":
    """Return the pairs where each document states several values one after the other, none where they are mixed."""
    runs = [item for at, item in enumerate(values) if not at or values[at - 1].homes != item.homes]
    plain = len({item.homes for item in runs}) == len(runs) == len(names)
    return list(zip(names, runs, strict=True)) if plain else []


def _named(claim: View, sides: Mapping[str, Side]) -> list[_Name]:
    """Return the words of the claim that tell a document from the others, in order of the claim."""
    found: list[_Name] = []
    taken = [(fact.start, fact.end) for fact in claim.facts if fact.kind != "identifier"]
    for match in re.finditer(r"[^\W_](?:[\w.’'-]*\w)?", claim.text):
        if any(start < match.end() and match.start() < end for start, end in taken):
            continue
        parts = {root for part in re.split(r"[-’'.]", match.group()) if part and (root := content_stem(part))}
        homes = [side for side, known in sides.items() if parts <= known.stems | known.known]
        if parts and len(homes) == 1 and _telling(claim.text, match, bool(parts & sides[homes[0]].known)):
            found.append(_Name(match.start(), homes[0]))
    return found


def _first(names: "Sequence[_Name]") -> list[_Name]:
    """Return the first word of each document."""
    return list({item.side: item for item in reversed(names)}.values())[::-1]


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


def _valued(claim: View, sides: Mapping[str, Side]) -> list[_Value]:
    """Return the values that a document states, in order; one that is said twice, "eighteen (18)", counts once."""
    found: list[_Value] = []
    for fact in sorted(values_of(claim), key=lambda item: item.start):
        homes = frozenset(
            side
            for side, known in sides.items()
            if any(facts_agree(fact, other, known.around) for other in known.facts)
        )
        twice = (
            found
            and fact.amounts
            and found[-1].fact.amounts[:1] == fact.amounts[:1]
            and fact.start - found[-1].fact.end < 4
        )
        if homes and not twice:
            found.append(_Value(fact, homes))
    return found


def missing(claim: View, sides: Mapping[str, Side]) -> list[Fact]:
    """Return the values of a claim that none of the documents states."""
    return [
        fact
        for fact in claim.facts
        if not any(facts_agree(fact, other, side.around) for side in sides.values() for other in side.facts)
    ]


def spoiled(problems: "Sequence[Problem]") -> bool:
    """Tell whether more is wrong with a claim than its values, names and comparing words, which are bound by themselves."""
    return any(problem.kind in ("negation", "modality") for problem in problems)


def unnamed(claim: View, sides: Mapping[str, Side]) -> list[str]:
    """Return the names of a claim of which none of the documents has the better part."""
    held = frozenset[str]().union(*(side.stems | side.known for side in sides.values()))
    opens = (name for name in claim.names if name.start > 1 or len(name.stems) > 1)
    return [
        name.text
        for name in opens
        if 2 * sum(root not in held for root in name.stems) >= max(1, len(name.stems))
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
    return not values_of(claim) and len(_first(_named(claim, sides))) > 1 and not bridged(claim, sides)


def _compares(text: str) -> bool:
    return bool(MORE.search(text) or LESS.search(text))


def _ordered(claim: View, facts: "Mapping[str, Fact]", mentions: "Sequence[_Name]") -> Bound | None:
    """Return the values with their formula where the comparing word fits them, `swapped` where it says the reverse.

    Args:
        facts: the value of each document.
    """
    more, less = MORE.search(claim.text), LESS.search(claim.text)
    if not more and not less and all(fact.kind == "date" for fact in facts.values()):
        more, less = AFTER.search(claim.text), BEFORE.search(claim.text)
    word = more or less
    if word is None:
        return Bound("right", "; ".join(map(_shown, facts.values())))
    subject = None if (more and less) or len(facts) != 2 else _subject(claim.text, mentions, word)
    if subject is None:
        return None
    mine = facts[subject]
    theirs = next(fact for side, fact in facts.items() if side != subject)
    sizes = _size(mine), _size(theirs)
    if sizes[0] is None or sizes[1] is None or family(mine) != family(theirs):
        return None
    formula = f"{_shown(mine)} {'>' if more else '<'} {_shown(theirs)}"
    fits = sizes[0] > sizes[1] if more else sizes[0] < sizes[1]
    return Bound("right" if fits else "swapped", formula)


def _subject(text: str, mentions: "Sequence[_Name]", word: re.Match[str]) -> str | None:
    """Return the document that a comparing word speaks of: the one not named after "than", else the one named last before it."""
    than = THAN.search(text, word.end())
    if than:
        after = {item.side for item in mentions if item.at > than.end()}
        if len(after) == 1:
            return next((item.side for item in mentions if item.side not in after), None)
        if after:
            return None
    before = [item.side for item in mentions if item.at < word.start()]
    return before[-1] if before else mentions[0].side


def _size(fact: Fact) -> Decimal | None:
    """Return the amount of a number, or a whole date as one, None for what has no order."""
    if fact.kind == "date" and fact.date and None not in (fact.date.year, fact.date.month, fact.date.day):
        if fact.date.swapped:
            return None
        return Decimal(f"{fact.date.year:04d}{fact.date.month:02d}{fact.date.day:02d}")
    return fact.amounts[0] if fact.kind == "number" and fact.amounts else None


def _shown(fact: Fact) -> str:
    return " ".join(fact.text.replace("(", " ").replace(")", " ").split()).rstrip(" .,;")
