"""Threads as they are kept: every answer whole, found by what was asked, renamed, rated."""

import asyncio
import logging
from pathlib import Path

import httpx
import pytest

from graph.langsmith import settle
from server.threads import ThreadBook
from tests.langsmith_server import Kept
from tests.server.conftest import OpenApi
from tests.server.test_app import AMBIGUOUS, LOOKUP, problem_of
from tests.server.test_auth import bearer, new_key


async def test_a_thread_gives_every_question_with_its_whole_answer_and_replies(
    api: httpx.AsyncClient,
) -> None:
    first = (await api.post("/ask", json={"question": LOOKUP})).json()
    thread = first["thread_id"]
    paused = (await api.post("/ask", json={"question": AMBIGUOUS, "thread_id": thread})).json()
    waiting = (await api.get(f"/threads/{thread}")).json()["turns"]
    assert [turn["question"] for turn in waiting] == [LOOKUP, AMBIGUOUS]
    assert [(item["question"], item["reply"]) for item in waiting[1]["exchanges"]] == [
        (paused["clarification"]["question"], None)
    ]
    chosen = next(item for item in paused["clarification"]["options"] if "10904" in item["label"])
    second = (await api.post(f"/threads/{thread}/reply", json={"reply": {"option": chosen["id"]}})).json()
    turns = (await api.get(f"/threads/{thread}")).json()["turns"]
    assert [turn["answer"]["text"] for turn in turns] == [first["text"], second["text"]]
    assert turns[0]["answer"]["citations"] == first["citations"]
    (exchange,) = turns[1]["exchanges"]
    assert (exchange["reply"], len(exchange["options"])) == (chosen["label"], 5)
    assert len({turn["run_id"] for turn in turns}) == 2


async def test_a_question_given_up_for_another_stays_without_an_answer(api: httpx.AsyncClient) -> None:
    thread = (await api.post("/ask", json={"question": AMBIGUOUS})).json()["thread_id"]
    await api.post("/ask", json={"question": LOOKUP, "thread_id": thread, "new": True})
    turns = (await api.get(f"/threads/{thread}")).json()["turns"]
    assert [(turn["question"], bool(turn["answer"])) for turn in turns] == [
        (AMBIGUOUS, False),
        (LOOKUP, True),
    ]


async def test_threads_are_found_by_any_question_asked_in_them_and_renamed(api: httpx.AsyncClient) -> None:
    thread = (await api.post("/ask", json={"question": LOOKUP})).json()["thread_id"]
    await api.post("/ask", json={"question": "What is 12% of 4,345?", "thread_id": thread})
    await api.post("/ask", json={"question": "Good morning!"})

    async def found(text: str) -> list[str]:
        listed = (await api.get("/threads", params={"q": text})).json()
        assert listed["total"] == len(listed["threads"])
        return [item["title"] for item in listed["threads"]]

    assert await found("4,345") == [LOOKUP]
    assert await found("12%") == [LOOKUP], "a percent sign is no wildcard"
    assert await found("_") == []
    renamed = await api.patch(f"/threads/{thread}", json={"title": "  Transistors "})
    assert renamed.json()["title"] == "Transistors"
    assert await found("transist") == ["Transistors"]
    assert (await api.get(f"/threads/{thread}")).json()["title"] == "Transistors"
    assert problem_of(await api.patch(f"/threads/{'0' * 32}", json={"title": "x"}))[0] == 404
    assert problem_of(await api.patch(f"/threads/{thread}", json={"title": " "}))[0] == 422
    await api.delete(f"/threads/{thread}")
    assert await found("4,345") == []


async def test_a_rating_is_kept_logged_and_taken_back(
    api: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "citegraph")
    thread = (await api.post("/ask", json={"question": LOOKUP})).json()["thread_id"]

    async def rating() -> int | None:
        turn = (await api.get(f"/threads/{thread}")).json()["turns"][0]
        given: int | None = turn["rating"]
        return given

    run = (await api.get(f"/threads/{thread}")).json()["turns"][0]["run_id"]
    path = f"/threads/{thread}/feedback"
    assert await rating() is None
    for score, kept in ((1, 1), (-1, -1), (0, None)):
        given = await api.post(path, json={"run_id": run, "score": score, "comment": "quoted secret"})
        assert (given.status_code, await rating()) == (204, kept)
    lines = [record.__dict__["fields"] for record in caplog.records if record.message == "feedback"]
    assert [line["score"] for line in lines] == [1, -1, 0]
    assert "quoted secret" not in caplog.text
    assert problem_of(await api.post(path, json={"run_id": "0" * 32, "score": 1}))[0] == 404
    assert problem_of(await api.post(path, json={"run_id": run, "score": 5}))[0] == 422


async def test_a_note_is_kept_found_replaced_and_deleted_with_its_thread(api: httpx.AsyncClient) -> None:
    thread = (await api.post("/ask", json={"question": LOOKUP})).json()["thread_id"]
    run = (await api.get(f"/threads/{thread}")).json()["turns"][0]["run_id"]
    path = f"/threads/{thread}/notes"

    async def kept() -> tuple[str, int]:
        found = (await api.get("/threads", params={"q": "sealing wax"})).json()["total"]
        return (await api.get(f"/threads/{thread}")).json()["turns"][0]["note"], found

    assert await kept() == ("", 0)
    for text, expected in (
        ("of Sealing wax", ("of Sealing wax", 1)),
        (" other ", ("other", 0)),
        ("", ("", 0)),
    ):
        assert (await api.post(path, json={"run_id": run, "text": text})).status_code == 204
        assert await kept() == expected
    answer = (await api.get(f"/threads/{thread}")).json()["answer"]
    await api.post(path, json={"run_id": run, "text": "of sealing wax"})
    assert (await api.get(f"/threads/{thread}")).json()["answer"] == answer, "no part of what was answered"
    assert problem_of(await api.post(path, json={"run_id": "0" * 32, "text": "x"}))[0] == 404
    assert problem_of(await api.post(path, json={"run_id": run, "text": "x" * 4001}))[0] == 422
    await api.delete(f"/threads/{thread}")
    assert (await api.get("/threads", params={"q": "sealing wax"})).json()["total"] == 0
    book = ThreadBook(api.app.state.services.settings.sql_url)  # type: ignore[attr-defined]
    assert book.notes(thread) == {}


async def test_other_peoples_threads_are_unknown(
    open_api: OpenApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = tmp_path / "keys.json"
    ana, bob = (bearer(new_key(keys, capsys, name, buckets=["*"], labels=["*"])) for name in ("ana", "bob"))
    async with open_api(api_keys=keys) as api:
        asked = (await api.post("/ask", json={"question": LOOKUP}, headers=ana)).json()["thread_id"]
        run = (await api.get(f"/threads/{asked}", headers=ana)).json()["turns"][0]["run_id"]
        given = {"run_id": run, "score": 1}
        for response in (
            await api.patch(f"/threads/{asked}", json={"title": "mine"}, headers=bob),
            await api.post(f"/threads/{asked}/feedback", json=given, headers=bob),
            await api.post(f"/threads/{asked}/notes", json={"run_id": run, "text": "x"}, headers=bob),
        ):
            assert response.status_code == 404
        assert (await api.get("/threads", params={"q": "VCEO"}, headers=bob)).json()["total"] == 0


async def test_the_reader_s_rating_reaches_the_trace_of_its_run(langsmith: Kept, open_api: OpenApi) -> None:
    async with open_api() as api:
        thread = (await api.post("/ask", json={"question": LOOKUP})).json()["thread_id"]
        run = (await api.get(f"/threads/{thread}")).json()["turns"][0]["run_id"]
        given = {"run_id": run, "score": -1, "comment": "wrong line"}
        await api.post(f"/threads/{thread}/feedback", json=given)
        await asyncio.to_thread(settle, 10.0)
        for _ in range(200):  # it is sent beside the traces, later on a busy machine
            if any(row["key"] == "reader" for row in langsmith.feedback):
                break
            await asyncio.sleep(0.05)
    (whole,) = langsmith.named("agent")
    (told,) = [row for row in langsmith.feedback if row["key"] == "reader"]
    assert (told["run_id"], told["score"], told.get("comment")) == (whole["id"], 0, None)
    assert "wrong line" not in langsmith.said


async def test_a_thread_that_was_left_before_its_first_step_shows_what_was_asked(
    api: httpx.AsyncClient,
) -> None:
    book = ThreadBook(api.app.state.services.settings.sql_url)  # type: ignore[attr-defined]
    thread = book.enter(None, "owner", "How long is the pier?")
    assert book.enter(thread, "owner", "And how wide?") == thread
    (turn,) = (await api.get(f"/threads/{thread}")).json()["turns"]
    assert (turn["question"], turn["answer"], turn["run_id"]) == ("And how wide?", None, "")
