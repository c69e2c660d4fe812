"""What is known of the files that were read, so that an unchanged one is not read again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Engine, Integer, MetaData, String, Table, Text, insert, select

from citegraph.corpus.records.database import create_tables, delete_rows, fetched, transaction

_KEY = 32
_TICK = 2_000_000_000
"""Nanoseconds within which a file system may give two writes the same time (FAT: 2 s)."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the report said of a file, to be said again: (part, note), and why parts of it gave no document."""

    notes: tuple[tuple[str, str], ...] = ()
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A file of a bucket that was read as far as its bytes allow.

    Attributes:
        stamp: size, times and inode when it was read; empty when they could not tell a later write.
        content_hash: SHA-256 of its bytes, in hex.
        recipe: fingerprint of all else that decides what its documents become.
        documents: how many it gave.
    """

    source: str
    stamp: str
    content_hash: str
    recipe: str
    documents: int
    told: Told = Told()


_STORED = [name for name in SourceRecord.__slots__ if name != "told"]


class SourceFiles:
    """The records of a database; all methods block and raise `Unavailable` when it does not answer."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        metadata = MetaData()
        # By a hash of bucket and path: a path can be longer than PostgreSQL lets an index entry be.
        self._table = Table(
            "source_files",
            metadata,
            Column("key", String(_KEY), primary_key=True),
            Column("bucket", String, nullable=False),
            Column("source", Text, nullable=False),
            Column("stamp", String, nullable=False),
            Column("content_hash", String, nullable=False),
            Column("recipe", String, nullable=False),
            Column("documents", Integer, nullable=False),
            Column("notes", Text, nullable=False),
        )
        create_tables(metadata, engine)

    def of(self, bucket: str) -> dict[str, SourceRecord]:
        """Return the records of a bucket by source path; about half a kilobyte of memory each."""
        rows = fetched(self._engine, select(self._table).where(self._table.c.bucket == bucket))
        return {row.source: _record(row) for row in rows}

    def put(self, bucket: str, records: Sequence[SourceRecord]) -> None:
        """Insert or replace records."""
        rows = [
            {
                "key": _key(bucket, record.source),
                "bucket": bucket,
                "notes": json.dumps(asdict(record.told), ensure_ascii=False),
                **{name: getattr(record, name) for name in _STORED},
            }
            for record in records
        ]
        if not rows:
            return
        with transaction(self._engine) as connection:
            delete_rows(connection, [str(row["key"]) for row in rows], self._table.c.key)
            connection.execute(insert(self._table), rows)

    def forget(self, bucket: str, sources: Iterable[str]) -> None:
        """Remove records; unknown ones are ignored."""
        keys = [_key(bucket, source) for source in sources]
        with transaction(self._engine) as connection:
            delete_rows(connection, keys, self._table.c.key)


def stamp_of(path: Path) -> str:
    """Return what a write to a file changes without a look at its bytes; empty when it cannot be told.

    The time of the last change of its inode is among it, which no program can set back.
    """
    try:
        stat = os.stat(path)
    except OSError:
        return ""
    return f"{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}:{stat.st_ino}"


def settled(stamp: str, now_ns: int) -> bool:
    """Return whether a stamp is old enough that a write from now on must change it."""
    times = [int(part) for part in stamp.split(":")[1:3]]
    return bool(times) and max(times) + _TICK < now_ns


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes in hex; empty when it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _key(bucket: str, source: str) -> str:
    return hashlib.sha256(f"{bucket}\0{source}".encode()).hexdigest()[:_KEY]


def _record(row: Any) -> SourceRecord:
    given = json.loads(row.notes)
    # Earlier versions wrote a list of notes, of files without a skipped part.
    told = given if isinstance(given, dict) else {"notes": given, "skipped": ()}
    notes = tuple((part, note) for part, note in told["notes"])
    stored = {name: getattr(row, name) for name in _STORED}
    return SourceRecord(told=Told(notes, tuple(told["skipped"])), **stored)
