"""The route of the Model Context Protocol, whose SDK is loaded at the first request: 20 MB that few servers need."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from fastapi import FastAPI
from starlette.types import Receive, Scope, Send


class McpEndpoint:
    """The route, an ASGI application."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, to what `served_mcp` opens for the first one."""
        manager = await scope["app"].state.mcp()
        await manager.handle_request(scope, receive, send)


@asynccontextmanager
async def served_mcp(app: FastAPI) -> AsyncIterator[None]:
    """Serve the protocol over HTTP for the life of an application that `running.opened` has opened."""
    asked, done = asyncio.Event(), asyncio.Event()
    ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def manager() -> Any:
        asked.set()
        return await asyncio.shield(ready)

    # In a task of its own: the manager's scope must be left in the task that entered it, and a lifespan promises none.
    async def run() -> None:
        await asked.wait()
        if done.is_set():
            return
        try:
            module = await asyncio.to_thread(import_module, "server.chat_fronts.mcp_server")
            opened = module.session_manager(lambda: app.state.running)
            async with opened.run():
                ready.set_result(opened)
                await done.wait()
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)

    app.state.mcp = manager
    task = asyncio.create_task(run())
    try:
        yield
    finally:
        done.set()
        asked.set()
        await task
