"""The memory bench generates what it says."""

import json
from pathlib import Path

from evals.bench_ingest_memory import WORDS, write_rows


def test_rows_are_documents(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", 3)
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [row["doc_id"] for row in rows] == ["d0000000", "d0000001", "d0000002"]
    assert [len(row["text"].split()) for row in rows] == [WORDS] * 3
