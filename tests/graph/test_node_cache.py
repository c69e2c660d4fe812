"""A question decomposed once is not decomposed again: what counts as the same, and what a hit costs."""

from typing import Any

import pytest

from citegraph.llm.scripted import Script, scripted
from citegraph.run.context import Context
from citegraph.run.node_cache import NodeCache, cache_key
from citegraph.run.state import add_usage
from graph.session import Session
from tests.graph.conftest import OpenSession

QUESTION = "Which contracts mention a deposit?"
PLAN: dict[str, Any] = {
    "question": QUESTION,
    "small_talk": False,
    "reply": "",
    "intent": "list",
    "aggregate": "none",
    "primary_buckets": ["contracts"],
    "entities": [],
    "constraints": [],
    "topic_terms": ["deposit"],
    "subqueries": [],
    "format": "list",
}


def by_step(step: str, messages: Any) -> Any:
    """Decompose as the model would; every other step fails and falls back to its twin."""
    return PLAN if step == "decompose" else "no JSON"


async def ask(session: Session, script: Script, question: str = QUESTION, **context: Any) -> tuple[Any, int]:
    before = script.steps().count("decompose")
    answer = await session.ask(question, context=Context(**context))
    return answer, script.steps().count("decompose") - before


async def test_the_same_question_is_decomposed_once(open_session: OpenSession) -> None:
    models, script = scripted(by_step)
    async with open_session(models) as session:
        first, calls = await ask(session, script)
        again, calls_again = await ask(session, script)
    assert (calls, calls_again) == (1, 0)
    assert again.usage.cache_hits == first.usage.cache_hits + 1
    assert again.usage.llm_calls == first.usage.llm_calls - 1
    assert (again.text, again.status, again.filters) == (first.text, first.status, first.filters)


async def test_a_kept_step_is_told_as_a_step(open_session: OpenSession) -> None:
    models, script = scripted(by_step)
    async with open_session(models) as session:
        told: list[list[Any]] = []
        for _ in range(2):
            events = [event async for event in session.stream(QUESTION, context=Context())]
            told.append([event["step"] for event in events if event["event"] == "step"])
    assert told[0] == told[1]
    assert "decompose" in told[0]
    assert script.steps().count("decompose") == 1


@pytest.mark.parametrize(
    "other",
    [{"question": "Which contracts mention a bond?"}, {"today": "2020-01-01"}, {"buckets": ["contracts"]}],
)
async def test_what_makes_another_question(open_session: OpenSession, other: dict[str, Any]) -> None:
    models, script = scripted(by_step)
    async with open_session(models) as session:
        await ask(session, script)
        _, calls = await ask(session, script, **other)
    assert calls == 1


async def test_a_write_makes_it_another_question(open_session: OpenSession) -> None:
    models, script = scripted(by_step)
    async with open_session(models) as session:
        await ask(session, script)
        corpus = await session.services.corpus()
        doc_id = corpus.annotations.document_ids("contracts", limit=1)[0]
        values = corpus.annotations.get(doc_id, "contracts") or {}
        corpus.annotations.put("contracts", [(doc_id, values)])
        _, calls = await ask(session, script)
    assert calls == 1


async def test_the_switch(open_session: OpenSession, services: Any) -> None:
    models, script = scripted(by_step)
    off = services.settings.model_copy(update={"cache": False})
    async with open_session(models) as session:
        plain = Session(
            type(session.services)(settings=off, ready=services.open(), models=models),
            session.graph.checkpointer,
        )
        await ask(plain, script)
        _, calls = await ask(plain, script)
    assert calls == 1


def test_a_state_without_a_key_is_never_found() -> None:
    assert cache_key({"asked": "a", "gate": {}}) != cache_key({"asked": "a", "gate": {}})
    same = {"asked": "a", "gate": {"key": "k"}}
    assert cache_key(same) == cache_key(dict(same))  # type: ignore[arg-type]
    assert cache_key(same) != cache_key(same | {"turns": [{"question": "b"}]})  # type: ignore[arg-type]


def test_counters_of_another_run_are_one_hit() -> None:
    left = {"started": 2.0, "llm_calls": 1, "steps": {"gate": 0.1}}
    assert add_usage(left, {"run": 1.0, "llm_calls": 5, "steps": {"decompose": 3.0}}) == left | {
        "cache_hits": 1
    }
    own = add_usage(left, {"run": 2.0, "llm_calls": 5, "steps": {"decompose": 3.0}})
    assert own == {"started": 2.0, "llm_calls": 6, "steps": {"gate": 0.1, "decompose": 3.0}}


async def test_the_cache_forgets() -> None:
    cache = NodeCache()
    key = (("writes",), "k")
    await cache.aset({key: ([("decomposition", {"a": 1})], None)})
    assert await cache.aget([key, (("writes",), "other")]) == {key: [["decomposition", {"a": 1}]]}
    await cache.aclear()
    assert await cache.aget([key]) == {}
