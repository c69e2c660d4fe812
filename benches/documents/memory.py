"""What a server of its own holds in memory on a copy of CITEGRAPH_HOME, and what its questions take, asked one by one.

Its answers can be kept, without what differs from run to run, so that two versions of the code can be compared.
"""

import argparse
import asyncio
import json
import os
import platform
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import psutil

from benches.load import Load, questions, ready, serving
from benches.processes import usage

AFTER = (10, 50, 100)
"""Questions after which memory is looked at."""
REST = 5.0
"""Seconds without a question after which memory is looked at once more."""
LARGEST = 12
"""Mappings that are named of each process."""
PASSING = frozenset({"interrupt_id", "run_id", "thread_id", "usage"})
"""Keys of an answer whose values differ from run to run."""


def memory(pid: int) -> dict[str, dict[str, int]]:
    """Return the MB (of a million bytes) that a process and each one below it holds, and all of them together.

    `rss` is `anonymous` and `of_files`; of the latter the system may take back what is `clean` without writing it.
    """
    told = {f"{one.name()}-{one.pid}": _held(one.memory_maps(grouped=True)) for one in _processes(pid)}
    return {**told, "all": {key: sum(one[key] for one in told.values()) for key in next(iter(told.values()))}}


def _held(maps: Sequence[Any]) -> dict[str, int]:
    rss, pss, anonymous = (sum(getattr(one, name) for one in maps) for name in ("rss", "pss", "anonymous"))
    clean = sum(one.shared_clean + one.private_clean for one in maps)
    held = {"rss": rss, "pss": pss, "anonymous": anonymous, "of_files": rss - anonymous, "clean": clean}
    return {name: round(amount / 1e6) for name, amount in held.items()}


def mappings(maps: Sequence[Any]) -> dict[str, float]:
    """Return the resident MB of a process's largest mappings by name, those of the index together."""
    held: Counter[str] = Counter()
    for one in maps:
        held["index" if "/index/" in one.path else Path(one.path).name] += one.rss
    return {name: round(amount / 1e6, 1) for name, amount in held.most_common(LARGEST)}


def _processes(pid: int) -> list[psutil.Process]:
    top = psutil.Process(pid)
    return [top, *top.children(recursive=True)]


def lasting(value: Any) -> Any:
    """Return an answer without what differs from run to run."""
    if isinstance(value, Mapping):
        return {key: lasting(one) for key, one in value.items() if key not in PASSING}
    return [lasting(one) for one in value] if isinstance(value, list) else value


def measure(base: str, pid: int, asked: Sequence[str], answers: Path | None) -> dict[str, Any]:
    """Return memory at the start and after some questions, and the seconds and CPU that these took."""
    told: dict[str, Any] = {}
    kept: list[Any] = []
    load = Load()
    with httpx.Client(base_url=base, timeout=120) as client:
        told["start"] = memory(pid)
        before = usage(pid).cpu
        for number, question in enumerate(asked, 1):
            began = time.perf_counter()
            reply = client.post("/ask", json={"question": question})
            load.seconds.append(time.perf_counter() - began)
            kept.append({"question": question, "status": reply.status_code, "answer": lasting(reply.json())})
            if number in AFTER or number == len(asked):
                told[str(number)] = memory(pid)
        spent = usage(pid).cpu - before
        time.sleep(REST)
        told["at rest"] = memory(pid)
    told["largest"] = {
        f"{one.name()}-{one.pid}": mappings(one.memory_maps(grouped=True)) for one in _processes(pid)
    }
    told["p50"], told["p95"] = round(load.p(0.5), 3), round(load.p(0.95), 3)
    told["cpu_seconds_a_question"] = round(spent / len(asked), 3)
    if answers:
        answers.write_text("".join(f"{json.dumps(one, sort_keys=True)}\n" for one in kept), "utf-8")
    return told


async def started(base: str) -> None:
    """Wait until a server answers."""
    async with httpx.AsyncClient(base_url=base) as client:
        await ready(client)


def main() -> None:
    """Serve a copy of CITEGRAPH_HOME, ask it questions and print what it holds as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", nargs="+", type=Path, help="question files (JSONL)")
    parser.add_argument("--most", type=int, default=100, help="questions that are asked")
    parser.add_argument("--answers", type=Path, help="file to write the answers to, a line each")
    given = parser.parse_args()
    asked = questions(given.questions)[: given.most]
    with tempfile.TemporaryDirectory() as place:
        home = Path(place) / "home"
        # The index has gigabytes of holes, which Python would fill.
        subprocess.run(["cp", "-r", os.environ.get("CITEGRAPH_HOME", ".citegraph"), home], check=True)
        with serving(CITEGRAPH_HOME=str(home), CITEGRAPH_RATE_LIMIT="1000000/second") as (base, pid):
            asyncio.run(started(base))
            told = measure(base, pid, asked, given.answers)
    machine = f"{os.cpu_count()} x {platform.machine()}, {platform.system()} {platform.release()}"
    print(json.dumps({"machine": machine, "date": date.today().isoformat(), **told}, indent=2))


if __name__ == "__main__":
    main()
