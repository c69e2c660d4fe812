"""Learn by which signs a name or number of a document is told to be a field's (`citegraph.corpus.extraction.choice`).

    python -m training.choice --set FOLDER LABELS [--set FOLDER LABELS ...] --out citegraph/corpus/extraction/choice.json

FOLDER holds files of strangers, LABELS what `benches.documents.strangers_bench` takes; the archive's gold
(`--archive`) counts less, of it `--most` documents a set. What each role has in common is learned from all of its fields,
and what is different from each field alone. One to three minutes of one core beside the reading of the files.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray
from scipy.optimize import minimize

from benches.documents.extraction_bench import documents as of_archive
from benches.documents.extraction_sets import SETS, GoldSet, named
from benches.documents.reading_bench import ARCHIVE
from benches.documents.strangers_bench import FIELDS, TODAY, alike, documents, says
from citegraph.corpus.extraction.choice import OF_NAMES, SEVERAL, Cell, frame_of, role_of
from citegraph.corpus.extraction.engine import source_of
from citegraph.corpus.schema.bucket import Bucket, load_buckets
from citegraph.corpus.schema.document import Document
from citegraph.corpus.schema.field import Field, Role
from citegraph.language.terms import fold, words

LEARNED = (
    *(SETS[name] for name in ("receipts", "einvoices_text_only", "contracts", "ndas")),
    GoldSet("datasheets_components", "datasheets", {"manufacturer": "manufacturer"}),
    GoldSet("certificates_cc", "certificates", named("organization=manufacturer certificate_id=cert_id")),
)
"""Sets of the archive whose gold is learned from."""
OF_ARCHIVE = 0.2
"""How much a document of the archive counts: its many are of few kinds."""
COMMON, APART = 0.5, 1.5
"""How strongly the weights of a role, and what those of a field are apart from them, are held near nothing."""


@dataclass(frozen=True)
class Example:
    """The candidates of a document for a field: the names of their signs, the signs (candidates, signs), and which of them are right."""

    field: str
    role: Role
    names: Sequence[str]
    signs: NDArray[numpy.float64]
    right: NDArray[numpy.bool_]
    counts: float = 1.0


def examples(
    bucket: Bucket, document: Document, labels: Mapping[str, Sequence[str]], counts: float = 1.0
) -> Iterator[Example]:
    """Yield what a document teaches of each field with a role.

    Args:
        labels: field -> its values; one without any is of a document that has none.
    """
    source = source_of(document, today=TODAY)
    for field in bucket.fields:
        role = role_of(field)
        if role is None or field.name not in labels or source.is_mail:
            continue
        frame = frame_of(bucket, field, role, source.printed)
        right = [
            any(_right(bucket, field, role, cell, label) for label in labels[field.name])
            for cell in frame.cells
        ]
        if frame.cells:
            names, signs = frame.signs(field.name)
            yield Example(f"{bucket.name}.{field.name}", role, names, signs, numpy.array(right), counts)


def _right(bucket: Bucket, field: Field, role: Role, cell: Cell, label: str) -> bool:
    """Tell whether a candidate says a label."""
    if role in OF_NAMES:
        return _says(cell.text, label, number=role == "number")
    if cell.value is None or isinstance(cell.value, str):
        return fold(cell.text) == fold(label) or (role == "standard" and alike(cell.text, label))
    return says(bucket, field.name, cell.value, label)


def _says(text: str, label: str, *, number: bool) -> bool:
    """Tell whether a candidate says a label: the number itself, or at least half of the name's words and few others."""
    if number:
        return fold(text) == fold(label)
    said, wanted = len(words(text)), len(words(label))
    return alike(text, label) and wanted <= 2 * said and said <= wanted + 4


def of_strangers(folder: Path, labels: Path, buckets: Mapping[str, Bucket]) -> Iterator[Example]:
    """Yield what the files of a folder teach."""
    for row, document in documents(folder, labels):
        yield from examples(buckets[row["bucket"]], document, labelled(row))


def labelled(row: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return field -> values of a row of labels; fields of which it says that there is none have none."""
    found: dict[str, list[str]] = {}
    for key, fields in FIELDS[row["bucket"]].items():
        said = row["values"].get(key)
        items = said if isinstance(said, list) else [said] if said else []
        if items or key in row.get("absent", ()) or key in row["values"]:
            found[fields[0]] = [str(item["name"] if isinstance(item, dict) else item) for item in items]
    return found


def learn(found: Iterable[Example]) -> dict[str, dict[str, float]]:
    """Return role, and `bucket.field`, -> the weight of each sign.

    The share of a candidate is that of its odds among all, and 1 for none; of a role with several each has its own.
    """
    known = list(found)
    learned: dict[str, dict[str, float]] = {}
    for role in dict.fromkeys(one.role for one in known):
        own = [one for one in known if one.role == role]
        fields = sorted({one.field for one in own})
        names = own[0].names
        size = (1 + len(fields), len(names))
        start = numpy.zeros(size[0] * size[1])
        best = minimize(
            _loss, start, (own, fields, size), method="L-BFGS-B", jac=True, options={"maxiter": 200}
        )
        common, *apart = best.x.reshape(size)
        for key, weights in (
            (role, common),
            *((field, common + more) for field, more in zip(fields, apart, strict=True)),
        ):
            learned[key] = {
                name: round(float(one), 2)
                for name, one in zip(names, weights, strict=True)
                if abs(one) >= 0.01
            }
    return learned


def _loss(
    flat: NDArray[numpy.float64], own: Sequence[Example], fields: Sequence[str], size: tuple[int, int]
) -> tuple[float, NDArray[numpy.float64]]:
    weights = flat.reshape(size)
    held = numpy.array([COMMON, *[APART] * len(fields)])[:, None]
    loss, slope = float((held * weights**2).sum() / 2), held * weights
    for one in own:
        place = 1 + fields.index(one.field)
        scores = numpy.clip(one.signs @ (weights[0] + weights[place]), -30, 30)
        odds = numpy.exp(scores)
        if one.role in SEVERAL:
            shares = odds / (1 + odds)
            loss -= one.counts * float(numpy.log(numpy.where(one.right, shares, 1 - shares)).sum())
            change = shares - one.right
        else:
            whole, mine = 1 + odds.sum(), odds[one.right].sum() if one.right.any() else 1.0
            loss -= one.counts * float(numpy.log(mine / whole))
            change = odds / whole - (odds * one.right / mine if one.right.any() else 0.0)
        slope[[0, place]] += one.counts * (change @ one.signs)
    return loss, slope.ravel()


def main() -> None:
    """Learn and write the weights."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--set", nargs=2, type=Path, action="append", default=[], metavar=("FOLDER", "LABELS"))
    ask.add_argument("--archive", type=Path, default=ARCHIVE)
    ask.add_argument("--most", type=int, default=60)
    ask.add_argument("--out", type=Path, required=True)
    told = ask.parse_args()
    buckets = load_buckets()
    found = [one for folder, labels in told.set for one in of_strangers(folder, labels, buckets)]
    found += archive_examples(told.archive, told.most, buckets)
    write(found, told.out)


def archive_examples(archive: Path, most: int, buckets: Mapping[str, Bucket]) -> Iterator[Example]:
    """Yield what `most` documents of each of the archive's sets teach."""
    for gold in LEARNED:
        rows = list(islice(of_archive(archive, gold), 10 * most))
        for document, row in random.Random(7).sample(rows, min(most, len(rows))):
            said = {field: row[column] for field, column in gold.fields.items() if row.get(column)}
            values = {
                field: [
                    str(one).partition(" (")[0] for one in (value if isinstance(value, list) else [value])
                ]
                for field, value in said.items()
            }
            yield from examples(buckets[gold.bucket], document, values, OF_ARCHIVE)


def write(found: Sequence[Example], out: Path) -> None:
    """Learn from examples and write the weights, a field a line."""
    rows = [f"{json.dumps(key)}: {json.dumps(weights)}" for key, weights in learn(found).items()]
    out.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
