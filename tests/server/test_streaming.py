"""Events over HTTP: their order while a model writes, and clients that go away in the middle."""

import asyncio
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import pytest

from citegraph.run.events import Event
from citegraph.run.services import Services
from server.listening import KEPT
from server.running import RunningAlone
from tests.citegraph.llm.endpoint import Endpoint, Http, Sse, pieces
from tests.server.conftest import OpenApi

STREAMED = {"Accept": "text/event-stream"}
LOOKUP = "What is the maximum collector-emitter voltage VCEO of the NV2N517?"


class Client:
    """One client on the wire, as the application sees it: what it was sent, and when it goes away."""

    def __init__(self, app: Any, path: str, body: Any, *, accept: str = "text/event-stream") -> None:
        self.app = app
        self.scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [
                (b"host", b"localhost"),
                (b"accept", accept.encode()),
                (b"content-type", b"application/json"),
            ],
            "http_version": "1.1",
            "scheme": "http",
            "server": ("api", 80),
            "client": ("127.0.0.1", 1),
            "root_path": "",
            "state": {},
        }
        self.body = json.dumps(body).encode()
        self.gone = asyncio.Event()
        self.sent: list[dict[str, Any]] = []
        self.leaves_at: Callable[[list[Event]], bool] = lambda events: False
        self._asked = False

    async def talk(self) -> None:
        """Send the request and take what comes until the application has ended."""
        await asyncio.wait_for(self.app(self.scope, self._receive, self._send), 60)

    def events(self) -> list[Event]:
        text = b"".join(message.get("body", b"") for message in self.sent).decode()
        lines = [line for line in text.splitlines() if line.startswith("data:")]
        return [json.loads(line.removeprefix("data:")) for line in lines]

    async def _receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": self.body, "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)
        if self.leaves_at(self.events()):
            self.gone.set()


def app_of(api: httpx.AsyncClient) -> Any:
    return api.app  # type: ignore[attr-defined]


def running_of(api: httpx.AsyncClient) -> RunningAlone:
    held: RunningAlone = app_of(api).state.running
    return held


@pytest.mark.parametrize("last", ["run", "route", "tool", "token"])
async def test_a_client_that_goes_away_ends_its_run_and_leaves_nothing(last: str, open_api: OpenApi) -> None:
    async with open_api(max_runs=1) as api:
        # The first stream of a process starts what sse_starlette keeps for all of them.
        assert (await api.post("/ask", json={"question": LOOKUP}, headers=STREAMED)).status_code == 200
        before = asyncio.all_tasks()
        client = Client(app_of(api), "/ask", {"question": LOOKUP})
        client.leaves_at = lambda events: (
            last in (events[-1]["event"], events[-1].get("step")) if events else False
        )
        await client.talk()
        assert [event["event"] for event in client.events()][-1] != "answer"
        assert running_of(api).session.running == set()
        # Cancelled steps need a turn of the loop, a thread's work its time.
        left = asyncio.all_tasks() - before
        assert not left or not (await asyncio.wait(left, timeout=30))[1]
        # Its place is free again, and its thread is the caller's to go on with.
        thread = client.events()[0]["thread_id"]  # type: ignore[typeddict-item]
        again = await api.post("/ask", json={"question": LOOKUP, "thread_id": thread, "new": True})
        assert (again.status_code, again.json()["status"]) == (200, "answered")


async def test_a_client_that_wants_json_and_goes_away_ends_its_run(open_api: OpenApi) -> None:
    async with open_api() as api:
        session = running_of(api).session
        client = Client(app_of(api), "/ask", {"question": LOOKUP}, accept="application/json")
        talking = asyncio.create_task(client.talk())
        async with asyncio.timeout(30):
            while not session.running:  # noqa: ASYNC110 - nothing tells of a beginning run
                await asyncio.sleep(0)
        client.gone.set()
        await talking
        assert session.running == set()
        assert client.sent[0]["status"] == 400


async def test_no_more_runs_are_let_in_than_places_and_none_is_refused_before(open_api: OpenApi) -> None:
    async with open_api(max_runs=3) as api:
        asked = [api.post("/ask", json={"question": LOOKUP}) for _ in range(3)]
        assert [response.status_code for response in await asyncio.gather(*asked)] == [200] * 3
        asked = [api.post("/ask", json={"question": LOOKUP}) for _ in range(5)]
        codes = sorted(response.status_code for response in await asyncio.gather(*asked))
        assert codes == [200, 200, 200, 429, 429]
        assert running_of(api).session.running == set()


def test_idle_connections_outlive_a_proxy_s() -> None:
    assert KEPT > 60


class Watched(Endpoint):
    """A model that writes its second word only when the client has been shown the first one."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = threading.Event()
        self.waited_in_vain = False
        self._words = 0

    def reply(self, path: str, body: dict[str, Any]) -> Http | Sse:
        return Sse(pieces("The ", "NV2N517 ", "is a transistor [nv2n517]."))

    def _chunk(self, handler: BaseHTTPRequestHandler, text: str) -> None:  # type: ignore[override]
        self._words += 1
        if self._words == 2:
            self.waited_in_vain = not self.shown.wait(20)
        super()._chunk(handler, text)


async def test_a_word_of_the_model_is_shown_before_it_writes_the_next(
    open_api: OpenApi, services: Services, tmp_path: Path
) -> None:
    endpoint = Watched()
    try:
        own = services.settings.model_copy(update={"home": tmp_path / "home"})
        asked = Services(own, ready=services.open(), models=endpoint.models(home=tmp_path))
        async with open_api(services=asked) as api:
            asked = {"question": LOOKUP, "context": {"mode": "single"}}
            client = Client(app_of(api), "/ask", asked)

            def first_word(events: list[Event]) -> bool:
                if any(event["event"] == "token" for event in events):
                    endpoint.shown.set()
                return False

            client.leaves_at = first_word
            await client.talk()
    finally:
        endpoint.close()
    assert not endpoint.waited_in_vain
    assert len(endpoint.requests) == 1, "before its first word come the steps and no other call of a model"
    names = [event["event"] for event in client.events()]
    tokens = [event["text"] for event in client.events() if event["event"] == "token"]
    assert tokens[0].strip() == "The"
    assert (names[0], names[1], names[-1]) == ("run", "step", "answer")
