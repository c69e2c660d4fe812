"""Runs the command line in this process, over a session that a test scripts."""

import io
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import graph.session
from citegraph.run.answer_types import Answer
from citegraph.run.context import Context
from citegraph.run.events import Event
from cli.commands import main
from graph.session import NothingPending, UnknownThread


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs `citegraph ARGUMENTS` with piped streams."""

    def call(*arguments: object, stdin: str = "") -> Result:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Result(int(ended.value.code or 0), out, err)

    return call


class ScriptedSession:
    """Gives the scripted answers in order and remembers what it was asked; guards as the real one does."""

    def __init__(self) -> None:
        self.answers: list[Answer | BaseException] = []
        self.events: list[Event] = []
        self.given: list[dict[str, Any]] = []
        self.paused: set[str] = set()
        self.known: set[str] = set()

    async def ask(self, question: str, **given: Any) -> Answer:
        """See `graph.session.Session.ask`."""
        return self._next({"ask": question, **given})

    async def reply(self, thread_id: str, reply: Any, **given: Any) -> Answer:
        """See `graph.session.Session.reply`."""
        if thread_id not in self.known | self.paused:
            raise UnknownThread(f"There is no thread {thread_id!r}.")
        if thread_id not in self.paused:
            raise NothingPending(f"Thread {thread_id!r} waits for no reply.")
        return self._next({"reply": reply, "thread_id": thread_id, **given})

    def _next(self, given: dict[str, Any]) -> Answer:
        on_event = given.pop("on_event", None)
        for event in self.events:
            if on_event:
                on_event(event)
        self.given.append(given)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        if answer.clarification and answer.thread_id:
            self.paused.add(answer.thread_id)
        return answer

    def contexts(self) -> list[Context]:
        """Return the context of each call."""
        return [given["context"] for given in self.given]


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedSession]:
    """Put a scripted session in place of the graph."""
    scripted = ScriptedSession()

    @asynccontextmanager
    async def open_scripted(services: Any, saver: Any = None) -> AsyncIterator[ScriptedSession]:
        yield scripted

    monkeypatch.setattr(graph.session, "open_session", open_scripted)
    yield scripted
    assert scripted.answers == []


@pytest.fixture
def in_sample(sample_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let commands work on the ingested sample corpus."""
    monkeypatch.setenv("CITEGRAPH_HOME", str(sample_home))
    return sample_home
