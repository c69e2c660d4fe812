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
    from sqlalchemy import create_engine, text

    engine = create_engine(POSTGRES)
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
