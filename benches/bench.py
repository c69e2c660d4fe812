"""The graph's own time: a question through the graph against the same nodes called in a plain loop (make bench)."""

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from statistics import quantiles
from typing import Any, cast

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from benches.steady import ONE_HOP
from benches.worked import WORKED, cost, counts, table
from citegraph.corpus.index.index_protocol import Forwarded, Index
from citegraph.llm.scripted import scripted
from citegraph.run.budgets import recursion_limit
from citegraph.run.context import Context
from citegraph.run.services import Corpus, Services
from citegraph.run.state import Json, State, add_usage, collect
from citegraph.settings import Settings
from graph.build import build
from graph.edges import after_decompose, after_gate, after_review, after_verify, search_tasks
from nodes.compose import Compose
from nodes.decompose import Decompose
from nodes.gate import Gate
from nodes.prune import Prune
from nodes.review import Review
from nodes.rewrite import Rewrite
from nodes.route import Route
from nodes.schema_plan import SchemaPlan
from nodes.search import Search
from nodes.verify_citations import VerifyCitations

QUESTION = ONE_HOP.question
SAMPLE = Path(__file__).parents[1] / "buckets" / "sample"


class MemoryIndex(Forwarded):
    """The real index, whose answers are kept in memory: after the first time a search costs nothing."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.kept: dict[str, Any] = {}

    async def forward(self, method: str, *given: Any) -> Any:
        """Return what came back the first time."""
        key = repr((method, given))
        if key not in self.kept:
            self.kept[key] = await getattr(self.index, method)(*given)
        return self.kept[key]


def replies(step: str, messages: list[BaseMessage]) -> Any:
    """Return what the scripted model says at once: the right reply of each step, whose answer is verified."""
    return ONE_HOP.reply(step, str(messages[-1].content))


class PlainLoop:
    """The same nodes on the same state without LangGraph: what the graph's time is compared with."""

    def __init__(self, services: Services, context: Context) -> None:
        self.runtime: Runtime[Context] = Runtime(context=context, stream_writer=lambda part: None)
        kinds = (Gate, Rewrite, Decompose, Route, SchemaPlan, Search, Prune, Review, Compose, VerifyCitations)
        self.nodes = {kind.__name__: kind(services) for kind in kinds}

    async def run(self, question: str) -> State:
        """Return the state at the end of one question that asks nothing back."""
        state: Any = {"query": question}
        await self.step(state, "Gate")
        if after_gate(state) == "retrieve":
            for name in ("Rewrite", "Decompose"):
                await self.step(state, name)
            if after_decompose(state) == "retrieve":
                for name in ("Route", "SchemaPlan"):
                    await self.step(state, name)
                await self.rounds(state)
        while True:
            await self.step(state, "Compose")
            await self.step(state, "VerifyCitations")
            if after_verify(state) == "done":
                return cast(State, state)

    async def rounds(self, state: Any) -> None:
        """Search, prune and review until the review has enough."""
        while True:
            tasks = search_tasks(state)
            found = await asyncio.gather(*(self.nodes["Search"](task.arg, self.runtime) for task in tasks))
            for update in found:
                merge(state, update)
            await self.step(state, "Prune")
            await self.step(state, "Review")
            if after_review(state) != "more":
                return

    async def step(self, state: Any, name: str) -> None:
        """Run one node and put its update into the state."""
        merge(state, await self.nodes[name](state, self.runtime))


def merge(state: Any, update: Mapping[str, Any]) -> None:
    """Put a node's update into the state as the channels do."""
    for key, value in update.items():
        if isinstance(value, Overwrite):
            state[key] = value.value
        elif key in {"found", "notes"}:
            state[key] = collect(state.get(key, []), value)
        elif key == "usage":
            state[key] = add_usage(state.get(key, {}), value)
        elif key == "messages":
            state[key] = [*state.get(key, []), *value]
        else:
            state[key] = value


async def measured(runs: dict[str, Callable[[], Awaitable[Any]]], times: int) -> dict[str, list[float]]:
    """Return the milliseconds of each run, taken in turns so that a busy machine slows all alike; five warm up."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(times + 5):
        for name, run in runs.items():
            started = time.perf_counter()
            await run()
            if turn >= 5:
                taken[name].append((time.perf_counter() - started) * 1000)
    return taken


def percentiles(taken: Sequence[float]) -> dict[str, float]:
    """Return p50 and p95 of some milliseconds."""
    cuts = quantiles(taken, n=100, method="inclusive")
    return {"p50_ms": round(cuts[49], 3), "p95_ms": round(cuts[94], 3)}


async def overhead(services: Services, times: int) -> dict[str, Any]:
    """Return the time of one question by plain loop, graph, and graph with checkpoints, and the ratios of p50."""
    opened = services.open()
    corpus = replace(opened, index=MemoryIndex(opened.index))
    models, _ = scripted(replies, services.settings)
    quick = Services(settings=services.settings, ready=corpus, models=models)
    context = Context(today=date.today().isoformat())
    loop = PlainLoop(quick, context)
    bare = build(quick).compile()
    kept = build(quick).compile(checkpointer=InMemorySaver())
    number = iter(range(10**9))

    async def once(graph: Any, **chosen: Any) -> Any:
        config = {
            "recursion_limit": recursion_limit(context),
            "configurable": {"thread_id": str(next(number))},
        }
        return await graph.ainvoke({"query": QUESTION}, config, context=context, **chosen)

    state, result = await loop.run(QUESTION), await once(bare)
    if without_times(state["answer"]) != without_times(result["answer"]):
        raise AssertionError("the loop and the graph answer differently: the comparison would be void")
    runs: dict[str, Callable[[], Awaitable[Any]]] = {
        "loop": lambda: loop.run(QUESTION),
        "graph": lambda: once(bare),
        "graph_with_checkpoints": lambda: once(kept, durability="exit"),
    }
    rows = {name: percentiles(taken) for name, taken in (await measured(runs, times)).items()}
    base = rows["loop"]["p50_ms"]
    ratios = {name: round(row["p50_ms"] / base, 2) for name, row in rows.items() if name != "loop"}
    return {"rows": rows, "ratio": ratios, "llm_calls": result["answer"]["usage"]["llm_calls"]}


def without_times(answer: Json) -> Json:
    """Return an answer without its seconds."""
    usage = {key: value for key, value in answer["usage"].items() if key not in {"seconds", "steps"}}
    return answer | {"usage": usage}


async def twins(services: Services) -> dict[str, Any]:
    """Return the time of each question of the sample answered by the twins over the real index."""
    from graph.session import Session

    lines = (SAMPLE / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["turns"][0] for line in lines]
    session = Session(services, InMemorySaver())
    await session.ask(questions[0])
    taken = []
    for question in questions:
        started = time.perf_counter()
        await session.ask(question)
        taken.append((time.perf_counter() - started) * 1000)
    return percentiles(taken) | {
        "questions": len(taken),
        "seconds_per_question": round(sum(taken) / len(taken) / 1000, 4),
    }


async def bench(home: Path, times: int) -> dict[str, Any]:
    """Return all measurements over a fresh copy of the sample corpus in `home`."""
    services = Services(settings=Settings(home=home))
    await fill(services.open())
    try:
        return {
            "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
            "date": date.today().isoformat(),
            "times": times,
            "overhead": await overhead(services, times),
            "twins": await twins(services),
            "worked": [await cost(services, worked) for worked in WORKED],
        }
    finally:
        await services.close()


async def fill(corpus: Corpus) -> None:
    """Ingest the sample corpus."""
    from citegraph.corpus.ingestion.ingest_options import Stores
    from citegraph.corpus.ingestion.pipeline import ingest

    stores = Stores(corpus.documents, corpus.annotations, corpus.index)
    for name, bucket in corpus.buckets.items():
        folder = SAMPLE / name
        await ingest([folder], bucket, stores=stores, annotations=sorted(folder.glob("annotations.*")))


def report(measured: dict[str, Any]) -> str:
    """Return the measurements as a table for people."""
    lines = [f"{measured['machine']}, {measured['date']}, {measured['times']} runs each", ""]
    lines.append(f"{'one question, model of no latency':36}{'p50 ms':>9}{'p95 ms':>9}{'ratio':>8}")
    for name, row in measured["overhead"]["rows"].items():
        ratio = measured["overhead"]["ratio"].get(name, 1.0)
        lines.append(f"{name.replace('_', ' '):36}{row['p50_ms']:9.2f}{row['p95_ms']:9.2f}{ratio:8.2f}")
    row = measured["twins"]
    lines += [
        "",
        f"twins over the sample, {row['questions']} questions: p50 {row['p50_ms']:.1f} ms, p95 {row['p95_ms']:.1f} ms",
        "",
        table(measured["worked"]),
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure and print, as a table or as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200, help="runs of each kind")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = asyncio.run(bench(Path(folder), given.times))
    print(json.dumps(result, default=counts) if given.json else report(result))
    if any(item.problems for item in result["worked"]):
        sys.exit("A worked example took more calls than it may, or answered wrongly.")


if __name__ == "__main__":
    main()
