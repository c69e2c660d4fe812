"""HTTP clients of model endpoints: they follow no redirect to another host, and read no more than a reply can have.

A redirect would hand the prompt, in which passages of documents stand, to whoever it names; a reply without end would
fill the memory while its deadline waits for its end.
"""

import time
from collections.abc import AsyncIterator, Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

import httpx

from citegraph.errors import Rejected, TimedOut

MOST_BYTES = 16_000_000
"""Bytes of a whole reply: 100,000 tokens of text take half a million, vectors of a batch of texts 4 million."""
MOST_STREAMED = 64_000_000
"""Bytes of a streamed one, in which every token comes with some 300 bytes around it."""
NO_LIMIT = float("inf")
PLAIN = {"Accept-Encoding": "identity"}
"""A reply that unpacks to a thousand times its bytes is not asked for, and not taken."""


def endpoint_hooks(*, blocking: bool = False) -> dict[str, list[Any]]:
    """Return the event hooks of an `httpx` client that hold its replies to these bounds.

    They raise `Rejected`; clients that wrap it keep it as the cause.
    """
    return {"response": [_checked if blocking else _checked_async]}


def async_endpoint_client(timeout: float) -> httpx.AsyncClient:
    """Return a client for one endpoint that is asked without the OpenAI package."""
    return httpx.AsyncClient(timeout=timeout, event_hooks=endpoint_hooks(), headers=PLAIN)


def _check(response: httpx.Response) -> int:
    """Return how many bytes of a reply are read.

    Raises:
        Rejected: it leads elsewhere, or is packed or longer than any.
    """
    if response.has_redirect_location:
        asked = response.request.url
        target = asked.join(response.headers["location"])
        same = target.host == asked.host and (target.port == asked.port or target.scheme == "https")
        if not same or (asked.scheme == "https" and target.scheme != "https"):
            raise Rejected(
                f"The model endpoint {asked.host} redirects to {target.host[:100]}, which was not followed: set the "
                "address that answers, and see who changed it."
            )
    if response.headers.get("content-encoding", "identity") not in {"identity", ""}:
        raise Rejected("The model endpoint sent a packed reply, which was not asked for.")
    streamed = response.headers.get("content-type", "").startswith("text/event-stream")
    most = MOST_STREAMED if streamed else MOST_BYTES
    declared = response.headers.get("content-length", "0")
    if declared.isdigit() and int(declared) > most:
        raise Rejected(
            f"The model endpoint sent a reply of {int(declared):,} bytes; at most {most:,} are read."
        )
    return most


async def _checked_async(response: httpx.Response) -> None:
    response.stream = _kind_of(response)(response.stream, _check(response), _seconds(response))


def _checked(response: httpx.Response) -> None:
    response.stream = _kind_of(response)(response.stream, _check(response), _seconds(response))


def _kind_of(response: Any) -> Any:
    """Return the bounded stream for a response of `httpx`, or of the package of its line that the OpenAI client takes."""
    return _kind(type(response).__module__.partition(".")[0])


@lru_cache
def _kind(package: str) -> Any:
    of = import_module(package)
    return type("CappedStream", (_Capped, of.AsyncByteStream, of.SyncByteStream), {})


def _seconds(response: httpx.Response) -> float:
    """Return the seconds that the request waits for a piece: the whole reply has no more."""
    waits = response.request.extensions.get("timeout", {}).get("read")
    return float(waits) if waits else NO_LIMIT


class _Capped:
    """The bytes of a reply up to a bound, in the time that one piece of it may take."""

    def __init__(self, inner: Any, most: int, seconds: float) -> None:
        self._inner = inner
        self._left = most
        self._most = most
        self._until = time.monotonic() + seconds

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._inner:
            yield self._counted(piece)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            yield self._counted(piece)

    def _counted(self, piece: bytes) -> bytes:
        self._left -= len(piece)
        if self._left < 0:
            raise Rejected(f"The model endpoint sent a reply of more than {self._most:,} bytes.")
        if time.monotonic() > self._until:
            raise TimedOut("The model endpoint did not end its reply in time.")
        return piece

    def close(self) -> None:
        self._inner.close()

    async def aclose(self) -> None:
        await self._inner.aclose()
