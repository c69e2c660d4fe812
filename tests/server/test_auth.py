"""Keys and tokens: who is let in, what they see and may do, and that nobody reaches another's thread."""

import json
import re
import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from pydantic import SecretStr

from citegraph.corpus.records.access import OWNER, Principal
from citegraph.errors import BadInput
from citegraph.settings import Settings
from cli.serve import Key, make_key
from server.auth import SKEW, Credentials, Unauthenticated
from tests.server.conftest import OpenApi
from tests.server.test_app import AMBIGUOUS, LOOKUP, problem_of

SECRET = "s" * 32


def new_key(file: Path, capsys: pytest.CaptureFixture[str], name: str, **more: Any) -> str:
    assert make_key(Key(name, file, **more)) == 0
    return capsys.readouterr().out.strip()


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def token(
    key: Any = SECRET, algorithm: str = "HS256", headers: dict[str, Any] | None = None, **claims: Any
) -> str:
    given = {"sub": "ana", "exp": time.time() + 60, "buckets": ["invoices"], "labels": "*"} | claims
    return jwt.encode({k: v for k, v in given.items() if v is not None}, key, algorithm, headers)


def test_without_keys_everyone_is_the_owner() -> None:
    assert Credentials(Settings()).principal({}) == OWNER


def test_a_key_is_hashed_and_found_and_can_be_taken_back(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "keys.json"
    ana = new_key(file, capsys, "ana", buckets=["invoices"], labels=["*"], write=True)
    bo = new_key(file, capsys, "bo")
    assert ana not in file.read_text("utf-8")
    known = Credentials(Settings(api_keys=file))
    assert known.principal(bearer(ana)) == Principal("ana", frozenset({"invoices"}), None, True)
    assert known.principal({"x-api-key": bo}) == Principal("bo", frozenset(), frozenset(), False)
    for wrong in ({}, bearer(""), bearer(ana + "x"), {"authorization": f"Basic {ana}"}):
        with pytest.raises(Unauthenticated):
            known.principal(wrong)
    held = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({"keys": held["keys"][1:]}), "utf-8")
    with pytest.raises(Unauthenticated):
        known.principal(bearer(ana))
    file.write_text("[]", "utf-8")
    with pytest.raises(BadInput, match="CITEGRAPH_API_KEYS"):
        known.principal(bearer(bo))


def test_a_signed_token_names_a_principal() -> None:
    known = Credentials(Settings(jwt_secret=SecretStr(SECRET), jwt_audience="citegraph"))
    good = token(aud="citegraph")
    assert known.principal(bearer(good)) == Principal("ana", frozenset({"invoices"}), None)
    nothing = token(aud="citegraph", buckets=None, labels=None)
    assert known.principal(bearer(nothing)) == Principal("ana", frozenset(), frozenset())
    bad = [
        token(),
        token(aud="other"),
        token(aud="citegraph", exp=time.time() - 2 * SKEW),
        token(aud="citegraph", exp=None),
        token(aud="citegraph", sub=None),
        token(aud="citegraph", buckets=7),
        token("t" * 32, aud="citegraph"),
        token(None, "none", aud="citegraph"),
        good[:-3] + "abc",
        "a.b.c",
    ]
    for wrong in bad:
        with pytest.raises(Unauthenticated):
            known.principal(bearer(wrong))
    with pytest.raises(BadInput, match="shorter"):
        Credentials(Settings(jwt_secret=SecretStr("short"))).principal(bearer(token()))


def test_a_name_stands_for_what_its_key_may_now(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "keys.json"
    new_key(file, capsys, "ana", buckets=["invoices"], labels=["*"], write=True)
    known = Credentials(Settings(api_keys=file, jwt_secret=SecretStr(SECRET)))
    assert known.named("ana") == Principal("ana", frozenset({"invoices"}), None, True)
    assert known.named("bo") is None
    new_key(file, capsys, "ana", buckets=["invoices"], labels=["*"], write=True)
    assert known.named("ana") is not None, "another key with the same rights"
    new_key(file, capsys, "ana", buckets=["*"])
    assert known.named("ana") is None, "whose rights they are is not known"
    file.write_text('{"keys": []}', "utf-8")
    assert known.named("ana") is None


def test_a_token_of_a_public_key_is_checked_against_the_jwks_file(tmp_path: Path) -> None:
    private, other = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(private.public_key())) | {"kid": "one"}
    file = tmp_path / "jwks.json"
    file.write_text(json.dumps({"keys": [public]}), "utf-8")
    known = Credentials(Settings(jwt_keys=file))
    assert known.principal(bearer(token(private, "RS256", {"kid": "one"}))).name == "ana"
    # The last takes the public key for the secret of an HMAC, an old trick.
    for wrong in (
        token(other, "RS256", {"kid": "one"}),
        token(private, "RS256", {"kid": "two"}),
        token(SECRET, "HS256", {"kid": "one"}),
    ):
        with pytest.raises(Unauthenticated):
            known.principal(bearer(wrong))


ROUTES = [
    ("POST", "/ask"),
    ("POST", "/threads/{thread}/reply"),
    ("POST", "/threads/{thread}/resume"),
    ("GET", "/threads"),
    ("GET", "/threads/{thread}"),
    ("DELETE", "/threads/{thread}"),
    ("GET", "/buckets"),
    ("GET", "/buckets/invoices"),
    ("GET", "/documents?bucket=invoices"),
    ("GET", "/documents/nv2n517"),
    ("GET", "/documents/nv2n517/pages/1"),
    ("GET", "/documents/nv2n517/file"),
    ("GET", "/documents/nv2n517/text"),
    ("POST", "/documents"),
    ("DELETE", "/documents/nv2n517"),
    ("GET", "/export.csv?bucket=invoices"),
    ("GET", "/metrics"),
]


def sent(method: str, path: str) -> dict[str, Any]:
    """Return a body that fits a route."""
    if path.endswith("/reply"):
        return {"json": {"reply": "CBC-10904"}}
    if path == "/documents" and method == "POST":
        return {"data": {"bucket": "generic"}, "files": {"file": ("a.txt", b"text")}}
    return {"json": {"question": LOOKUP} if path == "/ask" else {}} if method == "POST" else {}


async def test_every_route_asks_for_a_key(open_api: OpenApi, tmp_path: Path, capsys: Any) -> None:
    new_key(tmp_path / "keys.json", capsys, "ana")
    async with open_api(api_keys=tmp_path / "keys.json") as api:
        declared: dict[str, Any] = api.app.openapi()["paths"]  # type: ignore[attr-defined]
        listed = [(method.upper(), path) for path, methods in declared.items() for method in methods]
        assert len(listed) > len(ROUTES)
        for method, path in [*ROUTES, *listed]:
            if path in ("/healthz", "/readyz"):
                continue
            for headers in ({}, bearer("cg-wrong")):
                at = re.sub(r"\{\w+\}", "0" * 32, path)
                response = await api.request(method, at, headers=headers, **sent(method, at))
                assert problem_of(response)[0] == 401, (method, path)
                assert response.headers["www-authenticate"] == "Bearer"
        assert (await api.get("/healthz")).status_code == 200


async def test_no_verb_reaches_anothers_thread(open_api: OpenApi, tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "keys.json"
    ana, bo = (new_key(file, capsys, name, buckets=["*"], labels=["*"]) for name in ("ana", "bo"))
    async with open_api(api_keys=file) as api:
        asked = await api.post("/ask", json={"question": AMBIGUOUS}, headers=bearer(ana))
        thread = asked.json()["thread_id"]
        before = (await api.get(f"/threads/{thread}", headers=bearer(ana))).json()
        for method, path in ROUTES[1:6]:
            if "{thread}" in path:
                at = path.format(thread=thread)
                theirs = problem_of(await api.request(method, at, headers=bearer(bo), **sent(method, at)))
                at = path.format(thread="0" * 32)
                absent = problem_of(await api.request(method, at, headers=bearer(bo), **sent(method, at)))
                assert theirs[0] == 404
                assert theirs[1].replace(thread, "0" * 32) == absent[1], (
                    "it cannot be told from one that is not"
                )
        given = {"question": "CBC-10904", "thread_id": thread}
        assert problem_of(await api.post("/ask", json=given, headers=bearer(bo)))[0] == 404
        assert (await api.get("/threads", headers=bearer(bo))).json() == {"threads": [], "total": 0}
        assert (await api.get(f"/threads/{thread}", headers=bearer(ana))).json() == before


async def test_a_principal_sees_and_does_what_its_key_says(
    open_api: OpenApi, tmp_path: Path, capsys: Any
) -> None:
    file = tmp_path / "keys.json"
    key = new_key(file, capsys, "ana", buckets=["invoices"], labels=["staff"])
    writer = new_key(file, capsys, "bo", buckets=["*"], labels=["staff"], write=True)
    async with open_api(api_keys=file) as api:
        api.headers.update(bearer(key))
        assert [item["name"] for item in (await api.get("/buckets")).json()] == ["invoices"]
        for path in ("/buckets/contracts", "/documents?bucket=contracts", "/export.csv?bucket=contracts"):
            status, detail = problem_of(await api.get(path))
            assert status == 404
            assert detail.endswith("the buckets are invoices.")
        for path in ("/documents/nv2n517", "/documents/nv2n517/pages/1", "/documents/nv2n517/file"):
            assert problem_of(await api.get(path)) == (404, "There is no document 'nv2n517'.")
        answer = (await api.post("/ask", json={"question": LOOKUP})).json()
        assert "45 V" not in json.dumps(answer)
        assert [citation for citation in answer["citations"] if citation["bucket"] != "invoices"] == []
        assert (await api.get("/documents/cobaltine-cbc-10904")).status_code == 200
        assert problem_of(await api.delete("/documents/cobaltine-cbc-10904"))[0] == 403
        upload = {"data": {"bucket": "invoices"}, "files": {"file": ("a.txt", b"text")}}
        assert problem_of(await api.post("/documents", **upload))[0] == 403
        status, detail = problem_of(await api.post("/documents", **upload, headers=bearer(writer)))
        assert (status, detail) == (403, "Give one of your labels: staff.")


async def test_a_caller_cannot_name_itself_in_the_context(open_api: OpenApi) -> None:
    async with open_api() as api:
        for field in ("principal", "langgraph_auth_user", "labels"):
            body = {"question": LOOKUP, "context": {field: {"identity": "ana"}}}
            assert problem_of(await api.post("/ask", json=body))[0] == 422
