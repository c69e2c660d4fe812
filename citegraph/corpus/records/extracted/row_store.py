"""The rows of tables inside documents, in SQL: one record a row, one a cell, to be listed, filtered and summed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

from citegraph.corpus.filters.clause import Filters
from citegraph.corpus.filters.sql_filter import Columns, folded_string, to_sql
from citegraph.corpus.records.database import create_tables, delete_rows, fetched
from citegraph.corpus.records.extracted.found import FoundRow
from citegraph.corpus.records.querying.aggregates import Function, RowNumber, row_numbers
from citegraph.corpus.schema.bucket import Bucket, RowKind, show
from citegraph.corpus.schema.field import Field, Value
from citegraph.corpus.schema.values import to_json
from citegraph.errors import BadInput
from citegraph.language.amounts import Money, Quantity
from citegraph.language.terms import fold

ROW_FROM = 0.5
"""Confidence from which a row is stored; a list shows it, a sum counts it."""
LONGEST_CELL = 2400

_metadata = sa.MetaData()
rows_table = sa.Table(
    "document_rows",
    _metadata,
    sa.Column("doc_id", sa.String(512), primary_key=True),
    sa.Column("kind", sa.String(41), primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True),
    sa.Column("bucket", sa.String(41), nullable=False),
    sa.Column("values", sa.JSON, nullable=False),
    sa.Column("raw", sa.Text, nullable=False),
    sa.Column("start", sa.Integer),
    sa.Column("end", sa.Integer),
    sa.Column("page", sa.Integer),
    sa.Column("confidence", sa.Double, nullable=False),
    sa.Index("document_rows__kind", "bucket", "kind"),
)
cells_table = sa.Table(
    "document_row_cells",
    _metadata,
    sa.Column("doc_id", sa.String(512), primary_key=True),
    sa.Column("kind", sa.String(41), primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True),
    sa.Column("field", sa.String(41), primary_key=True),
    sa.Column("bucket", sa.String(41), nullable=False),
    sa.Column("folded", folded_string(LONGEST_CELL)),
    sa.Column("number", sa.Double),
    sa.Column("unit", sa.String(40)),
    sa.Index("document_row_cells__number", "bucket", "kind", "field", "number"),
)


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A row as it is handed out.

    Attributes:
        ordinal: its place among the rows of its kind in the document, from 0.
        values: plain JSON by column (`citegraph.corpus.schema.values.to_json`).
        start, end: characters of the document; `page` a page number; None when unknown.
    """

    doc_id: str
    kind: str
    ordinal: int
    values: Mapping[str, Any]
    raw: str
    start: int | None
    end: int | None
    page: int | None
    confidence: float


@dataclass(frozen=True, slots=True)
class RowQuery:
    """Which rows are meant.

    Attributes:
        filters: conditions on the columns of the rows, of the kinds that `Clause` knows.
        documents: a condition or subquery of document ids (`AnnotationStore.condition` selects them); None is all.
        doc_ids: only rows of these documents; None is all.
    """

    bucket: Bucket
    kind: RowKind
    filters: Filters = ()
    documents: sa.Select[Any] | None = None
    doc_ids: Sequence[str] | None = field(default=None)


class RowStore:
    """Rows by document; all methods block and raise `Unavailable` without a database."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        create_tables(_metadata, engine)

    def put(self, connection: sa.Connection, bucket: str, found: Mapping[str, Sequence[FoundRow]]) -> None:
        """Replace the rows of documents, within a transaction of the caller."""
        self.delete(connection, list(found))
        rows = [row for doc_id, items in found.items() for row in _records(bucket, doc_id, items)]
        cells = [cell for doc_id, items in found.items() for cell in _cells(bucket, doc_id, items)]
        if rows:
            connection.execute(sa.insert(rows_table), rows)
        if cells:
            connection.execute(sa.insert(cells_table), cells)

    def delete(self, connection: sa.Connection, doc_ids: Sequence[str]) -> None:
        """Forget the rows of documents, within a transaction of the caller."""
        delete_rows(connection, doc_ids, rows_table.c.doc_id, cells_table.c.doc_id)

    def of(self, doc_id: str, kind: str | None = None) -> list[StoredRow]:
        """Return the rows of a document in their order."""
        this = rows_table.c.doc_id == doc_id
        chosen = this if kind is None else sa.and_(this, rows_table.c.kind == kind)
        return self._stored(
            sa.select(rows_table).where(chosen).order_by(rows_table.c.kind, rows_table.c.ordinal)
        )

    def find(
        self, query: RowQuery, *, order_by: str | None = None, descending: bool = False, limit: int = 100
    ) -> list[StoredRow]:
        """Return the matching rows, by document and place, or by the number of a column.

        Raises:
            BadInput: a condition is on a column that the rows do not have.
        """
        statement = sa.select(rows_table).where(_condition(query))
        if order_by:
            number = _cell(order_by, cells_table.c.number).scalar_subquery()
            statement = statement.where(number.is_not(None)).order_by(
                number.desc() if descending else number.asc()
            )
        statement = statement.order_by(rows_table.c.doc_id, rows_table.c.ordinal).limit(limit)
        return self._stored(statement)

    def count(self, query: RowQuery) -> int:
        """Return how many rows match."""
        statement = sa.select(sa.func.count()).select_from(rows_table).where(_condition(query))
        return int(fetched(self._engine, statement).scalar_one())

    def documents(self, query: RowQuery) -> list[str]:
        """Return the ids of all documents with a row that matches, in order."""
        statement = sa.select(rows_table.c.doc_id).where(_condition(query)).distinct()
        return sorted(fetched(self._engine, statement).scalars())

    def number(self, query: RowQuery, function: Function, column: str) -> list[RowNumber]:
        """Return a number over a column, one a unit.

        Raises:
            BadInput: the rows have no such column.
        """
        if query.kind.field(column) is None:
            raise BadInput(f"the rows {query.kind.name} have no column {column!r}")
        statement = row_numbers(
            function,
            cells_table.c.number,
            source=rows_table.join(cells_table, _same_row()),
            condition=sa.and_(_condition(query), cells_table.c.field == column),
            ordinal=rows_table.c.ordinal,
            unit=sa.func.coalesce(cells_table.c.unit, ""),
        )
        averages = function in {"average", "median"}
        return [
            RowNumber(Decimal(f"{float(one / values if averages else one):.15g}"), str(unit), int(rows))
            for one, values, rows, _, _, unit in fetched(self._engine, statement)
        ]

    def _stored(self, statement: sa.Select[Any]) -> list[StoredRow]:
        rows = fetched(self._engine, statement).mappings()
        return [StoredRow(**{name: row[name] for name in StoredRow.__slots__}) for row in rows]


def rows_bucket(kind: RowKind, bucket: Bucket) -> Bucket:
    """Return the declaration of a kind of rows as one of a bucket, so that filters on columns are checked like others."""
    fresh = Bucket.model_construct(**{name: getattr(bucket, name) for name in Bucket.model_fields})
    return fresh.model_copy(  # without what the bucket itself has looked up of its own fields
        update={
            "name": f"{bucket.name}_{kind.name}"[:41],
            "fields": kind.fields,
            "rows": (),
            "sums": (),
            **dict.fromkeys(
                ("main_date", "main_amount", "effective_field", "supersedes_field", "revision_field")
            ),
            "title_fields": (kind.named_by,),
            "entity_fields": (),
            "identifiers": (),
        }
    )


def _condition(query: RowQuery) -> sa.ColumnElement[bool]:
    parts = [rows_table.c.bucket == query.bucket.name, rows_table.c.kind == query.kind.name]
    if query.documents is not None:
        parts.append(rows_table.c.doc_id.in_(query.documents))
    if query.doc_ids is not None:
        parts.append(rows_table.c.doc_id.in_(list(query.doc_ids)))
    return sa.and_(*parts, to_sql(rows_bucket(query.kind, query.bucket), query.filters, _Cells()))


class _Cells(Columns):
    """The cells of a row, each a record."""

    def value(self, field: Field) -> sa.ColumnElement[Any]:
        words = field.is_string or field.type == "boolean"
        return _cell(field.name, cells_table.c.folded if words else cells_table.c.number).scalar_subquery()

    def unit(self, field: Field) -> sa.ColumnElement[Any]:
        return _cell(field.name, cells_table.c.unit).scalar_subquery()

    def bound(self, field: Field, value: Any, *, up: bool) -> Any:
        if isinstance(value, bool):
            return show(value)
        return float(value.toordinal() if isinstance(value, date) else value)


def _cell(name: str, *columns: Any) -> sa.Select[Any]:
    return sa.select(*columns).where(_same_row(), cells_table.c.field == name).correlate(rows_table)


def _same_row() -> sa.ColumnElement[bool]:
    return sa.and_(*(rows_table.c[name] == cells_table.c[name] for name in ("doc_id", "kind", "ordinal")))


def _records(bucket: str, doc_id: str, found: Iterable[FoundRow]) -> Iterator[dict[str, Any]]:
    for ordinal, row in _numbered(found):
        yield {
            "doc_id": doc_id,
            "kind": row.kind,
            "ordinal": ordinal,
            "bucket": bucket,
            "values": {name: to_json(value) for name, value in row.values.items()},
            "raw": row.raw[:LONGEST_CELL],
            "start": row.start,
            "end": row.end,
            "page": row.page,
            "confidence": row.confidence,
        }


def _cells(bucket: str, doc_id: str, found: Iterable[FoundRow]) -> Iterator[dict[str, Any]]:
    for ordinal, row in _numbered(found):
        for name, value in row.values.items():
            number, unit = _measured(value)
            yield {
                "doc_id": doc_id,
                "kind": row.kind,
                "ordinal": ordinal,
                "field": name,
                "bucket": bucket,
                "folded": fold(show(value))[:LONGEST_CELL] if number is None else None,
                "number": number,
                "unit": unit,
            }


def _numbered(found: Iterable[FoundRow]) -> Iterator[tuple[int, FoundRow]]:
    """Yield the rows that are stored with their place among those of their kind."""
    counts: dict[str, int] = {}
    for row in found:
        if row.confidence >= ROW_FROM:
            yield counts.get(row.kind, 0), row
            counts[row.kind] = counts.get(row.kind, 0) + 1


def _measured(value: Value) -> tuple[float | None, str | None]:
    match value:
        case bool():
            return None, None
        case Money():
            return float(value.amount), value.currency or ""
        case Quantity():
            return value.value, ""
        case int() | float():
            return float(value), ""
        case date():
            return float(value.toordinal()), ""
    return None, None
