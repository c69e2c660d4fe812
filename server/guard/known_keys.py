"""Inside LangGraph Server, which drops what it does not know: unknown keys of what sets up a run are refused there too."""

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any

from starlette.requests import Request
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citegraph.errors import BadInput
from citegraph.run.context import read_context
from server.guard.admission import INSIDE
from server.problems import problem

RUNS = "/threads/{thread_id}/runs"
"""The route that has all keys of a run; the server reads them of stateless runs and cron jobs too, unpublished."""
UNPUBLISHED = frozenset({"checkpoint_id", "langsmith_tracer"})
"""Keys of a run that the server reads and its client sends, but no schema names."""
Route = tuple[re.Pattern[str], frozenset[str]]


class KnownKeys:
    """ASGI middleware; 422 for a key of the body, or of its `context`, that has no effect.

    Which keys there are is read once from the OpenAPI document that the server publishes, of routes that take a `context`:
    runs, cron jobs, assistants. `config.configurable` stays open: it carries the keys of a graph that calls this one, too.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._routes: dict[str, list[Route]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer why not."""
        root = str(scope.get("root_path", ""))
        inside = root.startswith(
            INSIDE
        )  # the server itself, which asks by routes that a client's body has passed
        if scope["type"] != "http" or scope["method"] not in ("POST", "PATCH") or inside:
            await self.app(scope, receive, send)
            return
        if not self._routes and (published := await self._published(scope, root)):
            self._routes = known_keys(published)
        path = scope["path"].removeprefix(root).rstrip("/")
        known = next((keys for at, keys in self._routes.get(scope["method"], ()) if at.match(path)), None)
        if known is None:
            await self.app(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        if said := await asyncio.to_thread(refusal, body, known):
            await problem(422, said)(scope, receive, send)
            return
        await self.app(scope, _again(body, receive), send)

    async def _published(self, scope: Scope, root: str) -> Any:
        """Return the server's OpenAPI document, None where it publishes none: then nothing is known of its keys."""
        told: list[Message] = []

        async def keep(message: Message) -> None:
            told.append(message)

        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        headers = [pair for pair in scope["headers"] if pair[0] in (b"host", b"authorization", b"x-api-key")]
        path = f"{root}/openapi.json"
        asked: dict[str, Any] = {
            **scope,
            "path": path,
            "raw_path": path.encode(),
            "method": "GET",
            "query_string": b"",
            "headers": headers,
            "state": dict(scope.get("state", {})),
        }
        await self.app(asked, nothing, keep)
        if told[0]["status"] != 200:
            return None
        return json.loads(b"".join(message.get("body", b"") for message in told))


def known_keys(spec: Any) -> dict[str, list[Route]]:
    """Return, by method, the routes that take a `context` and the keys of their bodies."""
    bodies = {
        (method.upper(), path): frozenset(_keys(spec, media["schema"]))
        for path, operations in spec["paths"].items()
        for method, operation in operations.items()
        if method in ("post", "patch")
        and (media := operation.get("requestBody", {}).get("content", {}).get("application/json"))
    }
    of_runs = bodies[("POST", RUNS)] | UNPUBLISHED
    routes: dict[str, list[Route]] = {}
    for (method, path), keys in bodies.items():
        if "context" in keys:
            known = keys | of_runs if "input" in keys else keys
            routes.setdefault(method, []).append((compile_path(path)[0], known))
    return routes


def _keys(spec: Any, schema: Any) -> Iterator[str]:
    """Yield the names of the properties of a schema, of those that it refers to and of the items of a list."""
    if "$ref" in schema:
        schema = spec["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
    yield from schema.get("properties", ())
    for part in (*schema.get("allOf", ()), *([schema["items"]] if "items" in schema else ())):
        yield from _keys(spec, part)


def refusal(body: bytes, known: frozenset[str]) -> str | None:
    """Return what a body has that has no effect, None for none; what is no object is left to the server."""
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        return None
    for item in given if isinstance(given, list) else [given]:
        if not isinstance(item, dict):
            continue
        for name in item:
            if name not in known and item[name] is not None:
                return f"{name[:100]!r} is no key of this request; there are {', '.join(sorted(known))}."
        if isinstance(context := item.get("context"), dict):
            try:
                read_context(context)
            except BadInput as error:
                return f"context: {error}"
    return None


def _again(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read once more, and then what comes in."""
    left = [body]

    async def given() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return given
