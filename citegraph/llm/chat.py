"""Chat models per step behind one seam: which model answers, how long it may take, what it cost."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pydantic import SecretStr

from citegraph.errors import BadInput, CircuitOpen, Rejected, TimedOut, Unavailable
from citegraph.llm.call_options import (
    STEPS,
    Call,
    Capability,
    Endpoint,
    EndpointOptions,
    ModelSpec,
    Overrides,
    Prices,
    Step,
    StepOptions,
    checked,
)
from citegraph.llm.endpoint_client import PLAIN, endpoint_hooks
from citegraph.llm.foreign_errors import NotAccepted
from citegraph.llm.model_call import ModelCall
from citegraph.llm.outcome import (
    cut_reply,
    drop_refused,
    failure_of,
    refuse,
    reply_of,
    why_empty,
    without_refused,
)
from citegraph.llm.prompt_assembly import Prompts
from citegraph.settings import Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


REST, LONGEST_REST = 10.0, 120.0
"""Seconds of rest after a failure; doubled with each trial that fails too, up to the longest."""
FAILURES = 3
"""Failures in a row, other than time-outs, after which an endpoint rests."""
TRIAL = 60.0
"""Seconds after which a trial that never came back (a cancelled run) no longer keeps others out."""


@dataclass
class Circuit:
    """What is known of one endpoint: failures in a row, and until when it rests.

    `asked` says that the endpoint itself named the time (Retry-After): then waiting for it is worth it.
    """

    failures: int = 0
    rests: int = 0
    until: float = 0.0
    asked: bool = False
    trial: float = 0.0


class Breakers:
    """One circuit per endpoint, and one per endpoint and model for time-outs and waits that the endpoint asks for.

    A slow model is no dead endpoint, and rates are limited by model: the others answer meanwhile.

    Written here and not taken from a package: pybreaker's async form needs Tornado, aiobreaker was last released
    in 2021, and purgatory has one fixed rest per name and lets every waiting call through at once when it ends.

    Args:
        clock: seconds on a scale that never goes back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._circuits: dict[tuple[str, ...], Circuit] = {}

    def admit(self, endpoint: str | None, model: str, *, step: str) -> None:
        """Let a call pass, as the only trial when a rest is over.

        Raises:
            CircuitOpen: the endpoint rests, or a trial is on its way; no call was made. `retry_after` is set
                when the endpoint asked to wait that long.
        """
        now = self._clock()
        circuits = [circuit for key in _keys(endpoint, model) if (circuit := self._circuits.get(key))]
        for circuit in circuits:
            if now < circuit.until:
                left = circuit.until - now
                raise CircuitOpen(
                    f"{step}: the model endpoint failed before and is asked again in {left:.0f} s",
                    retry_after=left if circuit.asked else None,
                )
            if circuit.rests and not circuit.asked and now - circuit.trial < TRIAL:
                raise CircuitOpen(f"{step}: the model endpoint failed before and is being tried again")
        for circuit in circuits:
            circuit.trial = now

    def worked(self, endpoint: str | None, model: str) -> None:
        """Note that the endpoint answered, were it with a refusal: it is alive."""
        for key in _keys(endpoint, model):
            self._circuits.pop(key, None)

    def failed(self, endpoint: str | None, model: str, error: Unavailable) -> None:
        """Note a failure: a time-out, a wait that the endpoint asked for, or the third in a row starts a rest."""
        whole, own = _keys(endpoint, model)
        of_the_model = isinstance(error, TimedOut) or error.retry_after is not None
        circuit = self._circuits.setdefault(own if of_the_model else whole, Circuit())
        now = self._clock()
        circuit.failures += 1
        circuit.asked = error.retry_after is not None
        if error.retry_after is not None:
            circuit.until = now + error.retry_after
        elif isinstance(error, TimedOut) or circuit.failures >= FAILURES or circuit.rests:
            circuit.until = now + min(LONGEST_REST, REST * 2**circuit.rests)
            circuit.rests += 1
        circuit.trial = 0.0


def _keys(endpoint: str | None, model: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (endpoint or "",), (endpoint or "", model)


Factory = Callable[[ModelSpec], "BaseChatModel"]


class ChatModels:
    """Builds and keeps the chat model of each step, one client per event loop.

    Args:
        settings: model, key and base URL of the process, and its overrides per step.
        factory: builds the model of a spec instead of ChatOpenAI; with it every step counts as configured.

    Raises:
        BadInput: CITEGRAPH_STEP_MODELS names an unknown step, option or endpoint, or a value is out of bounds; an
            endpoint of CITEGRAPH_ENDPOINTS or a price of
            CITEGRAPH_PRICES has another shape, or a prompt of CITEGRAPH_PROMPTS cannot be used.
    """

    def __init__(self, settings: Settings, factory: Factory | None = None) -> None:
        self.settings = settings
        self.factory = factory
        self._endpoints = {
            name: checked(Endpoint, values, f"CITEGRAPH_ENDPOINTS: {name}.", "base_url and api_key are known")
            for name, values in settings.endpoints.items()
        }
        self._options = {
            step: self._checked(EndpointOptions, step, values, "CITEGRAPH_STEP_MODELS")
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

    def problem(self, overrides: "Overrides") -> str | None:
        """Return what is wrong with a run's overrides, in words for whoever wrote them; None when nothing is."""
        try:
            for name, values in overrides.items():
                self._checked(StepOptions, name, values, "models")
        except BadInput as error:
            return str(error)
        return None

    def spec(self, step: Step, overrides: "Overrides | None" = None) -> ModelSpec:
        """Return the step's model and options: run over step over process; no `model` named leaves it empty.

        A step with its own base URL gets its own key only: the process's key is never sent elsewhere.

        Raises:
            BadInput: `overrides` names an unknown step or option, or a value is out of bounds.
        """
        runs = {
            name: self._checked(StepOptions, name, values, "models")
            for name, values in (overrides or {}).items()
        }
        process = self._options.get(step)
        chosen = process.model_dump(exclude_none=True) if process else {}
        if step in runs:
            chosen |= runs[step].model_dump(exclude_none=True)
        chosen.setdefault("model", self.settings.model or ("scripted" if self.factory else ""))
        chosen.setdefault("timeout", self.settings.model_timeout)
        endpoint = self._endpoints.get(chosen.pop("endpoint", ""))
        if endpoint is not None:
            chosen |= {"base_url": endpoint.base_url, "api_key": endpoint.api_key}
        if "base_url" not in chosen:
            chosen["base_url"] = self.settings.openai_base_url
            chosen.setdefault("api_key", self.settings.openai_api_key)
        price = self.prices.price(chosen["model"])
        return ModelSpec(step=step, api_key=chosen.pop("api_key", None), price=price, **chosen)

    def _checked(
        self, kind: type[StepOptions], step: str, values: Mapping[str, Any], where: str
    ) -> StepOptions:
        """Return the checked options of one step, whose endpoint is declared."""
        if step not in STEPS:
            raise BadInput(f"{where}: there is no step {step!r}; the steps are {', '.join(STEPS)}")
        options = checked(kind, values, f"{where}: {step}.", f"options: {', '.join(kind.model_fields)}")
        if options.endpoint is not None and options.endpoint not in self._endpoints:
            names = ", ".join(sorted(self._endpoints)) or "none"
            raise BadInput(f"{where}: {step}.endpoint: not in CITEGRAPH_ENDPOINTS, which declares {names}")
        return options

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
            from openai import DefaultAsyncHttpxClient

            # A kept-alive connection belongs to the loop that opened it: one client per loop, never the
            # process-wide one that langchain-openai would share between two asyncio.run calls.
            with self._opening:
                if loop not in self._clients:
                    self._clients[loop] = DefaultAsyncHttpxClient(event_hooks=endpoint_hooks(), headers=PLAIN)
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
            raise Rejected(f"{call.step}: the model answered with nothing{why_empty(reply)}")
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
            return await _request(models, call, without_refused(spec, memory), rung=rung, arguments=arguments)
        except NotAccepted as error:
            if not drop_refused(memory, spec, error):
                raise


async def _request(
    models: ChatModels, call: Call, spec: ModelSpec, *, rung: str, arguments: Mapping[str, Any]
) -> ModelCall:
    model = await models.model(spec)
    admit(models, call, spec)
    started = time.monotonic()
    try:
        async with asyncio.timeout(min(spec.timeout, call.budget.seconds_left())):
            message = await model.ainvoke(list(call.messages), call.config(), stream=False, **dict(arguments))
    except Exception as error:
        cut = cut_reply(error)
        if cut is None:
            raise remembered(models, spec, failure_of(call, spec, rung, started, error), started) from None
        message = cut
    models.breakers.worked(spec.base_url, spec.model)
    reply = reply_of(call, spec, message, rung=rung, started=started)
    call.budget.record(reply)
    refuse(reply, message)
    return reply


def admit(models: "ChatModels", call: "Call", spec: "ModelSpec") -> None:
    """Count a call that is about to be made, or raise why it may not be."""
    if call.budget.cost_left is not None and spec.price is None:
        raise BadInput(
            f"{call.step}: this run has a limit of money, but CITEGRAPH_PRICES has no price of {spec.model}"
        )
    models.breakers.admit(spec.base_url, spec.model, step=call.step)
    call.budget.take(call.step)


def remembered(models: "ChatModels", spec: "ModelSpec", error: Exception, started: float) -> Exception:
    """Tell the breaker what became of a call, and return the error; a run that was out of time proves nothing."""
    if isinstance(error, TimedOut):
        if time.monotonic() - started >= 0.95 * spec.timeout:
            models.breakers.failed(spec.base_url, spec.model, error)
    elif isinstance(error, Unavailable):
        models.breakers.failed(spec.base_url, spec.model, error)
    elif isinstance(error, Rejected):
        models.breakers.worked(spec.base_url, spec.model)
    return error
