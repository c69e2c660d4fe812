"""Bounds the body of a request while it comes in: too large is 413, before it is kept anywhere."""

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.problems import problem

JSON_BYTES = 256 * 1024
"""Bytes of a request that is no upload; a question has at most 4,000 characters."""
FORM_BYTES = 64 * 1024
"""Bytes of an upload beside the file itself."""
UPLOAD = "/documents"
TABLE_BYTES = 4 * 1024 * 1024
"""Bytes of a table that comes back as a file (`server/page_routes/seen_tables.py`)."""


class BoundedBodies:
    """ASGI middleware; `uploads_only` leaves the routes that LangGraph Server has beside ours alone."""

    def __init__(self, app: ASGIApp, *, uploads_only: bool = False) -> None:
        self.app = app
        self.uploads_only = uploads_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, at most so many bytes of it."""
        if scope["type"] != "http" or (self.uploads_only and not _is_upload(scope)):
            await self.app(scope, receive, send)
            return
        limit, taken = _limit(scope), 0
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > limit:
            await problem(*_too_large(limit))(scope, receive, send)
            return

        async def bounded() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > limit:
                raise HTTPException(*_too_large(limit))
            return message

        await self.app(scope, bounded, send)


def _is_upload(scope: Scope) -> bool:
    return bool(scope["method"] == "POST" and scope["path"].rstrip("/").endswith(UPLOAD))


def _limit(scope: Scope) -> int:
    held = getattr(scope["app"].state, "running", None) if "app" in scope else None
    if held is not None and _is_upload(scope):
        return int(held.settings.max_upload_mb) * 1024 * 1024 + FORM_BYTES
    return TABLE_BYTES if scope["path"].rstrip("/").endswith("/tables") else JSON_BYTES


def _too_large(limit: int) -> tuple[int, str]:
    return 413, f"The request is larger than {limit:,} bytes."
