"""The server as a process, killed at random moments: it starts again by itself, and what it acknowledged is there."""

import asyncio
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from citegraph.run.services import Services
from citegraph.settings import Settings
from tests.server.test_kill import server, started
from tests.server.visitors import BUCKET, Memo, Visitor, ok

pytestmark = pytest.mark.server

KILLS = int(os.environ.get("CITEGRAPH_KILLS", "3"))
"""`make soak-serve` kills 50 times."""
SEED = int(os.environ.get("CITEGRAPH_KILL_SEED", "1"))
ACKNOWLEDGED, LATER, LONGEST = 4, 2.0, 20.0
"""A server is killed some seconds after that many requests were acknowledged at most, both drawn evenly; at the latest after
`LONGEST` seconds."""
ASKED_ALL = 10
"""In each so manieth round all that was ever acknowledged is looked at again, not only what was touched since."""
STARTING = 3.0
"""Seconds, of a start that is cut off."""
CUT_OFF = 0.25
"""Share of kills that hit a start."""
NO_BOUND = {"CITEGRAPH_RATE_LIMIT": "1000000/second"}


def kill(process: "subprocess.Popen[bytes]", draw: random.Random) -> None:
    """Kill a server, alone or with all processes that it has started."""
    if draw.random() < 0.5:
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=30)


async def visited(url: str, process: "subprocess.Popen[bytes]", visitors: list[Visitor], seed: str) -> None:
    """Let the visitors in, and kill the server while they are at it."""
    draw = random.Random(seed)

    def killing() -> None:
        until = time.monotonic() + LONGEST
        enough = sum(one.acknowledged for one in visitors) + draw.randint(0, ACKNOWLEDGED)
        while sum(one.acknowledged for one in visitors) < enough and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(draw.uniform(0, LATER))
        kill(process, draw)

    async with httpx.AsyncClient(base_url=url, timeout=120) as client:
        visits = (one.visit(client, random.Random(f"{seed} {one.name}")) for one in visitors)
        await asyncio.gather(asyncio.to_thread(killing), *visits)


async def checked(url: str, visitors: list[Visitor], seed: str, *, all_of_it: bool = False) -> None:
    """Check what every visitor was told, and that each thread that is listed can be shown."""
    async with httpx.AsyncClient(base_url=url, timeout=120) as client:
        for one in visitors:
            await one.check(client, random.Random(f"{seed} {one.name}"), all_of_it=all_of_it)
        listed = ok(await client.get("/threads", params={"limit": 500})).json()
        shown = {item["thread_id"] for item in listed["threads"]}
        known = {talk.thread_id for one in visitors for talk in one.talks if talk.there}
        assert known <= shown or listed["total"] > 500
        gone = {talk.thread_id for one in visitors for talk in one.talks if talk.there is False}
        assert not gone & shown


def stored(home: Path, memos: list[Memo], database_url: str | None = None) -> None:
    """Check the stores of a home that nobody uses: nothing is left half-written, and nothing of what is gone."""

    async def look() -> None:
        services = Services(Settings(home=home, database_url=database_url, _env_file=None))
        corpus = services.open()
        records = corpus.documents.all_records(BUCKET)
        assert {record.status for record in records.values()} == {"done"}
        chunks = {doc_id: await corpus.index.document_chunks(BUCKET, doc_id) for doc_id in records}
        assert all(chunks.values())
        assert await corpus.index.count(BUCKET) == sum(map(len, chunks.values()))
        files = {Path(record.source_path).parent.name for record in records.values()}
        removed = {memo.doc_id.rpartition("-")[2] for memo in memos if memo.doc_id and not memo.there}
        kept = {folder.name for folder in (home / "uploads").iterdir()}
        assert not kept & removed, "files of removed documents are kept"
        assert kept >= {memo.doc_id.rpartition("-")[2] for memo in memos if memo.there}
        print(f"{len(records)} documents, {len(kept - files)} files of uploads that were cut off")
        await services.close()

    asyncio.run(look())


def test_killed_at_random_moments_nothing_that_was_acknowledged_is_lost(
    sample_home: Path, tmp_path: Path
) -> None:
    home, log = tmp_path / "home", tmp_path / "log"
    shutil.copytree(sample_home, home)
    visitors = [Visitor(name) for name in ("anchor", "buoy", "crane")]
    draw = random.Random(SEED)
    kills = starts_cut_off = rounds = 0
    while kills < KILLS:
        if draw.random() < CUT_OFF:
            with started(home, log, **NO_BOUND) as process:
                process_ends = draw.uniform(0, STARTING)
                asyncio.run(asyncio.sleep(process_ends))
                kill(process, draw)
            kills, starts_cut_off = kills + 1, starts_cut_off + 1
        seed = f"{SEED} {kills}"
        with server(home, log, **NO_BOUND) as (process, url):
            rounds += 1
            asyncio.run(checked(url, visitors, seed, all_of_it=rounds % ASKED_ALL == 0))
            asyncio.run(visited(url, process, visitors, seed))
        kills += 1
        print(f"kill {kills}: {sum(one.acknowledged for one in visitors)} acknowledged", flush=True)
    with server(home, log, **NO_BOUND) as (process, url):
        asyncio.run(checked(url, visitors, "last", all_of_it=True))
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
    stored(home, [memo for one in visitors for memo in one.memos])
    assert "Traceback" not in log.read_text("utf-8")
    acknowledged = sum(one.acknowledged for one in visitors)
    under_way = sum(one.lost_track for one in visitors)
    print(
        f"{kills} kills ({starts_cut_off} of a start): {acknowledged} requests acknowledged, {under_way} under way"
    )
    assert acknowledged
