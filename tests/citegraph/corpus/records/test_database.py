"""Tables are created by several processes at once, on SQLite and on PostgreSQL."""

import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier, Timer

import pytest
from sqlalchemy import Column, MetaData, String, Table, create_engine, inspect

from citegraph.corpus.records.database import (
    add_columns,
    changing_tables,
    create_tables,
    keeping,
    once,
    once_each,
    open_database,
)
from citegraph.errors import Unavailable

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
        assert list(threads.map(create, range(4))) == [["store_format", *TABLES]] * 4
    engine = create_engine(url)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM store_format").scalar() == 1
    engine.dispose()


def test_columns_are_added_by_several_at_once(new_database: Callable[[], str]) -> None:
    url, together = new_database().replace("postgresql:", "postgresql+psycopg:"), Barrier(4)
    grown = MetaData()
    table = Table(TABLES[0], grown, Column("key", String, primary_key=True), Column("added", String))

    def add(_: int) -> list[str]:
        engine = create_engine(url)
        create_tables(metadata_of(), engine)
        together.wait()
        add_columns(engine, table)
        found = [column["name"] for column in inspect(engine).get_columns(table.name)]
        engine.dispose()
        return found

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(add, range(4))) == [["key", "added"]] * 4


def test_a_store_that_is_whole_opens_while_another_writes(new_database: Callable[[], str]) -> None:
    url = new_database().replace("postgresql:", "postgresql+psycopg:")
    # What would wait for a lock fails at once.
    impatient = {"timeout": 0} if url.startswith("sqlite") else {}
    engine, other = create_engine(url, connect_args=impatient), create_engine(url)
    create_tables(metadata_of(), engine)
    with changing_tables(other):
        create_tables(metadata_of(), engine)
    engine.dispose()
    other.dispose()


def test_a_database_that_does_not_open_is_not_asked_again() -> None:
    engine = create_engine("sqlite:////nowhere/at/all.sqlite")
    with pytest.raises(Unavailable, match="unable to open"):
        create_tables(metadata_of(), engine)


def test_a_new_file_is_opened_by_several_at_once(tmp_path: Path) -> None:
    url, together = f"sqlite:///{tmp_path / 'a.sqlite'}", Barrier(4)

    def opened(_: int) -> str:
        # Not from its cache: each as a process of its own would open it.
        engine = open_database.__wrapped__(url)
        together.wait()
        with engine.connect() as connection:
            mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
        create_tables(metadata_of(), engine)
        engine.dispose()
        return str(mode)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(opened, range(4))) == ["wal"] * 4


def test_write_ahead_logging_waits_for_whoever_uses_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("CREATE TABLE used (key)")
        other.execute("BEGIN IMMEDIATE")
        Timer(0.2, lambda: other.execute("COMMIT")).start()
        engine = open_database.__wrapped__(f"sqlite:///{file}")
        with engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
        engine.dispose()


def test_what_was_read_is_kept_by_key_while_it_is_kept() -> None:
    asked: list[list[str]] = []

    def read(keys: Sequence[str]) -> dict[str, int]:
        asked.append(list(keys))
        return {key: len(key) for key in keys if key != "none"}

    with keeping({}):
        assert once_each("lengths", ["pear", "fig", "none"], read) == {"fig": 3, "pear": 4}
        assert once_each("lengths", ["none", "apple", "pear"], read) == {"apple": 5, "pear": 4}
        assert once_each("others", ["fig"], read) == {"fig": 3}
        assert [once("number", lambda given=given: given) for given in (1, 2)] == [1, 1]  # type: ignore[misc]
    assert once_each("lengths", ["pear"], read) == {"pear": 4}
    assert asked == [["fig", "none", "pear"], ["apple"], ["fig"], ["pear"]]
