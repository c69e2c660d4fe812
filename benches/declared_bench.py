"""How well conditions reach the fields of declarations nobody has seen: python -m benches.declared_bench [FILE].

Rows are kinds of documents with fields and questions, as in training/fields; without a file those held out on 2026-11-29.
Nothing is stored, so names can be linked to nothing: dates, numbers and yes or no are what is compared.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from citegraph.corpus.filters.clause import Filters, filtered_fields, typed_filters
from citegraph.corpus.linking.linker import ValueLinker
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.schema.bucket import Bucket
from citegraph.question.clauses import read_question

HELD = Path(__file__).parent / "first_looks" / "fields-2026-11-29.jsonl"
COMPARED = {"date", "money", "quantity", "integer", "decimal", "boolean"}
DAY = date(2032, 1, 1)


def bucket_of(kind: Mapping[str, Any]) -> Bucket:
    """Return the declaration of a kind: names, types, units and what people call the fields, no more."""
    fields = [
        {"name": one["name"], "type": one["type"], "description": one["words"], "unit": one.get("unit")}
        for one in kind["fields"]
    ]
    first = {one["type"]: one["name"] for one in reversed(fields)}
    return Bucket(
        name="documents",
        description=kind["kind"],
        nouns=(kind["kind"],),
        fields=fields,
        main_date=first.get("date"),
        main_amount=first.get("money"),
    )


def fields_in(filters: Filters, bucket: Bucket) -> set[str]:
    """Return the fields of conditions that need nothing stored."""
    named = {name for clause in filters for name in filtered_fields(clause)}
    return {
        declared.name for declared in bucket.fields if declared.type in COMPARED and declared.name in named
    }


def main() -> None:
    """Print how many questions have exactly the right fields, and precision and recall of fields."""
    ask = argparse.ArgumentParser()
    ask.add_argument("file", nargs="?", type=Path, default=HELD)
    ask.add_argument("--misses", action="store_true")
    told = ask.parse_args()
    seen = Counter[str]()
    for line in told.file.read_text("utf-8").splitlines():
        kind = json.loads(line)
        bucket = bucket_of(kind)
        types = {one["name"]: one["type"] for one in kind["fields"]}
        with tempfile.TemporaryDirectory() as folder:
            store = AnnotationStore(f"sqlite:///{folder}/a.sqlite", {bucket.name: bucket})
            linker = ValueLinker(store)
            for asked in kind["questions"]:
                wanted = {
                    part["field"]
                    for part in asked["says"]
                    if part["role"] == "condition" and types[part["field"]] in COMPARED
                }
                if not wanted:
                    continue
                found = fields_in(
                    typed_filters(read_question(bucket, linker, asked["q"], DAY)["filters"]), bucket
                )
                seen["questions"] += 1
                seen["exact"] += found == wanted
                seen["hit"] += len(found & wanted)
                seen["found"] += len(found)
                seen["wanted"] += len(wanted)
                if told.misses and found != wanted:
                    print(sorted(found), "for", sorted(wanted), asked["q"])
    print(
        json.dumps(
            {
                "questions": seen["questions"],
                "exact": round(seen["exact"] / seen["questions"], 3),
                "precision": round(seen["hit"] / max(1, seen["found"]), 3),
                "recall": round(seen["hit"] / seen["wanted"], 3),
            }
        )
    )


if __name__ == "__main__":
    main()
