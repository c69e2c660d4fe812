"""Facets of a set: its most frequent values with their counts."""

import random
from collections import Counter
from datetime import date

import pytest

from citegraph.corpus.filters.clause import Clause
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.records.querying.document_query import DocumentQuery, run_query
from citegraph.corpus.schema.bucket import load_buckets

BUCKETS = load_buckets()
IN_2018 = (Clause(field="invoice_date", operator="between", value=["2018-01-01", "2018-12-31"]),)


def receipts(count, vendors, *, seed):
    """Vendors as frequent as their rank says, so that some stand out and the rest are alike."""
    chance = random.Random(seed)
    for number in range(count):
        vendor = f"vendor {min(int(chance.paretovariate(0.8)), vendors)}"
        yield f"d{number}", {"vendor_name": vendor, "invoice_date": date(2017 + number % 3, 5, 1)}


@pytest.fixture(scope="module")
def filled(new_database):
    opened = AnnotationStore(new_database(), BUCKETS)
    rows = dict(receipts(600, 60, seed=3))
    opened.put("invoices", rows.items())
    opened.delete("invoices", ["d1", "d4"])
    del rows["d1"], rows["d4"]
    return opened, rows


def test_the_most_frequent_values_come_first(filled):
    store, rows = filled
    held = Counter(row["vendor_name"] for row in rows.values() if row["invoice_date"].year == 2018)
    wanted = sorted(held.items(), key=lambda item: (-item[1], item[0]))[:5]
    found = store.facets("invoices", IN_2018, ["vendor_name"], limit=5)["vendor_name"]
    assert [(facet.label, facet.count) for facet in found] == wanted


def test_facets_and_a_group_query_agree(filled):
    store, _ = filled
    query = DocumentQuery(bucket="invoices", filters=IN_2018, group_by=("vendor_name",), order_by=("-count",))
    grouped = [(row["vendor_name"], row["count"]) for row in run_query(store, query).rows]
    found = store.facets("invoices", IN_2018, ["vendor_name"], limit=100)["vendor_name"]
    assert [(facet.label, facet.count) for facet in found] == grouped
