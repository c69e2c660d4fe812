"""What a step's model is asked with, from the settings and the run's `models` through a whole run to the endpoint."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import SecretStr

from benches.steady import ONE_HOP
from citegraph.llm.call_options import STEPS
from citegraph.llm.chat import ChatModels
from citegraph.run.context import Context
from citegraph.run.services import Services
from graph.session import Session
from tests.citegraph.llm.endpoint import KEY, Http, Sse
from tests.faults.matrix import SCENARIOS, Scenario
from tests.faults.proxy import Upstream, saying

OWN_KEY = "sk-own-7d2e91"
STRONG = "-strong"
OPTIONS: dict[str, Any] = {
    "temperature": 0.25,
    "max_tokens": 1_345,
    "timeout": 17.5,
    "reasoning_effort": "low",
    "method": "tool_call",
}
PLAIN_TIMEOUT = 41.0


class Recorder(Upstream):
    """Answers right whatever a step's model is called, a forced tool by its call; keeps all that it was sent."""

    def reply(self, path: str, body: dict[str, Any]) -> Http | Sse:
        """See `Upstream.reply`."""
        named = super().reply(path, body | {"model": body["model"].removesuffix(STRONG)})
        if not body.get("tool_choice") or isinstance(named, Sse):
            return named
        content = named.body["choices"][0]["message"]["content"]
        name = body["tool_choice"]["function"]["name"]
        call = {"id": "t1", "type": "function", "function": {"name": name, "arguments": content}}
        return saying(None, finish="tool_calls", tool_calls=[call])(body)

    def base(self, cell: str = "run") -> str:
        """Return the address of one conversation."""
        return self.template.format(cell=cell)


@pytest.fixture
def endpoints() -> Iterator[tuple[Recorder, Recorder]]:
    """Give the process's endpoint and one that a step has of its own."""
    both = Recorder(), Recorder()
    yield both
    for endpoint in both:
        endpoint.close()


def models_for(services: Services, scenario: Scenario, shared: Recorder, own: Recorder) -> ChatModels:
    """Return the real client's models: each step's bears its name, the scenario's step has an endpoint and key."""
    named: dict[str, dict[str, Any]] = {
        step: {"model": step, "timeout": PLAIN_TIMEOUT} for step in STEPS if step not in scenario.without
    }
    named[scenario.step] |= {"base_url": own.base(), "api_key": OWN_KEY}
    update = {
        "openai_base_url": shared.base(), "openai_api_key": SecretStr(KEY), "model": None, "step_models": named,
    }  # fmt: skip
    return ChatModels(services.settings.model_copy(update=update))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.step)
async def test_each_option_of_a_step_reaches_its_endpoint(
    services: Services, endpoints: tuple[Recorder, Recorder], scenario: Scenario
) -> None:
    shared, own = endpoints
    for endpoint in endpoints:
        endpoint.answers["run"] = scenario.example.reply
    models = models_for(services, scenario, shared, own)
    chosen = Services(settings=models.settings, ready=services.open(), models=models)
    step = scenario.step
    context = Context(
        **{"models": {step: {"model": f"{step}{STRONG}", **OPTIONS}}, "max_seconds": 300, **scenario.context}
    )
    session = Session(chosen, InMemorySaver(), scenario.graph)  # type: ignore[arg-type]
    for question in (*scenario.earlier, scenario.example.question):
        answer = await session.ask(question, thread_id="t", context=context)
    await models.aclose()
    assert [note for note in answer.notes if note.kind == "fallback"] == []
    assert all(text in answer.text for text in scenario.example.holds)

    assert own.requests, "the step was asked at its own endpoint"
    for body, headers in zip(own.requests, own.headers, strict=True):
        sent = {name: body.get(name) for name in ("model", "temperature", "reasoning_effort")}
        assert sent == {"model": f"{step}{STRONG}", "temperature": 0.25, "reasoning_effort": "low"}
        assert body["max_completion_tokens"] == OPTIONS["max_tokens"]
        assert headers["authorization"] == f"Bearer {OWN_KEY}"
        assert float(headers["x-stainless-read-timeout"]) == OPTIONS["timeout"]
        if step not in {"compose", "agent"}:
            assert body["tool_choice"]["type"] == "function", "the method of the run"
            assert "response_format" not in body
    for body, headers in zip(shared.requests, shared.headers, strict=True):
        assert body["model"] in set(STEPS) - {step}
        assert "reasoning_effort" not in body
        assert "max_completion_tokens" not in body
        assert "tool_choice" not in body, "another step keeps its own method"
        assert headers["authorization"] == f"Bearer {KEY}"
        assert float(headers["x-stainless-read-timeout"]) == PLAIN_TIMEOUT
        assert OWN_KEY not in json.dumps([body, headers])


async def test_the_time_of_a_step_ends_its_call_and_the_twin_answers(
    services: Services, endpoints: tuple[Recorder, Recorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, own = endpoints
    scenario = next(item for item in SCENARIOS if item.step == "decompose")
    shared.answers["run"] = ONE_HOP.reply
    monkeypatch.setattr(own, "reply", lambda path, body: Http(body="{}", wait=1.0))
    models = models_for(services, scenario, shared, own)
    chosen = Services(settings=models.settings, ready=services.open(), models=models)
    context = Context(models={"decompose": {"timeout": 0.2}}, max_seconds=300)
    answer = await Session(chosen, InMemorySaver()).ask(ONE_HOP.question, context=context)
    await models.aclose()
    assert ("decompose", "out of time") in {(note.step, note.kind) for note in answer.notes}
    assert "45 V" in answer.text
    assert [float(headers["x-stainless-read-timeout"]) for headers in own.headers] == [0.2]


@pytest.mark.parametrize("option", ["base_url", "api_key"])
async def test_a_run_cannot_send_documents_or_keys_elsewhere(
    services: Services, endpoints: tuple[Recorder, Recorder], option: str
) -> None:
    """Where a model is asked, and with which key, only the process says: a caller's run would carry its documents there."""
    shared, own = endpoints
    shared.answers["run"] = ONE_HOP.reply
    scenario = next(item for item in SCENARIOS if item.step == "compose")
    models = models_for(services, scenario, shared, shared)
    chosen = Services(settings=models.settings, ready=services.open(), models=models)
    context = Context(models={"compose": {option: own.base()}})
    answer = await Session(chosen, InMemorySaver()).ask(ONE_HOP.question, context=context)
    await models.aclose()
    assert answer.status == "failed"
    assert answer.text.startswith(
        f"models: compose.{option}: Extra inputs are not permitted; options: model, "
    )
    assert [note for note in answer.notes if note.kind == "failed"] == []
    assert own.requests == []
