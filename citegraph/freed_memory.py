"""What a process holds of memory that nobody needs: freed by C and kept, in circles, or of files that were read."""

import asyncio
import ctypes
import gc
import os
from pathlib import Path

_ARENA_MAX = -8
"""M_ARENA_MAX of glibc's malloc.h."""
_DONT_NEED = 4
"""MADV_DONTNEED of Linux."""
HEAPS = 2
"""Python's own lock keeps more threads than that from allocating at once, or nearly so."""
REST = 3.0
"""Seconds without work after which what was freed goes back to the system."""


def share_heaps() -> None:
    """Let threads that start from now on share heaps; nothing happens with another library than glibc."""
    option = getattr(ctypes.CDLL(None), "mallopt", None)
    if option is not None:
        option(_ARENA_MAX, HEAPS)


def give_back() -> None:
    """Return freed memory to the system; takes some 10 ms."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def forget_files(folder: Path = Path(os.sep)) -> None:
    """Let go of the pages of mapped files in a folder; the system keeps what was read of them, and has it there at once."""
    maps = Path("/proc/self/maps")
    advise = getattr(ctypes.CDLL(None), "madvise", None)
    if advise is None or not maps.exists():
        return
    inside = os.path.join(folder.resolve(), "")
    for line in os.fsdecode(maps.read_bytes()).splitlines():
        place, access, _, _, _, *name = line.split(None, 5)
        # Of a shared mapping nothing is lost: what was written to it is the file's.
        if name and name[0].startswith(inside) and access.endswith("s"):
            start, end = (int(side, 16) for side in place.split("-"))
            advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _DONT_NEED)


class AtRest:
    """Gives memory back when an event loop's process has had nothing to do for a while."""

    def __init__(self) -> None:
        self._waiting: asyncio.TimerHandle | None = None
        self._frozen = False

    def worked(self) -> None:
        """Wait anew; on the loop's thread."""
        if self._waiting is not None:
            self._waiting.cancel()
        loop = asyncio.get_running_loop()
        self._waiting = loop.call_later(REST, lambda: loop.run_in_executor(None, self._rest))

    def _rest(self) -> None:
        gc.collect()
        if not self._frozen:
            # Modules, networks and tables stay: later collections need not go through them.
            gc.freeze()
            self._frozen = True
        give_back()
        forget_files()

    def stop(self) -> None:
        """Wait no more."""
        if self._waiting is not None:
            self._waiting.cancel()
