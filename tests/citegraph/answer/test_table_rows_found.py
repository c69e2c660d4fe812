"""Of a table the row that holds the code of the question is quoted, whatever row the finder points at."""

import pytest

from citegraph.answer.found_spans import in_row

TABLE = (
    "Pumps\n\n| Pump | List price | Head |\n|---|---|---|\n| QP-7 | 310.00 | 12 |\n| QP-9 | 455.00 | 18 |\n"
)


@pytest.mark.parametrize(
    ("question", "pointed", "row"),
    [
        ("What is the head of QP-7?", "18", "| QP-7 | 310.00 | 12 |"),
        ("What is the head of QP-9?", "18", "18"),
        ("Which pump has the greatest head?", "18", "18"),
        ("What is the head of QP-8?", "18", "18"),
    ],
)
def test_the_row_of_the_code(question: str, pointed: str, row: str) -> None:
    place = TABLE.index(pointed)
    start, end = in_row(question, TABLE, (0, len(TABLE)), (place, place + len(pointed)))
    assert TABLE[start:end] == row
