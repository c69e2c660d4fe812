"""Values of tables, for people and for programs."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from citegraph.answer.cells import table_of, typed_cell
from citegraph.language.amounts import Money


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (Money(Decimal("8010.00"), "USD"), {"type": "money", "amount": "8010.00", "currency": "USD"}),
        ({"amount": "12.5", "currency": None}, {"type": "money", "amount": "12.5", "currency": None}),
        (date(2024, 5, 1), {"type": "date", "date": "2024-05-01"}),
        ("2024-05-01", {"type": "date", "date": "2024-05-01"}),
        ("2024-05", None),
        ("2024-13-01", None),
        (3, {"type": "number", "number": "3"}),
        (Decimal("1E+3"), {"type": "number", "number": "1000"}),
        (True, None),
        (None, None),
        ("Acme", None),
    ],
)
def test_a_value_has_its_kind(value: Any, cell: Any) -> None:
    assert typed_cell(value) == cell


def test_what_is_shown_and_what_is_typed_stand_at_the_same_place() -> None:
    table = table_of(["who", "paid"], [["Acme", 3], ["Bell", None]], ["a", "b"], str)
    assert table["rows"] == [["Acme", "3"], ["Bell", ""]]
    assert table["cells"] == [[None, {"type": "number", "number": "3"}], [None, None]]
