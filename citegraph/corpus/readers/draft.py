"""Builds the text of a structured document: headings, paragraphs, tables and pages with their offsets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, islice

from citegraph.corpus.readers.column_heads import LOOKED_AT, head_rows, joined_heads
from citegraph.corpus.readers.plain_text import PAGE_BREAK, cleaned
from citegraph.corpus.schema.document import Page, Table
from citegraph.language.bounded import HOLLOW

CELL = " | "
_FILLED = re.compile(r"\w")
# Cells kept beside the text for extraction; the text has all rows of a longer table.
_KEPT_ROWS = 2_000


class Draft:
    """A text that grows; headings are written as Markdown, table rows as lines of cells."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._hollow = 0
        self._page_start: int | None = None
        self._page_label: str | None = None
        self._pages: list[Page] = []
        self._tables: list[Table] = []

    def add(self, text: str) -> None:
        """Append text as it is, without line end."""
        text = cleaned(text).replace(PAGE_BREAK, "\n")
        # Each part is bounded, and so is what many of them would be together.
        self._hollow = 0 if _FILLED.search(text) else self._hollow + len(text)
        if self._hollow > HOLLOW:
            return
        self._parts.append(text)
        self._length += len(text)

    def paragraph(self, text: str) -> None:
        """Append a paragraph and a blank line; blanks at its ends are dropped, an empty one is nothing."""
        if text.strip():
            self.add(f"{text.strip()}\n\n")

    def heading(self, text: str, level: int) -> None:
        """Append a heading in one line."""
        if text.strip():
            self.paragraph(f"{'#' * min(6, max(1, level))} {' '.join(text.split())}")

    def table(self, rows: Iterable[Sequence[str]], *, header: int | None = 1, title: str = "") -> None:
        """Append a table, one row a line; rows without any text are left out, heads of several rows become one.

        Args:
            header: how many rows are column heads; None finds it out.
        """
        cleared = (tuple(" ".join(cleaned(cell).split()) for cell in row) for row in rows)
        filled = (row for row in cleared if any(row))
        first = list(islice(filled, max(LOOKED_AT, (header or 0) + 1)))
        if not first:
            return
        heads = head_rows(first) if header is None else min(header, len(first) - 1)
        above = joined_heads(first[:heads])
        start = end = self._length
        kept: list[tuple[str, ...]] = []
        for row in chain(above, first[heads:], filled):
            self.add(CELL.join(row).strip())
            end = self._length
            self.add("\n")
            if len(kept) < _KEPT_ROWS:
                kept.append(row)
        page = len(self._pages) + 1 if self._page_start is not None else None
        self._tables.append(Table(start, end, tuple(kept), len(above), page, title))
        self.add("\n")

    @property
    def table_count(self) -> int:
        """Return how many tables were written."""
        return len(self._tables)

    def forget_tables(self, first: int) -> None:
        """Take the tables from `first` on for mere lines: over a part of a table nothing is to be computed."""
        del self._tables[first:]

    def page(self, label: str = "") -> None:
        """Begin a page; what the format calls it is its label."""
        if self._page_start is not None:
            self._close_page()
            self._parts.append(PAGE_BREAK)
            self._length += 1
        self._page_start, self._page_label = self._length, cleaned(label) or None

    def finished(self) -> tuple[str, tuple[Page, ...], tuple[Table, ...]]:
        """Return the text, its pages and its tables."""
        if self._page_start is not None:
            self._close_page()
            self._page_start = None
        return "".join(self._parts), tuple(self._pages), tuple(self._tables)

    def _close_page(self) -> None:
        assert self._page_start is not None
        number = len(self._pages) + 1
        self._pages.append(Page(number, self._page_start, self._length, self._page_label))
