"""What the C library keeps of memory that was freed, which with glibc is a heap for each of many threads."""

import asyncio
import ctypes

_ARENA_MAX = -8
"""M_ARENA_MAX of glibc's malloc.h."""
HEAPS = 2
"""Python's own lock keeps more threads than that from allocating at once, or nearly so."""
REST = 1.0
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


class AtRest:
    """Gives freed memory back when an event loop's process has had nothing to do for a while."""

    def __init__(self) -> None:
        self._waiting: asyncio.TimerHandle | None = None

    def worked(self) -> None:
        """Wait anew; on the loop's thread."""
        if self._waiting is not None:
            self._waiting.cancel()
        loop = asyncio.get_running_loop()
        self._waiting = loop.call_later(REST, lambda: loop.run_in_executor(None, give_back))

    def stop(self) -> None:
        """Wait no more."""
        if self._waiting is not None:
            self._waiting.cancel()
