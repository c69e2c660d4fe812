"""Holds in SQL what the points of an own collection state, read as a whole: lists, sums and counts are exact over it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from threading import RLock
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, MetaData, String, Table, Text, and_, delete, insert, inspect, select

from citegraph.corpus.filters.sql_filter import condition_sql
from citegraph.corpus.foreign.foreign_reading import OwnDocument, Span
from citegraph.corpus.records.annotations.annotation_tables import Annotation
from citegraph.corpus.records.database import batches, create_tables, execute_all, open_database, translated
from citegraph.corpus.records.one_writer import writing_alone
from citegraph.corpus.schema.document import Chunk
from citegraph.errors import BadInput, CitegraphError, Unavailable

if TYPE_CHECKING:
    from citegraph.corpus.filters.conditions import Condition
    from citegraph.corpus.foreign.foreign_collection import OwnCollection
    from citegraph.corpus.records.annotations.annotation_writing import AnnotationWrites

CHECKED = 1.0
"""Seconds for which the collection is taken to be as it was when it was last looked at."""
MOST = 20_000
"""Points that are read while somebody waits for an answer; of more, `citegraph mirror` reads the values."""
PAUSE = 5.0
"""Seconds for which a server that did not answer is not asked again: a run asks many times."""
SHARE = 50
"""What was read is used at most this many times as long as the reading took, so that reading takes 2 % of the time."""
LEAST = 5.0
"""Seconds for which it is used at least."""
PATIENCE = 30.0
"""Seconds to wait for another process that is reading the same collection."""
FILTERED = 20_000
"""Points that a filter can name one by one."""
LINES = 100
"""Documents that one statement stores."""
EXAMPLES = 2
"""Documents that a remark about a field names."""

_metadata = MetaData()
_mirrors = Table(
    "own_mirrors",
    _metadata,
    Column("bucket", String(41), primary_key=True),
    Column("held", Text, nullable=False),
)
_documents = Table(
    "own_documents",
    _metadata,
    Column("bucket", String(41), primary_key=True),
    Column("doc_id", String(512), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("source_file", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("spans", Text, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Held:
    """What was read of a collection, and when.

    Attributes:
        taken: the moment, UTC, ISO 8601; `at` is the same in seconds since 1970.
        seconds: how long the reading took.
        declared: fingerprint of the declaration that it was read by.
        foreign: fields that a filter of the collection itself would compare otherwise.
        remarks: field to a sentence about the documents that state several values of it, or none that can be read.
    """

    taken: str
    at: float
    seconds: float
    points: int
    documents: int
    declared: str
    foreign: tuple[str, ...] = ()
    remarks: Mapping[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class HeldDocument:
    """A document as the points gave it when they were read."""

    doc_id: str
    source_file: str
    title: str
    digest: str
    spans: tuple[Span, ...]


class Mirror:
    """The typed values of one collection in the tables of its bucket, and which points are which document.

    It is read again when the number of points has changed, and after a time that grows with what the reading took;
    between two readings it is one state of the collection, as `Held.taken` says. All methods block.
    """

    def __init__(self, collection: OwnCollection, annotations: AnnotationWrites) -> None:
        self.collection = collection
        self.bucket = collection.bucket
        self._annotations = annotations
        self._engine = annotations.engine
        self._lock = RLock()
        self._held: Held | None = None
        self._checked = 0.0
        self._failed: tuple[float, Unavailable] | None = None
        self._declared = hashlib.sha256(self.bucket.model_dump_json().encode()).hexdigest()
        translated(lambda: create_tables(_metadata, self._engine))

    def current(self) -> Held | None:
        """Return what is held, read anew where it is old; None for a large collection that nobody has had read.

        Raises:
            BadInput: the collection is not there, or does not fit its declaration.
            Unavailable: the server or the database does not answer.
        """
        with self._lock:
            now = time.monotonic()
            if self._failed and now - self._failed[0] < PAUSE:
                raise self._failed[1]
            if self._held and now - self._checked < CHECKED:
                return self._held
            try:
                points = self.collection.count()
            except Unavailable as error:
                self._failed = time.monotonic(), error
                raise
            held = self._stored()
            if held is None or self._is_old(held, points):
                held = held if points > MOST else self.read()
            self._held, self._checked = held, time.monotonic()
            return held

    def read(self) -> Held:
        """Read the whole collection now, however large it is, and return what is held then."""
        began = datetime.now(UTC)
        with self._lock, self._alone():
            stored = self._stored()
            if stored and stored.at > began.timestamp():
                return stored  # another process has read it while this one waited
            clock = time.monotonic()
            reading = self.collection.read()
            documents = {document.doc_id: document for document in reading.documents()}
            held = Held(
                taken=began.isoformat(timespec="seconds"),
                at=began.timestamp(),
                seconds=time.monotonic() - clock,
                points=reading.points,
                documents=len(documents),
                declared=self._declared,
                foreign=tuple(sorted(frozenset().union(*(one.foreign for one in documents.values())))),
                remarks=_remarks(documents.values()),
            )
            self._store(documents, held)
            self._held, self._checked = held, time.monotonic()
            return held

    def size(self) -> int:
        """Return the number of documents, or of points while nothing is read; as last read where nobody answers."""
        try:
            held = self.current()
        except CitegraphError:
            held = self._stored()
            return held.documents if held else 0
        return held.documents if held else self.collection.count()

    def remarks(self, fields: Iterable[str]) -> list[str]:
        """Return sentences for an answer: when the values were read, and what of these fields could not be used."""
        held = self._held or self.current()
        if held is None:
            return []
        said = [sentence for name in dict.fromkeys(fields) for sentence in (held.remarks or {}).get(name, ())]
        now = self.collection.count()
        changed = f"; it holds {now:,} points now" if now != held.points else ""
        moment = held.taken.replace("T", " ").replace("+00:00", " UTC")
        return [
            *said,
            f"The values of {self.bucket.name} were read from its collection at {moment}: {held.documents:,} "
            f"documents in {held.points:,} points{changed}.",
        ]

    def document(self, doc_id: str) -> HeldDocument | None:
        """Return a document, None when the points gave none of that id."""
        return self.documents([doc_id]).get(doc_id)

    def documents(self, doc_ids: Sequence[str]) -> dict[str, HeldDocument]:
        """Return those among some documents that the points gave, by id."""
        found: dict[str, HeldDocument] = {}
        columns = [_documents.c[name] for name in ("doc_id", "source_file", "title", "digest", "spans")]
        for ids in batches(doc_ids):
            mine = and_(_documents.c.bucket == self.bucket.name, _documents.c.doc_id.in_(ids))
            for row in self._annotations.run(select(*columns).where(mine)):
                spans = tuple(Span(*span) for span in json.loads(row.spans))
                found[row.doc_id] = HeldDocument(row.doc_id, row.source_file, row.title, row.digest, spans)
        return found

    def named(self, name: str, limit: int) -> list[str]:
        """Return the first documents whose id or file is `name`, else of those that hold it."""
        mine = select(_documents.c.doc_id).where(_documents.c.bucket == self.bucket.name)
        columns = (_documents.c.doc_id, _documents.c.source_file)
        for condition in (
            (columns[0] == name) | (columns[1] == name),
            columns[0].icontains(name, autoescape=True) | columns[1].icontains(name, autoescape=True),
        ):
            ordered = mine.where(condition).order_by(_documents.c.doc_id).limit(limit)
            if found := list(self._annotations.run(ordered).scalars()):
                return found
        return []

    def placed(self, chunks: Sequence[Chunk]) -> list[Chunk]:
        """Return chunks that each are a document of their own as parts of the documents that they belong to.

        One that came after the reading stays as it is: its offsets count in the text of the point.
        """
        if not chunks or self.current() is None:
            return list(chunks)
        held = self.documents(list(dict.fromkeys(whole(chunk.doc_id) for chunk in chunks)))
        return [_placed(chunk, held.get(whole(chunk.doc_id))) for chunk in chunks]

    def foreign(self) -> frozenset[str]:
        """Return the fields that a filter of the collection itself would compare otherwise."""
        held = self.current()
        return frozenset(held.foreign) if held else frozenset()

    def points_of(self, doc_ids: Sequence[str]) -> list[str | int]:
        """Return the points of some documents."""
        return [span.point for document in self.documents(doc_ids).values() for span in document.spans]

    def matching(self, condition: Condition) -> list[str | int] | None:
        """Return the points of the documents whose value of a field meets a condition; None when they are too many."""
        tables = self._annotations.tables[self.bucket.name]
        chosen = select(tables.rows.c.doc_id).where(condition_sql(condition, tables)).limit(FILTERED + 1)
        doc_ids = list(self._annotations.run(chosen).scalars())
        points = self.points_of(doc_ids) if len(doc_ids) <= FILTERED else []
        return points if len(doc_ids) <= FILTERED and len(points) <= FILTERED else None

    # --- writing --------------------------------------------------------------------------------

    def _is_old(self, held: Held, points: int) -> bool:
        age = time.time() - held.at
        return (
            held.points != points or held.declared != self._declared or age > max(LEAST, SHARE * held.seconds)
        )

    def _stored(self) -> Held | None:
        statement = select(_mirrors.c.held).where(_mirrors.c.bucket == self.bucket.name)
        found = self._annotations.run(statement).scalar()
        return Held(**json.loads(found)) if found else None

    def _alone(self) -> ExitStack:
        """Wait for another process that reads the collection, and hold the bucket."""
        until = time.monotonic() + PATIENCE
        while True:
            stack = ExitStack()
            try:
                stack.enter_context(writing_alone(self._engine, self.bucket.name))
            except Unavailable:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)
            else:
                return stack

    def _store(self, documents: Mapping[str, OwnDocument], held: Held) -> None:
        name, rows = self.bucket.name, self._annotations.tables[self.bucket.name].rows
        mine = _documents.c.bucket == name
        known = self._annotations.run(select(_documents.c.doc_id, _documents.c.digest).where(mine))
        digests: dict[str, str] = {row.doc_id: row.digest for row in known}
        stored = set(self._annotations.run(select(rows.c.doc_id)).scalars())
        if ingested := sum(not doc_id.startswith(f"{name}:") for doc_id in stored):
            raise BadInput(
                f"Bucket {name!r} holds {ingested:,} documents that were ingested: declare the collection as a bucket "
                "of another name, or remove them first."
            )
        changed = [
            document
            for doc_id, document in documents.items()
            if doc_id not in stored or digests.get(doc_id) != document.digest
        ]
        gone = [doc_id for doc_id in stored | digests.keys() if doc_id not in documents]
        # Whoever reads meanwhile, or after this process was killed, finds no state and reads anew.
        execute_all(self._engine, [delete(_mirrors).where(_mirrors.c.bucket == name)])
        self._annotations.put(name, (Annotation(one.doc_id, one.values) for one in changed))
        self._annotations.delete(name, gone)
        ids = [*gone, *(one.doc_id for one in changed)]
        new = [_line(name, one) for one in changed]
        execute_all(
            self._engine,
            [
                *(delete(_documents).where(mine, _documents.c.doc_id.in_(some)) for some in batches(ids)),
                *(insert(_documents).values(new[at : at + LINES]) for at in range(0, len(new), LINES)),
                insert(_mirrors).values(bucket=name, held=json.dumps(asdict(held))),
            ],
        )


def forget_mirrors(annotations: AnnotationWrites) -> None:
    """Forget what was read of collections whose buckets hold ingested documents now."""
    if not translated(lambda: inspect(annotations.engine).has_table(_mirrors.name)):
        return
    for name in annotations.run(select(_mirrors.c.bucket)).scalars().all():
        bucket = annotations.buckets.get(name)
        if bucket is None or bucket.collection:
            continue
        mine = _documents.c.bucket == name
        annotations.delete(name, annotations.run(select(_documents.c.doc_id).where(mine)).scalars().all())
        gone = (delete(table).where(table.c.bucket == name) for table in (_documents, _mirrors))
        execute_all(annotations.engine, gone)


def held_documents(sql_url: str) -> dict[str, int]:
    """Return how many documents were last read of each own collection, by bucket, without asking the collection."""
    engine = open_database(sql_url)
    translated(lambda: create_tables(_metadata, engine))

    def run() -> dict[str, int]:
        with engine.connect() as connection:
            return {
                row.bucket: json.loads(row.held)["documents"] for row in connection.execute(select(_mirrors))
            }

    return translated(run)


def whole(doc_id: str) -> str:
    """Return the id of the document that a point's own id ("invoices:a.pdf#7") names; "invoices:#7" is both."""
    before, _, _ = doc_id.rpartition("#")
    return before if before and not before.endswith(":") else doc_id


def _placed(chunk: Chunk, document: HeldDocument | None) -> Chunk:
    for ordinal, span in enumerate(document.spans if document else ()):
        if str(span.point) == chunk.chunk_id.rpartition("#")[2] and span.end - span.start == len(chunk.text):
            assert document is not None
            return replace(
                chunk,
                doc_id=document.doc_id,
                ordinal=ordinal,
                start=span.start,
                end=span.end,
                title=document.title,
            )
    return chunk


def _line(bucket: str, document: OwnDocument) -> dict[str, Any]:
    return {
        "bucket": bucket,
        "doc_id": document.doc_id,
        "digest": document.digest,
        "source_file": document.source_file,
        "title": document.title,
        "spans": json.dumps(document.spans, separators=(",", ":")),
    }


def _remarks(documents: Iterable[OwnDocument]) -> dict[str, tuple[str, ...]]:
    """Return by field what is said of documents that state several values of it, or one that cannot be read."""
    conflicts: dict[str, list[str]] = {}
    unreadable: dict[str, list[str]] = {}
    for document in documents:
        for name, values in document.conflicts.items():
            conflicts.setdefault(name, []).append(f"{document.doc_id}: {' and '.join(values[:3])}")
        for name, said in document.unreadable.items():
            unreadable.setdefault(name, []).append(f"{document.doc_id}: {said}")
    told = ((conflicts, "has different values in different points"), (unreadable, "cannot be read"))
    remarks: dict[str, tuple[str, ...]] = {}
    for found, what in told:
        for name, examples in found.items():
            noun = "documents" if len(examples) != 1 else "document"
            shown = "; ".join(examples[:EXAMPLES]) + ("; ..." if len(examples) > EXAMPLES else "")
            sentence = f"In {len(examples):,} {noun} {name.replace('_', ' ')} {what} and counts as missing ({shown})."
            remarks[name] = (*remarks.get(name, ()), sentence)
    return remarks
