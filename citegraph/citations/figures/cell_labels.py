"""What a value is said of: the words with which a claim names it against the heads and labels where the source has it."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate

from citegraph.citations.cited_pool import index_stems, units_of
from citegraph.citations.claims import TableCell
from citegraph.citations.fact_matching import View, facts_agree, family, view
from citegraph.citations.facts import Fact, with_unit
from citegraph.citations.figures.tables import tables_of
from citegraph.language import units
from citegraph.language.word_tables import source


@cache
def _chunk() -> re.Pattern[str]:
    """Return what stands between two parts of a sentence that each say something of their own value."""
    return re.compile(rf"[,;:()|\n]|\s[–—-]\s|(?<=\w)\.(?=\s)|{source('joins', 'against')}", re.IGNORECASE)


_CLOCK = re.compile(r"\d{1,2}:\d\d")  # no part of a time of day names anything


@dataclass(frozen=True, slots=True)
class Place:
    """A value in its place.

    Attributes:
        row, column: what names the row and the column of a cell; of prose the words of its clause, and none.
        group: its table, 0 for the labelled lines of a form or a receipt, less for a sentence with several values of a kind.
        line: the line that states it, `at` the number of its column.
        key: what names it alone in brackets: "386 (2022: 412)".
        cell: it stands in a cell of a table.
    """

    fact: Fact
    row: frozenset[str]
    column: frozenset[str]
    group: int
    line: int
    at: int
    key: frozenset[str] = frozenset()
    cell: bool = False


_CODED = re.compile(r"(?<![\w-])[A-Z][A-Za-z]{0,4}[ -]?\d+[A-Za-z]?(?:[-./]\w+)*(?!\w)")
_LETTERED = re.compile(r"(?<![\w-])(?:[^\W\d_]{3,}|\d+)[ -][A-Z](?![\w-])")


@lru_cache(maxsize=8192)
def naming(text: str) -> frozenset[str]:
    """Return what names a thing in a text: its stems, its codes whole ("CX 40-16"), and letters with their noun or number ("Class A", "80 M")."""
    codes = {re.sub(r"[ -]+", "-", match.group().casefold()) for match in _CODED.finditer(text)}
    letters = {
        "-".join(match.group().casefold().split())
        for match in _LETTERED.finditer(text)
        if not (match.group()[0].isdigit() and units.unit(match.group()[-1], False))
    }
    return index_stems(text) | codes | letters


@lru_cache(maxsize=256)
def places_of(text: str, comma: bool | None = None) -> tuple[Place, ...]:
    """Return the values of a text in their places."""
    found: list[Place] = []
    tables = tables_of(text)
    for group, table in enumerate(tables, 1):
        for cell in table.cells:
            row, column = naming(_CLOCK.sub(" ", cell.names)), naming(cell.head)
            for fact in view(text[cell.start : cell.end], comma).facts:
                if fact.label:
                    continue
                found.append(
                    Place(with_unit(fact, cell.unit), row, column, group, cell.line, cell.column, cell=True)
                )
    for line, (start, end) in enumerate(_lines(text)):
        if any(t.start <= start < t.end for t in tables):
            continue
        match = _LABELLED.fullmatch(text, start, end)
        label = index_stems(match["label"]) if match else frozenset()
        facts = view(match["values"], comma).facts if match and label else ()
        for at, fact in enumerate(facts, 1):
            found.append(Place(fact, label, frozenset(), 0, line, at))
    labelled = {p.line for p in found if not p.group}
    for number, (start, end) in enumerate(units_of(text), 1):
        if any(t.start <= start < t.end for t in tables) or text.count("\n", 0, start) in labelled:
            continue
        sentence = view(text[start:end], comma)
        kinds = Counter(family(f) for f in sentence.facts if not f.label)
        bracketed = [(m.span(2), m.start(), naming(m[1])) for m in _BRACKETED.finditer(sentence.text)]
        told = list(clauses_of(sentence, keyed=True))
        for line, (fact, words) in enumerate(told):
            if not _tells(fact) or kinds[family(fact)] < 2:
                continue
            inside = next(((at, key) for (a, b), at, key in bracketed if a <= fact.start < b), None)
            if inside is not None:  # it shares what is said of the value before its bracket
                before = [w for f, w in told if f.end <= inside[0] and family(f) == family(fact)]
                named = words | inside[1] | (before[-1] if before else frozenset())
            else:
                named = words
            key = inside[1] if inside else frozenset[str]()
            found.append(Place(fact, named, frozenset(), -number, line, 0, key))
    return tuple(found)


_BRACKETED = re.compile(r"\(([^():]{2,30}):\s([^()]*)\)")


def _tells(fact: Fact) -> bool:
    """Tell whether a value of a sentence can be another one's rival: a year, a clock, an article ("an hour") cannot."""
    if fact.label or fact.kind == "identifier":
        return False
    if fact.date is not None:
        return fact.date.month is not None
    return not (fact.spelled and len(fact.printed) < 4)


_VALUE = r"[(<>≤≥±+−–-]*(?:[$€£¥]|[A-Z]{2,3}[ ]?)?[(±+−–-]*\d[\d.,'/:-]*(?:[ ]?(?:\)|%|[€$£°]|[^\W\d_]{1,3}\b))*\)?"
_LABELLED = re.compile(
    rf"[ \t]*(?P<label>[^\W\d_][^\n|\d]{{1,50}}?)[ \t]*(?::|[ \t]|\.{{3,}})[ \t]*(?P<values>{_VALUE}(?:[ \t]+{_VALUE})*)[ \t]*"
)
"""A line of a form, a receipt or a flattened table: a label, and nothing but values behind it."""


def _lines(text: str) -> Iterable[tuple[int, int]]:
    at = 0
    for line in text.split("\n"):
        yield at, at + len(line)
        at += len(line) + 1


def clauses_of(sentence: View, keyed: bool = False) -> Iterable[tuple[Fact, frozenset[str]]]:
    """Yield the facts of a sentence with the words of the clause around each.

    Args:
        keyed: a value that stands behind a colon is named by what stands before it ("PX-40H: 20 Nm"), and by nothing else.
    """
    text = sentence.text
    starts = [fact.start for fact in sentence.facts]
    ends = [0, *accumulate((fact.end for fact in sentence.facts), max)]
    found = [mark.start() for mark in _chunk().finditer(text)] if starts else []
    cuts = [0, *(at for at in found if at >= ends[bisect_right(starts, at)]), len(text)]
    keys = {
        fact.start: key.start()
        for fact in sentence.facts
        if keyed and (key := _KEY.search(text, 0, fact.start)) is not None
    }
    for fact in sentence.facts:
        left = cuts[max(1, bisect_left(cuts, keys.get(fact.start, fact.start))) - 1]
        right = cuts[bisect_left(cuts, fact.end, 1)]
        if any(fact.end <= at <= right for at in keys.values()):
            right = fact.end  # what follows names the next value
        yield fact, naming(f"{text[left : fact.start]} {text[fact.end : right]}")


_KEY = re.compile(r"[\w.)-]+:\s{1,3}[\"(±<>≤≥~+–-]?$")


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A value that the source has in another place than the claim's words name.

    Attributes:
        fact: the claim's value.
        rival: what the source has in the place that the claim names.
        said: the words of the claim that name that place.
        weight: how far those words outweigh the words that name the value's own place.
        whole: no word of the whole claim names the value's own place rather than the rival's.
    """

    fact: Fact
    rival: Place
    said: tuple[str, ...]
    weight: float
    whole: bool

    @property
    def clear(self) -> bool:
        """Tell whether words, not numbers alone, name another place, and none the value's own."""
        return self.whole and self.weight >= 1 and any(word[0] != "#" or len(word) > 4 for word in self.said)


@dataclass(frozen=True, slots=True)
class Said:
    """A value of a claim with the words that name it: those of its clause, and those of the whole claim.

    Attributes:
        cell: it stands in a row of the answer; its own label and head name it and no other words do.
        asked: words of the question.
    """

    fact: Fact
    near: frozenset[str]
    whole: frozenset[str]
    cell: bool = False
    asked: frozenset[str] = frozenset()


def misplaced(claim: Sequence[Said], places: Sequence[Place], around: str) -> list[Misplaced]:
    """Return the values of a claim that its words name otherwise than the source does.

    Args:
        places: the values of the cited spans.
        around: the text in which their units stand.
    """
    found = []
    homes = {
        id(s): [p for p in places if p.fact.kind == s.fact.kind and facts_agree(s.fact, p.fact, around)]
        for s in claim
    }
    stated = {id(p) for group in homes.values() for p in group}
    for said in claim:
        mine = homes[id(said)]
        others = [homes[id(s)] for s in claim if s is not said and _alike(s.fact, said.fact) and homes[id(s)]]
        worst: list[Misplaced | None] = []
        for home in mine:
            rivals = []
            for place in places:
                if not _beside(home, place) or place in mine:
                    continue
                bare = home.group >= 0 and family(home.fact) == family(place.fact)
                if not bare and not _alike(said.fact, place.fact):
                    continue  # of "plates 1 to 6, 20 x 900 mm" no number of a plate is a length
                if not said.cell and any(all(_along(place, home, p) for p in group) for group in others):
                    continue  # the claim has another value from that row or column
                rival = _rival(said, home, place)
                if rival is not None and (said.cell or id(place) not in stated):
                    rivals.append(rival)
            worst.append(max(rivals, key=lambda r: (r.whole, r.weight), default=None))
        clear = [w for w in worst if w is not None]
        if clear and len(clear) == len(worst):
            found.append(min(clear, key=lambda r: (r.whole, r.weight)))
    return found


def well_placed(claim: Sequence[Said], places: Sequence[Place], around: str) -> list[Fact]:
    """Return the values of a claim that it names by words of their own place, and those of tables, whose order says nothing."""
    found = []
    for said in claim:
        for home in (
            p for p in places if p.fact.kind == said.fact.kind and facts_agree(said.fact, p.fact, around)
        ):
            rivals = [p for p in places if _beside(home, p) and _alike(home.fact, p.fact)]
            if home.cell or (rivals and all(_own_named(said, home, rival) for rival in rivals)):
                found.append(said.fact)
                break
    return found


def _own_named(said: Said, home: Place, rival: Place) -> bool:
    own = (home.row - rival.row) | (home.column - rival.column)
    theirs = (rival.row - home.row) | (rival.column - home.column)
    named = named_in(said.near, own)
    return bool(named) and (named == own or named_in(said.near, theirs) != theirs)


def _along(rival: Place, home: Place, other: Place) -> bool:
    """Tell whether a place lies in the row, or the column, in which a rival differs from the value's own place."""
    if other.group != rival.group:
        return False
    return other.at == rival.at if rival.line == home.line else other.line == rival.line


def _beside(home: Place, other: Place) -> bool:
    """Tell whether two cells of a table share their row or their column: what can be mistaken for one another."""
    return home.group == other.group and (home.line == other.line) != (home.at == other.at)


def _alike(one: Fact, other: Fact) -> bool:
    mine, theirs = family(one), family(other)
    return mine == theirs or (
        {mine, theirs} <= {"number", "money", "percent", "duration"} and "number" in (mine, theirs)
    )


def _rival(said: Said, home: Place, rival: Place) -> Misplaced | None:
    value = index_stems(said.fact.text) | index_stems(home.fact.text)
    own = ((home.row - rival.row) | (home.column - rival.column)) - value
    if rival.key and not home.key and rival.key <= said.near:
        return Misplaced(said.fact, rival, tuple(sorted(rival.key)), 1.0, True)
    if home.group < 0 and not own:
        return None  # nothing in the sentence names this value rather than the other
    theirs = ((rival.row - home.row) | (rival.column - home.column)) - value
    named = named_in(said.near, theirs)
    weight = len(named) - len(named_in(said.near, own))
    asked = named_in(said.asked, own) and not named_in(said.asked, theirs)
    whole = not asked and not named_in(said.whole, own)
    if named and weight > 0:
        return Misplaced(said.fact, rival, tuple(sorted(named)), float(weight), whole)
    named = named_in(said.whole, theirs)
    if named and whole:
        return Misplaced(said.fact, rival, tuple(sorted(named)), 0.5 * len(named), True)
    return None


def named_in(words: frozenset[str], label: frozenset[str]) -> frozenset[str]:
    """Return the words of a label that are among others, or short for one of them ("max", "maximum")."""
    return frozenset(w for w in label if w in words or any(_short(w, other) for other in words))


def _short(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= 3 and long.isalpha() and long.startswith(short) and len(short) < len(long)


def said_of(statement: View, asked: frozenset[str] = frozenset()) -> list[Said]:
    """Return the values of a sentence with the words that name them; what the question named speaks for a value too."""
    whole = naming(statement.text)
    return [Said(fact, words, whole, asked=asked) for fact, words in clauses_of(statement)]


def said_in_row(cells: Sequence[TableCell]) -> list[Said]:
    """Return the values of an answer's row, each named by the row's first cell and by the head of its own column."""
    label = naming(cells[0].text)
    found = []
    for cell in cells[1:]:
        words = label | naming(cell.head)
        found += [Said(fact, words, words, cell=True) for fact in view(cell.text).facts]
    return found
