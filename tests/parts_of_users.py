"""Parts as users write them, good and bad; tests name them by their dotted paths."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

HERE = "tests.parts_of_users"
RELEASED = 3.0
"""Seconds after which a part that hangs lets go of its thread."""


def raises(**offered: Any) -> Any:
    """Raise what no message may show."""
    raise KeyError("secret-7c1f")


def quits(**offered: Any) -> Any:
    """End the process, as a script would."""
    raise SystemExit(3)


async def quits_async(**offered: Any) -> Any:
    """End the process from a coroutine."""
    raise SystemExit(3)


def hangs(**offered: Any) -> Any:
    """Return far too late."""
    time.sleep(RELEASED)


async def hangs_async(**offered: Any) -> Any:
    """Return far too late, whoever cancels it."""
    try:
        await asyncio.sleep(RELEASED)
    except asyncio.CancelledError:
        await asyncio.sleep(0.2)


def shapeless(**offered: Any) -> Any:
    """Return what is no plain data."""
    return object()


def too_much(**offered: Any) -> Any:
    """Return megabytes."""
    return "x" * 2_000_000


def unfit(**offered: Any) -> Any:
    """Return plain data of a shape that no kind has."""
    return {"answer": 42}


def infinite(**offered: Any) -> Any:
    """Return a number that is none."""
    return [float("nan")] * 50


def surrogate(**offered: Any) -> Any:
    """Return text that cannot be written to a file."""
    return "\ud800"


def yields(question: str) -> Iterator[str]:
    """Yield where a result is wanted."""
    yield "datasheets"


def echo(**offered: Any) -> Any:
    """Return the names of the arguments."""
    return sorted(offered)


def late_result(question: str) -> Any:
    """Return something to await, from a plain function."""

    async def later() -> list[str]:
        await asyncio.sleep(0)
        return ["datasheets"]

    return later()


def positional(question: str, /) -> Any:
    """Take what is passed by name by place only."""
    return [question]


def unknown(question: str, bucket_list: Any) -> Any:
    """Ask for what is not offered."""
    return [question]


class Router:
    """A class whose objects have the method of their kind."""

    def route(self, buckets: dict[str, str]) -> list[str]:
        """Return the first bucket."""
        return [next(iter(buckets))]


class Called:
    """A class whose objects are called, and which wants the settings."""

    def __init__(self, settings: Any) -> None:
        self.seconds = settings.model_timeout

    async def __call__(self, question: str) -> list[str]:
        """Return one bucket whose name says the time."""
        return [f"{self.seconds:g}"]


class Demanding:
    """A class that cannot be built without more."""

    def __init__(self, url: str) -> None:
        self.url = url

    def route(self, question: str) -> list[str]:
        """Return one bucket."""
        return [self.url]


class Mute:
    """A class without a method of any kind."""


NUMBER = 7
