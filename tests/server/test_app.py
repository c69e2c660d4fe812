"""The HTTP API alone: every route, its errors as problem details, its bounds."""

import asyncio
import io
import json
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

import buckets
from citegraph.run.answer_types import Answer
from citegraph.run.services import Services
from citegraph.settings import load_settings
from server.app import create_app
from tests.server.conftest import OpenApi

LOOKUP = "What is the maximum collector-emitter voltage VCEO of the NV2N517?"
AMBIGUOUS = "What is the total of the Cobaltine invoice?"


def problem_of(response: httpx.Response) -> tuple[int, str]:
    """Return status and detail of an error; every error has the same form."""
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == response.status_code
    assert {"type", "title", "detail"} <= set(body)
    return response.status_code, body["detail"]


def events_of(response: httpx.Response) -> list[tuple[str, Any]]:
    blocks = [block.splitlines() for block in response.text.replace("\r\n", "\n").strip().split("\n\n")]
    return [
        (lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: ")))
        for lines in blocks
        if lines[0].startswith("event: ")
    ]


async def test_a_question_is_answered_as_json(api: httpx.AsyncClient) -> None:
    response = await api.post("/ask", json={"question": LOOKUP})
    answer = Answer.model_validate(response.json())
    assert (response.status_code, answer.status) == (200, "answered")
    assert "45 V" in answer.text
    listed = (await api.get("/threads")).json()
    assert [(item["thread_id"], item["title"]) for item in listed["threads"]] == [(answer.thread_id, LOOKUP)]


async def test_a_question_is_answered_as_events(api: httpx.AsyncClient) -> None:
    response = await api.post("/ask", json={"question": LOOKUP}, headers={"Accept": "text/event-stream"})
    assert response.headers["content-type"].startswith("text/event-stream")
    events = events_of(response)
    names = [name for name, _ in events]
    assert names[:2] == ["run", "step"]
    assert events[0][1]["thread_id"] == events[-1][1]["answer"]["thread_id"]
    assert {"step", "tool", "token"} <= set(names)
    assert names[-1] == "answer"
    assert all(data["event"] == name for name, data in events)
    tokens = "".join(data["text"] for name, data in events if name == "token")
    assert tokens == events[-1][1]["answer"]["text"]


async def test_a_clarification_is_answered_and_guarded(api: httpx.AsyncClient) -> None:
    asked = await api.post("/ask", json={"question": AMBIGUOUS}, headers={"Accept": "text/event-stream"})
    events = dict(events_of(asked))
    clarification, thread = events["clarification"]["clarification"], events["clarification"]["thread_id"]
    assert clarification["type"] == "ambiguous"
    shown = (await api.get(f"/threads/{thread}")).json()
    assert shown["clarification"] == clarification
    path = f"/threads/{thread}/reply"
    assert problem_of(await api.post(path, json={"reply": "x", "interrupt_id": "other"}))[0] == 409
    assert problem_of(await api.post(f"/threads/{thread}/resume", json={}))[0] == 409
    given = {"reply": "CBC-10904", "interrupt_id": clarification["interrupt_id"]}
    answer = (await api.post(path, json=given)).json()
    assert {citation["doc_id"] for citation in answer["citations"]} == {"cobaltine-cbc-10904"}
    assert problem_of(await api.post(path, json=given))[0] == 409, "nothing is pending any more"
    shown = (await api.get(f"/threads/{thread}")).json()
    assert [message["role"] for message in shown["messages"]] == ["human", "ai", "human", "ai"]
    assert (shown["answer"]["text"], shown["clarification"], shown["unfinished"]) == (
        answer["text"],
        None,
        False,
    )
    assert (await api.delete(f"/threads/{thread}")).status_code == 204
    assert problem_of(await api.get(f"/threads/{thread}"))[0] == 404
    assert problem_of(await api.post(path, json=given))[0] == 404


async def test_a_message_on_a_waiting_thread_is_its_reply_unless_it_is_new(api: httpx.AsyncClient) -> None:
    first = (await api.post("/ask", json={"question": AMBIGUOUS})).json()
    thread = first["thread_id"]
    assert first["status"] == "needs_clarification"
    new = (await api.post("/ask", json={"question": LOOKUP, "thread_id": thread, "new": True})).json()
    assert (new["question"], new["status"]) == (LOOKUP, "answered")
    await api.post("/ask", json={"question": AMBIGUOUS, "thread_id": thread})
    reply = (await api.post("/ask", json={"question": "CBC-10904", "thread_id": thread})).json()
    assert (reply["question"], reply["status"]) == (AMBIGUOUS, "answered")
    unknown = await api.post("/ask", json={"question": LOOKUP, "thread_id": "0" * 32})
    assert problem_of(unknown)[0] == 404


async def test_buckets_and_documents_are_browsed(api: httpx.AsyncClient) -> None:
    summaries = {item["name"]: item["documents"] for item in (await api.get("/buckets")).json()}
    assert summaries["invoices"] == 24
    bucket = (await api.get("/buckets/invoices")).json()
    assert bucket["documents"] == 24
    assert {"name": "total_amount", "type": "money"}.items() <= {
        field["name"]: field for field in bucket["fields"]
    }["total_amount"].items()
    assert ["Cobaltine Cloud Inc.", 5] in bucket["values"]["vendor_name"]
    query = {"bucket": "invoices", "filter": ["vendor_name=Cobaltine Cloud Inc.", "total_amount>2000"]}
    found = (await api.get("/documents", params={**query, "limit": 1})).json()
    assert found["total"] >= 2
    assert len(found["documents"]) == 1
    document = (await api.get("/documents/nv2n517")).json()
    assert (document["bucket"], len(document["pages"])) == ("datasheets", 4)
    rows = (await api.get("/export.csv", params=query)).text.splitlines()
    assert len(rows) == 1 + found["total"]


async def test_pages_are_shown_as_text_and_as_picture_with_the_span_marked(api: httpx.AsyncClient) -> None:
    page = (await api.get("/documents/nv2n517/pages/1")).json()
    start = page["text"].index("NPN general")
    pictures = []
    for span in ({}, {"start": start, "end": start + 30}):
        shown = await api.get("/documents/nv2n517/pages/1", params={"format": "png", **span})
        assert shown.headers["content-type"] == "image/png"
        pictures.append(Image.open(io.BytesIO(shown.content)).convert("RGB"))
    plain, marked = ({pixel for _, pixel in picture.getcolors(1 << 20)} for picture in pictures)
    assert (255, 214, 10) in marked
    assert (255, 214, 10) not in plain
    sent = await api.get("/documents/nv2n517/file")
    assert sent.content.startswith(b"%PDF")
    assert "attachment" in sent.headers["content-disposition"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/buckets/poems", 404),
        ("/documents?bucket=poems", 404),
        ("/documents?bucket=invoices&filter=nope", 422),
        ("/documents?bucket=invoices&limit=501", 422),
        ("/documents?bucket=invoices&offset=99999999999999999999", 422),
        ("/documents", 422),
        ("/documents/nope", 404),
        ("/documents/..%2F..%2Fetc%2Fpasswd", 404),
        ("/documents/nv2n517%00", 404),
        ("/documents/nv2n517/pages/5", 404),
        ("/documents/nv2n517/pages/0", 422),
        ("/documents/hx-9/pages/1", 404),
        ("/documents/nope/file", 404),
        ("/threads/not-an-id", 422),
        ("/threads/" + "a" * 32, 404),
        ("/nowhere", 404),
    ],
)
async def test_what_is_not_there_is_a_problem(path: str, status: int, api: httpx.AsyncClient) -> None:
    assert problem_of(await api.get(path))[0] == status


@pytest.mark.parametrize(
    "body",
    [
        {"question": ""},
        {"question": " "},
        {"question": "a\x00b"},
        {"question": "a" * 4001},
        {"question": LOOKUP, "more": 1},
        {"question": LOOKUP, "thread_id": "../x"},
        {"question": LOOKUP, "context": {"max_rounds": 0}},
        {"question": LOOKUP, "context": {"models": {"compose": {"base_url": "http://127.0.0.1:1"}}}},
    ],
)
async def test_a_question_out_of_bounds_is_a_problem(body: Any, api: httpx.AsyncClient) -> None:
    status, detail = problem_of(await api.post("/ask", json=body))
    assert status == 422
    assert detail.startswith("body")


async def test_sizes_rates_and_numbers_are_bounded(open_api: OpenApi) -> None:
    async with open_api(rate_limit="5/minute", max_runs=1) as api:
        assert problem_of(await api.post("/ask", content=b"[" * 300_000))[0] == 413

        async def chunks() -> Any:
            for _ in range(300):
                yield b"[" * 1024

        headers = {"Content-Type": "application/json"}
        assert problem_of(await api.post("/ask", content=chunks(), headers=headers))[0] == 413
        both = await asyncio.gather(*(api.post("/ask", json={"question": LOOKUP}) for _ in range(2)))
        codes = sorted(response.status_code for response in both)
        assert codes == [200, 429]
        refused = [response for response in both if response.status_code == 429]
        assert int(refused[0].headers["retry-after"]) >= 1
        answers = [await api.get("/buckets") for _ in range(6)]
        assert answers[-1].status_code == 429
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert (await api.get("/healthz")).status_code == 200


async def test_documents_come_in_and_go(sample_home: Path, tmp_path: Path, open_api: OpenApi) -> None:
    home = tmp_path / "copy"
    shutil.copytree(sample_home, home)
    services = Services(load_settings().model_copy(update={"home": home, "qdrant_url": None}))
    form = {"bucket": "generic", "labels": ["staff"]}
    async with open_api(services=services) as api:
        file = {"file": ("../a memo.txt", b"The heliport opens in June 2031.")}
        stored = await api.post("/documents", data=form, files=file)
        assert (stored.status_code, stored.json()["new"]) == (201, 1)
        (doc_id,) = stored.json()["documents"]
        assert (await api.get(f"/documents/{doc_id}")).json()["labels"] == ["staff"]
        assert b"heliport" in (await api.get(f"/documents/{doc_id}/file")).content
        answer = (await api.post("/ask", json={"question": "When does the heliport open?"})).json()
        assert {citation["doc_id"] for citation in answer["citations"]} == {doc_id}
        told = await api.post("/documents", data=form, files=file, headers={"Accept": "text/event-stream"})
        names = [name for name, _ in events_of(told)]
        assert names[0] == "progress"
        assert names[-1] == "ingested"
        assert (await api.delete(f"/documents/{doc_id}")).status_code == 204
        assert problem_of(await api.get(f"/documents/{doc_id}"))[0] == 404
        kept = [path for path in (home / "uploads").rglob("*") if path.parent.name in doc_id]
        assert kept == []
        for bad, status in (({"file": ("x.txt", b"")}, 422), ({"file": ("x.exe", b"MZ\x00\x01")}, 422)):
            assert problem_of(await api.post("/documents", data=form, files=bad))[0] == status
        assert problem_of(await api.post("/documents", data={"bucket": "poems"}, files=file))[0] == 404


async def test_an_upload_again_is_the_same_document_and_a_changed_one_its_new_version(
    tmp_path: Path, open_api: OpenApi
) -> None:
    home = tmp_path / "home"
    services = Services(load_settings().model_copy(update={"home": home, "qdrant_url": None}))

    async with open_api(services=services) as api:

        async def brought(name: str, text: str, bucket: str = "generic") -> dict[str, Any]:
            answer = await api.post(
                "/documents", data={"bucket": bucket}, files={"file": (name, text.encode())}
            )
            assert answer.status_code == 201
            return {key: answer.json()[key] for key in ("documents", "new", "changed", "unchanged")}

        first = await brought("Tide plan.txt", "High water at Oban is at 05:12.")
        (doc_id,) = first["documents"]
        again = {"documents": [doc_id], "new": 0, "changed": 0, "unchanged": 1}
        assert await brought("Tide plan.txt", "High water at Oban is at 05:12.") == again
        assert await brought("copy of it.txt", "High water at Oban is at 05:12.") == again
        changed = await brought("Tide plan.txt", "High water at Oban is at 06:40.")
        assert changed == {"documents": [doc_id], "new": 0, "changed": 1, "unchanged": 0}
        about = (await api.get(f"/documents/{doc_id}")).json()
        assert about["source_file"] == "Tide plan.txt"
        assert b"06:40" in (await api.get(f"/documents/{doc_id}/file")).content
        slip = await api.post(
            "/documents",
            data={"bucket": "invoices"},
            files={"file": ("slip.txt", b"Invoice number: Q-77\nTotal: 4.00 EUR")},
        )
        found = {item["field"]: (item["found"], item["review"]) for item in slip.json()["values"]}
        assert (found["invoice_number"], found["invoice_date"]) == ((1, 0), (0, 0))
        assert "vendor_vat_id" not in found
        other = await brought("Tide plan.txt", "High water at Oban is at 05:12.", "contracts")
        assert other["new"] == 1
        files = sorted(path.read_text() for path in (home / "uploads").rglob("Tide*.txt"))
        assert files == ["High water at Oban is at 05:12.", "High water at Oban is at 06:40."]


async def test_an_uploaded_invoice_has_both_dates_of_one_line(tmp_path: Path, open_api: OpenApi) -> None:
    """The sample's annotations give the date of this form; an upload has none beside it."""
    copy = (
        (Path(buckets.__file__).parent / "sample" / "invoices" / "cobaltine-cbc-10904.txt")
        .read_text("utf-8")
        .replace("10904", "10905")
    )
    services = Services(load_settings().model_copy(update={"home": tmp_path / "home", "qdrant_url": None}))
    async with open_api(services=services) as api:
        file = {"file": ("cbc-10905.txt", copy.encode())}
        stored = (await api.post("/documents", data={"bucket": "invoices"}, files=file)).json()
        read = (await api.get("/export.csv", params={"bucket": "invoices"})).text
    assert [item["found"] for item in stored["values"] if item["field"] == "invoice_date"] == [1]
    assert "2024-07-01" in read
    assert "2024-07-31" in read


async def test_a_file_with_several_documents_is_not_sent(tmp_path: Path, open_api: OpenApi) -> None:
    """Some of them may be hidden from who asks for one."""
    lines = tmp_path / "two.jsonl"
    lines.write_text("\n".join(json.dumps({"id": f"d{n}", "text": f"Text {n}."}) for n in (1, 2)), "utf-8")
    services = Services(load_settings().model_copy(update={"home": tmp_path / "home", "qdrant_url": None}))
    async with open_api(services=services) as api:
        stored = await api.post(
            "/documents", data={"bucket": "generic"}, files={"file": (lines.name, lines.read_bytes())}
        )
        assert stored.json()["documents"] == ["d1", "d2"]
        assert problem_of(await api.get("/documents/d1/file"))[0] == 404


async def test_ready_metrics_and_description(api: httpx.AsyncClient) -> None:
    assert (await api.get("/readyz")).json() == {"status": "ready"}
    assert (
        'citegraph_requests_total{method="GET",route="/readyz",status="200"} 1.0'
        in (await api.get("/metrics")).text
    )
    described = (await api.get("/openapi.json")).json()
    assert {"/ask", "/threads/{thread_id}/reply", "/documents/{doc_id}/pages/{page}", "/export.csv"} <= set(
        described["paths"]
    )
    assert described["components"]["schemas"]["Ask"]["examples"]


async def test_an_unexpected_error_shows_neither_trace_nor_text(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("secret sk-123")

    monkeypatch.setattr(api.app.state.running.threads, "page", broken)  # type: ignore[attr-defined]
    assert problem_of(await api.get("/threads")) == (500, "unexpected RuntimeError")


async def test_a_drained_run_is_kept_and_resumed(api: httpx.AsyncClient) -> None:
    app: Any = api.app  # type: ignore[attr-defined]
    running = app.state.running
    stream = running.session.stream(LOOKUP, thread_id="f" * 32)
    running.threads.start("f" * 32, "owner", LOOKUP)
    assert (await anext(stream))["event"] == "run"
    first = await anext(stream)
    assert first["step"] == "gate"
    running.session.drain()
    rest = [event async for event in stream]
    assert rest[-1]["answer"]["status"] == "failed"
    assert "resumed" in rest[-1]["answer"]["text"]
    assert (await api.get(f"/threads/{'f' * 32}")).json()["unfinished"] is True
    answer = (await api.post(f"/threads/{'f' * 32}/resume", json={})).json()
    assert "45 V" in answer["text"]
    running.close()
    assert problem_of(await api.post("/ask", json={"question": LOOKUP}))[0] == 429
    assert (await api.get("/readyz")).status_code == 503


def test_nothing_is_opened_at_import(tmp_path: Path) -> None:
    app = create_app(Services(load_settings().model_copy(update={"home": tmp_path / "none"})))
    assert app.openapi()
    assert not (tmp_path / "none").exists()
