"""The agent's tools within one run's scope, and their results as its model sees them."""

import asyncio
import json

from langchain_core.tools import BaseTool

from citegraph.corpus.schema.bucket import bucket_named
from citegraph.corpus.schema.document import Chunk, Hit
from citegraph.errors import CitegraphError, TimedOut
from citegraph.plan.make_plan import caller_filters
from citegraph.run.context import Context
from citegraph.run.services import Corpus, Services
from citegraph.run.state import Json
from citegraph.run.state_types import CallArguments, ToolCall
from tools.document_metadata import metadata_tools
from tools.query_documents import query_tools
from tools.scope import Scope
from tools.search_tools import described, search_tools

SEARCHES = frozenset({"search_text", "search_semantic"})


RESULT, LONGEST, SHORTEST = 6_000, 2_000, 500
"""Characters of a search's passages together, of one at most, and of one at least, where the model does not say how many."""


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
        bucket_named(corpus.buckets, name)
    names = list(context.buckets or corpus.buckets)
    hard = caller_filters(corpus, names, context)
    # A bucket that misses the field of a hard filter is not searched: nothing in it can be told to pass.
    searched = {name: found for name, found in hard.items() if len(found) == len(context.filters)}
    return Scope(searched, context.now, frozenset(context.without))


async def answered(tool: BaseTool, arguments: CallArguments, timeout: float) -> Json:
    """Return what a tool says.

    Raises:
        TimedOut: it took longer than `timeout` seconds.
    """
    try:
        async with asyncio.timeout(timeout):
            result: Json = await tool.ainvoke(dict(arguments))
    except TimeoutError as error:
        raise TimedOut(f"{tool.name} did not answer within {timeout:.1f} s") from error
    return result


async def shown_result(
    tools: dict[str, BaseTool], entry: ToolCall, kept: dict[str, Chunk], known: dict[str, str], timeout: float
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
