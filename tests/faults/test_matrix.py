"""Every model step survives every fault: a typed answer, in time, that names the step and nothing secret."""

from collections.abc import Iterator

import pytest

from tests.faults.matrix import SCENARIOS, Matrix, Scenario
from tools.services import Services


@pytest.fixture(scope="module")
def matrix(services: Services) -> Iterator[Matrix]:
    opened = Matrix(services)
    yield opened
    opened.close()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.step)
async def test_a_step_survives_every_fault(scenario: Scenario, matrix: Matrix) -> None:
    cells = await matrix.row(scenario)
    assert [(cell.fault, cell.problems, cell.notes) for cell in cells if cell.problems] == []
