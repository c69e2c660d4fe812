"""Reads files in worker processes, in their order, each step under limits of time and memory."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from citegraph.corpus.ingestion.ingest_options import Limits
from citegraph.corpus.ingestion.worker import Step, prepare, too_large

if TYPE_CHECKING:
    from pebble import ProcessPool

MOST_WORKERS = 8
CHARACTERS_AHEAD = 16_000_000
"""Read and not yet taken, of all files together; a file whose turn it is may always go on."""
FILES_AHEAD = 64


ReadStep = Callable[..., Step]
"""Called with a file and, for one that is not stored yet, True."""
NONE: frozenset[Path] = frozenset()


class FileReader(Protocol):
    """Reads many files."""

    def read(self, files: Sequence[Path], fresh: Collection[Path] = NONE) -> AsyncIterator[tuple[Path, Step]]:
        """Yield the steps of all files, in the order of the files; a file's last step is `finished`.

        Args:
            fresh: the files of which no document is stored.
        """
        ...


class InlineReader:
    """Reads in this process; a parser that hangs hangs it."""

    def __init__(self, read: ReadStep) -> None:
        self._read = read

    async def read(
        self, files: Sequence[Path], fresh: Collection[Path] = NONE
    ) -> AsyncIterator[tuple[Path, Step]]:
        """See `FileReader.read`."""
        for file in files:
            step = Step()
            while not step.finished:
                step = await asyncio.to_thread(self._read, *arguments(file, fresh))
                yield file, step


class ReadAlready:
    """Hands out what was read before, of each file once."""

    def __init__(self, steps: Mapping[Path, Sequence[Step]]) -> None:
        self._steps = dict(steps)

    async def read(
        self, files: Sequence[Path], fresh: Collection[Path] = NONE
    ) -> AsyncIterator[tuple[Path, Step]]:
        """See `FileReader.read`."""
        for file in files:
            for step in self._steps.pop(file):
                yield file, step


def arguments(file: Path, fresh: Collection[Path]) -> list[Any]:
    """Return what a `ReadStep` is called with."""
    return [file, True] if file in fresh else [file]


@asynccontextmanager
async def open_readers(workers: int | None, read: ReadStep, limits: Limits) -> AsyncIterator[FileReader]:
    """Start worker processes and end them.

    Args:
        workers: None takes one a processor; 0 reads in this process, without limits of time and memory.
        read: called in the workers for each step of a file.
    """
    count = min(MOST_WORKERS, os.cpu_count() or 1) if workers is None else workers
    if not count:
        yield InlineReader(read)
        return
    from pebble import ProcessPool

    # A fork of this process would inherit the lock of the embedded index and keep it when this one is killed.
    context = multiprocessing.get_context("forkserver")
    # What the workers need is loaded once; each begins as a copy of a process that has it.
    context.set_forkserver_preload(["citegraph.corpus.ingestion.preloaded"])
    # Each pool has one worker: the file that it has begun stays open in it between two steps.
    pools = [
        ProcessPool(max_workers=1, context=context, initializer=prepare, initargs=[limits])
        for _ in range(count)
    ]
    # The processes begin while the caller opens its stores.
    begun = asyncio.create_task(asyncio.to_thread(lambda: [pool.schedule(os.getpid) for pool in pools]))
    try:
        yield PooledReader(pools, read, limits)
    finally:
        await begun
        await asyncio.to_thread(_end, pools)


def _end(pools: Sequence[ProcessPool]) -> None:
    for pool in pools:
        pool.stop()  # type: ignore[no-untyped-call]
    for pool in pools:
        pool.join()


class PooledReader:
    """Reads ahead in several processes and hands the steps out in the order of the files."""

    def __init__(self, pools: Sequence[ProcessPool], read: ReadStep, limits: Limits) -> None:
        self._pools = pools
        self._limits = limits
        self._read = read

    async def read(
        self, files: Sequence[Path], fresh: Collection[Path] = NONE
    ) -> AsyncIterator[tuple[Path, Step]]:
        """See `FileReader.read`."""
        ahead = _Ahead()
        jobs = iter([(place, arguments(file, fresh)) for place, file in enumerate(files)])
        lanes = [asyncio.create_task(self._lane(pool, jobs, ahead)) for pool in self._pools]
        try:
            for place, file in enumerate(files):
                finished = False
                while not finished:
                    step = await ahead.take(place)
                    finished = step.finished
                    yield file, step
        finally:
            for lane in lanes:
                lane.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)

    async def _lane(
        self, pool: ProcessPool, jobs: Iterator[tuple[int, Sequence[Any]]], ahead: _Ahead
    ) -> None:
        """Read one file after the other in one process."""
        for place, given in jobs:
            finished = False
            while not finished:
                await ahead.room(place)
                step = await self._step(pool, given)
                finished = step.finished
                await ahead.put(place, step)

    async def _step(self, pool: ProcessPool, given: Sequence[Any]) -> Step:
        from pebble import ProcessExpired

        limits = self._limits
        try:
            # In a thread, as everything that starts or waits for a process: a served loop is not to be held up.
            job = await asyncio.to_thread(pool.schedule, self._read, args=given, timeout=limits.seconds)
            step: Step = await asyncio.wrap_future(job)
        except TimeoutError:
            reason = f"was not read within {limits.seconds:g} s: check it, or raise CITEGRAPH_INGEST_SECONDS"
            return Step(finished=True, failure=reason)
        except ProcessExpired as error:
            reason = (
                f"its parser died (code {error.exitcode}), mostly for want of memory: split the file, or raise "
                "CITEGRAPH_INGEST_MEMORY_MB"
            )
            return Step(finished=True, failure=reason)
        except MemoryError:
            return Step(finished=True, failure=too_large(limits))
        except Exception as error:  # what the worker could not send back
            return Step(
                finished=True,
                failure=f"cannot be read ({type(error).__name__}): open it in its program and save it again",
            )
        return step


class _Ahead:
    """What was read and not yet taken, by the file's place in the order."""

    def __init__(self) -> None:
        self._steps: dict[int, list[Step]] = {}
        self._changed = asyncio.Condition()
        self._turn = 0
        self._characters = 0

    async def room(self, place: int) -> None:
        """Wait until a file may read on: its turn has come, or little enough lies ready."""
        async with self._changed:
            await self._changed.wait_for(
                lambda: (
                    not self._steps.get(place)
                    if place == self._turn
                    else place - self._turn < FILES_AHEAD and self._characters < CHARACTERS_AHEAD
                )
            )

    async def put(self, place: int, step: Step) -> None:
        """Lay a step ready."""
        async with self._changed:
            self._steps.setdefault(place, []).append(step)
            self._characters += step.characters
            self._changed.notify_all()

    async def take(self, place: int) -> Step:
        """Return the next step of the file whose turn it is."""
        async with self._changed:
            self._turn = place
            self._changed.notify_all()
            await self._changed.wait_for(lambda: bool(self._steps.get(place)))
            step = self._steps[place].pop(0)
            self._characters -= step.characters
            if step.finished:
                del self._steps[place]
            self._changed.notify_all()
            return step
