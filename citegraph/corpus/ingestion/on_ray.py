"""Reads files, and prepares what is to be written, in the tasks of Ray Data, here or on a cluster that sees the same files."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pickle
import socket
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citegraph.corpus.ingestion.worker import Step
from citegraph.errors import BadInput, Unavailable

if TYPE_CHECKING:
    from citegraph.corpus.ingestion.ingest_options import Limits
    from citegraph.corpus.ingestion.worker_pool import FileReader, ReadStep

FILES_A_TASK, MOST_A_TASK, TASKS = 16, 64, 64
"""A task starts a process of its own, a third of a second: of many files it takes more, as long as there are 64 tasks."""
PATIENCE = 5.0
"""Seconds for a first connection."""
_END = object()


@asynccontextmanager
async def open_ray(address: str, read: ReadStep, limits: Limits) -> AsyncIterator[FileReader]:
    """Connect to Ray, or start it on this machine, and let go of it at the end.

    Args:
        address: of a running cluster; "" starts Ray here, on loopback.

    Raises:
        BadInput: Ray is not installed.
        Unavailable: the cluster does not answer.
    """
    try:
        import ray
        import ray.data
    except ModuleNotFoundError as error:
        raise BadInput("--engine ray needs Ray: pip install 'citegraph[ray]'.") from error
    await asyncio.to_thread(_connect, address)
    try:
        yield RayReader(read, limits)
    finally:
        await asyncio.to_thread(ray.shutdown)


def _connect(address: str) -> None:
    import ray
    from ray._common.usage import usage_lib

    # Nothing is sent to its makers; no public call says so, hence the exact version of the extra.
    usage_lib.set_usage_stats_enabled_via_env_var(False)
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        # Ray itself tries for a minute, and says so line by line.
        try:
            socket.create_connection((host, int(port)), PATIENCE).close()
        except OSError as error:
            raise _unreachable(address) from error
    given: dict[str, Any] = (
        {"address": address}
        if address
        else {"address": "local", "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    )
    try:
        ray.init(**given, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise _unreachable(address) from error


def _unreachable(address: str) -> Unavailable:
    if not address:
        return Unavailable("Ray does not start on this machine: ingest with --engine local.")
    return Unavailable(
        f"Ray does not answer at {address}: check the address, set RAY_AUTH_MODE=token when the cluster asks for a "
        "token, or ingest with --engine local."
    )


class RayReader:
    """`FileReader` whose files are read, and whose documents are prepared, by tasks.

    Each works in a process of its own under the same limits.
    """

    def __init__(self, read: ReadStep, limits: Limits) -> None:
        self._read = read
        self._limits = limits

    async def read(
        self, files: Sequence[Path], fresh: Collection[Path] = frozenset()
    ) -> AsyncIterator[tuple[Path, Step]]:
        """See `FileReader.read`."""
        if not files:
            return
        rows = await asyncio.to_thread(self._rows, files, fresh)
        while (row := await asyncio.to_thread(next, rows, _END)) is not _END:
            assert isinstance(row, Mapping)
            yield files[int(row["place"])], pickle.loads(row["step"])  # noqa: S301  # nosec B301

    def _rows(self, files: Sequence[Path], fresh: Collection[Path]) -> Iterator[Mapping[str, Any]]:
        import ray.data

        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        items = [
            {"place": place, "path": os.fsencode(file), "fresh": file in fresh}
            for place, file in enumerate(files)
        ]
        size = files_a_task(len(items))
        dataset = ray.data.from_items(items, override_num_blocks=max(1, len(items) // size))
        task: Any = _steps
        steps = dataset.map_batches(
            task, batch_size=size, fn_kwargs={"read": self._read, "limits": self._limits}
        )
        return iter(steps.iter_rows())


def files_a_task(count: int) -> int:
    """Return how many of so many files one task reads."""
    return max(FILES_A_TASK, min(MOST_A_TASK, count // TASKS))


def _steps(batch: Mapping[str, Any], *, read: ReadStep, limits: Limits) -> Iterator[dict[str, list[Any]]]:
    """Read some files in a task and yield their steps, one a batch."""
    paths = [Path(os.fsdecode(bytes(path))) for path in batch["path"]]
    places = dict(zip(paths, batch["place"], strict=True))
    fresh = {path for path, is_fresh in zip(paths, batch["fresh"], strict=True) if is_fresh}
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        reading = _read_all(paths, fresh, read, limits)
        while (found := loop.run_until_complete(anext(reading, None))) is not None:
            path, step = found
            yield {"place": [int(places[path])], "step": [pickle.dumps(step)]}


async def _read_all(
    paths: Sequence[Path], fresh: Collection[Path], read: ReadStep, limits: Limits
) -> AsyncIterator[tuple[Path, Step]]:
    from citegraph.corpus.ingestion.worker_pool import open_readers

    async with open_readers(1, read, limits) as readers:
        async for found in readers.read(paths, fresh):
            yield found
