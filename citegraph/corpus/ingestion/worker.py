"""Reads files a few documents a step, so that a parser that hangs or swells can be killed between two steps."""

from __future__ import annotations

import os
import resource
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from multiprocessing import connection, parent_process
from pathlib import Path

from citegraph.corpus.ingestion.ingest_options import Limits
from citegraph.corpus.ingestion.preparing import Preparation, Prepared
from citegraph.corpus.ingestion.refusals import refusal
from citegraph.corpus.readers.protocol import MEGABYTE, Passing, Reading, ReadOptions, Unread
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.errors import BadInput

STEP_READINGS = 64
STEP_CHARACTERS = 2_000_000


@dataclass(frozen=True, slots=True)
class Step:
    """Some readings of a file in order; the last step says whether the file was read to its end.

    Attributes:
        prepared: of the readings, in their order, None where nothing was worked out; empty for none at all.
        finished: no step follows.
        failure: why the file, or the rest of it, cannot be read; empty when it was read whole.
        lasting: whether the failure lies in the bytes of the file, so that another try would end alike.
    """

    readings: tuple[Reading | Unread, ...] = ()
    finished: bool = False
    failure: str = ""
    prepared: tuple[Prepared | None, ...] = ()
    lasting: bool = False

    @property
    def characters(self) -> int:
        """Return the length of the texts."""
        return sum(len(item.text) for item in self.readings if isinstance(item, Reading))


def prepare(limits: Limits) -> None:
    """Settle a worker process: bounded memory, deaf to Ctrl-C, gone when its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if limits.memory_mb:
        size = limits.memory_mb * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    """End this process with its parent: one that was killed cannot end its workers."""
    connection.wait([sentinel])
    os._exit(1)


_open: dict[str, Iterator[Reading | Unread]] = {}
"""The files that this process has begun to read and not ended."""


@dataclass(frozen=True, slots=True)
class StepReader:
    """Reads on in a file at each call, from its beginning at the first; sent to the workers whole."""

    options: ReadOptions
    limits: Limits
    prepare: Preparation | None = None

    def __call__(self, path: Path, fresh: bool = False) -> Step:
        """Return the next step of a file; of a `fresh` one, which is not stored, the values are extracted too."""
        if os.fspath(path) not in _open:
            reason = refusal(path, file_mb=self.limits.file_mb)
            if reason:
                return Step(finished=True, failure=reason)
            unpacked = 2 * self.limits.file_mb * MEGABYTE
            _open[os.fspath(path)] = read_file(path, replace(self.options, unpacked=unpacked))
        step = _step(os.fspath(path), self.limits)
        if self.prepare is None or not fresh:
            return step
        found = [self.prepare(item) if isinstance(item, Reading) else None for item in step.readings]
        return replace(step, prepared=tuple(found))


def _step(key: str, limits: Limits) -> Step:
    readings: list[Reading | Unread] = []
    characters = 0
    try:
        for reading in _open[key]:
            readings.append(reading)
            characters += len(reading.text) if isinstance(reading, Reading) else 0
            if len(readings) >= STEP_READINGS or characters >= STEP_CHARACTERS:
                return Step(tuple(readings))
    except BadInput as error:
        swollen = isinstance(error.__cause__, MemoryError)
        del _open[key]
        lasting = not swollen and not isinstance(error, Passing)
        return Step(tuple(readings), True, too_large(limits) if swollen else str(error), lasting=lasting)
    del _open[key]
    return Step(tuple(readings), True)


def too_large(limits: Limits) -> str:
    """Return why a file is left out that does not fit into memory, and what to do."""
    return f"needs more than {limits.memory_mb:,} MB of memory: split it, or raise CITEGRAPH_INGEST_MEMORY_MB"
