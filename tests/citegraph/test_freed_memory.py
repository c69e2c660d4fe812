"""Freed memory goes back to the system once a process rests."""

import asyncio
import gc
import mmap
import sys
import weakref
from pathlib import Path

import pytest

from citegraph import freed_memory
from citegraph.freed_memory import AtRest, give_back, share_heaps


async def test_what_was_freed_goes_back_once_after_the_last_work(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, given, rested = asyncio.get_running_loop(), [], asyncio.Event()

    def back() -> None:
        given.append(1)
        loop.call_soon_threadsafe(rested.set)

    monkeypatch.setattr(freed_memory, "REST", 0.05)
    monkeypatch.setattr(freed_memory, "give_back", back)
    rest = AtRest()
    for _ in range(3):
        rest.worked()
    await rested.wait()
    rest.worked()
    rest.stop()
    await asyncio.sleep(0.2)
    assert given == [1]


class Circle:
    def __init__(self) -> None:
        self.own = self


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which pages of a file are held")
def test_rest_frees_circles_and_the_pages_of_mapped_files(tmp_path: Path) -> None:
    def held() -> int:
        smaps = Path("/proc/self/smaps").read_text().split(str(tmp_path))
        return int(smaps[1].split("Rss:")[1].split()[0]) if len(smaps) > 1 else 0

    file = tmp_path / "rows"
    file.write_bytes(b"row " * 250_000)
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert mapped[:].count(b"row") == 250_000
        circle = weakref.ref(Circle())
        assert held() > 900
        assert circle() is not None
        try:
            AtRest()._rest()
        finally:
            gc.unfreeze()
        assert held() < 100
        assert circle() is None
        assert mapped[:].count(b"row") == 250_000


def test_a_library_without_these_calls_is_let_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freed_memory.ctypes, "CDLL", lambda name: object())
    share_heaps()
    give_back()
