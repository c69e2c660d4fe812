"""What a question says is not stated in the documents that it asks for."""

from datetime import date

import pytest

from citegraph.corpus.filters.clause import Clause, typed_filters
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.question.missing import lacks, read_presence
from citegraph.question.reading import Reader
from tests.node_runtime import Read


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
    read: Read, bucket: str, question: str, field: str | None
) -> None:
    found = [
        clause.field
        for clause in typed_filters(read(bucket, question)["filters"])
        if isinstance(clause, Clause) and clause.operator == "missing"
    ]
    assert found == ([field] if field else [])


def test_nothing_is_summed_over_documents_without_the_amount() -> None:
    missing = [{"field": "total", "operator": "missing"}]
    assert lacks(missing, "total")
    assert not lacks(missing, "tax")
    assert not lacks(missing, None)
    assert not lacks([{"field": "total", "operator": ">"}], "total")


@pytest.mark.parametrize(
    ("bucket", "question", "field"),
    [
        ("invoices", "Auf welchen Rechnungen fehlt in der Kopfzeile das Fälligkeitsdatum?", None),
        ("invoices", "Bei welchen Rechnungen fehlt der Käufer?", "customer_name"),
        ("invoices", "Sur quelles factures manque le client ?", "customer_name"),
        ("invoices", "which invoices are missing, the buyer asks", None),
    ],
)
def test_a_field_behind_a_word_for_missing(read: Read, bucket: str, question: str, field: str | None) -> None:
    found = [
        item.field
        for item in typed_filters(read(bucket, question)["filters"])
        if getattr(item, "operator", "") == "missing"
    ]
    assert found == ([field] if field else [])


@pytest.mark.parametrize(
    "question",
    [
        "safety data sheets without a signal word",
        "sheets where the signal word is missing",
        "Datenblätter, bei denen das Signalwort entfällt",
    ],
)
def test_that_a_field_has_none_may_be_one_of_its_values(read: Read, question: str) -> None:
    found = [item for item in read("datasheets", question)["filters"] if item["field"] == "signal_word"]
    assert [(item["operator"], item["value"]) for item in found] == [("=", "none")]


@pytest.mark.parametrize(
    ("question", "stated"),
    [("list the signed agreements", True), ("Arden signed agreements with Belt, Corin and Dale", False)],
)
def test_a_verb_is_no_state_of_the_documents(question: str, stated: bool) -> None:
    reader = Reader(load_buckets()["contracts"], question, date(2026, 1, 1))
    read_presence(reader, [], {"agreement_date": 0.1})
    assert [atom.clause.operator for atom in reader.atoms] == ["exists"] * stated
