"""Sums and facets within a year: the same with and without the index that serves them, which is used when it can be."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.dialects import postgresql, sqlite

import citegraph.corpus.records.annotations.annotation_store
import citegraph.corpus.records.querying.document_query
from citegraph.corpus.filters.checks import check_filters
from citegraph.corpus.filters.clause import Group, parse_clause
from citegraph.corpus.records.access import Principal
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore, grouping_condition
from citegraph.corpus.records.annotations.annotation_tables import in_year
from citegraph.corpus.records.querying.aggregates import Aggregate
from citegraph.corpus.records.querying.document_query import DocumentQuery, run_query
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.language.amounts import Money

INVOICES = load_buckets()["invoices"]
BY_NAME = {item.name: item for item in INVOICES.fields}


def document(number):
    """Return the values of one of 300 documents of three years; some have no vendor, day or amount."""
    values = {
        "vendor_name": ("Acorn Ltd", "ACORN LTD", "Straße AG", "Birch GmbH", "Zaun")[number * 7 % 5],
        "document_type": ("invoice", "receipt")[number % 2],
        "invoice_date": date(2016, 12, 1) + timedelta(days=number * 11 % 800),
        "total_amount": Money(Decimal(number * 37 % 1000) / 100, ("EUR", "USD", None)[number % 3]),
    }
    return {name: value for place, (name, value) in enumerate(values.items()) if (number + place * 5) % 17}


@pytest.fixture
def store(new_database):
    opened = AnnotationStore(new_database(), {"invoices": INVOICES})
    opened.put("invoices", [(f"d{number}", document(number)) for number in range(300)])
    return opened


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


ASKED = (
    ("invoice_date in 2017",),
    ("invoice_date between 2017-02-01 and 2017-02-20",),
    ("invoice_date between 2016-12-01 and 2018-03-01",),
    ("invoice_date = 2017-05-01",),
    ("invoice_date != 2017",),
    ("invoice_date >= 2017-06-01",),
    ("invoice_date in 2017", "total_amount > 2 EUR"),
    ("invoice_date in 2017", "vendor_name != Zaun"),
    ("invoice_date in 2017", "document_type = receipt"),
    ("invoice_date in 2017", "invoice_date >= 2017-06-01"),
)


@pytest.mark.parametrize("texts", ASKED)
def test_the_year_changes_no_sum_and_no_facet(store, texts, monkeypatch):
    asked = filters(*texts)
    fields = ["vendor_name", "document_type"]
    found = [
        summed(store, asked),
        summed(store, asked, "document_type"),
        store.facets("invoices", asked, fields),
    ]
    for module in (
        citegraph.corpus.records.annotations.annotation_store,
        citegraph.corpus.records.querying.document_query,
    ):
        monkeypatch.setattr(
            module, "grouping_condition", lambda store, bucket, filters, **_: store.condition(bucket, filters)
        )
    plain = [
        summed(store, asked),
        summed(store, asked, "document_type"),
        store.facets("invoices", asked, fields),
    ]
    assert found == plain


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


@pytest.mark.parametrize(
    ("texts", "field", "year"),
    [
        (("invoice_date in 2017",), "vendor_name", 2017),
        (("invoice_date in 2017", "total_amount > 2"), "vendor_name", 2017),
        (("invoice_date in 2017", "vendor_name = Zaun"), "vendor_name", 2017),
        # What the index does not hold, or does not hold in order, is read elsewhere.
        (("invoice_date in 2017", "document_type = receipt"), "vendor_name", None),
        (("invoice_date between 2016-12-31 and 2017-12-31",), "vendor_name", None),
        (("invoice_date >= 2017-01-01",), "vendor_name", None),
        (("invoice_date != 2017-03-04",), "vendor_name", None),
        (("invoice_date in 2017",), "invoice_number", None),
        ((), "vendor_name", None),
    ],
)
def test_the_year_is_said_where_the_index_serves(filled, texts, field, year):
    asked = filters(*texts)
    plain = filled.condition("invoices", asked)
    rows = filled.tables["invoices"].rows
    expected = plain & in_year(rows.c.invoice_date, year) if year else plain
    assert grouping_condition(filled, "invoices", asked, key=BY_NAME[field]).compare(expected)


def test_few_days_are_sorted_on_sqlite(filled):
    asked = filters("invoice_date between 2017-03-01 and 2017-04-15")
    plain = filled.condition("invoices", asked)
    assert grouping_condition(filled, "invoices", asked, key=BY_NAME["vendor_name"]).compare(plain)


def test_groups_other_fields_and_hidden_documents_are_read_elsewhere(filled):
    key, asked = BY_NAME["vendor_name"], filters("invoice_date in 2017")
    plain = filled.condition("invoices", asked)
    net = BY_NAME["net_amount"]
    assert grouping_condition(filled, "invoices", asked, key=key, others=[None, net]).compare(plain)
    either = (Group(mode="any", clauses=filters("invoice_date = 2017", "vendor_name = Zaun")), *asked)
    assert grouping_condition(filled, "invoices", either, key=key).compare(
        filled.condition("invoices", either)
    )
    view = filled.seen_by(Principal("ann", labels=frozenset({"a"})))
    seen = view.condition("invoices", asked)
    assert grouping_condition(view, "invoices", asked, key=key).compare(seen)


def test_sqlite_reads_a_year_by_vendor_without_a_sort(filled):
    rows = filled.tables["invoices"].rows
    asked = filters("invoice_date in 2017")
    condition = grouping_condition(filled, "invoices", asked, key=BY_NAME["vendor_name"])
    with filled.engine.connect() as connection:
        written = condition.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
        plan = connection.exec_driver_sql(
            f"EXPLAIN QUERY PLAN SELECT vendor_name__folded, total_amount__currency, sum(total_amount) FROM {rows.name}"
            f" WHERE {written} GROUP BY vendor_name__folded, total_amount__currency"
        ).all()
    assert [line[-1].split(" (")[0] for line in plan] == [
        "SEARCH meta_invoices USING COVERING INDEX meta_invoices__vendor_name_year"
    ]


def test_a_year_is_spelled_as_each_database_indexes_it(filled):
    day = filled.tables["invoices"].rows.c.invoice_date
    assert str(in_year(day, 2017).compile(dialect=sqlite.dialect())) == (
        "substr(meta_invoices.invoice_date, 1, 4) = '2017'"
    )
    assert str(in_year(day, 17).compile(dialect=postgresql.dialect())) == (
        "EXTRACT(YEAR FROM meta_invoices.invoice_date) = 0017"
    )


def test_fields_of_many_values_have_the_index(filled):
    indexed = {index.name for index in filled.tables["invoices"].rows.indexes if index.name.endswith("_year")}
    assert indexed == {"meta_invoices__vendor_name_year", "meta_invoices__customer_name_year"}
