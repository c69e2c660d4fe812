"""Lists by evidence on contracts with labelled clauses (CUAD): which documents hold a kind of clause, by its name alone.

`python -m benches.evidence_lists FOLDER` searches the ingested bucket of CITEGRAPH_HOME; no field is used.
"""

import argparse
import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from citegraph.evidence.review_sets import find_by_evidence
from citegraph.run.services import Corpus, Services


def read_labels(folder: Path) -> tuple[dict[str, set[str]], set[str]]:
    """Return the documents of each yes/no kind of clause that has a labelled span, and all documents."""
    rows = [json.loads(line) for line in (folder / "metadata.jsonl").read_text("utf-8").splitlines()]
    kinds = {kind.casefold() for row in rows for kind in row["clauses_present"]}
    held: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "clauses.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["spans"] and row["category"].casefold() in kinds:
            held[row["category"]].add(row["doc_id"])
    return dict(held), {row["doc_id"] for row in rows}


def measures(found: set[str], gold: set[str]) -> dict[str, float | int]:
    """Return precision, recall and F1 of a set of documents, with its size and that of the gold set."""
    right = len(found & gold)
    precision, recall = right / len(found) if found else 0.0, right / len(gold) if gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    shares = {"precision": precision, "recall": recall, "f1": f1}
    return {
        "gold": len(gold),
        "found": len(found),
        **{name: round(value, 3) for name, value in shares.items()},
    }


async def evaluate(corpus: Corpus, folder: Path, *, bucket: str, least: int = 10) -> dict[str, Any]:
    """Return the measures of each kind of clause that at least `least` documents hold, and their means."""
    held, known = read_labels(folder)
    results: dict[str, Mapping[str, float | int]] = {}
    for kind, gold in sorted(held.items()):
        if len(gold) >= least:
            found = await find_by_evidence(corpus, bucket, kind)
            results[kind] = measures(set(found.spans) & known, gold)
    return {"kinds": results, "mean": mean(list(results.values())), "halves": halves(results)}


def halves(results: Mapping[str, Mapping[str, float | int]]) -> list[dict[str, float]]:
    """Return the means of the odd and of the even kinds, by name, so that a rule can be tried on one half alone."""
    rows = list(results.values())
    return [mean(rows[::2]), mean(rows[1::2])]


def mean(rows: Sequence[Mapping[str, float | int]]) -> dict[str, float]:
    """Return the mean precision, recall and F1."""
    names = ("precision", "recall", "f1")
    return {name: round(sum(row[name] for row in rows) / (len(rows) or 1), 3) for name in names}


async def run(folder: Path, bucket: str) -> dict[str, Any]:
    """Open the ingested archive and measure."""
    return await evaluate(await Services().corpus(), folder, bucket=bucket)


def main() -> None:
    """Measure and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bucket", default="contracts")
    given = parser.parse_args()
    print(json.dumps(asyncio.run(run(given.folder, given.bucket)), indent=2))


if __name__ == "__main__":
    main()
