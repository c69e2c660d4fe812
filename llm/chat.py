"""Chat models per step behind one seam: which model answers, how long it may take, what it cost."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from llm.breaker import Breakers
from llm.budget import CallBudget, ModelCall, estimate_tokens
from llm.errors import BadInput, CitegraphError, Rejected, TimedOut, Unavailable
from llm.foreign import NotAccepted, malformed, translate
from llm.prices import Price, Prices
from llm.prompts import Prompts
from llm.reasoning import ReasoningFilter, without_reasoning
from settings import Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import RunnableConfig

Step = Literal[
    "gate",
    "rewrite",
    "decompose",
    "route",
    "schema_plan",
    "expand",
    "rerank",
    "review",
    "compose",
    "verify",
    "agent",
    "extract",
]
STEPS: tuple[Step, ...] = get_args(Step)
Rung = Literal["json_schema", "tool_call", "json_text"]
RUNGS: tuple[Rung, ...] = get_args(Rung)
NO_STREAM = "nostream"  # LangGraph leaves runs with this tag out of the message stream
OPTIONAL_PARAMETERS = ("temperature", "reasoning_effort", "stream_options")


class StepOptions(BaseModel):
    """What a run may choose per step; None keeps the process's setting."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = Field(None, min_length=1, max_length=200)
    temperature: float | None = Field(None, ge=0, le=2)
    max_tokens: int | None = Field(None, ge=1, le=1_000_000)
    timeout: float | None = Field(None, gt=0, le=3600)
    reasoning_effort: str | None = Field(None, pattern=r"^[a-z]{1,12}$")
    method: Rung | None = None


class EndpointOptions(StepOptions):
    """What the process may choose per step: a run's own options, and an endpoint with its own key."""

    base_url: str | None = None
    api_key: SecretStr | None = None


@dataclass(frozen=True)
class ModelSpec:
    """Everything that makes one step's model: hashable, and its `repr` hides the key."""

    step: str
    model: str
    base_url: str | None
    api_key: SecretStr | None = field(repr=False)
    temperature: float | None = 0.0
    max_tokens: int | None = None
    timeout: float = 30.0
    reasoning_effort: str | None = None
    method: Rung | None = None
    price: Price | None = None


@dataclass
class Capability:
    """What is known of one endpoint and model: rungs and parameters that it refused or passed over."""

    refused: set[str] = field(default_factory=set)
    ignored: dict[str, int] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)

    def rungs(self, method: Rung | None) -> tuple[Rung, ...]:
        """Return the rungs worth trying, best first; a forced `method` is the only one."""
        if method:
            return (method,)
        return tuple(
            r for r in RUNGS if r == "json_text" or (r not in self.refused and self.ignored.get(r, 0) < 2)
        )

    def worked(self, rung: str) -> None:
        """Note that `rung` brought what was asked for."""
        self.ignored.pop(rung, None)

    def passed_over(self, rung: str) -> None:
        """Note that the endpoint took `rung` and answered without structure; twice in a row drops it."""
        self.ignored[rung] = self.ignored.get(rung, 0) + 1


Factory = Callable[[ModelSpec], "BaseChatModel"]


class ChatModels:
    """Builds and keeps the chat model of each step, one client per event loop.

    Args:
        settings: model, key and base URL of the process, and its overrides per step.
        factory: builds the model of a spec instead of ChatOpenAI; with it every step counts as configured.

    Raises:
        BadInput: CITEGRAPH_STEP_MODELS names an unknown step or option, or a value is out of bounds; a price of
            CITEGRAPH_PRICES has another shape, or a prompt of CITEGRAPH_PROMPTS cannot be used.
    """

    def __init__(self, settings: Settings, factory: Factory | None = None) -> None:
        self.settings = settings
        self.factory = factory
        self._options = {
            step: _options(EndpointOptions, step, values, "CITEGRAPH_STEP_MODELS")
            for step, values in settings.step_models.items()
        }
        self.prices = Prices(settings.prices)
        self.prompts = Prompts(settings.prompts, settings.prompt_tokens, STEPS)
        self.breakers = Breakers()
        self._capabilities: dict[tuple[str | None, str], Capability] = {}
        self._models: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[ModelSpec, BaseChatModel]] = (
            WeakKeyDictionary()
        )
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()
        self._opening = threading.Lock()

    def configured(self, step: Step, overrides: "Overrides | None" = None) -> bool:
        """Return whether a model answers this step; False sends the step to its twin.

        Raises:
            BadInput: `overrides` names an unknown step or option.
        """
        return bool(self.factory) or bool(self.spec(step, overrides).model)

    def spec(self, step: Step, overrides: "Overrides | None" = None) -> ModelSpec:
        """Return the step's model and options: run over step over process; no `model` named leaves it empty.

        A step with its own base URL gets its own key only: the process's key is never sent elsewhere.

        Raises:
            BadInput: `overrides` names an unknown step or option, or a value is out of bounds.
        """
        runs = {
            name: _options(StepOptions, name, values, "models") for name, values in (overrides or {}).items()
        }
        process = self._options.get(step)
        chosen = process.model_dump(exclude_none=True) if process else {}
        if step in runs:
            chosen |= runs[step].model_dump(exclude_none=True)
        chosen.setdefault("model", self.settings.model or ("scripted" if self.factory else ""))
        chosen.setdefault("timeout", self.settings.model_timeout)
        if "base_url" not in chosen:
            chosen["base_url"] = self.settings.openai_base_url
            chosen.setdefault("api_key", self.settings.openai_api_key)
        price = self.prices.price(chosen["model"])
        return ModelSpec(step=step, api_key=chosen.pop("api_key", None), price=price, **chosen)

    def capability(self, spec: ModelSpec) -> Capability:
        """Return what is remembered of the spec's endpoint and model, for as long as this process lives."""
        return self._capabilities.setdefault((spec.base_url, spec.model), Capability())

    async def model(self, spec: ModelSpec) -> "BaseChatModel":
        """Return the model of `spec`, built on first use in a thread (imports and certificates are slow).

        Raises:
            Rejected: no model is named, or it is OpenAI's own endpoint and there is no key.
        """
        if not spec.model:
            raise Rejected(f"{spec.step}: no model is configured; set CITEGRAPH_MODEL")
        loop = asyncio.get_running_loop()
        built = self._models.setdefault(loop, {})
        if spec not in built:
            build = self.factory or self._build(loop)
            built[spec] = await asyncio.to_thread(build, spec)
        return built[spec]

    async def aclose(self) -> None:
        """Close this event loop's connections; the next call opens new ones."""
        loop = asyncio.get_running_loop()
        self._models.pop(loop, None)
        client = self._clients.pop(loop, None)
        if client is not None:
            await client.aclose()

    def _build(self, loop: asyncio.AbstractEventLoop) -> Factory:
        def build(spec: ModelSpec) -> "BaseChatModel":
            if spec.api_key is None and spec.base_url is None:
                raise Rejected(f"{spec.step}: a model is named but OPENAI_API_KEY is not set")
            from langchain_openai import ChatOpenAI

            # A kept-alive connection belongs to the loop that opened it: one client per loop, never the
            # process-wide one that langchain-openai would share between two asyncio.run calls.
            with self._opening:
                if loop not in self._clients:
                    self._clients[loop] = _http_client()
            return ChatOpenAI(
                model=spec.model,
                base_url=spec.base_url,
                api_key=spec.api_key or SecretStr("not-needed"),
                temperature=spec.temperature,
                max_completion_tokens=spec.max_tokens,
                timeout=spec.timeout,
                reasoning_effort=spec.reasoning_effort,
                max_retries=0,
                http_async_client=self._clients[loop],
            )

        return build


Overrides = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Call:
    """One question to a step's model: messages, what it may spend, and how its run is named and traced.

    `overrides` is the run's `Context.models`; `metadata` and `tags` hold ids, counts and names only, since
    they go to the trace.
    """

    step: Step
    messages: "Sequence[BaseMessage]"
    budget: CallBudget
    overrides: Overrides = field(default_factory=dict)
    prompt_version: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def config(self) -> "RunnableConfig":
        """Return the run's name, tags and metadata; a call stays out of LangGraph's message stream.

        The answer's text gets there from the node that speaks it, without thoughts and failed attempts.
        """
        version = f"{self.step}:{self.prompt_version}" if self.prompt_version else ""
        tags = [self.step, *([f"prompt:{version}"] if version else []), *self.tags]
        return {
            "run_name": self.step,
            "tags": [*tags, NO_STREAM],
            "metadata": {**self.metadata, "step": self.step, "prompt_version": self.prompt_version},
        }


async def text(models: ChatModels, call: Call, *, tools: Sequence[Mapping[str, Any]] = ()) -> ModelCall:
    """Return the model's reply, reasoning removed; with `tools` (OpenAI form) it may be tool calls instead.

    Raises:
        Unavailable, TimedOut: the endpoint did not answer.
        Rejected: it will not work as asked; an empty reply and a refusal are of this kind.
        BudgetSpent: the budget allows no call; none was made.
    """
    with call.budget.charged():
        arguments = {"tools": list(tools)} if tools else {}
        reply = await request(models, call, rung="text", arguments=arguments)
        if not reply.content.strip() and not (tools and reply.tool_calls):
            raise Rejected(f"{call.step}: the model answered with nothing{_why_empty(reply)}")
        return reply


async def request(models: ChatModels, call: Call, *, rung: str, arguments: Mapping[str, Any]) -> ModelCall:
    """Make one counted request; a parameter that the endpoint does not know is left out and asked once more.

    Raises:
        NotAccepted: the endpoint refused the request itself (a Rejected that names the features).
        Unavailable, TimedOut, Rejected, BudgetSpent: as in `text`.
    """
    spec = models.spec(call.step, call.overrides)
    memory = models.capability(spec)
    while True:
        try:
            return await _request(models, call, _without(spec, memory), rung=rung, arguments=arguments)
        except NotAccepted as error:
            if not _drop(memory, spec, error):
                raise


async def _request(
    models: ChatModels, call: Call, spec: ModelSpec, *, rung: str, arguments: Mapping[str, Any]
) -> ModelCall:
    model = await models.model(spec)
    _admit(models, call, spec)
    started = time.monotonic()
    try:
        async with asyncio.timeout(min(spec.timeout, call.budget.seconds_left())):
            message = await model.ainvoke(list(call.messages), call.config(), stream=False, **dict(arguments))
    except Exception as error:
        cut = _cut_reply(error)
        if cut is None:
            raise _remember(models, spec, _failed(call, spec, rung, started, error), started) from None
        message = cut
    models.breakers.worked(spec.base_url, spec.model)
    reply = _reply(call, spec, message, rung=rung, started=started)
    call.budget.record(reply)
    _refuse(reply, message)
    return reply


def _admit(models: ChatModels, call: Call, spec: ModelSpec) -> None:
    """Count a call that is about to be made, or raise why it may not be."""
    if call.budget.cost_left is not None and spec.price is None:
        raise BadInput(
            f"{call.step}: this run has a limit of money, but CITEGRAPH_PRICES has no price of {spec.model}"
        )
    models.breakers.admit(spec.base_url, spec.model, step=call.step)
    call.budget.take(call.step)


class TextStream:
    """The pieces of one streamed reply; `result` is the whole call once the loop has ended.

    Raises, from the loop: as `text`. Pieces already given stay given: say so when it fails half-way.
    """

    def __init__(self, models: ChatModels, call: Call) -> None:
        self._models = models
        self._call = call
        self.result: ModelCall | None = None

    async def __aiter__(self) -> AsyncGenerator[str, None]:
        """Yield the text as it comes, without reasoning."""
        spec = self._models.spec(self._call.step, self._call.overrides)
        memory = self._models.capability(spec)
        with self._call.budget.charged():
            while True:
                usage = {} if "stream_options" in memory.dropped else {"stream_usage": True}
                try:
                    async with aclosing(self._pieces(_without(spec, memory), usage)) as pieces:
                        async for piece in pieces:
                            yield piece
                    return
                except NotAccepted as error:
                    if not _drop(memory, spec, error, streamed=True):
                        raise

    async def _pieces(self, spec: ModelSpec, arguments: Mapping[str, Any]) -> AsyncGenerator[str, None]:
        call, whole, hidden = self._call, None, ReasoningFilter()
        models = self._models
        model = await models.model(spec)
        _admit(models, call, spec)
        started = time.monotonic()
        until = min(started + spec.timeout, call.budget.deadline)
        async with aclosing(_chunks(model, call, arguments)) as chunks:
            while True:
                try:
                    async with asyncio.timeout(max(0.0, until - time.monotonic())):
                        chunk = await anext(chunks, None)
                except Exception as error:
                    failed = _failed(call, spec, "text", started, error)
                    raise _remember(models, spec, failed, started) from None
                if chunk is None:
                    break
                whole = chunk if whole is None else whole + chunk
                if piece := hidden.add(chunk.text):
                    yield piece
        models.breakers.worked(spec.base_url, spec.model)
        if rest := hidden.end():
            yield rest
        self.result = self._finish(spec, whole, started)

    def _finish(self, spec: ModelSpec, whole: Any, started: float) -> ModelCall:
        """Return the finished call, or raise when nothing came or the stream ended without saying why."""
        call = self._call
        if whole is None or not whole.response_metadata.get("finish_reason"):
            cut = Unavailable(f"{call.step}: the model endpoint broke off its reply")
            raise _failed(call, spec, "text", started, cut)
        reply = call.budget.record(_reply(call, spec, whole, rung="text", started=started))
        _refuse(reply, whole)
        if not reply.content.strip():
            raise Rejected(f"{call.step}: the model answered with nothing{_why_empty(reply)}")
        return reply


def stream(models: ChatModels, call: Call) -> TextStream:
    """Return the reply as an async iterable of text pieces; see `TextStream`."""
    return TextStream(models, call)


def _chunks(model: Any, call: Call, arguments: Mapping[str, Any]) -> Any:
    return model.astream(list(call.messages), call.config(), **dict(arguments))


def _reply(call: Call, spec: ModelSpec, message: "AIMessage", *, rung: str, started: float) -> ModelCall:
    usage = message.usage_metadata
    content = message.text
    if usage:
        tokens_in, tokens_out = usage["input_tokens"], usage["output_tokens"]
    else:
        tokens_in = sum(estimate_tokens(m.text) for m in call.messages)
        tokens_out = estimate_tokens(content + "".join(str(c["args"]) for c in message.tool_calls))
    broken = [{**c, "type": "invalid"} for c in message.invalid_tool_calls]
    return ModelCall(
        step=call.step,
        model=spec.model,
        rung=rung,
        prompt_version=call.prompt_version,
        content=without_reasoning(content),
        tool_calls=(*(dict(c) for c in message.tool_calls), *broken),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        estimated=not usage,
        cost=spec.price.of(tokens_in, tokens_out) if spec.price else None,
        seconds=time.monotonic() - started,
        finish=str(message.response_metadata.get("finish_reason") or ""),
        message=message,
    )


def _failed(call: Call, spec: ModelSpec, rung: str, started: float, error: Exception) -> Exception:
    """Record the failed call and return the error to raise for `error`; a defect of ours stays itself."""
    ours = translate(error, call.step) or malformed(error, call.step)
    if ours is None:
        return error
    if isinstance(ours, TimedOut) and call.budget.seconds_left() > 0:
        ours = TimedOut(f"{call.step}: the model did not answer within {spec.timeout:g} s")
    tokens_in = sum(estimate_tokens(m.text) for m in call.messages)
    call.budget.record(
        ModelCall(
            step=call.step,
            model=spec.model,
            rung=rung,
            prompt_version=call.prompt_version,
            tokens_in=tokens_in,
            estimated=True,
            cost=spec.price.of(tokens_in, 0) if spec.price else None,
            seconds=time.monotonic() - started,
            failure=type(ours).__name__,
        )
    )
    return ours


def _remember(models: ChatModels, spec: ModelSpec, error: Exception, started: float) -> Exception:
    """Tell the breaker what became of a call, and return the error; a run that was out of time proves nothing."""
    if isinstance(error, TimedOut):
        if time.monotonic() - started >= 0.95 * spec.timeout:
            models.breakers.failed(spec.base_url, spec.model, error)
    elif isinstance(error, Unavailable):
        models.breakers.failed(spec.base_url, spec.model, error)
    elif isinstance(error, Rejected):
        models.breakers.worked(spec.base_url, spec.model)
    return error


def _cut_reply(error: Exception) -> "AIMessage | None":
    """Return what there is of a JSON-schema reply at the token limit, which the client raises away."""
    completion = getattr(error, "completion", None)
    if type(error).__name__ != "LengthFinishReasonError" or completion is None or not completion.choices:
        return None
    from langchain_core.messages import AIMessage
    from langchain_core.messages.ai import UsageMetadata

    counted = completion.usage
    usage = counted and UsageMetadata(
        input_tokens=counted.prompt_tokens,
        output_tokens=counted.completion_tokens,
        total_tokens=counted.total_tokens,
    )
    return AIMessage(
        content=completion.choices[0].message.content or "",
        usage_metadata=usage or None,
        response_metadata={"finish_reason": "length"},
    )


def _refuse(reply: ModelCall, message: "AIMessage") -> None:
    if message.additional_kwargs.get("refusal") or reply.finish == "content_filter":
        raise Rejected(f"{reply.step}: the model refused to answer")


def _why_empty(reply: ModelCall) -> str:
    return " and used up its token limit" if reply.truncated else ""


def _without(spec: ModelSpec, memory: Capability) -> ModelSpec:
    """Return `spec` without the parameters that the endpoint has refused before."""
    effort = None if "reasoning_effort" in memory.dropped else spec.reasoning_effort
    temperature = None if "temperature" in memory.dropped else spec.temperature
    return replace(spec, temperature=temperature, reasoning_effort=effort)


def _drop(memory: Capability, spec: ModelSpec, error: NotAccepted, *, streamed: bool = False) -> bool:
    """Remember the optional parameters that a 4xx is about; True when leaving them out is worth a try."""
    sent = {
        "temperature": spec.temperature is not None,
        "reasoning_effort": spec.reasoning_effort is not None,
    }
    sent["stream_options"] = streamed
    new = {n for n in OPTIONAL_PARAMETERS if n in error.subjects and sent[n] and n not in memory.dropped}
    memory.dropped |= new
    return bool(new)


def _options(kind: type[Any], step: str, values: Mapping[str, Any], where: str) -> Any:
    """Return the checked options of one step; the message names what is wrong, never a value."""
    if step not in STEPS:
        raise BadInput(f"{where}: there is no step {step!r}; the steps are {', '.join(STEPS)}")
    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise BadInput(
            f"{where}: {step}.{name}: {first['msg']}; options: {', '.join(kind.model_fields)}"
        ) from None


def _http_client() -> Any:
    from openai import DefaultAsyncHttpxClient

    return DefaultAsyncHttpxClient()


__all__ = [
    "RUNGS",
    "STEPS",
    "Call",
    "CallBudget",
    "Capability",
    "ChatModels",
    "CitegraphError",
    "ModelCall",
    "ModelSpec",
    "Overrides",
    "Rung",
    "Step",
    "TextStream",
    "request",
    "stream",
    "text",
]
