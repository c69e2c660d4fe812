"""The gate: names that the server is called by, pages of other sites, keys before bodies, places for uploads."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.datastructures import Headers, State

from server.guard import bodies
from server.guard.admission import Gate, Names, name_of
from tests.server.conftest import OpenApi
from tests.server.owned import key_file
from tests.server.test_app import LOOKUP, problem_of

FOREIGN = [
    "evil.example",
    "evil.example:8000",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "192.168.0.7:8000",
    "[::ffff:192.168.0.7]",
    "localhost@evil.example",
    "evil.example#localhost",
    "[localhost",
    "",
]
OWN = ["localhost", "LOCALHOST:8000", "localhost.", "127.0.0.1", "127.0.0.1:1", "127.8.8.8", "[::1]:8000"]


@pytest.mark.parametrize("host", FOREIGN)
async def test_a_server_without_keys_refuses_names_that_are_not_its_own(
    host: str, api: httpx.AsyncClient
) -> None:
    for method, path in (
        ("GET", "/buckets"),
        ("POST", "/ask"),
        ("GET", "/"),
        ("DELETE", "/documents/nv2n517"),
    ):
        refused = await api.request(method, path, headers={"host": host})
        assert refused.status_code == 403, path
        assert "CITEGRAPH_ALLOWED_HOSTS" in problem_of(refused)[1]


@pytest.mark.parametrize("host", OWN)
async def test_a_server_without_keys_knows_its_own_names(host: str, api: httpx.AsyncClient) -> None:
    assert (await api.get("/buckets", headers={"host": host})).status_code == 200


async def test_names_that_the_operator_gave_are_known(open_api: OpenApi) -> None:
    async with open_api(allowed_hosts="Docs.example, other.example") as api:
        assert (await api.get("/buckets", headers={"host": "docs.example:8000"})).status_code == 200
        assert (await api.get("/buckets", headers={"host": "more.docs.example"})).status_code == 403
        api.app.state.listens_on = "192.168.0.7"  # type: ignore[attr-defined]
        assert (await api.get("/buckets", headers={"host": "192.168.0.7:8000"})).status_code == 200
        assert (await api.get("/buckets", headers={"host": "192.168.0.8:8000"})).status_code == 403
        api.app.state.listens_on = "0.0.0.0"  # type: ignore[attr-defined]
        assert (await api.get("/buckets", headers={"host": "192.168.0.8:8000"})).status_code == 200
        assert (await api.get("/buckets", headers={"host": "evil.example"})).status_code == 403


async def test_with_keys_any_name_will_do(open_api: OpenApi, tmp_path: Path) -> None:
    keys = key_file(tmp_path / "k", {"ana": {"buckets": "*", "labels": "*"}})
    async with open_api(api_keys=keys) as api:
        headers = {"host": "docs.example", "x-api-key": "ana-key", "sec-fetch-site": "cross-site"}
        assert (await api.post("/ask", json={"question": LOOKUP}, headers=headers)).status_code == 200


CROSS: list[dict[str, str]] = [
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site", "origin": "http://localhost"},
    {"origin": "https://evil.example"},
    {"origin": "http://localhost:3000"},
    {"origin": "null"},
    {"sec-fetch-site": "anything"},
]
SAME: list[dict[str, str]] = [
    {},
    {"sec-fetch-site": "same-origin", "origin": "http://localhost"},
    {"sec-fetch-site": "none"},
    {"origin": "http://localhost"},
]


@pytest.mark.parametrize("headers", CROSS)
async def test_a_page_of_another_site_changes_and_reads_nothing(
    headers: dict[str, str], api: httpx.AsyncClient
) -> None:
    form = {"data": {"bucket": "generic"}, "files": {"file": ("a.txt", b"text")}}
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/ask", {"json": {"question": LOOKUP}}),
        ("POST", "/documents", form),
        ("DELETE", "/documents/nv2n517", {}),
    ]
    for method, path, more in asked:
        assert problem_of(await api.request(method, path, headers=headers, **more))[0] == 403
    if "origin" in headers:
        assert (await api.get("/buckets", headers=headers)).status_code == 403
    assert (await api.get("/documents/nv2n517")).status_code == 200
    # A link from elsewhere may lead here.
    linked = {name: value for name, value in headers.items() if name != "origin"}
    assert (await api.get("/", headers=linked)).status_code == 200


@pytest.mark.parametrize("headers", SAME)
async def test_the_servers_own_page_and_programs_ask(headers: dict[str, str], api: httpx.AsyncClient) -> None:
    assert (await api.post("/ask", json={"question": LOOKUP}, headers=headers)).status_code == 200


async def test_a_site_that_the_operator_named_asks(open_api: OpenApi) -> None:
    async with open_api(allowed_origins="https://studio.example/") as api:
        headers = {"origin": "https://studio.example", "sec-fetch-site": "cross-site"}
        assert (await api.post("/ask", json={"question": LOOKUP}, headers=headers)).status_code == 200
        headers["origin"] = "https://studio.example.evil"
        assert (await api.post("/ask", json={"question": LOOKUP}, headers=headers)).status_code == 403


async def test_a_key_is_asked_for_before_the_body_is_read(open_api: OpenApi, tmp_path: Path) -> None:
    keys = key_file(tmp_path / "k", {"ana": {}})
    taken = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal taken
        for _ in range(1000):
            taken += 1
            yield b"x" * 10_000

    headers = {"content-type": "multipart/form-data; boundary=b"}
    async with open_api(api_keys=keys) as api:
        for path in ("/documents", "/ask"):
            refused = await api.post(path, content=body(), headers=headers)
            assert problem_of(refused)[0] == 401
        assert taken <= 2, "the body was read"


async def test_everything_but_the_page_and_the_signs_of_life_needs_a_key(
    open_api: OpenApi, tmp_path: Path
) -> None:
    async with open_api(api_keys=key_file(tmp_path / "k", {"ana": {}})) as api:
        for path in (
            "/metrics",
            "/docs",
            "/redoc",
            "/openapi.json",
            "/nothing",
            "/buckets",
            "/docs/oauth2-redirect",
        ):
            assert problem_of(await api.get(path))[0] == 401, path
        page = (await api.get("/")).text
        named = re.findall(r"(?:src|href)=\"(?:\./)?([^\"]+)\"", page)
        assert {Path(name).suffix for name in named} >= {".js", ".css", ".svg"}, page
        for path in ("/", *(f"/{name}" for name in named), "/healthz", "/readyz"):
            assert (await api.get(path)).status_code == 200, path
        assert (await api.get("/docs", headers={"x-api-key": "ana-key"})).status_code == 200


async def test_uploads_count_against_the_places(open_api: OpenApi, tmp_path: Path) -> None:
    form = {"data": {"bucket": "generic"}, "files": {"file": ("a.txt", b"text")}}
    async with open_api(max_runs=2) as api:
        running = api.app.state.running  # type: ignore[attr-defined]
        places = [running.take_place() for _ in range(2)]
        refused = await api.post("/documents", **form)
        assert problem_of(refused)[0] == 429
        assert refused.headers["retry-after"]
        assert problem_of(await api.post("/ask", json={"question": LOOKUP}))[0] == 429
        places[0].hold()
        places[0].leave()
        assert running.working == 2, "one still holds it"
        places[0].leave()
        bad = await api.post("/documents", data={"bucket": "poems"}, files=form["files"])
        assert bad.status_code == 404
        assert running.working == 1, "a refused upload leaves its place"


async def test_a_body_that_does_not_come_in_is_given_up(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "QUIET_SECONDS", 0.05)

    async def body() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(30)

    assert problem_of(await api.post("/ask", content=body()))[0] == 408


async def test_a_websocket_and_the_calls_of_langgraph_server_to_itself() -> None:
    reached: list[str] = []
    sent: list[Any] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["path"])

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    gate = Gate(inner, state=State())
    headers = [(b"host", b"evil.example")]
    await gate({"type": "websocket", "path": "/ws", "headers": headers}, receive, send)
    assert (reached, sent) == ([], ["websocket.close"])
    scope = {"type": "http", "path": "/x", "method": "GET", "headers": headers, "root_path": "/noauth"}
    await gate(scope, receive, send)
    assert reached == ["/x"]


def test_a_host_is_read_as_browsers_do() -> None:
    assert [name_of(host) for host in ("A.b:1", "[::1]:2", "a@b", "a:b:c", "[")] == [
        "a.b",
        "::1",
        "b",
        "a",
        "",
    ]
    assert Names(frozenset({"a"})).trust(Headers({"origin": "http://a:1"}), "a:1")
