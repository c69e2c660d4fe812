"""evidence_lists: the labels that count, and the measures of a list."""

import json
from pathlib import Path

from benches.evidence_lists import measures, read_labels


def test_only_yes_no_kinds_with_a_span_count(tmp_path: Path) -> None:
    rows = [{"doc_id": name, "clauses_present": {"Audit Rights": True}} for name in ("a", "b")]
    labels = [
        {"doc_id": "a", "category": "Audit Rights", "spans": [{"start": 0, "end": 4}]},
        {"doc_id": "b", "category": "Audit Rights", "spans": []},
        {"doc_id": "a", "category": "Parties", "spans": [{"start": 0, "end": 4}]},
    ]
    for name, lines in (("metadata", rows), ("clauses", labels)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert read_labels(tmp_path) == ({"Audit Rights": {"a"}}, {"a", "b"})


def test_measures() -> None:
    assert measures({"a", "b"}, {"b", "c", "d"}) == {
        "gold": 3,
        "found": 2,
        "precision": 0.5,
        "recall": 0.333,
        "f1": 0.4,
    }
    assert measures(set(), {"a"})["f1"] == 0.0
