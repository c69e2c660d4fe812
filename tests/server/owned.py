"""A server with keys over a small corpus of its own, for tests of what belongs to whom."""

import contextlib
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from citegraph.run.services import Services
from citegraph.settings import Settings, load_settings
from server.app import create_app

ADDRESS = "http://127.0.0.1"


def key_file(home: Path, holders: Mapping[str, Mapping[str, Any]]) -> Path:
    """Write a key file in which everyone's key is their name with "-key" behind it."""
    home.mkdir(parents=True, exist_ok=True)
    entries = [
        {"name": name, "sha256": hashlib.sha256(f"{name}-key".encode()).hexdigest(), **may}
        for name, may in holders.items()
    ]
    (home / "keys.json").write_text(json.dumps({"keys": entries}), "utf-8")
    return home / "keys.json"


def own_settings(home: Path, **more: Any) -> Settings:
    """Return settings of a home of its own that read files in this process."""
    own = {"home": home, "qdrant_url": None, "database_url": None, "ingest_workers": 0, "engine": "inprocess"}
    return load_settings().model_copy(update={**own, **more})


class Api:
    """A client in which everyone is named by their key."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def call(self, who: str, method: str, path: str, **more: Any) -> httpx.Response:
        """Send a request with somebody's key."""
        return await self.client.request(method, path, headers={"x-api-key": f"{who}-key"}, **more)

    async def upload(
        self, who: str, content: bytes | str, bucket: str, labels: Any = (), name: str = "upload.txt"
    ) -> httpx.Response:
        """Bring a file in."""
        body = content.encode() if isinstance(content, str) else content
        form = {"bucket": bucket, "labels": list(labels)}
        return await self.call(who, "POST", "/documents", data=form, files={"file": (name, body)})

    async def lines(
        self, who: str, rows: Any, bucket: str, labels: Any = (), name: str = "rows.jsonl"
    ) -> httpx.Response:
        """Bring JSON lines in, whose documents name their own ids."""
        text = "\n".join(json.dumps(row) for row in rows)
        return await self.upload(who, text, bucket, labels, name)


@asynccontextmanager
async def owned_api(
    home: Path, holders: Mapping[str, Mapping[str, Any]], **settings: Any
) -> AsyncIterator[Api]:
    """Open a server over an empty corpus for holders of keys."""
    chosen = own_settings(home, api_keys=key_file(home, holders), **settings)
    services = Services(chosen)
    app = create_app(services)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(services.close)
        await stack.enter_async_context(app.router.lifespan_context(app))
        client = httpx.AsyncClient(transport=transport, base_url=ADDRESS, timeout=60)
        yield Api(await stack.enter_async_context(client))
