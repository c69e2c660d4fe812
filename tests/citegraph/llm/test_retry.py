"""A model is asked once more when its endpoint may work later, within calls and time, and everything is counted."""

import time
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from citegraph.errors import BadInput, CircuitOpen, CitegraphError, Rejected, TimedOut, Unavailable
from citegraph.llm.budget import CallBudget
from citegraph.llm.call_options import Call
from citegraph.llm.chat import text
from citegraph.llm.model_call import ModelCall
from citegraph.llm.retry import patiently
from citegraph.llm.scripted import scripted
from tests.citegraph.llm.endpoint import Endpoint, Http, Sse, pieces, said


def ask(budget: CallBudget, **more: Any) -> Call:
    return Call("compose", [HumanMessage("Which?")], budget, **more)


async def answered(replies: list[Any], budget: CallBudget) -> ModelCall:
    models, _ = scripted(replies)
    return await patiently(lambda: text(models, ask(budget)), budget)


async def test_what_may_work_later_is_asked_once_more() -> None:
    budget = CallBudget.of(5, 20)
    assert (await answered([Unavailable("down"), "Yes."], budget)).content == "Yes."
    assert [call.failure for call in budget.calls] == ["Unavailable", ""]


@pytest.mark.parametrize(
    ("replies", "kind", "made"),
    [
        ([Unavailable("a"), Unavailable("b"), "late"], Unavailable, 2),
        ([Unavailable("a", retry_after=0.01)] * 3 + ["late"], Unavailable, 3),
        ([TimedOut("late"), "never asked"], TimedOut, 1),
        ([Rejected("401"), "never asked"], Rejected, 1),
        ([Unavailable("a", retry_after=15.0), "never asked"], Unavailable, 1),
    ],
)
async def test_when_it_gives_up(replies: list[Any], kind: type[CitegraphError], made: int) -> None:
    budget = CallBudget.of(9, 20)
    with pytest.raises(CitegraphError) as caught:
        await answered(replies, budget)
    assert type(caught.value) is kind
    assert (len(caught.value.calls), budget.calls_left) == (made, 9 - made)
    assert caught.value.final


async def test_no_second_attempt_without_a_call_left() -> None:
    with pytest.raises(Unavailable, match="down") as caught:
        await answered([Unavailable("down"), "never asked"], CallBudget.of(1, 20))
    assert len(caught.value.calls) == 1


async def test_the_endpoints_own_time_is_waited_for(endpoint: Endpoint) -> None:
    endpoint.replies = [
        Http(429, {"error": {"message": "slow"}}, {"retry-after-ms": "300"}),
        Http(body=said("Yes.")),
    ]
    models, budget = endpoint.models(), CallBudget.of(5, 20)
    started = time.monotonic()
    reply = await patiently(lambda: text(models, ask(budget)), budget)
    assert reply.content == "Yes."
    assert time.monotonic() - started >= 0.3


async def test_a_dead_endpoint_costs_one_time_out_and_not_one_per_step(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(wait=2), Http(body=said("never asked"))]
    models = endpoint.models(model_timeout=0.2)
    first = CallBudget.of(5, 20)
    with pytest.raises(TimedOut):
        await patiently(lambda: text(models, ask(first)), first)
    later = CallBudget.of(5, 20)
    started = time.monotonic()
    for _ in range(5):
        with pytest.raises(CircuitOpen):
            await patiently(lambda: text(models, ask(later)), later)
    assert time.monotonic() - started < 0.2
    assert (later.calls, later.calls_left) == ([], 5)
    assert len(endpoint.requests) == 1


async def test_a_run_that_is_out_of_time_does_not_condemn_the_endpoint(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(wait=1.5), Http(body=said("Yes."))]
    models = endpoint.models()
    with pytest.raises(TimedOut):
        await text(models, ask(CallBudget.of(5, 0.5)))
    assert (await text(models, ask(CallBudget.of(5, 20)))).content == "Yes."


async def test_a_stream_that_hangs_rests_the_model(endpoint: Endpoint) -> None:
    from citegraph.llm.streaming import TextStream

    endpoint.replies = [Sse(pieces("A", "B"), hang=1.0)]
    models = endpoint.models(model_timeout=0.2)
    with pytest.raises(TimedOut):
        _ = [piece async for piece in TextStream(models, ask(CallBudget.of(5, 20)))]
    with pytest.raises(CircuitOpen):
        _ = [piece async for piece in TextStream(models, ask(CallBudget.of(5, 20)))]


# What it cost


async def test_a_price_makes_a_cost_and_a_limit_of_money_ends_the_calls(endpoint: Endpoint) -> None:
    endpoint.replies = [Http(body=said("a")), Http(body=said("never asked"))]
    models = endpoint.models(prices={"m": {"input": 2.0, "output": 10.0}})
    budget = CallBudget.of(5, 20, cost=0.00001)
    reply = await text(models, ask(budget))
    assert reply.cost == pytest.approx((11 * 2 + 7 * 10) / 1_000_000)
    with pytest.raises(CitegraphError, match="no money is left"):
        await text(models, ask(budget))
    assert len(endpoint.requests) == 1


async def test_a_limit_of_money_cannot_be_kept_without_a_price(endpoint: Endpoint) -> None:
    with pytest.raises(BadInput, match="CITEGRAPH_PRICES has no price of m"):
        await text(endpoint.models(), ask(CallBudget.of(5, 20, cost=1.0)))
    assert endpoint.requests == []
