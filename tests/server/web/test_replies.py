"""Every reply: ids, ETag, HEAD, gzip, other sites; the description of the API and the pages that show it."""

import json

import httpx

from citegraph.run.json_output import dumped
from tests.server.conftest import OpenApi
from tests.server.test_app import LOOKUP

SITE = "https://desk.example"


async def test_a_request_has_an_id_that_the_client_may_give(api: httpx.AsyncClient) -> None:
    assert len((await api.get("/buckets")).headers["x-request-id"]) == 32
    given = await api.get("/buckets", headers={"X-Request-ID": "job-7"})
    assert given.headers["x-request-id"] == "job-7"
    hostile = await api.get("/buckets", headers={"X-Request-ID": "a b"})
    assert len(hostile.headers["x-request-id"]) == 32


async def test_what_the_client_has_is_not_sent_again(api: httpx.AsyncClient) -> None:
    first = await api.get("/buckets")
    mark = first.headers["etag"]
    assert mark.startswith('W/"')
    same = await api.get("/buckets", headers={"If-None-Match": mark})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", mark)
    other = await api.get("/buckets", headers={"If-None-Match": '"other"'})
    assert (other.status_code, other.json()) == (200, first.json())
    assert "etag" not in (await api.get("/nothing")).headers


async def test_head_is_get_without_a_body(api: httpx.AsyncClient) -> None:
    whole, head = await api.get("/buckets/invoices"), await api.head("/buckets/invoices")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == whole.headers["etag"]
    assert (await api.head("/documents/ghost")).status_code == 404


async def test_long_replies_are_compressed_and_events_are_not(api: httpx.AsyncClient) -> None:
    assert (await api.get("/openapi.json")).headers["content-encoding"] == "gzip"
    events = await api.post("/ask", json={"question": LOOKUP}, headers={"Accept": "text/event-stream"})
    assert "content-encoding" not in events.headers


async def test_only_pages_of_sites_that_are_named_may_read(open_api: OpenApi) -> None:
    asked = {"Origin": SITE, "Access-Control-Request-Method": "POST"}
    async with open_api() as api:
        assert "access-control-allow-origin" not in (await api.get("/buckets")).headers
    async with open_api(allowed_origins=f"{SITE}/") as api:
        before = await api.options("/ask", headers=asked)
        assert (before.status_code, before.headers["access-control-allow-origin"]) == (200, SITE)
        read = await api.get("/buckets", headers={"Origin": SITE})
        assert read.headers["access-control-allow-origin"] == SITE
        assert (
            "access-control-allow-origin"
            not in (await api.get("/buckets", headers={"Origin": "https://evil.example"})).headers
        )


async def test_the_api_is_shown_from_files_of_the_server(api: httpx.AsyncClient) -> None:
    for path, tool in (("/docs", "docs/swagger-ui-bundle.js"), ("/redoc", "docs/redoc.standalone.js")):
        page = await api.get(path)
        assert tool in page.text
        assert "http" not in page.text
        assert "script-src 'self'" in page.headers["content-security-policy"]
        script = (await api.get(f"/{tool}")).content
        assert len(script) > 500_000
        assert b"cdn." not in script
    for name in ("start.js", "swagger-ui.css"):
        assert (await api.get(f"/docs/{name}")).status_code == 200
    assert (await api.get("/docs/core.py")).status_code == 404
    schemes = (await api.get("/openapi.json")).json()["components"]["securitySchemes"]
    assert set(schemes) == {"bearer", "key"}


async def test_an_option_that_no_route_knows_is_refused(api: httpx.AsyncClient) -> None:
    refused = await api.get("/documents?bucket=invoices&limt=5")
    assert refused.status_code == 422
    assert "'limt' is no option of this route; there are bucket, filter" in refused.json()["detail"]
    assert (await api.get("/documents?bucket=invoices&limit=5")).status_code == 200
    given = {"question": LOOKUP, "context": {"bucket": ["invoices"]}}
    assert (await api.post("/ask", json=given)).status_code == 422


def test_no_character_of_a_text_ends_a_line() -> None:
    text = "a\u2028b\u2029c\u0085d\ne"
    line = dumped({"text": text})
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"text": text}
