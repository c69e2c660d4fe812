"""Sums by vendor over any days are those of the documents."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citegraph.corpus.filters.checks import check_filters
from citegraph.corpus.filters.clause import parse_clause
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.records.querying.aggregates import Aggregate
from citegraph.corpus.records.querying.document_query import DocumentQuery, run_query
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.language.amounts import Money

INVOICES = load_buckets()["invoices"]


def document(number):
    """Return the values of one of 300 documents of three years; some have no vendor, day or amount."""
    values = {
        "vendor_name": ("Acorn Ltd", "ACORN LTD", "Straße AG", "Birch GmbH", "Zaun")[number * 7 % 5],
        "document_type": ("invoice", "receipt")[number % 2],
        "invoice_date": date(2016, 12, 1) + timedelta(days=number * 11 % 800),
        "total_amount": Money(Decimal(number * 37 % 1000) / 100, ("EUR", "USD", None)[number % 3]),
    }
    return {name: value for place, (name, value) in enumerate(values.items()) if (number + place * 5) % 17}


def filters(*texts):
    return check_filters(INVOICES, [parse_clause(text) for text in texts], today=date(2026, 11, 27)).filters


def summed(store, asked, group="vendor_name"):
    total = (Aggregate(function="sum", field="total_amount"), Aggregate(function="count"))
    return run_query(
        store,
        DocumentQuery(
            bucket="invoices",
            filters=asked,
            aggregate=total,
            group_by=(group,),
            order_by=("-sum_total_amount",),
        ),
    )


@settings(deadline=None, max_examples=60)
@given(st.dates(date(2016, 12, 1), date(2019, 2, 28)), st.dates(date(2016, 12, 1), date(2019, 2, 28)))
def test_sums_of_any_days_are_those_of_the_documents(filled, one, other):
    low, high = sorted((one, other))
    found = summed(filled, filters(f"invoice_date between {low} and {high}"))
    inside = [document(number) for number in range(300)]
    inside = [values for values in inside if low <= values.get("invoice_date", date.min) <= high]
    assert found.matched == len(inside)
    expected = {}
    for values in inside:
        amount = values.get("total_amount")
        key = values.get("vendor_name", "(missing)").casefold(), amount and amount.currency
        total, count = expected.get(key, (None, 0))
        expected[key] = ((total or 0) + amount.amount if amount else total), count + 1
    rows = {}
    for row in found.rows:
        amount = row["sum_total_amount"]
        key = row["vendor_name"].casefold(), amount["currency"] if amount else None
        total = Decimal(amount["amount"]) if amount else None
        old, count = rows.get(key, (None, 0))
        rows[key] = total if old is None else old, count + row["count"]
    assert rows == expected


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    opened = AnnotationStore(
        f"sqlite:///{tmp_path_factory.mktemp('years') / 'rows.sqlite'}", {"invoices": INVOICES}
    )
    opened.put("invoices", [(f"d{number}", document(number)) for number in range(300)])
    return opened
