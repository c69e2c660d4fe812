"""Values of a claim held against the rows of a table: what stands in one row may not be said of another."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citegraph.citations.fact_matching import View, facts_agree
from citegraph.citations.facts import Fact
from citegraph.citations.figures.cell_labels import named_in
from citegraph.language import units
from citegraph.language.claim_tokens import Span, content_stems

_BAR = re.compile(r" \| ")
_GAP = re.compile(r" {2,}|\t+")
_COLUMNS = 3
"""Cells that a line without bars must have to be a row."""
_LABEL = re.compile(
    r"[ \t]*(?P<label>[^\W\d_][^:|\n]{1,40}?)[ \t]*(?::[ \t]+| \| )(?P<value>[^\W\d_a-z][^|\n]*?)[ \t]*$"
)
_BLANK = frozenset({"", "-", "–", "—", "n/a", "none"})


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a row: its place among the row's cells, its text, and what it states."""

    column: int
    text: str
    facts: tuple[Fact, ...]
    stems: frozenset[str]


Row = tuple[Cell, ...]


def rows_of(source: View, parts: Sequence[Span]) -> list[Row]:
    """Return the rows among the lines of a passage, cut into their cells."""
    return [tuple(_cells(source, start, end)) for start, end in parts if _cuts(source.text[start:end])]


def _cuts(line: str) -> list[Span]:
    """Return what separates the cells of a row: bars, else wide gaps; nothing in a line that is no row."""
    bars = [match.span() for match in _BAR.finditer(line)]
    gaps = bars or [match.span() for match in _GAP.finditer(line.strip())]
    return gaps if bars or len(gaps) >= _COLUMNS - 1 else []


def _cells(source: View, start: int, end: int) -> Iterator[Cell]:
    line = source.text[start:end]
    edges = [0, *(edge for cut in _cuts(line) for edge in cut), len(line)]
    for column, (first, last) in enumerate(zip(edges[::2], edges[1::2], strict=True)):
        facts = tuple(f for f in source.facts if start + first <= f.start < start + last)
        text = line[first:last]
        yield Cell(column, text.strip(" |"), facts, frozenset(content_stems(text)))


def _heads(row: Row) -> bool:
    """Tell whether a row names columns by years: it has no other value."""
    return all(fact.date is not None and fact.date.month is None for cell in row for fact in cell.facts)


class Rows:
    """A claim beside the rows of a passage.

    Attributes:
        rows: at least two; fewer cannot be mixed up.
    """

    def __init__(self, claim: View, source: View, parts: Sequence[Span], around: str) -> None:
        self.rows = rows_of(source, parts)
        self._claim, self._source, self._around = claim, source, around
        self._parts = parts
        self._inside = [(start, end) for start, end in parts if _cuts(source.text[start:end])]

    def mixed(self) -> str:
        """Return how the claim takes a value from the row of another thing, "" when it does not."""
        if said := self._renamed():
            return said
        if len(self.rows) < 2:
            return ""
        keys = [f for f in self._claim.facts if f.kind == "identifier"]
        for value in self._claim.facts:
            if value.kind == "identifier" or value.label:
                continue
            held = [(row, cell) for row in self.rows for cell in row if self._states(cell, value)]
            if not held or any(_heads(row) for row, _ in held) or self._stands_outside(value):
                continue
            others = [self._other(row, cell, keys) for row, cell in held]
            if all(others):
                return f'"{" ".join(value.text.split())}" is {others[0]}'
        return ""

    def binds(self, value: Fact) -> bool:
        """Tell whether a row has a value beside something else that the claim names."""
        return len(self.rows) > 1 and any(
            any(self._share(own) == 1 for own in row if own is not cell)
            for row in self.rows
            for cell in row
            if self._states(cell, value)
        )

    def _renamed(self) -> str:
        """Return how the claim gives a name to another label ("Tenant: Ann", "Landlord: Bob"), "" when it does not."""
        lines = [self._source.text[start:end] for start, end in self._parts]
        entries = [
            (match, frozenset(content_stems(match["label"])), frozenset(content_stems(match["value"])))
            for line in lines
            if (match := _LABEL.match(line))
        ]
        claimed = self._claim.stem_set
        for own, label, name in entries:
            if not name or not name <= claimed or label & claimed:
                continue
            if sum(name <= frozenset(content_stems(line)) for line in lines) > 1:
                continue  # it is spoken of elsewhere too
            for other, wanted, rival in entries:
                if wanted and wanted <= claimed and rival and not rival & claimed:
                    return f'"{own["value"]}" is that of "{own["label"]}", not of "{other["label"]}"'
        return ""

    def _other(self, row: Row, held: Cell, keys: Sequence[Fact]) -> str:
        """Return what a row is of, when the claim speaks of another row's thing instead; else ""."""
        for other in self.rows:
            if other is row or len(other) != len(row) or not other[held.column].facts:
                continue
            if self._is_claimed(other[held.column]):
                continue  # that thing has its own value in the claim
            for cell, rival in zip(other, row, strict=True):
                if cell.column == held.column or rival.text.casefold() in _BLANK:
                    continue
                if units.unit(cell.text, True) and units.unit(rival.text, True):
                    continue  # "24" volts and "3190" revolutions are of one motor
                if self._hinted(rival) < self._share(cell) and self._is_key(cell, row, held, keys):
                    return f'in the row of "{rival.text}", not of "{cell.text}"'
        return ""

    def _is_key(self, cell: Cell, row: Row, held: Cell, keys: Sequence[Fact]) -> bool:
        """Tell whether the claim names a cell: by its identifier, or by all its words while nothing else of the
        value's own row is named.
        """
        named = [key for key in keys if self._states(cell, key)]
        if named:
            return not any(self._states(own, key) for key in named for own in row)
        if cell.facts or self._share(cell) < 1:
            return False
        return not any(self._share(own) == 1 for own in row if own is not held)

    def _is_claimed(self, cell: Cell) -> bool:
        return self._share(cell) > 0

    def _share(self, cell: Cell) -> float:
        """Return how much of a cell the claim says: one of its values, else a share of its words."""
        if any(self._states(cell, fact) for fact in self._claim.facts):
            return 1.0
        if cell.facts or not cell.stems:
            return 0.0
        return len(cell.stems & self._claim.stem_set) / len(cell.stems)

    def _hinted(self, cell: Cell) -> float:
        """Return the share of a cell of the value's own row, with its words cut short too: "locos" of locomotives."""
        named = named_in(self._claim.stem_set, cell.stems)
        return max(self._share(cell), 0.0 if cell.facts or not cell.stems else len(named) / len(cell.stems))

    def _states(self, cell: Cell, fact: Fact) -> bool:
        return any(facts_agree(fact, own, self._around) for own in cell.facts)

    def _stands_outside(self, fact: Fact) -> bool:
        return any(
            facts_agree(fact, own, self._around)
            for own in self._source.facts
            if not any(start <= own.start < end for start, end in self._inside)
        )
