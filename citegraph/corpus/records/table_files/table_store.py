"""The rows of table files in SQL: counted, summed and grouped exactly, over all rows that meet conditions on their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from itertools import islice
from typing import Any, Literal

import sqlalchemy as sa

from citegraph.corpus.filters.sql_filter import has_part
from citegraph.corpus.records.database import batches, create_tables, delete_rows, fetched, transaction
from citegraph.corpus.records.table_files.columns import TableColumn, of_scale, scaled
from citegraph.corpus.records.table_files.file_tables import FileRow, FileTable, file_tables
from citegraph.corpus.schema.document import Document
from citegraph.errors import BadInput

Function = Literal["count", "distinct", "sum", "average", "median", "min", "max"]
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "in", "not in", "contains", "lacks", "exists", "missing"]
Cut = Literal["", "day", "month", "quarter", "year"]

WRITTEN = 2_000
"""Rows that are written at a time."""

_metadata = sa.MetaData()
tables_table = sa.Table(
    "table_files",
    _metadata,
    sa.Column("doc_id", sa.String(512), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("bucket", sa.String(41), nullable=False),
    sa.Column("title", sa.String(512), nullable=False),
    sa.Column("page", sa.Integer),
    sa.Column("columns", sa.JSON, nullable=False),
    sa.Column("rows", sa.Integer, nullable=False),
    sa.Column("others", sa.JSON, nullable=False),
    sa.Column("left_out", sa.JSON, nullable=False),
    sa.Index("table_files__bucket", "bucket"),
)
file_rows_table = sa.Table(
    "table_file_rows",
    _metadata,
    sa.Column("doc_id", sa.String(512), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True),
    sa.Column("start", sa.Integer, nullable=False),
    sa.Column("end", sa.Integer, nullable=False),
    sa.Column("cells", sa.JSON, nullable=False),
)
_rows = file_rows_table.c


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table of a file as it is stored.

    Attributes:
        number: its place in the file, from 0.
        rows: how many rows it has, without those of `others`.
        others: lines that are no rows, by why (`file_tables.Why`).
        left_out: why, and the characters of the first of them.
    """

    doc_id: str
    number: int
    bucket: str
    title: str
    page: int | None
    columns: tuple[TableColumn, ...]
    rows: int
    others: dict[str, int]
    left_out: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class CellTest:
    """A condition on one column, by its place.

    Attributes:
        values: decimals for a column of numbers, ISO days for one of days, folded words else; one for an operator that
            compares, any for "in" and "not in".
        unit: only numbers of this unit, where a column has several.
    """

    column: int
    operator: Operator
    values: tuple[str, ...] = ()
    unit: str = ""


@dataclass(frozen=True, slots=True)
class TableQuery:
    """Rows of one table: of each group of conditions one must hold."""

    table: StoredTable
    tests: tuple[tuple[CellTest, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class TableNumber:
    """A number over rows.

    Attributes:
        value: None where no row has one; a day as ISO text.
        unit: currency or unit, "" for none.
        rows: how many rows have a value that it is computed over.
        group: the folded words, day, month or year of its group, None without groups or for rows that lack it.
        first: ordinal of the first row of the group.
    """

    value: Decimal | str | None
    unit: str
    rows: int
    group: str | None = None
    first: int = 0


class TableStore:
    """Tables of files by document; all methods block and raise `Unavailable` without a database."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        create_tables(_metadata, engine)

    def put(self, documents: Iterable[Document], order: str) -> None:
        """Replace the tables of documents, those that are no table files included, in one transaction.

        Args:
            order: how the bucket reads "03/04/2018".
        """
        given = list(documents)
        with transaction(self._engine) as connection:
            _delete(connection, [document.doc_id for document in given])
            for document in given:
                for table, rows in file_tables(document, order):
                    _write(connection, document, table, rows)

    def delete(self, doc_ids: Sequence[str]) -> None:
        """Forget the tables of documents."""
        with transaction(self._engine) as connection:
            _delete(connection, doc_ids)

    def of_buckets(self, buckets: Sequence[str]) -> list[StoredTable]:
        """Return the first tables of buckets by document and place."""
        chosen = sa.select(tables_table).where(tables_table.c.bucket.in_(list(buckets)))
        chosen = chosen.order_by(tables_table.c.doc_id, tables_table.c.number).limit(5_000)
        return [_stored(row) for row in fetched(self._engine, chosen).mappings()]

    def of(self, doc_id: str) -> list[StoredTable]:
        """Return the tables of a document in their order."""
        chosen = (
            sa.select(tables_table).where(tables_table.c.doc_id == doc_id).order_by(tables_table.c.number)
        )
        return [_stored(row) for row in fetched(self._engine, chosen).mappings()]

    def count(self, query: TableQuery) -> int:
        """Return how many rows meet the conditions."""
        statement = sa.select(sa.func.count()).select_from(file_rows_table).where(_condition(query))
        return int(fetched(self._engine, statement).scalar_one())

    def places(
        self, query: TableQuery, *, by: int | None = None, descending: bool = False, limit: int = 100
    ) -> list[tuple[int, int]]:
        """Return the characters of matching rows in their order, or in that of a column of numbers or days."""
        statement = sa.select(_rows.start, _rows.end).where(_condition(query))
        if by is not None:
            key = _value(query.table.columns[by], by)
            statement = statement.where(key.is_not(None)).order_by(key.desc() if descending else key.asc())
        statement = statement.order_by(_rows.ordinal).limit(limit)
        return [(int(start), int(end)) for start, end in fetched(self._engine, statement)]

    def number(
        self,
        query: TableQuery,
        function: Function,
        column: int | None,
        *,
        by: int | None = None,
        cut: Cut = "",
    ) -> list[TableNumber]:
        """Return a number of each unit, and of each group; sums and means are exact.

        Args:
            column: what is computed over, by its place; None counts rows.
            by: the column whose values make the groups; days are cut to `cut`.

        Raises:
            BadInput: the function does not fit the column.
        """
        declared = query.table.columns[column] if column is not None else None
        value = _value(declared, column) if declared is not None and column is not None else None
        _fits(function, declared)
        unit = _unit(query.table, column) if declared is not None and declared.kind == "number" else None
        group = _group(query.table.columns[by], by, cut) if by is not None else None
        keys = [
            (group if group is not None else sa.literal("")).label("in_group"),
            (unit if unit is not None else sa.literal("")).label("in_unit"),
        ]
        counted = sa.func.count(value) if value is not None else sa.func.count()
        over: Any = {
            "count": counted,
            "distinct": sa.func.count(sa.distinct(value if value is not None else _rows.ordinal)),
            "sum": sa.func.sum(value),
            "average": sa.func.sum(value),
            "median": counted,
            "min": sa.func.min(value),
            "max": sa.func.max(value),
        }[function]
        statement = sa.select(over, counted, sa.func.min(_rows.ordinal), *keys).where(_condition(query))
        # By their names: Postgres takes two bound expressions for different ones.
        grouping: list[sa.ColumnElement[Any]] = [
            sa.literal_column(key.name)
            for key, made in zip(keys, (group, unit), strict=True)
            if made is not None
        ]
        if value is not None:
            statement = statement.where(value.is_not(None))
        if grouping:
            statement = statement.group_by(*grouping).order_by(*grouping)
        found = fetched(self._engine, statement).all()
        numbers = []
        for one, rows, first, of_group, of_unit in found:
            said = str(of_unit or (declared.unit if declared else ""))
            made = TableNumber(
                _made(function, declared, one, int(rows)),
                said,
                int(rows),
                None if group is None or of_group is None else str(of_group),
                int(first or 0),
            )
            if function == "median":
                assert value is not None
                where = [_condition(query), value.is_not(None)]
                where += [group == of_group] if group is not None else []
                where += [unit == of_unit] if unit is not None else []
                middle = self._median(value, sa.and_(*where), int(rows), declared)
                made = TableNumber(middle, made.unit, made.rows, made.group, made.first)
            numbers.append(made)
        return numbers

    def holding(self, table: StoredTable, column: int, phrases: Sequence[str]) -> list[str]:
        """Return those of some folded phrases that are the whole of a cell in a column of words."""
        value = _value(table.columns[column], column)
        found: list[str] = []
        for some in batches(phrases):
            statement = sa.select(value).where(_of(table), value.in_(list(some))).distinct()
            found += fetched(self._engine, statement).scalars()
        return found

    def holds_part(self, table: StoredTable, column: int, part: str) -> bool:
        """Tell whether a cell of a column of words holds a folded word, or a word that begins so."""
        value = _value(table.columns[column], column)
        statement = sa.select(_rows.ordinal).where(_of(table), _has_word(value, part)).limit(1)
        return fetched(self._engine, statement).first() is not None

    def cell(self, table: StoredTable, ordinal: int) -> tuple[int, int] | None:
        """Return the characters of one row of a table."""
        this = sa.and_(_of(table), _rows.ordinal == ordinal)
        found = fetched(self._engine, sa.select(_rows.start, _rows.end).where(this)).first()
        return (int(found[0]), int(found[1])) if found else None

    def _median(
        self,
        value: sa.ColumnElement[Any],
        condition: sa.ColumnElement[bool],
        rows: int,
        declared: TableColumn | None,
    ) -> Decimal | None:
        if not rows or declared is None:
            return None
        statement = (
            sa.select(value).where(condition).order_by(value).offset((rows - 1) // 2).limit(2 - rows % 2)
        )
        middle = [int(one) for one in fetched(self._engine, statement).scalars()]
        return of_scale(sum(middle), declared.places) / len(middle)


def _delete(connection: sa.Connection, doc_ids: Sequence[str]) -> None:
    delete_rows(connection, doc_ids, file_rows_table.c.doc_id, tables_table.c.doc_id)


def _write(connection: sa.Connection, document: Document, table: FileTable, rows: Iterator[FileRow]) -> None:
    ordinal = 0
    while some := list(islice(rows, WRITTEN)):
        connection.execute(
            sa.insert(file_rows_table),
            [
                {
                    "doc_id": document.doc_id,
                    "number": table.number,
                    "ordinal": ordinal + place,
                    "start": row.start,
                    "end": row.end,
                    "cells": row.cells,
                }
                for place, row in enumerate(some)
            ],
        )
        ordinal += len(some)
    connection.execute(
        sa.insert(tables_table),
        {
            "doc_id": document.doc_id,
            "number": table.number,
            "bucket": document.bucket,
            "title": table.title[:512],
            "page": table.page,
            "columns": [asdict(column) for column in table.columns],
            "rows": table.rows,
            "others": dict(table.others),
            "left_out": [list(item) for item in table.left_out],
        },
    )


def _stored(row: Any) -> StoredTable:
    values = dict(row)
    values["columns"] = tuple(TableColumn(**column) for column in values["columns"])
    values["left_out"] = tuple((str(why), int(start), int(end)) for why, start, end in values["left_out"])
    return StoredTable(**values)


def _of(table: StoredTable) -> sa.ColumnElement[bool]:
    return sa.and_(_rows.doc_id == table.doc_id, _rows.number == table.number)


def _value(column: TableColumn, place: int) -> sa.ColumnElement[Any]:
    text: sa.ColumnElement[Any] = _rows.cells[str(place)].as_string()
    return sa.cast(text, sa.BigInteger) if column.kind == "number" else text


def _unit(table: StoredTable, place: int | None) -> sa.ColumnElement[Any] | None:
    """Return what tells the unit of a column's numbers in each row: beside them, or in a column of currencies."""
    if place is not None and table.columns[place].units:
        return sa.func.coalesce(_rows.cells[f"u{place}"].as_string(), "")
    named = [number for number, column in enumerate(table.columns) if column.currencies]
    if len(named) == 1 and place is not None and not table.columns[place].unit:
        return sa.func.upper(sa.func.coalesce(_rows.cells[str(named[0])].as_string(), ""))
    return None


def _group(column: TableColumn, place: int, cut: Cut) -> sa.ColumnElement[Any]:
    value: sa.ColumnElement[Any] = _rows.cells[str(place)].as_string()
    if column.kind != "date" or cut in {"", "day"}:
        return value
    if cut == "quarter":
        quarter = (sa.cast(sa.func.substr(value, 6, 2), sa.Integer) + 2) // 3
        return sa.func.substr(value, 1, 4).concat("-Q").concat(sa.cast(quarter, sa.String))
    return sa.func.substr(value, 1, 4 if cut == "year" else 7)


def _fits(function: Function, column: TableColumn | None) -> None:
    if column is None:
        if function != "count":
            raise BadInput(f"{function} needs a column of the table")
    elif column.kind == "text" and function not in {"count", "distinct"}:
        raise BadInput(
            f"the column {column.head!r} holds no numbers: its values can be counted, not {function}"
        )
    elif column.kind == "date" and function in {"sum", "average", "median"}:
        raise BadInput(f"the column {column.head!r} holds days, of which there is no {function}")


def _made(function: Function, column: TableColumn | None, number: Any, rows: int) -> Decimal | str | None:
    if function in {"count", "distinct"}:
        return Decimal(int(number))
    if number is None or column is None:
        return None
    if column.kind == "date":
        return str(number)
    value = of_scale(int(number), column.places)
    return value / rows if function == "average" else value


def _condition(query: TableQuery) -> sa.ColumnElement[bool]:
    groups = [sa.or_(*(_test(query.table, test) for test in group)) for group in query.tests if group]
    return sa.and_(_of(query.table), *groups)


def _test(table: StoredTable, test: CellTest) -> sa.ColumnElement[bool]:
    column = table.columns[test.column]
    value = _value(column, test.column)
    if test.operator in {"exists", "missing"}:
        return value.is_not(None) if test.operator == "exists" else value.is_(None)
    if test.operator in {"contains", "lacks"}:
        has = sa.or_(*(_has_word(value, one) for one in test.values))
        return sa.and_(value.is_not(None), has if test.operator == "contains" else sa.not_(has))
    if test.operator in {"in", "not in", "=", "!="}:
        given = [held for one in test.values if (held := _held(column, one)) is not None]
        holds = value.in_(given)
        # As with documents: what a row does not say is neither this nor another.
        return sa.and_(value.is_not(None), sa.not_(holds)) if test.operator in {"not in", "!="} else holds
    bound = Decimal(test.values[0]) if column.kind == "number" else test.values[0]
    compared = _compared(value, test.operator, bound, column)
    unit = _unit(table, test.column) if test.unit else None
    return sa.and_(compared, unit == test.unit) if unit is not None else compared


def _has_word(value: sa.ColumnElement[Any], part: str) -> sa.ColumnElement[bool]:
    """Return "a word of the cell begins so": at its start, behind a blank or behind a hyphen."""
    first = sa.func.substr(value, 1, len(part)) == part
    return sa.or_(first, has_part(value, f" {part}"), has_part(value, f"-{part}"))


def _held(column: TableColumn, given: str) -> int | str | None:
    """Return a value as the cells hold it, None for a number that has more places than any of them."""
    if column.kind != "number":
        return given
    number = Decimal(given)
    return (
        scaled(number, column.places)
        if of_scale(scaled(number, column.places), column.places) == number
        else None
    )


def _compared(
    value: sa.ColumnElement[Any], operator: Operator, bound: Decimal | str, column: TableColumn
) -> sa.ColumnElement[bool]:
    if isinstance(bound, Decimal):
        exact = bound.scaleb(column.places)
        low, high = exact.__floor__(), exact.__ceil__()
        # A bound between two numbers of the scale: more than 2.5 is from 3 on, less than it up to 2.
        at = {">": low, ">=": high, "<": high, "<=": low}[operator]
    else:
        at = bound  # type: ignore[assignment]
    return {">": value > at, ">=": value >= at, "<": value < at, "<=": value <= at}[operator]
