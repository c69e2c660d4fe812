"""The fault matrix: every model step suffers every fault in a whole run, and each cell says what came of it."""

import argparse
import asyncio
import itertools
import json
import logging
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from pydantic import SecretStr

from benches.bench import fill
from benches.steady import ENOUGH, ONE_HOP, Example, decomposition, planned
from citegraph.llm.call_options import STEPS
from citegraph.llm.chat import ChatModels
from citegraph.run.answer_types import Answer
from citegraph.run.budgets import loop_limit, recursion_limit
from citegraph.run.context import Context
from citegraph.run.services import Services
from citegraph.settings import Settings
from graph.build import build
from graph.loop import build_loop
from tests.citegraph.llm.endpoint import KEY
from tests.faults.proxy import FAULTS, NONE, Fault, FaultProxy, Upstream
from tests.scripted_judge import all_supported

FAULTED_TIMEOUT = 0.3
"""Seconds that the faulted step waits for its model."""
HEALTHY_TIMEOUT = 20.0
DEADLINE = 10.0
AT_ONCE = 3
"""Cells that run at the same time: enough to wait together, few enough to leave the healthy steps their time."""
COLUMNS = 5
"""Steps beside each other in the table: it fits 120 characters."""
OUT_OF_TIME = "out of time"
FELL_BACK = frozenset({"fallback", OUT_OF_TIME, "failed", "not reranked"})
"""Kinds of the notes that say that a step did not work as asked."""
WRITERS = frozenset({"compose", "agent"})
"""Steps that write an answer: a judge is asked about what a model wrote, not about what the twin wrote in its place."""
FORBIDDEN = (KEY, "Traceback", "unexpected ", "model.py")


@dataclass(frozen=True)
class Scenario:
    """A conversation in which `step` is asked; `notes` are the steps under which its failure is noted."""

    step: str
    example: Example
    earlier: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    graph: str = "agent"
    without: tuple[str, ...] = ()
    """Steps that have no model in this scenario: what they would settle is asked of `step`."""
    empty_handed: frozenset[str] = frozenset()
    """Faults that spend the run's tool calls: it may end without the fact, when a note says why."""
    title: str = ""
    """Its column in the table, the step's name by default."""
    one_call: bool = False
    """The run may ask a model once: a call that failed is not made again."""

    @property
    def noted(self) -> tuple[str, ...]:
        """Return the steps that a note on the failure may name."""
        return self.notes or (self.step,)

    @property
    def name(self) -> str:
        """Return the name of its column."""
        return self.title or self.step


VAGUE = "A ceiling for collector-emitter voltage with open base appears among tabulated ratings of this part [nv2n517]."


def changed(example: Example, **replies: Any) -> Example:
    """Return the example with other replies of some steps."""
    return replace(example, replies={**example.replies, **replies})


def compose_with_vague(prompt: str) -> str:
    """Return the right answer and a claim that words leave undecided, so that the judge is asked."""
    return f"{ONE_HOP.reply('compose', prompt)} {VAGUE}"


VCEO_WORDS = "limit of the voltage between collector and emitter of the NV2N517"


def vague_turn(prompt: str) -> dict[str, Any]:
    """Return the agent's turn, whose answer has a claim that words leave undecided too."""
    return agent_turn(prompt, compose_with_vague(prompt))


def agent_turn(prompt: str, answer: str = "") -> dict[str, Any]:
    """Return the agent's search, and its answer once the value stands in the prompt."""
    if "45 V" in prompt:
        made = ("done", {"answer": answer or ONE_HOP.reply("compose", prompt)})
    else:
        made = ("search_text", {"bucket": "datasheets", "query": "NV2N517 collector-emitter voltage VCEO"})
    name, arguments = made
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"content": None, "tool_calls": [{"id": "t1", "type": "function", "function": function}]}


TWO_BUCKETS = Example(
    name="two buckets",
    question="What deviation did thermometer RT-0412 show at 0 °C in its calibration?",
    bound=5,
    holds=("0.018 K",),
    documents=frozenset({"calibration-dm-24-1187"}),
    replies={
        "decompose": decomposition("qa", []),
        "route": {"routes": [{"bucket": "certificates", "score": 1.0, "reason": "a calibration"}]},
        "schema_plan": planned("certificates"),
        "review": ENOUGH,
        "compose": "Thermometer RT-0412 deviates by +0.018 K [calibration-dm-24-1187].",
        "verify": all_supported,
    },
)
"""The words of the question stand in invoices too, so that the rules leave the router a choice."""


def all_alike(prompt: str) -> dict[str, Any]:
    """Return the same score for every passage that is shown: the order of the search stands."""
    return {"scores": [{"number": number, "score": 5} for number in shown_numbers(prompt)]}


def as_found(prompt: str) -> dict[str, Any]:
    """Return the numbers of the passages in the order in which they are shown."""
    return {"order": shown_numbers(prompt)}


def shown_numbers(prompt: str) -> list[int]:
    """Return the numbers of the passages that a reranker is shown."""
    return [int(number) for number in re.findall(r"^\[(\d+)\] ", prompt, re.MULTILINE)]


UNNAMED = decomposition("qa", ["datasheets"], topic_terms=["collector-emitter voltage"])
"""A question in which no document is named: its passages are reviewed."""
SCENARIOS = (
    Scenario("decompose", ONE_HOP),
    Scenario(
        "rewrite",
        changed(ONE_HOP, rewrite={"question": ONE_HOP.question}),
        earlier=(ONE_HOP.question,),
        without=("decompose",),
    ),
    Scenario("route", TWO_BUCKETS, without=("decompose", "schema_plan")),
    Scenario("schema_plan", ONE_HOP, without=("decompose",)),
    Scenario("review", changed(ONE_HOP, decompose=UNNAMED)),
    Scenario("compose", ONE_HOP),
    Scenario("verify", changed(ONE_HOP, compose=compose_with_vague)),
    Scenario(
        "rerank",
        changed(TWO_BUCKETS, rerank=all_alike),
        context={"rerank": "scores"},
        title="rerank, scores",
    ),
    Scenario(
        "rerank", changed(TWO_BUCKETS, rerank=as_found), context={"rerank": "order"}, title="rerank, order"
    ),
    Scenario("compose", ONE_HOP, context={"mode": "single"}, title="single: compose", one_call=True),
    Scenario("expand", changed(ONE_HOP, expand={"wordings": [VCEO_WORDS]}), context={"expand": "always"}),
    Scenario(
        "agent",
        changed(ONE_HOP, agent=agent_turn),
        graph="tool_loop",
        notes=("agent", "compose"),
        empty_handed=frozenset({"unknown tool"}),
    ),
    Scenario("verify", changed(ONE_HOP, agent=vague_turn), graph="tool_loop", title="loop: verify"),
    Scenario("compose", ONE_HOP, graph="tool_loop", without=("agent",), title="loop: compose"),
    Scenario(
        "compose",
        ONE_HOP,
        graph="tool_loop",
        context={"mode": "single"},
        title="loop, single",
        one_call=True,
    ),
)


@dataclass(frozen=True)
class Cell:
    """What came of one fault at one step: `outcome` in a word, `problems` empty when all is as it must be."""

    step: str
    fault: str
    outcome: str
    status: str
    seconds: float
    asked: int
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


LINES: ContextVar[list[str] | None] = ContextVar("LINES", default=None)
"""The log lines of the run that this task belongs to."""


class LogTrap(logging.Handler):
    """Keeps everything that is logged in a run, with the stack traces that a formatter would print."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record with those of its run."""
        lines = LINES.get()
        if lines is not None:
            lines.append(self.format(record))


class Matrix:
    """Runs cells over an open corpus: one upstream that answers right, one proxy that spoils."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.upstream = Upstream()
        self.proxy = FaultProxy(self.upstream.template)
        self._numbers = itertools.count()
        self._trap = LogTrap()
        self._level = logging.getLogger().level
        logging.getLogger().addHandler(self._trap)
        logging.getLogger().setLevel(logging.INFO)

    def close(self) -> None:
        """Stop both servers and listen to the logs no more."""
        logging.getLogger().setLevel(self._level)
        logging.getLogger().removeHandler(self._trap)
        self.proxy.close()
        self.upstream.close()

    async def row(self, scenario: Scenario, faults: Sequence[str] = tuple(FAULTS)) -> list[Cell]:
        """Return the cells of one scenario, a few at a time, each held against the same run without a fault."""
        healthy = await self.ask(scenario, NONE)
        turns = asyncio.Semaphore(AT_ONCE)

        async def cell(fault: str) -> Cell:
            async with turns:
                return judged(scenario, FAULTS[fault], healthy, await self.ask(scenario, fault))

        return list(await asyncio.gather(*(cell(fault) for fault in faults)))

    async def ask(self, scenario: Scenario, fault: str) -> "Run":
        """Run the scenario's conversation with its step spoiled, without the guards of a `Session`."""
        name = f"cell{next(self._numbers)}"
        self.upstream.answers[name] = scenario.example.reply
        slow = fault != NONE and FAULTS[fault].slow
        models = self.models(scenario, self.proxy.base_url(scenario.step, fault, name), slow=slow)
        quick = Services(settings=models.settings, ready=self.services.open(), models=models)
        made, limit = (build, recursion_limit) if scenario.graph == "agent" else (build_loop, loop_limit)
        graph = made(quick).compile(checkpointer=InMemorySaver())
        context = Context(**{"max_seconds": DEADLINE, **scenario.context})
        config: Any = {"recursion_limit": limit(context), "configurable": {"thread_id": name}}
        result: dict[str, Any] = {}
        with trapped() as logs:
            for question in (*scenario.earlier, scenario.example.question):
                started = time.perf_counter()
                try:
                    result = await graph.ainvoke({"query": question}, config, context=context)
                except Exception as error:
                    logs.append(f"the run raised {type(error).__name__}: {error}")
                    result = {}
                seconds = time.perf_counter() - started
        await models.aclose()
        answer = Answer(**result["answer"]) if result.get("answer") else None
        asked = Counter({scenario.step: self.proxy.spoiled[name]}) + self.proxy.passed[name]
        return Run(answer, seconds, self.proxy.spoiled[name], asked, tuple(logs))

    def models(self, scenario: Scenario, base_url: str, *, slow: bool) -> ChatModels:
        """Return the real client's models: each step's model bears its name, a slow one has little time."""
        named = {
            name: {"model": name, "timeout": HEALTHY_TIMEOUT}
            for name in STEPS
            if name not in scenario.without
        }
        if slow:
            # A single call must have arrived before it is given up, on a busy machine too.
            named[scenario.step]["timeout"] = 1.0 if scenario.one_call else FAULTED_TIMEOUT
        update = {
            "openai_base_url": base_url,
            "openai_api_key": SecretStr(KEY),
            "model": None,
            "step_models": named,
        }
        return ChatModels(self.services.settings.model_copy(update=update))


@contextmanager
def trapped() -> Iterator[list[str]]:
    """Collect what this task logs inside the block, from INFO up: below that the HTTP client prints its wire."""
    lines: list[str] = []
    mine = LINES.set(lines)
    try:
        yield lines
    finally:
        LINES.reset(mine)


@dataclass(frozen=True)
class Run:
    """One conversation: its last answer, the seconds of its last turn, calls spoiled, calls by step, logs."""

    answer: Answer | None
    seconds: float
    spoiled: int
    asked: Counter[str]
    logs: tuple[str, ...]


def judged(scenario: Scenario, fault: Fault, healthy: Run, run: Run) -> Cell:
    """Return the cell of a run: its outcome, and everything about it that is not as it must be."""
    answer = run.answer
    if answer is None:
        return Cell(scenario.name, fault.name, "no answer", "", run.seconds, run.spoiled, run.logs[-1:])
    noted = [note for note in answer.notes if note.step in scenario.noted and note.kind in FELL_BACK]
    same = healthy.answer is not None and answer.text == healthy.answer.text
    outcome = "twin" if noted else "recovered" if same else "cut"
    if fault.name in scenario.empty_handed and any(note.kind == "partial" for note in answer.notes):
        outcome = "spent"
    if run.seconds > DEADLINE / 2 and out_of_time(answer):
        # The machine was too busy: the run ended in its time, said so, and stated nothing that was not checked.
        early = [] if run.seconds < DEADLINE else [f"took {run.seconds:.1f} s of {DEADLINE:.0f}"]
        problems = (*early, *leaks(answer, run.logs))
        return Cell(scenario.name, fault.name, "late", answer.status, run.seconds, run.spoiled, problems)
    problems = [
        *wrong_answer(scenario, outcome, answer),
        *([] if run.spoiled else ["the step was never asked"]),
        *([] if run.seconds < DEADLINE else [f"took {run.seconds:.1f} s of {DEADLINE:.0f}"]),
        *leaks(answer, run.logs),
    ]
    if fault.once and outcome != "recovered" and not scenario.one_call:
        problems.append("one failed call was not made good by asking again")
    if scenario.one_call and run.spoiled > 1:
        problems.append(f"asked {run.spoiled} times where one call is allowed")
    others = {note.step for note in answer.notes if note.kind in FELL_BACK} - set(scenario.noted)
    if others:
        problems.append(f"other steps fell back too: {', '.join(sorted(others))}")
    if answer.usage.llm_calls > Context().max_llm_calls:
        problems.append(f"{answer.usage.llm_calls} model calls")
    lost = set(healthy.asked) - set(run.asked)
    if scenario.step in WRITERS and outcome in {"twin", "spent"}:
        lost -= {"verify"}
    if lost:
        problems.append(f"steps that were not asked any more: {', '.join(sorted(lost))}")
    shown = tuple(f"{note.step}: {note.kind}: {note.message}" for note in answer.notes)
    return Cell(
        scenario.name, fault.name, outcome, answer.status, run.seconds, run.spoiled, tuple(problems), shown
    )


def out_of_time(answer: Answer) -> bool:
    """Tell whether an answer says that its run was broken off at the end of its seconds."""
    return (
        answer.status == "partial"
        and not answer.claims
        and OUT_OF_TIME in {note.kind for note in answer.notes}
    )


def wrong_answer(scenario: Scenario, outcome: str, answer: Answer) -> list[str]:
    """Return what is wrong with an answer that should state the fact, whichever step was saved by its twin."""
    example = scenario.example
    if outcome == "spent":
        return [] if answer.status in {"partial", "unanswerable"} else [f"status {answer.status}"]
    problems = []
    if answer.status != "answered":
        problems.append(f"status {answer.status}")
    problems += [f"the answer lacks {text!r}" for text in example.holds if text not in answer.text]
    cited = {citation.doc_id for citation in answer.citations}
    problems += [f"{doc_id} is not cited" for doc_id in sorted(example.documents - cited)]
    problems += [
        f"a claim is {c.verdict}" for c in answer.claims if c.verdict not in {"supported", "derived"}
    ]
    if outcome == "cut":
        problems.append("the answer differs and no note says that the step fell back")
    return problems


def leaks(answer: Answer, logs: Sequence[str]) -> list[str]:
    """Return where the key, a stack trace or an unexpected error shows."""
    written = answer.model_dump_json()
    found = [f"the answer holds {word!r}" for word in FORBIDDEN if word in written]
    found += [
        f"a log line holds {word!r}: {line[:200]}" for line in logs for word in FORBIDDEN if word in line
    ]
    return list(dict.fromkeys(found))


def table(cells: Sequence[Cell]) -> str:
    """Return the matrix for people: a row a fault, a column a step, outcome and seconds in each cell; a few columns
    beneath each other.
    """
    steps = list(dict.fromkeys(cell.step for cell in cells))
    width = max(map(len, FAULTS)) + 2
    lines: list[str] = []
    for begin in range(0, len(steps), COLUMNS):
        some = steps[begin : begin + COLUMNS]
        lines += ["", " " * width + "".join(f"{step:>18}" for step in some)]
        for fault in dict.fromkeys(cell.fault for cell in cells):
            row = {cell.step: cell for cell in cells if cell.fault == fault}
            lines.append(f"{fault:<{width}}" + "".join(f"{printed(row.get(step)):>18}" for step in some))
    bad = [cell for cell in cells if cell.problems]
    late = sum(cell.outcome == "late" for cell in cells)
    lines += [
        "",
        f"{len(cells)} cells, {len(cells) - len(bad)} as they must be, {late} of them at the end of their time",
    ]
    lines += [f"{c.step} x {c.fault}: {'; '.join(c.problems)} ({'; '.join(c.notes)})" for c in bad]
    return "\n".join(lines)


def printed(cell: Cell | None) -> str:
    """Return a cell in a few characters, "-" for a fault that was not tried."""
    return "-" if cell is None else f"{cell.outcome} {cell.seconds:.2f} s{' !' if cell.problems else ''}"


async def whole(home: Path, steps: Sequence[str]) -> list[Cell]:
    """Return all cells over a fresh copy of the sample corpus in `home`."""
    services = Services(settings=Settings(home=home))
    await fill(services.open())
    matrix = Matrix(services)
    try:
        chosen = [
            scenario for scenario in SCENARIOS if not steps or {scenario.step, scenario.name} & set(steps)
        ]
        return [cell for scenario in chosen for cell in await matrix.row(scenario)]
    finally:
        matrix.close()
        await services.close()


def main() -> None:
    """Run the matrix, print it, and fail when a cell is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("steps", nargs="*", help="only these steps")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cells = asyncio.run(whole(Path(folder), given.steps))
    print(table(cells))
    sys.exit(any(cell.problems for cell in cells))


if __name__ == "__main__":
    main()
