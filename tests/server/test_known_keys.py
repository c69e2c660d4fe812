"""Unknown keys inside LangGraph Server where it publishes no schema of its routes."""

from typing import Any

import httpx

from server.guard.known_keys import KnownKeys


async def test_a_server_that_publishes_no_schema_gets_every_request() -> None:
    async def inner(scope: Any, receive: Any, send: Any) -> None:
        body = (await receive())["body"] if scope["method"] == "POST" else b""
        await send({"type": "http.response.start", "status": 200 if body else 404, "headers": []})
        await send({"type": "http.response.body", "body": body})

    transport = httpx.ASGITransport(KnownKeys(inner))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        reply = await client.post("/runs/wait", json={"odd": 1})
    assert (reply.status_code, reply.json()) == (200, {"odd": 1})
