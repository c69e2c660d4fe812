"""What an answer says of values that a person corrected or its document contradicts."""

from decimal import Decimal
from typing import Any, cast

from citegraph.answer.after_check import notes_of, remarks_on
from citegraph.corpus.records.annotations.annotation_tables import Source
from citegraph.language.amounts import Money
from citegraph.run.services import Corpus

SOURCES = {
    "a": {
        "total_amount": Source(by="person", against="48 GBP (page 2)"),
        "vendor_name": Source(by="rules"),
        "due_date": Source(by="person"),
    },
    "b": {"total_amount": Source(1, 2, 3, against="999 EUR (page 1)", method="embedded")},
    "c": {"total_amount": Source(1, 2, 3)},
}
VALUES = {"a": {"total_amount": Money(Decimal(50), "GBP")}, "b": {"total_amount": Money(Decimal(119), "EUR")}}


class Annotations:
    """Values and sources of three documents."""

    def sources_of(self, bucket: str, doc_ids: list[str]) -> dict[str, Any]:
        return {doc_id: SOURCES[doc_id] for doc_id in doc_ids if doc_id in SOURCES}

    def values_of(self, bucket: str, doc_ids: list[str]) -> dict[str, Any]:
        return {doc_id: VALUES[doc_id] for doc_id in doc_ids}


def said(plan: dict[str, Any], draft: dict[str, Any], text: str) -> list[str]:
    corpus = cast(Corpus, type("Stub", (), {"annotations": Annotations()})())
    notes = notes_of(remarks_on(corpus, {"buckets": ["invoices"]} | plan, draft, text))
    return [f"{item['kind']}: {item['message']}" for item in notes]


def test_values_that_an_answer_states_sums_or_filters_by() -> None:
    corrected = (
        "corrected: a: total amount 50.00 GBP is a person's correction; the document gives 48 GBP (page 2)."
    )
    against = (
        "contradicted: b: total amount 119.00 EUR was taken from the data inside the file; "
        "the document also says 999 EUR (page 1)."
    )
    whole = {"documents": ["a", "b", "c"]}
    assert said({"aggregate": {"function": "sum", "field": "total_amount"}}, whole, "169") == [
        corrected,
        against,
    ]
    assert said({}, {"cited": [{"doc": "a"}]}, "Total amount: 50.00 GBP [a].") == [corrected]
    filtered = {"per_bucket": {"invoices": {"filters": [{"field": "total_amount"}]}}}
    assert said(filtered, {"cited": [{"doc": "b"}]}, "R-1 [b].") == [against]
    assert said({}, whole, "Elm Ltd issued it [a].") == []
    asked = {"per_bucket": {"invoices": {"filters": [], "asked": ["due_date"]}}}
    assert said(asked, whole, "It does not say.") == [
        "corrected: a: due date none is a person's correction; it was not found in the document."
    ]
