"""What the cell of a rating says in numbers, and ratings that stand under no heads: a name, a number, a unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from citegraph.corpus.extraction.rows.grid import GridLine
from citegraph.corpus.schema.bucket import RowKind
from citegraph.language.numbers import DIGITS_PATTERN, readings
from citegraph.language.units import unit
from citegraph.language.word_tables import alternation

TOGETHER, NEAR = 3, 6
"""Ratings without heads that a document has at least, and lines to the next one where a mere blank parts name and number."""
_LONGEST_NAME, _MOST_WORDS = 60, 7
_PREFIXES = frozenset("pnuµμmkMGT")
_ALIKE = str.maketrans(
    {"−": "-", "–": "-", "—": "-", "～": "~", "：": ":", "℃": "°C", "˚": "°", "º": "°", "⩽": "≤", "⩾": "≥"}
)
DEGREES = re.compile(r"(?<![^\W\d_])[oO°] ?C(?!\w)")
"""Degrees whose ring was set as a small letter."""
_UNIT = r"(?:[%‰°℉]|[°µμΩ]?[^\W\d_]{1,6})(?:[/.*·][^\W\d_]{1,6}[23²³]?){0,2}"
_WORD_TO = rf"(?:{alternation('dates', 'to')})(?![^\W\d_])"
_TO = rf"(?:~|\.\.\.?|…|÷|-|/|{_WORD_TO})"
_END = r"(?P<{}>(?<![^\W\d_])[^\W\d_]{{2,8}}\.?(?![^\W\d_]))"
_NUMBER = rf"[-+]?\s?{DIGITS_PATTERN}"
_SAID = re.compile(
    rf"(?:{_END.format('before')}\s(?:[^\W\d_]{{2,3}}\s)?)?(?P<sign>[≥>≤<±]|\+/-)?=?\s?(?P<one>{_NUMBER})\s?(?P<first>(?!{_WORD_TO}\s?[-+±]?\s?\d){_UNIT})?"
    rf"(?:\s?{_TO}\s?±?\s?(?P<two>{_NUMBER})\s?(?P<second>{_UNIT})?"
    rf"|(?(first)(?!))\s(?P<next>[-+]?{DIGITS_PATTERN})(?:\s(?P<last>[-+]?{DIGITS_PATTERN}))?\s(?P<third>{_UNIT})"
    rf"|\s?(?:±|\+/-)\s?{DIGITS_PATTERN}\s?(?P<about>{_UNIT})?)?"
    rf"(?:\s?{_END.format('behind')}(?:\s[^\W\d_]{{2,12}}){{0,3}})?\s*(?:[(（@].{{0,60}})?",
    re.IGNORECASE,
)
_MORE = re.compile(r"(?<=[^\W\d_%°])[,;] ?.*\d.*")
"""Another number behind one with its unit: "230 V, 50 Hz"."""
_MARKED = re.compile(r"([^()]*\d)\d\)")
"""A number with the mark of a footnote behind it: 400 in "4001)"."""
_NONE_BEFORE = re.compile(r"^(?:-\s?)+(?=[±≤<≥>])")
"""Dashes of empty cells before a number."""
_UNIT_OF_NAME = re.compile(rf"\s*[(\[（]\s?(?P<unit>{_UNIT})\s?[)\]）]$")
_INDEX = re.compile(r"^(?:\d{1,3}(?:\.\d{1,2})?[.)]?\s+)?[^\w(]{0,3}\s*")
_SPLIT = re.compile(r"\s*:\s*|\s+(?=[≥>≤<±+-]?\s?\d)|\s(?=[^\W\d_]{3,8}\.?\s\d)")
_SLOT = rf"(?:[±<>≤≥~]\s?)?[-+]?{DIGITS_PATTERN}|-{{1,4}}"
_SLOTS = re.compile(rf"(?P<name>.*?[^\W\d_]{{3}}.*?)(?P<slots>(?:\s(?:{_SLOT})){{2,3}})\s(?P<unit>{_UNIT})")
"""A rating in a line of words: its ends one after the other, a dash for none, and the unit."""
_ENDS = ("min", "typ", "max")
_CONDITION = re.compile(r"(?<=[^\W\d_]{3})(?: \S{1,6})? (?=\S* ?[=<>≤≥@]).*")
"""What a rating holds under, behind its name and symbol in one line."""
_NO_NAME = re.compile(r"[a-z)]\.\s+[A-Z]|[:;!?=@,]")


@dataclass(frozen=True, slots=True)
class Measured:
    """The ends that a cell names, None where it names none: least, usual, most; `value` where it does not say which."""

    min: float | None = None
    typ: float | None = None
    max: float | None = None
    value: float | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Rated:
    """A rating without heads: its line, what it is called, and what is measured; `apart`: more than a blank parts the two."""

    line: GridLine
    parameter: str
    measured: Measured
    apart: bool


@lru_cache(maxsize=8192)
def is_unit(text: str) -> bool:
    """Tell whether a word is a unit, one with a prefix, or made of one ("µW", "mV/g")."""
    parts = [text, *re.split(r"[/.*·]", text)]
    return any(
        unit(part, glued=True) or (part[0] in _PREFIXES and unit(part[1:], glued=True))
        for part in parts
        if part
    )


@lru_cache(maxsize=8192)
def measured(text: str, ends: tuple[tuple[str, str], ...], *, apart: bool = True) -> Measured | None:
    """Return what a whole cell says, None when it is no number with what belongs to one.

    Args:
        ends: (word, end) of the words that say which end a number is ("maximum", "max").
        apart: whether it is a cell of its own, in which any other words may stand around the two ("24 V DC", "up to 3 A").
    """
    text = _MARKED.sub(r"\1", text.strip()) if _MARKED.fullmatch(text.strip()) else text
    plain = DEGREES.sub("°C", _NONE_BEFORE.sub("", text.translate(_ALIKE).strip()))
    found = _SAID.fullmatch(plain) or (_SAID.fullmatch(_MORE.sub("", plain)) if apart else None)
    if found is None:
        return None
    marks = [mark for name in ("first", "second", "third", "about") if (mark := found[name])]
    said = dict(ends)
    words = [
        (found[part], said.get(found[part].casefold().rstrip(".")))
        for part in ("before", "behind")
        if found[part]
    ]
    if not all(map(is_unit, marks)) or not all(end or (apart and marks) for _, end in words):
        return None
    if found["two"] and "/" in found.group() and not (found["first"] and found["second"]):
        return None
    numbers = [_number(found[name]) for name in ("one", "two", "next", "last") if found[name]]
    if None in numbers:
        return None
    shown = found["second"] or found["third"] or found["first"] or found["about"] or ""
    return _ends(
        [one for one in numbers if one is not None],
        found["sign"] or "",
        {end for _, end in words if end},
        shown,
    )


def _ends(numbers: Sequence[float], sign: str, named: set[str], shown: str) -> Measured:
    if len(numbers) == 3:
        return Measured(min=numbers[0], typ=numbers[1], max=numbers[2], unit=shown)
    if len(numbers) == 2:
        # "20-70" is a range.
        low, high = numbers[0], abs(numbers[1]) if numbers[0] > numbers[1] else numbers[1]
        return Measured(min=low, max=high, unit=shown)
    [number] = numbers
    if sign in {"±", "+/-"}:
        return Measured(min=-number, max=number, unit=shown)
    if sign in set("≤<") or named == {"max"}:
        return Measured(max=number, unit=shown)
    if sign in set("≥>") or named == {"min"}:
        return Measured(min=number, unit=shown)
    return Measured(typ=number, unit=shown) if named == {"typ"} else Measured(value=number, unit=shown)


def _number(text: str) -> float | None:
    found = readings(text)
    return (-1 if text.startswith("-") else 1) * float(found[0]) if found else None


def rated_lines(kind: RowKind, lines: Sequence[GridLine]) -> Iterator[Rated]:
    """Yield the ratings of lines that begin with a name and say a number with its unit, where a document has several."""
    found: list[tuple[int, Rated]] = []
    order: Sequence[str] = _ENDS
    for number, line in enumerate(line for line in lines if not line.is_blank):
        if any(map(str.isdigit, line.text)):
            found += [(number, rated) for rated in _rated(line, kind.words_of_ends, order)]
        elif len(heads := _ends_named(line.text, kind.words_of_ends)) > 1:
            order = heads
    apart = [number for number, rated in found if rated.apart]
    if len(apart) < TOGETHER:
        apart = []
    for number, rated in found:
        near = [other for other, _ in found if abs(other - number) <= NEAR]
        if (rated.apart and apart) or len(near) >= TOGETHER:
            yield rated


def _ends_named(text: str, ends: tuple[tuple[str, str], ...]) -> list[str]:
    """Return the ends that the words of a line name, in their order."""
    said = dict(ends)
    named = (said.get(word.casefold().strip(".:")) for word in text.split())
    return [end for end in dict.fromkeys(named) if end in _ENDS]


def _in_order(line: GridLine, order: Sequence[str]) -> tuple[str, Measured] | None:
    """Return name and ends of a line that says as many of these, one after the other, as heads named."""
    found = _SLOTS.fullmatch(" ".join(line.text.translate(_ALIKE).split()))
    slots = re.findall(rf"(?<=\s)(?:{_SLOT})(?!\S)", found["slots"]) if found else []
    if not found or len(slots) != len(order) or not is_unit(found["unit"]):
        return None
    numbers = {
        end: _number(re.sub(r"[^\d.,' -]", "", slot).strip())
        for end, slot in zip(order, slots, strict=True)
        if slot.strip("-")
    }
    said = Measured(numbers.get("min"), numbers.get("typ"), numbers.get("max"), None, found["unit"])
    return (found["name"], said) if any(number is not None for number in numbers.values()) else None


def _rated(line: GridLine, ends: tuple[tuple[str, str], ...], order: Sequence[str]) -> Iterator[Rated]:
    if (run := _in_order(line, order)) and (named := _called(run[0], apart=True)):
        yield Rated(line, named, run[1], apart=True)
        return
    cells = [cell.text for cell in line.cells if cell.text]
    place = 0
    while place < len(cells):
        name, said, taken, apart = cells[place], None, 1, True
        for split in _SPLIT.finditer(name, 0, 2 * _LONGEST_NAME):
            if len(name) - split.end() > _LONGEST_NAME:
                continue
            apart = ":" in split[0].translate(_ALIKE)
            said = (
                _with_unit(name[: split.start()], name[split.end() :], ends, apart=apart)
                if split.start()
                else None
            )
            if said:
                name = name[: split.start()]
                break
        # Between a name and its value a symbol may stand, behind it a cell with the unit.
        for value in range(place + 1, min(place + 4, len(cells))) if said is None else ():
            for last in (value + 1, value):
                if said is None and last < len(cells):
                    said = _with_unit(name, " ".join(cells[value : last + 1]), ends, apart=True)
                    taken, apart = last + 1 - place, True
        called = _called(name, apart=apart) if said else ""
        if said and called:
            yield Rated(line, called, said, apart)
        # Behind a short symbol the next cell may be the name.
        place += taken if called else 1


def _with_unit(name: str, text: str, ends: tuple[tuple[str, str], ...], *, apart: bool) -> Measured | None:
    said = measured(text, ends, apart=apart)
    if said is None or said.unit:
        return said
    of_name = _UNIT_OF_NAME.search(name.translate(_ALIKE))
    return replace(said, unit=of_name["unit"]) if of_name and is_unit(of_name["unit"]) else None


def _called(text: str, *, apart: bool) -> str:
    """Return what a rating is called, without its number, the unit behind it and a condition ("IC = 2 mA"); nothing of no name."""
    text = _CONDITION.sub("", text.translate(_ALIKE))
    name = _UNIT_OF_NAME.sub("", _INDEX.sub("", text.translate(_ALIKE), count=1).strip(" :.·•"))
    words = name.split()
    if len(name) > _LONGEST_NAME or not 0 < len(words) <= _MOST_WORDS or _NO_NAME.search(name):
        return ""
    # One short word is a symbol ("Ptot").
    long = (
        re.search(r"[^\W\d_]{3}", name)
        if len(words) > 1
        else re.search(r"[^\W\d_]{5}|[^\W\d_a-zA-Z]{2}", name)
    )
    return name if long and name[:1].isalpha() and (apart or not name[:1].islower()) else ""
