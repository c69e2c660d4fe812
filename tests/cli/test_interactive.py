"""At a terminal `ask` asks back, takes a number or text, and goes on; a child on a real pseudo-terminal."""

import os
import sys
from pathlib import Path

import pexpect
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
QUESTION = "What was the total of the Larut catering receipt of 14 June 2024?"


@pytest.fixture
def terminal(in_sample: Path) -> "pexpect.spawn[str]":
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200", "PYTHONPATH": str(ROOT)}
    child = pexpect.spawn(
        sys.executable,
        ["-m", "cli.commands", "ask", QUESTION],
        env=environment,
        encoding="utf-8",
        timeout=60,
        cwd=ROOT,
    )
    child.expect("Your reply")
    return child


def test_a_number_chooses_an_option(terminal: "pexpect.spawn[str]") -> None:
    shown = str(terminal.before)
    place = next(n for n in (1, 2) if "0314" in shown.split(f"  {n}. ", 1)[1].split("\n", 1)[0])
    terminal.sendline(str(place))
    terminal.expect("186.4")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0


def test_an_empty_reply_leaves_the_question_open(terminal: "pexpect.spawn[str]") -> None:
    terminal.sendline("")
    terminal.expect("reply with: citegraph ask --thread")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 3
