"""The rows above the values are the heads of a table's columns, and values are never taken for heads."""

import pytest

from citegraph.corpus.readers.column_heads import head_rows


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
