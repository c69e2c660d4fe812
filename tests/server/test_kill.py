"""The server as a process: killed while threads wait, it goes on with every one of them; a signal drains it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.server.test_app import AMBIGUOUS

pytestmark = pytest.mark.server
WAITING = 20


@contextmanager
def server(home: Path, log: Path, **more: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start `citegraph serve` on a free port over a home and give the process and its address."""
    before = log.stat().st_size if log.exists() else 0
    with started(home, log, **more) as process:
        yield process, _address(process, log, before)


@contextmanager
def started(home: Path, log: Path, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start `citegraph serve` in a process group of its own, and do not wait for it."""
    command = [sys.executable, "-m", "cli.commands", "serve", "--port", "0"]
    environment = os.environ | {
        "CITEGRAPH_HOME": str(home),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        **more,
    }
    with (
        log.open("ab") as said,
        subprocess.Popen(
            command, cwd=log.parent, env=environment, stdout=said, stderr=said, start_new_session=True
        ) as process,
    ):
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def _address(process: "subprocess.Popen[bytes]", log: Path, before: int) -> str:
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        text = log.read_bytes()[before:].decode()
        if "Uvicorn running on " in text:
            return text.split("Uvicorn running on ", 1)[1].split()[0]
        time.sleep(0.1)
    pytest.fail(f"the server did not start:\n{log.read_text('utf-8')[-3000:]}")


def test_killed_while_twenty_threads_wait_all_of_them_resume(sample_home: Path, tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "log"
    shutil.copytree(sample_home, home)
    with server(home, log) as (process, url), httpx.Client(base_url=url, timeout=120) as client:
        with ThreadPoolExecutor(8) as pool:
            asked = list(
                pool.map(lambda _: client.post("/ask", json={"question": AMBIGUOUS}).json(), range(WAITING))
            )
        assert {answer["status"] for answer in asked} == {"needs_clarification"}
        process.send_signal(signal.SIGKILL)
        assert process.wait(timeout=30) == -signal.SIGKILL
    threads = {answer["thread_id"]: answer["clarification"]["interrupt_id"] for answer in asked}
    assert len(threads) == WAITING
    with server(home, log) as (process, url), httpx.Client(base_url=url, timeout=120) as client:
        assert client.get("/threads").json()["total"] == WAITING

        def reply(item: tuple[str, str]) -> httpx.Response:
            body = {"reply": "CBC-10904", "interrupt_id": item[1]}
            return client.post(f"/threads/{item[0]}/reply", json=body)

        with ThreadPoolExecutor(8) as pool:
            answers = [response.json() for response in pool.map(reply, threads.items())]
        assert [answer["status"] for answer in answers] == ["answered"] * WAITING
        assert {citation["doc_id"] for answer in answers for citation in answer["citations"]} == {
            "cobaltine-cbc-10904"
        }
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
    assert "Traceback" not in log.read_text("utf-8")
