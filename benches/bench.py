"""What questions over the sample cost: the time of the twins, and the calls of worked examples (make bench)."""

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from statistics import quantiles
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from benches.worked import WORKED, cost, counts, table
from citegraph.run.services import Corpus, Services
from citegraph.settings import Settings
from graph.session import Session

SAMPLE = Path(__file__).parents[1] / "buckets" / "sample"


def percentiles(taken: Sequence[float]) -> dict[str, float]:
    """Return p50 and p95 of some milliseconds."""
    cuts = quantiles(taken, n=100, method="inclusive")
    return {"p50_ms": round(cuts[49], 3), "p95_ms": round(cuts[94], 3)}


async def twins(services: Services) -> dict[str, Any]:
    """Return the time of each question of the sample answered by the twins over the real index."""
    lines = (SAMPLE / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["turns"][0] for line in lines]
    session = Session(services, InMemorySaver())
    await session.ask(questions[0])
    taken = []
    for question in questions:
        started = time.perf_counter()
        await session.ask(question)
        taken.append((time.perf_counter() - started) * 1000)
    return {"questions": len(taken), **percentiles(taken)}


async def bench(home: Path) -> dict[str, Any]:
    """Return all measurements over a fresh copy of the sample corpus in `home`."""
    services = Services(settings=Settings(home=home))
    await fill(services.open())
    try:
        return {
            "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
            "date": date.today().isoformat(),
            "twins": await twins(services),
            "worked": [await cost(services, worked) for worked in WORKED],
        }
    finally:
        await services.close()


async def fill(corpus: Corpus) -> None:
    """Ingest the sample corpus."""
    from citegraph.corpus.ingestion.pipeline import ingest

    for name, bucket in corpus.buckets.items():
        folder = SAMPLE / name
        await ingest([folder], bucket, stores=corpus.stores, annotations=sorted(folder.glob("annotations.*")))


def report(measured: dict[str, Any]) -> str:
    """Return the measurements as a table for people."""
    row = measured["twins"]
    return (
        f"{measured['machine']}, {measured['date']}\n\n"
        f"twins over the sample, {row['questions']} questions: p50 {row['p50_ms']:.1f} ms, p95 {row['p95_ms']:.1f} ms\n\n"
        f"{table(measured['worked'])}"
    )


def main() -> None:
    """Measure and print, as a table or as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = asyncio.run(bench(Path(folder)))
    print(json.dumps(result, default=counts) if given.json else report(result))
    if any(item.problems for item in result["worked"]):
        sys.exit("A worked example took more calls than it may, or answered wrongly.")


if __name__ == "__main__":
    main()
