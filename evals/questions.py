"""Runs question sets through the graph and scores each row, citations and cost included."""

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from citegraph.run.answer_types import Answer
from evals.question_files import Question, first_row
from evals.scoring import Outcome, count_bad_citations, misses, score

if TYPE_CHECKING:
    from citegraph.corpus.records.documents import DocumentStore
    from citegraph.run.context import Context
    from graph.session import Session

Progress = Callable[[int, int, str], None]


async def run_questions(
    questions: Sequence[Question],
    session: "Session",
    documents: "DocumentStore",
    *,
    context: "Context | None" = None,
    keep: Callable[[Outcome], None] | None = None,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Run the questions one after another, each in its own thread, and return their scored outcomes.

    A question without gold buckets takes those of its gold documents.

    Args:
        keep: called with each outcome as soon as it is scored.
        progress: called with (questions done, questions in all, id).
    """
    outcomes = []
    for done, question in enumerate(questions, 1):
        outcome = await run_question(with_buckets(question, documents), session, context)
        bad = sum(bad_citations(answer, documents) for answer in outcome.turns)
        outcome = replace(outcome, bad_citations=bad)
        outcome = replace(outcome, scores=score(outcome))
        outcomes.append(outcome)
        if keep:
            keep(outcome)
        if progress:
            progress(done, len(questions), question.id)
    return outcomes


async def run_question(question: Question, session: "Session", context: "Context | None" = None) -> Outcome:
    """Run the turns of one question; a clarification gets the row's reply, once a row."""
    began = time.perf_counter()
    answers: list[Answer] = []
    first: Answer | None = None
    reply = question.reply
    thread: str | None = None
    for turn in question.turns:
        answer = await session.ask(turn, thread_id=thread, context=context)
        thread = answer.thread_id
        first = first or answer
        if answer.status == "needs_clarification" and reply and thread:
            answer = await session.reply(thread, reply, context=context)
            reply = None
        answers.append(answer)
    assert first is not None
    return Outcome(question, answers, first, round(time.perf_counter() - began, 4))


def with_buckets(question: Question, documents: "DocumentStore") -> Question:
    """Return a question made from a filter with the buckets of its gold documents, others unchanged."""
    if question.buckets or not (question.row and "gold_doc_ids" in question.row):
        return question
    found = Counter(record.bucket for record in documents.records(list(question.doc_ids)).values())
    return replace(question, buckets=tuple(name for name, _ in found.most_common()))


def bad_citations(answer: Answer, documents: "DocumentStore") -> int:
    """Return how many citations of an answer do not resolve in the stored documents."""

    def page(doc_id: str, offset: int) -> int | None:
        found = documents.page_of(doc_id, offset)
        return found.number if found else None

    return count_bad_citations(answer.citations, documents.text, page)


def outcome_json(outcome: Outcome, mode: str = "graph") -> dict[str, Any]:
    """Return an outcome as one row of a results file."""
    return {
        "mode": mode,
        "id": outcome.question.id,
        "category": outcome.question.category,
        "question": list(outcome.question.turns),
        "gold": outcome.question.row,
        "first": outcome.first.model_dump(mode="json") if outcome.first is not outcome.last else None,
        "answer": outcome.last.model_dump(mode="json"),
        "scores": outcome.scores,
        "bad_citations": outcome.bad_citations,
        "misses": misses(outcome),
    }


def keep_in(file: IO[str], mode: str = "graph") -> Callable[[Outcome], None]:
    """Return a function that appends each outcome to an open results file at once."""

    def keep(outcome: Outcome) -> None:
        file.write(json.dumps(outcome_json(outcome, mode), ensure_ascii=False) + "\n")
        file.flush()

    return keep


def is_question_set(path: Path) -> bool:
    """Tell whether a file or folder holds question rows, by its first line."""
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    return any({"turns", "gold_doc_ids"} & first_row(file).keys() for file in files)
