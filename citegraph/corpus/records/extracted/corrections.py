"""What people corrected, in SQL: who, when and in place of what, and whether it still fits a changed document."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

import sqlalchemy as sa

from citegraph.corpus.records.database import (
    add_columns,
    create_tables,
    delete_rows,
    fetched,
    open_database,
    transaction,
)
from citegraph.corpus.records.likeness import signature_of, similarity
from citegraph.corpus.schema.document import Document
from citegraph.corpus.schema.field import Value
from citegraph.corpus.schema.values import to_json

Action = Literal["set", "absent", "undo"]

SAME_READING = 0.2
"""Share of word runs above which a text that still gives the value that was corrected is the corrected one, changed."""
SAME_TEXT = 0.8
"""Share of word runs above which a text without that value is."""

_metadata = sa.MetaData()
corrections_table = sa.Table(
    "document_corrections",
    _metadata,
    sa.Column("doc_id", sa.String(512), primary_key=True),
    sa.Column("field", sa.String(41), primary_key=True),
    sa.Column("bucket", sa.String(41), nullable=False),
    sa.Column("raw", sa.Text),
    sa.Column("corrected_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("corrected_by", sa.String(200)),
    sa.Column("note", sa.Text),
    sa.Column("content_hash", sa.String(64)),
    sa.Column("signature", sa.LargeBinary),
    sa.Column("instead_of", sa.JSON),
)
_history = sa.Table(
    "document_correction_history",
    _metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("doc_id", sa.String(512), nullable=False),
    sa.Column("field", sa.String(41), nullable=False),
    sa.Column("bucket", sa.String(41), nullable=False),
    sa.Column("action", sa.String(8), nullable=False),
    sa.Column("raw", sa.Text),
    sa.Column("note", sa.Text),
    sa.Column("done_by", sa.String(200)),
    sa.Column("done_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("instead_of", sa.JSON),
    sa.Index("document_correction_history__doc", "doc_id", "number"),
)


@dataclass(frozen=True, slots=True)
class Correction:
    """A person's value of one field of one document.

    Attributes:
        raw: the value as typed; None: the document has none.
        content_hash, signature: of the text that it was made on; None for corrections of older versions.
        instead_of: what stood before, as plain JSON (`citegraph.corpus.schema.values.to_json`); None: nothing did.
    """

    bucket: str
    doc_id: str
    field: str
    raw: str | None
    corrected_at: datetime
    corrected_by: str | None = None
    note: str | None = None
    content_hash: str | None = None
    signature: bytes | None = None
    instead_of: Any = None

    def fits(self, document: Document, now: Value | None) -> bool:
        """Tell whether the correction still holds for a document, of which `now` is the value without it.

        It does for the text that it was made on; for a changed one when the document gives the same value as it did,
        or none as it did. Where it says something new nobody has looked at that: the correction then waits.
        """
        if self.content_hash in (None, document.content_hash) or self.signature is None:
            return True
        if (None if now is None else to_json(now)) != self.instead_of:
            return False
        least = SAME_TEXT if self.instead_of is None else SAME_READING
        return similarity(self.signature, signature_of(document.text)) >= least

    def made_on(self, document: Document, instead_of: Any) -> "Correction":
        """Return the correction with the text that it is made on and what stood before."""
        signature = signature_of(document.text)
        return replace(self, content_hash=document.content_hash, signature=signature, instead_of=instead_of)


@dataclass(frozen=True, slots=True)
class Edit:
    """One line of the history of a document's corrections.

    Attributes:
        action: the value was set, or said to be absent; or the correction with this value was taken back.
        instead_of: what the document gave, as plain JSON; None also in the lines of older versions.
    """

    doc_id: str
    field: str
    action: Action
    raw: str | None
    note: str | None
    done_by: str | None
    done_at: datetime
    instead_of: Any = None


class CorrectionStore:
    """Corrections by document, which outlive it; all methods block and raise `Unavailable` without a database."""

    def __init__(self, sql_url: str) -> None:
        self._engine = open_database(sql_url)
        create_tables(_metadata, self._engine)
        for table in (corrections_table, _history):
            add_columns(self._engine, table)

    def keep(self, corrections: Sequence[Correction]) -> None:
        """Keep corrections in one transaction, each in place of an earlier one of its field."""
        rows = [{name: getattr(item, name) for name in Correction.__slots__} for item in corrections]
        edits = [_edit(item, "absent" if item.raw is None else "set") for item in corrections]
        if not rows:
            return
        with transaction(self._engine) as connection:
            for item in corrections:
                connection.execute(sa.delete(corrections_table).where(_this(item.doc_id, item.field)))
            connection.execute(sa.insert(corrections_table), rows)
            connection.execute(sa.insert(_history), edits)

    def undo(self, doc_id: str, field: str, by: str | None = None) -> bool:
        """Forget a correction; return whether there was one."""
        found = self.of_document(doc_id).get(field)
        if found is None:
            return False
        undone = replace(found, corrected_by=by, corrected_at=datetime.now(UTC), note=None)
        with transaction(self._engine) as connection:
            connection.execute(sa.delete(corrections_table).where(_this(doc_id, field)))
            connection.execute(sa.insert(_history), [_edit(undone, "undo")])
        return True

    def adopt(self, heirs: Mapping[str, str]) -> None:
        """Copy the corrections of documents to those that hold their text now: heir -> document."""
        copied = [
            replace(item, doc_id=heir)
            for heir, source in heirs.items()
            for item in self.of_document(source).values()
        ]
        self.keep(copied)

    def of_bucket(self, bucket: str) -> dict[str, dict[str, Correction]]:
        """Return document id -> field -> correction, also of documents that are gone, by document and field."""
        return _by_document(
            self._read(sa.select(corrections_table).where(corrections_table.c.bucket == bucket))
        )

    def of_document(self, doc_id: str) -> dict[str, Correction]:
        """Return field -> correction of one document."""
        found = self._read(sa.select(corrections_table).where(corrections_table.c.doc_id == doc_id))
        return _by_document(found).get(doc_id, {})

    def history(self, doc_id: str) -> list[Edit]:
        """Return everything that was done to a document, the first edit first."""
        return self._edits(_history.c.doc_id == doc_id)

    def history_of_bucket(self, bucket: str) -> list[Edit]:
        """Return everything that was done in a bucket, also to documents that are gone, the first edit first."""
        return self._edits(_history.c.bucket == bucket)

    def forget(self, doc_ids: Sequence[str]) -> None:
        """Forget the corrections of documents and their history."""
        with transaction(self._engine) as connection:
            delete_rows(connection, doc_ids, corrections_table.c.doc_id, _history.c.doc_id)

    def _edits(self, chosen: sa.ColumnElement[bool]) -> list[Edit]:
        wanted = sa.select(*(_history.c[name] for name in Edit.__slots__)).where(chosen)
        rows = fetched(self._engine, wanted.order_by(_history.c.number))
        return [Edit(**{**row._asdict(), "done_at": _aware(row.done_at)}) for row in rows]

    def _read(self, statement: sa.Select[Any]) -> list[Correction]:
        order = (corrections_table.c.doc_id, corrections_table.c.field)
        rows = fetched(self._engine, statement.order_by(*order))
        return [Correction(**{**row._asdict(), "corrected_at": _aware(row.corrected_at)}) for row in rows]


def split_fitting(
    corrections: Mapping[str, Correction], document: Document, without: Mapping[str, Value]
) -> tuple[dict[str, str | None], dict[str, str | None]]:
    """Return the raw values of the corrections that hold for a document, and of those that wait, by field.

    Args:
        without: the document's values as they are without any correction.
    """
    fitting: dict[str, str | None] = {}
    waiting: dict[str, str | None] = {}
    for name, item in corrections.items():
        (fitting if item.fits(document, without.get(name)) else waiting)[name] = item.raw
    return fitting, waiting


def _by_document(corrections: Iterable[Correction]) -> dict[str, dict[str, Correction]]:
    known: dict[str, dict[str, Correction]] = {}
    for item in corrections:
        known.setdefault(item.doc_id, {})[item.field] = item
    return known


def _edit(item: Correction, action: Action) -> dict[str, Any]:
    done = (item.raw, item.note, item.corrected_by, item.corrected_at, item.instead_of)
    return {"bucket": item.bucket, **asdict(Edit(item.doc_id, item.field, action, *done))}


def _this(doc_id: str, field: str) -> Any:
    return sa.and_(corrections_table.c.doc_id == doc_id, corrections_table.c.field == field)


def _aware(moment: datetime) -> datetime:
    """Return a moment in UTC: SQLite keeps no time zone."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
