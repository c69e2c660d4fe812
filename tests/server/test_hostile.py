"""Hostile requests: Schemathesis over every operation of the API, and a list made by hand; no answer is a 5xx.

`make soak-api` runs the same with 10,000 generated requests (SOAK_EXAMPLES an operation).
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from starlette.testclient import TestClient

from citegraph.run.services import Services
from citegraph.settings import load_settings
from server.app import create_app
from tests.server.test_kill import server

pytestmark = [
    pytest.mark.filterwarnings("ignore:The anyio.abc.BlockingPortal alias:DeprecationWarning"),
    pytest.mark.slow,
]
EXAMPLES = int(os.environ.get("SOAK_EXAMPLES", "4"))
QUICK = {"max_rounds": 1, "max_clarifications": 0}


@pytest.fixture(scope="module")
def client(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Give a client of an application over a copy of the sample, which hostile requests may fill and empty."""
    home = tmp_path_factory.mktemp("hostile") / "home"
    shutil.copytree(sample_home, home)
    own = {"home": home, "qdrant_url": None, "rate_limit": "1000000/second", "ingest_workers": 0}
    app = create_app(Services(load_settings().model_copy(update=own)))
    with TestClient(app, "http://localhost", raise_server_exceptions=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def address(sample_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a server of its own, which generated requests reach over a socket."""
    folder = tmp_path_factory.mktemp("generated")
    shutil.copytree(sample_home, folder / "home")
    more = {"CITEGRAPH_RATE_LIMIT": "1000000/second", "CITEGRAPH_INGEST_WORKERS": "1"}
    with server(folder / "home", folder / "log", **more) as (process, url):
        yield url
        assert process.poll() is None, "the server still stands"
    said = (folder / "log").read_text("utf-8")
    assert [line for line in said.splitlines() if line.startswith("Traceback")] == []


OPERATIONS = [
    found.ok() for found in schemathesis.openapi.from_dict(create_app().openapi()).get_all_operations()
]


@pytest.mark.server
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_no_generated_request_breaks_the_server(operation: Any, address: str) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def sent(case: Any) -> None:
        response = case.call(base_url=address, timeout=60)
        assert response.status_code < 500, response.text

    sent()


DEEP = b"[" * 100_000 + b"]" * 100_000
IDS = [
    "..%2F..%2F..%2Fetc%2Fpasswd",
    "....//....//etc/passwd",
    "%00",
    "nv2n517%00.pdf",
    "a" * 600,
    "%FF%FE",
    "'; DROP TABLE documents; --",
    "%0d%0aSet-Cookie:%20a=b",
    "${jndi:ldap://127.0.0.1}",
    "-1",
    "99999999999999999999999999",
    "%F0%9F%92%A3",
]
BODIES: list[tuple[str, bytes]] = [
    ("application/json", DEEP),
    ("application/json", b'{"question": ' + b"1" * 10_000 + b"}"),
    ("application/json", b'{"question": "a", "context": {"max_rounds": 1e400}}'),
    ("application/json", b'{"question": "a", "context": {"today": "9999999-99-99"}}'),
    ("application/json", b'{"question": "\\ud800"}'),
    ("application/json", b'\xff\xfe{"question": "a"}'),
    ("application/json", b"null"),
    ("application/json", b""),
    ("application/json", b'{"question": "a", "question": ["b"]}'),
    ("application/json", b'{"question": NaN}'),
    ("text/plain", b'{"question": "a"}'),
    ("application/xml", b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'),
    ("multipart/form-data", b"--x"),
    ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n'),
    ("", b"\x00" * 100),
]
PATHS = [
    "/ask",
    f"/threads/{'0' * 32}/reply",
    f"/threads/{'0' * 32}/resume",
    "/documents",
    "/threads/%00/reply",
]


@pytest.mark.parametrize("hostile", IDS)
def test_no_hostile_id_breaks_the_server_or_leaves_the_corpus(hostile: str, client: TestClient) -> None:
    for path in (
        f"/documents/{hostile}",
        f"/documents/{hostile}/file",
        f"/documents/{hostile}/pages/1?format=png",
        f"/documents/nv2n517/pages/{hostile}",
        f"/buckets/{hostile}",
        f"/threads/{hostile}",
        f"/documents?bucket={hostile}",
        f"/documents?bucket=invoices&filter={hostile}&limit={hostile}",
        f"/export.csv?bucket=invoices&filter=vendor_name%3D{hostile}",
    ):
        response = client.get(path)
        assert response.status_code < 500, (path, response.text)
        assert "root:" not in response.text
        assert "set-cookie" not in response.headers


@pytest.mark.parametrize("path", PATHS)
def test_no_hostile_body_breaks_the_server(path: str, client: TestClient) -> None:
    for kind, body in BODIES:
        response = client.post(path, content=body, headers={"Content-Type": kind})
        assert 400 <= response.status_code < 500, (path, kind, body[:60], response.text)


def test_no_hostile_header_breaks_the_server(client: TestClient) -> None:
    for headers in (
        {"Authorization": "Bearer " + "a" * 20_000},
        {"Authorization": "\xff\xfe"},
        {"Accept": "text/event-stream, " * 1000},
        {"Content-Length": "-1"},
        {"Content-Length": "99999999999999999999"},
        {"X-API-Key": "a.b.c"},
        {"Range": "bytes=0-,0-,0-,99999999999-"},
    ):
        for method, path in (("GET", "/threads"), ("GET", "/documents/nv2n517/file"), ("POST", "/ask")):
            sent = {name: value.encode("latin-1") for name, value in headers.items()}
            response = client.request(method, path, headers=sent, content=b"{}" if method == "POST" else None)
            assert response.status_code < 500, (path, headers, response.text)


@pytest.mark.parametrize(
    "question", ["\u202e" * 50, "a" * 4000, "[doc_1] " * 400, "((((" * 900, "\n" * 10 + "x"]
)
def test_no_hostile_question_breaks_the_server(question: str, client: TestClient) -> None:
    body = json.dumps({"question": question, "context": QUICK})
    response = client.post("/ask", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 200
    assert response.json()["status"] in {"answered", "partial", "unanswerable", "needs_clarification"}
