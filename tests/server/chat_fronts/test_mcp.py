"""MCP by the SDK's own client: tools and resources over HTTP in this process, and over stdio with a child."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from cli.serve import Key, make_key
from tests.server.conftest import OpenApi
from tests.server.test_app import AMBIGUOUS, LOOKUP

ROOT = Path(__file__).parents[3]
TOOLS = {"ask", "reply_to_clarification", "list_buckets", "search", "query_documents", "get_document"}


@asynccontextmanager
async def connected(api: httpx.AsyncClient) -> AsyncIterator[ClientSession]:
    async with (
        streamable_http_client("http://localhost/mcp", http_client=api) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        await session.initialize()
        yield session


def data(result: Any) -> Any:
    assert not result.is_error, result.content
    return result.structured_content or json.loads(result.content[0].text)


async def test_every_tool_and_parameter_is_described(api: httpx.AsyncClient) -> None:
    async with connected(api) as session:
        tools = (await session.list_tools()).tools
        assert {tool.name for tool in tools} == TOOLS
        for tool in tools:
            assert tool.description
            for name, schema in tool.input_schema.get("properties", {}).items():
                assert "description" in schema or "$ref" in schema, (tool.name, name)


async def test_a_question_back_is_replied_to(api: httpx.AsyncClient) -> None:
    async with connected(api) as session:
        asked = data(await session.call_tool("ask", {"question": AMBIGUOUS}))
        assert asked["status"] == "needs_clarification"
        assert "\n1. " in asked["text"]
        given = {"thread_id": asked["thread_id"], "reply": "1"}
        done = data(await session.call_tool("reply_to_clarification", given))
        assert done["status"] == "answered"
        assert 0 < done["confidence"] < 1
        assert done["citations"][0]["url"].startswith("http://localhost/cited/")
        again = await session.call_tool("reply_to_clarification", given)
        assert again.is_error
        assert "waits for no reply" in again.content[0].text  # type: ignore[union-attr]
        lost = await session.call_tool("ask", {"question": "x", "thread_id": "0" * 32})
        assert lost.is_error


async def test_documents_are_searched_listed_summed_and_read(api: httpx.AsyncClient) -> None:
    async with connected(api) as session:
        buckets = data(await session.call_tool("list_buckets", {}))["buckets"]
        assert "invoices" in {bucket["name"] for bucket in buckets}
        search = {"asked": {"bucket": "datasheets", "query": "collector-emitter voltage"}}
        found = data(await session.call_tool("search", search))
        assert "nv2n517" in {hit["doc_id"] for hit in found["hits"]}, found
        counted = data(await session.call_tool("query_documents", {"asked": {"bucket": "invoices"}}))
        assert counted["matched"] > 5
        got = data(await session.call_tool("get_document", {"doc_id": "nv2n517"}))
        assert got["bucket"] == "datasheets"
        assert got["text"]
        page = data(await session.call_tool("get_document", {"doc_id": "nv2n517", "page": 1}))
        assert page["text"] == got["text"][page["start"] : page["end"]]
        text = (await session.read_resource("citegraph://documents/nv2n517")).contents[0].text  # type: ignore[union-attr]
        assert text.startswith(got["text"][:200])
        bucket = json.loads((await session.read_resource("citegraph://buckets/datasheets")).contents[0].text)  # type: ignore[union-attr]
        assert "citegraph://documents/nv2n517" in bucket["resources"]
        for name, wrong in (
            ("get_document", {"doc_id": "ghost"}),
            ("search", {"asked": {"bucket": "x", "query": "y"}}),
        ):
            assert (await session.call_tool(name, wrong)).is_error


async def test_a_key_bounds_what_the_tools_see(open_api: OpenApi, tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "keys.json"
    make_key(Key("bo", file, ["invoices"], ["*"]))
    key = capsys.readouterr().out.strip()
    async with open_api(api_keys=file) as api:
        assert (await api.post("/mcp", json={})).status_code == 401
        api.headers["authorization"] = f"Bearer {key}"
        async with connected(api) as session:
            buckets = data(await session.call_tool("list_buckets", {}))["buckets"]
            assert [bucket["name"] for bucket in buckets] == ["invoices"]
            assert (await session.call_tool("get_document", {"doc_id": "nv2n517"})).is_error
            answer = data(await session.call_tool("ask", {"question": LOOKUP}))
            assert {item["doc_id"] for item in answer["citations"]} & {"nv2n517"} == set()


@pytest.mark.server
async def test_over_stdio_the_owner_asks(sample_home: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(sample_home, tmp_path / "home")
    variables = {
        "CITEGRAPH_HOME": str(tmp_path / "home"),
        "PYTHONPATH": str(ROOT),
        "CITEGRAPH_ENGINE": "inprocess",
    }
    child = StdioServerParameters(
        command=sys.executable, args=["-m", "cli.commands", "mcp"], env=variables, cwd=ROOT
    )
    async with stdio_client(child) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        answer = data(await session.call_tool("ask", {"question": LOOKUP}))
        assert answer["status"] == "answered"
        address = answer["citations"][0]["url"]
        assert address == "citegraph://documents/nv2n517"
        assert address in answer["text"]
        [shown] = (await session.read_resource(address)).contents
        assert answer["citations"][0]["quote"] in " ".join(getattr(shown, "text", "").split())


@pytest.mark.slow
def test_its_sdk_is_not_loaded_before_a_client_asks() -> None:
    code = (
        "import sys, server.listening; print([name for name in ('mcp', 'mcp_types') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
