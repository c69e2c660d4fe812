"""The load command: percentiles, generated documents, and what counts as an error."""

import json
import time
from pathlib import Path

import httpx
import pytest

from evals.load import Load, documents, questions, users


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
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as client:
        load = await users(client, ["one?"], 1, 0.04)
    assert load.errors[0] == "HTTP 503: away"
    assert load.errors[1].startswith("HTTP 200")
    assert len(load.seconds) == len(load.errors) + 1
