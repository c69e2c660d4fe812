"""The pieces of a page's lines that wide gaps part, with where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from citegraph.corpus.extraction.invoice_parties.address_lines import MEASURE
from citegraph.corpus.extraction.invoice_parties.party_words import label_end, label_of

LONGEST_LABEL = 60
_CELL = re.compile(r"\S+(?:(?: | {1,3}[|•·●∙■] {1,3})\S+)*")
_TABLE_CELL = re.compile(r"[^\s|]+(?: [^\s|]+)*")


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A piece of a line between wide gaps.

    Attributes:
        line, row: number of its line, without and with blank ones.
        column: where it begins in its line; `start` and `end` in the page.
        says: what it says of a name as a label ("seller", "buyer", "paid", "elsewhere"), "" for no label.
        valued: whether an amount, a date or a number stands next in its line, or any value in a row of
            two: then it is no name.
    """

    line: int
    row: int
    column: int
    start: int
    end: int
    text: str
    says: str
    valued: bool


def cells_of(page: str) -> Iterator[Cell]:
    """Yield the cells of a page, line by line."""
    start = number = 0
    lines = page.split("\n")
    in_table = any(map(_begins_with_label, lines))
    for row, line in enumerate(lines):
        spans = list(_spans(line, in_table=in_table))
        for place, (begin, end) in enumerate(spans):
            text = line[begin:end]
            after = line[slice(*spans[place + 1])] if place + 1 < len(spans) else ""
            says = label_of(text) if len(text) <= LONGEST_LABEL else ""
            keyed = in_table and "|" in line and place == 0 and len(spans) == 2
            valued = bool(after) and (keyed or bool(MEASURE.fullmatch(after)))
            yield Cell(number, row, begin, start + begin, start + end, text, says, valued)
        number += bool(spans)
        start += len(line) + 1


def _begins_with_label(line: str) -> bool:
    return "|" in line and bool(label_of(line.strip(" |*").partition("|")[0].strip()))


def _spans(line: str, *, in_table: bool) -> Iterator[tuple[int, int]]:
    """Yield the pieces of a line that wide gaps part, a label and the name behind it apart.

    Bars part the cells of a table, of which some row begins with a label; elsewhere they join the parts of an address.
    """
    if in_table and "|" in line:
        yield from (found.span() for found in _TABLE_CELL.finditer(line))
        return
    for found in _CELL.finditer(line):
        parts = [0, cut, len(found[0])] if (cut := label_end(found[0])) else [0, len(found[0])]
        for begin, end in pairwise(parts):
            yield found.start() + begin, found.start() + begin + len(found[0][begin:end].rstrip())


def aligned(one: Cell, other: Cell, slack: int) -> bool:
    """Return whether two cells begin in one column, or have their middles in one."""
    middle = abs((one.column + len(one.text) / 2) - (other.column + len(other.text) / 2))
    return min(abs(one.column - other.column), middle) <= slack


def blank(upper: Cell, lower: Cell) -> int:
    """Return the number of blank lines between two cells."""
    return lower.row - upper.row - (lower.line - upper.line)
