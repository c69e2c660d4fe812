"""Finds the line that heads a table of a declared kind, and which column each of its fields stands in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from citegraph.corpus.extraction.rows.grid import Cell, GridLine
from citegraph.corpus.schema.bucket import RowKind
from citegraph.corpus.schema.field import Field
from citegraph.language.terms import fold
from citegraph.language.word_tables import alternation

_LONGEST_HEAD = 40
_COUNTS, _OF_NUMBERS = re.compile(alternation("labels", "heads_of_numbers")), 0.3
"""How a head ends beneath which numbers stand, and what a name of the item counts in it ("Item #")."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: the field that stands in it, and where it lies.

    `numbered` says that its cells begin with the number of their row ("Pos Material"); `more` are where other columns
    of the same field lie ("Item", "Description").
    """

    field: Field
    left: int
    right: int
    numbered: bool = False
    more: tuple[tuple[int, int], ...] = ()

    def apart(self, cell: Cell) -> float:
        """Return how far a cell lies from the nearest column of the field."""
        return min(_apart(cell, left, right) for left, right in ((self.left, self.right), *self.more))


@dataclass(frozen=True, slots=True)
class Heads:
    """The columns of a table, and the names that its heads have beside the declared ones, for what lies between."""

    columns: tuple[Column, ...]
    others: tuple[tuple[int, int], ...]
    barred: bool

    def of(self, cells: Sequence[Cell]) -> dict[str, Cell]:
        """Return the cells of a line by field: each cell lies in the column nearest to it, the nearest of several counts.

        The cells of a field with several columns are put together.
        """
        found: dict[str, tuple[float, Cell]] = {}
        counted = {} if self.barred else self._in_order(cells)
        for cell in cells:
            if name := counted.get(cell.start):
                found[name] = -1.0, cell
                continue
            column = self._column(cell) if cell.text else None
            if column is None:
                continue
            name, away = column.field.name, column.apart(cell)
            known = found.get(name)
            if known is not None and column.more:
                found[name] = away, replace(cell, text=f"{known[1].text} {cell.text}", left=known[1].left)
            elif known is None or away < known[0]:
                found[name] = away, cell
        return {name: cell for name, (_, cell) in found.items()}

    def is_beside(self, cells: Sequence[Cell]) -> bool:
        """Tell whether all cells stand under the other heads, or right of all columns."""
        right = max(column.right for column in self.columns)
        return all(cell.left > right or self._column(cell) is None for cell in cells if cell.text)

    def _in_order(self, cells: Sequence[Cell]) -> dict[int, str]:
        """Return the fields of cells of numbers that stand side by side, by where they begin, when as many columns of numbers do.

        A number that is narrower than its head may lie nearer to the head beside it.
        """
        columns = sorted(self.columns, key=lambda column: column.left)
        for kind, group in groupby(columns, key=lambda column: column.field.type):
            names = [column.field.name for column in group]
            if kind != "decimal" or len(names) < _ORDERED:
                continue
            runs = (list(run) for number, run in groupby(cells, key=_is_number) if number)
            fitting = [run for run in runs if len(run) == len(names)]
            if len(fitting) == 1:
                return dict(zip((cell.start for cell in fitting[0]), names, strict=True))
        return {}

    def _column(self, cell: Cell) -> Column | None:
        if self.barred:
            starts = ((column, (column.left, *(left for left, _ in column.more))) for column in self.columns)
            return next((column for column, lefts in starts if cell.left in lefts), None)
        near = min(self.columns, key=lambda column: column.apart(cell))
        away = near.apart(cell)
        if any(_apart(cell, *other) < away for other in self.others):
            return None
        return near


_ORDERED = 2
"""Columns of numbers side by side from which their order tells them apart."""
_NUMERIC = re.compile(r"[-+–−—±≤≥<>~ ]*(?:\d[\d.,' ]*\W{0,2})?")
"""A number with its sign, or the dash of an empty cell."""


def _is_number(cell: Cell) -> bool:
    return bool(cell.text) and _NUMERIC.fullmatch(cell.text) is not None


def _apart(cell: Cell, left: int, right: int) -> float:
    """Return how far a cell lies from a column: nothing where they overlap, less where their edges agree."""
    gap = max(0, left - cell.right, cell.left - right)
    edges = min(
        abs(cell.left - left), abs(cell.right - right), abs((cell.left + cell.right - left - right) / 2)
    )
    return gap * 100 + edges


def heads_of(kind: RowKind, line: GridLine) -> Heads | None:
    """Return the columns that a line names, None when it heads no table of the kind.

    A head row names the column by which rows are called and one that they need, and holds no amount.
    """
    if len(line.cells) < 2 or re.search(r"\d[.,]\d\d\b", line.text):
        return None
    if any(len(cell.text) > _LONGEST_HEAD for cell in line.cells[kind.measured :]):
        return None
    cells = tuple(part for cell in line.cells for part in _parted(kind, cell))
    line = replace(line, cells=cells)
    taken: dict[str, tuple[float, int]] = {}
    left = list(range(len(cells)))
    others: list[tuple[int, int]] = []
    more: list[tuple[int, int]] = []
    while left:
        place = left.pop()
        cell = line.cells[place]
        named = (
            (name, share)
            for name, share in _fields_named(kind, cell.text)
            if share > taken.get(name, (0, 0))[0]
        )
        name, share = next(named, ("", 0.0))
        if not name:
            also = next(iter(_fields_named(kind, cell.text)), ("", 0.0))
            same = also[0] == kind.named_by and also[1] > _OF_NUMBERS
            (more if same else others).append((cell.left, cell.right))
        else:
            if name in taken:
                left.append(taken[name][1])
            taken[name] = share, place
    others = _with_amount(kind, line, taken, others)
    columns: dict[str, Column] = {}
    for name, (_, place) in sorted(taken.items(), key=lambda item: item[1][1]):
        cell, field = line.cells[place], kind.field(name)
        assert field is not None
        numbered = bool(_NUMBERED.search(fold(cell.text)))
        besides = tuple(more) if name == kind.named_by else ()
        columns[name] = Column(field, cell.left, cell.right, numbered, besides)
    if kind.measured and kind.named_by not in columns and "unit" in columns and len(columns) > 2:
        # "Absolute maximum ratings   Symbol   Value   Unit": what is rated stands under the title of the table, or under nothing.
        first = min(column.left for column in columns.values())
        field = kind.field(kind.named_by)
        if not line.barred and first > _ORDERED and field is not None:
            others = [span for span in others if span[0] > first]
            columns = {kind.named_by: Column(field, 0, first - 2), **columns}
    if kind.named_by not in columns or not set(kind.needs) & set(columns):
        return None
    return Heads(tuple(columns.values()), tuple(others), line.barred)


def _parted(kind: RowKind, cell: Cell) -> list[Cell]:
    """Return the heads that a cell is when a narrow gap parts several ("Qty Unit price"), else the cell itself."""
    labels = _labels(kind.heads)
    pieces = list(re.finditer(r"\S+", cell.text))
    if len(pieces) < 2 or _words(cell.text) in labels:
        return [cell]
    for place in range(1, len(pieces)):
        first, rest = cell.text[: pieces[place - 1].end()], cell.text[pieces[place].start() :]
        one = labels.get(_words(first))
        other = next(
            (
                name
                for end in range(len(pieces), place, -1)
                if (name := labels.get(_words(cell.text[pieces[place].start() : pieces[end - 1].end()])))
            ),
            None,
        )
        if one and other and one != other:
            at = pieces[place].start()
            end = cell.left + len(first)
            behind = replace(cell, start=cell.start + at, left=cell.left + at, text=rest)
            return [
                replace(cell, end=cell.start + len(first), right=end, text=first),
                *_parted(kind, behind),
            ]
    return [cell]


def _with_amount(
    kind: RowKind, line: GridLine, taken: dict[str, tuple[float, int]], others: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Take the last head of a line that counts and prices for the amount, whatever it is called; return the others."""
    last = line.cells[-1]
    if (
        kind.product is None
        or kind.product.gives in taken
        or not set(kind.product.of) <= set(taken)
        or (last.left, last.right) not in others
    ):
        return others
    taken[kind.product.gives] = 1.0, len(line.cells) - 1
    return [span for span in others if span != (last.left, last.right)]


_NUMBERED = re.compile(rf"^(?:{alternation('labels', 'numbered_rows')})\W{{1,3}}\w")


def _fields_named(kind: RowKind, head: str) -> list[tuple[str, float]]:
    """Return the fields whose name a head holds and the share of it that the name is: those that matter most first.

    "Item No." is the head of the item as long as no other head is more so ("Description").
    """
    words = _words(head)
    found: dict[str, int] = {}
    begun = _begun_with(kind.heads)
    for name, label in (one for word in words.split() for one in begun.get(word, ())):
        if f" {label} " in f" {words} ":
            found[name] = max(found.get(name, 0), len(label))
    product = (*kind.product.of, kind.product.gives) if kind.product else ()
    main = {kind.named_by, *kind.needs, *product}
    ordered = sorted(found, key=lambda name: (name not in main, -found[name]))
    weight = _OF_NUMBERS if _COUNTS.search(words) else 1.0
    return [(name, weight * found[name] / max(1, len(words))) for name in ordered]


def _words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+|[#%]", fold(text)))


@lru_cache(maxsize=64)
def _labels(heads: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return each head, folded, to the column that it names, the last of several."""
    return {_words(head): name for name, head in heads}


@lru_cache(maxsize=64)
def _begun_with(heads: tuple[tuple[str, str], ...]) -> dict[str, list[tuple[str, str]]]:
    """Return the first word of each head to the columns whose heads it begins, with the whole head."""
    begun: dict[str, list[tuple[str, str]]] = {}
    for name, head in heads:
        if label := _words(head):
            begun.setdefault(label.split()[0], []).append((name, label))
    return begun
