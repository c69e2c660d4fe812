"""Puts pieces of a text in order by what they share: a splitter repeats the end of a piece at the start of the next."""

from collections.abc import Sequence

EDGE = 400
"""Characters at either end of a piece that are compared; splitters repeat fewer."""
SHARED = 20
"""Characters that two pieces have in common at least, where one follows the other."""
MOST_PIECES = 400
"""Pieces up to which each is held against each other."""


def in_order(pieces: Sequence[tuple[str, str]]) -> list[int]:
    """Return the places of pieces, given as (start, end) of their texts, so that each follows the one it overlaps.

    A piece that overlaps none, or several alike, stays where it is, with those that follow it.
    """
    numbers = range(len(pieces))
    if len(pieces) > MOST_PIECES:
        return list(numbers)
    follows: dict[int, list[int]] = {one: [] for one in numbers}
    for one in numbers:
        follows[one] = [other for other in numbers if other != one and _continues(pieces[one], pieces[other])]
    before = [other for found in follows.values() for other in found]
    after = {
        one: found[0] for one, found in follows.items() if len(found) == 1 and before.count(found[0]) == 1
    }
    ordered: dict[int, None] = {}
    starts = [one for one in numbers if one not in after.values()]
    for start in (*starts, *numbers):  # a ring has no start
        at: int | None = start
        while at is not None and at not in ordered:
            ordered[at] = None
            at = after.get(at)
    return list(ordered)


def _continues(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Tell whether the end of a piece is the start of another."""
    (_, end), (start, _) = one, other
    if len(start) < SHARED:
        return False
    place = end.find(start[:SHARED])
    while place >= 0:
        if start.startswith(end[place:]):
            return True
        place = end.find(start[:SHARED], place + 1)
    return False
