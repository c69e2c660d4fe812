"""Other wordings of a search: asked only where they are wanted, merged by rank, and given up without harm."""

import time
from typing import Any

import pytest
from langgraph.runtime import Runtime

from citegraph.errors import Unavailable
from citegraph.evidence.expand_by_model import Wordings, declared_wordings, merged_by_rank, usable
from citegraph.llm.scripted import scripted
from citegraph.llm.strict import strict_schema
from citegraph.run.context import Context
from citegraph.run.services import Corpus, Services
from nodes.search import Search
from tests.citegraph.llm.strict_rules import check_strict

OFF_THE_WORDS = "How much tension may lie across the switch when nothing feeds it?"


def test_the_schema_is_strict() -> None:
    assert check_strict(strict_schema(Wordings)) == []


def test_wordings_keep_numbers_and_are_new() -> None:
    query = "warranty of NV2N517 after 24 months"
    given = [
        "guarantee of NV2N517  after 24 months",
        query.upper(),
        "guarantee",
        "warranty NV2N517 24",
        "a NV2N517 24",
    ]
    assert usable(query, given) == ["guarantee of NV2N517 after 24 months", "warranty NV2N517 24"]


def test_declared_names_stand_in_for_a_model(corpus: Corpus) -> None:
    bucket = corpus.buckets["invoices"]
    field = next(field for field in bucket.fields if len(field.aliases) > 1)
    query = f"which {field.aliases[0]} is the largest"
    wordings = declared_wordings(query, [bucket])
    assert 1 <= len(wordings) <= 2
    assert all(text != query and text.endswith("is the largest") for text in wordings)
    assert declared_wordings("xyzzy", [bucket]) == []


def test_lists_are_merged_by_reciprocal_rank() -> None:
    def refs(*names: str, score: float = 0.1) -> list[dict[str, Any]]:
        return [{"id": name, "score": score} for name in names]

    merged = merged_by_rank([refs("a", "b"), refs("b", "c", score=0.7), refs("c", "b")], 2)
    assert merged == [{"id": "b", "score": 0.7}, {"id": "c", "score": 0.7}]


async def searched(
    corpus: Corpus, reply: Any, *, usage: bool = True, told: Any = None, **settings: Any
) -> tuple[Any, Any]:
    chat, script = scripted(lambda step, messages: reply)
    call = {"tool": "search", "args": {"buckets": ["datasheets"], "query": OFF_THE_WORDS} | (told or {})}
    plan = {"kind": "passages", "buckets": ["datasheets"], "per_bucket": {"datasheets": {"filters": []}}}
    state: Any = {"call": call, "plan": plan, "deadline": time.time() + 30}
    state |= {"usage": {}} if usage else {}
    runtime: Any = Runtime(context=Context(top_k=4, **settings), stream_writer=lambda event: None)
    return await Search(Services(ready=corpus, models=chat))(state, runtime), script


ANSWERED = {"wordings": ["collector-emitter voltage VCEO open base", "maximum VCEO limiting value"]}


async def test_a_model_words_a_search_that_finds_little(corpus: Corpus) -> None:
    off, script = await searched(corpus, ANSWERED)
    assert script.calls == []
    weak, script = await searched(corpus, ANSWERED, expand="weak", score_threshold=0.9)
    assert script.steps() == ["expand"]
    assert (weak["usage"]["llm_calls"], weak["usage"]["tool_calls"]) == (1, 1)
    before, after = ({ref["doc"] for ref in update["found"][0]["hits"]} for update in (off, weak))
    assert after - before, "other wordings find other documents"
    assert len(weak["found"][0]["hits"]) == 4
    assert weak["found"][0]["call"]["args"]["query"] == OFF_THE_WORDS
    _, script = await searched(corpus, ANSWERED, expand="weak", score_threshold=0.0)
    assert script.calls == []
    _, script = await searched(corpus, ANSWERED, expand="always", usage=False)
    assert script.calls == [], "searches beside the first ask no model"


async def test_what_is_asked_about_is_searched_beside_the_question(corpus: Corpus) -> None:
    off, _ = await searched(corpus, {})
    told, script = await searched(corpus, {}, told=ANSWERED)
    assert script.calls == []
    assert told["usage"]["tool_calls"] == 1
    before, after = ({ref["doc"] for ref in update["found"][0]["hits"]} for update in (off, told))
    assert after - before, "other wordings find other documents"
    assert len(told["found"][0]["hits"]) == 4
    few = {"only": sorted(before | after)[:3]}
    inside, _ = await searched(corpus, {}, told=few)
    more, _ = await searched(corpus, {}, told=few | ANSWERED)
    assert len(inside["found"][0]["hits"]) == 4 < len(more["found"][0]["hits"]), (
        "of few documents more is kept"
    )


@pytest.mark.parametrize("reply", [Unavailable("asleep"), {"wordings": []}])
async def test_without_other_wordings_the_search_stands(reply: Any, corpus: Corpus) -> None:
    off, _ = await searched(corpus, reply)
    tried, _ = await searched(corpus, reply, expand="always")
    assert tried["found"] == off["found"]
    failed = isinstance(reply, Unavailable)
    assert [item["kind"] for item in tried["notes"]] == (["fallback"] if failed else [])
    assert tried["usage"].get("fallbacks", 0) == failed


async def test_difference_is_chosen_over_repetition(corpus: Corpus) -> None:
    plain, _ = await searched(corpus, {})
    diverse, _ = await searched(corpus, {}, mmr=0.5)
    assert len(diverse["found"][0]["hits"]) == 4
    assert diverse["found"] != plain["found"]
