"""The measures of an answered question, and their means overall and per category."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from citegraph.run.answer_types import Answer, Citation
from evals.answer_matching import share_contained
from evals.question_files import Question

MEASURES = (
    *("routing", "document_precision", "document_recall", "document_f1", "answer", "behaviour"),
    *("citation_precision", "citation_recall", "calls", "tokens", "tool_calls", "seconds"),
)
WHOLE_SETS = frozenset({"list", "compute"})
OPEN_TO_SETS = frozenset({"no_results", "overload", "ambiguous", "followup", "injection"})
"""Categories of which the answer itself tells whether a set was asked for."""

Scores = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question with the answer of each turn and of the run after the reply.

    Attributes:
        turns: the answer of each turn; the last is judged, `first` is the one before any reply.
        bad_citations: citations that do not resolve to a span of their document with that quote.
    """

    question: Question
    turns: Sequence[Answer]
    first: Answer
    seconds: float
    scores: Scores = field(default_factory=dict)
    bad_citations: int = 0

    @property
    def last(self) -> Answer:
        """Return the answer that is judged."""
        return self.turns[-1]


def score(outcome: Outcome) -> Scores:
    """Return every measure of one question; None where it does not apply."""
    question, answer = outcome.question, outcome.last
    precision, recall, f1 = document_scores(shown_documents(question, answer), question.doc_ids)
    used = [turn.usage for turn in outcome.turns]
    return {
        "routing": routing(question, answer),
        "document_precision": precision,
        "document_recall": recall,
        "document_f1": f1,
        "answer": answer_score(question, answer),
        "behaviour": float(behaviour(judged(outcome)) == question.behaviour),
        "citation_precision": answer.citation_precision,
        "citation_recall": answer.citation_recall,
        "calls": float(sum(usage.llm_calls for usage in used)),
        "tokens": float(sum(usage.input_tokens + usage.output_tokens for usage in used)),
        "tool_calls": float(sum(usage.tool_calls for usage in used)),
        "seconds": outcome.seconds,
    }


def judged(outcome: Outcome) -> Answer:
    """Return the answer whose behaviour counts: the first turn's, for a follow-up the last turn's."""
    if outcome.question.category == "followup" and len(outcome.turns) > 1:
        return outcome.last
    return outcome.first


def behaviour(answer: Answer) -> str:
    """Return what a run did, in the words of the question files."""
    if answer.status == "needs_clarification":
        return f"clarify:{answer.clarification.type}" if answer.clarification else "clarify"
    if answer.status in {"unanswerable", "failed"}:
        return answer.status
    return "answer" if answer.retrieval else "no_retrieval"


def routing(question: Question, answer: Answer) -> float | None:
    """Return 1 when the first bucket is an accepted one; None where none is given."""
    if not question.buckets:
        return None
    return float(bool(answer.buckets) and answer.buckets[0] in question.buckets)


def shown_documents(question: Question, answer: Answer) -> set[str]:
    """Return the documents that an answer rests on: all of a list or a sum, else those that it cites."""
    cited = {citation.doc_id for citation in answer.citations}
    asked_for_set = question.category in WHOLE_SETS or _is_derived(question)
    if asked_for_set or (question.category in OPEN_TO_SETS and answer.intent in WHOLE_SETS):
        whole = answer.documents or (answer.table.doc_ids if answer.table else [])
        return set(whole) or cited
    return cited


def document_scores(
    found: Iterable[str], gold: Sequence[str]
) -> tuple[float | None, float | None, float | None]:
    """Return precision, recall and F1 of a set of documents; None when there is no gold set."""
    if not gold:
        return None, None, None
    found, wanted = set(found), set(gold)
    right = len(found & wanted)
    precision = right / len(found) if found else 0.0
    recall = right / len(wanted)
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return precision, recall, f1


def answer_score(question: Question, answer: Answer) -> float | None:
    """Return how much of the gold value the text contains; markers and empty answers do not count."""
    if question.answer.kind == "none":
        return None
    if answer.status not in {"answered", "partial"}:
        return 0.0
    return share_contained(without_markers(answer), question.answer)


def without_markers(answer: Answer) -> str:
    """Return the text without its `[doc_id]` markers."""
    text = answer.text
    for marker in {name for item in answer.citations for name in (item.marker, item.doc_id)}:
        text = text.replace(f"[{marker}]", " ")
    known = {*answer.documents, *(answer.table.doc_ids if answer.table else [])}
    return re.sub(r"\[([^\[\]]+)\]", lambda found: " " if found[1] in known else found[0], text)


def is_right(outcome: Outcome) -> bool:
    """Tell whether an answer is wholly right: behaviour, value, and its documents: all and no others of a list, all of
    what is asked without a value, one at least beside a value.
    """
    scores, question = outcome.scores, outcome.question
    if scores["behaviour"] != 1 or (scores["answer"] or 0.0) < (scores["answer"] is not None):
        return False
    if scores["document_f1"] is None:
        return True
    if question.answer.kind != "none":
        return scores["document_f1"] > 0
    listed = question.category in {"list", *OPEN_TO_SETS}
    return scores["document_f1" if listed else "document_recall"] == 1


def count_bad_citations(
    citations: Iterable[Citation],
    text: Callable[[str, int, int], str],
    page: Callable[[str, int], int | None],
) -> int:
    """Return how many citations do not resolve: another text at their offsets, or another page.

    Args:
        text: the characters of a document from an offset to another.
        page: the page number at an offset, None when unknown.
    """
    bad = 0
    for item in citations:
        same = bool(item.quote) and text(item.doc_id, item.start, item.end) == item.quote
        bad += not (same and page(item.doc_id, item.start) == item.page)
    return bad


def summarise(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float | int | None]]:
    """Return the means overall and per category, with the counts of rows, failures and bad citations."""
    groups: dict[str, list[Outcome]] = {"overall": list(outcomes)}
    for outcome in sorted(outcomes, key=lambda item: item.question.category):
        groups.setdefault(outcome.question.category, []).append(outcome)
    return {name: _means(group) for name, group in groups.items()}


def _means(outcomes: Sequence[Outcome]) -> dict[str, float | int | None]:
    result: dict[str, float | int | None] = {}
    for name in MEASURES:
        values = [value for item in outcomes if (value := item.scores.get(name)) is not None]
        result[name] = round(sum(values) / len(values), 4) if values else None
    failed = sum(any(turn.status == "failed" for turn in item.turns) for item in outcomes)
    bad = sum(item.bad_citations for item in outcomes)
    return result | {"rows": len(outcomes), "failed": failed, "bad_citations": bad}


def misses(outcome: Outcome) -> list[str]:
    """Return why a question was not answered as expected, one line a cause."""
    question, answer, scores = outcome.question, outcome.last, outcome.scores
    lines: list[str] = []
    if scores["behaviour"] == 0:
        lines.append(f"behaviour: expected {question.behaviour}, got {behaviour(judged(outcome))}")
    if scores["routing"] == 0:
        lines.append(
            f"routing: expected {' or '.join(question.buckets)}, got {', '.join(answer.buckets) or 'none'}"
        )
    found = shown_documents(question, answer)
    if scores["document_f1"] == 0:
        lines.append(f"documents: no gold document among {len(found)} ({', '.join(sorted(found)[:3])})")
    elif scores["document_f1"] is not None and scores["document_f1"] < 1:
        gold = set(question.doc_ids)
        lines.append(f"documents: {len(gold - found)} of {len(gold)} missing, {len(found - gold)} too many")
    value = scores["answer"]
    if value is not None and value < 1:
        lines.append(f"value: {question.answer.value!r} missing ({value:.2f}) in {answer.text[:200]!r}")
    if answer.status == "failed":
        lines.append(f"failed: {answer.text[:200]}")
    if outcome.bad_citations:
        lines.append(f"citations: {outcome.bad_citations} do not resolve")
    return lines


def _is_derived(question: Question) -> bool:
    row: Mapping[str, Any] = question.row or {}
    return "gold_doc_ids" in row
