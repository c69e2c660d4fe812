"""Whose threads there are: every thread has one owner, and is unknown to everyone else."""

import time
import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from citegraph.corpus.records.database import create_tables, execute_all, fetched, open_database
from graph.session import UnknownThread
from server.schemas import Thread

TITLE = 200

_metadata = sa.MetaData()
_threads = sa.Table(
    "threads",
    _metadata,
    sa.Column("thread_id", sa.String(64), primary_key=True),
    sa.Column("owner", sa.String(200), nullable=False),
    sa.Column("title", sa.String(TITLE), nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("updated", sa.Double, nullable=False),
    sa.Index("threads_of_owner", "owner", "updated"),
)
_asked = sa.Table(
    "thread_questions",
    _metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("thread_id", sa.String(64), nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Index("thread_questions_of", "thread_id"),
)
_ratings = sa.Table(
    "thread_ratings",
    _metadata,
    sa.Column("thread_id", sa.String(64), primary_key=True),
    sa.Column("run_id", sa.String(64), primary_key=True),
    sa.Column("score", sa.Integer, nullable=False),
    sa.Column("comment", sa.Text, nullable=False),
)
_notes = sa.Table(
    "thread_notes",
    _metadata,
    sa.Column("thread_id", sa.String(64), primary_key=True),
    sa.Column("run_id", sa.String(64), primary_key=True),
    sa.Column("text", sa.Text, nullable=False),
)
_leaving = sa.Table("threads_leaving", _metadata, sa.Column("thread_id", sa.String(64), primary_key=True))


class ThreadBook:
    """The threads of every owner, in the SQL database; all methods block."""

    def __init__(self, sql_url: str) -> None:
        """Open the book and make its table.

        Raises:
            Unavailable: the database does not answer.
        """
        self._engine = open_database(sql_url)
        create_tables(_metadata, self._engine)

    def start(self, thread_id: str, owner: str, title: str) -> None:
        """Enter a new thread; written before its first run, so that no thread is ever without an owner."""
        now = time.time()
        row = {"thread_id": thread_id, "owner": owner, "title": title[:TITLE], "created": now, "updated": now}
        self._write(
            sa.insert(_threads).values(row), sa.insert(_asked).values(thread_id=thread_id, text=title)
        )

    def rename(self, thread_id: str, owner: str, title: str) -> Thread:
        """Give a thread of an owner another title; raises as `use` does."""
        self.get(thread_id, owner)
        self._write(sa.update(_threads).where(_threads.c.thread_id == thread_id).values(title=title[:TITLE]))
        return self.get(thread_id, owner)

    def rate(self, thread_id: str, run_id: str, score: int, comment: str) -> None:
        """Keep what the reader thought of a run's answer: 1 good, -1 bad, 0 takes it back."""
        this = sa.and_(_ratings.c.thread_id == thread_id, _ratings.c.run_id == run_id)
        row = {"thread_id": thread_id, "run_id": run_id, "score": score, "comment": comment}
        self._write(sa.delete(_ratings).where(this), *([sa.insert(_ratings).values(row)] if score else []))

    def ratings(self, thread_id: str) -> dict[str, int]:
        """Return the score of each run of a thread that was rated."""
        rated = sa.select(_ratings.c.run_id, _ratings.c.score).where(_ratings.c.thread_id == thread_id)
        return {row.run_id: row.score for row in self._rows(rated)}

    def note(self, thread_id: str, run_id: str, text: str) -> None:
        """Keep the reader's own words on a run's answer, in place of earlier ones; none takes them back."""
        this = sa.and_(_notes.c.thread_id == thread_id, _notes.c.run_id == run_id)
        row = {"thread_id": thread_id, "run_id": run_id, "text": text}
        self._write(sa.delete(_notes).where(this), *([sa.insert(_notes).values(row)] if text else []))

    def notes(self, thread_id: str) -> dict[str, str]:
        """Return the note on each run of a thread that has one."""
        noted = sa.select(_notes.c.run_id, _notes.c.text).where(_notes.c.thread_id == thread_id)
        return {row.run_id: row.text for row in self._rows(noted)}

    def enter(self, thread_id: str | None, owner: str, question: str) -> str:
        """Return the thread in which an owner asks: a new one, or the one that is named; raises as `use` does."""
        if thread_id is None:
            thread_id = uuid.uuid4().hex
            self.start(thread_id, owner, question)
        else:
            self.use(thread_id, owner)
            self._write(sa.insert(_asked).values(thread_id=thread_id, text=question))
        return thread_id

    def last_asked(self, thread_id: str) -> str:
        """Return the question that was asked last in a thread."""
        asked = sa.select(_asked.c.text).where(_asked.c.thread_id == thread_id)
        found = self._rows(asked.order_by(_asked.c.number.desc()).limit(1))
        return str(found[0].text) if found else ""

    def use(self, thread_id: str, owner: str) -> None:
        """Note that a thread of an owner was used now.

        Raises:
            UnknownThread: there is none of that id, or it is somebody else's: the two cannot be told apart.
        """
        self.get(thread_id, owner)
        self._write(sa.update(_threads).where(_threads.c.thread_id == thread_id).values(updated=time.time()))

    def get(self, thread_id: str, owner: str) -> Thread:
        """Return a thread of an owner; raises as `use` does."""
        query = _listed().where(_threads.c.thread_id == thread_id, _threads.c.owner == owner)
        found = self._read(query)
        if not found:
            raise UnknownThread(f"There is no thread {thread_id[:64]!r}; ask a question to start one.")
        return found[0]

    def page(self, owner: str, limit: int, offset: int, text: str = "") -> tuple[list[Thread], int]:
        """Return an owner's threads, the last used first, and how many there are.

        Args:
            text: only those whose title, a question asked in them, or a note holds it.
        """
        chosen = _of(owner, text)
        ordered = _listed().where(chosen).order_by(_threads.c.updated.desc(), _threads.c.thread_id)
        counted = sa.select(sa.func.count()).select_from(_threads).where(chosen)
        return self._read(ordered.limit(limit).offset(offset)), int(self._rows(counted)[0][0])

    def delete(self, thread_id: str) -> None:
        """Forget a thread, what was asked in it, how its answers were rated and what was noted on them.

        From now on it is nobody's; that its steps are still to be deleted is kept until `forgotten`.
        """
        tables = (_asked, _ratings, _notes, _threads, _leaving)
        gone = (sa.delete(table).where(table.c.thread_id == thread_id) for table in tables)
        self._write(*gone, sa.insert(_leaving).values(thread_id=thread_id))

    def leaving(self) -> list[str]:
        """Return the ids of deleted threads of which steps may be kept, as after a kill."""
        return [row.thread_id for row in self._rows(sa.select(_leaving.c.thread_id))]

    def forgotten(self, thread_id: str) -> None:
        """Note that nothing is left of a deleted thread."""
        self._write(sa.delete(_leaving).where(_leaving.c.thread_id == thread_id))

    def _read(self, query: Any) -> list[Thread]:
        return [Thread(**row._asdict()) for row in self._rows(query)]

    def _rows(self, query: sa.Select[Any]) -> Sequence[Any]:
        return fetched(self._engine, query).all()

    def _write(self, *statements: Any) -> None:
        """Execute statements in one transaction, so that a kill leaves all or nothing of them."""
        execute_all(self._engine, statements)


def _of(owner: str, text: str) -> sa.ColumnElement[bool]:
    mine = _threads.c.owner == owner
    if not text:
        return mine
    said = [
        sa.exists().where(
            table.c.thread_id == _threads.c.thread_id, table.c.text.icontains(text, autoescape=True)
        )
        for table in (_asked, _notes)
    ]
    return sa.and_(mine, sa.or_(_threads.c.title.icontains(text, autoescape=True), *said))


def _listed() -> sa.Select[Any]:
    return sa.select(_threads.c.thread_id, _threads.c.title, _threads.c.created, _threads.c.updated)
