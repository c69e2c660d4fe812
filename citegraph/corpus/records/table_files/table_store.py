"""The rows of table files in SQL: counted, summed and grouped exactly, over all rows that meet conditions on their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import Any, Literal

import sqlalchemy as sa

from citegraph.corpus.filters.clause import MAX_LIST, Filters
from citegraph.corpus.filters.sql_filter import Columns, has_part, to_sql
from citegraph.corpus.records.database import batches, create_tables, delete_rows, fetched, transaction
from citegraph.corpus.records.querying.aggregates import Function, RowNumber, row_numbers
from citegraph.corpus.records.table_files.columns import TableColumn, of_scale
from citegraph.corpus.records.table_files.file_tables import FileRow, FileTable, file_tables
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Document
from citegraph.corpus.schema.field import Field, FieldType
from citegraph.errors import BadInput
from citegraph.language.amounts import currency_code

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
class TableQuery:
    """Rows of one table that meet conditions on its columns, which are the fields of `table_bucket`."""

    table: StoredTable
    filters: Filters = ()


@lru_cache(maxsize=256)
def table_bucket(columns: tuple[TableColumn, ...]) -> Bucket:
    """Return the declaration of a table's rows as one of a bucket: a field a column, called as its head."""
    heads = [column.head for column in columns]
    fields = [
        Field.model_construct(
            name=head if heads.index(head) == place else f"{head} #{place + 1}",
            type=_type_of(column, columns),
            description=f"{head}.",
        )
        for place, (head, column) in enumerate(zip(heads, columns, strict=True))
    ]
    return Bucket.model_construct(name="rows", description="Rows of a table.", nouns=(), fields=tuple(fields))


def _type_of(column: TableColumn, columns: Sequence[TableColumn]) -> FieldType:
    if column.kind != "number":
        return "date" if column.kind == "date" else "keyword"
    told = not column.unit and sum(one.currencies for one in columns) == 1
    return "money" if column.units or told or currency_code(column.unit) else "decimal"


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
    ) -> list[RowNumber]:
        """Return a number of each unit, and of each group; sums and means are exact.

        Args:
            column: what is computed over, by its place; None counts rows.
            by: the column whose values make the groups; days are cut to `cut`.

        Raises:
            BadInput: the function does not fit the column.
        """
        declared = query.table.columns[column] if column is not None else None
        _fits(function, declared)
        statement = row_numbers(
            function,
            _rows.ordinal if declared is None or column is None else _value(declared, column),
            source=file_rows_table,
            condition=_condition(query),
            ordinal=_rows.ordinal,
            unit=_unit(query.table, column) if declared is not None and declared.kind == "number" else None,
            group=_group(query.table.columns[by], by, cut) if by is not None else None,
        )
        return [
            RowNumber(
                _made(function, declared, one, int(values)),
                str(unit or (declared.unit if declared else "")),
                int(rows),
                None if by is None or group is None else str(group),
                int(first or 0),
            )
            for one, values, rows, first, group, unit in fetched(self._engine, statement)
        ]

    def holding(self, table: StoredTable, column: int, phrases: Sequence[str]) -> list[str]:
        """Return those of some folded phrases that are the whole of a cell in a column of words."""
        value = _value(table.columns[column], column)
        found: list[str] = []
        for some in batches(phrases):
            statement = sa.select(value).where(_of(table), value.in_(list(some))).distinct()
            found += fetched(self._engine, statement).scalars()
        return found

    def having(self, table: StoredTable, column: int, part: str) -> list[str]:
        """Return the different cells of a column of words that hold a folded word, or a word that begins so; at most 1,001."""
        value = _value(table.columns[column], column)
        statement = sa.select(value).where(_of(table), _has_word(value, part)).distinct().limit(MAX_LIST + 1)
        return list(fetched(self._engine, statement).scalars())

    def cell(self, table: StoredTable, ordinal: int) -> tuple[int, int] | None:
        """Return the characters of one row of a table."""
        this = sa.and_(_of(table), _rows.ordinal == ordinal)
        found = fetched(self._engine, sa.select(_rows.start, _rows.end).where(this)).first()
        return (int(found[0]), int(found[1])) if found else None


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


def _made(function: Function, column: TableColumn | None, number: Any, values: int) -> Decimal | str | None:
    if function in {"count", "distinct"}:
        return Decimal(int(number))
    if number is None or column is None:
        return None
    if column.kind == "date":
        return str(number)
    value = of_scale(int(number), column.places)
    return value / values if function in {"average", "median"} else value


def _condition(query: TableQuery) -> sa.ColumnElement[bool]:
    filters = to_sql(table_bucket(query.table.columns), query.filters, _Cells(query.table))
    return sa.and_(_of(query.table), filters)


@dataclass(frozen=True)
class _Cells(Columns):
    """The cells of a table's rows."""

    table: StoredTable

    def _place(self, field: Field) -> int:
        return table_bucket(self.table.columns).fields.index(field)

    def value(self, field: Field) -> sa.ColumnElement[Any]:
        place = self._place(field)
        return _value(self.table.columns[place], place)

    def unit(self, field: Field) -> sa.ColumnElement[Any]:
        place = self._place(field)
        told = _unit(self.table, place)
        return sa.literal(self.table.columns[place].unit) if told is None else told

    def bound(self, field: Field, value: Any, *, up: bool) -> Any:
        if field.type == "date":
            return value.isoformat()
        exact = Decimal(repr(value)).scaleb(self.table.columns[self._place(field)].places)
        return exact.__ceil__() if up else exact.__floor__()

    def part(self, column: sa.ColumnElement[str], part: str) -> sa.ColumnElement[bool]:
        return _has_word(column, part)


def _has_word(value: sa.ColumnElement[Any], part: str) -> sa.ColumnElement[bool]:
    """Return "a word of the cell begins so": at its start, behind a blank or behind a hyphen."""
    first = sa.func.substr(value, 1, len(part)) == part
    return sa.or_(first, has_part(value, f" {part}"), has_part(value, f"-{part}"))
