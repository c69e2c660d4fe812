"""What questions of the usual kinds cost in calls, as whole runs over the sample with a capable model's replies."""

from dataclasses import replace

import pytest

from benches.worked import SUMMARY, WORKED, Worked, cost, counts, table
from citegraph.run.services import Services


@pytest.mark.parametrize("worked", WORKED, ids=lambda worked: worked.example.name)
async def test_an_example_stays_within_its_calls(services: Services, worked: Worked) -> None:
    found = await cost(services, worked)
    assert found.problems == ()
    assert 2 <= len(found.steps) <= worked.example.bound
    assert 1 <= found.tool_calls <= worked.tool_bound


def test_the_bounds_are_those_of_the_requirements() -> None:
    bounds = [(worked.example.bound, worked.tool_bound) for worked in WORKED[:4]]
    assert bounds == [(4, 1), (6, 2), (7, 3), (8, 4)]


async def test_too_many_calls_a_wrong_answer_and_a_missing_source_are_told(services: Services) -> None:
    strict = replace(SUMMARY, bound=1, holds=("61 days",), documents=frozenset({"norrvolt-nda-2023"}))
    found = await cost(services, Worked(strict, 0))
    taken = len(found.steps)
    problems = [
        f"{taken} model calls, 1 are allowed",
        f"{found.tool_calls} tool calls, 0 are allowed",
        "does not cite norrvolt-nda-2023",
        "does not say 61 days",
    ]
    assert list(found.problems) == problems
    assert counts(found)["problems"] == found.problems
    name, *lines = table([found]).splitlines()[1:]
    assert name.split()[-4:] == [str(taken), "(1)", str(found.tool_calls), "(0)"]
    assert lines == [f"    OVER: {problem}" for problem in problems]
