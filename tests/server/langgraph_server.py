"""Starts `langgraph dev` on a free port of loopback and stops it by its process."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).parents[2]
STARTUP = 120.0
"""Seconds that the server may take to start; about 6 on an idle machine."""


@contextmanager
def langgraph_dev(home: Path, log: Path, variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the server's address; it says everything into `log`."""
    with langgraph_process(home, log, variables) as (_, url):
        yield url


@contextmanager
def langgraph_process(
    home: Path, log: Path, variables: Mapping[str, str]
) -> Iterator[tuple["subprocess.Popen[bytes]", str]]:
    """Yield the server's process, which has a group of its own, and its address; `log.parent` keeps its threads."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {
        "CITEGRAPH_HOME": str(home),
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "NO_COLOR": "1",
        **variables,
    }
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--config", str(ROOT / "langgraph.json")]
    with (
        log.open("w") as said,
        subprocess.Popen(
            command,
            cwd=log.parent,
            env=environment,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as server,
    ):
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until_up(server, url, log)
            yield server, url
        finally:
            server.terminate()
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()


def wait_until_up(server: "subprocess.Popen[Any]", url: str, log: Path) -> None:
    """Return when the server answers; fail with its log when it ends or takes too long."""
    end = time.monotonic() + STARTUP
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        try:
            if httpx.get(f"{url}/ok", timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.2)
    pytest.fail(f"langgraph dev does not answer:\n{log.read_text('utf-8')[-3000:]}")
