"""`langgraph dev` for real, driven with langgraph_sdk as Studio drives it. It raises on blocking calls in nodes."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from server.guard.known_keys import known_keys, refusal
from tests.server.langgraph_server import langgraph_dev

pytestmark = pytest.mark.server

LOOKUP = "What is the maximum collector-emitter voltage VCEO of the NV2N517?"
AMBIGUOUS = "What is the total of the Cobaltine invoice?"
THREAD = "0196fe3c-5d3f-7000-8000-000000000000"
MODES = ["updates", "custom", "messages-tuple"]
TROUBLE = (
    "BlockingError",
    "Blocking call",
    "Traceback (most recent call last)",
    "Deserializing unregistered type",
)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file that holds everything the server says."""
    return tmp_path_factory.mktemp("langgraph") / "log"


@pytest.fixture(scope="module")
def address(sample_home: Path, log: Path) -> Iterator[str]:
    """Start the server on a free port over the sample corpus, and stop it by its pid."""
    with langgraph_dev(sample_home, log, {"LANGGRAPH_STRICT_MSGPACK": "true"}) as url:
        yield url


@pytest.fixture
def client(address: str, log: Path) -> Iterator[SyncLangGraphClient]:
    """Give a client; after the test the server's log must hold no blocking call and no stack trace."""
    before = log.stat().st_size
    with get_sync_client(url=address) as opened:
        yield opened
    said = log.read_text("utf-8")[before:]
    assert [line for line in said.splitlines() if any(word in line for word in TROUBLE)] == []


def run(client: SyncLangGraphClient, thread: str | None, **given: Any) -> list[tuple[str, Any]]:
    """Run the agent in the stream modes of Studio and return (event, data) pairs; an error event fails."""
    parts = client.runs.stream(thread, "agent", stream_mode=MODES, **given)  # type: ignore[call-overload]
    events = [(part.event, part.data) for part in parts]
    assert [data for event, data in events if event == "error"] == []
    return events


def answer_of(events: list[tuple[str, Any]]) -> Answer:
    (found,) = [
        step["answer"]
        for event, data in events
        if event == "updates"
        for step in data.values()
        if isinstance(step, dict) and step.get("answer")
    ]
    return Answer.model_validate(found)


def steps_of(events: list[tuple[str, Any]]) -> list[str]:
    return [step for event, data in events if event == "updates" for step in data]


def new_thread(client: SyncLangGraphClient) -> str:
    return str(client.threads.create()["thread_id"])


def test_the_drawing_has_labelled_edges(client: SyncLangGraphClient) -> None:
    drawing = client.assistants.get_graph("agent")
    names = [node["id"] for node in drawing["nodes"]]
    assert "verify_citations" in names
    assert not [name for name in names if str(name).startswith("__error_handler__")]
    labels = {(edge["source"], edge["target"]): edge.get("data") for edge in drawing["edges"]}
    assert {label: target for (source, target), label in labels.items() if source == "review"} == {
        "enough": "compose",
        "more": "search",
        "clarify": "clarify",
    }


def test_the_schemas_are_narrow_and_the_context_makes_a_form(client: SyncLangGraphClient) -> None:
    (assistant,) = client.assistants.search(graph_id="agent", metadata={"created_by": "system"})
    schemas = client.assistants.get_schemas(assistant["assistant_id"])
    assert set(schemas["input_schema"]["properties"]) == {"query", "messages", "new"}  # type: ignore[index]
    assert set(schemas["output_schema"]["properties"]) == {"answer", "messages"}  # type: ignore[index]
    form: Any = schemas["context_schema"]
    assert set(form["properties"]) == set(Context.model_fields)
    assert all(field.get("description") for field in form["properties"].values())
    assert (form["properties"]["max_rounds"]["default"], form["properties"]["max_rounds"]["maximum"]) == (
        3,
        20,
    )
    assert "required" not in form


def test_a_question_streams_steps_tools_and_messages(client: SyncLangGraphClient) -> None:
    thread = new_thread(client)
    events = run(client, thread, input={"query": LOOKUP})
    assert steps_of(events) == [
        "gate",
        "rewrite",
        "decompose",
        "route",
        "schema_plan",
        "search",
        "prune",
        "review",
        "compose",
        "verify_citations",
    ]
    told = [data for event, data in events if event == "custom"]
    (tool,) = [data for data in told if data["event"] == "tool"]
    assert "".join(data["text"] for data in told if data["event"] == "token") == answer_of(events).text
    assert (tool["event"], tool["tool"]) == ("tool", "search")
    assert tool["hits"] >= 1
    answer = answer_of(events)
    assert answer.status == "answered"
    assert "45 V" in answer.text
    assert {citation.doc_id for citation in answer.citations} == {"nv2n517"}
    streamed = [message for event, data in events if event == "messages" for message in data[:1]]
    written = [message for message in streamed if message["type"] != "human"]
    assert "".join(message["content"] for message in written) == answer.text
    state: Any = client.threads.get_state(thread)
    assert {message["id"] for message in written} == {state["values"]["messages"][-1]["id"]}
    assert state["values"]["answer"]["text"] == answer.text
    assert [message["type"] for message in state["values"]["messages"]] == ["human", "ai"]
    assert len(client.threads.get_history(thread)) >= 10, "time travel needs the steps"


@pytest.mark.parametrize(
    "reply", ["CBC-10904", {"reply": "CBC-10904"}, [{"type": "response", "args": "CBC-10904"}]]
)
def test_an_interrupt_is_met_and_resumed(reply: Any, client: SyncLangGraphClient) -> None:
    thread = new_thread(client)
    events = run(client, thread, input={"query": AMBIGUOUS})
    (interrupt,) = [
        data["__interrupt__"][0] for event, data in events if event == "updates" and "__interrupt__" in data
    ]
    assert interrupt["value"]["type"] == "ambiguous"
    assert len(interrupt["value"]["options"]) == 5
    assert client.threads.get(thread)["status"] == "interrupted"
    answer = answer_of(run(client, thread, command={"resume": reply}))
    assert (answer.status, answer.question) == ("answered", AMBIGUOUS)
    assert {citation.doc_id for citation in answer.citations} == {"cobaltine-cbc-10904"}
    assert client.threads.get(thread)["status"] == "idle"


def test_a_chat_message_answers_a_clarification_too(client: SyncLangGraphClient) -> None:
    # agent-chat-ui shows an interrupt of another shape than its approvals as a table of its keys and values, under
    # the last message; what is typed below it is sent as a message, not as a resume.
    thread = new_thread(client)
    run(client, thread, input={"messages": [{"type": "human", "content": AMBIGUOUS}]})
    state: Any = client.threads.get_state(thread)
    (shown,) = [item["value"] for task in state["tasks"] for item in task["interrupts"]]
    assert set(shown) == {"type", "question", "options", "tried"}
    assert [message["type"] for message in state["values"]["messages"]] == ["human", "ai"]
    assert state["values"]["messages"][-1]["content"].startswith(shown["question"])
    assert all({"id", "label"} <= set(option) for option in shown["options"])
    reply = {"messages": [{"type": "human", "content": "CBC-10904"}]}
    answer = answer_of(run(client, thread, input=reply))
    assert {citation.doc_id for citation in answer.citations} == {"cobaltine-cbc-10904"}


def test_runs_are_counted_and_logged_beside_the_server_s_own(
    client: SyncLangGraphClient, address: str, log: Path
) -> None:
    before, said = log.stat().st_size, httpx.get(f"{address}/citegraph/metrics").text
    thread = new_thread(client)
    answer = answer_of(run(client, thread, input={"query": LOOKUP}))
    now = httpx.get(f"{address}/citegraph/metrics").text
    line = 'citegraph_runs_total{status="answered"}'
    assert answer.status == "answered"
    assert counted(now, line) == counted(said, line) + 1
    assert "langgraph" not in now, "its own metrics are its own"
    plain = re.sub(r"\x1b\[[0-9;]*m", "", log.read_text("utf-8")[before:])
    ours = [row for row in plain.splitlines() if "[citegraph]" in row]
    (step,) = [row for row in ours if "step=compose" in row]
    assert re.search(rf"run_id=\S+.* thread_id={thread}", step)
    assert "NV2N517" not in "".join(ours)


def counted(metrics: str, line: str) -> float:
    return sum(float(row.split()[-1]) for row in metrics.splitlines() if row.startswith(line))


def test_chat_messages_are_read_instead_of_a_query(client: SyncLangGraphClient) -> None:
    thread = new_thread(client)
    first = run(client, thread, input={"messages": [{"type": "human", "content": LOOKUP}]})
    assert "45 V" in answer_of(first).text
    content = [{"type": "text", "text": "When is Cobaltine invoice CBC-10904 due?"}]
    second = answer_of(run(client, thread, input={"messages": [{"role": "user", "content": content}]}))
    assert {citation.doc_id for citation in second.citations} == {"cobaltine-cbc-10904"}
    state: Any = client.threads.get_state(thread)
    assert [message["type"] for message in state["values"]["messages"]] == ["human", "ai", "human", "ai"]


def test_a_changed_context_changes_the_run(client: SyncLangGraphClient) -> None:
    question = "What is the notice period?"
    events = run(
        client, None, input={"query": question}, context={"buckets": ["contracts"], "max_clarifications": 0}
    )
    answer = answer_of(events)
    assert answer.buckets == ["contracts"]
    assert {citation.bucket for citation in answer.citations} <= {"contracts"}
    saved = client.assistants.create("agent", context={"buckets": ["datasheets"], "max_clarifications": 0})
    parts = client.runs.wait(None, saved["assistant_id"], input={"query": question})
    assert parts["answer"]["buckets"] == ["datasheets"]  # type: ignore[call-overload, index]


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ({"max_rounds": 0}, "context: max_rounds=0: "),
        ({"buckets": "contracts"}, "context: buckets=contracts: "),
        ({"bucket": ["contracts"]}, "context: 'bucket' is no setting of a run; there are mode, buckets,"),
    ],
)
def test_a_context_out_of_bounds_is_refused(context: dict[str, Any], said: str, address: str) -> None:
    with get_sync_client(url=address) as client:
        for call in (
            lambda: list(client.runs.stream(None, "agent", input={"query": LOOKUP}, context=context)),
            lambda: client.runs.wait(None, "agent", input={"query": LOOKUP}, context=context),
            lambda: client.assistants.create("agent", context=context),
            lambda: client.crons.create("agent", schedule="0 0 1 1 *", input={}, context=context),
        ):
            with pytest.raises(httpx.HTTPStatusError) as refused:
                call()
            assert refused.value.response.status_code == 422
            assert refused.value.response.headers["content-type"] == "application/problem+json"
            assert refused.value.response.json()["detail"].startswith(said)
        assert client.crons.search() == []


def test_unknown_keys_of_a_request_are_refused(address: str) -> None:
    with httpx.Client(base_url=address, timeout=60) as client:
        thread = client.post("/threads", json={}).json()["thread_id"]
        run = {"assistant_id": "agent", "input": {"query": LOOKUP}}
        job = run | {"schedule": "0 0 1 1 *"}
        routes = [
            f"{before}/runs{end}" for before in ("", f"/threads/{thread}") for end in ("", "/stream", "/wait")
        ]
        calls = [("POST", path, run) for path in routes]
        calls += [("POST", path, job) for path in ("/runs/crons", f"/threads/{thread}/runs/crons")]
        calls += [("PATCH", f"/runs/crons/{thread}", {}), ("POST", "/assistants", {"graph_id": "agent"})]
        for method, path, body in calls:
            told = client.request(method, path, json=body | {"steam_mode": "values"})
            assert told.status_code == 422, (path, told.text)
            assert told.headers["content-type"] == "application/problem+json"
            assert told.json()["detail"].startswith("'steam_mode' is no key of this request; there are "), (
                path
            )
        told = client.post("/runs/batch", json=[run, run | {"contxt": {}}])
        assert (told.status_code, "'contxt'" in told.text) == (422, True)
        assert client.get(f"/threads/{thread}/runs").json() == []
        assert client.post("/runs/crons/search", json={}).json() == []


def test_what_the_server_s_own_client_sends_is_known(address: str) -> None:
    spec = httpx.get(f"{address}/openapi.json").json()
    routes = known_keys(spec)["POST"]
    sent: list[httpx.Request] = []

    def keep(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, json={})

    with httpx.Client(base_url=address, transport=httpx.MockTransport(keep)) as http:
        client = SyncLangGraphClient(http)
        calls: list[tuple[Any, dict[str, Any]]] = [
            (client.runs.create, {"thread_id": THREAD}),
            (client.runs.create, {"thread_id": None}),
            (client.runs.wait, {"thread_id": THREAD}),
            (client.crons.create, {"schedule": "0 0 1 1 *"}),
            (client.crons.create_for_thread, {"schedule": "0 0 1 1 *", "thread_id": THREAD}),
        ]
        given: dict[str, Any] = {
            "input": {"query": LOOKUP},
            "command": {"resume": 1},
            "metadata": {"desk": 1},
            "context": {"mode": "single"},
            "checkpoint": {"checkpoint_id": THREAD},
            "checkpoint_id": THREAD,
            "interrupt_before": ["review"],
            "interrupt_after": ["review"],
            "multitask_strategy": "reject",
            "if_not_exists": "create",
            "on_disconnect": "cancel",
            "after_seconds": 1,
            "durability": "sync",
            "langsmith_tracing": {"project_name": "desk"},
            "webhook": "https://desk.example/told",
            "stream_mode": ["values"],
            "stream_resumable": True,
            "on_run_completed": "keep",
        }
        for call, named in calls:
            taken = inspect.signature(call).parameters
            call(assistant_id="agent", **named, **{name: given[name] for name in given if name in taken})
    assert len(sent) == len(calls)
    for request in sent:
        known = next(keys for at, keys in routes if at.match(request.url.path))
        assert refusal(request.content, known) is None, request.url


def test_replies_have_what_those_of_the_other_server_have(address: str) -> None:
    with httpx.Client(base_url=address) as client:
        given = client.get("/buckets", headers={"X-Request-ID": "mine-7", "Accept-Encoding": "gzip"})
        assert given.headers["X-Request-ID"] == "mine-7"
        assert given.headers["Content-Encoding"] == "gzip"
        known = {"If-None-Match": given.headers["ETag"]}
        assert client.get("/buckets", headers=known).status_code == 304
        head = client.head("/buckets")
        assert (head.status_code, head.content) == (200, b"")
        assert client.get("/assistants/agent/schemas").headers["X-Request-ID"]


def test_a_mistake_in_the_context_ends_in_an_answer(client: SyncLangGraphClient) -> None:
    answer = answer_of(run(client, None, input={"query": LOOKUP}, context={"buckets": ["poems"]}))
    assert answer.status == "failed"
    assert "poems" in answer.text


def test_several_runs_at_once(client: SyncLangGraphClient) -> None:
    threads = [new_thread(client) for _ in range(4)]
    runs = [client.runs.create(thread, "agent", input={"query": LOOKUP}) for thread in threads]
    for thread, started in zip(threads, runs, strict=True):
        result: Any = client.runs.join(thread, started["run_id"])
        assert "45 V" in result["answer"]["text"]


def test_the_loop_is_served_too_and_says_that_it_has_no_model(client: SyncLangGraphClient) -> None:
    drawing = client.assistants.get_graph("tool_loop")
    assert {"agent", "tools", "verify_citations"} < {str(node["id"]) for node in drawing["nodes"]}
    parts = client.runs.stream(
        new_thread(client),
        "tool_loop",
        input={"messages": [{"role": "user", "content": LOOKUP}]},
        stream_mode=MODES,  # type: ignore[arg-type]
    )
    events = [(part.event, part.data) for part in parts]
    assert [data for event, data in events if event == "error"] == []
    answer = answer_of(events)
    assert (answer.status, "45 V" in answer.text) == ("answered", True)
    assert "No model is configured" in answer.notes[0].message
