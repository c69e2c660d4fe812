"""tools: run the calls that the agent's model asked for, all at once; what they find becomes evidence."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime
from pydantic import ValidationError

from citegraph.corpus.index.searcher import term_weights
from citegraph.errors import CitegraphError
from citegraph.evidence.passages import hydrate, merge, within_budget
from citegraph.run.budgets import seconds_left
from citegraph.run.context import Context
from citegraph.run.events import ToolEvent
from citegraph.run.model_calls import Stopwatch, note
from citegraph.run.services import Corpus, Services
from citegraph.run.state import Json, State, Update
from citegraph.run.state_types import AgentTurn, CallArguments, Reference, ToolCall
from tools.query_drafts import plan_of
from tools.toolbox import SEARCHES, agent_tools, answered, run_scope


@dataclass(frozen=True)
class Tools:
    """Node: runs `calls`; appends a turn of ids and counts to `transcript`, and writes `evidence` and `plan`."""

    services: Services

    async def __call__(self, state: State, runtime: Runtime[Context]) -> Update:
        """Run the calls in parallel; one that fails tells the model why, and the run goes on."""
        context = runtime.context or Context()
        watch = Stopwatch("tools")
        corpus = await self.services.corpus()
        scope = await asyncio.to_thread(run_scope, corpus, context)
        tools = {tool.name: tool for tool in agent_tools(self.services, scope)}
        asked = [call["args"].get("bucket") for call in state.get("calls", []) if call["tool"] in SEARCHES]
        await self.services.warm(name for name in scope.filters if name in asked)
        timeout = min(max(0.0, seconds_left(state)), 2 * self.services.settings.search_timeout)

        async def one(call: ToolCall) -> tuple[ToolCall, list[Reference]]:
            began = time.perf_counter()
            entry, references = await run_tool(corpus, tools, call, timeout)
            runtime.stream_writer(tool_event(entry, time.perf_counter() - began))
            return entry, references

        results = await asyncio.gather(*(one(call) for call in state.get("calls", [])))
        entries = [entry for entry, _ in results]
        merged = merge(state.get("evidence", []), [item for _, found in results for item in found])
        chunks = await hydrate(corpus, merged)
        kept, dropped = within_budget(merged, chunks, [], context.evidence_tokens)
        transcript: list[AgentTurn] = [*state.get("transcript", []), {"calls": entries}]
        plan = await asyncio.to_thread(plan_of, corpus, transcript, scope, state["question"])
        ran = sum("error" not in call for call in state.get("calls", []))
        fell_back = [failure for entry in entries for failure in entry.pop("failed", [])]
        return {
            "transcript": transcript,
            "calls": [],
            "evidence": kept,
            "dropped": state.get("dropped", 0) + len(dropped),
            "plan": plan,
            "rounds": state.get("rounds", 0) + 1,
            "notes": [
                *(note("tools", "failed", failure) for failure in outages(entries)),
                *(note("tools", "fallback", failure) for failure in fell_back),
            ],
            "usage": watch.update({"tool_calls": ran, "rounds": 1, "fallbacks": len(fell_back)}),
        }


async def run_tool(
    corpus: Corpus, tools: dict[str, BaseTool], call: ToolCall, timeout: float
) -> tuple[ToolCall, list[Reference]]:
    """Return the entry of a call for the transcript, and the evidence that it found; a failure is its `error`."""
    if "error" in call:
        return call, []
    try:
        result = await answered(tools[call["tool"]], call["args"], timeout)
    except ValidationError as error:
        return call | {"error": said_of(error)}, []
    except CitegraphError as error:
        return call | {"error": str(error)[:500], "outage": type(error).__name__ in OUTAGES}, []
    if call["tool"] in SEARCHES:
        references = await found_by(corpus, call["args"], result["hits"])
        entry = call | {"ids": [item["id"] for item in references], "hits": len(references)}
        return entry | {"failed": result.get("failed", [])}, references
    return call | {"hits": result.get("matched", 1)}, []


OUTAGES = frozenset({"Unavailable", "TimedOut", "CircuitOpen"})
"""Errors that the model cannot mend by asking otherwise: the answer notes them."""


def outages(entries: Sequence[ToolCall]) -> list[str]:
    """Return what did not answer among some calls."""
    return [f"{entry['tool']}: {entry['error']}" for entry in entries if entry.get("outage")]


def said_of(error: ValidationError) -> str:
    """Return what is wrong with a tool's arguments, for the model to mend."""
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    lines = [f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}" for item in problems[:5]]
    return "; ".join(lines)[:500]


async def found_by(corpus: Corpus, arguments: CallArguments, hits: Sequence[Json]) -> list[Reference]:
    """Return the evidence references of a search's hits: ids, and the share of the query's rare words they hold."""
    bucket = arguments["bucket"]
    plain: list[Reference] = [
        {"id": hit["evidence_id"], "doc": hit["doc_id"], "bucket": bucket, "score": 0.0} for hit in hits
    ]
    chunks = await hydrate(corpus, plain)
    weights = await term_weights(corpus.index, bucket, arguments["query"], corpus.buckets[bucket].language)
    return [
        item | {"score": round(weights.coverage(f"{chunk.context} {chunk.text}"), 3)}
        for item in plain
        if (chunk := chunks.get(item["id"]))
    ]


def tool_event(entry: ToolCall, seconds: float) -> ToolEvent:
    """Return the event of a finished or refused call."""
    arguments = entry["args"]
    bucket = arguments.get("bucket")
    return {
        "event": "tool",
        "tool": entry["tool"],
        "buckets": [str(bucket)[:80]] if bucket else [],
        "query": str(arguments.get("query") or arguments.get("doc_id") or "")[:300],
        "hits": entry.get("hits", 0),
        "ms": round(seconds * 1000),
        "error": entry.get("error", ""),
    }
