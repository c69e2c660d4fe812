"""Holds a bucket for the one process that writes to it; the hold ends with the process, however that ends."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine, text

from citegraph.corpus.records.database import translated
from citegraph.errors import Unavailable

if TYPE_CHECKING:
    from sqlalchemy import Connection


def claim_file(file: Path) -> int | None:
    """Lock a file, made where it is missing, and return its descriptor; None when another process has it."""
    claim = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(claim)
        return None
    return claim


@asynccontextmanager
async def one_writer(engine: Engine, bucket: str) -> AsyncIterator[None]:
    """Write to a bucket alone: on SQLite beside the database's file, on PostgreSQL by an advisory lock.

    Raises:
        Unavailable: another process writes to the bucket, or the database does not answer.
    """
    hold = writing_alone(engine, bucket)
    await asyncio.to_thread(hold.__enter__)
    try:
        yield
    finally:
        await asyncio.to_thread(hold.__exit__, None, None, None)


@contextmanager
def writing_alone(engine: Engine, bucket: str) -> Iterator[None]:
    """Do as `one_writer`, from code that blocks."""
    file = engine.url.database
    if engine.dialect.name == "postgresql":
        with contextlib.closing(translated(engine.connect)) as connection:
            if not translated(lambda: _lock(connection, bucket)):
                raise _elsewhere(bucket)
            try:
                yield
            finally:
                connection.invalidate()  # its end is the lock's, also when the server is gone
    elif file and file != ":memory:":
        claim = claim_file(Path(f"{file}.{bucket}.lock"))
        if claim is None:
            raise _elsewhere(bucket)
        try:
            yield
        finally:
            os.close(claim)
    else:
        yield


def _lock(connection: Connection, bucket: str) -> bool:
    asked = text("SELECT pg_try_advisory_lock(hashtextextended(:name, 0))")
    locked = connection.execute(asked, {"name": f"citegraph writes {bucket}"}).scalar_one()
    connection.commit()  # a lock of the session stays; a transaction left open would hold up the server's vacuum
    return bool(locked)


def _elsewhere(bucket: str) -> Unavailable:
    return Unavailable(
        f"Another process is writing to bucket {bucket!r}. Wait until it has ended, then run the command again."
    )
