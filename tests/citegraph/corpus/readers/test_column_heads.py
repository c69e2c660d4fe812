"""The rows above the values are the heads of a table's columns, and values are never taken for heads."""

import pytest

from citegraph.corpus.readers.column_heads import head_rows, joined_heads


@pytest.mark.parametrize(
    ("rows", "heads"),
    [
        ("Item|Price/Bolt|1", 1),
        ("4711|99.50/4712|15.00", 0),
        ("Name|2024|2025/North|1|2", 1),
        ("Report|/Made by us|/Item|Price/Bolt|1", 3),
        ("Item|Q1|/|Plan|Actual/Bolt|1|2/Nut|3|4", 2),
        ("Name|Town/Anna|/Bob|Bremen", 1),
        ("Name|Town/Anna|Berlin", 1),
        ("Date|2025-01-31/Sum|12 EUR", 0),
        ("one/two/three", 0),
        ("Item|Price", 0),
        ("Title|/5|6/7|8", 1),
    ],
)
def test_heads_are_told_from_values(rows: str, heads: int) -> None:
    assert head_rows([row.split("|") for row in rows.split("/")]) == heads


@pytest.mark.parametrize(
    ("heads", "joined"),
    [
        (
            "Port|Summer||Winter|/|First|Last|First|Last",
            "Port|Summer First|Summer Last|Winter First|Winter Last",
        ),
        (
            "Branch|2025||2026|/Branch|Staff|Books|Staff|Books",
            "Branch|2025 Staff|2025 Books|2026 Staff|2026 Books",
        ),
        (
            "Budget|||/Made in May/Item|Q1||/|Plan|Real|Sum",
            "Budget|||/Made in May/Item|Q1 Plan|Q1 Real|Q1 Sum",
        ),
        ("A||B|/|a1||b1/x|y|z|w", "A x|A a1 y|B z|B b1 w"),
        ("Item|Price|", "Item|Price|"),
        ("", ""),
    ],
)
def test_heads_of_several_rows_are_joined(heads: str, joined: str) -> None:
    rows = [row.split("|") for row in heads.split("/")] if heads else []
    assert ["|".join(row) for row in joined_heads(rows)] == (joined.split("/") if joined else [])
