"""A reply piece by piece as the model writes it, within the same budgets and with the same errors as a whole one."""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from citegraph.errors import Rejected, Unavailable
from citegraph.llm.call_options import Call, ModelSpec
from citegraph.llm.chat import ChatModels, admit, remembered
from citegraph.llm.foreign_errors import NotAccepted
from citegraph.llm.model_call import ModelCall
from citegraph.llm.outcome import (
    ReasoningFilter,
    drop_refused,
    failure_of,
    refuse,
    reply_of,
    why_empty,
    without_refused,
)

MOST_TEXT = 400_000
"""Characters of a reply: some 100,000 tokens."""


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
                    async with aclosing(self._pieces(without_refused(spec, memory), usage)) as pieces:
                        async for piece in pieces:
                            yield piece
                    return
                except NotAccepted as error:
                    if not drop_refused(memory, spec, error, streamed=True):
                        raise

    async def _pieces(self, spec: ModelSpec, arguments: Mapping[str, Any]) -> AsyncGenerator[str, None]:
        call, whole, hidden, written = self._call, None, ReasoningFilter(), 0
        models = self._models
        model = await models.model(spec)
        admit(models, call, spec)
        started = time.monotonic()
        until = min(started + spec.timeout, call.budget.deadline)
        streamed: Any = model.astream(list(call.messages), call.config(), **arguments)
        async with aclosing(streamed) as chunks:
            while True:
                try:
                    async with asyncio.timeout(max(0.0, until - time.monotonic())):
                        chunk = await anext(chunks, None)
                except Exception as error:
                    failed = failure_of(call, spec, "text", started, error)
                    raise remembered(models, spec, failed, started) from None
                if chunk is None:
                    break
                whole = chunk if whole is None else whole + chunk
                written += len(chunk.text)
                if written > MOST_TEXT:
                    cut = Rejected(f"{call.step}: the model wrote more than {MOST_TEXT:,} characters")
                    raise remembered(models, spec, failure_of(call, spec, "text", started, cut), started)
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
            raise failure_of(call, spec, "text", started, cut)
        reply = call.budget.record(reply_of(call, spec, whole, rung="text", started=started))
        refuse(reply, whole)
        if not reply.content.strip():
            raise Rejected(f"{call.step}: the model answered with nothing{why_empty(reply)}")
        return reply
