"""What part a value plays: the words around it in a claim against those around it, and around its rivals, in the source."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from citegraph.citations.facts import Fact
from citegraph.citations.figures.cell_labels import clauses_of
from citegraph.citations.figures.tables import BAR
from citegraph.citations.matching import View, facts_agree, family

Weight = Callable[[str], float]


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence or row of a document with the words around each of its values; a row has its heads elsewhere."""

    document: str
    row: bool
    words: frozenset[str]
    values: tuple[tuple[Fact, frozenset[str]], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A value of a claim beside its nearest rival: another value of its kind that the claim does not say.

    Shares are of the weighted words around the claim's value, 0 to 1; those of the lines of all the claim's words.

    Attributes:
        own, theirs: what stands around the value in the source, and around the rival.
        own_line, their_line: what the line of the value has, and the line of the rival.
        beside: both stand in one line.
        drawn: the claim has another value from the rival's line, which the words may be of.
    """

    fact: Fact
    rival: Fact
    own: float
    theirs: float
    own_line: float
    their_line: float
    beside: bool
    drawn: bool

    @property
    def exchanged(self) -> bool:
        """Tell whether the words that the claim has around a value are those of its rival in the source."""
        nearer = self.their_line >= self.own_line if self.beside else self.their_line > self.own_line
        telling = self.theirs - self.own > CLEAR and nearer
        apart = self.own > 0 if self.beside else not self.drawn
        return telling and apart and _measured(self.fact) and _measured(self.rival)


CLEAR = 0.25
"""By how much of the words around a value its rival must have more."""


def _measured(fact: Fact) -> bool:
    """Tell whether a value has a unit, or is a date with its day: bare numbers and years stand for many things."""
    return bool(fact.dimension) or (fact.date is not None and fact.date.day is not None)


def line_of(source: View, document: str, row: bool = False) -> Line:
    """Return a sentence or row of a document as values are sought in it."""
    return Line(
        document,
        row or bool(BAR.search(source.text)),
        frozenset(source.stem_set),
        tuple((f, _words(w)) for f, w in clauses_of(source)),
    )


def _words(stems: frozenset[str]) -> frozenset[str]:
    return frozenset(stem for stem in stems if stem[0] != "#")


def parts(claim: View, lines: Sequence[Line], around: str, weight: Weight) -> Iterator[Part]:
    """Yield each number and date of a claim that the source states, with the rival whose words are the claim's most.

    Args:
        around: the text in which the units of the source stand.
        weight: how much a word tells.
    """
    mine = [(fact, _words(words)) for fact, words in clauses_of(claim)]
    found = [(fact, words, line) for line in lines for fact, words in line.values if not fact.label]
    said = {id(other) for other, _, _ in found if any(facts_agree(fact, other, around) for fact, _ in mine)}
    whole = claim.stem_set
    for fact, words in mine:
        if fact.kind == "identifier" or fact.label or not words:
            continue
        homes = [item for item in found if facts_agree(fact, item[0], around)]
        documents = {item[2].document for item in homes}
        rivals = [
            item
            for item in found
            if id(item[0]) not in said
            and family(item[0]) == family(fact)
            and item[2].document in documents
            and not item[2].row
        ]
        if not rivals or any(item[2].row for item in homes):
            continue
        total = sum(map(weight, words))
        every = sum(map(weight, whole)) or 1.0

        def share(
            item: tuple[Fact, frozenset[str], Line], words: frozenset[str] = words, total: float = total
        ) -> float:
            return sum(weight(w) for w in words & item[1]) / total

        def of_line(item: tuple[Fact, frozenset[str], Line], every: float = every) -> float:
            return sum(weight(w) for w in whole & item[2].words) / every

        home = max(homes, key=lambda item: (share(item), of_line(item)))
        rival = max(rivals, key=lambda item: (share(item), of_line(item)))
        yield Part(
            fact,
            rival[0],
            share(home),
            share(rival),
            max(map(of_line, homes)),
            of_line(rival),
            any(rival[2] is item[2] for item in homes),
            any(
                item[2] is rival[2] and facts_agree(other, item[0], around)
                for other, _ in mine
                if other is not fact
                for item in found
            ),
        )
