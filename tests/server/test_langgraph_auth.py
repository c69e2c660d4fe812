"""Keys inside `langgraph dev`: every verb of threads, runs, crons, store and assistants holds to its owner; MCP."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from cli.serve import Key, make_key
from tests.server.langgraph_server import langgraph_dev
from tests.server.test_langgraph_dev import AMBIGUOUS, LOOKUP

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return new keys by name; the last entry is the file."""
    import contextlib
    import io

    file = tmp_path_factory.mktemp("keys") / "keys.json"
    made = {"file": str(file)}
    for name, buckets in (("ana", ["*"]), ("bo", ["*"]), ("cy", ["invoices"])):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            make_key(Key(name, file, buckets, ["*"], write=name == "ana"))
        made[name] = said.getvalue().strip()
    return made


@pytest.fixture(scope="module")
def address(
    sample_home: Path, keys: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Start the server on a free port with keys, and stop it by its pid."""
    log = tmp_path_factory.mktemp("langgraph") / "log"
    with langgraph_dev(sample_home, log, {"CITEGRAPH_API_KEYS": keys["file"]}) as url:
        yield url


@pytest.fixture
def as_user(address: str, keys: dict[str, str]) -> Iterator[Callable[[str], SyncLangGraphClient]]:
    """Return what gives the client of a user."""
    clients: dict[str, SyncLangGraphClient] = {}

    def client(name: str) -> SyncLangGraphClient:
        return clients.setdefault(name, get_sync_client(url=address, api_key=keys[name]))

    yield client
    for opened in clients.values():
        opened.http.client.close()


def refused(call: Callable[[], Any], *, status: tuple[int, ...] = (403, 404)) -> bool:
    """Tell whether a call is refused as for something that does not exist, or is not one's own."""
    with pytest.raises(httpx.HTTPStatusError) as error:
        call()
    assert error.value.response.status_code in status, error.value.response.text
    return True


def test_without_a_key_nothing_is_served(address: str) -> None:
    calls = [
        ("POST", "/threads", {}),
        ("POST", "/threads/search", {}),
        ("POST", "/assistants/search", {}),
        ("POST", "/runs/wait", {"assistant_id": "agent", "input": {"query": LOOKUP}}),
        ("POST", "/mcp/", {}),
        ("GET", "/buckets", None),
        ("GET", "/documents/nv2n517", None),
        ("GET", "/export.csv?bucket=invoices", None),
        ("GET", "/metrics", None),
        ("GET", "/citegraph/metrics", None),
        ("GET", "/docs", None),
        ("GET", "/openapi.json", None),
        ("GET", "/info", None),
        ("GET", "/ui/agent", None),
    ]
    for method, path, body in calls:
        for headers in ({}, {"x-api-key": "cg-wrong"}, {"x-auth-scheme": "langsmith"}):
            response = httpx.request(
                method, address + path, json=body, headers=headers, follow_redirects=True
            )
            assert response.status_code in (401, 403), (method, path, headers, response.text)


def test_no_verb_reaches_anothers_thread_or_run(as_user: Callable[[str], SyncLangGraphClient]) -> None:
    ana, bo = as_user("ana"), as_user("bo")
    thread = ana.threads.create()["thread_id"]
    run = ana.runs.create(thread, "agent", input={"query": AMBIGUOUS})["run_id"]
    ana.runs.join(thread, run)
    assert ana.threads.get(thread)["status"] == "interrupted"
    before = ana.threads.get_state(thread)
    assert refused(lambda: bo.threads.get(thread))
    assert refused(lambda: bo.threads.get_state(thread))
    assert refused(lambda: bo.threads.get_history(thread))
    assert refused(lambda: bo.threads.update(thread, metadata={"owner": "bo"}))
    assert refused(lambda: bo.threads.update_state(thread, {"query": "x"}))
    assert refused(lambda: bo.threads.copy(thread), status=(403, 404, 409))
    assert refused(lambda: bo.threads.delete(thread))
    assert refused(
        lambda: bo.threads.create(thread_id=thread, if_exists="do_nothing"), status=(403, 404, 409)
    )
    assert refused(lambda: bo.runs.create(thread, "agent", input={"query": LOOKUP}))
    assert refused(lambda: bo.runs.wait(thread, "agent", command={"resume": "CBC-10904"}))
    assert refused(lambda: list(bo.runs.stream(thread, "agent", input={"query": LOOKUP})))
    assert refused(lambda: bo.runs.get(thread, run))
    assert refused(lambda: bo.runs.list(thread))
    assert refused(lambda: bo.runs.join(thread, run))
    assert refused(lambda: bo.runs.cancel(thread, run))
    assert refused(lambda: bo.runs.delete(thread, run))
    assert refused(lambda: bo.crons.create_for_thread(thread, "agent", schedule="0 0 1 1 *", input={}))
    assert bo.threads.search() == []
    assert bo.threads.search(metadata={"owner": "ana"}) == []
    assert bo.threads.count() == 0
    assert ana.threads.get_state(thread) == before
    assert ana.threads.update(thread, metadata={"owner": "bo"})["metadata"]["owner"] == "ana"
    answer: Any = ana.runs.wait(thread, "agent", command={"resume": "CBC-10904"})
    assert answer["answer"]["status"] == "answered"


def test_crons_store_and_assistants_hold_to_their_owner(
    as_user: Callable[[str], SyncLangGraphClient],
) -> None:
    ana, bo = as_user("ana"), as_user("bo")
    kept = ana.assistants.create("agent", context={"max_rounds": 2}, metadata={"created_by": "system"})
    assistant = kept["assistant_id"]
    assert refused(lambda: bo.assistants.get(assistant))
    assert refused(lambda: bo.assistants.update(assistant, name="bo's"))
    assert refused(lambda: bo.assistants.delete(assistant))
    assert refused(lambda: bo.runs.wait(None, assistant, input={"query": LOOKUP}))
    assert assistant not in [item["assistant_id"] for item in bo.assistants.search()]
    assert {item["graph_id"] for item in bo.assistants.search()} >= {"agent"}, (
        "the served graphs are everyone's"
    )
    (served,) = bo.assistants.search(graph_id="agent")
    assert refused(lambda: bo.assistants.delete(served["assistant_id"]))
    assert refused(lambda: bo.assistants.update(served["assistant_id"], name="x"))
    ana.store.put_item(["notes"], "one", {"text": "mine"})
    assert bo.store.get_item(["notes"], "one") is None
    assert bo.store.search_items([])["items"] == []
    assert bo.store.get_item(["ana", "notes"], "one") is None
    bo.store.delete_item(["notes"], "one")
    item: Any = ana.store.get_item(["notes"], "one")
    assert item["value"] == {"text": "mine"}
    cron: Any = ana.crons.create("agent", schedule="0 0 1 1 *", input={"query": LOOKUP})
    assert cron["cron_id"] not in [found["cron_id"] for found in bo.crons.search()]
    assert refused(lambda: bo.crons.delete(cron["cron_id"]))
    ana.crons.delete(cron["cron_id"])
    assert refused(lambda: bo.crons.create("agent", schedule="0 0 1 1 *", input={"query": LOOKUP}))
    assert bo.crons.search() == []


def test_a_cron_job_sees_what_the_key_that_made_it_sees_and_ends_with_its_rights(
    as_user: Callable[[str], SyncLangGraphClient], keys: dict[str, str]
) -> None:
    ana = as_user("ana")
    thread = ana.threads.create()["thread_id"]
    job: Any = ana.crons.create_for_thread(
        thread, "agent", schedule="* * * * * *", input={"query": LOOKUP}, multitask_strategy="reject"
    )

    def wait_for(seen: Callable[[], Any]) -> Any:
        end = time.monotonic() + 120
        while not (found := seen()):
            assert time.monotonic() < end
            time.sleep(0.5)
        return found

    answer = wait_for(lambda: (ana.threads.get(thread).get("values") or {}).get("answer"))
    assert "45 V" in answer["text"]
    file = Path(keys["file"])
    held = file.read_text("utf-8")
    less = json.loads(held)
    next(key for key in less["keys"] if key["name"] == "ana")["write"] = False
    file.write_text(json.dumps(less), "utf-8")
    try:
        wait_for(lambda: all(run["status"] not in ("pending", "running") for run in ana.runs.list(thread)))
        before = len(ana.runs.list(thread, limit=100))
        time.sleep(12)  # twice as long as until it is looked again for jobs that are due
        assert len(ana.runs.list(thread, limit=100)) == before
    finally:
        file.write_text(held, "utf-8")
        ana.crons.delete(job["cron_id"])


def test_a_run_sees_what_its_key_says_and_cannot_say_otherwise(
    as_user: Callable[[str], SyncLangGraphClient], address: str, keys: dict[str, str]
) -> None:
    ana, cy = as_user("ana"), as_user("cy")
    whole: Any = ana.runs.wait(None, "agent", input={"query": LOOKUP})
    assert "45 V" in whole["answer"]["text"]
    part: Any = cy.runs.wait(None, "agent", input={"query": LOOKUP})
    assert "45 V" not in json.dumps(part["answer"])
    # Either refused or overruled.
    posing = {"configurable": {"langgraph_auth_user": {"identity": "ana", "buckets": None, "labels": None}}}
    told = httpx.post(
        f"{address}/runs/wait",
        json={"assistant_id": "agent", "input": {"query": LOOKUP}, "config": posing},
        headers={"x-api-key": keys["cy"]},
        timeout=60,
    )
    assert told.status_code in (200, 422)
    assert "45 V" not in told.text


def test_the_routes_beside_the_graphs_know_the_same_keys(address: str, keys: dict[str, str]) -> None:
    with httpx.Client(base_url=address, headers={"x-api-key": keys["cy"]}) as client:
        assert [item["name"] for item in client.get("/buckets").json()] == ["invoices"]
        assert client.get("/documents/nv2n517").status_code == 404
        asked = client.post("/ask", json={"question": LOOKUP})
        assert asked.status_code == 404
        assert "POST /threads" in asked.json()["detail"]


async def test_mcp_serves_the_agent(address: str, keys: dict[str, str]) -> None:
    from mcp.client.session import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx.AsyncClient(headers={"x-api-key": keys["cy"]}, timeout=60) as client,
        streamable_http_client(f"{address}/mcp/", http_client=client) as (read, write, *_),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert "agent" in tools
        found = await session.call_tool(
            "agent", {"query": "What is the total of Halbrecht invoice RE-2024-0458?"}
        )
        assert "5.854,80" in str(found) or "5,854.80" in str(found)
