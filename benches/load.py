"""Loads a server of its own on loopback: many users at once, and optionally an ingest of generated documents meanwhile.

A user asks, reads the answer and asks again: a closed loop whose pauses are drawn as TPC-W draws them (clause 5.3.2.1:
exponential, 7 s in the mean, at most 70 s). The same users without a pause then show what the server can do at most.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from benches.processes import usage

THINK = 7.0
"""Mean seconds between an answer and the next question of the same user."""
LONGEST_THINK = 10
"""A pause is at most so many times the mean."""
START = 120.0
"""Seconds that the server gets to start."""
WORDS = "harbour ledger crane ferry anchor tide rope quay pilot cargo invoice engine winter cable paint bridge".split()


@dataclass
class Load:
    """What the users met: seconds of each answer, and what was no answer."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def p(self, share: float) -> float:
        """Return a percentile of the seconds by nearest rank; infinite when nothing was answered."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("inf")


def questions(paths: Sequence[Path]) -> list[str]:
    """Return the first questions of question files (`evals.question_files`)."""
    lines = [line for path in paths for line in path.read_text("utf-8").splitlines() if line.strip()]
    found = [str(row["turns"][0]) for row in map(json.loads, lines) if row.get("turns")]
    if not found:
        raise SystemExit("No question in these files.")
    return found


@dataclass(frozen=True)
class Crowd:
    """So many users for so many seconds, with a mean pause between an answer and the next question."""

    users: int
    seconds: float
    think: float = 0.0

    def pause(self, draw: random.Random) -> float:
        """Return seconds that a user reads and thinks."""
        drawn = draw.expovariate(1 / self.think) if self.think else 0.0
        return min(drawn, LONGEST_THINK * self.think)


async def use(client: httpx.AsyncClient, asked: list[str], crowd: Crowd, draw: random.Random) -> Load:
    """Ask one question after the other, with pauses, the first one of them before the first question."""
    load, until = Load(), time.monotonic() + crowd.seconds
    while True:
        pause = crowd.pause(draw)
        if time.monotonic() + pause >= until:
            return load
        await asyncio.sleep(pause)
        began = time.monotonic()
        try:
            answer = await client.post("/ask", json={"question": draw.choice(asked)})
            failed = answer.status_code != 200 or answer.json()["status"] == "failed"
            if failed:
                load.errors.append(f"HTTP {answer.status_code}: {answer.text[:200]}")
        except httpx.HTTPError as error:
            load.errors.append(type(error).__name__)
        load.seconds.append(time.monotonic() - began)


async def users(client: httpx.AsyncClient, asked: list[str], crowd: Crowd) -> Load:
    """Return what all users met together."""
    draws = (random.Random(seed) for seed in range(crowd.users))
    parts = await asyncio.gather(*(use(client, asked, crowd, draw) for draw in draws))
    return Load([s for part in parts for s in part.seconds], [e for part in parts for e in part.errors])


def documents(count: int) -> bytes:
    """Return generated documents as JSONL."""
    draw = random.Random(7)
    rows = (
        {
            "doc_id": f"load-{n}",
            "title": f"Report {n}",
            "text": f"Report {n}. " + " ".join(draw.choices(WORDS, k=80)),
        }
        for n in range(count)
    )
    return "\n".join(json.dumps(row) for row in rows).encode()


async def ingesting(client: httpx.AsyncClient, asked: list[str], count: int) -> tuple[Load, float]:
    """Return what the users met while an upload was ingested, and the seconds that it took."""
    began, met = time.monotonic(), Load()
    file = {"file": ("load.jsonl", documents(count), "application/jsonl")}
    upload = asyncio.create_task(
        client.post("/documents", data={"bucket": "generic"}, files=file, timeout=7200)
    )
    while not upload.done():
        part = await users(client, asked, Crowd(1, 1.0))
        met.seconds += part.seconds
        met.errors += part.errors
    if (await upload).status_code != 201:
        met.errors.append(f"upload: {(await upload).text[:200]}")
    return met, time.monotonic() - began


async def crowded(client: httpx.AsyncClient, pid: int, asked: list[str], crowd: Crowd) -> dict[str, Any]:
    """Return what a crowd met, what it cost, and how busy the machine was."""
    before, samples = usage(pid), [usage(pid).megabytes]

    async def watch() -> None:
        while True:
            await asyncio.sleep(crowd.seconds / 4)
            samples.append(usage(pid).megabytes)

    watching = asyncio.create_task(watch())
    met = await users(client, asked, crowd)
    watching.cancel()
    spent = usage(pid).cpu - before.cpu
    return {
        "users": crowd.users,
        "think_seconds": crowd.think,
        "answers": len(met.seconds),
        "per_second": round(len(met.seconds) / crowd.seconds, 1),
        "mean": round(statistics.fmean(met.seconds or [0.0]), 3),
        "p50": round(met.p(0.5), 3),
        "p95": round(met.p(0.95), 3),
        "cpu_seconds_a_question": round(spent / max(1, len(met.seconds)), 3),
        "memory_mb": [round(sample) for sample in samples],
        "machine_load": [round(one, 1) for one in os.getloadavg()],
        "errors": met.errors[:5] + ([f"{len(met.errors)} in all"] if met.errors else []),
    }


async def measure(base: str, pid: int, given: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of a running server."""
    asked = questions(given.questions)
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=base, timeout=120, limits=limits) as client:
        await ready(client)
        await users(client, asked, Crowd(4, min(10.0, given.seconds)))
        told = {"crowd": await crowded(client, pid, asked, Crowd(given.users, given.seconds, given.think))}
        if given.think:
            full = Crowd(given.users, given.seconds / 4)
            told["without_pauses"] = await crowded(client, pid, asked, full)
        if given.ingest:
            calm = await users(client, asked, Crowd(1, given.seconds / 2))
            busy, took = await ingesting(client, asked, given.ingest)
            told["ingest"] = {
                "documents": given.ingest,
                "seconds": round(took, 1),
                "answers": len(busy.seconds),
                "quiet_p95": round(calm.p(0.95), 3),
                "p95": round(busy.p(0.95), 3),
                "ratio": round(busy.p(0.95) / calm.p(0.95), 2),
                "errors": busy.errors[:5],
            }
        return told


async def ready(client: httpx.AsyncClient) -> None:
    """Wait until the server answers."""
    until = time.monotonic() + START
    while True:
        try:
            if (await client.get("/readyz")).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        if time.monotonic() > until:
            raise SystemExit("The server did not start.")
        await asyncio.sleep(0.2)


@contextmanager
def serving(**variables: str) -> Iterator[tuple[str, int]]:
    """Start a server of its own on CITEGRAPH_HOME and give its address and process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # `env` becomes the server.
    command = ["env", *(f"{name}={value}" for name, value in variables.items()), sys.executable]
    command += ["-m", "cli.commands", "serve", "--port", str(port)]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}", server.pid
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


def main() -> None:
    """Start a server on CITEGRAPH_HOME, load it and print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", nargs="+", type=Path, help="question files (JSONL)")
    parser.add_argument("--users", type=int, default=50, help="people who ask, read and ask again")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--think", type=float, default=THINK, help="mean seconds of reading; 0: none")
    parser.add_argument(
        "--ingest", type=int, default=0, metavar="N", help="also ingest N generated documents"
    )
    given = parser.parse_args()
    # One address asks for all users here: the limit of rate is not what is measured.
    with serving(CITEGRAPH_RATE_LIMIT="1000000/second") as (base, pid):
        print(json.dumps(asyncio.run(measure(base, pid, given)), indent=2))


if __name__ == "__main__":
    main()
