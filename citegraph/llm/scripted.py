"""A chat model that says what it is told: for tests and benches, with no network and no latency."""

import inspect
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCallChunk
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool

from citegraph.llm.call_options import ModelSpec
from citegraph.llm.chat import ChatModels
from citegraph.llm.model_call import estimate_tokens
from citegraph.settings import Settings

Reply = str | dict[str, Any] | AIMessage | Exception
"""Text; an object (JSON text, or arguments of the tool that was demanded); a message; an error to raise."""

Replies = Sequence[Reply] | Callable[[str, list[BaseMessage]], Any]
"""In order, or a function of step and messages that returns (or awaits) a Reply."""


@dataclass(frozen=True)
class ScriptedCall:
    """One recorded request: the step, what the model saw, and the arguments that asked for structure."""

    step: str
    messages: list[BaseMessage]
    arguments: dict[str, Any]
    streamed: bool

    @property
    def prompt(self) -> str:
        """Return all message texts, one after the other."""
        return "\n".join(message.text for message in self.messages)


@dataclass
class Script:
    """The replies still to give and the calls made so far, shared by the models of all steps."""

    replies: Replies
    calls: list[ScriptedCall] = field(default_factory=list)
    given: int = 0

    def steps(self) -> list[str]:
        """Return the step of each call, in order."""
        return [call.step for call in self.calls]

    def next(self, call: ScriptedCall) -> Any:
        """Record `call` and return its reply (or an awaitable of it).

        Raises:
            AssertionError: the list of replies is used up.
        """
        self.calls.append(call)
        if callable(self.replies):
            return self.replies(call.step, call.messages)
        if self.given >= len(self.replies):
            raise AssertionError(f"the script has no reply left for {call.step} (call {len(self.calls)})")
        self.given += 1
        return self.replies[self.given - 1]

    def factory(self, spec: ModelSpec) -> "ScriptedChatModel":
        """Return the model of one step, reading from this script: what `ChatModels(factory=...)` wants."""
        return ScriptedChatModel(script=self, step=spec.step, model_name=spec.model)


def scripted(replies: Replies, settings: Settings | None = None) -> tuple[ChatModels, Script]:
    """Return models of which every step answers from `replies`, and the script with the calls made."""
    script = Script(replies)
    return ChatModels(settings or Settings.model_construct(), factory=script.factory), script


class ScriptedChatModel(BaseChatModel, arbitrary_types_allowed=True):
    """A real `BaseChatModel` over a `Script`: tools, structured output, streaming and usage included."""

    script: Any
    step: str = ""
    model_name: str = "scripted"

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools in OpenAI's form; `tool_choice` may be a tool's name, "any" or a dict."""
        described = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=described, tool_choice=tool_choice, **kwargs)

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        given = self.script.next(self._call(messages, kwargs, streamed=False))
        return _result(_message(given, messages, kwargs))

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        given = self.script.next(self._call(messages, kwargs, streamed=False))
        return _result(_message(await given if inspect.isawaitable(given) else given, messages, kwargs))

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        given = self.script.next(self._call(messages, kwargs, streamed=True))
        for chunk in _chunks(_message(given, messages, kwargs)):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        given = self.script.next(self._call(messages, kwargs, streamed=True))
        for chunk in _chunks(
            _message(await given if inspect.isawaitable(given) else given, messages, kwargs)
        ):
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _call(
        self, messages: list[BaseMessage], arguments: dict[str, Any], *, streamed: bool
    ) -> ScriptedCall:
        return ScriptedCall(self.step, list(messages), arguments, streamed)


def _message(given: Any, messages: list[BaseMessage], arguments: dict[str, Any]) -> AIMessage:
    """Return the reply as a message with usage, or raise it."""
    if isinstance(given, BaseException):
        raise given
    if isinstance(given, AIMessage):
        message = given
    elif isinstance(given, dict) and (tool := _demanded(arguments)):
        message = AIMessage(content="", tool_calls=[{"name": tool, "args": given, "id": "call_0"}])
    else:
        message = AIMessage(
            content=given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        )
    if message.usage_metadata:
        return message
    read = sum(estimate_tokens(m.text) for m in messages)
    wrote = estimate_tokens(message.text + "".join(json.dumps(c["args"]) for c in message.tool_calls))
    finish = "tool_calls" if message.tool_calls else "stop"
    return message.model_copy(
        update={
            "usage_metadata": UsageMetadata(
                input_tokens=read, output_tokens=wrote, total_tokens=read + wrote
            ),
            "response_metadata": {"finish_reason": finish, **message.response_metadata},
        }
    )


def _demanded(arguments: dict[str, Any]) -> str | None:
    """Return the name of the tool that must be called, or None."""
    choice = arguments.get("tool_choice")
    names = [tool["function"]["name"] for tool in arguments.get("tools") or ()]
    if isinstance(choice, dict):
        return str(choice["function"]["name"])
    if choice in names:
        return str(choice)
    return names[0] if names and choice in ("any", "required", True) else None


def _result(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])


def _chunks(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    """Yield the message in pieces of one word, then its tool calls, usage and reason to stop."""
    words = message.text.split(" ")
    for number, word in enumerate(words):
        piece = word if number == len(words) - 1 else word + " "
        yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
    tools = [
        ToolCallChunk(name=c["name"], args=json.dumps(c["args"]), id=c["id"], index=i, type="tool_call_chunk")
        for i, c in enumerate(message.tool_calls)
    ]
    last = AIMessageChunk(
        content="",
        tool_call_chunks=tools,
        usage_metadata=message.usage_metadata,
        response_metadata=message.response_metadata,
        additional_kwargs=message.additional_kwargs,
        chunk_position="last",
    )
    yield ChatGenerationChunk(message=last)
