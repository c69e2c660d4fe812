"""What a question says is not stated in the documents that it asks for."""

from datetime import date

import pytest

from citegraph.question.missing import lacks, read_lacking
from citegraph.question.reading import Reader
from citegraph.run.services import Corpus


@pytest.mark.parametrize(
    ("bucket", "question", "field"),
    [
        ("invoices", "invoices without a total", "total_amount"),
        ("invoices", "Which invoices have no total?", "total_amount"),
        ("invoices", "How many invoices don't state a due date?", "due_date"),
        ("contracts", "agreements lacking an expiration date", "expiration_date"),
        ("invoices", "What is the total of the invoices without tax?", None),
        ("invoices", "invoices without a total over 500", None),
        ("invoices", "invoice no total 55", None),
        ("invoices", "invoices without Northwind", None),
        ("contracts", "contracts without a renewal clause", None),
    ],
)
def test_a_field_that_is_not_stated_is_a_condition(
    corpus: Corpus, bucket: str, question: str, field: str | None
) -> None:
    reader = Reader(corpus.buckets[bucket], question, date(2024, 1, 1))
    read_lacking(reader)
    assert [(clause.field, clause.operator) for clause in reader.clauses] == (
        [(field, "missing")] if field else []
    )  # type: ignore[union-attr]


def test_nothing_is_summed_over_documents_without_the_amount() -> None:
    missing = [{"field": "total", "operator": "missing"}]
    assert lacks(missing, "total")
    assert not lacks(missing, "tax")
    assert not lacks(missing, None)
    assert not lacks([{"field": "total", "operator": ">"}], "total")
