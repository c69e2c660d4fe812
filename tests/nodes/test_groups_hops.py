"""Groups of a computed table, versions in force, and the sides of a comparison."""

from datetime import date

import pytest

from citegraph.evidence.candidates import Candidate
from citegraph.evidence.in_force import in_force, replaces
from citegraph.question.groups import read_groups
from citegraph.question.sides import split_sides
from citegraph.run.services import Corpus


@pytest.mark.parametrize(
    ("question", "groups"),
    [
        ("What did we spend per vendor per month in 2024?", ["vendor_name", "invoice_date.month"]),
        ("Ausgaben pro Quartal", ["invoice_date.quarter"]),
        ("total by currency", ["currency"]),
        ("dépenses par année", ["invoice_date.year"]),
        ("invoices due by 3 May", []),
        ("cost per unit", []),
    ],
)
def test_groups_are_fields_and_calendar_units(corpus: Corpus, question: str, groups: list[str]) -> None:
    assert read_groups(corpus.buckets["invoices"], question) == groups


def test_the_version_that_supersedes_is_in_force(corpus: Corpus) -> None:
    bucket = corpus.buckets["generic"]
    old = Candidate("p1", "generic", 1.0, "Policy 1", {"effective_date": date(2023, 1, 1)})
    new = Candidate(
        "p2", "generic", 1.0, "Policy 2", {"effective_date": date(2024, 1, 1), "supersedes": "Policy 1"}
    )
    kept, why = in_force(bucket, [old, new], "What is the cap?", date(2025, 1, 1))
    assert [item.doc_id for item in kept] == ["p2"]
    assert why == "p2 replaces p1; the version in force was used."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was the cap before?", "p2"),
        ("What was the previous cap?", "p2"),
        ("Was war die ursprüngliche Obergrenze?", "p1"),
        ("What is the cap for trips before 6 May?", "p3"),
        ("What is the cap?", "p3"),
    ],
)
def test_an_earlier_version_is_used_when_it_is_asked_for(
    corpus: Corpus, question: str, expected: str
) -> None:
    versions = [
        Candidate(f"p{n}", "generic", 1.0, f"Policy {n}", {"supersedes": f"Policy {n - 1}"} if n > 1 else {})
        for n in (1, 2, 3)
    ]
    kept, why = in_force(corpus.buckets["generic"], versions, question, date(2025, 1, 1))
    assert [item.doc_id for item in kept] == [expected]
    assert why.startswith("p3 replaces p1, p2;" if expected == "p3" else f"p3 is in force; {expected},")


@pytest.mark.parametrize(
    ("named", "title", "expected"),
    [
        ("policy", "Travel policy", False),
        ("PO-1", "PO-12", False),
        ("PO-1", "Order PO-1 of May", True),
        ("travel policy", "Travel policy", True),
    ],
)
def test_a_word_alone_names_no_document(corpus: Corpus, named: str, title: str, expected: bool) -> None:
    bucket = corpus.buckets["generic"]
    new, old = (
        Candidate("n", "generic", 1.0, "New", {"supersedes": named}),
        Candidate("o", "generic", 1.0, title),
    )
    assert replaces(bucket, new, old) is expected


def test_the_current_one_is_the_latest_that_has_taken_effect(corpus: Corpus) -> None:
    bucket = corpus.buckets["generic"]
    versions = [
        Candidate(f"p{year}", "generic", 1.0, "Policy", {"effective_date": date(year, 1, 1)})
        for year in (2022, 2023)
    ]
    kept, _ = in_force(bucket, versions, "What is the current cap?", date(2025, 1, 1))
    assert [item.doc_id for item in kept] == ["p2023"]
    kept, why = in_force(bucket, versions, "What is the cap?", date(2025, 1, 1))
    assert (len(kept), why) == (2, "")


def test_two_codes_are_two_sides(corpus: Corpus) -> None:
    question = "How do the notice periods of KC-2023-04 and KC-2024-11 differ?"
    sides = split_sides(corpus.buckets["contracts"], corpus.linker, question, today=date(2025, 1, 1))
    assert [side.label for side in sides] == ["KC-2023-04", "KC-2024-11"]
    assert "KC-2024-11" not in sides[0].question
