"""Passages as the state keeps them: merged, hydrated, cut to a budget, shown to a model; searches told apart and logged."""

import hashlib
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from citegraph.citations.prompt_injection import without_orders
from citegraph.corpus.schema.bucket import show
from citegraph.corpus.schema.document import Chunk
from citegraph.language import terms
from citegraph.llm.prompt_assembly import Material, Passage
from citegraph.plan.stored_filters import printed
from citegraph.run.budgets import llm_calls_left, seconds_left, tool_calls_left
from citegraph.run.context import Context
from citegraph.run.services import Corpus, corpus_of
from citegraph.run.state import State
from citegraph.run.state_types import CallArguments, Found, Memory, Plan, Reference, ToolCall

CHARACTERS_PER_TOKEN = 4

KEYWORD_ONLY, SEMANTIC_ONLY = "keyword only", "semantic only"
"""Kinds of the notes on a search that one half of the index answered alone."""


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


KNOWN_FIELDS, KNOWN_VALUE, KNOWN_ALL = 14, 80, 600
"""Fields shown of a document, characters of one value and of all together."""
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


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a document as a model reads it, with the chunks that it is made of."""

    doc_id: str
    passage: Passage
    chunk_ids: tuple[str, ...]


def passages(
    corpus: Corpus,
    evidence: Sequence[Reference],
    chunks: Mapping[str, Chunk],
    plan: Plan,
    first: Sequence[str] = (),
) -> tuple[Passage, ...]:
    """Return the evidence as passages with `[doc_id]` markers, as `pieces` orders them; blocking."""
    return tuple(piece.passage for piece in pieces(corpus, evidence, chunks, plan, first))


def pieces(
    corpus: Corpus,
    evidence: Sequence[Reference],
    chunks: Mapping[str, Chunk],
    plan: Plan,
    first: Sequence[str] = (),
) -> list[Piece]:
    """Return the evidence document by document, the documents `first` before all others, then by their best passage;
    blocking.

    Passages of one document come in the order of its pages; those that overlap are one. The first of each document says
    what is known of it.
    """
    corpus = corpus_of(corpus, plan)
    ordered = list(dict.fromkeys(chunk for item in evidence if (chunk := chunks.get(item["id"]))))
    ranks = {doc_id: rank for rank, doc_id in enumerate(first)}
    by_document: dict[str, list[Chunk]] = {}
    for chunk in sorted(ordered, key=lambda chunk: ranks.get(chunk.doc_id, len(ranks))):
        by_document.setdefault(chunk.doc_id, []).append(chunk)
    known = known_fields(corpus, ordered)
    made = []
    for doc_id, own in by_document.items():
        for group in joined(own):
            head = group[0]
            page = f", page {head.page_first}" if head.page_first else ""
            passage = Passage(
                f"[{doc_id}]",
                readable(text_of(group)),
                f"{head.source_file}{page}",
                known.pop(doc_id, ""),
                head.heads,
            )
            made.append(Piece(doc_id, passage, tuple(chunk.chunk_id for chunk in group)))
    return made


def numbered(material: Material) -> Material:
    """Return what a model is shown with its passages numbered from 1."""
    evidence = tuple(replace(item, marker=f"[{at}]") for at, item in enumerate(material.evidence, 1))
    return replace(material, evidence=evidence)


def joined(chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    """Return the chunks of one document by place, those that overlap together; tables keep their own heads."""
    groups: list[list[Chunk]] = []
    for chunk in sorted(chunks, key=lambda chunk: (chunk.start, chunk.end)):
        last = groups[-1][-1] if groups else None
        if last and follows_on(last, chunk):
            groups[-1].append(chunk)
        else:
            groups.append([chunk])
    return groups


def follows_on(one: Chunk, other: Chunk) -> bool:
    """Tell whether a chunk begins inside another one; their texts must be those of their spans."""
    exact = all(len(chunk.text) == chunk.end - chunk.start for chunk in (one, other))
    return exact and one.heads == other.heads and one.start <= other.start < one.end <= other.end


def text_of(group: Sequence[Chunk]) -> str:
    """Return the text that overlapping chunks cover."""
    text, end = group[0].text, group[0].end
    for chunk in group[1:]:
        text += chunk.text[end - chunk.start :]
        end = chunk.end
    return text


_HEX_LINE = r"[ \t]*+(?:[0-9A-Fa-f]{2}[: ]){7,}+[0-9A-Fa-f]{0,2}[ \t]*+"
_DUMP = re.compile(rf"^{_HEX_LINE}(?:\n{_HEX_LINE})++(?![^\n])", re.MULTILINE)
"""Two lines or more of bytes, as of a key or a signature; a number of one line is one that may be asked for."""


def readable(text: str) -> str:
    """Return a text as a model reads it: without dumps of bytes, common indents and runs of empty lines."""
    plain = textwrap.dedent(_DUMP.sub("    …", text))
    return re.sub(r"\n(?:[ \t]*\n){2,}", "\n\n", re.sub(r"[ \t]+(?=\n)", "", plain))


def known_fields(corpus: Corpus, chunks: Sequence[Chunk]) -> dict[str, str]:
    """Return the values of the chunks' documents, by id, long ones cut between words; blocking."""
    said: dict[str, str] = {}
    for bucket in dict.fromkeys(chunk.bucket for chunk in chunks):
        doc_ids = list(dict.fromkeys(chunk.doc_id for chunk in chunks if chunk.bucket == bucket))
        for doc_id, values in corpus.annotations.values_of(bucket, doc_ids).items():
            shown: list[str] = []
            for name, value in values.items():
                if (text := show(value)) and len(shown) < KNOWN_FIELDS:
                    item = f"{name}={textwrap.shorten(text, KNOWN_VALUE, placeholder=' …')}"
                    if sum(map(len, shown)) + len(item) <= KNOWN_ALL:
                        shown.append(item)
            said[doc_id] = "; ".join(shown)
    return said


def turns_shown(state: State) -> tuple[str, ...]:
    """Return the earlier turns of the thread, oldest first: what was asked, replied, applied and answered."""
    shown = []
    for turn in state.get("turns") or []:
        asked, meant = turn.get("asked") or turn["question"], turn["question"]
        lines = [f"User: {asked}", *([f"Meant: {meant}"] if meant != asked else [])]
        lines += [turn["replies"]] if turn.get("replies") else []
        for name, part in turn.get("applied", {}).items():
            if held := [printed(clause) for clause in part.get("filters", [])]:
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
