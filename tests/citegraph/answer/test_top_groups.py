"""Which group has the most: what a question asks for, and what is said of the groups."""

from typing import Any

import pytest

from citegraph.answer.cited_spans import CITED_INPUTS
from citegraph.answer.set_statements import shared_out
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from citegraph.question.groups import top_group

BILLS = Bucket(
    name="bills",
    description="Invoices of our suppliers.",
    nouns=("invoice", "bill"),
    fields=(
        Field(name="vendor", type="keyword", kind="organization", description="Who sent it."),
        Field(name="invoice_date", type="date", description="Day of the invoice."),
        Field(name="total", type="money", description="Total with tax.", words=("total",)),
    ),
    main_date="invoice_date",
    main_amount="total",
    entity_fields=("vendor",),
)
COUNT = {"function": "count", "field": None, "group_by": ["vendor"]}
SUM = {"function": "sum", "field": "total", "group_by": ["vendor"]}


@pytest.mark.parametrize(
    ("question", "made"),
    [
        ("Which vendor billed us the most?", SUM | {"top": "most"}),
        ("Which vendor did we pay the least in 2023?", SUM | {"top": "least"}),
        ("Which vendor got the most money?", SUM | {"top": "most"}),
        ("Who sent the most invoices?", COUNT | {"top": "most"}),
        ("Which vendor has the fewest bills?", COUNT | {"top": "least"}),
        ("Which vendor billed us most often?", COUNT | {"top": "most"}),
        ("What is the most common vendor?", COUNT | {"top": "most"}),
        ("Which vendor sent the most recent invoice?", None),
        ("Which invoices are at most 30 days old?", None),
        ("Which vendor is the most important?", None),
        ("Which invoice has the most pages?", None),
        ("Who paid the most?", None),
        ("whom do we pay most in euros?", SUM | {"top": "most"}),
    ],
)
def test_a_question_for_the_most_names_a_group(question: str, made: dict[str, Any] | None) -> None:
    assert top_group(BILLS, question) == made


def test_each_group_keeps_citations_where_all_documents_are_more_than_an_answer_cites() -> None:
    held_by = [[f"{group}-{number}" for number in range(size)] for group, size in enumerate((70, 3, 90, 41))]
    few = shared_out(held_by)
    assert [len(cited) for cited in few] == [32, 3, 32, 32]
    assert sum(map(len, few)) <= CITED_INPUTS
    assert shared_out(held_by[:2]) == held_by[:2], "what fits is cited whole"
