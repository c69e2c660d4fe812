"""The structured-output ladder, rung by rung, on a scripted model."""

from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel, Field

from citegraph.errors import BudgetSpent, CitegraphError, Rejected, Unavailable
from citegraph.llm.budget import CallBudget
from citegraph.llm.call_options import Call, Step
from citegraph.llm.foreign_errors import NotAccepted
from citegraph.llm.json_text import fit, mended_object, whole_objects
from citegraph.llm.scripted import Replies, scripted
from citegraph.llm.strict import strict_schema
from citegraph.llm.structured import structured


class Clause(BaseModel):
    field: str
    operator: Literal["eq", "greater_than"]
    value: str | float | list[str] | None


class Plan(BaseModel):
    """A plan as a planner would give it."""

    intent: Literal["qa", "list"]
    terms: list[str]
    clauses: list[Clause]
    note: str | None = Field(None, max_length=80)


GOOD = {"intent": "qa", "terms": ["a"], "clauses": [], "note": None}
GOOD_TEXT = '{"intent": "qa", "terms": ["a"], "clauses": [], "note": null}'
PLAN = Plan(intent="qa", terms=["a"], clauses=[], note=None)


def ask(calls: int = 6, *, step: Step = "decompose", **more: object) -> Call:
    messages = [HumanMessage("Plan this: what did it cost?")]
    return Call(step, messages, CallBudget.of(calls, 30), **more)  # type: ignore[arg-type]


def unsupported(*subjects: str, status: int = 400) -> NotAccepted:
    return NotAccepted("decompose: not accepted", status=status, subjects=frozenset(subjects))


async def run(replies: Replies, call: Call | None = None) -> tuple[Plan, list[str], bool, list[str]]:
    """Return the value, the rungs tried, whether it was repaired, and the last prompt's lines."""
    models, script = scripted(replies)
    parsed = await structured(models, call or ask(), Plan)
    return parsed.value, [c.rung for c in parsed.calls], parsed.repaired, script.calls[-1].prompt.splitlines()


async def test_first_rung_sends_the_strict_schema() -> None:
    models, script = scripted([GOOD])
    parsed = await structured(models, ask(), Plan)
    assert (parsed.value, parsed.rung, parsed.repaired) == (PLAN, "json_schema", False)
    wanted = script.calls[0].arguments["response_format"]["json_schema"]
    assert wanted == {"name": "Plan", "schema": strict_schema(Plan), "strict": True}
    assert script.calls[0].prompt == "Plan this: what did it cost?"


async def test_refused_schema_falls_to_the_tool_call_and_is_remembered() -> None:
    models, script = scripted([unsupported("json_schema"), GOOD, GOOD])
    first = await structured(models, ask(), Plan)
    second = await structured(models, ask(), Plan)
    assert [c.rung for c in first.calls] == ["json_schema", "tool_call"]
    assert [c.failure for c in first.calls] == ["NotAccepted", ""]
    assert [c.rung for c in second.calls] == ["tool_call"]
    assert second.value == PLAN
    assert script.calls[1].arguments["tool_choice"]["function"] == {"name": "Plan"}
    assert script.calls[1].arguments["tools"][0]["function"]["parameters"] == strict_schema(Plan)


async def test_last_rung_puts_the_schema_in_the_users_turn() -> None:
    value, rungs, repaired, prompt = await run(
        [unsupported("json_schema"), unsupported("tool_call"), f"Here it is:\n```json\n{GOOD_TEXT}\n```"]
    )
    assert (value, rungs, repaired) == (PLAN, ["json_schema", "tool_call", "json_text"], False)
    assert prompt[0] == "Plan this: what did it cost?"
    assert prompt[2].startswith("Reply with one JSON object and nothing else.")


async def test_a_refusal_that_every_rung_meets_is_not_remembered() -> None:
    models, _ = scripted([unsupported(), unsupported(), unsupported(), GOOD])
    with pytest.raises(NotAccepted) as caught:
        await structured(models, ask(), Plan)
    assert len(caught.value.calls) == 3
    assert (await structured(models, ask(), Plan)).rung == "json_schema"


async def test_an_unknown_model_is_not_asked_again() -> None:
    models, script = scripted([unsupported(status=404)])
    with pytest.raises(Rejected):
        await structured(models, ask(), Plan)
    assert len(script.calls) == 1


async def test_two_replies_without_json_write_a_rung_off() -> None:
    models, script = scripted(["I would look it up.", GOOD_TEXT, "Sure!", GOOD_TEXT, GOOD])
    for _ in range(3):
        assert (await structured(models, ask(), Plan)).value == PLAN
    assert "tools" in script.calls[-1].arguments


async def test_a_reply_cut_at_the_token_limit_does_not_write_a_rung_off() -> None:
    cut = AIMessage("Let me think about", response_metadata={"finish_reason": "length"})
    models, script = scripted([cut, GOOD_TEXT, cut, GOOD_TEXT, GOOD])
    for _ in range(3):
        await structured(models, ask(), Plan)
    assert "response_format" in script.calls[-1].arguments


async def test_one_success_in_between_keeps_the_rung() -> None:
    models, script = scripted(["No.", GOOD_TEXT, GOOD, "No.", GOOD_TEXT, GOOD])
    for _ in range(4):
        await structured(models, ask(), Plan)
    assert "response_format" in script.calls[-1].arguments


async def test_forced_method_is_the_only_rung() -> None:
    call = ask(overrides={"decompose": {"method": "json_text"}})
    assert (await run([GOOD_TEXT], call))[1] == ["json_text"]
    models, _ = scripted([unsupported("tool_call"), GOOD])
    with pytest.raises(NotAccepted):
        await structured(models, ask(overrides={"decompose": {"method": "tool_call"}}), Plan)


async def test_repair_round_quotes_reply_and_error() -> None:
    value, rungs, repaired, prompt = await run(['{"intent": "buy", "terms": [], "clauses": []}', GOOD_TEXT])
    assert (value, rungs, repaired) == (PLAN, ["json_schema", "repair"], True)
    assert prompt[1] == '{"intent": "buy", "terms": [], "clauses": []}'
    assert prompt[3] == "- intent: Input should be 'qa' or 'list'"


async def test_repair_happens_once() -> None:
    models, script = scripted(["no", "still no", GOOD])
    with pytest.raises(
        Rejected, match=r"^decompose: the model's reply does not fit .*no JSON object$"
    ) as caught:
        await structured(models, ask(), Plan)
    assert [c.rung for c in caught.value.calls] == ["json_schema", "repair"]
    assert len(script.calls) == 2


async def test_no_repair_without_a_call_left() -> None:
    models, script = scripted(["no", GOOD])
    with pytest.raises(Rejected):
        await structured(models, ask(1), Plan)
    assert len(script.calls) == 1


async def test_empty_reply_is_repaired_in_the_same_user_turn() -> None:
    value, rungs, _, prompt = await run(["", GOOD_TEXT])
    assert (value, rungs) == (PLAN, ["json_schema", "repair"])
    assert prompt[0] == "Plan this: what did it cost?"
    assert "- it holds no JSON object" in prompt


async def test_budget_stops_the_ladder_and_reports_its_calls() -> None:
    models, script = scripted([unsupported("json_schema"), GOOD])
    with pytest.raises(BudgetSpent) as caught:
        await structured(models, ask(1), Plan)
    assert [c.failure for c in caught.value.calls] == ["NotAccepted"]
    assert len(script.calls) == 1


async def test_unavailable_is_not_climbed_down_from() -> None:
    models, script = scripted([Unavailable("decompose: down", retry_after=2.0), GOOD])
    with pytest.raises(Unavailable) as caught:
        await structured(models, ask(), Plan)
    assert caught.value.retry_after == 2.0
    assert len(script.calls) == 1


async def test_refusal_is_rejected_without_a_repair() -> None:
    refusal = AIMessage("", additional_kwargs={"refusal": "I cannot."})
    models, script = scripted([refusal, GOOD])
    with pytest.raises(Rejected, match="refused to answer"):
        await structured(models, ask(), Plan)
    assert len(script.calls) == 1


async def test_tool_arguments_that_are_not_json_are_mended() -> None:
    broken = AIMessage(
        "",
        invalid_tool_calls=[
            {"name": "Plan", "args": GOOD_TEXT.replace("null}", "None,}"), "id": "1", "error": "x"}
        ],
    )
    value, rungs, repaired, _ = await run([unsupported("json_schema"), broken])
    assert (value, rungs, repaired) == (PLAN, ["json_schema", "tool_call"], True)


@pytest.mark.parametrize(
    "reply",
    [
        GOOD_TEXT,
        f"<think>Maybe {{'intent': 'list'}}? {{}}</think>\n{GOOD_TEXT}",
        f'<think>An example: {{"intent": "list", "terms": [], "clauses": []}}</think>{GOOD_TEXT}',
        f"The template opened it</think>{GOOD_TEXT}",
        f"```json\n{GOOD_TEXT}\n```\nI hope that {{helps}}.",
        f'First {{"intent": "list", "terms": [], "clauses": []}} came to mind, then: {GOOD_TEXT}',
        f'{{"plan": {GOOD_TEXT}}}',
        '{"intent": "QA ", "terms": "a", "clauses": null, "mood": "good"}',
    ],
    ids=["bare", "thoughts", "thoughts-json", "half-thoughts", "fenced", "draft-first", "wrapped", "slips"],
)
async def test_forms_that_need_no_second_call(reply: str) -> None:
    value, rungs, repaired, _ = await run([reply])
    assert (value, rungs, repaired) == (PLAN, ["json_schema"], False)


@pytest.mark.parametrize(
    "reply",
    [
        GOOD_TEXT.replace('"', "'").replace("null", "None"),
        GOOD_TEXT.replace("null}", "null,}"),
        "```json\n" + GOOD_TEXT[:-1],
    ],
    ids=["python", "trailing-comma", "unclosed"],
)
async def test_mended_forms_say_so(reply: str) -> None:
    value, rungs, repaired, _ = await run([reply])
    assert (value, rungs, repaired) == (PLAN, ["json_schema"], True)


@pytest.mark.parametrize(
    ("cut", "lost"),
    [
        ('{"intent": "qa", "terms": ["a", "b', "clauses, note"),
        ('{"intent": "qa", "terms": ["a"], "clauses": [{"field": "x", ', "note"),
    ],
)
async def test_a_cut_reply_that_lost_fields_is_asked_for_again(cut: str, lost: str) -> None:
    reply = AIMessage(cut, response_metadata={"finish_reason": "length"})
    value, rungs, _, prompt = await run([reply, GOOD_TEXT])
    assert (value, rungs) == (PLAN, ["json_schema", "repair"])
    assert f"- the JSON stops before {lost}" in prompt


async def test_fields_with_defaults_do_not_hide_a_cut() -> None:
    cut = AIMessage(
        '{"intent": "qa", "terms": ["a"], "clauses": [', response_metadata={"finish_reason": "length"}
    )
    assert (await run([cut, GOOD_TEXT]))[1] == ["json_schema", "repair"]


def test_union_members_are_told_apart_and_text_null_is_null() -> None:
    clause = {"field": "f", "operator": "Greater Than", "value": "null"}
    plan = fit({"intent": "list", "terms": [], "clauses": [clause]}, strict_schema(Plan))
    assert plan["clauses"] == [{"field": "f", "operator": "greater_than", "value": None}]
    assert plan["note"] is None


def test_a_unions_tag_decides_over_shared_keys() -> None:
    class Near(BaseModel):
        kind: Literal["near"]
        a: int
        b: int

    class Far(BaseModel):
        kind: Literal["far"]
        c: int

    class Place(BaseModel):
        at: Near | Far

    given = {"at": {"kind": "far", "a": 1, "b": 2, "c": 3}}
    assert fit(given, strict_schema(Place)) == {"at": {"kind": "far", "c": 3}}


def test_a_wrong_enum_value_is_never_guessed() -> None:
    assert fit({"intent": "lists"}, strict_schema(Plan))["intent"] == "lists"


@pytest.mark.parametrize(
    "hostile", ["{" * 50_000, '{"a":[' * 20_000, '{"a":"' + 'x"' * 50_000, "word " * 20_000]
)
def test_hostile_text_holds_no_object(hostile: str) -> None:
    assert list(whole_objects(hostile)) == []
    assert mended_object(hostile) is None


REPLIES = st.sampled_from(
    [
        GOOD,
        GOOD_TEXT,
        GOOD_TEXT[:40],
        "",
        "words",
        "[]",
        '{"intent": "buy"}',
        AIMessage("", tool_calls=[{"name": "Other", "args": {"x": 1}, "id": "1"}]),
        AIMessage("", additional_kwargs={"refusal": "no"}),
        unsupported(),
        unsupported("json_schema", "tool_call", "temperature"),
        Unavailable("down"),
        TimeoutError(),
        ConnectionResetError(),
        ValueError("odd"),
    ]
)


@pytest.mark.slow
@given(replies=st.lists(REPLIES, min_size=12, max_size=12), calls=st.integers(0, 6))
@settings(max_examples=150, deadline=None, database=None)
async def test_any_model_ends_in_a_plan_or_a_typed_error_within_its_calls(
    replies: list[object], calls: int
) -> None:
    models, script = scripted(replies)  # type: ignore[arg-type]
    for _ in range(2):
        before, call = len(script.calls), ask(calls)
        try:
            made = (await structured(models, call, Plan)).calls
        except CitegraphError as error:
            made = error.calls
        assert len(script.calls) - before == len(made) == calls - call.budget.calls_left <= 5
