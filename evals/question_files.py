"""Question sets read from files: annotated questions, and questions made from gold filters."""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from citegraph.errors import BadInput


@dataclass(frozen=True, slots=True)
class Gold:
    """The value that an answer must contain; of a set, `aliases` are its points, alternatives of one between " | ".

    ValueError for another kind: no answer would ever be right.
    """

    kind: str = "none"
    value: str | int | float = ""
    aliases: tuple[str, ...] = ()
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a kind that nothing scores."""
        if self.kind not in KINDS:
            raise ValueError(f"an answer is of type {', '.join(KINDS)}, not {self.kind!r}")


KINDS = ("text", "number", "date", "set", "none")


@dataclass(frozen=True, slots=True)
class Question:
    """One row: turns of one thread with what is expected of them.

    Attributes:
        buckets: the accepted buckets; empty when routing is not judged.
        doc_ids: the complete set for lists and sums, else the documents that must be cited.
        behaviour: answer, clarify:TYPE, unanswerable or no_retrieval.
        reply: what the person answers when a clarification is asked, else None.
        row: the line as it was read.
    """

    id: str
    turns: tuple[str, ...]
    category: str
    buckets: tuple[str, ...] = ()
    doc_ids: tuple[str, ...] = ()
    answer: Gold = Gold()
    behaviour: str = "answer"
    reply: str | None = None
    row: Mapping[str, Any] | None = None


def opened(path: Path) -> IO[str]:
    """Open a file of lines, packed or not."""
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")


def first_row(path: Path) -> Mapping[str, Any]:
    """Return the first row of a JSON-lines file, empty when its first line is no JSON object."""
    with opened(path) as lines, suppress(ValueError, gzip.BadGzipFile):
        row = json.loads(next((line for line in lines if line.strip()), ""))
        if isinstance(row, dict):
            return row
    return {}


def read_questions(paths: Sequence[Path]) -> list[Question]:
    """Return the questions of files and of folders (all their `*.jsonl`), in order.

    Raises:
        BadInput: a path does not exist, a row is broken (file and line are named), or there is no question.
    """
    questions: list[Question] = []
    for path in paths:
        if not path.exists():
            raise BadInput(f"{path}: no such file or folder")
        files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        questions += [question for file in files for question in _rows(file)]
    if not questions:
        raise BadInput(
            f"{', '.join(map(str, paths))}: no question (rows with turns, or qid and gold_doc_ids)"
        )
    return questions


def _rows(file: Path) -> Iterator[Question]:
    with opened(file) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _question(line, f"{file.name}:{number}", file.stem)


def _question(line: str, place: str, stem: str) -> Question:
    try:
        row: dict[str, Any] = json.loads(line)
        return _derived(row, stem) if "gold_doc_ids" in row else _annotated(row)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(
            f"{place}: not a question row, which has id, turns and category, or qid, question and "
            f"gold_doc_ids ({type(error).__name__}: {error})"
        ) from error


def _annotated(row: dict[str, Any]) -> Question:
    answer = row.get("answer") or {}
    turns = tuple(str(turn) for turn in row["turns"])
    if not turns:
        raise ValueError("no turn")
    return Question(
        id=str(row["id"]),
        turns=turns,
        category=str(row["category"]),
        buckets=tuple(row.get("buckets") or ()),
        doc_ids=tuple(row.get("doc_ids") or ()),
        answer=Gold(
            kind=str(answer.get("type") or "none"),
            value=answer.get("value", ""),
            aliases=tuple(str(alias) for alias in answer.get("aliases") or ()),
            tolerance=float(answer.get("tolerance") or 0),
        ),
        behaviour=str(row.get("behaviour") or "answer"),
        reply=row.get("reply") or None,
        row=row,
    )


def _derived(row: dict[str, Any], stem: str) -> Question:
    """Return a question made from a gold filter; its category is the name of its file."""
    return Question(
        id=str(row["qid"]),
        turns=(str(row["question"]),),
        category=stem,
        doc_ids=tuple(row["gold_doc_ids"]),
        row=row,
    )
