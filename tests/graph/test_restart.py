"""A process that is killed while its thread waits for a reply: another process resumes the thread."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from graph.answer import Answer
from tests.graph.test_clarify import QUESTION

ROOT = Path(__file__).parents[2]

OPEN = """
import asyncio, sys, time
from pathlib import Path
from graph.session import open_session, sqlite_saver
from settings import Settings
from tools.services import Services

async def main(home, threads, question):
    async with sqlite_saver(Path(threads)) as saver, open_session(Services(Settings(home=Path(home))), saver) as session:
        BODY

asyncio.run(main(*sys.argv[1:]))
"""

ASK_AND_HANG = OPEN.replace(
    "BODY",
    """answer = await session.ask(question, thread_id="killed")
        print(answer.status, answer.clarification.interrupt_id, flush=True)
        time.sleep(600)""",
)

RESUME = OPEN.replace(
    "BODY",
    """waiting = await session.pending("killed")
        answer = await session.reply("killed", "CBC-10904", interrupt_id=waiting.interrupt_id)
        print(waiting.interrupt_id, answer.model_dump_json())""",
)


def test_a_killed_process_leaves_a_thread_that_another_one_resumes(sample_home: Path, tmp_path: Path) -> None:
    arguments = [str(sample_home), str(tmp_path / "threads.sqlite"), QUESTION]
    with subprocess.Popen(
        [sys.executable, "-c", ASK_AND_HANG, *arguments],
        cwd=ROOT,
        env=os.environ,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            assert child.stdout
            status, interrupt_id = child.stdout.readline().split()
        finally:
            child.kill()
    assert (status, child.returncode) == ("needs_clarification", -signal.SIGKILL)
    resumed = subprocess.run(
        [sys.executable, "-c", RESUME, *arguments],
        cwd=ROOT,
        env=os.environ,
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    waiting, _, told = resumed.stdout.partition(" ")
    answer = Answer.model_validate_json(told)
    assert waiting == interrupt_id
    assert (answer.status, answer.question, answer.thread_id) == ("answered", QUESTION, "killed")
    assert {citation.doc_id for citation in answer.citations} == {"cobaltine-cbc-10904"}
