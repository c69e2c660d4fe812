"""The engine's own process: killed, it is started again and nothing is lost; it ends with whoever asked it."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from citegraph.corpus.index.engine_process import ProcessIndex
from citegraph.corpus.index.index_protocol import SearchRequest
from citegraph.errors import BadInput
from citegraph.run.services import load_index
from citegraph.settings import Settings
from tests.citegraph.corpus.index.test_index_protocol import BUCKET, CHUNKS, METADATA, STATIC, fill

REQUEST = SearchRequest("letters", "ropes of the tug")


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[ProcessIndex]:
    index = load_index(Settings(home=tmp_path, qdrant_url=None, engine="process"), STATIC)
    assert isinstance(index, ProcessIndex)
    assert index.pid is None, "nothing starts before the first call"
    await fill(index)
    yield index
    await index.close()


@pytest.mark.slow
async def test_a_killed_engine_is_started_again_and_calls_are_repeated(index: ProcessIndex) -> None:
    best = await index.search(REQUEST)
    first = index.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert await index.search(REQUEST) == best
    second = index.pid
    assert second not in (None, first)
    asked = [asyncio.create_task(index.search(REQUEST)) for _ in range(40)]
    await asyncio.sleep(0)
    os.kill(second or 0, signal.SIGKILL)
    assert await asyncio.gather(*asked) == [best] * 40
    await index.upsert("letters", CHUNKS, METADATA)
    assert await index.count("letters") == len(CHUNKS)


async def test_errors_come_over_as_they_are_and_a_closed_engine_opens_again(index: ProcessIndex) -> None:
    with pytest.raises(BadInput, match="Unknown"):
        await index.count("letters", {"musst": []})
    with pytest.raises(BadInput, match="reembed letters"):
        await index.ensure(BUCKET.model_copy(update={"language": "de"}))
    await index.close()
    assert index.pid is None
    assert await index.count("letters") == len(CHUNKS)


async def test_whoever_stops_waiting_disturbs_nobody(index: ProcessIndex) -> None:
    waiting = [asyncio.create_task(index.search(REQUEST)) for _ in range(10)]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert await index.count("letters") == len(CHUNKS)


ORPHAN = """
import asyncio, os, sys
from pathlib import Path
from citegraph.corpus.index.engine_process import ProcessIndex
from citegraph.settings import Settings
if __name__ == "__main__":
    index = ProcessIndex(Settings(home=Path(sys.argv[1]), qdrant_url=None))
    asyncio.run(index.count("letters"))
    print(index.pid, flush=True)
    os.kill(os.getpid(), 9)
"""


@pytest.mark.slow
def test_the_engine_ends_with_a_killed_parent(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(ORPHAN, "utf-8")
    root = str(Path(__file__).parents[4])
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": root},
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    # The engine holds the parent's stdout: `run` returned, so it has ended, or its pid is gone soon.
    assert done.returncode == -signal.SIGKILL
    assert not Path(f"/proc/{int(done.stdout)}").exists() or _ended(int(done.stdout))


def _ended(pid: int) -> bool:
    return "State:\tZ" in Path(f"/proc/{pid}/status").read_text("utf-8")
