"""What becomes of one request to a model: whether it is made, what is counted, and what is remembered of its endpoint."""

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from citegraph.errors import Rejected, TimedOut
from citegraph.llm.foreign_errors import NotAccepted, malformed, translate
from citegraph.llm.json_text import thoughts
from citegraph.llm.model_call import ModelCall, estimate_tokens

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

    from citegraph.llm.call_options import Call, Capability, ModelSpec


_TAGS = ("think", "thinking", "reasoning")
_BLOCK = re.compile(rf"<({'|'.join(_TAGS)})>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)
_CLOSE = re.compile(rf"^.*?</({'|'.join(_TAGS)})>\s*", re.DOTALL | re.IGNORECASE)
_OPENINGS = tuple(f"<{tag}>" for tag in _TAGS)


def without_reasoning(text: str) -> str:
    """Return `text` without its leading thoughts; a block that never closes leaves nothing.

    Some chat templates put the opening tag in the prompt, so a closing tag alone ends the thoughts too.
    """
    start = text.lstrip()
    if start.lower().startswith(_OPENINGS):
        block = _BLOCK.match(start)
        return start[block.end() :] if block else ""
    closed = None if any(thoughts(text)) else _CLOSE.match(text)
    return text[closed.end() :] if closed else text


class ReasoningFilter:
    """Passes streamed text on, except a block of thoughts at its very start."""

    def __init__(self) -> None:
        self._held = ""
        self._open = True

    def add(self, piece: str) -> str:
        """Return what of the text so far may be shown now."""
        if not self._open:
            return piece
        self._held += piece
        start = self._held.lstrip().lower()
        if any(opening.startswith(start) for opening in _OPENINGS):
            return ""
        if start.startswith(_OPENINGS) and not without_reasoning(self._held):
            return ""
        return self.end()

    def end(self) -> str:
        """Return what was held back; the stream passes through from here on."""
        shown, self._held, self._open = without_reasoning(self._held), "", False
        return shown


OPTIONAL_PARAMETERS = ("temperature", "reasoning_effort", "stream_options")


def reply_of(
    call: "Call", spec: "ModelSpec", message: "AIMessage", *, rung: str, started: float
) -> ModelCall:
    """Return a reply as it is recorded, without its reasoning; tokens are estimated where the endpoint counted none."""
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


def failure_of(call: "Call", spec: "ModelSpec", rung: str, started: float, error: Exception) -> Exception:
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


def cut_reply(error: Exception) -> "AIMessage | None":
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


def refuse(reply: ModelCall, message: "AIMessage") -> None:
    """Raise Rejected when the model would not answer."""
    if message.additional_kwargs.get("refusal") or reply.finish == "content_filter":
        raise Rejected(f"{reply.step}: the model refused to answer")


def why_empty(reply: ModelCall) -> str:
    """Return what to say of a reply without text: that its token limit was too low, or nothing."""
    return " and used up its token limit" if reply.truncated else ""


def without_refused(spec: "ModelSpec", memory: "Capability") -> "ModelSpec":
    """Return `spec` without the parameters that the endpoint has refused before."""
    effort = None if "reasoning_effort" in memory.dropped else spec.reasoning_effort
    temperature = None if "temperature" in memory.dropped else spec.temperature
    return replace(spec, temperature=temperature, reasoning_effort=effort)


def drop_refused(
    memory: "Capability", spec: "ModelSpec", error: NotAccepted, *, streamed: bool = False
) -> bool:
    """Remember the optional parameters that a 4xx is about; True when leaving them out is worth a try."""
    sent = {
        "temperature": spec.temperature is not None,
        "reasoning_effort": spec.reasoning_effort is not None,
    }
    sent["stream_options"] = streamed
    new = {n for n in OPTIONAL_PARAMETERS if n in error.subjects and sent[n] and n not in memory.dropped}
    memory.dropped |= new
    return bool(new)
