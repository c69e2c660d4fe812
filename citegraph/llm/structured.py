"""The structured-output ladder: JSON schema, tool call, JSON in text, one repair round, then the twin."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from citegraph.errors import Rejected
from citegraph.llm.call_options import Call, ModelSpec, Rung
from citegraph.llm.chat import ChatModels, request
from citegraph.llm.foreign_errors import NotAccepted
from citegraph.llm.json_text import cut_object, fit, mended_object, whole_objects
from citegraph.llm.model_call import ModelCall
from citegraph.llm.strict import shared_schema, strict_schema

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

T = TypeVar("T", bound=BaseModel)

QUOTED_REPLY = 4_000
QUOTED_ERRORS = 8
STRICT_HOSTS = ("openai.com", "azure.com")


@dataclass(frozen=True)
class Parsed(Generic[T]):
    """A model's answer as the schema's object.

    `calls` are the requests that it took; `repaired` says that it was mended, cut short or asked for twice.
    """

    value: T
    calls: tuple[ModelCall, ...]
    repaired: bool = False

    @property
    def rung(self) -> str:
        """Return the rung that brought the answer."""
        return self.calls[-1].rung


async def structured(models: ChatModels, call: Call, schema: type[T]) -> Parsed[T]:
    """Return the model's answer as an object of `schema`, by the best rung that its endpoint knows.

    At most one request per rung that the endpoint refuses, one that it accepts, and one repair round.

    Raises:
        Rejected: refused, or the reply does not fit after one repair round; the step's twin answers.
        Unavailable, TimedOut: the endpoint did not answer.
        BudgetSpent: the budget allows no (further) call.
    """
    spec = models.spec(call.step, call.overrides)
    memory = models.capability(spec)
    before = len(call.budget.calls)
    with call.budget.charged():
        reply = await _climb_down(models, call, schema, spec)
        reading = read(reply, schema)
        if reading.value is None:
            if reading.shapeless and not reply.truncated:
                memory.passed_over(reply.rung)
            reply, reading = await _repair(models, call, schema, reply, reading)
        elif not reading.shapeless:
            memory.worked(reply.rung)
        if reading.value is None:
            raise Rejected(f"{call.step}: the model's reply does not fit its schema: {reading.problems[0]}")
    calls = tuple(call.budget.calls[before:])
    repaired = reading.mended or any(c.rung == "repair" for c in calls)
    return Parsed(reading.value, calls, repaired)


async def _climb_down(models: ChatModels, call: Call, schema: type[BaseModel], spec: ModelSpec) -> ModelCall:
    """Return the reply on the first rung that the endpoint accepts; those above it are not tried again."""
    memory = models.capability(spec)
    rungs = memory.rungs(spec.method)
    refused: list[Rung] = []
    for rung in rungs:
        asked, arguments = _ask(call, schema, rung, bounds=_takes_bounds(spec))
        try:
            reply = await request(models, asked, rung=rung, arguments=arguments)
        except NotAccepted as error:
            if rung == rungs[-1] or (error.status == 404 and rung not in error.subjects):
                raise
            refused.append(rung)
            continue
        memory.refused.update(refused)
        return reply
    raise AssertionError("the last rung either returns or raises")


def _ask(call: Call, schema: type[BaseModel], rung: Rung, *, bounds: bool) -> tuple[Call, dict[str, Any]]:
    """Return the call and the client arguments that ask for `schema` on `rung`."""
    name = schema.__name__
    if rung == "json_schema":
        wanted = {"name": name, "schema": strict_schema(schema, bounds=bounds), "strict": True}
        return call, {"response_format": {"type": "json_schema", "json_schema": wanted}}
    if rung == "tool_call":
        function = {"name": name, "description": "Give the answer.", "parameters": strict_schema(schema)}
        choice = {"type": "function", "function": {"name": name}}
        return call, {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
    return replace(call, messages=_with_instruction(call.messages, _instruction(schema))), {}


async def _repair(
    models: ChatModels, call: Call, schema: type[T], reply: ModelCall, reading: "Reading[T]"
) -> tuple[ModelCall, "Reading[T]"]:
    """Ask once more in plain text, quoting the reply and what is wrong with it, if a call is left."""
    if call.budget.calls_left < 1:
        return reply, reading
    from langchain_core.messages import AIMessage, HumanMessage

    wrong = "\n".join(f"- {problem}" for problem in reading.problems[:QUOTED_ERRORS])
    said = _written(reply)[:QUOTED_REPLY]
    demand = f"That reply cannot be used:\n{wrong}\n{_instruction(schema)}"
    if said.strip():
        messages = [*call.messages, AIMessage(content=said), HumanMessage(content=demand)]
    else:
        messages = list(_with_instruction(call.messages, demand))
    again = await request(models, replace(call, messages=messages), rung="repair", arguments={})
    return again, read(again, schema)


MOST_JSON = 200_000
"""Characters of a reply that is read as JSON."""


@dataclass(frozen=True)
class Reading(Generic[T]):
    """What came of one reply: a value, or the problems in words; `shapeless` when it held no JSON object."""

    value: T | None
    problems: tuple[str, ...] = ()
    mended: bool = False
    shapeless: bool = False


def read(reply: ModelCall, schema: type[T]) -> Reading[T]:
    """Return the object of `schema` in a reply: its tool call, or the JSON in its text, mended if need be."""
    shape = shared_schema(schema)
    written = _written(reply)
    if len(written) > MOST_JSON:
        return Reading(None, (f"it has more than {MOST_JSON:,} characters",))
    problems: tuple[str, ...] = ()
    for found in whole_objects(written):
        value, wrong = _validated(fit(found, shape), schema)
        if value is not None:
            return Reading(value)
        problems = problems or wrong
    if problems:
        return Reading(None, problems)
    cut = cut_object(written)
    if cut is not None:
        fitted = fit(cut, shape, fill=False)
        missing = [name for name in shape["properties"] if name not in fitted]
        value, wrong = _validated(fitted, schema)
        if value is not None and not missing:
            return Reading(value, mended=True)
        return Reading(None, (f"the JSON stops before {', '.join(missing)}",) if missing else wrong)
    mended = mended_object(written)
    if mended is not None:
        value, wrong = _validated(fit(mended, shape), schema)
        return Reading(value, wrong, mended=True)
    return Reading(None, ("it holds no JSON object",), shapeless=True)


def _validated(value: Any, schema: type[T]) -> tuple[T | None, tuple[str, ...]]:
    try:
        return schema.model_validate(value), ()
    except ValidationError as error:
        details = error.errors(include_input=False, include_url=False, include_context=False)
        return None, tuple(f"{'.'.join(map(str, d['loc'])) or 'object'}: {d['msg']}" for d in details)


def _written(reply: ModelCall) -> str:
    """Return what the model wrote as the answer: a tool call's arguments, or its text with its thoughts."""
    for made in reply.tool_calls:
        arguments = made.get("args")
        return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return str(reply.message.text) if reply.message is not None else reply.content


def _instruction(schema: type[BaseModel]) -> str:
    shape = json.dumps(shared_schema(schema), ensure_ascii=False)
    return f"Reply with one JSON object and nothing else. It must fit this JSON schema:\n{shape}"


def _with_instruction(messages: "Sequence[BaseMessage]", instruction: str) -> "list[BaseMessage]":
    """Return the messages with `instruction` at the end, in the last user turn: some templates want turns."""
    from langchain_core.messages import HumanMessage

    last = messages[-1] if messages else None
    if isinstance(last, HumanMessage) and isinstance(last.content, str):
        return [*messages[:-1], HumanMessage(content=f"{last.content}\n\n{instruction}")]
    return [*messages, HumanMessage(content=instruction)]


def _takes_bounds(spec: ModelSpec) -> bool:
    """Return whether the endpoint may be sent maxLength and maxItems: not OpenAI's or Azure's."""
    host = urlsplit(spec.base_url or "https://api.openai.com").hostname or ""
    return not any(host == h or host.endswith(f".{h}") for h in STRICT_HOSTS)
