"""Question files are read and run: turns in one thread, one reply a row, everything kept."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from citegraph.corpus.records.documents import DocumentStore
from citegraph.corpus.schema.document import Document
from citegraph.errors import BadInput
from citegraph.run.answer_types import Answer, Citation, Clarification
from citegraph.run.context import Context
from evals.question_files import Gold, Question, read_questions
from evals.questions import is_question_set, keep_in, run_questions

ROW = {
    "id": "t-1",
    "turns": ["first", "second"],
    "category": "followup",
    "buckets": ["invoices"],
    "doc_ids": ["a"],
    "answer": {"type": "number", "value": 3.5, "aliases": ["3.50"], "tolerance": 0.01},
    "behaviour": "answer",
    "reply": "the larger",
}
DERIVED = {
    "qid": "dq-1",
    "question": "which?",
    "gold_filter": {},
    "gold_doc_ids": ["a"],
    "n_gold": 1,
    "type": "x",
}


def written(folder: Path, name: str, *rows: Any) -> Path:
    path = folder / name
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", encoding="utf-8")
    return path


class FakeSession:
    """Asks back once per thread when told to, and remembers what it was given."""

    def __init__(self, *, asks_back: bool, quote: str = "Total 3,50") -> None:
        self.asks_back = asks_back
        self.quote = quote
        self.given: list[tuple[str, str | None, str]] = []

    async def ask(
        self, question: str, *, thread_id: str | None = None, context: Context | None = None
    ) -> Answer:
        self.given.append(("ask", thread_id, question))
        if self.asks_back:
            clarification = Clarification(type="ambiguous", question="Which?")
            return Answer(
                question=question,
                text="Which?",
                status="needs_clarification",
                thread_id="T",
                clarification=clarification,
            )
        return self.answered(question)

    async def reply(self, thread_id: str, reply: Any, *, context: Context | None = None) -> Answer:
        self.given.append(("reply", thread_id, reply))
        return self.answered(reply)

    def answered(self, question: str) -> Answer:
        cited = Citation(
            marker="a",
            doc_id="a",
            bucket="invoices",
            label="a.txt",
            source_file="a.txt",
            start=0,
            end=10,
            quote=self.quote,
        )
        return Answer(
            question=question,
            text="It is 3,50 [a]",
            status="answered",
            buckets=["invoices"],
            citations=[cited],
            thread_id="T",
        )


@pytest.fixture
def documents(tmp_path: Path) -> DocumentStore:
    store = DocumentStore(f"sqlite:///{tmp_path / 'documents.sqlite'}")
    store.put(Document("a", "invoices", "Total 3,50 EUR", "a.txt", "hash"))
    return store


def test_both_forms_are_read(tmp_path: Path) -> None:
    written(tmp_path, "a.jsonl", ROW)
    written(tmp_path, "b.jsonl", DERIVED)
    first, second = read_questions([tmp_path])
    assert replace(first, row=None) == Question(
        id="t-1",
        turns=("first", "second"),
        category="followup",
        buckets=("invoices",),
        doc_ids=("a",),
        answer=Gold("number", 3.5, ("3.50",), 0.01),
        reply="the larger",
    )
    assert replace(second, row=None) == Question(id="dq-1", turns=("which?",), category="b", doc_ids=("a",))


@pytest.mark.parametrize(
    "row",
    [
        {"id": "x"},
        {"id": "x", "turns": [], "category": "list"},
        ROW | {"answer": {"type": "list", "value": []}},
        [],
        "text",
    ],
)
def test_a_broken_row_is_named(tmp_path: Path, row: Any) -> None:
    with pytest.raises(BadInput, match=r"^q\.jsonl:2: not a question row"):
        read_questions([written(tmp_path, "q.jsonl", ROW, row)])


def test_no_question_and_no_file_are_errors(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no question"):
        read_questions([tmp_path])
    with pytest.raises(BadInput, match="no such file"):
        read_questions([tmp_path / "missing.jsonl"])


def test_a_question_set_is_known_by_its_rows(tmp_path: Path) -> None:
    assert not is_question_set(tmp_path)
    assert not is_question_set(written(tmp_path, "corpus.jsonl", {"_id": "1", "text": "x"}))
    assert is_question_set(written(tmp_path, "derived.jsonl", DERIVED))
    assert is_question_set(tmp_path)


async def test_turns_share_a_thread(tmp_path: Path, documents: DocumentStore) -> None:
    session = FakeSession(asks_back=False)
    questions = read_questions([written(tmp_path, "q.jsonl", ROW)])
    (outcome,) = await run_questions(questions, session, documents)
    assert session.given == [("ask", None, "first"), ("ask", "T", "second")]
    assert outcome.scores["routing"] == outcome.scores["answer"] == outcome.scores["document_f1"] == 1.0
    assert outcome.bad_citations == 0


async def test_the_reply_is_given_once(tmp_path: Path, documents: DocumentStore) -> None:
    session = FakeSession(asks_back=True)
    questions = read_questions([written(tmp_path, "q.jsonl", ROW)])
    (outcome,) = await run_questions(questions, session, documents)
    assert session.given == [("ask", None, "first"), ("reply", "T", "the larger"), ("ask", "T", "second")]
    assert (outcome.first.status, outcome.last.status) == ("needs_clarification", "needs_clarification")


async def test_without_a_reply_the_question_stays_open(tmp_path: Path, documents: DocumentStore) -> None:
    session = FakeSession(asks_back=True)
    row = ROW | {"turns": ["first"], "reply": None, "category": "ambiguous", "behaviour": "clarify:ambiguous"}
    (outcome,) = await run_questions(read_questions([written(tmp_path, "q.jsonl", row)]), session, documents)
    assert session.given == [("ask", None, "first")]
    assert (outcome.scores["behaviour"], outcome.scores["answer"]) == (1.0, 0.0)


async def test_a_row_made_from_a_filter_takes_the_buckets_of_its_documents(
    tmp_path: Path, documents: DocumentStore
) -> None:
    questions = read_questions([written(tmp_path, "q.jsonl", DERIVED)])
    (outcome,) = await run_questions(questions, FakeSession(asks_back=False), documents)
    assert outcome.question.buckets == ("invoices",)
    assert (outcome.scores["routing"], outcome.scores["answer"]) == (1.0, None)


async def test_every_answer_is_kept_and_false_quotes_are_counted(
    tmp_path: Path, documents: DocumentStore
) -> None:
    file = io.StringIO()
    told: list[tuple[int, int, str]] = []
    questions = read_questions([written(tmp_path, "q.jsonl", ROW)])
    session = FakeSession(asks_back=False, quote="Total 4,50")
    await run_questions(
        questions, session, documents, keep=keep_in(file), progress=lambda *event: told.append(event)
    )
    row = json.loads(file.getvalue())
    assert (row["id"], row["question"], row["gold"], row["bad_citations"]) == (
        "t-1",
        ["first", "second"],
        ROW,
        2,
    )
    assert row["answer"]["text"] == "It is 3,50 [a]"
    assert row["misses"] == ["citations: 2 do not resolve"]
    assert told == [(1, 1, "t-1")]
