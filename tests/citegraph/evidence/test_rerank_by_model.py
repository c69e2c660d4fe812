"""A model's scores and order: read tolerantly, kept, and given up with a note when they fail."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from citegraph.corpus.index.passage_scores import ModelReranker, Reading, order_read, scores_read
from citegraph.corpus.index.views import ExactCache
from citegraph.corpus.schema.document import Hit
from citegraph.errors import Rejected, Unavailable
from citegraph.evidence.rerank_by_model import RerankOrder, RerankScores
from citegraph.llm.scripted import scripted
from citegraph.llm.strict import strict_schema
from citegraph.run.context import Context
from citegraph.run.services import Corpus, Services
from nodes.prune import Prune
from tests.citegraph.corpus.index.test_searcher import hit
from tests.citegraph.llm.strict_rules import check_strict

HITS = [hit("a", 0.9, "about cranes"), hit("b", 0.8, "about ropes"), hit("c", 0.7, "about the ferry")]


def ids(hits: Sequence[Hit]) -> list[str]:
    return [one.chunk.chunk_id for one in hits]


@pytest.mark.parametrize("schema", [RerankScores, RerankOrder])
def test_the_schemas_are_strict(schema: Any) -> None:
    assert check_strict(strict_schema(schema)) == []


def test_scores_are_read_tolerantly() -> None:
    given = [(2, 9.0), (2, 1.0), (7, 10.0), (0, 5.0), (1, 12.0), (3, -4.0), (3, 8.0)]
    assert scores_read(given, 3) == {1: 0.9, 0: 1.0, 2: 0.0}
    assert scores_read([(1, float("nan"))], 3) == {}


def test_an_order_is_read_tolerantly() -> None:
    assert order_read([3, 9, 1, 3, -1], 3) == pytest.approx({2: 1.0, 0: 2 / 3})
    assert order_read([], 3) == {}


async def test_the_left_out_stand_behind_and_what_was_asked_is_kept() -> None:
    asked: list[Sequence[str]] = []

    async def ask(query: str, passages: Sequence[str]) -> Reading:
        asked.append(passages)
        return {2: 0.9, 1: 0.1}

    kept: ExactCache[Reading] = ExactCache(10)
    reranker = ModelReranker(ask, kept, ("scores", "m", "v1"))
    assert ids(await reranker.rerank("ferry", HITS)) == ["c", "b", "a"]
    assert ids(await reranker.rerank("ferry", HITS)) == ["c", "b", "a"]
    assert len(asked) == 1
    for other in (("order", "m", "v1"), ("scores", "n", "v1"), ("scores", "m", "v2")):
        await ModelReranker(ask, kept, other).rerank("ferry", HITS)
    await reranker.rerank("Ferry", HITS)
    await reranker.rerank("ferry", HITS[1:])
    assert len(asked) == 6
    assert ids(await ModelReranker(ask, kept, ("t",), threshold=0.3).rerank("q", HITS)) == ["c", "a"]
    assert ids(await ModelReranker(ask, kept, ("t",), threshold=0.95).rerank("q", HITS)) == ["c", "b", "a"]
    long = [hit("long", 1.0, "word " * 400)]
    await ModelReranker(ask, kept, ("l",), depth=1).rerank("word", [*long, *HITS])
    assert [len(text) for text in asked[-1]] == [300]


async def test_a_reply_that_names_nothing_is_a_failure() -> None:
    async def ask(query: str, passages: Sequence[str]) -> Reading:
        return {}

    with pytest.raises(Rejected, match="none of the passages"):
        await ModelReranker(ask, ExactCache(1), ("v",)).rerank("ferry", HITS)


def services_with(corpus: Corpus, reply: Callable[[list[BaseMessage]], Any]) -> tuple[Services, Any]:
    chat, script = scripted(lambda step, messages: reply(messages))
    return Services(ready=corpus, models=chat), script


async def round_of(services: Services, corpus: Corpus, form: str, **limits: Any) -> dict[str, Any]:
    """Run prune over the passages that a search of the sample finds; the wanted one ranks low there."""
    from langgraph.runtime import Runtime

    from nodes.search import run_call

    context = Context(rerank=form, top_k=4, **limits)  # type: ignore[arg-type]
    call = {"tool": "search", "args": {"buckets": ["datasheets"], "query": "collector voltage"}}
    plan = {"kind": "passages", "buckets": ["datasheets"], "per_bucket": {"datasheets": {"filters": []}}}
    deep = context.model_copy(update={"top_k": 12})
    found, _ = await run_call(corpus, call, plan, deep, timeout=10)
    state: Any = {
        "question": "collector voltage",
        "plan": plan,
        "found": [found],
        "deadline": 4e9,
        "usage": {},
    }
    return await Prune(services)(state, Runtime(context=context))


def best_is_last(messages: list[BaseMessage]) -> dict[str, Any]:
    """Score as one does who knows that only the last passage answers."""
    numbers = [int(number) for number in re.findall(r"^\[(\d+)\]", messages[-1].text, re.MULTILINE)]
    assert max(len(part) for part in messages[-1].text.split("\n\n")) < 420
    return {"scores": [{"number": number, "score": 10 if number == numbers[-1] else 1} for number in numbers]}


async def test_what_the_model_finds_best_is_kept_and_without_it_nothing_changes(corpus: Corpus) -> None:
    plain = await round_of(services_with(corpus, best_is_last)[0], corpus, "none")
    services, script = services_with(corpus, best_is_last)
    better = await round_of(services, corpus, "scores")
    assert script.steps() == ["rerank"]
    assert better["usage"]["llm_calls"] == 1
    assert len(better["evidence"]) == 1, "what scores below the threshold falls"
    assert better["evidence"][0] not in plain["evidence"][:4]
    again = await round_of(services, corpus, "scores")
    assert (again["evidence"], again["usage"]["cache_hits"]) == (better["evidence"], 1)
    assert len(script.calls) == 1
    failing, _ = services_with(corpus, lambda messages: Unavailable("asleep"))
    failed = await round_of(failing, corpus, "scores")
    assert failed["evidence"] == [ref for ref in failed["evidence"] if ref in plain["evidence"]]
    assert len(failed["evidence"]) == 4
    assert [(line["step"], line["kind"]) for line in failed["notes"]] == [("rerank", "not reranked")]
    assert failed["usage"]["fallbacks"] == 1
    assert failed["usage"]["llm_calls"] >= 1


async def test_an_order_and_a_spent_budget(corpus: Corpus) -> None:
    services, _ = services_with(corpus, lambda messages: {"order": [12, 3, 3, 99]})
    ordered = await round_of(services, corpus, "order")
    scored = await round_of(services_with(corpus, best_is_last)[0], corpus, "scores")
    assert ordered["evidence"][0] == scored["evidence"][0]
    assert len(ordered["evidence"]) == 4
    services, script = services_with(corpus, best_is_last)
    without = await round_of(services, corpus, "scores", max_llm_calls=0)
    assert script.calls == []
    assert without["notes"][0]["kind"] == "not reranked"
