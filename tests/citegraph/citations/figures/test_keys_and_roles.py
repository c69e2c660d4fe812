"""A value in the row or column of another key, or among the words of another value, is refused; its own place is not."""

import pytest

from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify

VARNISH = Evidence(
    "v",
    "varnish",
    "Temperature | Dust dry | Fully cured\n10 °C | 55 min | 9 days\n25 °C | 20 min | 3 days\n\n"
    "Model | Order number | Volume\nLK-20-M | 70417 | 0.75 l\nLK-20-S | 70422 | 2.5 l\n\n"
    "Wages | 2021 | 2022\nWorkshop | 318.2 | 331.9\nOffice | 97.4 | 88.1",
)
POLICY = Evidence(
    "p",
    "policy",
    "A damaged parcel must be reported within 7 days. A lost parcel may be claimed after 21 days.\n"
    "The contract begins on 3 May 2022. The first invoice is written on 1 June 2022.",
)


def verdict(claim: str) -> str:
    (found,) = verify(claim, [VARNISH, POLICY]).claims
    return found.verdict


@pytest.mark.parametrize(
    "claim",
    [
        "At 10 °C the varnish is dust dry after 20 min [varnish].",
        "The LK-20-S has the order number 70417 [varnish].",
        "In 2022 the wages of the workshop were 318.2 [varnish].",
        "A lost parcel may be claimed after 7 days [policy].",
        "The first invoice is written on 3 May 2022 [policy].",
    ],
)
def test_a_value_of_another_key_or_role_is_contradicted(claim: str) -> None:
    assert verdict(claim) == "contradicted"


@pytest.mark.parametrize(
    "claim",
    [
        "At 10 °C the varnish is dust dry after 55 min and at 25 °C after 20 min [varnish].",
        "The LK-20-S has the order number 70422 [varnish].",
        "In 2022 the wages of the workshop were 331.9, after 318.2 the year before [varnish].",
        "Nothing that was lost can be claimed before 21 days have passed [policy].",
        "A damaged parcel has to be reported within 7 days, a lost one can be claimed after 21 [policy].",
        "The contract began on 3 May 2022 and its first invoice dates from 1 June 2022 [policy].",
    ],
)
def test_a_value_in_its_own_place_is_supported(claim: str) -> None:
    assert verdict(claim) == "supported"


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The lid is pressed on for at least 15 seconds [lid].", "supported"),
        ("The lid is pressed on for at most 15 seconds [lid].", "contradicted"),
        ("The lid weighs at least 40 g [lid].", "contradicted"),
        ("The lid weighs at most 40 g [lid].", "supported"),
        ("A lid of 40 g is the heaviest [lid].", "supported"),
    ],
)
def test_the_least_is_not_the_most(claim: str, expected: str) -> None:
    lid = Evidence("l", "lid", "Press the lid on for at least 15 seconds. Its weight is no more than 40 g.")
    assert [found.verdict for found in verify(claim, [lid]).claims] == [expected]
