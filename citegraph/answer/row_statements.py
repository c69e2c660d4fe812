"""The statements about rows of tables, in documents or files: a number over all that meet the conditions, and the rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, cast

from citegraph.answer.cells import json_cell, made_number, marks, question_of, table_of
from citegraph.answer.cited_spans import CITED_INPUTS
from citegraph.answer.set_numbers import INPUTS, is_deducted
from citegraph.corpus.records.extracted.row_store import StoredRow
from citegraph.corpus.records.querying.aggregates import Function, RowNumber
from citegraph.corpus.records.table_files.file_tables import cells_of
from citegraph.corpus.records.table_files.table_store import Cut, StoredTable, TableQuery, table_bucket
from citegraph.corpus.schema.bucket import RowKind
from citegraph.language.amounts import number_text
from citegraph.language.terms import phrased
from citegraph.plan.rows_asked import filters_of, row_query
from citegraph.plan.stored_filters import bucket_filters, printed
from citegraph.run.context import Context
from citegraph.run.model_calls import note
from citegraph.run.services import Corpus
from citegraph.run.state_types import CitedSpan, Draft, NumberMade, Operation, Plan, RowsWanted, StoredNote

SHOWN, LISTED = 5, 12
"""Rows that are said in lines beside a number, and of a list; more stand in the table only."""
GROUPS = 50
"""Groups that are said in lines."""
NO_ROWS = {
    "sum": "sum up others",
    "average": "are means of others",
    "note": "are notes",
    "cells": "have more cells than there are columns",
}


@dataclass(frozen=True, slots=True)
class _Line:
    """A row as it is said, where it stands, and its cells."""

    doc: str
    start: int | None
    end: int | None
    text: str
    cells: Sequence[Any]


@dataclass(slots=True)
class _Said:
    """What is said of all tables, and what proves it."""

    text: list[str] = field(default_factory=list)
    made: list[NumberMade] = field(default_factory=list)
    cited: list[CitedSpan] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    rows: list[_Line] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    notes: list[StoredNote] = field(default_factory=list)


def rows_draft(corpus: Corpus, plan: Plan, context: Context) -> Draft:
    """Return the draft of what a plan asks of rows: numbers, a line a unit or group, then the rows; blocking."""
    said = _Said()
    partial: list[str] = []
    for wanted in plan["rows"]:
        rows = _in_file(corpus, wanted) if "doc" in wanted else _InDocuments(corpus, plan, wanted)
        if rows is None:
            continue
        if isinstance(rows, _InDocuments) and not rows.total:
            what = " and ".join([*(f"“{word}”" for word in wanted["words"][:1]), *wanted["words"][1:]])
            said.text.append(f"No {rows.name} with {what} was found.")
            continue
        _say(rows, wanted, said, question_of(plan), context.list_limit)
        partial += rows.partial
    lost = list(dict.fromkeys(word for wanted in plan["rows"] for word in wanted.get("unused", ())))
    if lost:
        said.text.insert(0, f"Note: not used as a condition: {', '.join(lost)}.")
        words = " and ".join(f"“{word}”" for word in lost)
        partial.append(f"{words} could not be turned into a condition on the table")
    documents = list(dict.fromkeys(said.documents))
    return {
        "text": "\n".join(said.text) or "The table is not stored any more: ingest its file again.",
        "documents": documents,
        "matched": len(documents),
        "derivations": said.made,
        "table": table_of(
            ["document", *said.heads],
            [[row.doc, *row.cells] for row in said.rows],
            [row.doc for row in said.rows],
            lambda value: value,
        ),
        "cited": said.cited[:CITED_INPUTS],
        "notes": said.notes,
        "unanswerable": not said.documents,
        "partial": "; ".join(partial),
    }


def _in_file(corpus: Corpus, wanted: RowsWanted) -> "_InFile | None":
    stored = corpus.tables.of(wanted["doc"]) if corpus.tables else []
    table = next((one for one in stored if one.number == wanted["number"]), None)
    return _InFile(corpus, wanted, table, named=len(stored) > 1) if table else None


def _say(rows: "_InFile | _InDocuments", wanted: RowsWanted, said: _Said, question: str, limit: int) -> None:
    """Add the numbers, the rows and the notes of one table; `limit` is of rows in the table beside the text."""
    function, columns, grouped = wanted["function"], wanted["columns"], wanted.get("by") is not None
    by = columns[0] if columns and function in {"min", "max"} and not grouped else None
    lines = rows.lines(by=by, descending=function == "max", limit=max(1, limit))
    if isinstance(rows, _InDocuments) and rows.deducted:
        said.text.append(
            f"Note: {rows.deducted} of the documents are deducted; their rows are added as printed."
        )
    if function == "none":
        said.text.append(rows.lead)
    asked: list[tuple[str, str | None]] = [(function, column) for column in columns]
    if function == "count":
        # Beside the count of rows that of the different values of what is counted.
        asked = [("count", None), *(("distinct", column) for column in columns if not grouped)]
    elif function == "none":
        asked = []
    for name, column in asked:
        numbers = rows.numbers(cast(Function, name), column)
        if not numbers:
            said.text.append(
                f"No row{rows.where} has a value in {rows.spoken(column)}{rows.conditions} {rows.marks}."
            )
        if wanted.get("top"):
            numbers.sort(key=_amount, reverse=wanted["top"] == "most")
        label = phrased("rows" if column is None else name, question, field=rows.spoken(column))
        for number in numbers[:GROUPS]:
            counts = name in {"count", "distinct"}
            shown, unit = rows.shown(number, column), "" if counts else number.unit
            group = rows.group_name(number) if grouped and isinstance(rows, _InFile) else ""
            formula = f"{name} over {number.rows} {rows.name}{rows.conditions}{group and f', {group}'}, by the database"
            operation = cast(Operation, "count" if counts else name)
            inputs = rows.inputs(column, number.unit, lines)
            said.made.append(made_number(shown, operation, formula, inputs, rows.documents, unit))
            lead = f"{group}: {label}{rows.where}" if group else f"{label}{rows.where}:"
            said.text.append(f"{' '.join(filter(None, [lead, shown, unit, rows.marks]))}.")
        if len(numbers) > GROUPS:
            said.text.append(f"Showing {GROUPS} of {len(numbers):,} groups.")
    if not grouped:
        shown_rows = lines[: 1 if by is not None else LISTED if function == "none" else SHOWN]
        said.text += [f"- {line.text} [{line.doc}]" for line in shown_rows]
        if rows.total > len(shown_rows) and by is None:
            said.text.append(f"Showing {len(shown_rows)} of {rows.total:,} rows.")
    said.cited += [
        {"doc": line.doc, "start": line.start, "end": line.end}
        for line in lines
        if line.start is not None and line.end is not None
    ]
    said.heads = said.heads or rows.columns
    said.rows += lines if rows.columns == said.heads else []
    said.documents += rows.documents
    said.notes += [note("compose", "rows", line) for line in rows.notes()]


def _amount(number: RowNumber) -> Decimal:
    return number.value if isinstance(number.value, Decimal) else Decimal()


class _InDocuments:
    """Rows inside the documents of a plan."""

    where = conditions = ""

    def __init__(self, corpus: Corpus, plan: Plan, wanted: RowsWanted) -> None:
        assert corpus.rows is not None
        name = plan["buckets"][0]
        self.store, self.wanted, bucket = corpus.rows, wanted, corpus.buckets[name]
        self.kind = next(item for item in bucket.rows if item.name == wanted["kind"])
        self.name = self.kind.name.replace("_", " ")
        filters, only = bucket_filters(plan, name), plan.get("only", [])
        self.query = row_query(corpus, bucket, self.kind, filters_of(wanted), filters, only)
        self.total, self.documents = self.store.count(self.query), self.store.documents(self.query)
        self.columns = [item.name for item in self.kind.fields]
        summed = wanted["function"] == "sum" and bucket.deduct
        known = corpus.annotations.values_of(name, self.documents[:INPUTS]) if summed else {}
        self.deducted = sum(is_deducted(bucket, values) for values in known.values())

    @property
    def lead(self) -> str:
        return f"{self.total} {self.name} in {len(self.documents)} documents:"

    @property
    def marks(self) -> str:
        return marks(self.documents)

    @property
    def partial(self) -> list[str]:
        said = "the rows of credit notes, which are to be deducted, are added as printed"
        return [said] if self.deducted else []

    def lines(self, *, by: str | None, descending: bool, limit: int) -> list[_Line]:
        found = self.store.find(self.query, order_by=by, descending=descending, limit=limit)
        # Those of the rows that are shown first: their lines are cited.
        self.documents = list(dict.fromkeys([*(row.doc_id for row in found), *self.documents]))
        self.columns = [name for name in self.columns if any(name in row.values for row in found)]
        return [
            _Line(
                row.doc_id, row.start, row.end, row_said(self.kind, row),
                [_cell(row.values.get(name)) for name in self.columns],
            )
            for row in found
        ]  # fmt: skip

    def numbers(self, function: Function, column: str | None) -> list[RowNumber]:
        return self.store.number(self.query, function, column or self.kind.named_by)

    def spoken(self, column: str | None) -> str:
        return f"{(column or '').replace('_', ' ')} of {self.name}"

    def shown(self, number: RowNumber, column: str | None) -> str:
        declared = self.kind.field(column or "")
        exact = declared is not None and declared.type == "money"
        return number_text(str(number.value)) if exact else f"{float(str(number.value)):.15g}"

    def inputs(self, column: str | None, unit: str, lines: Sequence[_Line]) -> list[str]:
        """Return the values of a number, where all of them are here: it is computed once more."""
        place = self.columns.index(column) if column in self.columns and len(lines) == self.total else None
        values = [] if place is None else [str(line.cells[place]).partition(" ") for line in lines]
        return [value.replace(",", "") for value, _, code in values if value and code == unit]

    def notes(self) -> Iterator[str]:
        conditions = " and ".join(map(printed, self.wanted["filters"])) or "all of theirs"
        yield f"{self.total} rows of tables ({self.name}) in {len(self.documents)} documents were taken: {conditions}."


class _InFile:
    """Rows of one table of a file."""

    name = "rows"
    partial: Sequence[str] = ()

    def __init__(self, corpus: Corpus, wanted: RowsWanted, table: StoredTable, *, named: bool) -> None:
        assert corpus.tables is not None
        self.store, self.texts, self.wanted, self.table = corpus.tables, corpus.documents, wanted, table
        self.query = TableQuery(table, filters_of(wanted))
        self.columns = [item.name for item in table_bucket(table.columns).fields]
        self.file = corpus.documents.records([table.doc_id])[table.doc_id].source_file
        self.where = f" in {self.file}{f', {table.title}' if named and table.title else ''}"
        conditions = " and ".join(map(printed, wanted["filters"]))
        self.conditions = f" where {conditions}" if conditions else ""
        self.total, self.documents, self.marks = (
            self.store.count(self.query),
            [table.doc_id],
            f"[{table.doc_id}]",
        )

    @property
    def lead(self) -> str:
        return f"{self.total:,} of {self.table.rows:,} rows{self.where}{self.conditions} {self.marks}:"

    def _cells(self, span: tuple[int, int]) -> tuple[str, list[str]]:
        line = self.texts.text(self.table.doc_id, *span)
        return line, cells_of(line, len(self.columns))

    def lines(self, *, by: str | None, descending: bool, limit: int) -> list[_Line]:
        place = self.columns.index(by) if by else None
        found = self.store.places(self.query, by=place, descending=descending, limit=limit)
        read = [(span, *self._cells(span)) for span in found]
        return [
            _Line(self.table.doc_id, *span, f"“{' '.join(line.split())}”", cells)
            for span, line, cells in read
        ]

    def numbers(self, function: Function, column: str | None) -> list[RowNumber]:
        place, by = (self.columns.index(name) if name else None for name in (column, self.wanted.get("by")))
        return self.store.number(
            self.query, function, place, by=by, cut=cast(Cut, self.wanted.get("cut", ""))
        )

    def group_name(self, number: RowNumber) -> str:
        """Return a group as the file prints it: the cell of its first row."""
        by = self.columns.index(self.wanted["by"] or "")
        if number.group is None:
            return "(empty)"
        span = self.store.cell(self.table, number.first) if self.table.columns[by].kind == "text" else None
        return self._cells(span)[1][by] if span else number.group

    def spoken(self, column: str | None) -> str:
        return self.table.columns[self.columns.index(column)].head if column else ""

    def shown(self, number: RowNumber, column: str | None) -> str:
        """Return a number with the places of its column, of a mean at most two more."""
        value, places = number.value, self.table.columns[self.columns.index(column)].places if column else 0
        if not isinstance(value, Decimal):
            return "none" if value is None else value
        if value != round(value, places):
            value = round(value, places + 2).normalize()
            places = max(0, -int(value.as_tuple().exponent))
        return f"{value:,.{2 if places == 1 else places}f}"

    def inputs(self, column: str | None, unit: str, lines: Sequence[_Line]) -> list[str]:
        return []

    def notes(self) -> Iterator[str]:
        """Yield what is to be known of a number: lines that are no rows, rows without it, numbers that were cut."""
        table, function = self.table, self.wanted["function"]
        if function != "none":
            yield f"{self.total:,} of the {table.rows:,} rows of {self.file} were taken{self.conditions}."
        if table.others:
            parts = ", ".join(f"{count:,} {NO_ROWS[why]}" for why, count in table.others.items())
            first = "; ".join(self._cells((start, end))[0][:80] for _, start, end in table.left_out[:3])
            yield f"Lines of {self.file} that are not counted as rows: {parts} ({first})."
        for name in self.wanted["columns"] if function not in {"count", "distinct"} else ():
            column, place = table.columns[self.columns.index(name)], self.columns.index(name)
            have = sum(one.rows for one in self.store.number(self.query, "count", place))
            if have < self.total:
                yield f"{self.total - have:,} of the {self.total:,} rows have no number in {column.head}."
            if column.rounded:
                yield f"Numbers of {column.head} were cut to {column.places} decimal places."


def row_said(kind: RowKind, row: StoredRow) -> str:
    """Return a row in words: what it is about, then its other columns with their names."""
    about = str(row.values.get(kind.named_by, ""))
    rest = [
        f"{field.name.replace('_', ' ')} {_cell(row.values[field.name])}"
        for field in kind.fields
        if field.name != kind.named_by and field.name in row.values
    ]
    return f"{about}: {', '.join(rest)}" if rest else about


def _cell(value: Any) -> Any:
    return f"{value:g}" if isinstance(value, float) else json_cell(value)
