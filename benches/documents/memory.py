"""What a server of its own holds in memory on a copy of CITEGRAPH_HOME, and what its questions take, asked one by one.

Its answers can be kept, without what differs from run to run, so that two versions of the code can be compared.
"""

import argparse
import asyncio
import json
import os
import platform
import re
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
_MAPPING = re.compile(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+\s*(.*)")


def megabytes(rollup: str) -> dict[str, int]:
    """Return what `smaps_rollup` of a process says, in MB of a million bytes.

    `rss` is `anonymous` and `of_files`; of the latter the system may take back what is `clean` without writing it.
    """
    kilobytes = {name: int(amount) for name, amount in re.findall(r"^(\w+):\s+(\d+) kB$", rollup, re.M)}
    told = {
        "rss": kilobytes["Rss"],
        "pss": kilobytes["Pss"],
        "anonymous": kilobytes["Anonymous"],
        "of_files": kilobytes["Rss"] - kilobytes["Anonymous"],
        "clean": kilobytes["Shared_Clean"] + kilobytes["Private_Clean"],
    }
    return {name: round(amount * 1024 / 1e6) for name, amount in told.items()}


def mappings(smaps: str) -> dict[str, float]:
    """Return the resident MB of the largest mappings by name, those of one file or folder of the index together."""
    held: Counter[str] = Counter()
    name = ""
    for line in smaps.splitlines():
        if found := _MAPPING.fullmatch(line):
            place = found[1] or "anonymous"
            name = "index" if "/index/" in place else Path(place).name
        elif line.startswith("Rss:"):
            held[name] += int(line.split()[1])
    return {name: round(amount * 1024 / 1e6, 1) for name, amount in held.most_common(LARGEST)}


def memory(pid: int) -> dict[str, dict[str, int]]:
    """Return what a process and each one below it holds, by what it is, and all of them together."""
    told = {f"{one.name()}-{one.pid}": megabytes(_of(one, "smaps_rollup")) for one in _processes(pid)}
    return {
        **told,
        "all": {
            key: sum(one[key] for one in told.values())
            for key in ("rss", "pss", "anonymous", "of_files", "clean")
        },
    }


def _processes(pid: int) -> list[psutil.Process]:
    top = psutil.Process(pid)
    return [top, *top.children(recursive=True)]


def _of(process: psutil.Process, name: str) -> str:
    return Path(f"/proc/{process.pid}/{name}").read_text("utf-8")


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
    told["largest"] = {f"{one.name()}-{one.pid}": mappings(_of(one, "smaps")) for one in _processes(pid)}
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
