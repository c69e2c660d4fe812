"""Learn how surely an answer without a model is right from the signs of its run (`citegraph.evidence.confidence`).

    python -m training.confidence --rows ROWS.jsonl --first-look STEM ... QUESTIONS.jsonl ...
    python -m training.confidence --rows ROWS.jsonl --first-look STEM ... --out citegraph/evidence/confidence.json

Questions are asked in one process over the home of `CITEGRAPH_HOME`, each row written to ROWS; without any, the rows are
fitted. Batches whose faults nobody has mended are named as first looks: answers to the others are more often right, by a
share that is learned beside the signs and left out of what ships. Every figure is of a batch left out of the fit.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy
from langgraph.checkpoint.memory import InMemorySaver
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import rankdata

from citegraph.evidence import confidence
from citegraph.run.services import Services
from evals.question_files import read_questions
from evals.questions import run_questions
from evals.scoring import is_right
from graph.session import open_session

Row = dict[str, Any]
Numbers = NDArray[numpy.float64]
HELD = 20.0
"""How strongly the weights of the signs, each in its own deviation, are held near nothing."""
SHIPPED = 0.5
"""The confidence below which an answer is doubted, chosen from the curve (docs/measured.md)."""
LEAST = 10
"""Answers with a sign from which it has a weight."""
CURVE = (0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8)


class _Heard(logging.Handler):
    """Keeps the signs of the last answer."""

    signs: dict[str, float] | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the signs of a record."""
        self.signs = getattr(record, "signs", None)


async def asked(paths: Sequence[Path]) -> list[Row]:
    """Return a row for each question of some files, run over the home: its signs, {} where nothing was stated."""
    heard = _Heard()
    confidence.LOG.addHandler(heard)
    confidence.LOG.setLevel(logging.DEBUG)
    services, rows = Services(trusted=True), list[Row]()
    async with open_session(services, InMemorySaver()) as session:
        documents = (await services.corpus()).documents
        for path in paths:
            for question in read_questions([path]):
                heard.signs = None
                (outcome,) = await run_questions([question], session, documents)
                last = outcome.last
                stated = last.status in {"answered", "partial"}
                rows.append(
                    {
                        "batch": path.stem,
                        "id": question.id,
                        "status": last.status,
                        "notes": len(last.notes),
                        "right": is_right(outcome),
                        "signs": (stated and heard.signs) or {},
                    }
                )
    return rows


def fitted(rows: Sequence[Row], first_looks: Iterable[str]) -> tuple[float, dict[str, float]]:
    """Return bias and weights of the signs, as they stand for questions that nobody has mended anything for."""
    met = Counter(name for row in rows for name in row["signs"])
    names = sorted(name for name, times in met.items() if times >= LEAST)
    signs = numpy.array([[row["signs"].get(name, 0.0) for name in names] for row in rows])
    worked = numpy.array([[float(row["batch"] not in set(first_looks))] for row in rows])
    right = numpy.array([float(row["right"]) for row in rows])
    mean, deviation = signs.mean(0), signs.std(0)
    deviation[deviation < 1e-9] = 1.0
    given = numpy.hstack([(signs - mean) / deviation, worked, numpy.ones_like(worked)])
    held = numpy.array([HELD] * len(names) + [0.0, 0.0])

    def loss(weights: Numbers) -> tuple[float, Numbers]:
        said = given @ weights
        wrong = 1 / (1 + numpy.exp(-said)) - right
        cost = numpy.logaddexp(0, said) - right * said
        return float(cost.sum() + (held * weights**2).sum() / 2), given.T @ wrong + held * weights

    best = minimize(
        loss, numpy.zeros(given.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 500}
    ).x
    weights = best[: len(names)] / deviation
    kept = {name: round(float(one), 3) for name, one in zip(names, weights, strict=True)}
    return round(float(best[-1] - weights @ mean), 3), kept


def said_by(bias: float, weights: dict[str, float], rows: Iterable[Row]) -> Numbers:
    """Return the confidence of each row."""
    sums = [bias + sum(weights.get(name, 0.0) * one for name, one in row["signs"].items()) for row in rows]
    return 1 / (1 + numpy.exp(-numpy.array(sums)))


def left_out(rows: Sequence[Row], first_looks: Sequence[str]) -> Numbers:
    """Return the confidence of each row by a fit without its batch; a batch that was worked on is told as a first look is."""
    said = numpy.zeros(len(rows))
    for batch in {row["batch"] for row in rows}:
        mine = [place for place, row in enumerate(rows) if row["batch"] == batch]
        others = [row for row in rows if row["batch"] != batch]
        said[mine] = said_by(*fitted(others, first_looks), [rows[place] for place in mine])
    return said


def area(said: Numbers, right: NDArray[numpy.bool_]) -> float:
    """Return the area under the curve: how often a right answer is surer than a wrong one."""
    many, ranks = int(right.sum()), rankdata(said)
    return float((ranks[right].sum() - many * (many + 1) / 2) / max(1, many * (len(said) - many)))


def report(rows: Sequence[Row], said: Numbers, asked_in_all: int) -> list[str]:
    """Return the lines on some rows: area, what was right of those told alike, and the curve of thresholds."""
    right = numpy.array([bool(row["right"]) for row in rows])
    told = numpy.array([row["status"] != "answered" for row in rows])
    lines = [
        f"{len(rows)} stated of {asked_in_all}, right {right.mean():.3f}, area {area(said, right):.3f}",
        f"  as asked: wrong and answered {(~right & ~told).sum() / asked_in_all:.3f}, right told as partial "
        f"{(right & told).sum() / right.sum():.3f}",
    ]
    for low in numpy.arange(0, 1, 0.1):
        if (some := (said >= low) & (said < low + 0.1)).any():
            lines.append(
                f"  {low:.1f}: {some.sum()}, said {said[some].mean():.2f}, right {right[some].mean():.2f}"
            )
    for threshold in CURVE:
        doubted = said < threshold
        lines.append(
            f"  below {threshold}: wrong and not doubted {(~right & ~doubted).sum() / asked_in_all:.3f}, "
            f"right doubted {(right & doubted).sum() / right.sum():.3f}"
        )
    return lines


def main() -> None:
    """Ask questions into a file of rows, or fit them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", nargs="*", type=Path)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument(
        "--first-look", nargs="*", default=[], help="the names of files that nothing was mended for"
    )
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.questions:
        with given.rows.open("a", encoding="utf-8") as file:
            for path in given.questions:
                file.writelines(json.dumps(row) + "\n" for row in asyncio.run(asked([path])))
        return
    rows = [json.loads(line) for line in given.rows.read_text(encoding="utf-8").splitlines()]
    stated = [row for row in rows if row["signs"]]
    many = Counter(kind for row in rows for kind in row["signs"] if kind.startswith("kind: "))
    stated = [row for row in stated if all(many.get(name, LEAST) >= LEAST for name in row["signs"])]
    said = left_out(stated, given.first_look)
    kinds = sorted(name for name, times in many.items() if times >= LEAST)
    parts = {"all": lambda row: True, "first looks": lambda row: row["batch"] in given.first_look}
    parts |= {kind: lambda row, kind=kind: kind in row["signs"] for kind in kinds}  # type: ignore[misc]
    for name, chosen in parts.items():
        mine = [place for place, row in enumerate(stated) if chosen(row)]
        of = len(mine) if name.startswith("kind") else sum(chosen(row) for row in rows)
        if mine:
            print("\n".join([name, *report([stated[place] for place in mine], said[mine], of)]))
    if given.out:
        bias, weights = fitted(stated, given.first_look)
        learned = {"threshold": SHIPPED, "bias": bias, "weights": weights}
        given.out.write_text(json.dumps(learned, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
