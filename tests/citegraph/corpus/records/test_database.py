"""Tables are created by several processes at once, on SQLite and on PostgreSQL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import Column, MetaData, String, Table, create_engine, inspect
from sqlalchemy.exc import OperationalError

from citegraph.corpus.records.database import create_tables

TABLES = [f"table_{number}" for number in range(8)]


def metadata_of() -> MetaData:
    metadata = MetaData()
    for name in TABLES:
        Table(name, metadata, Column("key", String, primary_key=True))
    return metadata


def test_tables_are_created_by_several_at_once(new_database: Callable[[], str]) -> None:
    url, together = new_database().replace("postgresql:", "postgresql+psycopg:"), Barrier(4)

    def create(_: int) -> list[str]:
        engine = create_engine(url)
        together.wait()
        create_tables(metadata_of(), engine)
        found = inspect(engine).get_table_names()
        engine.dispose()
        return sorted(found)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(create, range(4))) == [TABLES] * 4


def test_a_database_that_does_not_open_is_not_asked_again() -> None:
    engine = create_engine("sqlite:////nowhere/at/all.sqlite")
    with pytest.raises(OperationalError, match="unable to open"):
        create_tables(metadata_of(), engine)
