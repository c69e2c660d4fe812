"""wordings: alternatives, denied prefixes and declared synonyms of one condition, and what they ask of a passage."""

import pytest

from citegraph.corpus.schema.bucket import load_buckets
from citegraph.question.wordings import Wording, wordings

CONTRACTS = load_buckets()["contracts"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("drag-along", [Wording(("drag",), phrase="drag along")]),
        ("no-shop", [Wording(("shop",), denied=True)]),
        ("fuel/energy surcharge", [Wording(("fuel", "surcharge")), Wording(("energy", "surcharge"))]),
        ("fuel levy | fare cap", [Wording(("fuel", "levy")), Wording(("fare", "cap"))]),
        ("sale at will", [Wording(("sale",), phrase="sale at will")]),
        ("of the", []),
    ],
)
def test_a_condition_in_its_alternatives(condition: str, expected: list[Wording]) -> None:
    assert wordings(CONTRACTS, condition) == expected


def test_the_synonyms_of_a_declared_value_are_meant_too() -> None:
    said = wordings(CONTRACTS, "profit share")
    assert said[0] == Wording(("profit", "share"))
    assert Wording(("revenue", "sharing")) in said
    assert wordings(CONTRACTS, "profit warning") == [Wording(("profit", "warning"))]


@pytest.mark.parametrize(
    ("wording", "passage", "holds"),
    [
        (Wording(("shop",), denied=True), "The seller shall not shop the bid.", True),
        (Wording(("shop",), denied=True), "The seller may shop the bid.", False),
        (Wording(("sale",), phrase="sale at will"), "A sale, at will of the owner", True),
        (Wording(("sale",), phrase="sale at will"), "a sale", False),
        (Wording(("sale",)), "a sale", True),
    ],
)
def test_what_a_wording_asks_of_a_passage(wording: Wording, passage: str, holds: bool) -> None:
    assert wording.stands_in(passage) is holds


@pytest.mark.parametrize(
    ("condition", "passage", "holds"),
    [
        ("range 15 km", "a range of up to 15km over copper", True),
        ("range 15 km", "a range of 15 kilometres", True),
        ("range 15km", "a range of 150 km, class 15", False),
        ("4 Gbit/s", "runs at 4Gbps", True),
        ("4 Gbit/s", "runs at 4 Mbit/s", False),
        ("0.5 l bottle", "a bottle holds 500 ml", True),
    ],
)
def test_a_quantity_is_met_in_any_spelling_of_its_unit(condition: str, passage: str, holds: bool) -> None:
    (wording,) = wordings(CONTRACTS, condition)
    assert wording.stands_in(passage) is holds


def test_a_quantity_is_searched_apart_and_written_together() -> None:
    (wording,) = wordings(CONTRACTS, "range 15 km")
    assert wording.words == ("range",)
    assert {"range", "15", "15km"} <= set(wording.searched.split())
