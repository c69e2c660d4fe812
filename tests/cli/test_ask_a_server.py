"""`citegraph ask` beside `citegraph serve` over the same home: the server answers."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graph.served import address_of

CITEGRAPH = (sys.executable, "-m", "cli.commands")


@pytest.mark.slow
def test_a_question_goes_to_the_server_that_has_the_home_open(tmp_path: Path) -> None:
    environment = {**os.environ, "CITEGRAPH_HOME": str(tmp_path / "home")}
    told = {"env": environment, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    (tmp_path / "memo.txt").write_text("The canteen of Ostrow opens at 07:15.", "utf-8")
    subprocess.run([*CITEGRAPH, "ingest", str(tmp_path / "memo.txt"), "-b", "generic"], check=True, **told)  # type: ignore[call-overload]
    server = subprocess.Popen([*CITEGRAPH, "serve", "--port", "0"], **told)  # type: ignore[call-overload]
    try:
        deadline = time.monotonic() + 120
        while (url := address_of(tmp_path / "home")) is None:
            assert server.poll() is None, server.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.2)
        # A question opens the index in the server: a second process could not open it.
        for _ in range(2):
            asked = subprocess.run(
                [*CITEGRAPH, "ask", "When does the canteen of Ostrow open?"], check=False, **told
            )  # type: ignore[call-overload]
            assert asked.returncode == 0, asked.stderr
            assert "07:15" in asked.stdout
            assert "compose" in asked.stderr
        assert url.startswith("http://127.0.0.1:")
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)
    assert address_of(tmp_path / "home") is None
    asked = subprocess.run([*CITEGRAPH, "ask", "When does the canteen of Ostrow open?"], check=False, **told)  # type: ignore[call-overload]
    assert "07:15" in asked.stdout
