"""Connections to the Postgres database of the threads: one that the database has dropped is made anew."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection, OperationalError
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from citegraph.errors import Unavailable

MOST, PATIENCE = 8, 5.0
"""Connections at once, and the seconds that a database may take to give one."""


class Connections(AsyncConnectionPool[AsyncConnection[dict[str, Any]]]):
    """The connections of a checkpointer; each is tried before it is used."""

    def __init__(self, url: str) -> None:
        super().__init__(
            url,
            kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
            min_size=1,
            max_size=MOST,
            timeout=PATIENCE,
            check=self.check_connection,
            open=False,
        )

    @asynccontextmanager
    async def connection(
        self, timeout: float | None = None
    ) -> AsyncIterator[AsyncConnection[dict[str, Any]]]:
        """Lend a connection.

        Raises:
            Unavailable: the database does not answer, or dropped the connection while it was used.
        """
        try:
            async with super().connection(timeout) as lent:
                yield lent
        except OperationalError as error:
            raise Unavailable("The Postgres database of the threads does not answer.") from error
