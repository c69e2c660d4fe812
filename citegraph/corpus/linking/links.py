"""A mention's link to values, and which of several links over the same words stay."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

How = Literal["exact", "folded", "alias", "prefix", "fuzzy", "tokens"]

SURE, DOUBTFUL = 0.9, 0.6
"""A whole name from `SURE` on makes partial ones of its field under `DOUBTFUL` unlikely to be meant."""


@dataclass(frozen=True, slots=True)
class Link:
    """A span of words that means one value of a field, or several spellings of it.

    Attributes:
        field: the field that holds the values.
        values: the values as stored, most frequent first; more than one are spellings or members of one
            name ("in" them all), or several that fit.
        count: documents that have one of the values (of a list field, an upper bound).
        how: the weakest kind of match that was needed.
        score: 0 to 1, from how much of the name is said, how rare its words are, and how exactly.
        start, end, text: the words, and their character offsets in what was searched.
        complete: whether the words are the whole name (legal form and qualifiers apart).
        cued: whether a word for the field stands beside the words ("the spin crate").
    """

    field: str
    values: tuple[str, ...]
    count: int
    how: How
    score: float
    start: int
    end: int
    text: str
    complete: bool = True
    cued: bool = False

    @property
    def is_vague(self) -> bool:
        """Return whether the words are only a part of several values."""
        return len(self.values) > 1 and not self.complete

    def covers(self, other: "Link") -> bool:
        """Return whether another link's words lie within these."""
        return self.start <= other.start and other.end <= self.end


def resolve(links: Sequence[Link]) -> list[Link]:
    """Leave out what lies inside a better link; of one span the whole names stay, one a field."""
    kept: list[Link] = []
    for link in sorted(links, key=_preference):
        over = [other for other in kept if other.start < link.end and link.start < other.end]
        if any(other.field == link.field for other in over):
            continue
        if any(_beats(other, link) for other in over):
            continue
        kept.append(link)
    sure = {link.field for link in kept if link.complete and link.score >= SURE}
    kept = [
        link
        for link in kept
        if link.score >= DOUBTFUL or link.cued or link.complete or link.field not in sure
    ]
    return sorted(kept, key=lambda link: (link.start, -link.score))


def _preference(link: Link) -> tuple[float, ...]:
    return (-(link.end - link.start), not link.complete, link.how != "alias", -link.score)


def _beats(other: Link, link: Link) -> bool:
    """Return whether a link that overlaps another, and was preferred to it, leaves it no place."""
    if other.end - other.start > link.end - link.start:
        return other.score >= 0.6 * link.score
    return (other.complete and not link.complete) or (other.count > 0 and link.count == 0)
