"""Folders that are brought in again when their files change, as long as the server runs."""

import asyncio
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from citegraph.corpus.ingestion.ingest_options import options_from
from citegraph.corpus.ingestion.pipeline import ingest
from citegraph.corpus.ingestion.report import IngestReport
from citegraph.errors import CitegraphError
from citegraph.run.services import Services
from citegraph.settings import Settings

logger = logging.getLogger(__name__)
EVERY = 30.0
"""Seconds between two looks; a file that still grows from one to the next is waited for."""
Seen = frozenset[tuple[str, int, int]]


class Writing(Protocol):
    """What a server brings files in with: one write at a time, and `left` is set when one may be half done."""

    @property
    def settings(self) -> Settings: ...  # noqa: D102
    @property
    def services(self) -> Services: ...  # noqa: D102
    @property
    def ingesting(self) -> asyncio.Lock: ...  # noqa: D102
    @property
    def left(self) -> asyncio.Event: ...  # noqa: D102


@dataclass
class Watched:
    """A folder, what was seen in it and brought in, and what came of it: a report, or why there is none."""

    bucket: str
    folder: Path
    seen: Seen | None = None
    brought: Seen | None = None
    at: datetime | None = None
    report: IngestReport | None = None
    problem: str = ""


async def watch(server: Writing, folders: Sequence[Watched]) -> None:
    """Look at folders again and again; ends at once without any, else never.

    Nothing is removed with a file that goes: `citegraph ingest --prune` does that.
    """
    while folders:
        for one in folders:
            await look(server, one)
        await asyncio.sleep(EVERY)


async def look(server: Writing, one: Watched) -> None:
    """Bring a folder in if its files are others than when it was brought in, and the same as at the last look."""
    try:
        now = await asyncio.to_thread(files_in, one.folder)
        steady, one.seen = one.seen in (None, now), now
        if not steady or now == one.brought:
            return
        whole = await asyncio.to_thread(server.services.open)
        if one.bucket not in whole.buckets:
            one.problem = f"There is no bucket {one.bucket!r}."
            return
        async with server.ingesting:
            one.report = await ingest(
                [one.folder],
                whole.buckets[one.bucket],
                stores=whole.stores,
                options=options_from(server.settings),
            )
        one.brought, one.at, one.problem = now, datetime.now(UTC), ""
    except OSError as error:
        one.problem = f"The folder cannot be read: {error.strerror}."
    except CitegraphError as error:
        one.problem = str(error)
        server.left.set()
    except Exception as error:  # a fault of one file must not end the watch over all folders
        logger.exception("The folder %s could not be brought in.", one.folder)
        one.problem = f"unexpected {type(error).__name__}"
        server.left.set()


def files_in(folder: Path) -> Seen:
    """Return name, size and time of each file below a folder; blocking.

    Raises:
        OSError: the folder cannot be read.
    """
    found = []
    pending = [folder]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(Path(entry.path))
                elif entry.is_file():
                    known = entry.stat()
                    found.append((entry.path, known.st_size, known.st_mtime_ns))
    return frozenset(found)
