"""A proxy in front of an OpenAI-compatible endpoint that spoils the calls of one step in one way.

The path says which: `http://127.0.0.1:PORT/STEP/FAULT/CELL/v1`. Each step's model bears the step's name, so a request
tells its step whatever its prompt says; the requests of other steps are passed on untouched.
"""

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from tests.citegraph.llm.endpoint import KEY, Endpoint, Http, Sse, pieces, said

Body = dict[str, Any]
LEAK = f"Bearer {KEY} sent with: Traceback (most recent call last): File 'model.py', line 7"
"""What a careless endpoint puts into its errors: none of it may reach an answer or a log."""
SLOW = 0.8
"""Seconds that a silent endpoint takes: longer than the faulted step's time-out."""
LONG = "lorem ipsum dolor sit amet " * 3_900
ALIEN = {"weather": "sunny", "temperature": 21}
BROKEN = '{"status": "enough", "intent": qa,, "plans": [}'
UNKNOWN_TOOL = {
    "id": "t1",
    "type": "function",
    "function": {"name": "drop_table", "arguments": '{"name": "*"}'},
}
WILD = "The limit is -999999999 V [../../secret], see [no-such-document] and [nv2n517:99999999]."


@dataclass(frozen=True)
class Fault:
    """One way to fail: what is sent in place of a reply; `once` spoils a cell's first call only, `slow` takes longer than
    its step waits."""

    name: str
    spoil: Callable[[Body], Http | Sse]
    once: bool = False
    slow: bool = False


def refusing(status: int, code: str | None = None, **headers: str) -> Callable[[Body], Http]:
    """Return an HTTP error whose text quotes the key and a stack trace."""
    error = {"message": LEAK, "type": "server_error", "code": code}
    return lambda body: Http(status, {"error": error}, {k.replace("_", "-"): v for k, v in headers.items()})


def saying(content: str | None, **message: Any) -> Callable[[Body], Http | Sse]:
    """Return a whole reply with this content, streamed when the client asked for a stream."""

    def spoil(body: Body) -> Http | Sse:
        if not body.get("stream"):
            return Http(body=said(content, **message))
        chunks = pieces(content or "")
        chunks[0]["choices"][0]["delta"] |= streamed_message(message)
        return Sse(chunks)

    return spoil


def streamed_message(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message's parts as a stream brings them: tool calls are numbered."""
    calls = message.get("tool_calls", [])
    numbered = (
        {"tool_calls": [call | {"index": number} for number, call in enumerate(calls)]} if calls else {}
    )
    return {key: value for key, value in message.items() if key not in {"tool_calls", "finish"}} | numbered


def hanging(body: Body) -> Http | Sse:
    """Return a reply that stops after its first token."""
    if body.get("stream"):
        return Sse(pieces("The", usage=False), hang=SLOW)
    return Http(body=said("The"), hang=SLOW)


def cutting(body: Body) -> Http | Sse:
    """Return a reply that breaks off half-way."""
    if body.get("stream"):
        return Sse(pieces("The col", "lector", finish=None, usage=False), cut=True)
    return Http(body=said("The collector"), cut=True)


def out_of_bounds(body: Body) -> Http | Sse:
    """Return a reply of the right shape whose every value is beyond what the schema allows."""
    schema = schema_of(body)
    return saying(WILD if schema is None else json.dumps(beyond(schema, schema)))(body)


def schema_of(body: Body) -> Body | None:
    """Return the JSON schema that a request asks for, None when it asks for text."""
    wanted = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    tools = body.get("tools") or [{}]
    forced = tools[0].get("function", {}).get("parameters") if body.get("tool_choice") else None
    found: Body | None = wanted or forced
    return found


def beyond(schema: Body, root: Body) -> Any:
    """Return a value that has the schema's shape and breaks its bounds."""
    if "$ref" in schema:
        return beyond(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    if "enum" in schema:
        return "no_such_choice"
    kind = schema.get("type")
    if kind == "object":
        return {name: beyond(value, root) for name, value in schema["properties"].items()}
    if kind == "array":
        return [beyond(schema["items"], root)] * 9
    if kind in {"number", "integer"}:
        return -(10**9)
    return False if kind == "boolean" else "x" * 2_500


NONE = "none"
FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        Fault("timeout", lambda body: Http(body=said("late"), wait=SLOW), slow=True),
        Fault("hang after the first token", hanging, slow=True),
        Fault("401", refusing(401, "invalid_api_key")),
        Fault("404 model", refusing(404, "model_not_found")),
        Fault("429 for 0.1 s", refusing(429, "rate_limit_exceeded", retry_after_ms="100"), once=True),
        Fault("429 for an hour", refusing(429, "rate_limit_exceeded", Retry_After="3600")),
        Fault("500", refusing(500)),
        Fault("500 once", refusing(500), once=True),
        Fault("connection reset", lambda body: Http(reset=True)),
        Fault("empty content", saying("")),
        Fault("no content", saying(None)),
        Fault("refusal", saying(None, refusal=f"I cannot help with that. {LEAK}")),
        Fault("invalid JSON", saying(BROKEN)),
        Fault("JSON of another schema", saying(json.dumps(ALIEN))),
        Fault("unknown tool", saying(None, finish="tool_calls", tool_calls=[UNKNOWN_TOOL])),
        Fault("out of bounds", out_of_bounds),
        Fault("100 kB of text", saying(LONG)),
        Fault("cut stream", cutting),
    )
}


class FaultProxy(Endpoint):
    """Spoils what its path names and passes the rest on to `upstream`; both are counted by cell.

    `upstream` is a base URL; "{cell}" in it is replaced by the cell's name.
    """

    def __init__(self, upstream: str) -> None:
        super().__init__()
        self.upstream = upstream.rstrip("/")
        self.spoiled: Counter[str] = Counter()
        self.passed: dict[str, Counter[str]] = defaultdict(Counter)
        self._counting = threading.Lock()
        self._client = httpx.Client(timeout=30, trust_env=False)

    def base_url(self, step: str, fault: str, cell: str) -> str:
        """Return the address under which every call of `step` suffers `fault`, none with `NONE`."""
        number = NONE if fault == NONE else list(FAULTS).index(fault)
        return f"{self.url.removesuffix('/v1')}/{step}/{number}/{cell}/v1"

    def reply(self, path: str, body: Body) -> Http | Sse:
        """Return the spoiled reply, or the upstream's."""
        _, step, number, cell, *_ = path.split("/")
        fault = None if number == NONE else list(FAULTS.values())[int(number)]
        with self._counting:
            spoils = fault and body["model"] == step and not (fault.once and self.spoiled[cell])
            if spoils:
                self.spoiled[cell] += 1
            else:
                self.passed[cell][body["model"]] += 1
        return fault.spoil(body) if fault and spoils else self.forward(cell, body)

    def forward(self, cell: str, body: Body) -> Http | Sse:
        """Return what the upstream says, its stream event by event."""
        address = f"{self.upstream.format(cell=cell)}/chat/completions"
        response = self._client.post(address, json=body)
        if not body.get("stream"):
            return Http(response.status_code, response.text)
        lines = [
            line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: ")
        ]
        return Sse([json.loads(line) for line in lines if line != "[DONE]"])

    def close(self) -> None:
        """Stop serving."""
        super().close()
        self._client.close()


class Upstream(Endpoint):
    """An OpenAI-compatible endpoint that answers right: `answers[cell](step, prompt)`; the model names the step."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, Callable[[str, str], str | Body]] = {}
        self.template = self.url.replace("/v1", "/{cell}/v1")

    def reply(self, path: str, body: Body) -> Http | Sse:
        """Return the right reply, in the form that was asked for."""
        prompt = "\n".join(str(message.get("content") or "") for message in body["messages"])
        answer = self.answers[path.split("/")[1]](body["model"], prompt)
        if isinstance(answer, dict) and "tool_calls" in answer:
            return saying(answer.get("content"), finish="tool_calls", tool_calls=answer["tool_calls"])(body)
        text = answer if isinstance(answer, str) else json.dumps(answer)
        if body.get("stream"):
            first, *rest = text.split(" ")
            return Sse(pieces(first, *(f" {word}" for word in rest)))
        return Http(body=said(text))
