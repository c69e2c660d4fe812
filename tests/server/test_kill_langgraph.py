"""`langgraph dev` killed at random moments: the documents that were acknowledged are there; its lost threads are counted."""

import asyncio
import os
import random
import shutil
import time
from pathlib import Path

import httpx
import pytest

from tests.server.langgraph_server import langgraph_process
from tests.server.test_kill_anywhere import SEED, kill, stored
from tests.server.visitors import Act, Memo, Visitor, ok, question_of

pytestmark = [pytest.mark.server, pytest.mark.slow]

KILLS = int(os.environ.get("CITEGRAPH_KILLS", "2"))
"""`make soak-serve` kills 50 times."""
FLUSHED = 15.0
"""Seconds after which a thread should be there: this server keeps its own in memory and writes them every ten seconds, by a
thread that ends for good at the first error; so those that it loses are counted, for they are not ours to keep."""
UNTIL = 25.0
"""Seconds at most until a server is killed, drawn evenly."""


class Guest(Visitor):
    """A visitor who asks in LangGraph Server's own threads."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.asked: dict[str, tuple[float, str]] = {}
        """Thread -> when its answer was acknowledged, and the answer."""
        self.killed = 0.0
        self.late = self.old = 0
        """Threads lost, acknowledged shortly before the kill and longer ago."""

    def acts(self) -> dict[Act, int]:
        """Return what is sent to this server."""
        return {self.upload: 8, self.rewrite: 6, self.correct: 8, self.remove: 6, self.ask: 3}

    async def ask(self, client: httpx.AsyncClient, draw: random.Random) -> bool:
        """Ask what a memo says, in a new thread."""
        memo = self._drawn(draw, lambda _: True)
        if memo is None:
            return False
        thread = ok(await client.post("/threads", json={})).json()["thread_id"]
        text = await self._said(client, thread, memo)
        assert str(next(iter(memo.numbers))) in text, text
        self.asked[thread] = time.monotonic(), text
        return True

    async def _said(self, client: httpx.AsyncClient, thread: str, memo: Memo) -> str:
        given = {"assistant_id": "agent", "input": {"query": question_of(memo)}}
        state = ok(await client.post(f"/threads/{thread}/runs/wait", json=given)).json()
        return str((state.get("answer") or {}).get("text", ""))  # of what is not there it may ask back

    async def _check_memo(self, client: httpx.AsyncClient, memo: Memo, *, asks: bool) -> None:
        await super()._check_memo(client, memo, asks=False)
        if asks:
            thread = ok(await client.post("/threads", json={})).json()["thread_id"]
            says = str(next(iter(memo.numbers))) in await self._said(client, thread, memo)
            assert says == memo.there, memo

    async def check_threads(self, client: httpx.AsyncClient) -> None:
        """Hold the threads against what was acknowledged, and count those that are gone or were asked anew.

        A server that had written down a run but not yet its end runs it again, over documents that may say something else by now.
        """
        for thread, (when, text) in list(self.asked.items()):
            found = await client.get(f"/threads/{thread}/state")
            values = found.json()["values"] if found.status_code == 200 else {}
            if (values.get("answer") or {}).get("text") == text:
                continue
            del self.asked[thread]
            if self.killed - when < FLUSHED:
                self.late += 1
            else:
                self.old += 1


def test_killed_at_random_moments_langgraph_server_loses_no_document(
    sample_home: Path, tmp_path: Path
) -> None:
    home, log = tmp_path / "home", tmp_path / "log"
    shutil.copytree(sample_home, home)
    guests, draw = [Guest(name) for name in ("anchor", "buoy", "crane")], random.Random(SEED)

    async def visited(url: str, seed: str, *, ends: bool) -> None:
        async with httpx.AsyncClient(base_url=url, timeout=120) as client:
            for one in guests:
                await one.check(client, random.Random(f"{seed} {one.name}"), all_of_it=ends)
                await one.check_threads(client)
            if ends:
                return

            def killing() -> None:
                until = time.monotonic() + 2 * UNTIL
                while not any(one.acknowledged for one in guests) and time.monotonic() < until:
                    time.sleep(0.05)
                time.sleep(draw.uniform(0, UNTIL))
                kill(process, draw)

            visits = (one.visit(client, random.Random(f"{seed} {one.name}")) for one in guests)
            await asyncio.gather(asyncio.to_thread(killing), *visits)
        for one in guests:
            one.killed = time.monotonic()

    for number in range(KILLS + 1):
        with langgraph_process(home, log, {"CITEGRAPH_RATE_LIMIT": "1000000/second"}) as (process, url):
            asyncio.run(visited(url, f"{SEED} {number}", ends=number == KILLS))
        print(f"kill {number + 1}: {sum(one.acknowledged for one in guests)} acknowledged", flush=True)
    stored(home, [memo for one in guests for memo in one.memos])
    under_way = sum(one.lost_track for one in guests)
    kept, late, old = (
        sum(counts) for counts in zip(*((len(one.asked), one.late, one.old) for one in guests), strict=True)
    )
    print(
        f"{KILLS} kills: {sum(one.acknowledged for one in guests)} acknowledged, {under_way} under way, {kept} threads kept, "
        f"{late} lost within {FLUSHED:.0f} s, {old} older ones lost"
    )
    assert sum(one.acknowledged for one in guests)
