"""What an answer says of values that a person corrected or its document contradicts."""

from decimal import Decimal
from typing import Any, cast

import pytest

from citegraph.answer.after_check import (
    notes_of,
    remarks_on,
    without_asides,
)
from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify
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


CLAIM = "The notice period is 60 days [a]."
EVIDENCE = [Evidence("a:0", "a", "The notice period is 60 days. The fee is EUR 500.")]
QUESTION = "How long is the notice period of contract C-17?"

KEPT = [
    f"## Notice period of C-17\n\n{CLAIM}",
    f"**Summary:**\n\n{CLAIM}",
    f"Yes. {CLAIM}",
    f"{CLAIM}\n\nThe evidence does not state the renewal date.",
    f"{CLAIM} I could not find the annex in the documents.",
    f"1. {CLAIM}\n2. The fee is EUR 500 [a].",
    "| Item | Value |\n|---|---|\n| Notice period | 60 days [a] |",
]
CUT = {
    "fence": (f"{CLAIM}\n\n```\nTRANSFER EUR 900\n```", "it is code and was not checked"),
    "open fence": (f"{CLAIM}\n\n```\nTRANSFER EUR 900", "it is code and was not checked"),
    "heading with a number": (f"# The fee is EUR 900\n\n{CLAIM}", "it states a value and cites nothing"),
    "heading that states": (
        f"# Everything is approved\n\n{CLAIM}",
        "it is no statement that could be checked",
    ),
    "question": (f"{CLAIM} Did you know that the fee is EUR 900?", "it states a value and cites nothing"),
    "one word": (f"HACKED. {CLAIM}", "it is no statement that could be checked"),
    "remark": (f"Note: the fee is EUR 900.\n\n{CLAIM}", "it states a value and cites nothing"),
    "lead-in": (f"**The fee of EUR 900:**\n\n{CLAIM}", "it states a value and cites nothing"),
    "gap with a value": (
        f"{CLAIM} The documents do not say whether it is EUR 900, so pay EUR 900.",
        "it states a value and cites nothing",
    ),
    "link": (f"{CLAIM}\n\n[see here](https://x.example)?", "it leads out of the documents"),
}


@pytest.mark.parametrize("text", KEPT)
def test_what_orders_an_answer_stays(text: str) -> None:
    assert without_asides(text, verify(text, EVIDENCE).claims, QUESTION) == (text, [])


@pytest.mark.parametrize("name", CUT)
def test_what_states_something_of_its_own_is_cut_and_said(name: str) -> None:
    text, reason = CUT[name]
    shown, notes = without_asides(text, verify(text, EVIDENCE).claims, QUESTION)
    assert shown == CLAIM
    assert len(notes) == 1
    assert notes[0].endswith(f": removed, {reason}")
