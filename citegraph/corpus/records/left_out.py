"""Passages that people left out of search, in SQL: by document and text, so that they stay out when it is read again."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from citegraph.corpus.records.database import (
    create_tables,
    delete_rows,
    execute_all,
    fetched,
    once,
    open_database,
    transaction,
)

_metadata = sa.MetaData()
_left_out = sa.Table(
    "passages_left_out",
    _metadata,
    sa.Column("doc_id", sa.String(512), primary_key=True),
    sa.Column("content_hash", sa.String(64), primary_key=True),
    sa.Column("bucket", sa.String(41), nullable=False, index=True),
    sa.Column("done_by", sa.String(200)),
    sa.Column("done_at", sa.DateTime(timezone=True), nullable=False),
)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A passage that no search finds; `content_hash` is that of its text (`Chunk.content_hash`)."""

    doc_id: str
    content_hash: str
    bucket: str
    done_by: str | None
    done_at: datetime


class LeftOutStore:
    """The passages left out, which outlive their documents; all methods block and raise `Unavailable` without a database."""

    def __init__(self, sql_url: str) -> None:
        self._engine = open_database(sql_url)
        create_tables(_metadata, self._engine)

    def of_bucket(self, bucket: str) -> frozenset[tuple[str, str]]:
        """Return the document and the hash of each passage left out; asked once a run."""

        def read() -> frozenset[tuple[str, str]]:
            wanted = sa.select(_left_out.c.doc_id, _left_out.c.content_hash).where(
                _left_out.c.bucket == bucket
            )
            return frozenset((row.doc_id, row.content_hash) for row in fetched(self._engine, wanted))

        return once(("left out", bucket), read)

    def of_document(self, doc_id: str) -> dict[str, LeftOut]:
        """Return the passages of a document that are left out, by hash."""
        rows = fetched(self._engine, sa.select(_left_out).where(_left_out.c.doc_id == doc_id))
        return {row.content_hash: LeftOut(**row._asdict()) for row in rows}

    def leave_out(self, bucket: str, doc_id: str, content_hash: str, by: str) -> None:
        """Leave a passage out; one that is left out already stays as it is."""
        if content_hash not in self.of_document(doc_id):
            made = LeftOut(doc_id, content_hash, bucket, by, datetime.now(UTC))
            execute_all(self._engine, [sa.insert(_left_out).values(**asdict(made))])

    def put_back(self, doc_id: str, content_hash: str) -> None:
        """Let a passage be found again."""
        this = sa.and_(_left_out.c.doc_id == doc_id, _left_out.c.content_hash == content_hash)
        execute_all(self._engine, [sa.delete(_left_out).where(this)])

    def forget(self, doc_ids: Sequence[str]) -> None:
        """Forget what was left out of documents."""
        with transaction(self._engine) as connection:
            delete_rows(connection, doc_ids, _left_out.c.doc_id)
