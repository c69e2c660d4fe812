"""`citegraph chat`, `threads` and `open`, and tables as a terminal shows them."""

import asyncio
import json
import os
import signal
import webbrowser
from pathlib import Path

import pytest

from citegraph.corpus.records.documents import DocumentStore
from citegraph.errors import BadInput
from citegraph.run.answer_types import Answer, Citation, Table
from citegraph.settings import load_settings
from cli.answer_text import linked, table_text
from cli.conversing import _stoppable
from cli.terminal import counted
from tests.cli.conftest import Run

AMBIGUOUS = "What is the total of the Cobaltine invoice?"


@pytest.fixture
def home(tmp_path: Path, sample_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import shutil

    shutil.copytree(sample_home, tmp_path / "home")
    for kept in (tmp_path / "home").glob("threads.sqlite*"):
        kept.unlink()  # other tests have asked in the home that is copied
    monkeypatch.setenv("CITEGRAPH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.slow
def test_a_conversation_asks_back_goes_on_and_is_kept_listed_shown_and_deleted(run: Run, home: Path) -> None:
    said = run("chat", stdin=f"{AMBIGUOUS}\n1\n/open 9\n/what\n/new\nWhat is 2+3?\n/quit\n")
    assert said.code == 0
    asked, answered = said.out.split("\n  1. ", 1)
    assert "Which one do you mean?" in asked
    assert "2+3 = 5" in answered
    assert "Name a source of the last answer, 1 to" in said.err
    rows = json.loads(run("threads", "list", "--json").out)
    assert [row["asked"] for row in rows] == ["What is 2+3?", AMBIGUOUS]
    first = rows[1]["thread_id"]
    assert first in run("threads", "list", "-n", "2").out
    messages = json.loads(run("threads", "show", first[:8], "--json").out)
    assert [message["role"] for message in messages] == ["human", "ai", "human", "ai"]
    assert run("threads", "show", first).out.startswith(f"> {AMBIGUOUS}\n\n")
    assert run("threads", "delete", first[:8]).out == "1 thread deleted\n"
    gone = run("threads", "show", first)
    assert (gone.code, "There is no thread" in gone.err) == (2, True)


async def test_ctrl_c_and_a_refusal_end_an_answer_and_not_the_conversation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def interrupted() -> Answer:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()
        raise AssertionError

    async def refused() -> Answer:
        raise BadInput("There is no such thread.")

    assert await _stoppable(interrupted()) is None
    assert await _stoppable(refused()) is None
    assert capsys.readouterr().err == "Stopped.\ncitegraph: There is no such thread.\n"


@pytest.mark.slow
def test_a_document_is_opened_at_its_page(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    record = DocumentStore(load_settings().sql_url).record("nv2n517")
    assert record
    assert run("open", "nv2n517", "--page", "2").out.strip() == f"{Path(record.source_path).as_uri()}#page=2"
    assert opened == [f"{Path(record.source_path).as_uri()}#page=2"]
    assert "There is no document" in run("open", "ghost").err


def test_numbers_stand_at_the_right_and_long_cells_break_between_words() -> None:
    rows = [["A name of many words that goes on", "8,010.00 USD", None], ["B", "12.00 USD", "x"]]
    table = Table(columns=["vendor", "total", "note"], rows=rows)
    assert table_text(table, 40).splitlines() == [
        "vendor                       total  note",
        "A name of many words  8,010.00 USD",
        "that goes on",
        "B                        12.00 USD  x",
    ]
    assert len(table_text(table).splitlines()) == 3


def test_a_source_is_a_link_to_its_file_and_page(tmp_path: Path) -> None:
    def cited(doc_id: str, page: int | None) -> Citation:
        place = {"bucket": "b", "label": doc_id, "source_file": doc_id, "start": 0, "end": 1, "quote": "q"}
        return Citation(marker=doc_id, doc_id=doc_id, page=page, **place)  # type: ignore[arg-type]

    answer = Answer(
        question="q", text="x [a] [b]", status="answered", citations=[cited("a", 3), cited("b", None)]
    )
    link = f"\033]8;;{(tmp_path / 'a.pdf').as_uri()}#page=3\033\\[1]\033]8;;\033\\"
    assert linked("x [1] [2]", answer, {"a": tmp_path / "a.pdf"}) == f"x {link} [2]"


def test_one_of_a_thing_is_said_so() -> None:
    assert [counted(number, "document") for number in (0, 1, 1200)] == [
        "0 documents",
        "1 document",
        "1,200 documents",
    ]
