"""What was extracted from each document, in SQL: every value with its place, way and confidence."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import sqlalchemy as sa

from citegraph.corpus.records.database import (
    create_tables,
    delete_rows,
    fetched,
    open_database,
    transaction,
)
from citegraph.corpus.records.extracted.corrections import CorrectionStore
from citegraph.corpus.records.extracted.found import Candidate, Extracted, Extraction, FoundRow, Refused
from citegraph.corpus.records.extracted.row_store import RowStore, rows_bucket
from citegraph.corpus.records.left_out import LeftOutStore
from citegraph.corpus.records.table_files.table_store import TableStore
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Value
from citegraph.corpus.schema.values import read_row, to_json
from citegraph.language.names import parse_name

Status = Literal["stored", "uncertain", "other", "variant", "refused"]
"""A stored value; one that is too uncertain to filter by; one that contradicts it; a shorter form of the same name;
one that its type refused."""

STORE_FROM = 0.5
"""Confidence from which a value is stored with the document's annotations and filters may use it."""

_metadata = sa.MetaData()
annotations_table = sa.Table(
    "document_annotations",
    _metadata,
    sa.Column("doc_id", sa.String(512), primary_key=True),
    sa.Column("field", sa.String(41), primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True),
    sa.Column("bucket", sa.String(41), nullable=False),
    sa.Column("status", sa.String(12), nullable=False),
    sa.Column("value", sa.JSON),
    sa.Column("raw", sa.Text, nullable=False),
    sa.Column("start", sa.Integer),
    sa.Column("end", sa.Integer),
    sa.Column("page", sa.Integer),
    sa.Column("method", sa.String(24), nullable=False),
    sa.Column("confidence", sa.Double, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Index("document_annotations__review", "bucket", "status", "confidence"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """One row of `document_annotations`; `value` is plain JSON (`citegraph.corpus.schema.values.to_json`).

    `start` and `end` are characters of the document, `page` a page number; None when unknown.
    """

    doc_id: str
    field: str
    status: Status
    value: Any
    raw: str
    start: int | None
    end: int | None
    page: int | None
    method: str
    confidence: float
    reason: str | None = None


class ExtractionStore:
    """Extractions by document; all methods block and raise `Unavailable` without a database.

    `corrected` holds what people corrected, `left_out` the passages that no search is to find, `rows` the rows of tables inside the documents, `tables` those of table files.
    """

    def __init__(self, sql_url: str) -> None:
        self.sql_url = sql_url
        self._engine = open_database(sql_url)
        self.corrected = CorrectionStore(sql_url)
        self.left_out = LeftOutStore(sql_url)
        self.rows = RowStore(self._engine)
        self.tables = TableStore(self._engine)
        create_tables(_metadata, self._engine)

    def put(self, bucket: str, extractions: Mapping[str, Extraction]) -> None:
        """Replace what is known of these documents, in one transaction; corrections stay."""
        ids = list(extractions)
        rows = [
            row for doc_id, extraction in extractions.items() for row in _rows(bucket, doc_id, extraction)
        ]
        if not ids:
            return
        with transaction(self._engine) as connection:
            delete_rows(connection, ids, annotations_table.c.doc_id)
            if rows:
                connection.execute(sa.insert(annotations_table), rows)
            of = {doc_id: extraction.rows for doc_id, extraction in extractions.items()}
            self.rows.put(connection, bucket, of)

    def announce(self, bucket: str, extractions: Mapping[str, Extraction]) -> None:
        """Add which values of these documents will be stored, beside those that are; `put` then replaces all.

        Between the two the values themselves are written. A kill there must not leave a value, old or new, that
        nothing says was extracted: the next ingest would take it for one that a person gave.
        """
        rows = [
            row
            for doc_id, extraction in extractions.items()
            for row in _rows(bucket, doc_id, extraction)
            if row["status"] == "stored"
        ]
        keys = [{"document": row["doc_id"], "named": row["field"]} for row in rows]
        these = (annotations_table.c.doc_id == sa.bindparam("document")) & (
            annotations_table.c.field == sa.bindparam("named")
        )
        if rows:
            with transaction(self._engine) as connection:
                connection.execute(sa.delete(annotations_table).where(these), keys)
                connection.execute(sa.insert(annotations_table), rows)

    def get(self, doc_id: str) -> list[Found]:
        """Return everything extracted from a document, by field, the value that stands first."""
        this = sa.select(annotations_table).where(annotations_table.c.doc_id == doc_id)
        ordered = this.order_by(annotations_table.c.field, annotations_table.c.ordinal)
        return [to_found(row) for row in fetched(self._engine, ordered).mappings()]

    def extraction(self, bucket: Bucket, doc_id: str) -> Extraction:
        """Return what was extracted from a document as it was found; values that no field takes any more are left out."""
        candidates: dict[str, list[tuple[Found, Candidate]]] = {}
        refused = []
        for found in self.get(doc_id):
            if found.status == "refused":
                refused.append(Refused(found.field, found.raw, found.reason or ""))
                continue
            typed = read_row(bucket, {found.field: found.value})[0].get(found.field)
            if typed is not None:
                place = (found.start, found.end, found.page, found.method, found.confidence)
                candidate = Candidate(found.field, typed, found.raw, *place)
                candidates.setdefault(found.field, []).append((found, candidate))
        fields = {
            name: Extracted(
                both[0][1],
                both[0][0].confidence,
                tuple(candidate for _, candidate in both[1:]),
                both[0][0].status == "other",
            )
            for name, both in candidates.items()
        }
        return Extraction(fields, tuple(refused), tuple(self._found_rows(bucket, doc_id)))

    def _found_rows(self, bucket: Bucket, doc_id: str) -> Iterator[FoundRow]:
        kinds = {kind.name: rows_bucket(kind, bucket) for kind in bucket.rows}
        for row in self.rows.of(doc_id):
            if row.kind in kinds:
                values, _ = read_row(kinds[row.kind], row.values)
                yield FoundRow(row.kind, values, row.raw, row.start, row.end, row.page, row.confidence)

    def own_fields(self, doc_id: str) -> set[str]:
        """Return the fields whose value, stored or too uncertain for it, came by extraction."""
        return {found.field for found in self.get(doc_id) if found.status in ("stored", "uncertain")}

    def delete(self, doc_ids: Sequence[str]) -> None:
        """Forget the extractions of documents; their corrections wait for the documents to come back."""
        with transaction(self._engine) as connection:
            delete_rows(connection, doc_ids, annotations_table.c.doc_id)
            self.rows.delete(connection, doc_ids)
        self.tables.delete(doc_ids)


def to_found(row: sa.RowMapping) -> Found:
    """Return a row of the table as it is handed out."""
    return Found(**{name: row[name] for name in Found.__slots__})


def _rows(bucket: str, doc_id: str, extraction: Extraction) -> Iterator[dict[str, Any]]:
    for ordinal, found in _ordered(doc_id, extraction):
        yield {"bucket": bucket, "ordinal": ordinal, **asdict(found)}


def _ordered(doc_id: str, extraction: Extraction) -> Iterator[tuple[int, Found]]:
    """Yield what stands in the table of an extraction, each with its place among those of its field."""
    for field in extraction.fields.values():
        yield 0, _found(doc_id, field.best, _status(field), field.confidence)
        for ordinal, other in enumerate(field.others, 1):
            status: Status = "variant" if is_variant(field.best.value, other.value) else "other"
            yield ordinal, _found(doc_id, other, status, other.confidence)
    for ordinal, item in enumerate(extraction.refused, 1000):
        nowhere = (None, None, None)
        yield (
            ordinal,
            Found(doc_id, item.field, "refused", None, item.raw, *nowhere, "rules", 0.0, item.reason),
        )


def is_variant(value: Value, other: Value) -> bool:
    """Tell whether a name is another, without its legal form or its end ("Elm Trading" of "Elm Trading Ltd")."""
    if not isinstance(value, str) or not isinstance(other, str) or re.search(r"\d", value + other):
        return False
    name, shorter = parse_name(value).core, parse_name(other).core
    return bool(shorter) and name[: len(shorter)] == shorter


def _status(found: Extracted) -> Status:
    if found.overruled:
        return "other"
    return "stored" if found.confidence >= STORE_FROM else "uncertain"


def _found(doc_id: str, item: Candidate, status: Status, confidence: float) -> Found:
    place = (item.start, item.end, item.page)
    return Found(doc_id, item.field, status, to_json(item.value), item.raw, *place, item.method, confidence)
