"""Ingest the archive of real documents with its gold labels as annotations: what the question files ask about.

    python -m benches.documents.archive [ARCHIVE]

Every folder whose documents name their bucket is taken, a bucket at a time, by `citegraph ingest` into CITEGRAPH_HOME.
"""

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from benches.documents.reading_bench import ARCHIVE
from citegraph.errors import BadInput


def ingests(archive: Path) -> dict[str, list[str]]:
    """Return the arguments of `citegraph ingest` by bucket.

    Raises:
        BadInput: the folder holds no documents that name a bucket.
    """
    taken: dict[str, list[str]] = defaultdict(list)
    for labels in sorted(archive.glob("*/metadata.jsonl")):
        files = sorted(labels.parent.glob("docs*.jsonl"))
        bucket = _bucket(files[0]) if files else None
        if bucket:
            taken[bucket] += [*map(str, files), "--annotations", str(labels)]
    if not taken:
        raise BadInput(
            f"{archive} holds no documents with a bucket: name the archive or set CITEGRAPH_CORPORA."
        )
    return {bucket: [*arguments, "--bucket", bucket] for bucket, arguments in taken.items()}


def _bucket(file: Path) -> str | None:
    with file.open(encoding="utf-8") as lines:
        named = json.loads(next(lines, "{}")).get("bucket")
    return str(named) if named else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Ingest all buckets; return the first exit code that is not 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive", type=Path, nargs="?", default=ARCHIVE)
    given = parser.parse_args(arguments)
    try:
        wanted = ingests(given.archive)
    except BadInput as problem:
        print(problem, file=sys.stderr)
        return 2
    codes = [
        subprocess.run([sys.executable, "-m", "cli.commands", "ingest", *told], check=False).returncode
        for told in wanted.values()
    ]
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
