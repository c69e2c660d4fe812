"""The one wrapper around a node: it runs in the run's mode, its seconds are counted, and who wants to know is told.

A step's begin and end, with what it found (searches) and what it spent (model calls), pass through `Watched.__call__`.
Each single model call is a LangChain run named by its step (`citegraph.llm.chat.Call.config`) and a span
(`citegraph.llm.model_spans`). `Services.observers` hear of every step as a `StepSeen`, spans are made in
`graph.step_spans`, and LangSmith is told in `graph.langsmith`. All of them get names, ids and counts.
"""

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from citegraph.run.context import Context
from citegraph.run.model_calls import Stopwatch
from citegraph.run.observing import Observer, StepSeen
from citegraph.run.state import Update
from graph.langsmith import tell
from graph.step_spans import counted, step_span

Mode = Literal["agentic", "single"]
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Watched:
    """A node as the graph runs it.

    Attributes:
        mode: bounds the run's settings where the caller names no mode.
        timed: its seconds are counted here under `usage.steps`; the other nodes count their own.
    """

    step: str
    node: Any
    mode: Mode
    observers: tuple[Observer, ...] = ()
    timed: bool = False

    async def __call__(self, state: Any, runtime: Runtime[Context]) -> Update:
        """Run the node, then tell what it did."""
        config = get_config()
        context = (runtime.context or Context()).in_mode(self.mode)
        watch = Stopwatch(self.step) if self.timed else None
        with step_span(self.step, state, config) as span:
            began = time.perf_counter()
            update: Update = await self.node(state, runtime.override(context=context))
            if watch is not None:
                # The run that pays: an update that the node cache kept from another one costs nothing.
                paid = {"run": state.get("usage", {}).get("started")}
                update = update | {"usage": watch.update(update.get("usage")) | paid}
            seen = seen_of(self.step, update, config, time.perf_counter() - began)
            counted(span, seen)
        tell(self.step, state, update)
        observe(self.observers, seen)
        return update


def seen_of(
    step: str, update: Mapping[str, Any], config: Mapping[str, Any], seconds: float | None
) -> StepSeen:
    """Return what observers hear of a step that made this update; no text.

    What a new turn overwrites stands in LangGraph's `Overwrite`.
    """
    update = {key: value.value if isinstance(value, Overwrite) else value for key, value in update.items()}
    found = update.get("found")
    hits = [hit for item in found or [] for hit in item.get("hits", [])]
    answer = update.get("answer") or {}
    paused = (update.get("decision") or {}).get("status") == "clarify"
    return StepSeen(
        step=step,
        run_id=str((config.get("metadata") or {}).get("run_id", "")),
        thread_id=str((config.get("configurable") or {}).get("thread_id", "")),
        seconds=seconds,
        tool=str(found[0]["call"]["tool"]) if found else "",
        candidates=len(hits) if found else None,
        scores=tuple(float(hit["score"]) for hit in hits if isinstance(hit.get("score"), int | float)),
        usage={
            key: value for key, value in (update.get("usage") or {}).items() if isinstance(value, int | float)
        },
        notes=tuple(str(item["kind"]) for item in update.get("notes") or []),
        status="needs_clarification" if paused else str(answer.get("status", "")),
        run_seconds=(answer.get("usage") or {}).get("seconds"),
    )


def observe(observers: Iterable[Observer], seen: StepSeen) -> None:
    """Tell observers of a step; nothing that goes wrong there reaches the run."""
    for observer in observers:
        try:
            observer.saw(seen)
        except Exception as error:
            log.debug("observing step %s failed: %s", seen.step, type(error).__name__)
