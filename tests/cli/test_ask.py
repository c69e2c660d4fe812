"""`citegraph ask`: exit codes, what goes to which stream, replies, and options of the run."""

import io
import json
from typing import Any

import pytest
from rich.console import Console

from citegraph.errors import Unavailable
from citegraph.run.answer_types import (
    Answer,
    AppliedFilter,
    Citation,
    Clarification,
    Note,
    Option,
    Table,
    Usage,
)
from citegraph.run.events import Event, correction, token
from cli.terminal import LiveSteps
from tests.cli.conftest import Run, ScriptedSession

CITED = Citation(
    marker="doc-1",
    doc_id="doc-1",
    bucket="contracts",
    label="lease.pdf (page 3)",
    source_file="lease.pdf",
    page=3,
    start=10,
    end=35,
    quote="governed by the\nlaw of X",
)
ASKS_BACK = Answer(
    question="q",
    text="Which year?",
    status="needs_clarification",
    thread_id="T1",
    clarification=Clarification(
        type="overload",
        question="Which year?",
        options=[Option(id="a", label="2023", count=1312), Option(id="all", label="all years")],
        tried=["vendor = Acme"],
    ),
)


def answered(text: str = "It is X [doc-1].", status: Any = "answered", **more: Any) -> Answer:
    return Answer(question="q", text=text, status=status, citations=[CITED], thread_id="T1", **more)


@pytest.mark.parametrize(
    ("status", "code"), [("answered", 0), ("partial", 4), ("unanswerable", 4), ("failed", 5)]
)
def test_exit_code_by_status(run: Run, session: ScriptedSession, status: str, code: int) -> None:
    session.answers = [answered(status=status)]
    assert run("ask", "q").code == code


def step(name: str, detail: str = "") -> Event:
    return {"event": "step", "step": name, "seconds": 0.1, "detail": detail}


def tool(query: str, hits: int, error: str = "") -> Event:
    return {
        "event": "tool",
        "tool": "search",
        "buckets": ["contracts"],
        "query": query,
        "hits": hits,
        "ms": 3,
        "error": error,
    }


def test_the_answer_is_shown_at_a_terminal_as_it_is_written_and_taken_away() -> None:
    screen = io.StringIO()
    steps = LiveSteps(Console(file=screen, force_terminal=True, highlight=False, width=80, height=20))
    for event in (step("route", "contracts 0.91"), token("It is"), token(" Y."), correction("Y was wrong")):
        steps(event)
    steps(token("It is X [lease]."))
    assert "contracts 0.91" in screen.getvalue()
    assert "correction: Y was wrong" in screen.getvalue()
    assert written(steps) == "writing\nIt is X [lease]."
    steps(step("compose"))
    assert written(steps) == "checking the answer\nIt is X [lease].", "it stays until the run ends"
    steps(token("x" * 5000))
    assert len(written(steps)) < 80 * 20
    steps.pause()
    steps(step("clarify"))
    assert written(steps) == "thinking"
    steps.pause()


def written(steps: LiveSteps) -> str:
    return str(steps._status.status)


def test_answer_on_stdout_steps_on_stderr(run: Run, session: ScriptedSession) -> None:
    session.events = [
        step("route", "contracts 0.91"),
        tool(query="law", hits=1),
        tool(query="", hits=1200),
        tool(query="lew", hits=0, error="no such bucket"),
        step("search"),
        token("It is Y."),
        correction("Y was wrong"),
        token("It is X [lease]."),
        step("review"),
    ]
    session.answers = [
        answered(
            filters=[
                AppliedFilter(bucket="contracts", field="party", operator="=", value="Acme", matched=1),
                AppliedFilter(
                    bucket="contracts", field="year", operator="=", status="dropped", text="year = 2x"
                ),
            ],
            notes=[Note(step="schema_plan", kind="dropped", message="no such year")],
        )
    ]
    result = run("ask", "q")
    assert result.out == (
        "It is X [1].\n\n"
        "Sources:\n  [1] lease.pdf (page 3): “governed by the law of X”\n\n"
        "Filters:\n  contracts: party = Acme (1 document)\n  contracts: year = 2x (dropped)\n\n"
        "Notes:\n  no such year\n"
    )
    assert result.err == (
        "route: contracts 0.91\n"
        "  search: 1 hit for “law”\n"
        "  search: 1,200 hits in contracts\n"
        "  search: no such bucket for “lew”\n"
        "correction: Y was wrong\n"
        "review\n"
        "thread: T1\n"
    )


def test_quiet_says_nothing_on_stderr(run: Run, session: ScriptedSession) -> None:
    session.events = [step("route", "contracts 0.91"), token("It is X [lease].")]
    session.answers = [answered()]
    assert run("ask", "q", "--quiet").err == ""


def test_json_is_exactly_the_answer(run: Run, session: ScriptedSession) -> None:
    given = answered(table=Table(columns=["a"], rows=[[1.5]]), usage=Usage(seconds=0.25))
    session.answers = [given]
    result = run("ask", "q", "--json")
    assert Answer.model_validate_json(result.out) == given
    assert json.loads(result.out) == given.model_dump(mode="json")
    assert result.err == "thread: T1\n"


def test_a_clarification_is_printed_when_piped(run: Run, session: ScriptedSession) -> None:
    session.answers = [ASKS_BACK]
    result = run("ask", "q")
    assert result.code == 3
    assert result.out == "Which year?\n  1. 2023 (1,312)\n  2. all years\n  tried: vendor = Acme\n"
    assert result.err == (
        "no documents yet: citegraph ingest PATH... --bucket NAME\n"
        "thread: T1\nreply with: citegraph ask --thread T1 --reply TEXT\n"
    )


def test_json_of_a_clarification_never_waits(run: Run, session: ScriptedSession) -> None:
    session.answers = [ASKS_BACK]
    result = run("ask", "q", "--json")
    assert (result.code, Answer.model_validate_json(result.out)) == (3, ASKS_BACK)


def test_reply_to_a_thread(run: Run, session: ScriptedSession) -> None:
    session.paused = {"T1"}
    session.answers = [answered()]
    assert run("ask", "--thread", "T1", "--reply", "only 2023").code == 0
    assert [(item["reply"], item["thread_id"]) for item in session.given] == [("only 2023", "T1")]


def test_reply_without_thread_answers_the_questions_own_clarification(
    run: Run, session: ScriptedSession
) -> None:
    session.answers = [ASKS_BACK, answered()]
    assert run("ask", "q", "--reply", "2").code == 0
    assert session.given[0]["ask"] == "q"
    assert session.given[1]["reply"] == "all"


def test_reply_is_not_used_when_nothing_is_asked(run: Run, session: ScriptedSession) -> None:
    session.answers = [answered()]
    assert run("ask", "q", "--reply", "2").code == 0
    assert len(session.given) == 1


@pytest.mark.parametrize(
    ("known", "message"), [(set(), "There is no thread 'T9'."), ({"T9"}, "waits for no reply")]
)
def test_guards_of_a_reply(run: Run, session: ScriptedSession, known: set[str], message: str) -> None:
    session.known = known
    result = run("ask", "--thread", "T9", "--reply", "x")
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert result.err.count("\n") == 1


def test_thread_and_new_are_handed_on(run: Run, session: ScriptedSession) -> None:
    session.answers = [answered()]
    run("ask", "q", "--thread", "T1", "--new")
    assert (session.given[0]["thread_id"], session.given[0]["new"]) == ("T1", True)


def test_the_question_may_come_from_stdin(run: Run, session: ScriptedSession) -> None:
    session.answers = [answered()]
    assert run("ask", "-", stdin="what is X?\n").code == 0
    assert session.given[0]["ask"] == "what is X?"


def test_options_become_the_context(run: Run, session: ScriptedSession) -> None:
    session.answers = [answered()]
    result = run(
        "ask", "q", "-b", "invoices", "--bucket", "contracts", "--filter", "total_amount>=100",
        "-c", "max_rounds=2", "-c", "strict_search=true", "-c", "today=2026-01-31",
        "-c", 'models={"compose": {"model": "m"}}',
    )  # fmt: skip
    assert result.code == 0
    (context,) = session.contexts()
    assert context.model_dump(exclude_defaults=True) == {
        "buckets": ["invoices", "contracts"],
        "filters": ["total_amount>=100"],
        "max_rounds": 2,
        "strict_search": True,
        "today": "2026-01-31",
        "models": {"compose": {"model": "m"}},
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Give a question"),
        (("  ",), "The question is empty."),
        (("--reply", "x"), "Give a question"),
        (("q", "--reply", " "), "The reply is empty."),
        (("q", "-b", "nowhere"), "There is no bucket 'nowhere'; the buckets are certificates, contracts,"),
        (("q", "-f", "vendor_name"), "is not a filter (examples: "),
        (("q", "-f", "no_such_field=1"), "Filter 'no_such_field=1'"),
        (("q", "-b", "invoices", "-f", "invoice_date>=yesterweek"), "Filter 'invoice_date>=yesterweek'"),
        (("q", "-c", "max_rounds"), "write key=value"),
        (
            ("q", "-c", "max_rounds=21"),
            "max_rounds=21: Input should be less than or equal to 20 (integer, >= 1, <= 20)",
        ),
        (
            ("q", "-c", "max_round=2"),
            "'max_round' is no setting of a run; there are mode, buckets, documents, filters,",
        ),
        (("q", "-c", "today=tomorrow"), "today=tomorrow"),
        (("q", "-c", "models=m"), "write a JSON object"),
        (("q", "--no-such-option"), "--no-such-option"),
    ],
)
def test_usage_errors(run: Run, session: ScriptedSession, arguments: tuple[str, ...], message: str) -> None:
    result = run("ask", *arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert "Traceback" not in result.err
    assert session.given == []


def test_an_unexpected_error_is_one_line(run: Run, session: ScriptedSession) -> None:
    session.answers = [ZeroDivisionError("secret")]
    result = run("ask", "q")
    assert result.code == 5
    assert result.err == "citegraph: unexpected ZeroDivisionError; CITEGRAPH_DEBUG=1 shows where\n"


def test_debug_shows_the_trace(run: Run, session: ScriptedSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEGRAPH_DEBUG", "1")
    session.answers = [ZeroDivisionError("shown")]
    assert "ZeroDivisionError: shown" in run("ask", "q").err


def test_an_unavailable_store_fails(run: Run, session: ScriptedSession) -> None:
    session.answers = [Unavailable("The database\ndoes not answer.")]
    result = run("ask", "q")
    assert (result.code, result.err) == (5, "citegraph: The database does not answer.\n")


def test_a_wrong_setting_is_named(
    run: Run, session: ScriptedSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEGRAPH_CHUNK_TOKENS", "many")
    result = run("ask", "q")
    assert result.code == 2
    assert "CITEGRAPH_CHUNK_TOKENS: Input should be a valid integer" in result.err
