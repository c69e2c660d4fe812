"""How well real files are read: every file of the archive, against the archive's own text of the same document."""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from citegraph.corpus.readers.protocol import Reading
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.errors import BadInput

ARCHIVE = Path(os.environ.get("CITEGRAPH_CORPORA", "../shared/corpora"))
_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class FormatResult:
    """What became of the files of one format.

    Attributes:
        scores: token F1 of each file that was read, by file name.
        skipped: what was not read, with the reason.
        boxes: lines that have a box.
        seconds: wall clock; OCR runs in a process of its own.
    """

    files: int = 0
    pages: int = 0
    boxes: int = 0
    tables: int = 0
    embedded: int = 0
    seconds: float = 0.0
    scores: dict[str, float] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)


def token_f1(found: str, gold: str) -> float:
    """Return the F1 of the words of two texts as bags (SQuAD's measure), case folded."""
    ours, theirs = Counter(_WORD.findall(found.casefold())), Counter(_WORD.findall(gold.casefold()))
    total = sum(ours.values()) + sum(theirs.values())
    return 2 * (ours & theirs).total() / total if total else 1.0


def evaluate(archive: Path) -> dict[str, FormatResult]:
    """Read the files of an archive's manifest; results by bucket and format.

    Raises:
        BadInput: the archive has no files.
    """
    manifest = archive / "files" / "manifest.json"
    if not manifest.is_file():
        raise BadInput(f"{manifest} is not there: name the archive by CITEGRAPH_CORPORA or --archive")
    rows = json.loads(manifest.read_text("utf-8"))
    gold = dict(gold_texts(archive, {row["doc_id"] for row in rows}))
    results: dict[str, FormatResult] = {}
    for row in rows:
        path = archive / row["file"]
        result = results.setdefault(f"{row['bucket']} {path.suffix[1:].lower()}", FormatResult())
        _read(path, gold.get(row["doc_id"], ""), result)
    return results


def _read(path: Path, gold: str, result: FormatResult) -> None:
    result.files += 1
    began = time.monotonic()
    try:
        for reading in read_file(path):
            if not isinstance(reading, Reading):
                result.skipped.append(f"{path.name}: {reading.where}: {reading.reason}")
            elif not reading.part:
                result.pages += len(reading.pages)
                result.boxes += sum(len(layout.lines) for layout in reading.layouts)
                result.tables += len(reading.tables)
                result.embedded += len(reading.embedded)
                result.scores[path.name] = token_f1(reading.text, gold)
    except BadInput as error:
        result.skipped.append(f"{path.name}: {error}")
    result.seconds += time.monotonic() - began


def gold_texts(archive: Path, wanted: set[str]) -> Iterator[tuple[str, str]]:
    """Yield id and text of the wanted documents as the archive has them."""
    for file in sorted(archive.glob("*/docs*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if row.get("doc_id") in wanted:
                    yield row["doc_id"], row.get("text") or "\f".join(row.get("pages") or ())


def report(results: Mapping[str, FormatResult]) -> str:
    """Return the results as a table for people, then what was skipped and the three worst of each format."""
    head = f"{'':18}{'files':>6}{'read':>6}{'pages':>7}{'lines':>8}{'tables':>7}{'xml':>5}{'F1':>8}{'least':>8}{'pages/s':>9}"
    lines = [head]
    for name, result in results.items():
        scores = list(result.scores.values())
        lines.append(
            f"{name:18}{result.files:>6}{len(scores):>6}{result.pages:>7}{result.boxes:>8}{result.tables:>7}"
            f"{result.embedded:>5}{_median(scores):>8.3f}{min(scores, default=0.0):>8.3f}"
            f"{result.pages / max(result.seconds, 1e-9):>9.1f}"
        )
    for name, result in results.items():
        worst = sorted(result.scores.items(), key=lambda item: item[1])[:3]
        lines.append(f"{name}, least alike: " + ", ".join(f"{file} {score:.3f}" for file, score in worst))
        lines += [f"skipped: {reason}" for reason in result.skipped]
    return "\n".join(lines)


def _median(scores: Sequence[float]) -> float:
    return statistics.median(scores) if scores else 0.0


def main() -> None:
    """Print how the archive's files are read: python -m benches.documents.reading_bench [--archive FOLDER]."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--archive", type=Path, default=ARCHIVE)
    try:
        print(report(evaluate(parser.parse_args().archive)))
    except BadInput as error:
        parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
