"""Rows and columns that a claim names by a code, a date or a measure: "at 80 °C", "the OT-40R-N", "in 2023"."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from citegraph.citations.facts import Fact, with_unit
from citegraph.citations.figures.tables import tables_of
from citegraph.citations.matching import View, facts_agree, family, view


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
            if not any(_said_with(v, key, place, others, around) for v in values):
                return key, other.fact
    return None


def _said_with(value: Keyed, key: Fact, place: int, others: Sequence[Fact], around: str) -> bool:
    """Tell whether the claim names a key for another value, which the table has in its row or column."""
    mine = any(facts_agree(f, value.fact, around) for f in others)
    return mine and any(facts_agree(key, k, around) for k in value.keys.get(place, ()))


def _named(keys: Iterable[Fact], others: Sequence[Fact], around: str) -> Fact | None:
    return next((key for key in keys if any(facts_agree(f, key, around) for f in others)), None)
