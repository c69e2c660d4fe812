"""What a model is shown of a run: passages, filters with their counts, searches made, replies, and what is left."""

from collections.abc import Mapping, Sequence
from typing import Any

from citegraph.corpus.schema.bucket import show
from citegraph.corpus.schema.document import Chunk
from citegraph.evidence.next_calls import KEYWORD_ONLY
from citegraph.llm.prompts import Passage
from citegraph.plan.stored_filters import printed
from citegraph.run.budgets import llm_calls_left, seconds_left, tool_calls_left
from citegraph.run.context import Context
from citegraph.run.degraded import corpus_of
from citegraph.run.pieces import Memory, Plan, Reference
from citegraph.run.services import Corpus
from citegraph.run.state import State

KNOWN_FIELDS, KNOWN_VALUE, KNOWN_ALL = 14, 80, 600
"""Fields shown of a document, characters of one value and of all together."""
ANSWER_SHOWN = 400
"""Characters of an earlier answer."""
SHORT_OF_TIME = 15.0
"""Seconds below which the time is worth a word; a number that changes with each call would spoil every cache."""
QUALITY = {
    "none": "none: nothing was found",
    "keyword": "keyword: found by words alone, so passages that word it differently may be missing",
    "high": "high: the passages hold most of the question's telling words",
    "mixed": "mixed: some passages fit only loosely; do not take them for more than they say",
}


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


def passages(
    corpus: Corpus,
    evidence: Sequence[Reference],
    chunks: Mapping[str, Chunk],
    plan: Plan,
    first: Sequence[str] = (),
) -> tuple[Passage, ...]:
    """Return the evidence as passages, best first, those of the documents `first` before all others; blocking.

    The first passage of each document says what is known of it.
    """
    corpus = corpus_of(corpus, plan)
    ranks = {doc_id: rank for rank, doc_id in enumerate(first)}
    ordered = [chunk for item in evidence if (chunk := chunks.get(item["id"]))]
    ordered = list(dict.fromkeys(sorted(ordered, key=lambda chunk: ranks.get(chunk.doc_id, len(ranks)))))
    known = known_fields(corpus, ordered)
    made = []
    for chunk in ordered:
        page = f", page {chunk.page_first}" if chunk.page_first else ""
        made.append(
            Passage(
                f"[{chunk.doc_id}]",
                chunk.text,
                f"{chunk.source_file}{page}",
                known.pop(chunk.doc_id, ""),
                chunk.heads,
            )
        )
    return tuple(made)


def known_fields(corpus: Corpus, chunks: Sequence[Chunk]) -> dict[str, str]:
    """Return the values of the chunks' documents, by id; blocking."""
    said: dict[str, str] = {}
    for bucket in dict.fromkeys(chunk.bucket for chunk in chunks):
        doc_ids = list(dict.fromkeys(chunk.doc_id for chunk in chunks if chunk.bucket == bucket))
        for doc_id, values in corpus.annotations.values_of(bucket, doc_ids).items():
            printed_values = {name: text for name, value in values.items() if (text := show(value))}
            shown = [
                f"{name}={text[:KNOWN_VALUE]}" for name, text in list(printed_values.items())[:KNOWN_FIELDS]
            ]
            said[doc_id] = "; ".join(shown)[:KNOWN_ALL]
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
