"""What a value belongs to: rows and columns named by a code, a date or a measure, and the words around it and its rivals."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from citegraph.citations.fact_matching import View, facts_agree, family, view
from citegraph.citations.facts import Fact, with_unit
from citegraph.citations.figures.cell_labels import clauses_of
from citegraph.citations.figures.tables import BAR, tables_of


@dataclass(frozen=True, slots=True)
class Keyed:
    """A value in a table with what names its row and its column: codes, dates and measures by the column they stand in.

    Attributes:
        keys: of the row, column of the key to its values; of the head of the value's own column, under -1.
        table, line, column: where it stands.
    """

    fact: Fact
    keys: dict[int, tuple[Fact, ...]]
    table: int
    line: int
    column: int


@lru_cache(maxsize=256)
def keyed_values(text: str, comma: bool | None = None) -> tuple[Keyed, ...]:
    """Return the values of the tables of a text."""
    found: list[Keyed] = []
    for number, table in enumerate(tables_of(text)):
        for cell in table.cells:
            keys = {
                column: _keys(other, comma, column == 0, None if column else cell.first_unit)
                for column, other in cell.others
            }
            keys[-1] = _keys(cell.head, comma, True)
            for fact in view(text[cell.start : cell.end], comma).facts:
                if not fact.label:
                    found.append(Keyed(with_unit(fact, cell.unit), keys, number, cell.line, cell.column))
    return tuple(found)


def _keys(
    text: str, comma: bool | None, first: bool, unit: tuple[str, Decimal] | None = None
) -> tuple[Fact, ...]:
    """Return the values of a cell that can name a row: of a cell that is no label only codes, dates and measures.

    Args:
        unit: that of the column, for numbers without one.
    """
    facts = [with_unit(fact, unit) for fact in view(text, comma).facts]
    return tuple(f for f in facts if f.kind != "number" or f.dimension or (first and len(f.printed) > 2))


def of_another_key(claim: View, values: Sequence[Keyed], around: str) -> Iterator[tuple[Fact, Fact, Fact]]:
    """Yield (value, key, rival) for each value of a claim that a table has in the row or column of another key.

    The claim names the key of the rival and not the one of the value, the two stand in one column or row, and the
    claim does not say the rival.

    Args:
        around: the text in which the units of the tables stand.
    """
    for fact in claim.facts:
        if fact.label or fact.kind == "identifier":
            continue
        homes = [v for v in values if facts_agree(fact, v.fact, around)]
        others = [f for f in claim.facts if f is not fact]
        found = [_rival(fact, home, values, others, around) for home in homes]
        clear = [item for item in found if item is not None]
        if clear and len(clear) == len(found):
            yield fact, clear[0][0], clear[0][1]


def _rival(
    fact: Fact, home: Keyed, values: Sequence[Keyed], others: Sequence[Fact], around: str
) -> tuple[Fact, Fact] | None:
    """Return the key that the claim names instead of the one of a value, with what the table has there."""
    for other in values:
        if other.table != home.table or (other.line == home.line) == (other.column == home.column):
            continue
        if family(other.fact) not in (family(fact), family(home.fact)) or any(
            facts_agree(f, other.fact, around) for f in (fact, *others)
        ):
            continue
        column = -1 if other.line == home.line else None
        for place in [column] if column is not None else [k for k in home.keys if k >= 0]:
            own, theirs = home.keys.get(place, ()), other.keys.get(place, ())
            key = _named(theirs, others, around)
            if not own or key is None or _named(own, others, around) is not None:
                continue
            shared = [f for k, cell in home.keys.items() if k != place for f in cell]
            told = [f for f in others if not any(facts_agree(f, own_key, around) for own_key in shared)]
            if not any(_said_with(v, key, place, told, around) for v in values):
                return key, other.fact
    return None


def _said_with(value: Keyed, key: Fact, place: int, others: Sequence[Fact], around: str) -> bool:
    """Tell whether the claim names a key for another value, which the table has in its row or column."""
    mine = any(facts_agree(f, value.fact, around) for f in others)
    return mine and any(facts_agree(key, k, around) for k in value.keys.get(place, ()))


def _named(keys: Iterable[Fact], others: Sequence[Fact], around: str) -> Fact | None:
    return next((key for key in keys if any(facts_agree(f, key, around) for f in others)), None)


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
        return telling and apart and measured(self.fact) and measured(self.rival)


CLEAR = 0.25
"""By how much of the words around a value its rival must have more."""


def measured(fact: Fact) -> bool:
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
