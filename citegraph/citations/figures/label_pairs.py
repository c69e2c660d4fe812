"""A label and its value as one fact, in prose and in cells: which of them a claim puts together that the source does not."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from citegraph.citations.claims import TableCell
from citegraph.citations.fact_matching import View, facts_agree, family, squeeze, view
from citegraph.citations.facts import Fact, with_unit
from citegraph.citations.figures.cell_labels import naming
from citegraph.citations.figures.tables import BAR, tables_of


@dataclass(frozen=True, slots=True)
class Entry:
    """A value with its label: of a row of a table or of a form.

    Attributes:
        label: the first cell of its row, as it is sought in a claim; "" where a line above heads the row.
        names, head: what names its row, and its column.
        table, line, column: where it stands.
    """

    fact: Fact
    label: str
    names: frozenset[str]
    head: frozenset[str]
    table: int
    line: int
    column: int


@lru_cache(maxsize=256)
def entries_of(text: str, comma: bool | None = None) -> tuple[Entry, ...]:
    """Return the values of the tables of a text with their labels; a label that two rows have is none."""
    found: list[Entry] = []
    lines = text.split("\n")
    for number, table in enumerate(tables_of(text)):
        for cell in table.cells:
            label = squeeze(BAR.split(lines[cell.line].strip(" |"))[0]).strip(" .:")
            names, head = naming(cell.names), naming(cell.head)
            for printed in view(text[cell.start : cell.end], comma).facts:
                if not printed.label and printed.kind != "identifier":
                    fact = with_unit(printed, cell.unit)
                    found.append(Entry(fact, label, names, head, number, cell.line, cell.column))
    return tuple(found)


def of_another_label(
    claim: View, entries: Sequence[Entry], text: str, around: str
) -> Iterator[tuple[Fact, Entry]]:
    """Yield each value of a claim with the entry whose label the claim says word for word instead of the value's own.

    Both stand below each other, no word tells the claim's value from the other, the claim has no other value of that row, and
    the source states the value nowhere else.

    Args:
        text: the source, in which the value may stand outside its tables.
        around: the text in which its units stand.
    """
    said = f" {_plain(claim.folded)} "
    words = naming(claim.text)
    for fact in claim.facts:
        homes = [e for e in entries if e.fact.kind == fact.kind and facts_agree(fact, e.fact, around)]
        if fact.label or not homes or any(_says(said, home.label) for home in homes):
            continue
        if sum(facts_agree(fact, other, around) for other in view(text).facts) > len(homes):
            continue
        rivals = [_rival(home, entries, said, words, claim, around) for home in homes]
        clear = [rival for rival in rivals if rival is not None]
        if len(clear) == len(homes):
            yield fact, clear[0]


def _rival(
    home: Entry, entries: Sequence[Entry], said: str, words: frozenset[str], claim: View, around: str
) -> Entry | None:
    """Return the entry below or above a value whose whole label a claim says, None where something speaks for the value."""
    below = [e for e in entries if e.table == home.table and e.column == home.column and e.line != home.line]
    named = [e for e in below if family(e.fact) == family(home.fact) and _says(said, e.label)]
    if len({e.line for e in named}) != 1 or (home.names - named[0].names) & words:
        return None
    row = [e for e in entries if e.table == home.table and e.line == named[0].line]
    drawn = any(
        facts_agree(fact, e.fact, around) for fact in claim.facts for e in row if e.column == home.column
    )
    return None if drawn or len(home.label) < _SHORT else named[0]


_SHORT = 4
"""Letters of the shortest label that is one."""


def _says(said: str, label: str) -> bool:
    plain = _plain(label)
    return len(plain) >= _SHORT and any(map(str.isalpha, plain)) and f" {plain} " in said


def _plain(text: str) -> str:
    """Return the words of a folded text, compounds whole."""
    return " ".join(_WORDS.findall(text))


_WORDS = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


def exchanged(claim: View, entries: Sequence[Entry], around: str) -> Iterator[tuple[Fact, Fact]]:
    """Yield two values of a claim of which each is followed by the words that name the other: "702 in 2022, 784 in 2021".

    In the source the two stand in one row or in one column, and nowhere else in its tables.
    """
    homes = [(fact, [e for e in entries if facts_agree(fact, e.fact, around)]) for fact in claim.facts]
    single = [(fact, found[0]) for fact, found in homes if len(found) == 1]
    for (one, home), (other, theirs) in pairwise(single):
        if home.table != theirs.table or (home.line == theirs.line) == (home.column == theirs.column):
            continue
        if home.line == theirs.line:
            mine, others = home.head - theirs.head, theirs.head - home.head
        else:
            mine, others = home.names - theirs.names, theirs.names - home.names
        mine, others = _plain_names(mine), _plain_names(others)
        behind = _behind(claim, one, other.start), _behind(claim, other, len(claim.text))
        if not mine or not others or len(mine) > _FEW or len(others) > _FEW:
            continue
        if others <= behind[0] and not mine & behind[0] and mine <= behind[1] and not others & behind[1]:
            yield one, other


def _plain_names(names: frozenset[str]) -> frozenset[str]:
    """Return the single words and numbers among names, where there are any: "Oct 2021" is also written "October 2021"."""
    return frozenset(name for name in names if "-" not in name) or names


_FEW = 3
_NEXT_VALUE = re.compile(r"[;\n]|\.\s")


def _behind(claim: View, fact: Fact, stop: int) -> frozenset[str]:
    """Return what names something between a value and a place, to the end of its clause."""
    end = _NEXT_VALUE.search(claim.text, fact.end, stop)
    return naming(claim.text[fact.end : end.start() if end else stop])


Named = tuple[frozenset[str], tuple[Fact, ...]]
"""What names a cell, its row and its column together, and the values in it."""


@lru_cache(maxsize=256)
def named_cells(text: str, comma: bool | None = None) -> tuple[Named, ...]:
    """Return the cells of the tables of a text that have a value."""
    found: list[Named] = []
    for table in tables_of(text):
        for cell in table.cells:
            facts = tuple(
                with_unit(fact, cell.unit) for fact in view(text[cell.start : cell.end], comma).facts
            )
            values = tuple(fact for fact in facts if not fact.label)
            if values and cell.head:
                found.append((naming(f"{cell.names} {cell.head}"), values))
    return tuple(found)


def stated_otherwise(
    row: Sequence[TableCell], cells: Sequence[Named], around: str
) -> Iterator[tuple[Fact, Fact]]:
    """Yield (value, what the source has) for each cell of an answer's row that the source fills otherwise.

    A cell is that of the source when all words of its label and of its head, both of them, name it there, whichever of
    the two is a label there. Of several that it names it must have the value of one. A cell with two values, or whose
    words name nothing in the source, is left alone.

    Args:
        around: the text in which the units of the source stand.
    """
    label = naming(row[0].text) if row else frozenset[str]()
    for cell in row[1:] if label else ():
        head = naming(cell.head)
        values = [fact for fact in view(cell.text).facts if not fact.label]
        if not head or len(values) != 1:
            continue
        there = [facts for names, facts in cells if label | head <= names]
        kinds = [fact for facts in there for fact in facts if fact.kind == values[0].kind]
        if kinds and not any(facts_agree(values[0], fact, around, about=True) for fact in kinds):
            yield values[0], kinds[0]
