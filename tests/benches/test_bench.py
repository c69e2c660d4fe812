"""The benchmark runs, and compares like with like; its times are nobody's assertion."""

import asyncio
from pathlib import Path

import pytest

from benches.bench import overhead, percentiles, report
from citegraph.run.services import Services
from citegraph.settings import Settings


@pytest.mark.slow
async def test_the_plain_loop_answers_as_the_graph_does(sample_home: Path) -> None:
    services = Services(settings=Settings(home=sample_home))
    try:
        measured = await overhead(services, times=2)
    finally:
        await services.close()
    assert set(measured["rows"]) == {"loop", "graph", "graph_with_checkpoints"}
    assert set(measured["ratio"]) == {"graph", "graph_with_checkpoints"}
    assert measured["llm_calls"] == 4, "the scripted model plans, reviews, writes and judges"
    twins = {"questions": 1, "p50_ms": 1.0, "p95_ms": 1.0}
    whole = {"machine": "m", "date": "d", "times": 2, "overhead": measured, "twins": twins, "worked": []}
    assert await asyncio.to_thread(report, whole)


def test_percentiles_of_known_times() -> None:
    assert percentiles([float(number) for number in range(1, 102)]) == {"p50_ms": 51.0, "p95_ms": 96.0}
