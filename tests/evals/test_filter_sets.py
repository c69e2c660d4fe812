"""filter_sets: exact match of planned filters against gold ones, and why they differ."""

import json
from pathlib import Path

import pytest

from citegraph.errors import BadInput
from evals.filter_sets import is_filter_set, miss_causes, plan_filters, score_filter_set

OUTLETS = ["The Harbour Post", "Inland Gazette | Markets Today", "Fathom"]
ROWS = [
    (
        "Did The Harbour Post report on 3 May 2023 and again on 9 June 2023 about the quay?",
        {
            "source": {"$in": ["The Harbour Post"]},
            "published_at": {"$in": ["May 3, 2023", "June 9, 2023"]},
        },
    ),
    (
        "What did the Harbour Post say of the quay that Inland Gazette | Markets Today denied?",
        {"source": {"$in": ["Inland Gazette | Markets Today", "The Harbour Post"]}},
    ),
    ("Was the Fathom story of July 2023 right?", {"source": {"$in": ["Fathom"]}}),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"qid": f"q{n}", "question": question, "check": "verified", "rule_filter": gold}
        for n, (question, gold) in enumerate(ROWS)
    ]
    rows.append(rows[0] | {"qid": "q9", "check": "source_mismatch"})
    lines = "\n".join(json.dumps(row) for row in rows)
    (tmp_path / "queries_with_filters.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "allowed_sources.json").write_text(json.dumps(OUTLETS), encoding="utf-8")
    return tmp_path


def test_only_verified_rows_count_and_misses_have_causes(folder: Path) -> None:
    assert is_filter_set(folder)
    assert not is_filter_set(folder.parent)
    planned = list(plan_filters(folder))
    assert [(item.id, item.exact, miss_causes(item)) for item in planned] == [
        ("q0", True, []),
        ("q1", True, []),
        ("q2", False, ["also published_at between"]),
    ]
    assert score_filter_set(folder) == {
        "rows": 3,
        "exact": 0.6667,
        "source": 1.0,
        "published_at": 1.0,
        "misses": {"also published_at between": 1},
    }


def test_a_broken_row_is_named(folder: Path) -> None:
    (folder / "queries_with_filters.jsonl").write_text('{"qid": 1}\n', encoding="utf-8")
    with pytest.raises(BadInput, match=r"queries_with_filters\.jsonl:1"):
        score_filter_set(folder)
