"""Sessions over the sample corpus, and models that follow a script."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from citegraph.llm.chat import ChatModels
from citegraph.run.services import Services
from graph.session import Session, sqlite_saver

OpenSession = Callable[..., AbstractAsyncContextManager[Session]]


@pytest.fixture
def open_session(services: Services, tmp_path: Path) -> OpenSession:
    """Return what opens a session on this test's thread file; each entry is a fresh start."""

    @asynccontextmanager
    async def opened(models: ChatModels | None = None, **replaced: Any) -> AsyncIterator[Session]:
        corpus = replaced.get("corpus") or services.open()
        chosen = Services(settings=services.settings, ready=corpus, models=models)
        async with sqlite_saver(tmp_path / "threads.sqlite") as saver:
            yield Session(chosen, saver)

    return opened


@pytest.fixture
async def session(open_session: OpenSession) -> AsyncIterator[Session]:
    """Give a session whose steps are all answered by their twins."""
    async with open_session() as opened:
        yield opened
