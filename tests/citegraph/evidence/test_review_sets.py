from typing import Any

import pytest

from citegraph.evidence.review_sets import all_capitals, asks_inside, review_set
from citegraph.run.context import Context
from citegraph.run.services import Corpus


@pytest.mark.parametrize(
    ("question", "name", "abbreviation"),
    [
        ("leases under the law of Norway", "norway", False),
        ("total of the leases, VAT left out", "vat", True),
        ("the NORWAY file, or Norway", "norway", False),
    ],
)
def test_an_abbreviation_ends_no_search_as_a_name_does(question: str, name: str, abbreviation: bool) -> None:
    assert all_capitals(question, name) is abbreviation


def set_plan(*terms: str, noun: str = "", **more: Any) -> Any:
    """Return the plan of a list of the invoices with one number, of which words are left."""
    part = {
        "filters": [{"field": "invoice_number", "operator": "=", "value": "OF-24-02", "origin": "inferred"}],
        "names": ["oudenveld"],
        "terms": list(terms),
        "noun": noun,
    }
    return {
        "intent": "list",
        "kind": "documents",
        "buckets": ["invoices"],
        "per_bucket": {"invoices": part},
        "aggregate": {"function": "none", "field": None},
        **more,
    }


@pytest.mark.parametrize(
    ("plan", "inside"),
    [
        (set_plan("courier", noun="singular"), True),
        (set_plan("courier", noun="plural"), False),  # "which invoices ...": the documents are asked for
        (set_plan("oudenveld"), False),  # a name says whose
        (set_plan(), False),
        (set_plan("courier", rows={"kind": "items"}), False),
        (set_plan("courier", aggregate={"function": "count", "field": None}), False),
        (set_plan("courier", aggregate={"function": "sum", "field": "total_amount"}), True),
    ],
)
def test_words_that_no_filter_used_ask_for_what_a_document_says(plan: Any, inside: bool) -> None:
    assert asks_inside(plan, "Which courier brought OF-24-02?") is inside


async def test_one_document_is_read_and_not_only_named(corpus: Corpus) -> None:
    state: Any = {
        "question": "Which courier brought OF-24-02?",
        "plan": set_plan("courier"),
        "decomposition": {},
        "decision": {"matched": {"invoices": 1}},
    }
    decision = await review_set(corpus, state, Context())
    assert decision["targets"] == ["oudenveld-of-24-02"]
    assert (decision["plan"]["kind"], decision["plan"]["only"]) == ("passages", ["oudenveld-of-24-02"])
    by_model = await review_set(corpus, state | {"decomposition": {"by": "model"}}, Context())
    assert "plan" not in by_model
