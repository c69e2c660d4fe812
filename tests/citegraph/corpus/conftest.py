"""Databases for the tests of the annotation store: SQLite files, and a schema of Postgres when one is given."""

import os
import uuid
from collections.abc import Callable, Iterator

import pytest

POSTGRES = os.environ.get("TEST_POSTGRES_URL", "")


@pytest.fixture(
    scope="session",
    params=[
        "sqlite",
        pytest.param(
            "postgres",
            marks=[
                pytest.mark.postgres,
                pytest.mark.skipif(not POSTGRES, reason="TEST_POSTGRES_URL names no PostgreSQL database"),
            ],
        ),
    ],
)
def new_database(request, tmp_path_factory) -> Iterator[Callable[[], str]]:
    """Yield a function that returns the URL of an empty database."""
    if request.param == "sqlite":
        yield lambda: f"sqlite:///{tmp_path_factory.mktemp('database') / 'a.sqlite'}"
        return
    from sqlalchemy import NullPool, create_engine, text

    engine = create_engine(POSTGRES, poolclass=NullPool)
    schemas = []

    def schema_url() -> str:
        schemas.append(f"test_{uuid.uuid4().hex}")
        with engine.begin() as connection:
            connection.execute(text(f"CREATE SCHEMA {schemas[-1]}"))
        return f"{POSTGRES}?options=-csearch_path%3D{schemas[-1]}"

    yield schema_url
    with engine.begin() as connection:
        for schema in schemas:
            connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    engine.dispose()


@pytest.fixture(scope="session")
def opened_connections() -> Iterator[list]:
    """Yield the list of connections to PostgreSQL as they are opened."""
    from sqlalchemy import event
    from sqlalchemy.pool import Pool

    opened = []

    def keep(connection, _record):
        if type(connection).__module__.startswith("psycopg"):
            opened.append(connection)

    event.listen(Pool, "connect", keep)
    yield opened
    event.remove(Pool, "connect", keep)


@pytest.fixture(autouse=bool(POSTGRES))
def _closed_connections(opened_connections) -> Iterator[None]:
    """Close what a test's stores leave open: the server takes 40 connections, and the collector comes when it likes.

    A store of a whole module connects again (`pool_pre_ping`).
    """
    yield
    while opened_connections:
        opened_connections.pop().close()
