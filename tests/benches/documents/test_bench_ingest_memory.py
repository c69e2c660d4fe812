"""The memory bench says what was seen at each tenth of the documents, and counts what is stored."""

import subprocess
import sys
from pathlib import Path

from benches.documents.bench_ingest_memory import Sample, stored, table, watched
from citegraph.corpus.records.documents import DocumentStore
from citegraph.corpus.schema.document import Document


def test_a_line_says_the_most_memory_since_the_one_before() -> None:
    samples = [Sample(0.0, 0, 0.0, 0.0), Sample(1.0, 4, 90.0, 1.0), Sample(2.0, 12, 70.0, 2.0, 65.0)]
    samples += [Sample(3.0, 19, 60.0, 3.0), Sample(4.0, 40, 50.0, 4.0)]
    _head, *lines = table(samples, 100)
    assert [line.split() for line in lines] == [
        ["12", "70", "MB", "65", "MB", "90", "MB", "2", "2"],
        ["40", "50", "MB", "0", "MB", "70", "MB", "4", "4"],
        ["40", "50", "MB", "0", "MB", "50", "MB", "4", "4"],
        ["40", "50", "MB", "0", "MB", "50", "MB", "4", "4"],
    ]


def test_documents_are_counted_while_another_writes(tmp_path: Path) -> None:
    file = tmp_path / "citegraph.sqlite"
    assert stored(file) == 0
    documents = DocumentStore(f"sqlite:///{file}")
    written = Document("a", "b", "text", "a.txt", "hash")
    documents.put([written], hashes={"a": ("1", "2")}, status="done")
    assert stored(file) == 1


def test_a_process_is_sampled_until_it_ends(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(0.5)"], text=True)
    samples = watched(child, tmp_path / "none.sqlite")
    assert samples[-1].megabytes == samples[-1].own > 0
    assert child.returncode == 0
