"""Which thread a conversation goes on in: clients of the chat API send all that was said, and no thread."""

import hashlib
import json
import time
from collections.abc import Sequence

from sqlalchemy import Column, Delete, Double, Index, MetaData, String, Table, delete, insert, select

from citegraph.corpus.records.database import create_tables, execute_all, fetched, open_database

_metadata = MetaData()
_conversations = Table(
    "conversations",
    _metadata,
    Column("thread_id", String(64), primary_key=True),
    Column("owner", String(200), nullable=False),
    Column("said", String(64), nullable=False),
    Column("updated", Double, nullable=False),
    Index("conversations_said", "owner", "said"),
)


class Conversations:
    """What the user has said so far in each thread, as a hash; all methods block.

    Answers are left out: clients show, and send back, a text of their own making. Two threads in which the same was
    asked by the same person are at the same place, so either may go on.
    """

    def __init__(self, sql_url: str) -> None:
        """Open the book and make its table.

        Raises:
            Unavailable: the database does not answer.
        """
        self._engine = open_database(sql_url)
        create_tables(_metadata, self._engine)

    def find(self, owner: str, said: Sequence[str]) -> str | None:
        """Return the thread in which an owner has said just this, the last used one; None when there is none."""
        if not said:
            return None
        query = (
            select(_conversations.c.thread_id)
            .where(_conversations.c.owner == owner, _conversations.c.said == _hash(said))
            .order_by(_conversations.c.updated.desc())
            .limit(1)
        )
        found: str | None = fetched(self._engine, query).scalar_one_or_none()
        return found

    def keep(self, owner: str, thread_id: str, said: Sequence[str]) -> None:
        """Note what an owner has said in a thread up to now."""
        row = {"thread_id": thread_id, "owner": owner, "said": _hash(said), "updated": time.time()}
        execute_all(self._engine, [_forgetting(thread_id), insert(_conversations).values(row)])

    def forget(self, thread_id: str) -> None:
        """Forget a thread that is gone."""
        execute_all(self._engine, [_forgetting(thread_id)])


def _forgetting(thread_id: str) -> Delete:
    return delete(_conversations).where(_conversations.c.thread_id == thread_id)


def _hash(said: Sequence[str]) -> str:
    """Return the hash of what was said; white space does not count."""
    return hashlib.sha256(json.dumps([" ".join(text.split()) for text in said]).encode()).hexdigest()
