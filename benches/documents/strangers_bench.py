"""Extraction against labels of public files that nobody who wrote the rules had seen: precision and recall a bucket.

    python -m benches.documents.strangers_bench FOLDER [--labels FILE] [--misses]

The labels (`benches/first_looks/documents-*.jsonl`) name repository and path of each file; the files may not be committed,
so fetch them into FOLDER by the names that the labels give. Read and extracted as an ingest does, into the bucket that
the label names. A value counts as `extraction_bench` counts; of names one may hold the other.
"""

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from benches.documents.extraction_bench import SURE, Score, agrees, as_read
from benches.documents.extraction_sets import named
from citegraph.corpus.extraction.engine import extract_document
from citegraph.corpus.extraction.in_text import find_typed
from citegraph.corpus.records.extracted.found import FoundRow
from citegraph.corpus.records.extracted.settle import settle
from citegraph.corpus.schema.bucket import Bucket, load_buckets, show
from citegraph.corpus.schema.document import Document
from citegraph.corpus.schema.field import Value
from citegraph.errors import BadInput
from citegraph.language.terms import fold, words
from citegraph.language.units import conversion

LABELS = Path(__file__).parents[1] / "first_looks" / "documents-2026-11-29g.jsonl"
FIELDS = {
    bucket: {key: tuple(fields.split("|")) for key, fields in named(said).items()}
    for bucket, said in {
        "invoices": """number=invoice_number date=invoice_date due_date seller=vendor_name buyer=customer_name currency
            net=net_amount tax=tax_amount total=total_amount""",
        "contracts": """title kind=contract_type parties date=agreement_date|contract_date term notice_period
            effective_date=effective_date|contract_date end_date=expiration_date governing_law""",
        "datasheets": "title product manufacturer revision date=document_date|revision_date package",
        "certificates": """product=subject subject holder=organization issuer number=certificate_id|serial_number
            standards valid_from valid_until""",
        "generic": """title date=published_date|effective_date author from=author to=recipients subject=title
            kind=document_type reference=reference_number""",
    }.items()
}
"""Key of the labels -> fields of the bucket, any of which may hold it."""

TODAY = date(2026, 12, 31)
"""No file that was collected is younger: a day that lies ahead is none that a document was made on."""
LISTS = frozenset({"parties", "standards", "to"})
LINES = 8
"""Lines of an invoice that are labelled at most: of one with so many the others are not counted."""


def documents(folder: Path, labels: Path) -> Iterator[tuple[Mapping[str, Any], Document]]:
    """Yield the labels of each file with the document that an ingest reads of it; those that are absent are said."""
    for row in map(json.loads, labels.read_text("utf-8").splitlines()):
        path = folder / row["file"]
        if not path.exists():
            print(f"{row['file']} of {row['repo']} is not there", file=sys.stderr)
            continue
        named_only = Document(path.stem, row["bucket"], "", path.name, "")
        try:
            yield row, as_read(named_only, path, whole=True)
        except BadInput as problem:  # an ingest names it as unreadable: nothing of it is found
            print(f"{path.name}: {problem}", file=sys.stderr)
            yield row, named_only


def score(row: Mapping[str, Any], document: Document, bucket: Bucket, scores: Mapping[str, Score]) -> None:
    """Count the values of one document under its bucket, and its rows under "lines" or "ratings"."""
    extraction = extract_document(bucket, document, today=TODAY)
    found = settle(bucket, document.text, {}, extraction, {}).values
    labels, into = row["values"], scores[bucket.name]
    if lines := labels.get("lines"):
        rows = [item for item in extraction.rows if item.kind == "line_items"]
        _pair_off(scores["lines"], row["file"], lines, rows, _line, whole=len(lines) < LINES)
    for rating in labels.get("ratings") or ():
        _count_rating(scores["ratings"], row["file"], rating, extraction.rows)
    for key, names in FIELDS[bucket.name].items():
        label, where = labels.get(key), f"{row['file']} {key}"
        held = [(name, found[name]) for name in names if name in found]
        if label in (None, "", []):
            continue
        if key in LISTS and isinstance(label, list):
            wanted = [item["name"] if isinstance(item, dict) else str(item) for item in label]
            value = held[0][1] if held else ()
            _pair_off(into, where, wanted, value if isinstance(value, tuple) else (show(value),), alike)
            continue
        right = any(says(bucket, name, value, label) for name, value in held)
        into.right += right
        into.wrong += bool(held) and not right
        into.missing += not held
        if held and (best := extraction.fields.get(held[0][0])) and best.confidence >= SURE:
            into.sure = (into.sure[0] + right, into.sure[1] + (not right))
        if not right:
            into.misses.append((where, str(label), show(held[0][1]) if held else ""))


def says(bucket: Bucket, name: str, value: Value, label: Any) -> bool:
    """Tell whether a value says what a label says; of names one may hold the other."""
    declared = bucket.field(name)
    assert declared is not None
    if declared.type == "money":
        label = f"{label} {getattr(value, 'currency', None) or ''}".strip()
    if declared.kind == "jurisdiction":
        # "droit français" is what the label says, and France what the field holds.
        read = (
            found.value for found in find_typed(declared, str(label), today=TODAY, order=bucket.date_order)
        )
        if any(agrees(declared, value, show(one)) for one in read):
            return True
    named = declared.type in {"text", "keyword", "keywords"}
    return agrees(declared, value, label) or (named and alike(show(value), str(label)))


def _pair_off(
    into: Score,
    where: str,
    wanted: Sequence[Any],
    found: Sequence[Any],
    alike: Callable[[Any, Any], bool],
    *,
    whole: bool = True,
) -> None:
    """Count labelled items that are found, those that are not, and, where `whole` are labelled, what else is found."""
    left = list(found)
    for label in wanted:
        same = next((item for item in left if alike(item, label)), None)
        if same is None:
            into.missing += 1
            into.misses.append((where, str(label), ""))
        else:
            left.remove(same)
            into.right += 1
    if whole:
        into.wrong += len(left)
        into.misses += [(where, "", str(item)) for item in left]


def alike(one: str, other: str) -> bool:
    """Tell whether the words of one name are among those of the other."""
    shorter, longer = sorted((words(one), words(other)), key=len)
    return bool(shorter) and set(shorter) <= set(longer)


def _line(row: FoundRow, label: Mapping[str, Any]) -> bool:
    """Tell whether a row has the words of a labelled line, and its quantity, price and amount as far as they are labelled."""
    numbers = ((row.values.get(key), label.get(key)) for key in ("quantity", "unit_price", "amount"))
    same = all(
        getattr(value, "amount", value) == Decimal(str(said)) for value, said in numbers if said is not None
    )
    return same and alike(str(row.values.get("description", "")), str(label.get("description", "")))


def _count_rating(into: Score, where: str, label: Mapping[str, Any], rows: Sequence[FoundRow]) -> None:
    """Count a labelled rating as right when a row of its words has its numbers and its unit; labels name some rows only."""
    named = [row for row in rows if _names(row, label["parameter"])]
    right = any(_rates(row, label) for row in named)
    into.right += right
    into.wrong += bool(named) and not right
    into.missing += not named
    if not right:
        into.misses.append((where, str(label), "; ".join(row.raw for row in named)))


def _names(row: FoundRow, parameter: str) -> bool:
    said = " ".join(str(row.values.get(key, "")) for key in ("parameter", "symbol", "condition"))
    return alike(said, parameter) or alike(str(row.values.get("parameter", "")), parameter)


def _rates(row: FoundRow, label: Mapping[str, Any]) -> bool:
    unit, wanted = row.values.get("unit"), label.get("unit")
    if unit and wanted and not _same_unit(str(unit), wanted):
        return False
    said = {key: label[key].replace(",", ".") for key in ("min", "typ", "max") if label.get(key)}
    numbers = {key: re.sub(r"[^\d.]", "", text) for key, text in said.items()}
    held = {key: (row.values.get(key), row.values.get("value")) for key in numbers}
    return all(
        any(isinstance(value, float) and abs(value) == float(number) for value in held[key])
        for key, number in numbers.items()
    )


def _same_unit(one: str, other: str) -> bool:
    one, other = (re.sub("[˚º]", "°", unit) for unit in (one, other))
    try:
        return fold(one) == fold(other) or conversion(one, other) == (1, 0)
    except BadInput:
        return False


def main() -> int:
    """Print the figures a bucket; return 1 when no file is there."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("folder", type=Path)
    ask.add_argument("--labels", type=Path, default=LABELS)
    ask.add_argument("--misses", action="store_true")
    told = ask.parse_args()
    buckets, scores = load_buckets(), defaultdict[str, Score](Score)
    for row, document in documents(told.folder, told.labels):
        score(row, document, buckets[row["bucket"]], scores)
    for name, one in scores.items():
        figures = f"precision {one.precision:.2f}  recall {one.recall:.2f}"
        print(f"{name:13} {figures}  at {SURE}: right {one.sure[0]} of {sum(one.sure)}")
        for where, label, value in one.misses if told.misses else ():
            print(f"    {where}: {label!r}, found {value!r}")
    return 0 if scores else 1


if __name__ == "__main__":
    sys.exit(main())
