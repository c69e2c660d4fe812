"""A process that is killed while its thread waits for a reply: another process resumes the thread."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from citegraph.errors import Unavailable
from citegraph.run.answer_types import Answer
from citegraph.run.services import Services
from graph.session import Session, postgres_saver
from tests.graph.test_clarify import QUESTION

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
POSTGRES = os.environ.get("TEST_POSTGRES_URL", "")

OPEN = """
import asyncio, sys, time
from pathlib import Path
from graph.session import open_session, sqlite_saver
from citegraph.settings import Settings
from citegraph.run.services import Services

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


@pytest.mark.postgres
@pytest.mark.skipif(not POSTGRES, reason="TEST_POSTGRES_URL names no PostgreSQL database")
async def test_threads_live_in_postgres_when_the_database_is_one(services: Services) -> None:
    thread = f"restart-{uuid4()}"
    async with postgres_saver(POSTGRES.replace("postgresql:", "postgresql+psycopg:")) as saver:
        asked = await Session(services, saver).ask(QUESTION, thread_id=thread)
    assert asked.clarification
    async with postgres_saver(POSTGRES) as saver:
        after = Session(services, saver)
        assert await after.pending(thread) == asked.clarification
        done = await after.reply(thread, "CBC-10904")
    assert done.status == "answered"
    assert {citation.doc_id for citation in done.citations} == {"cobaltine-cbc-10904"}


async def test_a_postgres_that_does_not_answer_is_said() -> None:
    with pytest.raises(Unavailable, match="does not answer"):
        async with postgres_saver("postgresql://nobody@127.0.0.1:1/none"):
            pass
