"""Runs the application with uvicorn, which at a signal lets runs end at their next step before it goes."""

import asyncio
from types import FrameType
from typing import Any

import uvicorn

from citegraph.run.services import Services
from citegraph.settings import load_settings
from server.app import app, create_app
from server.chat_fronts.mcp_server import make_mcp
from server.logs import configuration

KEPT = 75
"""Seconds that an idle connection stays open: longer than people read, and than proxies keep theirs (60 s)."""
GRACE = 30
"""Seconds that connections get to end after a signal."""


class DrainingServer(uvicorn.Server):
    """A uvicorn server that takes no new work from the signal on, and drains the runs that go on."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain, then shut down as uvicorn does."""
        running = getattr(app.state, "running", None)
        if running is not None:
            running.close()
        super().handle_exit(sig, frame)


def serve(host: str, port: int, **options: Any) -> None:
    """Serve until a signal comes."""
    app.state.listens_on = host
    log = configuration(load_settings())
    options = {"log_config": log, "access_log": False, "timeout_graceful_shutdown": GRACE, **options}
    options = {"timeout_keep_alive": KEPT, **options}
    config = uvicorn.Config(app, host=host, port=port, **options)
    DrainingServer(config).run()


def serve_stdio() -> None:
    """Serve MCP to a client at the other end of stdin and stdout, as the owner of everything, until it goes away."""
    own = create_app(Services(load_settings(), trusted=True))

    async def run() -> None:
        async with own.router.lifespan_context(own):
            await make_mcp(lambda: own.state.running).run_stdio_async()

    asyncio.run(run())
