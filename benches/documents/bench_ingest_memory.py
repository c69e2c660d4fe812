"""Memory of an ingest over many generated documents: `python -m benches.documents.bench_ingest_memory [--documents 100000]`.

The documents are mixed (`benches/documents/mixed_documents.py`): invoices with a text of 5 to 25,000 words behind, in JSONL, text,
Markdown, HTML and PDF files, some nearly the same, some long enough for summaries. Fields are extracted, everything
is on. The ingest runs in a process of its own; its memory and that of its readers, shared pages counted once, is
sampled while it works, and the table says what it was at each tenth of the documents.
"""

import argparse
import contextlib
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benches.documents.mixed_documents import write_documents
from benches.processes import usage

TENTHS = 10
PAUSE = 3.0
"""Seconds between two samples."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What was seen at a moment: seconds since the beginning, stored documents, megabytes, CPU seconds.

    `own` are the megabytes of the process that writes, without its readers.
    """

    seconds: float
    documents: int
    megabytes: float
    cpu: float
    own: float = 0.0


def main() -> None:
    """Generate, ingest, sample, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="where to work (default: a temporary folder)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="citegraph-memory-", dir=asked.folder) as name:
        source, home = Path(name) / "documents", Path(name) / "home"
        write_documents(source, asked.documents)
        ingest = [
            sys.executable,
            "-m",
            "cli.commands",
            "ingest",
            str(source),
            "--bucket",
            "invoices",
            "--quiet",
        ]
        child = subprocess.Popen(
            ["env", f"CITEGRAPH_HOME={home}", *ingest], stdout=subprocess.PIPE, text=True
        )
        samples = list(watched(child, home / "citegraph.sqlite"))
        said = (child.stdout.read() if child.stdout else "").partition("\n")[0]
    print("\n".join(table(samples, asked.documents)))
    print(f"{said}; at most {max(one.megabytes for one in samples):.0f} MB; exit code {child.returncode}")


def watched(child: "subprocess.Popen[str]", database: Path) -> "list[Sample]":
    """Return samples of a process until it ends."""
    began = time.monotonic()
    samples = [Sample(0.0, 0, 0.0, 0.0)]
    while child.poll() is None:
        used = usage(child.pid)
        if used.megabytes:
            samples.append(
                Sample(time.monotonic() - began, stored(database), used.megabytes, used.cpu, used.own)
            )
            line = samples[-1]
            print(f"{line.seconds:8.0f} s {line.documents:9,} {line.megabytes:6.0f} MB", file=sys.stderr)
        time.sleep(PAUSE)
    return samples


def stored(database: Path) -> int:
    """Return how many documents a database holds; 0 when there is none yet."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            counted = connection.execute("SELECT COUNT(bucket) FROM documents INDEXED BY documents_of_bucket")
            return int(counted.fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def table(samples: "list[Sample]", count: int) -> "list[str]":
    """Return a line for each tenth of the documents: the most memory since the line before, and seconds."""
    lines = ["documents   memory  of it the writer   most since the line before   seconds   CPU seconds"]
    seen = 0
    for tenth in range(1, TENTHS + 1):
        end = next(
            (place for place, one in enumerate(samples) if one.documents >= count * tenth // TENTHS), None
        )
        if end is None:
            break
        here, most = samples[end], max(one.megabytes for one in samples[seen : end + 1])
        lines.append(
            f"{here.documents:9,} {here.megabytes:5.0f} MB {here.own:14.0f} MB {most:25.0f} MB {here.seconds:9.0f} {here.cpu:13.0f}"
        )
        seen = end
    return lines


if __name__ == "__main__":
    main()
