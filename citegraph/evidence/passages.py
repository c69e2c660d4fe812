"""Passages as the state keeps them: merged, hydrated, cut to a budget, shown to a model; searches told apart and logged."""

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from citegraph.citations.prompt_injection import without_addressed, without_orders
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.document import Chunk, Document
from citegraph.language import terms
from citegraph.plan.stored_filters import printed
from citegraph.run.budgets import llm_calls_left, seconds_left, tool_calls_left
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from citegraph.run.state import State
from citegraph.run.state_types import CallArguments, Found, Memory, Reference, ToolCall

CHARACTERS_PER_TOKEN = 4

KEYWORD_ONLY, SEMANTIC_ONLY = "keyword only", "semantic only"
"""Kinds of the notes on a search that one half of the index answered alone."""


MAX_EVIDENCE = 24


SHORT_ID = 8


def lines(found: Sequence[Found], fresh: Sequence[str], number: int) -> list[str]:
    """Return the log line of each search of round `number`, with how many of its passages nobody had seen."""
    return [
        f"round {number}: "
        + log_line(entry, len({hit["id"][:SHORT_ID] for hit in entry["hits"]} & set(fresh)))
        for entry in found
    ]


def log_line(entry: Found, fresh: int) -> str:
    """Return a finished search as a later review reads it."""
    call = entry["call"]
    arguments = call["args"]
    where = ", ".join(arguments.get("buckets", [arguments.get("bucket", "")]))
    if call["tool"] != "search":
        return f"{call['tool']} in {where}: {sum(entry.get('matched', {}).values())} documents match"
    inside = f" inside {', '.join(arguments['only'])}" if arguments.get("only") else ""
    lifted = "" if arguments.get("filtered", True) else ", inferred filters lifted"
    found = f"{len(entry['hits'])} places, {fresh} new"
    if not fresh and arguments.get("only") and entry["hits"]:
        found = f"{len(entry['hits'])} places, none new; what they say on it is shown"
    if entry.get("failed"):
        found += f"; no answer from {', '.join(entry['failed'])}, so it may be made again"
    if call.get("unmet"):
        found += f"; not applied: {'; '.join(call['unmet'])}"
    return (
        f"{arguments.get('mode', 'hybrid')} search in {where}{inside}{lifted}{own_filters(arguments)}: "
        f"“{arguments['query']}”: {found}"
    )


def queries_made(state: Mapping[str, Any]) -> list[str]:
    """Return the queries of the searches of this run, as their log lines hold them."""
    return [found[1] for line in memory(state).get("log", []) if (found := re.search("“(.+)”: ", line))]


def own_filters(arguments: CallArguments) -> str:
    """Return the filters that a search brought along, in words; "" when it had the plan's or none."""
    if "filters" not in arguments:
        return ""
    said = [
        f"{name}: {', '.join(map(printed, filters))}"
        for name, filters in arguments["filters"].items()
        if filters
    ]
    return f" with ({'; '.join(said)})" if said else " without filters"


def signature(call: ToolCall) -> str:
    """Return what makes two calls the same: tool, buckets, filters lifted or its own, document, folded query words."""
    arguments = call["args"]
    where = ",".join(arguments.get("buckets", [arguments.get("bucket", "")]))
    words = " ".join(sorted(terms.content_words(str(arguments.get("query", "")))))
    only = ",".join(arguments.get("only") or [])
    own = arguments.get("filters") if "side" not in call else None
    bound = hashlib.sha256(repr(own).encode()).hexdigest()[:6] if own else ""
    named = f"{call['tool']}|{where}|{arguments.get('filtered', True)}|{only}|{call.get('side', '')}|{bound}|{words}"
    return named[:300]


def merge(old: Sequence[Reference], new: Sequence[Reference]) -> list[Reference]:
    """Return the references of both by falling score, one per chunk and side; of equals the first stays first."""
    best: dict[tuple[str, Any], Reference] = {}
    for reference in [*old, *new]:
        key = (reference["id"], reference.get("side"))
        if key not in best or reference["score"] > best[key]["score"]:
            best[key] = reference
    return sorted(best.values(), key=lambda reference: -reference["score"])


def in_turn(lists: Sequence[Sequence[Reference]], merged: Sequence[Reference]) -> list[Reference]:
    """Return the merged references, the best of each list first, then the second ones.

    Parts of a question that concern different documents have scores of their own: the one with the rarest words would
    take all of the space, and what an earlier round found would yield to a longer list of a later one. What stands in
    no list comes last.
    """
    place: dict[tuple[str, Any], int] = {}
    for references in lists:
        for rank, reference in enumerate(references):
            key = (reference["id"], reference.get("side"))
            place[key] = min(rank, place.get(key, rank))
    return sorted(
        merged, key=lambda reference: place.get((reference["id"], reference.get("side")), len(merged))
    )


async def hydrate(
    corpus: Corpus, references: Sequence[Reference], *, for_model: bool = False
) -> dict[str, Chunk]:
    """Return the chunks of evidence references by id; one that is gone from the index is left out.

    What in a text speaks to the program that reads it is blanked: neither a prompt nor an extract shows it.

    Args:
        for_model: a model reads them: what the encoder takes for such text is blanked, too.
    """
    by_bucket: dict[str, list[str]] = {}
    for reference in references:
        by_bucket.setdefault(reference["bucket"], []).append(reference["id"])
    chunks: dict[str, Chunk] = {}
    for name, ids in by_bucket.items():
        for chunk in await corpus.index.retrieve(name, list(dict.fromkeys(ids))):
            plain, heads = without_orders(chunk.text), without_orders(chunk.heads)
            same = (plain, heads) == (chunk.text, chunk.heads)
            chunks[chunk.chunk_id] = chunk if same else replace(chunk, text=plain, heads=heads)
    return await asyncio.to_thread(_for_model, chunks) if for_model else chunks


async def as_searched(corpus: Corpus, document: Document) -> Document:
    """Return a document in whose text that is blanked which stands in passages left out of search alone."""
    if corpus.left_out is None:
        return document
    out = await asyncio.to_thread(corpus.left_out.of_bucket, document.bucket)
    if not any(doc_id == document.doc_id for doc_id, _ in out):
        return document
    text = re.sub(r"\S", " ", document.text)
    for chunk in await corpus.index.document_chunks(document.bucket, document.doc_id):
        text = text[: chunk.start] + document.text[chunk.start : chunk.end] + text[chunk.end :]
    return replace(document, text=text)


def _for_model(chunks: Mapping[str, Chunk]) -> dict[str, Chunk]:
    return {name: replace(chunk, text=without_addressed(chunk.text)) for name, chunk in chunks.items()}


def within_budget(
    references: Sequence[Reference],
    chunks: dict[str, Chunk],
    required: Sequence[str],
    tokens: int,
    most: int | None = None,
) -> tuple[list[Reference], list[Reference]]:
    """Return (kept, dropped): by rank until the budget is full, then those that alone hold a required word.

    Args:
        most: characters that a passage counts with at most.
    """
    kept: list[Reference] = []
    dropped: list[Reference] = []
    left = tokens * CHARACTERS_PER_TOKEN
    missing = set(required)
    for reference in references:
        chunk = chunks.get(reference["id"])
        if chunk is None:
            continue
        held = missing & set(terms.words(chunk.text))
        size = min(len(chunk.text), most or len(chunk.text))
        fits = len(kept) < MAX_EVIDENCE and (size <= left or not kept)
        if fits or held:
            kept.append(reference)
            left -= size
            missing -= held
        else:
            dropped.append(reference)
    return kept, dropped


ANSWER_SHOWN = 400
"""Characters of an earlier answer."""
SHORT_OF_TIME = 15.0
"""Seconds below which the time is worth a word; a number that changes with each call would spoil every cache."""
QUALITY = {
    "none": "none: nothing was found",
    "keyword": "keyword: found by words alone, so passages that word it differently may be missing",
}
"""What a model is told of a search. Shares of common words say nothing to a reader of the passages: three readers found
them misleading, "high" where the one word that was asked stood nowhere, "mixed" above a passage that states it."""


def search_quality(state: State) -> str:
    """Return none, keyword, high or mixed: what the evidence is worth (requirement R7)."""
    evidence = state.get("evidence", [])
    if state.get("plan", {}).get("kind") == "documents":
        return "high"
    if not evidence:
        return "none"
    fell_back = any(item["kind"] == KEYWORD_ONLY for item in state.get("notes", []))
    if state.get("plan", {}).get("strategy") == "keyword" or fell_back:
        return "keyword"
    good = [reference for reference in evidence if reference["score"] >= 0.5]
    return "high" if len(good) == len(evidence) else "mixed"


def turns_shown(state: State, buckets: Mapping[str, Bucket]) -> tuple[str, ...]:
    """Return the earlier turns of the thread, oldest first: what was asked, replied, applied and answered."""
    shown = []
    for turn in state.get("turns") or []:
        asked, meant = turn.get("asked") or turn["question"], turn["question"]
        lines = [f"User: {asked}", *([f"Meant: {meant}"] if meant != asked else [])]
        lines += [turn["replies"]] if turn.get("replies") else []
        for name, part in turn.get("applied", {}).items():
            if held := [printed(clause, buckets.get(name)) for clause in part.get("filters", [])]:
                lines.append(f"Conditions: {name}: {'; '.join(held)}")
        answer = turn["answer"]
        if len(answer) > ANSWER_SHOWN:  # whole lines: half a name is another name
            answer = answer[:ANSWER_SHOWN].rpartition("\n")[0] or answer[:ANSWER_SHOWN]
            answer += "\n..."
        shown.append("\n".join([*lines, f"Answer: {answer}"]))
    return tuple(shown)


def replies_shown(state: State) -> str:
    """Return the questions that were put to the user and the replies, "" without any."""
    lines = []
    for item in state.get("clarifications") or []:
        reply = item.get("reply")
        chosen = next((option["label"] for option in item.get("options", []) if option["id"] == reply), reply)
        lines.append(f"Asked: {item['question']}\nReply: {chosen if reply else 'none was given'}")
    return "\n".join(lines)


def question_shown(state: State) -> str:
    """Return the question as a model is shown it: as it was typed where its reader needed no earlier turn."""
    return state.get("decomposition", {}).get("question") or state.get("question", "")


def searches_shown(state: State) -> str:
    """Return one line per search of this run with what it brought, "none" without any."""
    return "\n".join(memory(state).get("log", [])) or "none"


def memory(state: Mapping[str, Any]) -> Memory:
    """Return what the reviews of this run keep from round to round: `log`, `found`, `missing`, `judged`."""
    kept: Memory = state.get("decision", {}).get("memory", {})
    return kept


def budget_shown(state: State, context: Context) -> str:
    """Return what this run may still spend, in words."""
    rounds = max(0, context.max_rounds - int(state.get("rounds", 0)))
    said = f"{tool_calls_left(state, context)} searches in {rounds} further rounds, "
    said += f"{llm_calls_left(state, context)} model calls"
    return said + (", and hardly any time" if seconds_left(state) < SHORT_OF_TIME else "")
