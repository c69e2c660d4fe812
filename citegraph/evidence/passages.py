"""Passages as the state keeps them: merged, hydrated, cut to a budget; searches told apart and logged."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from citegraph.citations.orders import without_orders
from citegraph.corpus.schema.document import Chunk
from citegraph.language import terms
from citegraph.plan.stored_filters import printed
from citegraph.run.pieces import CallArguments, Found, Reference, ToolCall
from citegraph.run.services import Corpus

CHARACTERS_PER_TOKEN = 4


MAX_EVIDENCE = 24


SHORT_ID = 8


def lines(found: Sequence[Found], fresh: Sequence[str]) -> list[str]:
    """Return the log line of each search of a round, with how many of its passages nobody had seen."""
    return [
        log_line(entry, len({hit["id"][:SHORT_ID] for hit in entry["hits"]} & set(fresh))) for entry in found
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
    found = f"{len(entry['hits'])} passages, {fresh} new"
    if entry.get("failed"):
        found += f"; no answer from {', '.join(entry['failed'])}, so it may be made again"
    return (
        f"{arguments.get('mode', 'hybrid')} search in {where}{inside}{lifted}{own_filters(arguments)}: "
        f"“{arguments['query']}”: {found}"
    )


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
    take all of the space, and what an earlier round found would yield to a longer list of a later one.
    """
    place: dict[tuple[str, Any], int] = {}
    for references in lists:
        for rank, reference in enumerate(references):
            key = (reference["id"], reference.get("side"))
            place[key] = min(rank, place.get(key, rank))
    return sorted(merged, key=lambda reference: place[reference["id"], reference.get("side")])


async def hydrate(corpus: Corpus, references: Sequence[Reference]) -> dict[str, Chunk]:
    """Return the chunks of evidence references by id; one that is gone from the index is left out.

    What in a text speaks to the program that reads it is blanked: neither a prompt nor an extract shows it.
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
    return chunks


def within_budget(
    references: Sequence[Reference], chunks: dict[str, Chunk], required: Sequence[str], tokens: int
) -> tuple[list[Reference], list[Reference]]:
    """Return (kept, dropped): by rank until the budget is full, then those that alone hold a required word."""
    kept: list[Reference] = []
    dropped: list[Reference] = []
    left = tokens * CHARACTERS_PER_TOKEN
    missing = set(required)
    for reference in references:
        chunk = chunks.get(reference["id"])
        if chunk is None:
            continue
        held = missing & set(terms.words(chunk.text))
        fits = len(kept) < MAX_EVIDENCE and (len(chunk.text) <= left or not kept)
        if fits or held:
            kept.append(reference)
            left -= len(chunk.text)
            missing -= held
        else:
            dropped.append(reference)
    return kept, dropped
