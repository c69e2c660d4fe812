"""Of a table the row that a question names is quoted, whatever row the finder points at."""

import pytest

from citegraph.answer.found_spans import row_meant, telling

TABLE = "Pumps\n\n| Pump | List price | Head |\n|---|---|---|\n| QP-7 small | 310.00 | 12 |\n| QP-9 brass | 455.00 | 18 |\n"
COLUMNS = "Pump     Price     Head\nQP-7     310.00     12\nQP-9     455.00     18\n"


@pytest.mark.parametrize(
    ("table", "question", "pointed", "row"),
    [
        (TABLE, "What is the head of QP-7?", "18", "| QP-7 small | 310.00 | 12 |"),
        (TABLE, "What is the head of QP-9?", "18", None),
        (TABLE, "What is the head of the brass one?", "12", "| QP-9 brass | 455.00 | 18 |"),
        (TABLE, "What is the list price of the brass one?", "List", "| QP-9 brass | 455.00 | 18 |"),
        (TABLE, "Which pump has the greatest head?", "18", None),
        (TABLE, "What is the head of QP-8?", "18", None),
        (TABLE, "What is the head of QP-7?", "Pumps", None),
        (COLUMNS, "What is the head of QP-7?", "18", "QP-7     310.00     12"),
        (COLUMNS, "Which pump has the greatest head?", "18", None),
    ],
)
def test_the_row_that_is_named(table: str, question: str, pointed: str, row: str | None) -> None:
    wanted = telling(question, table, "en", ())
    found = row_meant(question, table, (0, len(table)), table.index(pointed), wanted, "en")
    assert (table[slice(*found)] if found else None) == row
