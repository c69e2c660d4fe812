"""What a proposed bucket is worth: how many of the gold labels' fields it has, and how well they are filled.

    python -m benches.documents.proposal_bench [ARCHIVE] [--set NAME] [--most N]

A bucket is proposed from the first half of a set's documents (`benches.documents.extraction_bench.half_of`), and its fields are paired
with the columns of the gold labels by the values that they fill there: the field that agrees with most of a column's
labels is that column, if it agrees with at least a third of them. Everything that is printed comes from the second
half, which neither the proposal nor the pairing has seen. `labels` proposes from the documents alone; `known` may
take over the fields of the declared bucket that the documents are like, as the command does. `promised` and `kept` are
the mean rates at which the fields of the proposal are filled in the first half, as the command prints it, and in the
second.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.documents.extraction_bench import HALVES, agrees, documents, half_of
from benches.documents.extraction_sets import SETS, GoldSet
from citegraph.corpus.extraction.known_fields import values_in
from citegraph.corpus.extraction.labelled.label_pairs import Example
from citegraph.corpus.extraction.proposal import propose
from citegraph.corpus.schema.bucket import Bucket, load_buckets
from citegraph.corpus.schema.field import Field, Value
from citegraph.corpus.schema.values import is_missing
from citegraph.errors import BadInput

PAIRED = 1 / 3
"""Share of a column's labels that a field has to agree with to be paired with it."""

Labelled = tuple[Example, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the gold labels: the field that was paired with it, None without one, and its score."""

    column: str
    field: str | None
    precision: float = 0.0
    recall: float = 0.0


@dataclass(frozen=True, slots=True)
class Scored:
    """What one proposal is worth; rates are means over its fields."""

    fields: int
    columns: tuple[Column, ...]
    promised: float
    kept: float


def score(gold: GoldSet, halves: Mapping[str, Sequence[Labelled]], known: Sequence[Bucket]) -> Scored:
    """Return what the bucket proposed from the first half is worth on the second.

    Raises:
        BadInput: nothing can be proposed from the first half.
    """
    first, second = (halves[half] for half in HALVES)
    proposal = propose("proposed", [example for example, _ in first], known)
    seen = [(values_in(proposal.bucket, example), labels) for example, labels in first]
    new = [(values_in(proposal.bucket, example), labels) for example, labels in second]
    columns = []
    for name in dict.fromkeys(gold.fields.values()):
        field = _paired(proposal.bucket, seen, name)
        columns.append(
            Column(name, field.name if field else None, *(_rates(field, new, name) if field else ()))
        )
    rates = [
        sum(item.name in values for values, _ in new) / max(1, len(new)) for item in proposal.bucket.fields
    ]
    promised = sum(proposal.rates.values()) / len(proposal.rates)
    return Scored(len(rates), tuple(columns), promised, sum(rates) / len(rates))


def _paired(
    bucket: Bucket, seen: Sequence[tuple[Mapping[str, Value], Mapping[str, Any]]], column: str
) -> Field | None:
    """Return the field that agrees with most labels of a column."""
    labelled = [(values, labels[column]) for values, labels in seen if not _silent(labels, column)]
    counts = {
        item.name: sum(
            item.name in values and agrees(item, values[item.name], label) for values, label in labelled
        )
        for item in bucket.fields
    }
    best = max(counts, key=lambda name: counts[name])
    enough = counts[best] >= max(1, PAIRED * len(labelled))
    return bucket.field(best) if enough else None


def _rates(
    field: Field, new: Sequence[tuple[Mapping[str, Value], Mapping[str, Any]]], column: str
) -> tuple[float, float]:
    """Return (precision, recall) of a field where the labels speak of its column."""
    labelled = [(values, labels[column]) for values, labels in new if not _silent(labels, column)]
    found = [(values[field.name], label) for values, label in labelled if field.name in values]
    right = sum(agrees(field, value, label) for value, label in found)
    return right / max(1, len(found)), right / max(1, len(labelled))


def _silent(labels: Mapping[str, Any], column: str) -> bool:
    return is_missing(labels.get(column)) or labels.get(column) == []


def read_halves(archive: Path, gold: GoldSet, most: int) -> dict[str, list[Labelled]]:
    """Return at most so many documents of each half of a set, as a proposal reads them, with their labels."""
    halves: dict[str, list[Labelled]] = {half: [] for half in HALVES}
    for document, labels in documents(archive, gold):
        part = halves[half_of(labels["doc_id"])]
        if len(part) < most:
            example = Example(
                document.doc_id, document.text, layouts=document.layouts, embedded=document.embedded
            )
            part.append((example, labels))
    return halves


def table(name: str, kind: str, scored: Scored) -> list[str]:
    """Return the lines of one proposal's table."""
    have = [item for item in scored.columns if item.field]
    mean = sum(item.precision for item in have) / max(1, len(have))
    lines = [
        f"{name} ({kind}): {len(have)} of {len(scored.columns)} gold columns among {scored.fields} fields, "
        f"precision {mean:.2f}; filled: promised {scored.promised:.2f}, kept {scored.kept:.2f}"
    ]
    lines += [
        f"  {item.column:20} {item.field or '-':28}"
        + (f" precision {item.precision:.2f} recall {item.recall:.2f}" if item.field else "")
        for item in scored.columns
    ]
    return lines


def main() -> int:
    """Print the tables; the archive is ../shared/corpora or CITEGRAPH_CORPORA."""
    parser = argparse.ArgumentParser(description="What proposed buckets are worth.")
    default = os.environ.get("CITEGRAPH_CORPORA", "../shared/corpora")
    parser.add_argument("archive", nargs="?", type=Path, default=Path(default))
    parser.add_argument("--set", dest="sets", action="append", choices=sorted(SETS))
    parser.add_argument("--most", type=int, default=40, help="documents of each half")
    arguments = parser.parse_args()
    if not arguments.archive.is_dir():
        print(f"{arguments.archive}: no archive", file=sys.stderr)
        return 2
    known = list(load_buckets().values())
    for name in arguments.sets or ("einvoices", "receipts", "contracts", "ndas", "x509", "advisories"):
        halves = read_halves(arguments.archive, SETS[name], arguments.most)
        for kind, buckets in (("labels", []), ("known", known)):
            try:
                lines = table(name, kind, score(SETS[name], halves, buckets))
            except BadInput as error:
                lines = [f"{name} ({kind}): {error}"]
            print("\n".join(lines), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
