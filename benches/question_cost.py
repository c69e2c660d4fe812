"""What questions cost in one process without a model: CPU time and SQL statements, over the home of the settings.

    CITEGRAPH_HOME=HOME python -m benches.question_cost benches/first_looks/archive-2026-11-29c.jsonl --most 60

The first question, which loads everything, is left out.
"""

import argparse
import asyncio
import time
from pathlib import Path
from statistics import mean, quantiles

from sqlalchemy import Engine, event

from benches.load import questions
from citegraph.run.services import Services
from graph.session import open_session


async def costs(asked: list[str]) -> tuple[list[float], list[float]]:
    """Return CPU milliseconds and SQL statements of each question but the first."""
    made = [0]
    event.listen(Engine, "before_cursor_execute", lambda *_: made.append(made.pop() + 1))
    milliseconds, statements = [], []
    async with open_session(Services()) as session:
        for question in asked:
            before, made[0] = time.process_time(), 0
            await session.ask(question)
            milliseconds.append((time.process_time() - before) * 1000)
            statements.append(float(made[0]))
    return milliseconds[1:], statements[1:]


def main() -> None:
    """Ask the questions of some files and print what they cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--most", type=int)
    given = parser.parse_args()
    for name, told in zip(
        ("CPU, ms", "SQL statements"), asyncio.run(costs(questions(given.files)[: given.most])), strict=True
    ):
        parts = quantiles(told, n=20, method="inclusive")
        print(f"{name:15} mean {mean(told):7.0f}  p50 {parts[9]:7.0f}  p95 {parts[18]:7.0f}")


if __name__ == "__main__":
    main()
