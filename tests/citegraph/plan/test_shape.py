"""What analysts ask: shares, medians, days between dates, different values, changes, groups kept and ranked."""

from typing import Any

import pytest

from citegraph.answer.set_statements import compose_set
from citegraph.plan.make import make_plan
from citegraph.plan.stored_filters import printed
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from nodes.decompose import decompose

COBALTINE = "Cobaltine Cloud Inc."


def planned(corpus: Corpus, bucket: str, question: str) -> Any:
    state: Any = {
        "question": question,
        "routes": [{"bucket": bucket, "score": 1.0, "reason": ""}],
        "decomposition": decompose(question),
    }
    return make_plan(corpus, state, Context(today="2025-03-01"))[0]


@pytest.mark.parametrize(
    ("bucket", "question", "function", "field"),
    [
        ("invoices", "What is the median amount of the invoices in EUR?", "median", "total_amount"),
        ("invoices", "median tax of all invoices", "median", "tax_amount"),
        ("invoices", "average net amount of the invoices of 2024", "average", "net_amount"),
        ("contracts", "average term of the contracts", "average", "term"),
        ("invoices", "How many different vendors do we have?", "distinct", "vendor_name"),
        ("invoices", "how many suppliers sent invoices in 2024?", "distinct", "vendor_name"),
        ("invoices", "Wie viele verschiedene Lieferanten gibt es?", "distinct", "vendor_name"),
        ("invoices", "How many invoices are there?", "count", None),
        (
            "invoices",
            "average number of days between invoice date and due date of all invoices",
            "average",
            "due_date - invoice_date",
        ),
        ("invoices", "What share of the invoices is over 500 EUR?", "share", None),
        ("invoices", "Welcher Anteil der Rechnungen ist von Cobaltine Cloud?", "share", None),
    ],
)
def test_a_number_is_computed_over_what_is_named(
    corpus: Corpus, bucket: str, question: str, function: str, field: str | None
) -> None:
    plan = planned(corpus, bucket, question)
    assert (plan["intent"], plan["kind"]) == ("compute", "documents")
    assert (plan["aggregate"]["function"], plan["aggregate"]["field"]) == (function, field)
    draft = compose_set(corpus, plan, {}, Context(today="2025-03-01"))
    assert not draft.get("unanswerable"), draft["text"]
    assert draft["derivations"] or "date" in str(field)


@pytest.mark.parametrize(
    "question",
    [
        "What is the list price of the GX40?",
        "Show me the packing list of Kestrelwick",
        "Is there a count of pallets in the depot?",
        "What is the maximum load of the Kestrelwick crane?",
        "What is the notice period of the lease with Bukit Seraya Properties?",
    ],
)
def test_what_one_document_says_is_no_list_and_no_number(corpus: Corpus, question: str) -> None:
    assert planned(corpus, "generic", question)["kind"] == "passages"


def test_the_conditions_before_the_verb_are_the_whole_of_a_share(corpus: Corpus) -> None:
    plan = planned(corpus, "invoices", "What share of the EUR invoices is from Cobaltine Cloud?")
    assert [printed(clause) for clause in plan["aggregate"]["whole"]] == ["total amount = EUR"]
    plan = planned(corpus, "invoices", "percentage of invoices over 500 EUR")
    assert plan["aggregate"]["whole"] == []


def test_two_periods_are_set_against_each_other(corpus: Corpus) -> None:
    plan = planned(corpus, "invoices", "How much more did we spend in 2024 than in 2023?")
    sides = [[printed(clause) for clause in side] for side in plan["aggregate"]["sides"]]
    assert sides == [
        ["invoice date between 2024-01-01, 2024-12-31"],
        ["invoice date between 2023-01-01, 2023-12-31"],
    ]
    text = compose_set(corpus, plan, {}, Context(today="2025-03-01"))["text"]
    assert "2024: sum of total amount" in text


def test_groups_are_kept_by_their_count_and_ranked(corpus: Corpus) -> None:
    plan = planned(corpus, "invoices", "Which vendors have more than 1 invoice?")
    assert plan["aggregate"]["having"] == {"column": "count", "operator": ">", "value": "1"}
    draft = compose_set(corpus, plan, {}, Context(today="2025-03-01"))
    assert all(row[1] > 1 for row in draft["table"]["rows"])
    top = planned(corpus, "invoices", "top 2 vendors by number of invoices")
    assert (top["aggregate"]["function"], top["aggregate"]["limit"]) == ("count", 2)
    draft = compose_set(corpus, top, {}, Context(today="2025-03-01"))
    assert draft["text"].startswith("Ranked by their number of documents:")


def test_a_ranking_keeps_currencies_apart(corpus: Corpus) -> None:
    plan = planned(corpus, "invoices", "the two largest invoices")
    draft = compose_set(corpus, plan, {}, Context(today="2025-03-01"))
    assert "2 of each currency" in draft["text"].splitlines()[0]
    one = planned(corpus, "invoices", "the two largest invoices in EUR")
    assert len(compose_set(corpus, one, {}, Context(today="2025-03-01"))["documents"]) == 2


def test_what_became_no_condition_stands_in_the_first_line(corpus: Corpus) -> None:
    plan = planned(corpus, "invoices", "Which invoices of 2024 were never paid?")
    draft = compose_set(corpus, plan, {}, Context(today="2025-03-01"))
    assert draft["text"].startswith("Note: not used as a condition: never.")
    assert "never" in draft["partial"]


@pytest.mark.parametrize(
    ("question", "descending"),
    [
        ("Invoices from Cobaltine Cloud, biggest first", True),
        ("Rechnungen von Cobaltine Cloud, die kleinste zuerst", False),
        ("factures de Cobaltine Cloud, les plus chères d'abord", True),
    ],
)
def test_a_superlative_first_orders_all_of_them(corpus: Corpus, question: str, descending: bool) -> None:
    plan = planned(corpus, "invoices", question)
    assert plan["intent"] == "list"
    assert plan["order_by"] == {"field": "total_amount", "descending": descending, "limit": 0}


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        ("What share of the EUR invoices is from Cobaltine Cloud?", "total amount = EUR"),
        ("Anteil von Cobaltine Cloud an allen Rechnungen in EUR", "total amount = EUR"),
        ("share of Cobaltine Cloud among the invoices in EUR", "total amount = EUR"),
    ],
)
def test_a_share_is_of_what_stands_before_the_verb_or_behind_among(
    corpus: Corpus, question: str, whole: str
) -> None:
    made = planned(corpus, "invoices", question)["aggregate"]
    assert made["function"] == "share"
    assert [printed(clause) for clause in made["whole"]] == [whole]


def test_a_price_per_share_is_no_share(corpus: Corpus) -> None:
    plan = planned(corpus, "contracts", "What price per share does the NDA with Oudenveld name?")
    assert plan["aggregate"]["function"] == "none"


@pytest.mark.parametrize(
    "question",
    [
        "How much rent does Oudenveld pay each spring under the lease?",
        "Give me the name of the clerk at Oudenveld who guards the spare key of the vault.",
    ],
)
def test_what_one_document_says_is_no_list(corpus: Corpus, question: str) -> None:
    assert planned(corpus, "contracts", question)["intent"] == "qa"
