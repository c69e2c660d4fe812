"""Freed memory goes back to the system once a process rests."""

import asyncio

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


def test_a_library_without_these_calls_is_let_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freed_memory.ctypes, "CDLL", lambda name: object())
    share_heaps()
    give_back()
