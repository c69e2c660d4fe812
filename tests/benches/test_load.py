"""The load command: percentiles, generated documents, and what counts as an error."""

import json
import random
import statistics
import time
from pathlib import Path

import httpx
import pytest

from benches.load import Crowd, Load, documents, questions, users


def test_percentiles_are_by_nearest_rank() -> None:
    assert Load([float(n) for n in range(1, 101)]).p(0.95) == 96.0
    assert Load([2.0]).p(0.5) == 2.0
    assert Load().p(0.5) == float("inf")


def test_documents_differ_and_are_the_same_each_time() -> None:
    rows = [json.loads(line) for line in documents(50).splitlines()]
    assert len({row["doc_id"] for row in rows}) == len({row["text"] for row in rows}) == 50
    assert documents(50) == documents(50)


def test_question_files_give_their_first_turns(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text('{"turns": ["one?", "two?"]}\n\n{"other": 1}\n', "utf-8")
    assert questions([file]) == ["one?"]
    file.write_text("", "utf-8")
    with pytest.raises(SystemExit, match="No question"):
        questions([file])


async def test_what_is_no_answer_is_an_error() -> None:
    replies = iter([httpx.Response(200, json={"status": "answered"}), httpx.Response(503, text="away")])

    def reply(request: httpx.Request) -> httpx.Response:
        found = next(replies, None)
        if found is None:
            time.sleep(0.05)
            return httpx.Response(200, json={"status": "failed"})
        return found

    transport = httpx.MockTransport(reply)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        load = await users(client, ["one?"], Crowd(1, 0.04))
    assert load.errors[0] == "HTTP 503: away"
    assert load.errors[1].startswith("HTTP 200")
    assert len(load.seconds) == len(load.errors) + 1


def test_a_user_pauses_as_long_as_said_in_the_mean() -> None:
    draw = random.Random(1)
    pauses = [Crowd(1, 1.0, think=7.0).pause(draw) for _ in range(20_000)]
    assert statistics.fmean(pauses) == pytest.approx(7.0, rel=0.03)
    assert max(pauses) <= 70.0
    assert Crowd(1, 1.0).pause(draw) == 0.0


async def test_nothing_is_asked_after_the_end() -> None:
    asked: list[httpx.Request] = []

    def reply(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={"status": "answered"})

    async with httpx.AsyncClient(transport=httpx.MockTransport(reply), base_url="http://localhost") as client:
        assert await users(client, ["one?"], Crowd(3, 0.0, think=60.0)) == Load()
    assert asked == []
