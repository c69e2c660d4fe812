"""LangGraph's node cache: a question decomposed once is not sent to the model again, for an hour, by exact key."""

import asyncio
import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.cache.base import BaseCache, FullKey, Namespace

from citegraph.corpus.index.views import ExactCache
from citegraph.errors import Unavailable
from citegraph.run.context import Context
from citegraph.run.model_calls import has_model
from citegraph.run.services import Services
from citegraph.run.state import State

BYTES = 8_000_000
"""Serialised updates that are kept in all."""
READ = ("asked", "question", "edit", "turns")
"""Keys of the state, beside the gate's own, that `decompose` reads."""


class NodeCache(BaseCache[Any]):
    """Updates of nodes in this process, within a total size, the least recently used dropped first."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: ExactCache[tuple[str, bytes]] = ExactCache(BYTES, weigh=lambda kept: len(kept[1]))

    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, Any]:
        """See `BaseCache.get`."""
        found = {key: kept for key in keys if (kept := self._kept.get(key)) is not None}
        return {key: self.serde.loads_typed(kept) for key, kept in found.items()}

    def set(self, pairs: Mapping[FullKey, tuple[Any, int | None]]) -> None:
        """See `BaseCache.set`; every entry lives as long as the cache's own hour."""
        for key, (value, _) in pairs.items():
            self._kept.put(key, self.serde.dumps_typed(value))

    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Forget everything, whatever namespaces are named: an entry is only a call saved."""
        self._kept = ExactCache(BYTES, weigh=lambda kept: len(kept[1]))

    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, Any]:
        """See `get`."""
        return self.get(keys)

    async def aset(self, pairs: Mapping[FullKey, tuple[Any, int | None]]) -> None:
        """See `set`."""
        self.set(pairs)

    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """See `clear`."""
        self.clear(namespaces)


def node_cache(services: Services) -> NodeCache | None:
    """Return the cache to compile the graph with, None where CITEGRAPH_CACHE switches it off."""
    return NodeCache() if services.settings.cache else None


def cache_key(state: State) -> str:
    """Return the key of the update of a node that reads `READ` and what `run_key` covers, and decides nothing else.

    It is one of its own where the gate gave none, so that it is never found.
    """
    run = state.get("gate", {}).get("key")
    if not run:
        return uuid.uuid4().hex
    return digest([run, *(state.get(name) for name in READ)])


async def run_key(services: Services, context: Context) -> str:
    """Return what a planning step depends on beside the state: settings of the run, its date, principal and values.

    Empty when no model decomposes: rules are faster than a key, and what a part of the user's own says is not kept.
    """
    if "decomposer" in services.parts:
        return ""
    if not services.settings.cache or not has_model(services, "decompose", context):
        return ""
    corpus = await services.corpus()
    principal = services.principal()
    seen = [
        principal.name,
        sorted(principal.buckets) if principal.buckets is not None else None,
        sorted(principal.labels) if principal.labels is not None else None,
    ]
    try:
        versions = await asyncio.to_thread(corpus.annotations.all_versions)
    except Unavailable:  # a plan over values that nobody can look at is not worth keeping
        return ""
    return digest([context.model_dump(mode="json"), context.now.isoformat(), seen, versions])


def digest(value: Any) -> str:
    """Return a value's SHA-256, hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
