"""The server of a home is found and asked by commands, and what it refuses is told in its words."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from citegraph.errors import BadInput, Unavailable
from citegraph.run.context import Context
from citegraph.run.events import Event
from citegraph.run.services import Services
from citegraph.settings import load_settings
from graph.served import ADDRESS, ServedSession, address_of, announced
from server.app import create_app

Serve = Callable[..., AbstractAsyncContextManager[ServedSession]]
LOOKUP = "What is the total of Halbrecht invoice RE-2024-0458?"


def test_a_server_is_found_as_long_as_it_lives(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert address_of(home) is None
    with announced(home, "0.0.0.0", 8123):
        assert address_of(home) == "http://127.0.0.1:8123"
        with announced(home, "127.0.0.1", 9):
            assert address_of(home) == "http://127.0.0.1:8123", "the first one of a home"
        assert address_of(home) == "http://127.0.0.1:8123"
    assert address_of(home) is None
    with announced(home, "::1", 8124):
        assert address_of(home) == "http://[::1]:8124"


@pytest.mark.parametrize("left", ['{"url": "http://127.0.0.1:1"}', "{}", "no JSON", "[1]"])
def test_what_a_killed_server_left_names_none(tmp_path: Path, left: str) -> None:
    (tmp_path / ADDRESS).write_text(left, "utf-8")
    assert address_of(tmp_path) is None


@pytest.fixture
def serve(services: Services, tmp_path: Path) -> Serve:
    """Return what opens a session of a server over the sample; `settings` are those that differ."""

    @asynccontextmanager
    async def opened(**settings: Any) -> AsyncIterator[ServedSession]:
        chosen = load_settings().model_copy(update={"home": tmp_path, "qdrant_url": None, **settings})
        app = create_app(Services(chosen, ready=services.open()))
        url = "http://localhost"
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=url) as client,
        ):
            yield ServedSession(client, url)

    return opened


async def test_a_question_is_asked_and_its_reply_given_over_http(serve: Serve) -> None:
    told: list[Event] = []
    async with serve() as session:
        answer = await session.ask(LOOKUP, context=Context(buckets=["invoices"]), on_event=told.append)
        assert answer.status == "answered"
        assert "5,854.80" in answer.text
        assert [told[0]["event"], told[-1]["event"]] == ["run", "answer"]
        assert any(event["event"] == "step" for event in told)
        asked = await session.ask("What is the total of the Cobaltine invoice?")
        assert asked.status == "needs_clarification"
        assert asked.thread_id
        replied = await session.reply(asked.thread_id, "1")
        assert replied.thread_id == asked.thread_id
        assert replied.status == "answered"


async def test_what_the_server_refuses_is_said_in_its_words(serve: Serve, tmp_path: Path) -> None:
    async with serve() as session:
        with pytest.raises(BadInput, match=r"There is no thread 'abab.* goes on without the server"):
            await session.reply("ab" * 16, "1")
        with pytest.raises(BadInput, match="thread_id"):
            await session.ask(LOOKUP, thread_id="elsewhere")
        with pytest.raises(BadInput, match="refuses"):
            await session.reply("../../ask", "1")
    (tmp_path / "keys.json").write_text(json.dumps({"keys": []}), "utf-8")
    async with serve(api_keys=tmp_path / "keys.json") as session:
        with pytest.raises(BadInput, match=r"API key.* with a key, or stop it"):
            await session.ask(LOOKUP)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (httpx.Response(503, json={"detail": "the store is away"}), "the store is away"),
        (httpx.Response(429, text="slow down"), "status 429"),
        (httpx.Response(200, text='event: run\ndata: {"event": "run"}\n\n'), "without an answer"),
        (httpx.Response(200, text="data: {\n"), "broke off"),
    ],
)
async def test_a_server_that_gives_no_answer_is_unavailable(sent: httpx.Response, said: str) -> None:
    async with httpx.AsyncClient(
        transport=httpx.MockTransport(lambda request: sent), base_url="http://localhost"
    ) as client:
        with pytest.raises(Unavailable, match=said):
            await ServedSession(client, "http://localhost").ask(LOOKUP)
