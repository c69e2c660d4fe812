"""A value of a table belongs to its own row, whatever the claim puts beside it."""

import pytest

from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify

ORDERS = """Order | Date | Part | Quantity | Unit price (EUR) | Customer
O-1001 | 2025-01-14 | PX-100 | 40 | 12.5 | Nordlys Elektro
O-1002 | 2025-01-20 | PX-220 | 15 | 88 | Tamm OÜ
O-1003 | 2025-02-02 | PX-100 | 120 | 11.9 | Tamm OÜ"""
RATINGS = """Parameter | Symbol | Value | Unit
Collector-emitter voltage | VCEO | 45 | V
Collector current | IC | 100 | mA
Weight | G | 3 | g"""


def verdicts(claim: str, text: str) -> set[str]:
    return {said.verdict for said in verify(f"{claim} [d].", [Evidence("d:0", "d", text)]).claims}


@pytest.mark.parametrize(
    "claim",
    [
        "Order O-1003 was for 120 pieces of PX-100",
        "Tamm ordered 120 PX-100",
        "The unit price of PX-220 is 88 EUR",
        "O-1001 was for 40 and O-1003 for 120 PX-100",
        "O-1001 was earlier than O-1003, which had 120 pieces",
        "Tamm OÜ ordered 15 PX-220 on 2025-01-20 and 120 PX-100 on 2025-02-02",
        "The orders were for 40, 15 and 120 pieces",
        "“O-1003 | 2025-02-02 | PX-100 | 120 | 11.9 | Tamm OÜ”",
    ],
)
def test_values_of_one_row_are_supported(claim: str) -> None:
    assert verdicts(claim, ORDERS) == {"supported"}


@pytest.mark.parametrize(
    "claim",
    [
        "Order O-1003 was for 120 pieces of PX-220",
        "The unit price of PX-220 is 12.5 EUR",
        "In order O-1002 the quantity was 120",
        "PX-220 was ordered on 2025-02-02",
        "Nordlys Elektro ordered 15 pieces",
        "“O-1003 | 2025-02-02 | PX-220 | 120 | 11.9 | Tamm OÜ”",
    ],
)
def test_a_value_of_another_row_is_contradicted(claim: str) -> None:
    assert verdicts(claim, ORDERS) == {"contradicted"}


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The collector-emitter voltage is 45 V and the collector current is 100 mA", "supported"),
        ("VCEO is 45 V and the collector current 100 mA", "supported"),
        ("The weight is 3 g", "supported"),
        ("The collector current is 45 mA", "contradicted"),
        ("The weight is 100 g", "contradicted"),
    ],
)
def test_a_label_holds_its_own_value(claim: str, expected: str) -> None:
    assert verdicts(claim, RATINGS) == {expected}


def test_what_also_stands_in_prose_is_no_value_of_the_table_alone() -> None:
    text = f"{ORDERS}\n\nFrom March on the unit price of PX-220 is 12.5 EUR."
    assert verdicts("The unit price of PX-220 is 12.5 EUR", text) == {"supported"}


FORM = "Tenant: Orla Finch\nLandlord: Brook & Sons Ltd\nMonthly rent: 900 EUR"
PRICES = """Item          Qty   Price
Bolt M8        40    0.50
Nut M8        200    0.20
Washer         15    0.05"""


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The tenant is Orla Finch", "supported"),
        ("The landlord is Orla Finch", "contradicted"),
        ("The landlord is Brook & Sons Ltd", "supported"),
        ("The tenant Orla Finch rents from Brook & Sons Ltd", "supported"),
    ],
)
def test_a_name_belongs_to_its_label(claim: str, expected: str) -> None:
    assert verdicts(claim, FORM) == {expected}


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The price of Nut M8 is 0.20", "supported"),
        ("40 Bolt M8 at 0.50", "supported"),
        ("The price of Nut M8 is 0.50", "contradicted"),
        ("The quantity of Nut M8 is 40", "contradicted"),
        ("The price of Nut M8 is 200", "contradicted"),
    ],
)
def test_columns_set_by_blanks_are_a_table_too(claim: str, expected: str) -> None:
    assert verdicts(claim, PRICES) == {expected}
