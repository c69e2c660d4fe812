"""The documents themselves: whole texts, pages, layouts and where they came from, in the SQL database."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from citegraph.corpus.records.access import OWNER, Principal, create_labels_table, labels_table, sql_condition
from citegraph.corpus.records.database import (
    batches,
    create_tables,
    delete_rows,
    execute_all,
    fetched,
    once_each,
    one_writer,
    open_database,
    transaction,
)
from citegraph.corpus.records.document_record import DocumentRecord, Status
from citegraph.corpus.records.likeness import Likeness, LikenessTables, Traits
from citegraph.corpus.records.source_files import SourceFiles
from citegraph.corpus.schema.document import Box, Document, Embedded, Layout, Line, Page, page_at
from citegraph.corpus.schema.document import Table as TableOfCells


def parts_table(metadata: sa.MetaData) -> sa.Table:
    """Return the SQL table; layouts are stored, not computed again, so that a page of a scan is recognised once.

    A layout is about 1 KB a page: whole points, six numbers a line.
    """
    return sa.Table(
        "document_parts",
        metadata,
        sa.Column("doc_id", sa.String, primary_key=True),
        sa.Column("kind", sa.String, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("content", sa.Text, nullable=False),
    )


def part_rows(document: Document) -> Iterator[dict[str, Any]]:
    """Yield the rows of a document's parts; a layout's number is its page's."""
    contents: list[tuple[str, int, Any]] = [
        ("layout", layout.number, _layout(layout)) for layout in document.layouts
    ]
    for number, table in enumerate(document.tables):
        content = [table.start, table.end, table.header, table.page, table.title, table.rows]
        contents.append(("table", number, content))
    for number, file in enumerate(document.embedded):
        contents.append(("embedded", number, [file.name, file.media_type, file.text]))
    for kind, number, content in contents:
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        yield {"doc_id": document.doc_id, "kind": kind, "number": number, "content": text}


def parts_digest(document: Document) -> list[str]:
    """Return what tells a document's parts from those stored before, nothing when it has none."""
    contents = "\n".join(row["content"] for row in part_rows(document))
    return [hashlib.sha256(contents.encode()).hexdigest()] if contents else []


def with_parts(document: Document, rows: Iterable[sa.Row[Any]]) -> Document:
    """Return a document with the parts of its rows, in the order of their numbers."""
    layouts: list[Layout] = []
    tables: list[TableOfCells] = []
    embedded: list[Embedded] = []
    for row in rows:
        if row.kind == "layout":
            layouts.append(layout_from(row.number, row.content))
        elif row.kind == "table":
            start, end, header, page, title, cells = json.loads(row.content)
            tables.append(TableOfCells(start, end, tuple(map(tuple, cells)), header, page, title))
        else:
            embedded.append(Embedded(*json.loads(row.content)))
    return replace(document, layouts=tuple(layouts), tables=tuple(tables), embedded=tuple(embedded))


def layout_from(number: int, content: str) -> Layout:
    """Return a stored layout; boxes have lost their fractions."""
    width, height, recognised, flat = json.loads(content)
    lines = (
        Line(start, start + length, Box(left, top, right, bottom))
        for start, length, left, top, right, bottom in zip(*[iter(flat)] * 6, strict=True)
    )
    return Layout(number, width, height, tuple(lines), bool(recognised))


def _layout(layout: Layout) -> list[Any]:
    flat: list[int] = []
    for start, end, box in layout.lines:
        flat += [start, end - start, *map(round, box)]
    return [round(layout.width, 1), round(layout.height, 1), int(layout.recognised), flat]


LONGEST = 1_000_000_000  # characters; SQLite's own bound of a value

_metadata = sa.MetaData()
# The text comes last: a row's small columns are then read without its pages on disk.
_documents = sa.Table(
    "documents",
    _metadata,
    sa.Column("doc_id", sa.String, primary_key=True),
    sa.Column("bucket", sa.String, nullable=False),
    sa.Column("source_file", sa.String, nullable=False),
    sa.Column("source_path", sa.String, nullable=False),
    sa.Column("title", sa.String, nullable=False),
    sa.Column("media_type", sa.String, nullable=False),
    sa.Column("url", sa.String),
    sa.Column("content_hash", sa.String, nullable=False),
    sa.Column("index_hash", sa.String, nullable=False),
    sa.Column("annotation_hash", sa.String, nullable=False),
    sa.Column("status", sa.String, nullable=False),
    sa.Column("characters", sa.Integer, nullable=False),
    sa.Column("pages", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Index("documents_of_bucket", "bucket", "doc_id"),
)
_OF_DOCUMENT = [name for name in Document.__slots__ if name in _documents.columns and name != "pages"]
_parts = parts_table(_metadata)
arrivals_table = sa.Table(
    "document_arrivals",
    _metadata,
    sa.Column("doc_id", sa.String, primary_key=True),
    sa.Column("at", sa.BigInteger, nullable=False),
)
"""When each document first came in, in seconds; those that were there before this was kept have no row."""
_ARRIVED = sa.select(arrivals_table.c.doc_id, arrivals_table.c.at)
_IDS = (_parts.c.doc_id, _documents.c.doc_id, labels_table.c.doc_id)
_likeness = LikenessTables(_metadata)
_LIKENESS = sa.select(*(_likeness.signatures.c[name] for name in Likeness.__slots__))
_SMALL = [column for column in _documents.columns if column.name not in {"pages", "text"}]


class DocumentStore:
    """Documents by id; all methods block (call them in a thread from async code).

    Every method raises `Unavailable` when the database does not answer.

    Attributes:
        files: what is known of the files that the documents were read from.
    """

    def __init__(self, sql_url: str) -> None:
        self._engine = open_database(sql_url)
        self._principal = OWNER
        create_tables(_metadata, self._engine)
        create_labels_table(self._engine)
        self.files = SourceFiles(self._engine)

    def one_writer(self, bucket: str) -> AbstractAsyncContextManager[None]:
        """Hold a bucket while this process writes to it; see `citegraph/corpus/records/database.py`."""
        return one_writer(self._engine, bucket)

    def seen_by(self, principal: Principal) -> DocumentStore:
        """Return the store for reading as a principal sees it: of other documents it knows nothing."""
        view = copy(self)
        view._principal = principal
        return view

    def put(
        self,
        documents: Document | Iterable[Document],
        *,
        hashes: Mapping[str, tuple[str, str]] | None = None,
        traits: Mapping[str, Traits] | None = None,
        status: Status = "done",
    ) -> None:
        """Insert or replace documents in one transaction.

        Args:
            hashes: document id to (index hash, annotation hash).
            traits: document id to what versions are recognised by; documents of one
                bucket. A document without keeps what it has.
        """
        given = [documents] if isinstance(documents, Document) else list(documents)
        rows = [_row(document, (hashes or {}).get(document.doc_id, ("", "")), status) for document in given]
        parts = [row for document in given for row in part_rows(document)]
        labels = [
            {"doc_id": document.doc_id, "label": label}
            for document in given
            for label in set(document.labels)
        ]
        if not rows:
            return
        with transaction(self._engine) as connection:
            # One that is held without a moment came in before moments were kept: now it only changes.
            known = {
                doc_id
                for ids in batches([document.doc_id for document in given])
                for column in (arrivals_table.c.doc_id, _documents.c.doc_id)
                for doc_id in connection.execute(sa.select(column).where(column.in_(ids))).scalars()
            }
            delete_rows(connection, [document.doc_id for document in given], *_IDS)
            connection.execute(sa.insert(_documents), rows)
            now = int(time.time())
            fresh = [{"doc_id": row["doc_id"], "at": now} for row in rows if row["doc_id"] not in known]
            if fresh:
                connection.execute(sa.insert(arrivals_table), fresh)
            if parts:
                connection.execute(sa.insert(_parts), parts)
            if labels:
                connection.execute(sa.insert(labels_table), labels)
            if traits:
                _likeness.replace(connection, given[0].bucket, traits)

    def mark(self, doc_ids: Sequence[str], status: Status, only: Status | None = None) -> None:
        """Record that these documents are being written, revised or removed, or that all stores hold them.

        Args:
            only: of these documents, those of this status.
        """
        changed = (sa.update(_documents).where(_documents.c.doc_id.in_(ids)) for ids in batches(doc_ids))
        if only is not None:
            changed = (statement.where(_documents.c.status == only) for statement in changed)
        execute_all(self._engine, (statement.values(status=status) for statement in changed))

    def delete(self, doc_ids: Sequence[str]) -> None:
        """Remove documents; unknown ids are ignored."""
        with transaction(self._engine) as connection:
            for ids in batches(doc_ids):
                _likeness.remove(connection, ids)
            delete_rows(connection, doc_ids, *_IDS, arrivals_table.c.doc_id)

    def get(self, doc_id: str) -> Document | None:
        """Return a document with its text, None when there is none of that id."""
        return self.all_of([doc_id]).get(doc_id)

    def all_of(self, doc_ids: Iterable[str]) -> dict[str, Document]:
        """Return those among some documents that exist, with their texts, by id; within a run each is read once."""
        return once_each((self._engine, self._principal, "documents"), doc_ids, self._documents_of)

    def _documents_of(self, doc_ids: Sequence[str]) -> dict[str, Document]:
        found: dict[str, Document] = {}
        for ids in batches(doc_ids):
            # By another name: what the principal may see is a condition on labels too.
            labels = labels_table.alias("own")
            query = sa.select(_documents, labels.c.label)
            query = query.outerjoin(labels, labels.c.doc_id == _documents.c.doc_id)
            chosen = self._seen(query.where(_documents.c.doc_id.in_(ids)).order_by(labels.c.label))
            for row in self._rows(chosen):
                held = found.get(row.doc_id)
                found[row.doc_id] = (
                    replace(held, labels=(*held.labels, row.label))
                    if held
                    else _document(row, (row.label,) if row.label else ())
                )
        return found

    def labels(self, doc_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the labels of those documents that have some, sorted, by id."""
        found: dict[str, tuple[str, ...]] = {}
        for ids in batches(doc_ids):
            query = sa.select(labels_table.c.doc_id, labels_table.c.label).where(
                labels_table.c.doc_id.in_(ids)
            )
            for row in self._rows(query.order_by(labels_table.c.label)):
                found[row.doc_id] = (*found.get(row.doc_id, ()), row.label)
        return found

    def labels_of(self, bucket: str) -> dict[str, tuple[str, ...]]:
        """Return the labels of a bucket's documents that have some, sorted, by id."""
        query = sa.select(labels_table.c.doc_id, labels_table.c.label)
        query = query.join(_documents, _documents.c.doc_id == labels_table.c.doc_id)
        found: dict[str, tuple[str, ...]] = {}
        for row in self._rows(query.where(_documents.c.bucket == bucket).order_by("label")):
            found[row.doc_id] = (*found.get(row.doc_id, ()), row.label)
        return found

    def whole(self, doc_id: str) -> Document | None:
        """Return a document with its layouts, tables and embedded files too."""
        document = self.get(doc_id)
        if document is None:
            return None
        query = sa.select(_parts).where(_parts.c.doc_id == doc_id).order_by(_parts.c.kind, _parts.c.number)
        return with_parts(document, self._rows(query))

    def layout(self, doc_id: str, page: int) -> Layout | None:
        """Return where the lines of a page lie; None when the format has no boxes."""
        query = sa.select(_parts.c.number, _parts.c.content).where(
            _parts.c.doc_id == doc_id, _parts.c.kind == "layout", _parts.c.number == page
        )
        rows = self._rows(self._seen(query.join(_documents, _documents.c.doc_id == _parts.c.doc_id)))
        return layout_from(rows[0].number, rows[0].content) if rows else None

    def text(self, doc_id: str, start: int = 0, end: int | None = None) -> str:
        """Return characters `start` to `end` (exclusive) of a document; empty when it does not exist."""
        length = max(0, (LONGEST if end is None else end) - start)
        span = sa.func.substr(_documents.c.text, start + 1, length)
        rows = self._rows(self._seen(sa.select(span).where(_documents.c.doc_id == doc_id)))
        return str(rows[0][0]) if rows else ""

    def pages(self, doc_id: str) -> tuple[Page, ...]:
        """Return the pages of a document, empty when its format has none."""
        rows = self._rows(self._seen(sa.select(_documents.c.pages).where(_documents.c.doc_id == doc_id)))
        return _pages(rows[0][0]) if rows else ()

    def page_of(self, doc_id: str, offset: int) -> Page | None:
        """Return the page on which a character offset lies, None when that is unknown."""
        return page_at(self.pages(doc_id), offset)

    def record(self, doc_id: str) -> DocumentRecord | None:
        """Return what is known of a document without its text."""
        return self.records([doc_id]).get(doc_id)

    def records(self, doc_ids: Sequence[str]) -> dict[str, DocumentRecord]:
        """Return the records of those among `doc_ids` that exist, by id."""
        found: dict[str, DocumentRecord] = {}
        for ids in batches(doc_ids):
            rows = self._rows(self._seen(sa.select(*_SMALL).where(_documents.c.doc_id.in_(ids))))
            found.update({row.doc_id: _record(row) for row in rows})
        return found

    def arrivals(self, doc_ids: Sequence[str]) -> dict[str, datetime]:
        """Return when those among `doc_ids` of which that is known first came in, by id."""
        seen = self._seen(_ARRIVED.join(_documents, _documents.c.doc_id == arrivals_table.c.doc_id))
        queries = (seen.where(arrivals_table.c.doc_id.in_(ids)) for ids in batches(doc_ids))
        return {
            row.doc_id: datetime.fromtimestamp(row.at, UTC) for query in queries for row in self._rows(query)
        }

    def named(self, name: str, bucket: str | None = None, limit: int = 6) -> Sequence[str]:
        """Return the ids of the first documents whose id, file name or path is `name`, else of those that hold it."""
        table = _documents.c
        paths = (name, str(Path(name).absolute()))
        same = sa.or_(table.doc_id == name, table.source_file == name, table.source_path.in_(paths))
        holds = sa.or_(
            *(column.icontains(name, autoescape=True) for column in (table.doc_id, table.source_file))
        )
        for condition in (table.doc_id == name, same, holds):
            query = self._seen(sa.select(table.doc_id).where(condition).order_by(table.doc_id).limit(limit))
            rows = self._rows(query if bucket is None else query.where(table.bucket == bucket))
            if rows:
                return [row.doc_id for row in rows]
        return []

    def all_records(self, bucket: str) -> dict[str, DocumentRecord]:
        """Return the records of all of a bucket's documents by id; about 1 KB of memory each."""
        rows = self._rows(self._seen(sa.select(*_SMALL).where(_documents.c.bucket == bucket)))
        return {row.doc_id: _record(row) for row in rows}

    def alone(self, source_path: str) -> bool:
        """Tell whether a source file holds one document only, whoever may see the others."""
        query = (
            sa.select(sa.func.count()).select_from(_documents).where(_documents.c.source_path == source_path)
        )
        return int(self._rows(query)[0][0]) == 1

    def unfinished(self, most: int) -> dict[str, dict[str, DocumentRecord]]:
        """Return by bucket and id what is being written or removed, or was when its writer was killed.

        Buckets with more than `most` such documents are left out.
        """
        query = sa.select(*_SMALL).where(_documents.c.status != "done").order_by(_documents.c.bucket)
        counted = sa.select(_documents.c.bucket, sa.func.count().label("number"))
        counted = counted.where(_documents.c.status != "done").group_by(_documents.c.bucket)
        few = [row.bucket for row in self._rows(counted) if row.number <= most]
        rows = self._rows(query.where(_documents.c.bucket.in_(few))) if few else []
        found: dict[str, dict[str, DocumentRecord]] = {}
        for row in rows:
            found.setdefault(row.bucket, {})[row.doc_id] = _record(row)
        return found

    def sources_in(self, begin: str) -> set[str]:
        """Return the paths that documents of any bucket were read from, of those that begin so."""
        path = _documents.c.source_path
        rows = self._rows(sa.select(path).where(path.startswith(begin, autoescape=True)).distinct())
        return {row.source_path for row in rows}

    def count(self, bucket: str | None = None) -> int:
        """Return how many documents a bucket holds, or all buckets."""
        query = self._seen(sa.select(sa.func.count()).select_from(_documents))
        return int(self._rows(query if bucket is None else query.where(_documents.c.bucket == bucket))[0][0])

    def filled(self, buckets: Iterable[str]) -> set[str]:
        """Return those of some buckets that hold a document."""
        table = _documents.c
        queries = [
            sa.select(sa.literal(name).label("bucket")).select_from(
                self._seen(sa.select(table.doc_id).where(table.bucket == name)).limit(1).subquery()
            )
            for name in buckets
        ]
        return {row.bucket for row in self._rows(sa.union_all(*queries))} if queries else set()

    def _seen(self, query: sa.Select[Any]) -> sa.Select[Any]:
        """Return a query cut to the documents that the principal of this store may see."""
        buckets = self._principal.buckets
        if buckets is not None:
            query = query.where(_documents.c.bucket.in_(sorted(buckets)))
        if not self._principal.sees_whole_buckets:
            query = query.where(sql_condition(self._principal, _documents.c.doc_id))
        return query

    def unsettled(self, bucket: str, limit: int) -> Sequence[Likeness]:
        """Return documents for which versions were not looked for, by id."""
        table = _likeness.signatures.c
        query = _LIKENESS.where(table.bucket == bucket, table.settled.is_(False)).order_by(table.doc_id)
        return [Likeness(*tuple(row)) for row in self._rows(query.limit(limit))]

    def likeness(self, doc_ids: Sequence[str]) -> dict[str, Likeness]:
        """Return the signatures of those among `doc_ids` that have one, by id."""
        table = _likeness.signatures.c
        queries = (_LIKENESS.where(table.doc_id.in_(ids)) for ids in batches(doc_ids))
        return {row.doc_id: Likeness(*tuple(row)) for query in queries for row in self._rows(query)}

    def holding(self, keys: Sequence[int], limit: int) -> dict[int, Sequence[str]]:
        """Return the first documents, by id, that have each of some names."""
        table = _likeness.keys.c
        place = sa.func.row_number().over(partition_by=table.key, order_by=table.doc_id).label("place")
        rows: list[sa.Row[Any]] = []
        for some in batches(keys):
            ranked = sa.select(table.key, table.doc_id, place).where(table.key.in_(some)).subquery("ranked").c
            first = sa.select(ranked.key, ranked.doc_id).where(ranked.place <= limit)
            rows += self._rows(first.order_by(ranked.key, ranked.doc_id))
        return {key: [row.doc_id for row in group] for key, group in groupby(rows, lambda row: int(row.key))}

    def versions(self, doc_id: str) -> tuple[Sequence[str], Sequence[str]]:
        """Return the document that this one was found to replace, if any, and those that replace it, by id."""
        table = _likeness.signatures.c
        replaced = sa.select(table.supersedes).where(table.doc_id == doc_id, table.supersedes.is_not(None))
        replacing = sa.select(table.doc_id).where(table.supersedes == doc_id)
        older, newer = (
            self._rows(self._seen(sa.select(_documents.c.doc_id).where(_documents.c.doc_id.in_(chosen))))
            for chosen in (replaced, replacing)
        )
        return sorted(row.doc_id for row in older), sorted(row.doc_id for row in newer)

    def search(self, bucket: str, text: str, limit: int) -> Sequence[str]:
        """Return the ids of a bucket's documents whose title, file or id holds a text, in the order of their ids."""
        table = _documents.c
        columns = (table.doc_id, table.source_file, table.title)
        holds = sa.or_(*(column.icontains(text, autoescape=True) for column in columns))
        query = sa.select(table.doc_id).where(table.bucket == bucket, holds)
        return [row.doc_id for row in self._rows(self._seen(query.order_by(table.doc_id).limit(limit)))]

    def settle(self, supersedes: Mapping[str, str | None]) -> None:
        """Record which document each of these was found to replace, None for none."""
        rows = [{"document": doc_id, "replaced": other} for doc_id, other in supersedes.items()]
        table = _likeness.signatures
        known = sa.update(table).where(table.c.doc_id == sa.bindparam("document"))
        if rows:
            with transaction(self._engine) as connection:
                connection.execute(known.values(settled=True, supersedes=sa.bindparam("replaced")), rows)

    def _rows(self, query: Any) -> Sequence[sa.Row[Any]]:
        return fetched(self._engine, query).all()


def _row(document: Document, hashes: tuple[str, str], status: Status) -> dict[str, Any]:
    pages = [[page.number, page.start, page.end, page.label] for page in document.pages]
    return {
        **{name: getattr(document, name) for name in _OF_DOCUMENT},
        "index_hash": hashes[0],
        "annotation_hash": hashes[1],
        "status": status,
        "characters": len(document.text),
        "pages": json.dumps(pages, separators=(",", ":")),
    }


def _document(row: sa.Row[Any], labels: tuple[str, ...]) -> Document:
    stored = {name: getattr(row, name) for name in _OF_DOCUMENT}
    return Document(pages=_pages(row.pages), labels=labels, **stored)


def _pages(stored: str) -> tuple[Page, ...]:
    return tuple(Page(number, start, end, label) for number, start, end, label in json.loads(stored))


def _record(row: sa.Row[Any]) -> DocumentRecord:
    return DocumentRecord(**row._asdict())
