"""The single-pass mode: one round of searches, at most one model call, nothing asked back."""

from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage

from citegraph.llm.scripted import scripted
from citegraph.run.context import Context
from citegraph.run.services import Services
from graph.session import Session, sqlite_saver
from tests.graph.conftest import OpenSession
from tests.graph.test_citation_flow import QUESTION, RIGHT, WRONG, writing
from tests.graph.test_streaming import AMBIGUOUS

SINGLE = Context(mode="single")


async def test_a_single_pass_asks_one_model_once(open_session: OpenSession) -> None:
    models, script = writing(RIGHT)
    async with open_session(models) as session:
        answer = await session.ask(QUESTION, context=SINGLE)
    assert script.steps() == ["compose"]
    assert (answer.status, answer.text) == ("answered", RIGHT)
    assert (answer.usage.llm_calls, answer.usage.rounds) == (1, 1)


async def test_a_wrong_claim_is_cut_without_a_second_call(open_session: OpenSession) -> None:
    models, script = writing(f"{RIGHT} The NV2N517 weighs 77 grams [nv2n517].")
    async with open_session(models) as session:
        answer = await session.ask(QUESTION, context=SINGLE)
    assert script.steps() == ["compose"]
    assert answer.text == RIGHT


async def test_a_failing_model_is_not_asked_again_by_another_step(open_session: OpenSession) -> None:
    def reply(step: str, messages: list[BaseMessage]) -> Any:
        return "<think>never finished"

    models, script = scripted(reply)
    async with open_session(models) as session:
        answer = await session.ask(QUESTION, context=SINGLE)
    assert script.steps() == ["compose"]
    assert "45 V" in answer.text, "the twin answers"


async def test_nothing_is_asked_back(session: Session) -> None:
    assert (await session.ask(AMBIGUOUS)).status == "needs_clarification"
    assert (await session.ask(AMBIGUOUS, context=SINGLE)).status != "needs_clarification"


async def test_sums_are_the_databases_in_a_single_pass_too(session: Session) -> None:
    question = "How much did Cobaltine invoice in total?"
    once, whole = await session.ask(question, context=SINGLE), await session.ask(question)
    assert once.table is not None
    assert (once.text, once.documents) == (whole.text, whole.documents)


async def test_the_process_switches_every_run_that_does_not_say(services: Services, tmp_path: Path) -> None:
    models, script = writing(WRONG)
    settings = services.settings.model_copy(update={"mode": "single"})
    async with sqlite_saver(tmp_path / "switched.sqlite") as saver:
        session = Session(Services(settings=settings, ready=services.open(), models=models), saver)
        await session.ask(QUESTION)
        assert script.steps() == ["compose"]
        await session.ask(QUESTION, context=Context(mode="agentic"))
    assert script.steps().count("decompose") >= 1
