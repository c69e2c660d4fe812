"""Keeps results by their exact key, never by likeness: bounded, for a while, and safe between threads."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import asdict
from typing import Generic, TypeVar

from cachetools import TTLCache

from citegraph.corpus.filters.qdrant_filter import FilterJSON
from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.corpus.schema.document import Hit
from citegraph.errors import CitegraphError

V = TypeVar("V")

SECONDS = 3600.0
"""A kept result is forgotten after an hour, though nothing but a write makes it wrong."""
CHARACTERS = 32_000_000
"""Text that all kept searches may hold together."""
COUNTS = 50_000
"""Counts of words that are kept: the words of some thousand questions."""


class ExactCache(Generic[V]):
    """Values by key within a total size; what does not fit is not kept.

    Args:
        size: sum of what `weigh` returns for the values kept; entries without it. 0 keeps nothing.
    """

    def __init__(self, size: int, *, weigh: Callable[[V], int] | None = None) -> None:
        self._kept: TTLCache[Hashable, V] = TTLCache(size, SECONDS, getsizeof=weigh)
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> V | None:
        """Return the value of a key, None when there is none."""
        with self._lock:
            return self._kept.get(key)

    def put(self, key: Hashable, value: V) -> None:
        """Keep a value, dropping the least recently used ones when there is no room."""
        with self._lock:
            weight = self._kept.getsizeof(value)
            if weight <= self._kept.maxsize:
                self._kept[key] = value


class SearchCache:
    """Hits of one bucket's searches by the exact request, the principal and the version of the bucket's index.

    A write of the index changes its version, so that nothing older is found afterwards, in any process.

    Args:
        version_of: returns the version of a bucket's index, None when nothing of it is kept; blocking, may raise
            CitegraphError.
    """

    def __init__(self, version_of: Callable[[str], int | None]) -> None:
        self._version_of = version_of
        self._kept: ExactCache[tuple[Hit, ...]] = ExactCache(CHARACTERS, weigh=_characters)

    async def key(self, request: SearchRequest, principal: str = "") -> Hashable | None:
        """Return the key of a request as the index is now; None when no version tells."""
        try:
            version = await asyncio.to_thread(self._version_of, request.bucket)
        except CitegraphError:
            return None
        if version is None:
            return None
        return version, principal, json.dumps(asdict(request), sort_keys=True, default=str)

    def get(self, key: Hashable | None) -> list[Hit] | None:
        """Return the kept hits of a key, None when there are none."""
        kept = None if key is None else self._kept.get(key)
        return None if kept is None else list(kept)

    def put(self, key: Hashable | None, hits: Sequence[Hit]) -> None:
        """Keep the hits that were found after `key` was made."""
        if key is not None:
            self._kept.put(key, tuple(hits))


Counted = Callable[[str, Sequence[FilterJSON | None]], Awaitable[list[int]]]
"""`Index.counts`."""


class CountCache:
    """How many chunks match a filter, by the exact filter and the version of the bucket's index.

    A run counts the words of its question in several steps, and questions share words. A principal's access is
    part of the filter.

    Args:
        version_of: as for `SearchCache`.
    """

    def __init__(self, version_of: Callable[[str], int | None]) -> None:
        self._version_of = version_of
        self._kept: ExactCache[int] = ExactCache(COUNTS)

    async def of(self, bucket: str, filters: Sequence[FilterJSON | None], counted: Counted) -> list[int]:
        """Return the counts, asking `counted` for those alone that are not kept."""
        try:
            version = await asyncio.to_thread(self._version_of, bucket)
        except CitegraphError:
            version = None
        if version is None:
            return await counted(bucket, filters)
        keys = [(bucket, version, json.dumps(one, sort_keys=True)) for one in filters]
        found = {key: count for key in keys if (count := self._kept.get(key)) is not None}
        missing = {key: one for key, one in zip(keys, filters, strict=True) if key not in found}
        if missing:
            fresh = dict(zip(missing, await counted(bucket, list(missing.values())), strict=True))
            for key, count in fresh.items():
                self._kept.put(key, count)
            found |= fresh
        return [found[key] for key in keys]


def _characters(hits: Sequence[Hit]) -> int:
    return sum(len(hit.chunk.text) for hit in hits) + 1
