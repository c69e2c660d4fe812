"""Runs the application with uvicorn, which at a signal lets runs end at their next step before it goes."""

import asyncio
import socket
from contextlib import ExitStack
from types import FrameType
from typing import Any

import uvicorn

from citegraph.freed_memory import share_heaps
from citegraph.run.services import Services
from citegraph.settings import load_settings
from graph.served import announced
from server.app import app, create_app
from server.logs import configuration

KEPT = 75
"""Seconds that an idle connection stays open: longer than people read, and than proxies keep theirs (60 s)."""
GRACE = 30
"""Seconds that connections get to end after a signal."""


class DrainingServer(uvicorn.Server):
    """A uvicorn server that takes no new work from the signal on, and drains the runs that go on."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._announced = ExitStack()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, then say in the home where the server listens, so that commands ask it."""
        await super().startup(sockets)
        running = getattr(app.state, "running", None)
        bound = [one.getsockname() for server in getattr(self, "servers", ()) for one in server.sockets]
        if running is not None and bound and not isinstance(bound[0], str):
            self._announced.enter_context(announced(running.settings.home, self.config.host, bound[0][1]))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take the word back, then shut down as uvicorn does."""
        self._announced.close()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain, then shut down as uvicorn does."""
        running = getattr(app.state, "running", None)
        if running is not None:
            running.close()
        super().handle_exit(sig, frame)


def serve(host: str, port: int, **options: Any) -> None:
    """Serve until a signal comes."""
    share_heaps()
    app.state.listens_on = host
    log = configuration(load_settings())
    options = {"log_config": log, "access_log": False, "timeout_graceful_shutdown": GRACE, **options}
    options = {"timeout_keep_alive": KEPT, **options}
    config = uvicorn.Config(app, host=host, port=port, **options)
    DrainingServer(config).run()


def serve_stdio() -> None:
    """Serve MCP to a client at the other end of stdin and stdout, as the owner of everything, until it goes away."""
    from server.chat_fronts.mcp_server import make_mcp

    own = create_app(Services(load_settings(), trusted=True))

    async def run() -> None:
        async with own.router.lifespan_context(own):
            await make_mcp(lambda: own.state.running).run_stdio_async()

    asyncio.run(run())
