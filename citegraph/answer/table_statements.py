"""The statements about rows of table files: a number over all rows that meet the conditions, and the rows themselves."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import cast

from citegraph.answer.cells import made_number, table_of
from citegraph.answer.cited_spans import CITED_INPUTS
from citegraph.corpus.records.querying.aggregates import Function, RowNumber
from citegraph.corpus.records.table_files.file_tables import cells_of
from citegraph.corpus.records.table_files.table_store import (
    Cut,
    StoredTable,
    TableQuery,
    TableStore,
)
from citegraph.plan.stored_filters import printed
from citegraph.plan.tables_asked import query_of
from citegraph.run.context import Context
from citegraph.run.model_calls import note
from citegraph.run.services import Corpus
from citegraph.run.state_types import CitedSpan, Draft, NumberMade, Operation, Plan, StoredNote, TableWanted

SHOWN, LISTED = 5, 12
"""Rows that are said in lines beside a number, and of a list; more stand in the table only."""
GROUPS = 50
"""Groups that are said in lines."""
SAID = {
    "sum": "Sum of {column}",
    "average": "Average {column}",
    "median": "Median {column}",
    "min": "Lowest {column}",
    "max": "Highest {column}",
    "distinct": "Number of different values of {column}",
    "count": "Number of rows",
}
NO_ROWS = {
    "sum": "sum up others",
    "average": "are means of others",
    "note": "are notes",
    "cells": "have more cells than there are columns",
}


@dataclass(slots=True)
class _Said:
    """What is said of all tables, and what proves it."""

    text: list[str] = field(default_factory=list)
    made: list[NumberMade] = field(default_factory=list)
    cited: list[CitedSpan] = field(default_factory=list)
    rows: list[tuple[str, list[str]]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    notes: list[StoredNote] = field(default_factory=list)


def tables_draft(corpus: Corpus, plan: Plan, context: Context) -> Draft:
    """Return the draft of what a plan asks of the rows of table files; blocking."""
    assert corpus.tables is not None
    said = _Said()
    unused: list[str] = []
    for wanted in plan["tables"]:
        stored = corpus.tables.of(wanted["doc"])
        table = next((one for one in stored if one.number == wanted["number"]), None)
        if table is not None:
            unused += wanted["unused"]
            _Speaker(corpus, corpus.tables, table, wanted, said, named=len(stored) > 1).say(
                context.list_limit
            )
    documents = list(dict.fromkeys(wanted["doc"] for wanted in plan["tables"]))
    text = "\n".join(said.text) or "The table is not stored any more: ingest its file again."
    partial: Draft = {}
    if lost := list(dict.fromkeys(unused)):
        text = f"Note: not used as a condition: {', '.join(lost)}.\n{text}"
        words = " and ".join(f"“{word}”" for word in lost)
        partial = {"partial": f"{words} could not be turned into a condition on the table"}
    draft: Draft = {
        "text": text,
        "documents": documents,
        "matched": len(documents),
        "derivations": said.made,
        "table": table_of(
            ["document", *said.heads],
            [[doc_id, *cells] for doc_id, cells in said.rows],
            [doc_id for doc_id, _ in said.rows],
            lambda value: value,
        ),
        "cited": said.cited[:CITED_INPUTS],
        "notes": said.notes,
        "unanswerable": not said.text,
    }
    return {**draft, **partial}


@dataclass(slots=True)
class _Speaker:
    """Says what is asked of one table."""

    corpus: Corpus
    store: TableStore
    table: StoredTable
    wanted: TableWanted
    said: _Said
    named: bool

    def say(self, limit: int) -> None:
        """Add the numbers, the rows and the notes of the table; `limit` is of rows in the table beside the text."""
        function, columns = self.wanted["function"], self.wanted["columns"]
        total = self.store.count(self._query)
        grouped = self.wanted["by"] is not None
        if function == "none":
            self.said.text.append(
                f"{total:,} of {self.table.rows:,} rows{self._where}{self._if} {self._mark}:"
            )
        for column in columns if function not in {"count", "none"} else [None][function == "none" :]:
            self.said.text += self._grouped(column) if grouped else self._numbers(function, column)
        if function == "count" and not grouped:
            for column in columns:
                self.said.text += self._numbers("distinct", column)
        by = columns[0] if columns and function in {"min", "max"} and not grouped else None
        rows = [
            (start, end, self.corpus.documents.text(self.table.doc_id, start, end))
            for start, end in self.store.places(
                self._query, by=by, descending=function == "max", limit=max(1, limit)
            )
        ]
        if not grouped:
            shown = rows[: 1 if by is not None else LISTED if function == "none" else SHOWN]
            self.said.text += [f"- “{' '.join(line.split())}” {self._mark}" for _, _, line in shown]
            if total > len(shown) and by is None:
                self.said.text.append(f"Showing {len(shown)} of {total:,} rows.")
        self.said.cited += [{"doc": self.table.doc_id, "start": start, "end": end} for start, end, _ in rows]
        heads = [column.head for column in self.table.columns]
        self.said.heads = self.said.heads or heads
        if heads == self.said.heads:
            self.said.rows += [(self.table.doc_id, cells_of(line, len(heads))) for _, _, line in rows]
        self.said.notes += [note("compose", "rows", line) for line in self._notes(total)]

    @property
    def _query(self) -> TableQuery:
        return query_of(self.table, self.wanted)

    @property
    def _mark(self) -> str:
        return f"[{self.table.doc_id}]"

    @property
    def _name(self) -> str:
        return self.corpus.documents.records([self.table.doc_id])[self.table.doc_id].source_file

    @property
    def _where(self) -> str:
        return f" in {self._name}{f', {self.table.title}' if self.named and self.table.title else ''}"

    @property
    def _if(self) -> str:
        conditions = " and ".join(map(printed, self.wanted["filters"]))
        return f" where {conditions}" if conditions else ""

    def _numbers(self, function: str, column: int | None) -> list[str]:
        numbers = self.store.number(self._query, cast(Function, function), column)
        if not numbers:
            head = _head(self.table, column)
            return [f"No row{self._where} has a value in {head}{self._if} {self._mark}."]
        return [self._line(function, column, number) for number in numbers]

    def _grouped(self, column: int | None) -> list[str]:
        """Return a line a group, those with the most first where one is asked for."""
        by, function, cut = self.wanted["by"], self.wanted["function"], self.wanted["cut"]
        assert by is not None
        numbers = self.store.number(self._query, cast(Function, function), column, by=by, cut=cast(Cut, cut))
        if self.wanted["top"]:
            numbers.sort(
                key=lambda one: one.value if isinstance(one.value, Decimal) else Decimal(),
                reverse=self.wanted["top"] == "most",
            )
        lines = [
            self._line(function, column, number, self._group_name(number, by)) for number in numbers[:GROUPS]
        ]
        return lines + ([f"Showing {GROUPS} of {len(numbers):,} groups."] if len(numbers) > GROUPS else [])

    def _group_name(self, number: RowNumber, by: int) -> str:
        """Return a group as the file prints it: the cell of its first row."""
        if number.group is None:
            return "(empty)"
        place = self.store.cell(self.table, number.first) if self.table.columns[by].kind == "text" else None
        line = self.corpus.documents.text(self.table.doc_id, *place) if place else ""
        return cells_of(line, len(self.table.columns))[by] if line else number.group

    def _line(self, function: str, column: int | None, number: RowNumber, group: str = "") -> str:
        """Return the line of one number, and take in how it was made."""
        shown = _shown(number, self.table.columns[column].places if column is not None else 0)
        counts = function in {"count", "distinct"}
        unit = "" if counts or not number.unit else f" {number.unit}"
        formula = (
            f"{function} over {number.rows} rows{self._if}{f', {group}' if group else ''}, by the database"
        )
        operation = cast(Operation, "count" if counts else function)
        self.said.made.append(
            made_number(shown, operation, formula, [], [self.table.doc_id], "" if counts else number.unit)
        )
        label = SAID[function].format(column=_head(self.table, column))
        lead = f"{group}: {label}{self._where}" if group else f"{label}{self._where}:"
        return f"{lead} {shown}{unit} {self._mark}."

    def _notes(self, total: int) -> Iterator[str]:
        """Yield what is to be known of a number: lines that are no rows, rows without it, numbers that were cut."""
        table = self.table
        if self.wanted["function"] != "none":
            yield f"{total:,} of the {table.rows:,} rows of {self._name} were taken{self._if}."
        if table.others:
            parts = ", ".join(f"{count:,} {NO_ROWS[why]}" for why, count in table.others.items())
            first = "; ".join(
                self.corpus.documents.text(table.doc_id, start, end)[:80]
                for _, start, end in table.left_out[:3]
            )
            yield f"Lines of {self._name} that are not counted as rows: {parts} ({first})."
        for column in self.wanted["columns"] if self.wanted["function"] not in {"count", "distinct"} else ():
            have = sum(one.rows for one in self.store.number(self._query, "count", column))
            if have < total:
                yield f"{total - have:,} of the {total:,} rows have no number in {_head(table, column)}."
            if table.columns[column].rounded:
                places = table.columns[column].places
                yield f"Numbers of {_head(table, column)} were cut to {places} decimal places."


def _shown(number: RowNumber, places: int) -> str:
    """Return a number as it is said: with the places of its column, of a mean at most two more."""
    value = number.value
    if not isinstance(value, Decimal):
        return "none" if value is None else value
    if value != round(value, places):
        value = round(value, places + 2).normalize()
        places = max(0, -int(value.as_tuple().exponent))
    return f"{value:,.{2 if places == 1 else places}f}"


def _head(table: StoredTable, column: int | None) -> str:
    return "" if column is None else table.columns[column].head
