"""The real client against a loopback endpoint: what is sent, what failures become, what it cost."""

import asyncio
import socket
import subprocess
import sys
import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, Literal

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

from citegraph.errors import BadInput, BudgetSpent, CitegraphError, Rejected, TimedOut, Unavailable
from citegraph.llm.budget import CallBudget
from citegraph.llm.call_options import Call, Step
from citegraph.llm.chat import ChatModels, text
from citegraph.llm.foreign_errors import NotAccepted, retry_after, translate
from citegraph.llm.model_call import ModelCall
from citegraph.llm.scripted import scripted
from citegraph.llm.streaming import TextStream
from citegraph.llm.structured import structured
from citegraph.settings import Settings
from tests.citegraph.llm.endpoint import KEY, Endpoint, Http, said

PROMPT = "The confidential question 8421"


class Verdict(BaseModel):
    verdict: Literal["yes", "no"]


def ask(step: Step = "compose", *, calls: int = 5, seconds: float = 20, **more: Any) -> Call:
    messages = [SystemMessage("Answer."), HumanMessage(PROMPT)]
    return Call(step, messages, CallBudget.of(calls, seconds), **more)


def problem(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", **more}}


async def collect(models: ChatModels, call: Call) -> tuple[list[str], ModelCall | None]:
    answer = TextStream(models, call)
    return [piece async for piece in answer], answer.result


# What is sent and what comes back


async def test_one_call_sends_the_options_and_counts_the_endpoints_tokens(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(body=said("Forty-two."))]
    options = {"max_tokens": 50, "reasoning_effort": "low", "temperature": 0.5}
    models = endpoint.models(step_models={"compose": options})
    call = ask(prompt_version="3")
    reply = await text(models, call)
    sent = endpoint.requests[0]
    assert {k: sent[k] for k in ("model", "temperature", "max_completion_tokens", "reasoning_effort")} == {
        "model": "m",
        "temperature": 0.5,
        "max_completion_tokens": 50,
        "reasoning_effort": "low",
    }
    assert [m["role"] for m in sent["messages"]] == ["system", "user"]
    assert endpoint.keys == [f"Bearer {KEY}"]
    assert (reply.content, reply.tokens_in, reply.tokens_out, reply.estimated) == ("Forty-two.", 11, 7, False)
    assert (reply.step, reply.prompt_version, reply.finish) == ("compose", "3", "stop")
    assert (call.budget.calls_left, call.budget.calls) == (4, [reply])


async def test_tokens_are_estimated_when_the_endpoint_is_silent(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(body=said("12345678", usage=False))]
    reply = await text(endpoint.models(), ask())
    assert (reply.tokens_in, reply.tokens_out, reply.estimated) == (2 + 8, 2, True)


async def test_tools_come_back_as_calls_also_broken_ones(endpoint: Endpoint) -> None:
    made = [
        {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"query": "x"}'}},
        {"id": "2", "type": "function", "function": {"name": "search", "arguments": '{"query": '}},
    ]
    endpoint.replies = [Http(body=said(None, finish="tool_calls", tool_calls=made))]
    tool = {
        "type": "function",
        "function": {"name": "search", "parameters": {"type": "object", "properties": {}}},
    }
    reply = await text(endpoint.models(), ask("agent"), tools=[tool])
    assert endpoint.requests[0]["tools"] == [tool]
    assert [(c["type"], c["args"]) for c in reply.tool_calls] == [
        ("tool_call", {"query": "x"}),
        ("invalid", '{"query": '),
    ]


async def test_thoughts_are_left_out_of_text(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(body=said("<think>hm</think>\nYes.")), Http(body=said("<think>hm, hm"))]
    models = endpoint.models()
    assert (await text(models, ask())).content == "Yes."
    with pytest.raises(Rejected, match="answered with nothing"):
        await text(models, ask())


async def test_run_options_go_over_step_options_over_process(endpoint: Endpoint) -> None:
    models = endpoint.models(step_models={"review": {"model": "planner", "temperature": 1}}, model_timeout=9)
    spec = models.spec("review", {"review": {"temperature": 0.2}, "compose": {"model": "strong"}})
    assert (spec.model, spec.temperature, spec.timeout) == ("planner", 0.2, 9)
    assert models.spec("compose", {"compose": {"model": "strong"}}).model == "strong"
    assert models.spec("route").model == "m"
    assert KEY not in repr(spec)


async def test_a_steps_own_endpoint_never_gets_the_processs_key(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(body=said("a")), Http(body=said("b"))]
    own = {"compose": {"base_url": endpoint.url}, "review": {"base_url": endpoint.url, "api_key": "other"}}
    models = endpoint.models(openai_base_url="http://127.0.0.1:9/v1", step_models=own)
    await text(models, ask("compose"))
    await text(models, ask("review"))
    assert endpoint.keys == ["Bearer not-needed", "Bearer other"]


async def test_a_run_chooses_a_declared_endpoint_with_its_own_key(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(body=said("a")), Http(body=said("b"))]
    declared = {"fast": {"base_url": endpoint.url, "api_key": "quick"}, "open": {"base_url": endpoint.url}}
    models = endpoint.models(openai_base_url="http://127.0.0.1:9/v1", endpoints=declared)
    for name in declared:
        await text(models, ask("compose", overrides={"compose": {"endpoint": name}}))
    assert endpoint.keys == ["Bearer quick", "Bearer not-needed"]
    assert models.problem({"compose": {"endpoint": "other"}}) == (
        "models: compose.endpoint: not in CITEGRAPH_ENDPOINTS, which declares fast, open"
    )


def test_wrong_endpoints_fail_at_start() -> None:
    with pytest.raises(BadInput, match=r"CITEGRAPH_ENDPOINTS: fast\.base_url: Field required"):
        ChatModels(Settings.model_construct(endpoints={"fast": {"api_key": "hidden"}}))
    with pytest.raises(BadInput, match=r"review\.endpoint: not in CITEGRAPH_ENDPOINTS, which declares none"):
        ChatModels(Settings.model_construct(step_models={"review": {"endpoint": "fast"}}))


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"composer": {}}, "there is no step 'composer'; the steps are gate, rewrite"),
        (
            {"compose": {"temprature": 0}},
            "compose.temprature: Extra inputs are not permitted; options: model,",
        ),
        ({"compose": {"timeout": 0}}, "compose.timeout: Input should be greater than 0"),
        (
            {"compose": {"base_url": "http://evil.example"}},
            "compose.base_url: Extra inputs are not permitted",
        ),
        ({"compose": {"method": "json_mode"}}, "compose.method: Input should be 'json_schema', 'tool_call'"),
    ],
)
def test_wrong_overrides_say_what_is_wrong(overrides: dict[str, Any], message: str) -> None:
    models = ChatModels(Settings.model_construct(model="m"))
    with pytest.raises(BadInput) as caught:
        models.configured("compose", overrides)
    assert message in str(caught.value)


def test_wrong_step_settings_fail_at_start() -> None:
    with pytest.raises(BadInput, match="CITEGRAPH_STEP_MODELS: there is no step 'judge'"):
        ChatModels(Settings.model_construct(step_models={"judge": {}}))


async def test_without_a_model_name_nothing_is_configured() -> None:
    models = ChatModels(Settings.model_construct(step_models={"compose": {"model": "big"}}))
    assert (models.configured("review"), models.configured("compose")) == (False, True)
    assert models.configured("review", {"review": {"model": "small"}})
    with pytest.raises(Rejected, match="set CITEGRAPH_MODEL"):
        await text(models, ask("review"))


async def test_openais_own_endpoint_needs_a_key() -> None:
    models = ChatModels(Settings.model_construct(model="m"))
    with pytest.raises(Rejected, match="OPENAI_API_KEY is not set"):
        await text(models, ask())


def test_connections_belong_to_their_event_loop(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(body=said("one")), Http(body=said("two"))]
    models = endpoint.models()
    assert [asyncio.run(text(models, ask())).content for _ in range(2)] == ["one", "two"]


async def test_closing_keeps_the_models_usable(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(body=said("one")), Http(body=said("two"))]
    models = endpoint.models()
    await text(models, ask())
    await models.aclose()
    await models.aclose()
    assert (await text(models, ask())).content == "two"


def test_importing_the_seam_loads_no_client() -> None:
    code = (
        "import sys, citegraph.llm.structured; print(sorted({'openai', 'langchain_core'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# What failures become

QUOTING = f"Incorrect API key provided: {KEY}; you sent: {PROMPT}"


@pytest.mark.parametrize(
    ("reply", "kind", "message"),
    [
        (Http(400, problem(QUOTING)), NotAccepted, "did not accept the request (HTTP 400)"),
        (
            Http(401, problem(QUOTING, code="invalid_api_key")),
            Rejected,
            "refused the key (HTTP 401, invalid_api_key)",
        ),
        (Http(401, problem(QUOTING, code=KEY)), Rejected, "refused the key (HTTP 401)"),
        (Http(403, problem(QUOTING)), Rejected, "does not allow this request (HTTP 403)"),
        (Http(404, problem(QUOTING, code="model_not_found")), NotAccepted, "(HTTP 404, model_not_found)"),
        (Http(413, problem(QUOTING)), Rejected, "too large (HTTP 413)"),
        (Http(422, problem(QUOTING)), NotAccepted, "did not accept the request (HTTP 422)"),
        (
            Http(400, problem(f"prompt is too long: {QUOTING}")),
            Rejected,
            "the prompt is longer than the model accepts",
        ),
        (Http(408, problem(QUOTING)), Unavailable, "timed out (HTTP 408)"),
        (Http(409, problem(QUOTING)), Unavailable, "(HTTP 409)"),
        (Http(429, problem(QUOTING)), Unavailable, "limits the rate of requests (HTTP 429)"),
        (Http(500, QUOTING), Unavailable, "failed (HTTP 500)"),
        (Http(501, problem(QUOTING)), NotAccepted, "failed (HTTP 501)"),
        (Http(503, "<html>busy</html>"), Unavailable, "failed (HTTP 503)"),
        (Http(drop=True), Unavailable, "the connection to the model endpoint failed"),
        (Http(200, "<html>proxy login</html>"), Rejected, "a reply of another shape"),
        (Http(200, "{"), Rejected, "a reply of another shape"),
        (Http(200, {"choices": None}), Rejected, "a reply of another shape"),
        (Http(200, {"choices": []}), Rejected, "a reply of another shape"),
        (Http(200, problem(QUOTING)), Rejected, "a reply of another shape"),
        (Http(200, said("")), Rejected, "the model answered with nothing"),
        (Http(200, said("", finish="length")), Rejected, "with nothing and used up its token limit"),
        (Http(200, said(None, refusal=PROMPT)), Rejected, "the model refused to answer"),
        (Http(200, said("par", finish="content_filter")), Rejected, "the model refused to answer"),
        (Http(wait=2), TimedOut, "the model did not answer within 0.3 s"),
    ],
    ids=lambda value: f"{value.status}" if isinstance(value, Http) else None,
)
async def test_failures_are_typed_and_silent_about_secrets(
    endpoint: Endpoint, reply: Http, kind: type[CitegraphError], message: str
) -> None:
    endpoint.replies = [reply]
    call = ask(overrides={"compose": {"timeout": 0.3}} if reply.wait else {})
    with pytest.raises(CitegraphError) as caught:
        await text(endpoint.models(), call)
    assert type(caught.value) is kind
    assert str(caught.value).startswith("compose: ")
    assert message in str(caught.value)
    shown = "".join(traceback.format_exception(caught.value))
    assert not any(secret in shown for secret in (KEY, PROMPT, "Incorrect API"))
    assert len(endpoint.requests) == 1, "the client must not retry: citegraph.llm.retry does"
    assert len(caught.value.calls) == 1
    assert call.budget.calls_left == 4


async def test_a_closed_port_is_unavailable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    models = ChatModels(Settings.model_construct(model="m", openai_base_url=url))
    with pytest.raises(Unavailable, match="connection to the model endpoint failed"):
        await text(models, ask())


async def test_rate_limits_carry_the_time_to_wait(endpoint: Endpoint) -> None:
    endpoint.replies = [
        Http(429, problem("slow"), {"Retry-After": "7"}),
        Http(503, problem("busy"), {"retry-after-ms": "250", "Retry-After": "1"}),
    ]
    for seconds in (7.0, 0.25):
        with pytest.raises(Unavailable) as caught:
            await text(endpoint.models(), ask())
        assert caught.value.retry_after == seconds


def test_retry_after_reads_dates_and_ignores_nonsense() -> None:
    later = datetime.now(UTC) + timedelta(seconds=90)
    waited = retry_after({"retry-after": format_datetime(later, usegmt=True)})
    assert waited is not None
    assert 60 < waited <= 90
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
    assert [retry_after({"retry-after": v}) for v in ("soon", "-3", "nan", "")] == [None] * 4
    assert retry_after({}) is None


def test_a_defect_of_ours_is_not_translated() -> None:
    assert translate(AssertionError("bug"), "route") is None
    assert translate(ZeroDivisionError(), "route") is None


async def test_the_runs_deadline_bounds_a_call(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(wait=2)]
    with pytest.raises(TimedOut):
        await text(endpoint.models(), ask(seconds=0.7))


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (CallBudget.of(0, 10), "no model call is left"),
        (CallBudget.of(1, 10, tokens=0), "no tokens are left"),
        (CallBudget.of(1, -1), "no time is left"),
    ],
)
async def test_a_spent_budget_makes_no_call(endpoint: Endpoint, budget: CallBudget, message: str) -> None:
    call = Call("route", [HumanMessage("x")], budget)
    with pytest.raises(BudgetSpent, match=f"^route: {message}"):
        await text(endpoint.models(), call)
    with pytest.raises(BudgetSpent):
        await collect(endpoint.models(), call)
    assert (endpoint.requests, budget.calls) == ([], [])


async def test_tokens_are_charged(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(body=said("a")), Http(body=said("b"))]
    models = endpoint.models()
    call = Call("route", [HumanMessage("x")], CallBudget.of(5, 10, tokens=20))
    await text(models, call)
    assert call.budget.tokens_left == 2
    await text(models, call)
    assert call.budget.tokens_left == 0


async def test_a_parameter_the_model_does_not_know_is_dropped_for_good(endpoint: Endpoint) -> None:
    refusal = problem(
        "Unsupported value: 'temperature' must be 1", param="temperature", code="unsupported_value"
    )
    endpoint.replies = [Http(400, refusal), Http(body=said("a")), Http(body=said("b"))]
    models = endpoint.models()
    call = ask()
    assert (await text(models, call)).content == "a"
    assert (await text(models, call)).content == "b"
    assert ["temperature" in sent for sent in endpoint.requests] == [True, False, False]
    assert call.budget.calls_left == 2


async def test_a_parameter_that_was_not_sent_is_not_dropped(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(400, problem("reasoning_effort or stream_options: something else is wrong"))]
    with pytest.raises(NotAccepted):
        await text(endpoint.models(), ask())
    assert len(endpoint.requests) == 1


# The ladder over HTTP


async def test_ladder_over_http(endpoint: Endpoint) -> None:
    made = [
        {"id": "1", "type": "function", "function": {"name": "Verdict", "arguments": '{"verdict": "no"}'}}
    ]
    endpoint.replies = [
        Http(400, problem("'response_format' of type 'json_schema' is not supported with this model")),
        Http(400, problem("tools are not supported")),
        Http(body=said('Sure: {"verdict": "yes"}')),
        Http(body=said('{"verdict": "no"}')),
    ]
    models = endpoint.models()
    with pytest.warns(UserWarning, match="does not support"):
        first = await structured(models, ask("verify"), Verdict)
    assert (first.value.verdict, [c.rung for c in first.calls]) == (
        "yes",
        ["json_schema", "tool_call", "json_text"],
    )
    assert endpoint.requests[0]["response_format"]["json_schema"]["strict"] is True
    assert endpoint.requests[1]["tool_choice"] == {"type": "function", "function": {"name": "Verdict"}}
    assert "response_format" not in endpoint.requests[2]
    assert (await structured(models, ask("verify"), Verdict)).rung == "json_text"
    endpoint.replies = [Http(body=said(None, finish="tool_calls", tool_calls=made))]
    forced = ask("verify", overrides={"verify": {"method": "tool_call"}})
    assert (await structured(models, forced, Verdict)).value.verdict == "no"


async def test_a_schema_reply_at_the_token_limit_is_still_read(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(body=said('{"verdict": "yes"', finish="length"))]
    parsed = await structured(endpoint.models(), ask("verify"), Verdict)
    assert (parsed.value.verdict, parsed.repaired) == ("yes", True)
    assert (parsed.calls[0].truncated, parsed.calls[0].tokens) == (True, 18)


async def test_a_refused_schema_reply_is_rejected(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(body=said(None, refusal="no")), Http(body=said("x", finish="content_filter"))]
    for _ in range(2):
        with pytest.raises(Rejected, match=r"^verify: the model refused to answer$"):
            await structured(endpoint.models(), ask("verify"), Verdict)


@pytest.mark.parametrize("status", [401, 429, 500])
async def test_the_ladder_stops_where_another_rung_cannot_help(endpoint: Endpoint, status: int) -> None:
    endpoint.replies = [Http(status, problem("response_format tools"))]
    with pytest.raises(CitegraphError):
        await structured(endpoint.models(), ask("verify"), Verdict)
    assert len(endpoint.requests) == 1


async def test_a_hundred_kilobytes_of_text_are_survived(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(body=said("{" * 100_000)), Http(body=said('{"verdict": "yes"}'))]
    parsed = await structured(endpoint.models(), ask("verify"), Verdict)
    assert (parsed.value.verdict, parsed.rung) == ("yes", "repair")
    assert len(endpoint.requests[1]["messages"][2]["content"]) == 4_000


# Traces


class Runs(AsyncCallbackHandler):
    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []

    async def on_chat_model_start(self, serialized: Any, messages: Any, **run: Any) -> None:
        self.seen.append({k: run[k] for k in ("name", "tags", "metadata")})


async def test_runs_are_named_and_tagged_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    models, _ = scripted(["a", "b"])
    runs = Runs()
    plain = Call.config

    def config(self: Call) -> RunnableConfig:
        return {**plain(self), "callbacks": [runs]}

    monkeypatch.setattr(Call, "config", config)
    call = ask(prompt_version="4", metadata={"bucket": "b1"})
    await text(models, call)
    await collect(models, call)
    wanted = {"step": "compose", "prompt_version": "4", "bucket": "b1"}
    assert len(runs.seen) == 2
    for run in runs.seen:
        assert run["name"] == "compose"
        assert run["tags"] == ["compose", "prompt:compose:4", "nostream"]
        assert {k: run["metadata"][k] for k in wanted} == wanted


async def test_no_call_reaches_the_graphs_message_stream_by_itself() -> None:
    from langgraph.graph import END, START, StateGraph
    from typing_extensions import TypedDict

    class State(TypedDict):
        done: bool

    models, script = scripted([{"verdict": "yes"}, "The answer."])

    async def node(state: State) -> State:
        await structured(models, ask("verify"), Verdict)
        await collect(models, ask("compose"))
        return {"done": True}

    graph = StateGraph(State).add_node("node", node).add_edge(START, "node").add_edge("node", END).compile()
    seen = [chunk.text async for chunk, _ in graph.astream({"done": False}, stream_mode="messages")]  # type: ignore[union-attr]
    assert seen == [], "what a model thinks, or says before it fails, is not the answer: its node tells that"
    assert [c.streamed for c in script.calls] == [False, True]
