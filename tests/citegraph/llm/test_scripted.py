"""The scripted model is a real chat model: it is driven here through LangChain's own interface."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel

from citegraph.llm.budget import CallBudget
from citegraph.llm.call_options import Call, ModelSpec
from citegraph.llm.chat import text
from citegraph.llm.scripted import Script, ScriptedChatModel, scripted


class Answer(BaseModel):
    """An answer."""

    word: str


def model(*replies: object) -> tuple[ScriptedChatModel, Script]:
    script = Script(list(replies))  # type: ignore[arg-type]
    return script.factory(ModelSpec("route", "m", None, None)), script


async def test_sync_and_async_calls_are_recorded_with_usage() -> None:
    chat, script = model("12345678", "b")
    reply = chat.invoke("Hello you")
    assert (reply.text, reply.usage_metadata) == (
        "12345678",
        {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
    )
    assert (await chat.ainvoke("Again")).text == "b"
    assert [(c.step, c.prompt, c.streamed) for c in script.calls] == [
        ("route", "Hello you", False),
        ("route", "Again", False),
    ]


async def test_streams_word_by_word() -> None:
    chat, _ = model("one two", AIMessage("", tool_calls=[{"name": "search", "args": {"q": 1}, "id": "7"}]))
    chunks = [chunk async for chunk in chat.astream("x")]
    assert [c.text for c in chunks if c.text] == ["one ", "two"]
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert whole.usage_metadata == {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    assert whole.response_metadata["finish_reason"] == "stop"
    called = [chunk async for chunk in chat.astream("x")][-1]
    assert [(c["name"], c["args"]) for c in called.tool_calls] == [("search", {"q": 1})]


async def test_structured_output_of_langchain_itself() -> None:
    chat, _ = model({"word": "yes"})
    assert await chat.with_structured_output(Answer).ainvoke("x") == Answer(word="yes")


async def test_a_demanded_tool_gets_the_object_as_arguments() -> None:
    chat, _ = model({"word": "yes"}, {"word": "no"})
    demanded = await chat.bind_tools([Answer], tool_choice="any").ainvoke("x")
    assert [(c["name"], c["args"]) for c in demanded.tool_calls] == [("Answer", {"word": "yes"})]
    free = await chat.bind_tools([Answer]).ainvoke("x")
    assert (free.text, free.tool_calls) == ('{"word": "no"}', [])


async def test_errors_are_raised_and_a_used_up_script_is_loud() -> None:
    chat, script = model(ConnectionResetError("gone"))
    with pytest.raises(ConnectionResetError):
        await chat.ainvoke("x")
    with pytest.raises(AssertionError, match=r"no reply left for route \(call 2\)"):
        await chat.ainvoke("x")
    assert script.steps() == ["route", "route"]


async def test_a_function_sees_step_and_messages_and_may_wait() -> None:
    async def reply(step: str, messages: list[object]) -> str:
        return f"{step}:{len(messages)}"

    models, script = scripted(reply)  # type: ignore[arg-type]
    assert models.configured("compose")
    for step, wanted in (("compose", "compose:1"), ("review", "review:1")):
        call = Call(step, [HumanMessage("x")], CallBudget.of(1, 5))  # type: ignore[arg-type]
        assert (await text(models, call)).content == wanted
    assert script.steps() == ["compose", "review"]
