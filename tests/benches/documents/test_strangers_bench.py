"""What a labelled public file counts: right, wrong and missing values, parties by name, lines by words and numbers."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from benches.documents.calibration_bench import judged_strangers
from benches.documents.extraction_bench import Score
from benches.documents.strangers_bench import documents, score
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.corpus.schema.document import Document

LEASE = """LEASE AGREEMENT

This Lease Agreement is made on 3 May 2021 between Quarrow Holdings Ltd and Tamsel Joinery GmbH.

This Agreement is governed by the laws of Delaware.
"""


def scored(tmp_path: Path, file: str, text: str, bucket: str, values: dict[str, Any]) -> dict[str, Score]:
    (tmp_path / file).write_text(text, "utf-8")
    labels = tmp_path / "labels.jsonl"
    rows = [{"file": name, "repo": "a/b", "bucket": bucket, "values": values} for name in (file, "gone.pdf")]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    scores = defaultdict[str, Score](Score)
    for row, document in documents(tmp_path, labels):
        score(row, document, load_buckets()[bucket], scores)
    return scores


def test_values_are_right_wrong_or_missing_and_a_file_that_is_absent_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = {
        "parties": [{"name": "Quarrow Holdings Ltd"}, {"name": "Brandl AG"}],
        "date": "2021-05-03",
        "governing_law": "laws of the State of Delaware",
        "notice_period": "90 days",
    }
    counted = scored(tmp_path, "lease.txt", LEASE, "contracts", values)["contracts"]
    # Right: one party, the date, the law; wrong: a party that no label names; missing: a party, the notice period.
    assert (counted.right, counted.wrong, counted.missing) == (3, 1, 2)
    assert {where for where, _, _ in counted.misses} == {"lease.txt parties", "lease.txt notice_period"}
    assert "gone.pdf of a/b is not there" in capsys.readouterr().err


def test_what_the_rules_find_in_strangers_files_counts_for_the_calibration(tmp_path: Path) -> None:
    values = {
        "parties": [{"name": "Quarrow Holdings Ltd"}, {"name": "Brandl AG"}],
        "date": "2022-05-03",
        "term": "",
    }
    document = Document("lease", "contracts", LEASE, "lease.txt", "")
    judged = judged_strangers([({"bucket": "contracts", "values": values}, document)], load_buckets())
    assert {value.found.best.field: (value.right, value.half) for value in judged} == {
        "parties": (0.5, "first"),
        "agreement_date": (0.0, "first"),
    }


def test_a_law_may_be_labelled_by_its_adjective(tmp_path: Path) -> None:
    counted = scored(
        tmp_path,
        "lease.txt",
        LEASE.replace("Delaware", "Italy"),
        "contracts",
        {"governing_law": "diritto italiano"},
    )
    assert counted["contracts"].right == 1


def test_a_line_needs_its_words_and_every_number_that_is_labelled(tmp_path: Path) -> None:
    text = (
        "INVOICE no. 2021-77\n\n| Description | Quantity | Unit price | Amount |\n|---|---|---|---|\n"
        "| Oak board | 2 | 10.00 | 20.00 |\n| Steel hinge | 4 | 5.00 | 20.00 |\n\nTotal: 40.00 EUR\n"
    )
    lines = [
        {"description": "Oak board", "quantity": 2, "unit_price": 10.0, "amount": 20.0},
        {"description": "Steel hinge", "quantity": 3, "amount": 20.0},
    ]
    counted = scored(tmp_path, "invoice.md", text, "invoices", {"lines": lines})["lines"]
    assert (counted.right, counted.wrong, counted.missing) == (1, 1, 1)


def test_a_rating_is_right_by_its_numbers_and_unit_and_rows_that_no_label_names_count_for_nothing(
    tmp_path: Path,
) -> None:
    text = (
        "QX4410 driver datasheet\n\n| Parameter | Min | Typ | Max | Unit |\n|---|---|---|---|---|\n"
        "| Gate voltage | 2 | 3 | 4 | V |\n| Drain current | | 5 | 7 | mA |\n| Weight | | 9 | | g |\n"
    )
    ratings = [
        {"parameter": "Gate voltage", "min": "2", "max": "4", "unit": "volts"},
        {"parameter": "Drain current", "max": "7", "unit": "A"},
        {"parameter": "Rise time", "typ": "9", "unit": "ns"},
    ]
    counted = scored(tmp_path, "driver.md", text, "datasheets", {"ratings": ratings})["ratings"]
    assert (counted.right, counted.wrong, counted.missing) == (1, 1, 1)
