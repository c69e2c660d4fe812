"""The server that has a home open: it says where it listens, and a command asks it, since the index has one owner."""

import json
import os
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from citegraph.corpus.records.database import claim_file
from citegraph.errors import BadInput, Unavailable
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.events import Event

ADDRESS, HELD = "served.json", "served.lock"
"""Files of a home: where its server listens, and the lock that it holds as long as it lives."""
BESIDE = 30.0
"""Seconds beside those of the run itself: its last step ends in its own time, and the connection is on this machine."""


@contextmanager
def announced(home: Path, host: str, port: int) -> Iterator[None]:
    """Say in `home` that a server listens there, until it ends; a second one of the same home is not announced."""
    home.mkdir(parents=True, exist_ok=True)
    claim = claim_file(home / HELD)
    if claim is None:
        yield
        return
    try:
        name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104  # nosec B104
        (home / ADDRESS).write_text(json.dumps({"url": f"http://{name}:{port}"}), "utf-8")
        yield
    finally:
        (home / ADDRESS).unlink(missing_ok=True)
        os.close(claim)


def address_of(home: Path) -> str | None:
    """Return where the server of a home listens, None while there is none; what a killed one left says nothing."""
    try:
        url = str(json.loads((home / ADDRESS).read_text("utf-8"))["url"])
        claim = claim_file(home / HELD)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if claim is None:
        return url
    os.close(claim)
    return None


class ServedSession:
    """`Session.ask` and `Session.reply` of the server at `url`, told over its HTTP API as they happen."""

    def __init__(self, client: httpx.AsyncClient, url: str) -> None:
        self._client = client
        self._url = url

    async def ask(
        self,
        question: str,
        *,
        thread_id: str | None = None,
        context: Context | None = None,
        new: bool = False,
        on_event: Callable[[Event], None] | None = None,
    ) -> Answer:
        """See `Session.ask`.

        Raises:
            BadInput: the server refuses the question; the message says why.
            Unavailable: it does not answer.
        """
        asked = {"question": question, "new": new} | ({"thread_id": thread_id} if thread_id else {})
        return await self._told("/ask", asked, context or Context(), on_event)

    async def reply(
        self,
        thread_id: str,
        reply: str,
        *,
        context: Context | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> Answer:
        """See `Session.reply`; raises as `ask` does."""
        return await self._told(
            f"/threads/{quote(thread_id, safe='')}/reply", {"reply": reply}, context or Context(), on_event
        )

    async def _told(
        self, path: str, body: dict[str, Any], context: Context, on_event: Callable[[Event], None] | None
    ) -> Answer:
        body["context"] = context.model_dump(mode="json", exclude_defaults=True)
        headers = {"Accept": "text/event-stream"}
        limit = context.max_seconds + BESIDE
        try:
            async with self._client.stream(
                "POST", path, json=body, headers=headers, timeout=limit
            ) as response:
                if response.status_code != httpx.codes.OK:
                    raise self._refusal(response.status_code, await response.aread())
                async for line in response.aiter_lines():
                    if not line.startswith("data:"):
                        continue
                    event: Event = json.loads(line.removeprefix("data:"))
                    if on_event is not None:
                        on_event(event)
                    if event["event"] == "answer":
                        return Answer.model_validate(event["answer"])
        except (httpx.HTTPError, ValueError) as error:
            raise Unavailable(f"The server of this home at {self._url} broke off: {error}.") from error
        raise Unavailable(f"The server of this home at {self._url} ended without an answer.")

    def _refusal(self, status: int, body: bytes) -> Exception:
        try:
            said = str(json.loads(body)["detail"])
        except (ValueError, KeyError, TypeError):
            said = f"status {status}"
        where = f"The server at {self._url}, which has this home open, refuses"
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            return BadInput(f"{where}: {said} Ask on its page or over its API with a key, or stop it.")
        if status == httpx.codes.NOT_FOUND:
            return BadInput(
                f"{where}: {said} A thread that a command began by itself goes on without the server."
            )
        if status < httpx.codes.INTERNAL_SERVER_ERROR and status != httpx.codes.TOO_MANY_REQUESTS:
            return BadInput(f"{where}: {said}")
        return Unavailable(f"{where}: {said}")


@asynccontextmanager
async def open_served(url: str) -> AsyncGenerator[ServedSession, None]:
    """Open a session of the server at `url`, past every proxy."""
    async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
        yield ServedSession(client, url)
