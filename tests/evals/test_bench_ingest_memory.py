"""The memory bench generates what it says and sees the memory of child processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

from evals.bench_ingest_memory import WORDS, descendants, resident_mb, write_rows


def test_rows_are_documents(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", 3)
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [row["doc_id"] for row in rows] == ["d0000000", "d0000001", "d0000002"]
    assert [len(row["text"].split()) for row in rows] == [WORDS] * 3


def test_memory_of_children_counts() -> None:
    code = "import sys; held = bytearray(50_000_000); print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        assert child.pid in descendants(os.getpid())
        assert 45 < resident_mb(child.pid) < 200
        child.communicate()
    assert resident_mb(child.pid) == 0
