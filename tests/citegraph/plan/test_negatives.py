"""Amounts below zero: credit notes that no field calls so, left out and taken with them, and named where they are counted."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from citegraph.answer.set_statements import below_zero_notes
from citegraph.corpus.filters.clause import typed_filters
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.language.amounts import Money
from citegraph.plan.narrowing import with_negatives


def eur(text: str) -> Money:
    return Money(Decimal(text), "EUR")


ROWS = [
    ("bill", {"vendor_name": "Tarn", "document_type": "invoice", "total_amount": eur("80"), "amount_due": eur("30")}),
    ("back", {"vendor_name": "Tarn", "document_type": "invoice", "total_amount": eur("-25"), "amount_due": eur("-25")}),
    ("note", {"vendor_name": "Tarn", "document_type": "credit note", "total_amount": eur("-5")}),
    ("open", {"vendor_name": "Tarn", "document_type": "invoice"}),
    ("other", {"vendor_name": "Oda", "document_type": "invoice", "total_amount": eur("9")}),
]  # fmt: skip


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: Any) -> Any:
    buckets = load_buckets()
    store = AnnotationStore(f"sqlite:///{tmp_path_factory.mktemp('negatives')}/rows.sqlite", buckets)
    store.put("invoices", ROWS)
    return SimpleNamespace(buckets=buckets, annotations=store)


def planned(vendor: str, *clauses: tuple[str, Any], field: str | None = None, function: str = "count") -> Any:
    filters = [
        {"field": "vendor_name", "operator": "=", "value": vendor, "origin": "inferred"},
        *({"field": "document_type", "operator": one, "value": value, "origin": "inferred"} for one, value in clauses),
    ]  # fmt: skip
    return {
        "intent": "compute",
        "kind": "documents",
        "buckets": ["invoices"],
        "per_bucket": {"invoices": {"filters": filters}},
        "aggregate": {"function": function, "field": field},
    }


def documents(corpus: Any, plan: Any) -> set[str]:
    filters = typed_filters(plan["per_bucket"]["invoices"]["filters"])
    return set(corpus.annotations.document_ids("invoices", filters))


@pytest.mark.parametrize(
    ("clause", "found", "said"),
    [
        (("!=", "credit note"), {"bill", "open"}, 1),
        (("not in", ["credit note", "receipt"]), {"bill", "open"}, 1),
        (("=", "credit note"), {"back", "note"}, 1),
        (("in", ["credit note"]), {"back", "note"}, 1),
        (("=", "invoice"), {"bill", "back", "open"}, 0),
        (("!=", "receipt"), {"bill", "back", "note", "open"}, 0),
    ],
)
def test_an_amount_below_zero_makes_a_credit_note(
    corpus: Any, clause: Any, found: set[str], said: int
) -> None:
    plan, lines = with_negatives(corpus, planned("Tarn", clause))
    assert documents(corpus, plan) == found
    assert len(lines) == said
    assert all(line.startswith("1 document with a total amount below zero: ") for line in lines)


def test_without_one_below_zero_the_filters_stay(corpus: Any) -> None:
    before = planned("Oda", ("!=", "credit note"))
    after, lines = with_negatives(corpus, before)
    assert (after["per_bucket"], lines) == (before["per_bucket"], [])


def test_an_invoice_below_zero_is_named_where_it_is_counted(corpus: Any) -> None:
    plan = planned("Tarn", ("=", "invoice"))
    (said,) = below_zero_notes(corpus, plan, sorted(documents(corpus, plan)))
    assert said["message"] == "1 of them with a total amount below zero, counted as such: back."
    (due,) = below_zero_notes(corpus, planned("Tarn", field="amount_due", function="sum"), ["bill", "back"])
    assert "amount due" in due["message"]
    assert below_zero_notes(corpus, planned("Oda"), ["other"]) == []
