"""The first page of an invoice in rows and columns: what stands beside, above and below what, and in which address."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from citegraph.corpus.extraction.document_head import is_name
from citegraph.corpus.extraction.invoice_parties.address_lines import (
    ADDRESS_ROW,
    FIRST_PART,
    POSTCODE,
    SECOND_PART,
    STREET,
    is_prose,
    sender_end,
)
from citegraph.corpus.extraction.invoice_parties.page_cells import Cell, aligned, blank, cells_of
from citegraph.corpus.extraction.invoice_parties.party_names import (
    continues,
    greets,
    has_form,
    legal_name,
    name_in,
    only_form,
)
from citegraph.language.names import parse_name

MOST_CELLS = 400
BLOCK = 7
"""Lines of an address above its postcode line that may belong to it."""
SPREAD = 3
"""Lines between two lines of one address: another column may stand closer."""
REACH = 4
"""Lines below a label in which it speaks of a name."""
COLUMN = 3
"""Characters by which the lines of one column begin apart."""

_DIGITS = re.compile(r"\d\w?\s?\d")
"""What each postcode holds."""
Pieces = tuple[tuple[int, int], ...]
"""Spans of a name, one a line that it runs over."""


class Page:
    """The cells of a page, with what is looked up in them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.cells = list(cells_of(text))[:MOST_CELLS]
        self.lines: dict[int, list[Cell]] = {}
        for cell in self.cells:
            self.lines.setdefault(cell.line, []).append(cell)
        self.labels = [cell for cell in self.cells if cell.says]
        numbered = [cell for cell in self.cells if not cell.says and _DIGITS.search(cell.text)]
        self.towns = [cell for cell in numbered if POSTCODE.fullmatch(cell.text) and not is_prose(cell.text)]
        self.senders = [
            (cell, end)
            for cell in numbered
            if (end := sender_end(cell.text))
            and is_name(cell.text[:end])
            and not STREET.fullmatch(cell.text[:end])
        ]

    def said(self, pieces: Pieces) -> str:
        """Return a name as one line."""
        return " ".join(" ".join(self.text[start:end].split()) for start, end in pieces)

    def below(self, cell: Cell, lines: int, slack: int = COLUMN) -> list[Cell]:
        """Return the cells of the next lines in the column of a cell, that stand nearer to it than to what is beside it."""
        found = []
        rivals = [other for other in self.lines[cell.line] if other is not cell]
        for number in range(cell.line + 1, cell.line + lines + 1):
            for other in self.lines.get(number, ()):
                if aligned(other, cell, slack) and not any(
                    abs(rival.column - other.column) < abs(cell.column - other.column) for rival in rivals
                ):
                    found.append(other)
        return found

    def beside(self, cell: Cell) -> Cell | None:
        """Return the next cell of the line."""
        row = self.lines[cell.line]
        place = row.index(cell) + 1
        return row[place] if place < len(row) else None

    def role(self, cell: Cell) -> str:
        """Return what the nearest label above a cell, in its column, or on its left says: "seller", "buyer" ..."""
        row = self.lines[cell.line]
        leads = [other for other in row if other.start <= cell.start]
        for label in reversed(self.labels):
            if label.start >= cell.start:
                continue
            left = label.line == cell.line and label.column < cell.column
            over = 0 < cell.line - label.line <= REACH and (
                aligned(label, cell, 6) or aligned(label, leads[0], 6)
            )
            if (left or over) and not self._closed(label, cell):
                return label.says
        return ""

    def _closed(self, label: Cell, cell: Cell) -> bool:
        """Return whether an address ends between a label and a cell: the label says nothing of what comes after."""
        return any(
            label.line < town.line < cell.line and aligned(town, label, 6) and aligned(town, cell, 6)
            for town in self.towns
        )

    def blocks(self) -> Iterator[list[Cell]]:
        """Yield addresses: the cells above a postcode and a town, in their column, from the top.

        Lines that stand as close as the last two are one address; where those hold no name, wider gaps are crossed.
        """
        for town in self.towns:
            block = [town]
            for cell in self._over(town):
                apart = blank(cell, block[0])
                if len(block) > 1 and apart > blank(block[-2], town) and any(map(name_in, block[:-1])):
                    company = apart == 1 and greets(block[0].text) and legal_name(cell)
                    if not company:
                        break
                block.insert(0, cell)
            if len(block) > 1:
                yield block

    def _over(self, town: Cell) -> Iterator[Cell]:
        """Yield the cells in the column of a town that may be of its address, from the lowest."""
        senders = {id(cell) for cell, _ in self.senders}
        towns = {id(cell) for cell in self.towns}
        lowest = town
        for cell in reversed(self.cells[: self.cells.index(town)]):
            if lowest.line - cell.line > SPREAD or town.line - cell.line > BLOCK:
                return
            if cell.line < lowest.line and aligned(cell, lowest, COLUMN):
                if id(cell) in senders or id(cell) in towns or self._other_row(cell):
                    return
                yield cell
                lowest = cell

    def _other_row(self, cell: Cell) -> bool:
        """Return whether a cell is a label, or the value of a label beside it that names no part of an address."""
        left = [other.text for other in self.lines[cell.line] if other.start < cell.start]
        labelled = bool(left) and left[-1].endswith(":") and not ADDRESS_ROW.match(left[-1])
        return labelled or bool(cell.says) or cell.text.endswith(":")

    def whole(self, cell: Cell, *, under: str) -> Pieces | None:
        """Return a name that begins or stands in a cell, with what of it stands on the next line; None for no name.

        Args:
            under: what the label says that the name stands under, if any.
        """
        first = name_in(cell)
        if first is None:
            return None
        above = self._row_apart(cell, -1)
        if above and (head := name_in(above)):
            joined = parse_name(f"{self.text[slice(*head)]} {self.text[slice(*first)]}").core
            if self._half_of_row(above, cell) or (continues(above) and self._printed(joined, (above, cell))):
                return (head, first)
        after = self._row_apart(cell, 1)
        second = name_in(after) if after and continues(after) else None
        if after is None or second is None:
            return (first,)
        one, two = self.text[slice(*first)], self.text[slice(*second)]
        joined = parse_name(f"{one} {two}").core
        open_end = FIRST_PART.search(one) or SECOND_PART.match(two) or only_form(two)
        company = under == "seller" and not has_form(one) and has_form(two) and not greets(cell.text)
        if open_end or company or self._printed(joined, (cell, after)):
            return (first, second)
        return (first,)

    def _row_apart(self, cell: Cell, rows: int) -> Cell | None:
        """Return the cell of the row directly above or below that begins in the same column."""
        for other in self.lines.get(cell.line + rows, ()):
            if other.row == cell.row + rows and abs(other.column - cell.column) <= 2:
                return other
        return None

    def _half_of_row(self, above: Cell, cell: Cell) -> bool:
        """Return whether the cell above is the first line of a form's value, whose label stands beside the second."""
        row = self.lines[cell.line]
        labelled = row[0] is not cell and ADDRESS_ROW.match(row[0].text) and row[0].text.endswith(":")
        alone = self.lines[above.line][0] is above and above.line != cell.line
        return bool(labelled and alone and continues(above) and greets(above.text) < len(above.text))

    def _printed(self, core: Sequence[str], apart: tuple[Cell, Cell]) -> bool:
        """Return whether another line of the page has these words one after the other."""
        wanted = " ".join(core)
        return len(core) > 1 and any(
            f" {wanted} " in f" {' '.join(parse_name(cell.text).core)} "
            for cell in self.cells
            if cell not in apart and len(cell.text) >= len(wanted)
        )
