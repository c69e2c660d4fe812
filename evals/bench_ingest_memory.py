"""Memory of an ingest over many generated documents: `python -m evals.bench_ingest_memory [--documents 100000]`.

The ingest runs in a process of its own; the resident memory of it and of its readers is sampled while it works.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from evals.processes import usage

WORDS = 200
"""Words of a document."""
SAMPLES = 10
"""Lines that the result shows."""


def main() -> None:
    """Generate, ingest, sample, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "rows.jsonl"
        write_rows(source, asked.documents)
        ingest = [sys.executable, "-m", "cli.main", "ingest", str(source), "--bucket", "generic", "--quiet"]
        began = time.monotonic()
        child = subprocess.Popen(
            ["env", f"CITEGRAPH_HOME={Path(folder) / 'home'}", *ingest], stdout=subprocess.DEVNULL
        )
        samples: list[tuple[float, float]] = []
        while child.poll() is None:
            samples.append((time.monotonic() - began, usage(child.pid).megabytes))
            time.sleep(0.5)
    for place in range(SAMPLES):
        seconds, memory = samples[(len(samples) - 1) * place // (SAMPLES - 1)]
        print(f"{seconds:8.1f} s  {memory:8.0f} MB")
    print(
        f"{asked.documents:,} documents in {samples[-1][0]:.1f} s, at most {max(m for _, m in samples):.0f} MB; "
        f"exit code {child.returncode}"
    )


def write_rows(file: Path, count: int) -> None:
    """Write documents of random words, one a line."""
    draw = random.Random(3)
    vocabulary = [f"word{number}" for number in range(20_000)]
    with file.open("w", encoding="utf-8") as lines:
        for number in range(count):
            text = " ".join(draw.choices(vocabulary, k=WORDS))
            lines.write(json.dumps({"doc_id": f"d{number:07}", "text": text}) + "\n")


if __name__ == "__main__":
    main()
