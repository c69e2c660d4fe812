"""What was extracted from each document, and what people corrected, in SQL."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import (
    JSON,
    Column,
    DateTime,
    Double,
    Index,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    Text,
    and_,
    bindparam,
    delete,
    insert,
    or_,
    select,
)

from corpus.coercion import to_json
from corpus.database import open_database, translated
from corpus.extraction.found import Candidate, Extracted, Extraction

Status = Literal["stored", "uncertain", "other", "refused"]
"""A stored value; one that is too uncertain to filter by; one that contradicts it; one that its type refused."""

STORE_FROM = 0.5
"""Confidence from which a value is stored with the document's annotations and filters may use it."""
REVIEW_BELOW = 0.7
"""Confidence below which a stored value is listed for review."""
BATCH = 400

_metadata = MetaData()
_annotations = Table(
    "document_annotations",
    _metadata,
    Column("doc_id", String(512), primary_key=True),
    Column("field", String(41), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("bucket", String(41), nullable=False),
    Column("status", String(12), nullable=False),
    Column("value", JSON),
    Column("raw", Text, nullable=False),
    Column("start", Integer),
    Column("end", Integer),
    Column("page", Integer),
    Column("method", String(24), nullable=False),
    Column("confidence", Double, nullable=False),
    Column("reason", Text),
    Index("document_annotations__review", "bucket", "status", "confidence"),
)
_corrections = Table(
    "document_corrections",
    _metadata,
    Column("doc_id", String(512), primary_key=True),
    Column("field", String(41), primary_key=True),
    Column("bucket", String(41), nullable=False),
    Column("raw", Text),
    Column("corrected_at", DateTime(timezone=True), nullable=False),
)


@dataclass(frozen=True, slots=True)
class Found:
    """One row of `document_annotations`; `value` is plain JSON (`corpus.coercion.to_json`).

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
    """Extractions and corrections by document; all methods block and raise `Unavailable` without a database."""

    def __init__(self, sql_url: str) -> None:
        self._engine = open_database(sql_url)
        translated(lambda: _metadata.create_all(self._engine))

    def put(self, bucket: str, extractions: Mapping[str, Extraction]) -> None:
        """Replace what is known of these documents, in one transaction; corrections stay."""
        ids = list(extractions)
        rows = [
            row for doc_id, extraction in extractions.items() for row in _rows(bucket, doc_id, extraction)
        ]

        def run() -> None:
            with self._engine.begin() as connection:
                for some in _batches(ids):
                    connection.execute(delete(_annotations).where(_annotations.c.doc_id.in_(some)))
                if rows:
                    connection.execute(insert(_annotations), rows)

        if ids:
            translated(run)

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
        these = (_annotations.c.doc_id == bindparam("document")) & (
            _annotations.c.field == bindparam("named")
        )

        def run() -> None:
            with self._engine.begin() as connection:
                connection.execute(delete(_annotations).where(these), keys)
                connection.execute(insert(_annotations), rows)

        if rows:
            translated(run)

    def get(self, doc_id: str) -> list[Found]:
        """Return everything extracted from a document, by field, the value that stands first."""
        this = select(_annotations).where(_annotations.c.doc_id == doc_id)
        return self._found(this.order_by(_annotations.c.field, _annotations.c.ordinal))

    def stored_fields(self, doc_id: str) -> set[str]:
        """Return the fields whose stored value came by extraction."""
        return {found.field for found in self.get(doc_id) if found.status == "stored"}

    def review(self, bucket: str, *, below: float = REVIEW_BELOW, limit: int = 100) -> list[Found]:
        """Return what a person should look at, the least certain first: doubtful, contradicted and refused values."""
        table = _annotations.c
        corrected = select(_corrections.c.doc_id).where(
            _corrections.c.doc_id == table.doc_id, _corrections.c.field == table.field
        )
        doubtful = or_(
            table.status.in_(("uncertain", "refused", "other")),
            and_(table.status == "stored", table.confidence < below),
        )
        statement = select(_annotations).where(table.bucket == bucket, doubtful, ~corrected.exists())
        order = (table.confidence, table.doc_id, table.field, table.ordinal)
        return self._found(statement.order_by(*order).limit(limit))

    def correct(self, bucket: str, doc_id: str, field: str, raw: str | None) -> None:
        """Keep a person's value of a field as typed, None: the document has none; it survives re-ingestion."""
        row = {
            "doc_id": doc_id,
            "field": field,
            "bucket": bucket,
            "raw": raw,
            "corrected_at": datetime.now(UTC),
        }

        def run() -> None:
            with self._engine.begin() as connection:
                connection.execute(delete(_corrections).where(_this(doc_id, field)))
                connection.execute(insert(_corrections), [row])

        translated(run)

    def undo(self, doc_id: str, field: str) -> bool:
        """Forget a correction; return whether there was one."""

        def run() -> int:
            with self._engine.begin() as connection:
                return connection.execute(delete(_corrections).where(_this(doc_id, field))).rowcount

        return translated(run) > 0

    def corrections(self, bucket: str) -> dict[str, dict[str, str | None]]:
        """Return document id -> field -> corrected raw value (None: none) of a bucket."""
        statement = select(_corrections).where(_corrections.c.bucket == bucket)
        known: dict[str, dict[str, str | None]] = {}
        with self._engine.connect() as connection:
            for row in translated(lambda: connection.execute(statement).all()):
                known.setdefault(row.doc_id, {})[row.field] = row.raw
        return known

    def delete(self, doc_ids: Sequence[str]) -> None:
        """Forget the extractions and corrections of documents."""

        def run() -> None:
            with self._engine.begin() as connection:
                for some in _batches(doc_ids):
                    connection.execute(delete(_annotations).where(_annotations.c.doc_id.in_(some)))
                    connection.execute(delete(_corrections).where(_corrections.c.doc_id.in_(some)))

        translated(run)

    def _found(self, statement: Select[Any]) -> list[Found]:
        with self._engine.connect() as connection:
            rows = translated(lambda: connection.execute(statement).mappings().all())
        names = Found.__slots__
        return [Found(**{name: row[name] for name in names}) for row in rows]


def _this(doc_id: str, field: str) -> Any:
    return and_(_corrections.c.doc_id == doc_id, _corrections.c.field == field)


def _batches(ids: Iterable[str]) -> Iterator[list[str]]:
    every = list(ids)
    yield from (every[start : start + BATCH] for start in range(0, len(every), BATCH))


def _rows(bucket: str, doc_id: str, extraction: Extraction) -> Iterator[dict[str, Any]]:
    for found in extraction.fields.values():
        yield _row(bucket, doc_id, found.best, 0, _status(found), found.confidence)
        for ordinal, other in enumerate(found.others, 1):
            yield _row(bucket, doc_id, other, ordinal, "other", other.confidence)
    for ordinal, refused in enumerate(extraction.refused, 1000):
        yield {
            **dict.fromkeys(("value", "start", "end", "page")),
            "doc_id": doc_id,
            "field": refused.field,
            "ordinal": ordinal,
            "bucket": bucket,
            "status": "refused",
            "raw": refused.raw,
            "method": "rules",
            "confidence": 0.0,
            "reason": refused.reason,
        }


def _status(found: Extracted) -> Status:
    if found.overruled:
        return "other"
    return "stored" if found.confidence >= STORE_FROM else "uncertain"


def _row(
    bucket: str, doc_id: str, candidate: Candidate, ordinal: int, status: Status, confidence: float
) -> dict[str, Any]:
    return {
        "doc_id": doc_id,
        "field": candidate.field,
        "ordinal": ordinal,
        "bucket": bucket,
        "status": status,
        "value": to_json(candidate.value),
        "raw": candidate.raw,
        "start": candidate.start,
        "end": candidate.end,
        "page": candidate.page,
        "method": candidate.method,
        "confidence": confidence,
        "reason": None,
    }
