"""Bounds the body of a request while it comes in: its size (413) and how slowly it comes (408), before it is kept."""

import asyncio
import time

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.problems import problem

JSON_BYTES = 256 * 1024
"""Bytes of a request that is no upload; a question has at most 4,000 characters."""
TABLE_BYTES = 4 * 1024 * 1024
"""Bytes of a table that is to be a file: some 10,000 rows as an answer prints them."""
FORM_BYTES = 64 * 1024
"""Bytes of an upload beside the file itself."""
QUIET_SECONDS = 30.0
"""Seconds in which a body must bring something."""
BODY_SECONDS = 900.0
"""Seconds in which a body must have come in whole."""
UPLOAD = "/documents"
TABLES = "/tables"
TOO_SLOW = (408, "The request came in too slowly; send it again.")


class BoundedBodies:
    """ASGI middleware; `uploads_only` leaves the routes that LangGraph Server has beside ours alone."""

    def __init__(self, app: ASGIApp, *, uploads_only: bool = False) -> None:
        self.app = app
        self.uploads_only = uploads_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, at most so many bytes of it."""
        if scope["type"] != "http" or (self.uploads_only and not is_upload(scope)):
            await self.app(scope, receive, send)
            return
        limit, taken, whole = _limit(scope), 0, False
        until = time.monotonic() + BODY_SECONDS
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > limit:
            await problem(*_too_large(limit))(scope, receive, send)
            return

        async def bounded() -> Message:
            nonlocal taken, whole
            if whole:  # what comes now is that the client went away
                return await receive()
            try:
                wait = max(0.0, min(QUIET_SECONDS, until - time.monotonic()))
                message = await asyncio.wait_for(receive(), wait)
            except TimeoutError:
                raise HTTPException(*TOO_SLOW) from None
            whole = not message.get("more_body", False)
            taken += len(message.get("body", b""))
            if taken > limit:
                raise HTTPException(*_too_large(limit))
            return message

        await self.app(scope, bounded, send)


def is_upload(scope: Scope) -> bool:
    """Tell whether a request brings a file."""
    return bool(
        scope["type"] == "http" and scope["method"] == "POST" and scope["path"].rstrip("/").endswith(UPLOAD)
    )


def _limit(scope: Scope) -> int:
    held = getattr(scope["app"].state, "running", None) if "app" in scope else None
    if held is not None and is_upload(scope):
        return int(held.settings.max_upload_mb) * 1024 * 1024 + FORM_BYTES
    return TABLE_BYTES if scope["path"].rstrip("/").endswith(TABLES) else JSON_BYTES


def _too_large(limit: int) -> tuple[int, str]:
    return 413, f"The request is larger than {limit:,} bytes."
