"""Texts that a pattern nearly fits, made of the pattern itself: what it repeats, and what leads up to it."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

_parser: Any = re._parser  # type: ignore[attr-defined]
_TRIED = "a1A -.,:\n\t/(é世_|€\u00a0'\"%<[&;=+*#"
"""Characters of which the first that a class holds stands for the class."""
MOST = 24
LONG = 30
"""How often what is repeated stands behind what leads up to it."""


def own_units(pattern: re.Pattern[str]) -> list[str]:
    """Return at most `MOST` short texts that lead a pattern far before they fail it, the whole of it among them."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    found = dict.fromkeys(unit for unit in _units(list(tree)) if unit)
    whole = _example(list(tree))
    return list(dict.fromkeys([*([whole] if whole else []), *islice(found, MOST)]))[:MOST]


def _units(sequence: Sequence[Any]) -> Iterator[str]:
    """Yield the repeated parts of a sequence alone, and behind everything that stands before them."""
    for place, (kind, argument) in enumerate(sequence):
        for inner, repeated in _inner(kind, argument):
            body = _example(inner)
            if repeated and body:
                yield body
                yield _example(sequence[:place]) + body * LONG
            yield from _units(inner)


def _inner(kind: Any, argument: Any) -> Iterator[tuple[Sequence[Any], bool]]:
    """Yield the sequences in an element, and whether each may stand there again and again."""
    name = str(kind)
    if "REPEAT" in name:
        yield list(argument[2]), int(argument[1]) > 1
    elif name == "SUBPATTERN":
        yield list(argument[3]), False
    elif name == "BRANCH":
        yield from ((list(way), False) for way in argument[1][:6])
    elif name in {"ASSERT", "ASSERT_NOT"}:
        yield list(argument[1]), False
    elif name == "ATOMIC_GROUP":
        yield list(argument), False


def _example(sequence: Sequence[Any]) -> str:
    """Return a text that fits a sequence, as far as one sees without looking around."""
    return "".join(_of(kind, argument) for kind, argument in sequence)


def _of(kind: Any, argument: Any) -> str:
    name = str(kind)
    if name == "LITERAL":
        return chr(argument)
    if name == "NOT_LITERAL":
        return next(char for char in _TRIED if ord(char) != argument)
    if name == "ANY":
        return "a"
    if name == "IN":
        return next((char for char in _TRIED if _holds(argument, char)), _first(argument))
    if "REPEAT" in name:
        return _example(list(argument[2])) * min(max(1, int(argument[0])), LONG)
    if name == "BRANCH":
        return _example(list(argument[1][0]))
    inner = [item for item, _ in _inner(kind, argument)]
    return _example(inner[0]) if inner and not name.startswith("ASSERT") else ""


def _holds(items: Sequence[Any], char: str) -> bool:
    negated = str(items[0][0]) == "NEGATE"
    return bool(negated) != any(_fits(str(kind), argument, char) for kind, argument in items)


def _fits(name: str, argument: Any, char: str) -> bool:
    if name == "LITERAL":
        return bool(ord(char) == argument)
    if name == "RANGE":
        return bool(argument[0] <= ord(char) <= argument[1])
    if name != "CATEGORY":
        return False
    said = str(argument).removeprefix("CATEGORY_")
    kind = {"DIGIT": char.isdigit(), "SPACE": char.isspace(), "WORD": char.isalnum() or char == "_"}
    return kind[said.removeprefix("NOT_")] != said.startswith("NOT_")


def _first(items: Sequence[Any]) -> str:
    """Return a character that a class names itself."""
    for kind, argument in items:
        if str(kind) in {"LITERAL", "RANGE"}:
            return chr(argument[0] if str(kind) == "RANGE" else argument)
    return "a"
