"""Two numbers over one set held against each other, and values of a field that are not counted."""

from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest

from citegraph.answer.set_statements import compose_set
from citegraph.answer.statements import derivations_of
from citegraph.citations.figures.derivations import recompute
from citegraph.language.amounts import number_text
from citegraph.language.terms import fold
from citegraph.run.context import Context
from citegraph.run.services import Corpus


def plan_of(bucket: str, **aggregate: Any) -> Any:
    """Return the plan of a number over all documents of a bucket."""
    part = {"filters": [], "terms": [], "names": [], "asked": [], "identifiers": [], "noun": ""}
    return {
        "kind": "documents",
        "intent": "compute",
        "buckets": [bucket],
        "per_bucket": {bucket: part},
        "queries": ["What is it?"],
        "aggregate": {"group_by": [], **aggregate},
    }


def amounts_of(corpus: Corpus) -> dict[str, list[Decimal]]:
    """Return the totals of the invoices by currency."""
    found: dict[str, list[Decimal]] = defaultdict(list)
    for row in corpus.annotations.rows("invoices", (), ["total_amount"]):
        if row.get("total_amount") is not None:
            found[row["total_amount"].currency].append(row["total_amount"].amount)
    return found


@pytest.mark.parametrize("operation", ["difference", "ratio"])
def test_two_numbers_over_a_set_are_held_against_each_other_by_currency(
    corpus: Corpus, operation: str
) -> None:
    second = {"operation": operation, "function": "min", "field": "total_amount"}
    plan = plan_of("invoices", function="max", field="total_amount", second=second)
    draft = compose_set(corpus, plan, {}, Context())
    amounts = amounts_of(corpus)
    assert len(amounts) > 1
    for currency, held in amounts.items():
        least, most = min(held), max(held)
        wanted = (
            f"Difference: {number_text(most - least)} {currency}."
            if operation == "difference"
            else f"Ratio: {most / least:.2f}."
        )
        assert wanted in draft["text"].split("\n")
    made = derivations_of(draft)
    assert [item.operation for item in made].count(operation) == len(amounts)
    assert all(map(recompute, made))


def test_an_amount_may_be_divided_by_a_count_and_keeps_its_currency(corpus: Corpus) -> None:
    second = {"operation": "ratio", "function": "count", "field": None}
    plan = plan_of("invoices", function="sum", field="total_amount", second=second)
    text = compose_set(corpus, plan, {}, Context())["text"]
    assert {line.split()[2].rstrip(".") for line in text.split("\n") if line.startswith("Ratio: ")} == set(
        amounts_of(corpus)
    )


def test_a_set_without_the_second_number_says_only_the_first(corpus: Corpus) -> None:
    second = {"operation": "difference", "function": "max", "field": "due_date"}
    plan = plan_of("invoices", function="count", field="total_amount", second=second)
    assert "Difference" not in compose_set(corpus, plan, {}, Context())["text"]


def test_different_values_of_a_field_of_several_are_counted_without_those_left_out(corpus: Corpus) -> None:
    rows = [row["parties"] for row in corpus.annotations.rows("contracts", (), ["parties"]) if row["parties"]]
    known = {fold(party): party for parties in rows for party in parties}
    (left_out, _), *_ = sorted(known.items(), key=lambda item: -sum(item[1] in held for held in rows))
    for besides, count in (([], len(known)), ([known[left_out]], len(known) - 1)):
        plan = plan_of("contracts", function="distinct", field="parties", besides=besides)
        draft = compose_set(corpus, plan, {}, Context())
        assert draft["text"].split("\n")[0].endswith(f": {count}.")
        named = {fold(row[0]) for row in draft["table"]["rows"]}
        assert (left_out in named) is not bool(besides)
