"""Every model step survives its faults: a typed answer, in time, that names the step and nothing secret."""

from collections.abc import Iterator

import pytest

from citegraph.run.services import Services
from tests.faults.matrix import SCENARIOS, Matrix, Scenario
from tests.faults.proxy import FAULTS

pytestmark = pytest.mark.slow

EVERY = 3
"""Each step meets every third fault, each time another third: `make faults` runs the full product."""


def some(place: int) -> list[str]:
    """Return the faults of the step at a place in the list of scenarios."""
    return [name for number, name in enumerate(FAULTS) if (number + place) % EVERY == 0]


def test_every_fault_meets_several_steps() -> None:
    met = [name for place in range(len(SCENARIOS)) for name in some(place)]
    assert {name: met.count(name) for name in FAULTS} == dict.fromkeys(FAULTS, len(SCENARIOS) // EVERY)


@pytest.fixture(scope="module")
def matrix(services: Services) -> Iterator[Matrix]:
    opened = Matrix(services)
    yield opened
    opened.close()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_a_step_survives_faults(scenario: Scenario, matrix: Matrix) -> None:
    faults = some(SCENARIOS.index(scenario))
    cells = await matrix.row(scenario, faults)
    assert [cell.fault for cell in cells] == faults
    assert [(cell.fault, cell.problems, cell.notes) for cell in cells if cell.problems] == []
