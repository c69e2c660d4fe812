import time
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from citegraph.corpus.index.edge.edge_index import EdgeIndex
from citegraph.errors import Unavailable
from citegraph.run.context import Context
from citegraph.run.services import Services
from citegraph.settings import Settings
from nodes.gate import MAX_QUESTION, Gate, arithmetic, asked_question, judge, unusable
from tests.node_runtime import runtime


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("hello there!", "small talk"),
        ("Guten Morgen :)", "small talk"),
        ("Vielen Dank, das war's!", "small talk"),
        ("merci beaucoup", "small talk"),
        ("What can you do?", "capabilities"),
        ("Was kannst du?", "capabilities"),
        ("what is 12.5% of 80?", "arithmetic"),
        ("(3+4)*2", "arithmetic"),
    ],
)
def test_skips_retrieval_for_what_needs_no_document(question: str, reason: str) -> None:
    verdict = judge(question, ["invoices"])
    assert (verdict["retrieve"], verdict["reason"]) == (False, reason)
    assert verdict["reply"]


@pytest.mark.parametrize(
    "question",
    [
        "Hi, what is the total of invoice 4711?",
        "Thanks, and which contracts end in 2025?",
        "2024-03-14",
        "471102",
        "what can you tell me about invoice 12?",
        "1/2/2024",
    ],
)
def test_retrieves_for_everything_else(question: str) -> None:
    assert judge(question, ["invoices"])["retrieve"] is True


def test_arithmetic_is_exact_and_never_runs_code() -> None:
    assert arithmetic("what is 17% of 2340?") == "17% of 2340 = 397.8"
    assert arithmetic("0.1 + 0.2") == "0.1 + 0.2 = 0.3"
    assert arithmetic("1/0") is None
    assert arithmetic("__import__('os').getcwd()") is None
    assert arithmetic("9**9**9") is None


def test_the_newest_untaken_message_is_the_question() -> None:
    chat = [HumanMessage("first", id="1"), AIMessage("answer"), HumanMessage("second", id="2")]
    assert asked_question({"messages": chat}) == ("second", "2", True)
    for state in (
        {"messages": chat, "asked_id": "2", "query": "third"},
        {"messages": chat[:2], "query": "third"},
    ):
        text, made, written = asked_question(state)
        assert (text, written) == ("third", False)
        assert made.startswith("asked-")


def test_an_unusable_question_says_what_to_do() -> None:
    assert "send `query`" in str(unusable(""))
    assert f"{MAX_QUESTION:,}" in str(unusable("x" * (MAX_QUESTION + 1)))
    assert unusable("total?") is None


async def test_the_index_is_open_before_the_clock_of_a_run_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: dict[str, float] = {}
    counting = EdgeIndex.count

    async def count(index: EdgeIndex, bucket: str, filter_json: Any = None) -> int:
        opened[bucket] = time.time()
        return await counting(index, bucket, filter_json)

    monkeypatch.setattr(EdgeIndex, "count", count)
    services = Services(settings=Settings(home=tmp_path))
    try:
        asked: Any = {"query": "What is the total of invoice 4711?"}
        update = await Gate(services)(asked, runtime())
        assert set(opened) == set(services.open().buckets)
        assert update["deadline"] - Context().max_seconds >= max(opened.values())
        opened.clear()
        await Gate(services)(asked, runtime())
        assert opened == {}
    finally:
        await services.close()


async def test_an_index_that_does_not_answer_does_not_stop_the_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(index: EdgeIndex, bucket: str, filter_json: Any = None) -> int:
        raise Unavailable("the index does not answer")

    monkeypatch.setattr(EdgeIndex, "count", broken)
    services = Services(settings=Settings(home=tmp_path))
    try:
        asked: Any = {"query": "What is the total of invoice 4711?"}
        assert (await Gate(services)(asked, runtime()))["gate"]["retrieve"] is True
    finally:
        await services.close()
