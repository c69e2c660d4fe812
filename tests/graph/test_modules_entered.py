"""What one question costs that no busy machine changes: modules that it enters, statements that the database runs."""

import asyncio
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from sqlalchemy import event

from citegraph.run.services import Corpus
from graph.session import Session

ROOT = Path(__file__).parents[2]
BOUND = 122
"""Modules that a question may not reach; 172 when it was first counted. Raise it only with a reason in the commit."""
STATEMENTS = 25
"""SQL statements that a question may make; the 60 of a first look over 2,965 documents made 82 in the mean, now 18."""
FIRST = "When was invoice CBC-10904 of Cobaltine issued?"
ASKED = {
    "What is the total of Halbrecht invoice RE-2024-0458?": "5,854.80",
    "What did Kestrelwick invoice in 2024?": "Sum",
    "List the invoices above MYR 3,000": "MYR",
    "Which law governs the Mirabund licence agreement?": "law",
}
"""A lookup, a sum, a list and a passage, each with a word of its answer."""


@contextmanager
def entered() -> Iterator[set[str]]:
    """Collect the repository's modules in which a function runs, in this thread and in those of a new executor."""
    found: set[str] = set()
    seen: set[CodeType] = set()

    def look(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code not in seen:
            seen.add(frame.f_code)
            path = Path(frame.f_code.co_filename)
            # A module's own first run is no entry: it is loaded then, by whoever asks first.
            if frame.f_code.co_name != "<module>" and path.is_relative_to(ROOT):
                found.add(path.relative_to(ROOT).as_posix())

    executor = ThreadPoolExecutor(4)
    asyncio.get_running_loop().set_default_executor(executor)
    threading.setprofile(look)
    sys.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def test_a_question_enters_fewer_modules_than_its_bound(session: Session) -> None:
    counted: dict[str, int] = {}
    await session.ask(FIRST)
    for question, word in ASKED.items():
        with entered() as modules:
            answer = await session.ask(question)
        assert answer.status == "answered", answer
        assert word in answer.text
        ours = {name for name in modules if not name.startswith(("tests/", ".venv/"))}
        assert {"graph/session.py", "nodes/compose.py", "citegraph/corpus/records/database.py"} <= ours
        counted[question] = len(ours)
    assert {question: number for question, number in counted.items() if number >= BOUND} == {}


async def test_a_question_makes_fewer_statements_than_their_bound(session: Session, corpus: Corpus) -> None:
    made: list[str] = []
    engine = corpus.annotations.engine
    event.listen(engine, "before_cursor_execute", lambda *given: made.append(given[2]))
    counted: dict[str, int] = {}
    await session.ask(FIRST)
    for question, word in ASKED.items():
        made.clear()
        assert word in (await session.ask(question)).text
        counted[question] = len(made)
    assert all(counted.values())
    assert {question: number for question, number in counted.items() if number > STATEMENTS} == {}
