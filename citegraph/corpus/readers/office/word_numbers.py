"""Counts the numbered paragraphs of a Word document: "7.2" and "(a)" stand in no paragraph's text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from citegraph.corpus.readers.office.word import W

_MOST_LEVELS = 9
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"))
_SMALL_ROMAN = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


class _Level(NamedTuple):
    """How a level is counted and shown; `text` holds %1 to %9 for the counters."""

    start: int
    kind: str
    text: str
    legal: bool


@dataclass(frozen=True, slots=True)
class _List:
    """A numbered list: lists of the same `family` go on counting together."""

    family: str
    levels: dict[int, _Level]
    starts: dict[int, int]


class Numbers:
    """Gives each numbered paragraph its label, in the order of the document."""

    def __init__(self, numbering: Any) -> None:
        """Take the root of the numbering part, None when the document has none."""
        self._lists: dict[str, _List] = {}
        self._counters: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()
        if numbering is not None:
            self._read(numbering)

    def label(self, number_id: str, level: int) -> str:
        """Return the label of the next paragraph of a list at a level, "-" for a bullet; empty when it has none."""
        found = self._lists.get(number_id)
        shape = found.levels.get(level) if found else None
        if found is None or shape is None:
            return ""
        counters = self._counters.setdefault(found.family, {})
        if number_id not in self._begun:
            self._begun.add(number_id)
            for place, start in found.starts.items():
                counters[place] = start - 1
        counters[level] = counters.get(level, shape.start - 1) + 1
        for deeper in [place for place in counters if place > level]:
            del counters[deeper]
        if shape.kind == "bullet":
            return "-"
        if shape.kind == "none":
            return ""

        def shown(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            other = found.levels.get(place, shape)
            kind = "decimal" if shape.legal else other.kind
            return _counted(counters.get(place, other.start), kind)

        return re.sub(r"%([1-9])", shown, shape.text).strip()

    def _read(self, numbering: Any) -> None:
        families = {
            item.get(f"{W}abstractNumId"): {
                int(level.get(f"{W}ilvl") or 0): _level(level) for level in item.iterfind(f"{W}lvl")
            }
            for item in numbering.iterfind(f"{W}abstractNum")
        }
        for item in numbering.iterfind(f"{W}num"):
            family = _value(item, f"{W}abstractNumId")
            levels = dict(families.get(family, {}))
            starts: dict[int, int] = {}
            for change in item.iterfind(f"{W}lvlOverride"):
                place = int(change.get(f"{W}ilvl") or 0)
                if (start := _value(change, f"{W}startOverride")).isdigit():
                    starts[place] = int(start)
                if (level := change.find(f"{W}lvl")) is not None:
                    levels[place] = _level(level)
            self._lists[item.get(f"{W}numId")] = _List(family, levels, starts)


def list_of(properties: Any) -> tuple[str, int] | None:
    """Return (list id, level) that the properties of a paragraph or style name; either may stand alone."""
    found = properties.find(f"{W}numPr") if properties is not None else None
    if found is None:
        return None
    level = _value(found, f"{W}ilvl")
    return _value(found, f"{W}numId"), min(int(level), _MOST_LEVELS - 1) if level.isdigit() else 0


def _level(level: Any) -> _Level:
    start = _value(level, f"{W}start")
    return _Level(
        int(start) if start.isdigit() else 1,
        _value(level, f"{W}numFmt") or "decimal",
        _value(level, f"{W}lvlText"),
        level.find(f"{W}isLgl") is not None,
    )


def _value(element: Any, path: str) -> str:
    found = element.find(path)
    return (found.get(f"{W}val") or "") if found is not None else ""


def _counted(number: int, kind: str) -> str:
    match kind:
        case "lowerLetter" | "upperLetter" if number > 0:
            letters = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
            return letters if kind == "lowerLetter" else letters.upper()
        case "lowerRoman" | "upperRoman" if 0 < number < 4000:
            roman = ""
            for size, sign in (*_ROMAN, *_SMALL_ROMAN):
                roman += sign * (number // size)
                number %= size
            return roman if kind == "lowerRoman" else roman.upper()
        case "decimalZero":
            return f"{number:02}"
        case "none" | "bullet":
            return ""
    return str(number)
