"""PostgreSQL killed under a server that is written to: a clear error meanwhile, answers again by itself, and nothing that was acknowledged lost."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from citegraph.corpus.records.documents import DocumentStore
from cli.demo import SAMPLE
from server.threads import ThreadBook
from tests.postgres import Cluster, NoPostgres, running_cluster
from tests.server.test_kill import server
from tests.server.test_kill_anywhere import ASKED_ALL, NO_BOUND, SEED, checked, stored
from tests.server.visitors import BUCKET, Visitor

pytestmark = [pytest.mark.server, pytest.mark.postgres, pytest.mark.slow]

KILLS = int(os.environ.get("CITEGRAPH_KILLS", "2"))
"""`make soak-serve` kills 50 times."""
UNTIL, AWAY = 6.0, 1.5
"""Seconds at most until the database is killed, and until it is started again, both drawn evenly."""
SETTLING = 60.0


class Outage(httpx.TransportError):
    """A request that a server without its database did not serve, or not wholly."""


def with_outages(url: str, down: threading.Event) -> httpx.AsyncClient:
    """Return a client to which an answer counts as no answer once the database was killed; what is refused says why."""

    async def sent(request: httpx.Request) -> None:
        if down.is_set():
            raise Outage("the database was killed", request=request)

    async def came(answer: httpx.Response) -> None:
        if answer.status_code >= 500:
            said = (await answer.aread()).decode()
            assert answer.status_code == 503, said
            assert "does not answer" in said
        if down.is_set():
            raise Outage("the database was killed", request=answer.request)

    return httpx.AsyncClient(base_url=url, timeout=120, event_hooks={"request": [sent], "response": [came]})


async def visited(url: str, cluster: Cluster, visitors: list[Visitor], seed: str) -> None:
    """Let the visitors in, kill the database while they are at it, and start it again."""
    draw, down = random.Random(seed), threading.Event()
    async with with_outages(url, down) as client, httpx.AsyncClient(base_url=url, timeout=120) as other:
        visits = [
            asyncio.create_task(one.visit(client, random.Random(f"{seed} {one.name}"))) for one in visitors
        ]
        await asyncio.sleep(draw.uniform(0, UNTIL))
        down.set()
        await asyncio.to_thread(cluster.kill if draw.random() < 0.5 else cluster.stop)
        await asyncio.sleep(draw.uniform(0, AWAY))
        for refused in (
            await other.get("/documents", params={"bucket": BUCKET}),
            await other.post("/ask", json={"question": "Which memo is there?"}),
        ):
            assert refused.status_code == 503, refused.text
            assert "does not answer" in refused.json()["detail"]
        await asyncio.to_thread(cluster.start)
        await asyncio.gather(*visits)
    await asyncio.to_thread(settled, cluster.url)


def settled(url: str) -> None:
    """Return when the server has brought to its end what it could not write."""
    documents, threads = DocumentStore(url), ThreadBook(url)
    end = time.monotonic() + SETTLING
    while documents.unfinished(10) or threads.leaving():
        assert time.monotonic() < end, f"left: {documents.unfinished(10)} {threads.leaving()}"
        time.sleep(0.2)


def test_a_database_that_is_killed_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "log"
    visitors = [Visitor(name) for name in ("anchor", "buoy", "crane")]
    try:
        with running_cluster() as cluster:
            variables = {**NO_BOUND, "CITEGRAPH_DATABASE_URL": cluster.url}
            folder = SAMPLE / "invoices"
            command = [
                sys.executable,
                "-m",
                "cli.commands",
                "ingest",
                str(folder),
                "--bucket",
                "invoices",
                "-q",
            ]
            command += ["--annotations", str(folder / "annotations.csv")]
            own = {
                "CITEGRAPH_HOME": str(home),
                "CITEGRAPH_INGEST_WORKERS": "1",
                "PYTHONPATH": str(Path(__file__).parents[2]),
            }
            subprocess.run(command, env=os.environ | own | variables, cwd=tmp_path, check=True)
            with server(home, log, **variables) as (process, url):
                for kill in range(1, KILLS + 1):
                    seed = f"{SEED} {kill}"
                    asyncio.run(visited(url, cluster, visitors, seed))
                    asyncio.run(checked(url, visitors, seed, all_of_it=kill % ASKED_ALL == 0))
                    assert process.poll() is None
                    print(
                        f"kill {kill}: {sum(one.acknowledged for one in visitors)} acknowledged", flush=True
                    )
                asyncio.run(checked(url, visitors, "last", all_of_it=True))
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=60)
            stored(home, [memo for one in visitors for memo in one.memos], database_url=cluster.url)
    except NoPostgres as reason:
        pytest.skip(str(reason))
    under_way = sum(one.lost_track for one in visitors)
    print(
        f"{KILLS} kills: {sum(one.acknowledged for one in visitors)} requests acknowledged, {under_way} under way"
    )
    assert sum(one.acknowledged for one in visitors)
