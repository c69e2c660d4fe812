"""The application over the sample corpus, called in this process, and servers of its own in another."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from citegraph.run.services import Services
from citegraph.settings import load_settings
from server.app import create_app

OpenApi = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def open_api(services: Services, tmp_path: Path) -> OpenApi:
    """Return what opens a client of an application over the sample; `settings` are those that differ."""
    sample = services

    @asynccontextmanager
    async def opened(
        *, services: Services | None = None, **settings: Any
    ) -> AsyncIterator[httpx.AsyncClient]:
        own = {"home": tmp_path / "home", "qdrant_url": None, **settings}
        chosen = load_settings().model_copy(update=own)
        app = create_app(services or Services(chosen, ready=sample.open()))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
        ):
            client.app = app  # type: ignore[attr-defined]
            yield client

    return opened


@pytest.fixture
async def api(open_api: OpenApi) -> AsyncIterator[httpx.AsyncClient]:
    """Give a client of an application that asks nobody for a key."""
    async with open_api() as client:
        yield client
