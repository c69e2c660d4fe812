"""Loads a server of its own on loopback: many users at once, and optionally an ingest of generated documents meanwhile."""

import argparse
import asyncio
import json
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

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


async def use(client: httpx.AsyncClient, asked: list[str], until: float, seed: int) -> Load:
    """Ask one question after the other until a time (monotonic)."""
    load, choose = Load(), random.Random(seed)
    while time.monotonic() < until:
        began = time.monotonic()
        try:
            answer = await client.post("/ask", json={"question": choose.choice(asked)})
            failed = answer.status_code != 200 or answer.json()["status"] == "failed"
            if failed:
                load.errors.append(f"HTTP {answer.status_code}: {answer.text[:200]}")
        except httpx.HTTPError as error:
            load.errors.append(type(error).__name__)
        load.seconds.append(time.monotonic() - began)
    return load


async def users(client: httpx.AsyncClient, asked: list[str], count: int, seconds: float) -> Load:
    """Return what so many users met together."""
    until = time.monotonic() + seconds
    parts = await asyncio.gather(*(use(client, asked, until, seed) for seed in range(count)))
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


async def ingesting(client: httpx.AsyncClient, asked: list[str], count: int, load: int) -> tuple[Load, float]:
    """Return what the users met while an upload was ingested, and the seconds that it took."""
    began, met = time.monotonic(), Load()
    file = {"file": ("load.jsonl", documents(count), "application/jsonl")}
    upload = asyncio.create_task(
        client.post("/documents", data={"bucket": "generic"}, files=file, timeout=7200)
    )
    while not upload.done():
        part = await users(client, asked, load, 1.0)
        met.seconds += part.seconds
        met.errors += part.errors
    if (await upload).status_code != 201:
        met.errors.append(f"upload: {(await upload).text[:200]}")
    return met, time.monotonic() - began


def memory(pid: int) -> float:
    """Return the resident megabytes of a process and its children; 0 where there is no /proc."""
    total = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text("utf-8")
        except OSError:
            continue
        found = dict(re.findall(r"^(Pid|PPid|VmRSS):\s+(\d+)", text, flags=re.M))
        if str(pid) in (found.get("Pid"), found.get("PPid")):
            total += int(found.get("VmRSS", 0))
    return total / 1000


async def measure(base: str, pid: int, given: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of a running server."""
    asked = questions(given.questions)
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=base, timeout=120, limits=limits) as client:
        await ready(client)
        await users(client, asked, given.users, min(5.0, given.seconds))
        before = memory(pid)
        quiet = await users(client, asked, given.users, given.seconds)
        told: dict[str, Any] = {
            "users": given.users,
            "answers": len(quiet.seconds),
            "per_second": round(len(quiet.seconds) / given.seconds, 1),
            "mean": round(statistics.fmean(quiet.seconds), 3),
            "p50": round(quiet.p(0.5), 3),
            "p95": round(quiet.p(0.95), 3),
            "memory_mb": [round(before), round(memory(pid))],
            "errors": quiet.errors[:5] + ([f"{len(quiet.errors)} in all"] if quiet.errors else []),
        }
        if given.ingest:
            calm = await users(client, asked, 1, given.seconds)
            busy, took = await ingesting(client, asked, given.ingest, 1)
            told["ingest"] = {
                "documents": given.ingest,
                "seconds": round(took, 1),
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


def main() -> None:
    """Start a server on CITEGRAPH_HOME, load it and print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", nargs="+", type=Path, help="question files (JSONL)")
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument(
        "--ingest", type=int, default=0, metavar="N", help="also ingest N generated documents"
    )
    given = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # One address asks for all users here: the limit of rate is not what is measured. `env` becomes the server.
    command = [
        "env",
        "CITEGRAPH_RATE_LIMIT=1000000/second",
        "CITEGRAPH_MAX_RUNS=1000",
        sys.executable,
        "-m",
        "cli.main",
        "serve",
        "--port",
        str(port),
    ]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        print(json.dumps(asyncio.run(measure(f"http://127.0.0.1:{port}", server.pid, given)), indent=2))
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


if __name__ == "__main__":
    main()
