"""One process at a time writes to a bucket, on SQLite and on PostgreSQL; a killed one holds nothing."""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Callable

import pytest

from citegraph.corpus.records.database import one_writer, open_database
from citegraph.corpus.records.documents import DocumentStore
from citegraph.errors import Unavailable


async def test_a_second_writer_is_refused_until_the_first_has_ended(new_database: Callable[[], str]) -> None:
    documents = DocumentStore(new_database())
    async with documents.one_writer("letters"):
        async with documents.one_writer("bills"):
            pass
        with pytest.raises(Unavailable, match="Another process is writing to bucket 'letters'"):
            async with documents.one_writer("letters"):
                pass
    async with documents.one_writer("letters"):
        pass


async def test_a_failed_writer_lets_go(new_database: Callable[[], str]) -> None:
    engine = open_database(new_database())
    with pytest.raises(ZeroDivisionError):
        async with one_writer(engine, "letters"):
            raise ZeroDivisionError
    async with one_writer(engine, "letters"):
        pass


def _hold_and_die(url: str) -> None:
    async def run() -> None:
        async with one_writer(open_database(url), "letters"):
            os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(run())


async def test_a_killed_writer_holds_nothing(new_database: Callable[[], str]) -> None:
    url = new_database()
    child = multiprocessing.get_context("forkserver").Process(target=_hold_and_die, args=(url,))
    child.start()
    await asyncio.to_thread(child.join)
    assert child.exitcode == -signal.SIGKILL
    for _ in range(100):  # the server notices within moments
        try:
            async with one_writer(open_database(url), "letters"):
                return
        except Unavailable:
            await asyncio.sleep(0.05)
    pytest.fail("the bucket is still held")


async def test_a_database_in_memory_has_one_process_anyway() -> None:
    engine = open_database("sqlite:///:memory:")
    async with one_writer(engine, "letters"), one_writer(engine, "letters"):
        pass
