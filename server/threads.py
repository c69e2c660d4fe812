"""Whose threads there are: every thread has one owner, and is unknown to everyone else."""

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Column,
    Double,
    Index,
    MetaData,
    Select,
    String,
    Table,
    delete,
    func,
    insert,
    select,
    update,
)

from citegraph.corpus.records.database import create_tables, open_database, translated
from graph.session import UnknownThread

TITLE = 200

_metadata = MetaData()
_threads = Table(
    "threads",
    _metadata,
    Column("thread_id", String(64), primary_key=True),
    Column("owner", String(200), nullable=False),
    Column("title", String(TITLE), nullable=False),
    Column("created", Double, nullable=False),
    Column("updated", Double, nullable=False),
    Index("threads_of_owner", "owner", "updated"),
)


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """A thread as its owner lists it; times are seconds since 1970."""

    thread_id: str
    title: str
    created: float
    updated: float


class ThreadBook:
    """The threads of every owner, in the SQL database; all methods block."""

    def __init__(self, sql_url: str) -> None:
        """Open the book and make its table.

        Raises:
            Unavailable: the database does not answer.
        """
        self._engine = open_database(sql_url)
        translated(lambda: create_tables(_metadata, self._engine))

    def start(self, thread_id: str, owner: str, title: str) -> None:
        """Enter a new thread; written before its first run, so that no thread is ever without an owner."""
        now = time.time()
        row = {"thread_id": thread_id, "owner": owner, "title": title[:TITLE], "created": now, "updated": now}
        self._write(insert(_threads).values(row))

    def use(self, thread_id: str, owner: str) -> ThreadRecord:
        """Return a thread of an owner and note that it was used now.

        Raises:
            UnknownThread: there is none of that id, or it is somebody else's: the two cannot be told apart.
        """
        found = self.get(thread_id, owner)
        self._write(update(_threads).where(_threads.c.thread_id == thread_id).values(updated=time.time()))
        return found

    def get(self, thread_id: str, owner: str) -> ThreadRecord:
        """Return a thread of an owner; raises as `use` does."""
        query = _listed().where(_threads.c.thread_id == thread_id, _threads.c.owner == owner)
        found = self._read(query)
        if not found:
            raise UnknownThread(f"There is no thread {thread_id[:64]!r}; ask a question to start one.")
        return found[0]

    def page(self, owner: str, limit: int, offset: int) -> tuple[list[ThreadRecord], int]:
        """Return an owner's threads, the last used first, and how many there are."""
        ordered = _listed().where(_threads.c.owner == owner)
        ordered = (
            ordered.order_by(_threads.c.updated.desc(), _threads.c.thread_id).limit(limit).offset(offset)
        )
        counted = select(func.count()).select_from(_threads).where(_threads.c.owner == owner)

        def count() -> int:
            with self._engine.connect() as connection:
                return int(connection.execute(counted).scalar_one())

        return self._read(ordered), translated(count)

    def delete(self, thread_id: str) -> None:
        """Forget a thread."""
        self._write(delete(_threads).where(_threads.c.thread_id == thread_id))

    def _read(self, query: Any) -> list[ThreadRecord]:
        def run() -> list[ThreadRecord]:
            with self._engine.connect() as connection:
                return [ThreadRecord(**row._asdict()) for row in connection.execute(query)]

        return translated(run)

    def _write(self, statement: Any) -> None:
        def run() -> None:
            with self._engine.begin() as connection:
                connection.execute(statement)

        translated(run)


def _listed() -> Select[Any]:
    return select(_threads.c.thread_id, _threads.c.title, _threads.c.created, _threads.c.updated)
