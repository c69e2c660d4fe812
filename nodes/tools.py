"""tools: run the calls that the agent's model asked for, all at once; what they find becomes evidence."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime
from pydantic import ValidationError

from citegraph.answer.query_drafts import plan_of
from citegraph.corpus.schema.document import Chunk, Hit
from citegraph.errors import CitegraphError, TimedOut
from citegraph.language.terms import term_weights
from citegraph.run.budgets import seconds_left
from citegraph.run.context import Context
from citegraph.run.events import ToolEvent
from citegraph.run.model_calls import Stopwatch, note
from citegraph.run.services import Corpus, Services
from citegraph.run.state import Json, State
from nodes.prune import hydrate, merge, within_budget
from nodes.schema_plan import caller_filters
from tools.document_metadata import metadata_tools
from tools.query_documents import query_tools
from tools.scope import Scope
from tools.search_tools import described, known_bucket, search_tools

SEARCHES = frozenset({"search_text", "search_semantic"})
RESULT, LONGEST, SHORTEST = 6_000, 2_000, 500
"""Characters of a search's passages together, of one at most, and of one at least, where the model does not say how many."""


@dataclass(frozen=True)
class Tools:
    """Node: runs `calls`; appends a turn of ids and counts to `transcript`, and writes `evidence` and `plan`."""

    services: Services

    async def __call__(self, state: State, runtime: Runtime[Context]) -> dict[str, Any]:
        """Run the calls in parallel; one that fails tells the model why, and the run goes on."""
        context = runtime.context or Context()
        watch = Stopwatch("tools")
        corpus = await self.services.corpus()
        scope = await asyncio.to_thread(run_scope, corpus, context)
        tools = {tool.name: tool for tool in agent_tools(self.services, scope)}
        timeout = min(max(0.0, seconds_left(state)), 2 * self.services.settings.search_timeout)

        async def one(call: Json) -> tuple[Json, list[Json]]:
            began = time.perf_counter()
            entry, references = await run_tool(corpus, tools, call, timeout)
            runtime.stream_writer(tool_event(entry, time.perf_counter() - began))
            return entry, references

        results = await asyncio.gather(*(one(call) for call in state.get("calls", [])))
        entries = [entry for entry, _ in results]
        merged = merge(state.get("evidence", []), [item for _, found in results for item in found])
        chunks = await hydrate(corpus, merged)
        kept, dropped = within_budget(merged, chunks, [], context.evidence_tokens)
        transcript = [*state.get("transcript", []), {"calls": entries}]
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


def agent_tools(services: Services, scope: Scope) -> list[BaseTool]:
    """Return the tools of the agent, each held to the run's scope."""
    return [
        *search_tools(services, scope),
        *query_tools(services, scope),
        *metadata_tools(services, scope),
    ]


def run_scope(corpus: Corpus, context: Context) -> Scope:
    """Return the buckets that the run may search with its hard filters; blocking.

    Raises:
        BadInput: a bucket does not exist, or a filter fits none of them.
    """
    for name in context.buckets:
        known_bucket(corpus, name)
    names = list(context.buckets or corpus.buckets)
    hard, _ = caller_filters(corpus, names, context)
    # A bucket that misses the field of a hard filter is not searched: nothing in it can be told to pass.
    searched = {name: found for name, found in hard.items() if len(found) == len(context.filters)}
    return Scope(searched, context.now, frozenset(context.without))


async def run_tool(
    corpus: Corpus, tools: dict[str, BaseTool], call: Json, timeout: float
) -> tuple[Json, list[Json]]:
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


def outages(entries: Sequence[Json]) -> list[str]:
    """Return what did not answer among some calls."""
    return [f"{entry['tool']}: {entry['error']}" for entry in entries if entry.get("outage")]


async def answered(tool: BaseTool, arguments: Json, timeout: float) -> Json:
    """Return what a tool says.

    Raises:
        TimedOut: it took longer than `timeout` seconds.
    """
    try:
        async with asyncio.timeout(timeout):
            result: Json = await tool.ainvoke(arguments)
    except TimeoutError as error:
        raise TimedOut(f"{tool.name} did not answer within {timeout:.1f} s") from error
    return result


def said_of(error: ValidationError) -> str:
    """Return what is wrong with a tool's arguments, for the model to mend."""
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    lines = [f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}" for item in problems[:5]]
    return "; ".join(lines)[:500]


async def found_by(corpus: Corpus, arguments: Json, hits: Sequence[Json]) -> list[Json]:
    """Return the evidence references of a search's hits: ids, and the share of the query's rare words they hold."""
    bucket = arguments["bucket"]
    plain = [{"id": hit["evidence_id"], "doc": hit["doc_id"], "bucket": bucket, "score": 0.0} for hit in hits]
    chunks = await hydrate(corpus, plain)
    weights = await term_weights(corpus.index, bucket, arguments["query"], corpus.buckets[bucket].language)
    return [
        item | {"score": round(weights.coverage(f"{chunk.context} {chunk.text}"), 3)}
        for item in plain
        if (chunk := chunks.get(item["id"]))
    ]


def tool_event(entry: Json, seconds: float) -> ToolEvent:
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


async def shown_result(
    tools: dict[str, BaseTool], entry: Json, kept: dict[str, Chunk], known: dict[str, str], timeout: float
) -> str:
    """Return the result of a call as the model sees it: passages from the evidence that was kept, rows asked anew.

    Args:
        known: fields of documents that the model was not told yet; what is told here is taken out.
    """
    if "error" in entry:
        return f"error: {entry['error']}"
    arguments = entry["args"]
    if entry["tool"] not in SEARCHES:
        try:
            return json.dumps(await answered(tools[entry["tool"]], arguments, timeout), ensure_ascii=False)
        except CitegraphError as error:
            return f"error: {error}"
    chunks = [chunk for name in entry["ids"] if (chunk := kept.get(name))]
    size = int(arguments.get("context_chars") or min(LONGEST, max(SHORTEST, RESULT // max(1, len(chunks)))))
    hits = []
    for chunk in chunks:
        hit = described(Hit(chunk, 0.0), arguments["query"], size)
        del hit["score"]
        fields = known.pop(chunk.doc_id, "")
        hits.append(hit | ({"fields": fields} if fields else {}))
    left_out = len(entry["ids"]) - len(hits)
    return json.dumps({"hits": hits, "left_out_for_space": left_out}, ensure_ascii=False)
