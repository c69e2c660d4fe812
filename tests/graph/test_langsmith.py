"""What LangSmith is sent: the tree of a run, names, tags, counts and feedback, and no text unless it is asked for."""

import asyncio
import json
import time
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from citegraph.errors import Rejected, Unavailable
from citegraph.llm.chat import ChatModels
from citegraph.llm.scripted import scripted
from citegraph.run.services import Corpus, Services
from citegraph.settings import Settings
from graph.langsmith import ids, reticent, settle, sizes
from graph.session import Session
from tests.langsmith_server import KEY, Kept

QUESTION = "What is the maximum collector-emitter voltage VCEO of the NV2N517?"
ANSWER = "The collector-emitter voltage VCEO of the NV2N517 is 45 V at most [nv2n517]."
MODEL_KEY = "sk-secret-of-the-model"


def models() -> ChatModels:
    """Return models of which compose writes the answer and every other step fails."""

    def reply(step: str, messages: list[BaseMessage]) -> Any:
        failure = Unavailable if step == "decompose" else Rejected
        return ANSWER if step == "compose" else failure(f"{step}: asleep, said with {QUESTION}")

    chat, _ = scripted(reply, Settings.model_construct(openai_api_key=MODEL_KEY, step_models={}))
    return chat


async def ask(corpus: Corpus, *, trace_text: bool = False, thread: str = "thread-1") -> Any:
    """Answer the question in a session that traces, and wait until all of it was sent."""
    from langgraph.checkpoint.memory import InMemorySaver

    settings = Settings(trace_text=trace_text)
    session = Session(Services(settings=settings, ready=corpus, models=models()), InMemorySaver())
    answer = await session.ask(QUESTION, thread_id=thread)
    await asyncio.to_thread(settle, 10.0)
    return answer


def texts_of(corpus: Corpus) -> set[str]:
    """Return every line of every document of the sample that is long enough to be told from a name."""
    found = set()
    for bucket in corpus.buckets:
        for record in corpus.documents.all_records(bucket).values():
            lines = (corpus.documents.text(record.doc_id) or "").splitlines()
            found |= {line.strip() for line in lines if len(line.strip()) >= 15}
    return found


async def test_a_run_is_a_tree_of_steps_with_tags_counts_and_feedback(
    langsmith: Kept, corpus: Corpus
) -> None:
    answer = await ask(corpus)
    assert answer.text == ANSWER
    ((root, steps),) = langsmith.tree()
    assert root == "agent"
    names = [name for name, _ in steps if not name.startswith("__error_handler__")]
    assert names[0] == "gate"
    assert names[-2:] == ["compose", "verify_citations"]
    assert {"search", "prune", "review"} <= set(names)
    children = {name: [child for child, _ in below] for name, below in steps}
    assert "compose" in children["compose"], "the model's run lies in its step and bears its name"
    (whole,) = langsmith.named("agent")
    tags = set(whole["tags"])
    assert {"intent:qa", "bucket:datasheets", "strategy:hybrid", "status:answered"} <= tags
    assert any(tag.startswith("prompt:compose:") for tag in tags)
    metadata = whole["extra"]["metadata"]
    assert (metadata["thread_id"], metadata["status"]) == ("thread-1", "answered")
    assert metadata["usage"]["llm_calls"] == answer.usage.llm_calls > 0
    assert metadata["usage"]["citations_count"] == len(answer.citations) > 0
    (search,) = langsmith.named("search")
    assert search["extra"]["metadata"]["hits"] > 0
    assert metadata["verdicts"] == ["supported"]
    assert whole["outputs"]["answer"].endswith("entries>")
    given = {row["key"]: (row["score"], row["run_id"]) for row in langsmith.feedback}
    assert given == {
        "citation_precision": (1, whole["id"]),
        "fallbacks": (answer.usage.fallbacks, whole["id"]),
    }
    assert {row["session_id"] for row in langsmith.feedback} == {langsmith.projects["tests"]["id"]}


async def test_no_text_and_no_key_is_sent_by_default(langsmith: Kept, corpus: Corpus) -> None:
    await ask(corpus)
    said = langsmith.said
    assert "nv2n517" in said, "ids are sent"
    for secret in (QUESTION, ANSWER, "45 V", "asleep", KEY, MODEL_KEY, "Traceback"):
        assert secret not in said
        assert json.dumps(secret)[1:-1] not in said
    lines = texts_of(corpus)
    assert len(lines) > 200
    assert [line for line in lines if line in said or json.dumps(line)[1:-1] in said] == []
    errors = [run["error"] for run in langsmith.runs.values() if run.get("error")]
    assert set(errors) == {"Unavailable", "Rejected"}


async def test_text_is_sent_when_it_is_asked_for(langsmith: Kept, corpus: Corpus) -> None:
    await ask(corpus, trace_text=True)
    assert QUESTION in langsmith.said
    assert ANSWER in langsmith.said
    assert KEY not in langsmith.said
    assert MODEL_KEY not in langsmith.said


async def test_a_tracer_that_langgraph_starts_itself_is_guarded_too(langsmith: Kept, corpus: Corpus) -> None:
    from graph.build import build

    agent = build(Services(settings=Settings(), ready=corpus)).compile()
    await agent.ainvoke({"query": QUESTION})
    await asyncio.to_thread(settle, 10.0)
    assert langsmith.named("verify_citations")
    assert QUESTION not in langsmith.said


@pytest.mark.parametrize(("status", "wait"), [(500, 0.0), (200, 30.0)], ids=["broken", "hanging"])
async def test_a_run_does_not_feel_a_server_that_fails(
    status: int, wait: float, langsmith: Kept, corpus: Corpus
) -> None:
    langsmith.status, langsmith.wait = status, wait
    from langgraph.checkpoint.memory import InMemorySaver

    session = Session(Services(settings=Settings(), ready=corpus, models=models()), InMemorySaver())
    started = time.monotonic()
    answer = await asyncio.wait_for(session.ask(QUESTION), 20)
    assert answer.text == ANSWER
    assert [note for note in answer.notes if "trac" in note.message.casefold()] == []
    await asyncio.to_thread(settle, 0.2)
    assert time.monotonic() - started < 20
    langsmith.released.set()


def test_inputs_and_outputs_are_told_by_their_sizes() -> None:
    sent = sizes(
        {
            "query": "Who owes us money?",
            "evidence": [{"text": "Acme owes"}],
            "Acme Ltd": 1200,
            "deadline": None,
        }
    )
    assert sent == {"query": "<18 characters>", "evidence": "<1 entries>", "key": "<int>", "deadline": None}


def test_of_metadata_ids_and_numbers_are_sent() -> None:
    sent = ids(
        {
            "thread_id": "t-1",
            "step": "a name with blanks",
            "documents": ["acme-7", "Acme owes us"],
            "usage": {"llm_calls": 2, "said": "Acme"},
            "langgraph_step": 3,
            "customer": "Acme",
            "total": 1200,
            "Acme Ltd": True,
        }
    )
    assert sent == {
        "thread_id": "t-1",
        "step": "<18 characters>",
        "documents": ["acme-7", "<12 characters>"],
        "usage": {"llm_calls": 2},
        "langgraph_step": 3,
        "customer": "<4 characters>",
        "total": "<int>",
        "key": True,
    }


@pytest.mark.parametrize(
    ("error", "sent"),
    [("Unavailable('Acme owes us')\n\nTraceback", "Unavailable"), ("Acme owes us", "error"), (None, None)],
)
def test_of_an_error_the_kind_is_sent(error: str | None, sent: str | None) -> None:
    told = reticent(
        {"error": error, "serialized": {"key": "secret"}, "extra": {"metadata": {}, "prompts": 1}}
    )
    assert told == {"error": sent, "extra": {"metadata": {}}}
