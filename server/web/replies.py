"""ASGI middleware on every reply: HEAD, ETag with 304, an id of the request, and pages of other sites."""

import hashlib
import re
import uuid
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

REQUEST_ID = "X-Request-ID"
GIVEN = re.compile(r"[A-Za-z0-9._-]{1,100}")
"""An id that a proxy or client gives, and that may be written to a log."""
EXPOSED = ("ETag", REQUEST_ID, "Retry-After", "Content-Disposition")


class Conditional:
    """Answers HEAD where there is GET, and 304 where the client has the very same already."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        head = scope["method"] == "HEAD"
        known = Headers(scope=scope).get("if-none-match", "")
        held: Message | None = None
        ended = False

        async def answer(message: Message) -> None:
            nonlocal held, ended
            if ended:
                return
            if message["type"] == "http.response.start" and not _streams(message):
                held = message
                return
            if message["type"] != "http.response.body" or held is None:
                await send(message if not head else {**message, "body": b""})
                return
            first, held = held, None
            same = _marked(first, message, known)
            await send(first)
            ended = same  # an empty part that followed would be compressed, and a 304 has no body
            await send(
                {"type": "http.response.body"} if same else {**message, "body": b""} if head else message
            )

        await self.app({**scope, "method": "GET"} if head else scope, receive, answer)


def _streams(start: Message) -> bool:
    """Tell whether a reply is events, whose client waits for its head."""
    return "event-stream" in Headers(raw=start["headers"]).get("content-type", "")


def _marked(start: Message, body: Message, known: str) -> bool:
    """Give a whole reply its ETag; return whether the client has it, the start then being 304."""
    headers = MutableHeaders(raw=start["headers"])
    start["headers"] = headers.raw
    # Inside LangGraph Server an empty part may follow the whole body.
    ended = not body.get("more_body", False) or headers.get("content-length") == str(
        len(body.get("body", b""))
    )
    if start["status"] != 200 or not ended or "no-store" in headers.get("cache-control", ""):
        return False
    if "etag" not in headers:
        # Weak: what is compressed on the way is the same reply.
        headers["etag"] = f'W/"{hashlib.blake2b(body.get("body", b""), digest_size=12).hexdigest()}"'
        headers.setdefault("cache-control", "private, no-cache")
    mark = headers["etag"].removeprefix("W/")
    if not any(item.strip().removeprefix("W/") in (mark, "*") for item in known.split(",")):
        return False
    start["status"] = 304
    del headers["content-length"]
    return True


class RequestIds:
    """Gives every request an id, or takes the one that it brings, and sends it back."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID, "")
        request_id = given if GIVEN.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[REQUEST_ID] = request_id
            await send(message)

        await self.app(scope, receive, named)


class OtherSites:
    """CORS for the sites of CITEGRAPH_ALLOWED_ORIGINS; without any, no header is added."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._with_cors: tuple[str, ASGIApp] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        held: Any = getattr(scope["app"].state, "running", None) if scope["type"] == "http" else None
        listed = held.settings.allowed_origins if held is not None else ""
        if not listed:
            await self.app(scope, receive, send)
            return
        if self._with_cors is None or self._with_cors[0] != listed:
            origins = [item.strip().rstrip("/") for item in listed.split(",") if item.strip()]
            cors = CORSMiddleware(
                self.app,
                allow_origins=origins,
                allow_methods=["GET", "POST", "PATCH", "DELETE"],
                allow_headers=["Authorization", "Content-Type", "X-API-Key", REQUEST_ID, "If-None-Match"],
                expose_headers=EXPOSED,
            )
            self._with_cors = (listed, cors)
        await self._with_cors[1](scope, receive, send)
