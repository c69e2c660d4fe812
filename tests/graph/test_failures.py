"""What fails falls back, is said and is counted; every run ends in an Answer."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from citegraph.corpus.index.index_protocol import Index, SearchRequest
from citegraph.corpus.schema.document import Hit
from citegraph.errors import Rejected, Unavailable
from citegraph.llm.scripted import scripted
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from graph.session import Session, sqlite_saver
from tests.graph.conftest import OpenSession
from tests.graph.test_answers import check_citations

QUESTION = "What is the maximum collector-emitter voltage VCEO of the NV2N517?"
BADGE = "Who must be told about a lost badge?"
FAILURES: dict[str, Any] = {
    "unavailable": Unavailable("the endpoint answered 503"),
    "rejected": Rejected("the endpoint answered 401"),
    "nonsense": "the moon, mostly",
    "wrong JSON": '{"status": 3}',
    "empty": "",
}
SECRET = "sk-very-secret"


def fallbacks(answer: Answer) -> list[str]:
    return [note.step for note in answer.notes if note.kind == "fallback"]


@pytest.mark.parametrize("failure", FAILURES)
async def test_when_every_model_call_fails_the_twins_answer_the_same(
    failure: str, open_session: OpenSession, corpus: Corpus
) -> None:
    async with open_session() as session:
        plain = await session.ask(QUESTION)
    # Nothing but text is wanted of compose: what it wrote falls when nothing of it can be verified.
    models, script = scripted(lambda step, messages: FAILURES[failure])
    async with open_session(models) as session:
        answer = await session.ask(QUESTION, context=Context(max_llm_calls=50))
    called = list(dict.fromkeys(script.steps()))
    assert called[0] == "decompose"
    planned = ["decompose", "schema_plan", "review", "compose"]
    if failure == "unavailable":
        assert len(script.calls) == 3, "after three failures the endpoint is left alone"
        called = planned
    assert set(planned) <= set(called)
    assert answer.usage.llm_calls == len(script.calls)
    assert set(fallbacks(answer)) == set(called)
    assert answer.usage.fallbacks == len(fallbacks(answer)) == len(called)
    assert (answer.status, answer.text) == (plain.status, plain.text)
    assert answer.citations == plain.citations
    check_citations(answer, corpus)


@pytest.mark.parametrize("step", ["decompose", "schema_plan", "review", "compose"])
async def test_one_failing_step_falls_back_alone(step: str, open_session: OpenSession) -> None:
    """The other steps are not configured here, so only the failing one may be noted."""
    seen = []

    def reply(asked: str, messages: list[BaseMessage]) -> Any:
        seen.append(asked)
        return Unavailable("down") if asked == step else Rejected("not in this script")

    models, _ = scripted(reply)
    async with open_session(models) as session:
        answer = await session.ask(QUESTION, context=Context(max_llm_calls=50))
    assert answer.status == "answered"
    messages = {note.step: note.message for note in answer.notes if note.kind == "fallback"}
    assert "down" in messages[step]
    assert seen.count(step) == 2, "an endpoint that may come back is asked once more"
    assert all(seen.count(other) == 1 for other in set(seen) - {step})


async def test_an_error_that_is_no_error_of_ours_is_named_by_its_kind_only(open_session: OpenSession) -> None:
    models, _ = scripted(lambda step, messages: ValueError(f"leaks {SECRET}"))
    async with open_session(models) as session:
        answer = await session.ask(QUESTION)
    assert answer.status == "answered"
    assert fallbacks(answer)
    assert SECRET not in answer.model_dump_json()
    assert "Traceback" not in answer.model_dump_json()


async def test_without_a_call_budget_no_model_is_asked(open_session: OpenSession) -> None:
    models, script = scripted([])
    async with open_session(models) as session:
        answer = await session.ask(QUESTION, context=Context(max_llm_calls=0))
    assert (answer.status, script.calls, answer.usage.fallbacks) == ("answered", [], 0)


async def test_a_models_claims_without_support_go_back_once_and_then_the_passages_answer(
    open_session: OpenSession, corpus: Corpus
) -> None:
    """The draft cites the right document for a wrong number; the correction repeats it; it must not stay."""

    def reply(step: str, messages: list[BaseMessage]) -> Any:
        if step == "compose":
            return "The maximum collector-emitter voltage VCEO is 9,999 V [nv2n517]."
        return Rejected("not in this script")

    models, script = scripted(reply)
    async with open_session(models) as session:
        answer = await session.ask(QUESTION)
    assert script.steps().count("compose") == 2
    assert "9,999" not in answer.text
    assert [note.kind for note in answer.notes if note.step == "verify_citations"].count("correction") == 1
    said = [note.message for note in answer.notes if (note.step, note.kind) == ("compose", "fallback")]
    assert said == ["nothing that was written could be verified, so the passages themselves are shown"]
    assert answer.usage.fallbacks == len(fallbacks(answer))
    assert (answer.status, answer.citations[0].doc_id) == ("answered", "nv2n517")
    assert "45 V" in answer.text
    check_citations(answer, corpus)


async def test_a_model_that_says_that_nothing_was_found_is_believed(open_session: OpenSession) -> None:
    said = "The evidence does not state the price of the NV2N517."
    models, _ = scripted(lambda step, messages: said if step == "compose" else Rejected("not in this script"))
    async with open_session(models) as session:
        answer = await session.ask(QUESTION)
    assert (answer.status, answer.text) == ("unanswerable", said)
    assert "compose" not in fallbacks(answer)


@dataclass
class Broken:
    """The real index, but for the buckets whose searches fail."""

    index: Index
    buckets: frozenset[str]

    async def search(self, request: SearchRequest) -> list[Hit]:
        if request.bucket in self.buckets:
            raise Unavailable(f"{request.bucket}: the shard is offline")
        return await self.index.search(request)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.index, name)


def broken(corpus: Corpus, *buckets: str) -> Corpus:
    return replace(corpus, index=Broken(corpus.index, frozenset(buckets)))  # type: ignore[arg-type]


async def test_a_failing_bucket_gives_a_notice_in_partial_mode(
    open_session: OpenSession, corpus: Corpus
) -> None:
    context = Context(buckets=["datasheets", "contracts"])
    async with open_session(corpus=broken(corpus, "contracts")) as session:
        answer = await session.ask(QUESTION, context=context)
    assert answer.status == "partial"
    assert "45 V" in answer.text
    notices = [note.message for note in answer.notes if note.kind == "bucket failed"]
    assert notices
    assert all("contracts" in notice and "offline" in notice for notice in notices)
    check_citations(answer, corpus)


async def test_a_failing_bucket_fails_the_search_in_strict_mode(
    open_session: OpenSession, corpus: Corpus
) -> None:
    context = Context(buckets=["datasheets", "contracts"], strict_search=True)
    async with open_session(corpus=broken(corpus, "contracts")) as session:
        answer = await session.ask(QUESTION, context=context)
    assert answer.status == "failed"
    assert answer.citations == []
    assert [note for note in answer.notes if note.step == "search" and "contracts" in note.message]
    assert "45 V" not in answer.text
    assert answer.clarification is None


async def test_a_document_that_the_filters_name_is_read_without_the_index(
    open_session: OpenSession, corpus: Corpus
) -> None:
    """Search is down, but the part number finds its data sheet in the annotations: partial, and said."""
    async with open_session(corpus=broken(corpus, *corpus.buckets)) as session:
        answer = await session.ask(QUESTION, context=Context(buckets=["datasheets"]))
    assert (answer.status, answer.search_quality) == ("partial", "none")
    assert "45 V" in answer.text
    assert [note for note in answer.notes if note.kind == "bucket failed"]
    check_citations(answer, corpus)


async def test_when_no_bucket_answers_the_run_fails_and_says_so(
    open_session: OpenSession, corpus: Corpus
) -> None:
    async with open_session(corpus=broken(corpus, *corpus.buckets)) as session:
        answer = await session.ask(BADGE, context=Context(buckets=["generic"]))
    assert answer.status == "failed"
    assert [note for note in answer.notes if note.step == "search" and "offline" in note.message]
    assert answer.clarification is None, "nothing was searched, so there is nothing to ask about"


async def test_a_thread_that_failed_can_be_asked_again(open_session: OpenSession, corpus: Corpus) -> None:
    context = Context(buckets=["generic"])
    async with open_session(corpus=broken(corpus, *corpus.buckets)) as session:
        first = await session.ask(BADGE, thread_id="again", context=context)
        assert first.status == "failed"
    async with open_session() as session:
        second = await session.ask(BADGE, thread_id="again", context=context)
    assert second.status != "failed"
    assert second.usage.fallbacks == 0
    assert not [note for note in second.notes if note.kind in {"failed", "bucket failed"}]


async def test_events_tell_the_steps_and_the_hits(session: Session) -> None:
    events: list[dict[str, Any]] = []
    await session.ask(QUESTION, on_event=events.append)
    steps = [event["step"] for event in events if event["event"] == "step"]
    assert steps == [
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
    (tool,) = [event for event in events if event["event"] == "tool"]
    assert (tool["tool"], tool["query"]) == ("search", QUESTION)
    assert 1 <= tool["hits"] <= 10


async def test_what_fails_while_threads_are_used_is_not_said_of_their_store(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        async with sqlite_saver(tmp_path / "threads.sqlite"):
            raise TimeoutError
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Unavailable, match="file"):
        async with sqlite_saver(tmp_path / "file" / "threads.sqlite"):
            pass
