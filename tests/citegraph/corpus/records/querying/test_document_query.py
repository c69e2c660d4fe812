"""Typed queries: lists, sums that keep currencies apart, groups, coverage, and what is refused."""

from datetime import date
from decimal import Decimal

import pytest

from citegraph.corpus.filters.checks import check_filters
from citegraph.corpus.filters.clause import parse_clause
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.records.querying.aggregates import Aggregate, Having
from citegraph.corpus.records.querying.document_query import NO_VALUE, DocumentQuery, run_query
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.errors import BadInput
from citegraph.language.amounts import Money, Quantity

BUCKETS = load_buckets()
ROWS = [
    (
        "r1",
        {
            "vendor_name": "Acorn Ltd",
            "invoice_date": date(2018, 1, 31),
            "total_amount": Money(Decimal("0.1"), "EUR"),
        },
    ),
    (
        "r2",
        {
            "vendor_name": "ACORN LTD",
            "invoice_date": date(2018, 2, 1),
            "total_amount": Money(Decimal("0.2"), "EUR"),
        },
    ),
    (
        "r3",
        {
            "vendor_name": "Birch",
            "invoice_date": date(2018, 4, 1),
            "total_amount": Money(Decimal("5"), "MYR"),
        },
    ),
    ("r4", {"vendor_name": "Birch", "invoice_date": date(2019, 4, 1)}),
    ("r5", {"total_amount": Money(Decimal("7"), None)}),
]


@pytest.fixture(scope="module")
def store(new_database):
    opened = AnnotationStore(new_database(), BUCKETS)
    opened.put("invoices", ROWS)
    opened.put(
        "contracts",
        [("c1", {"term": Quantity(2.0, "2 years")}), ("c2", {"term": Quantity(1.5, "18 months")})],
    )
    return opened


def ask(store, *texts, **settings):
    filters = check_filters(
        BUCKETS["invoices"], [parse_clause(t) for t in texts], today=date(2026, 11, 27)
    ).filters
    return run_query(store, DocumentQuery(bucket="invoices", filters=filters, **settings))


def agg(function, field=None):
    return Aggregate(function=function, field=field)


def test_a_sum_keeps_currencies_apart_and_says_what_is_missing(store):
    result = ask(store, aggregate=(agg("sum", "total_amount"),))
    assert result.rows == [
        {"sum_total_amount": {"amount": "0.3", "currency": "EUR"}},
        {"sum_total_amount": {"amount": "5", "currency": "MYR"}},
        {"sum_total_amount": {"amount": "7", "currency": None}},
    ]
    assert (result.matched, result.covered, result.currencies) == (
        5,
        {"total_amount": 4},
        ("EUR", "MYR", None),
    )
    assert result.notes == (
        "summed 4 of 5; 1 without total amount",
        "amounts in EUR, MYR, unknown currency are not added up",
    )


def test_count_average_min_and_max(store):
    result = ask(
        store, "vendor = Acorn Ltd", aggregate=(agg("count"), agg("average", "total"), agg("max", "date"))
    )
    assert result.rows == [
        {
            "count": 2,
            "average_total_amount": {"amount": "0.15", "currency": "EUR"},
            "max_invoice_date": "2018-02-01",
        }
    ]
    lonely = ask(store, "vendor = nobody", aggregate=(agg("count"),))
    assert (lonely.rows, lonely.matched) == ([{"count": 0}], 0)


def test_a_document_is_in_the_group_of_each_of_its_values(new_database):
    opened = AnnotationStore(new_database(), BUCKETS)
    opened.put(
        "contracts",
        [
            ("c1", {"governing_law": ("Delaware", "New York"), "term": Quantity(2.0, "2 years")}),
            ("c2", {"governing_law": ("DELAWARE",), "term": Quantity(4.0, "4 years")}),
            ("c3", {"contract_type": "License"}),
        ],
    )
    query = DocumentQuery(
        bucket="contracts",
        aggregate=(agg("count"), agg("sum", "term")),
        group_by=("governing_law",),
        order_by=("-count",),
        having=(Having(column="count", operator=">=", value=Decimal(1)),),
    )
    result = run_query(opened, query)
    assert result.rows == [
        {"governing_law": "Delaware", "count": 2, "sum_term": 6.0},
        {"governing_law": "New York", "count": 1, "sum_term": 2.0},
        {"governing_law": NO_VALUE, "count": 1, "sum_term": None},
    ]
    assert (result.matched, result.covered["governing_law"]) == (3, 2)


def test_a_document_with_several_values_is_in_the_group_of_each(store):
    items = {"r1": ("Rope", "Tar"), "r2": ("rope",), "r3": ("Tar",)}
    rows = [(doc_id, {**values, "line_items": items.get(doc_id, ())}) for doc_id, values in ROWS]
    store.put("invoices", rows)
    try:
        found = ask(store, group_by=("line_items",))
        counts = [(row["line_items"].lower(), row["count"]) for row in found.rows]
        assert sorted(counts) == [("(missing)", 2), ("rope", 2), ("tar", 2)]
        assert (found.matched, found.notes) == (5, ("a document with several line_items counts in each",))
        # Of the values that were asked for alone: nobody asked how many with rope also have tar.
        found = ask(
            store, "line_items contains rope", group_by=("line_items",), aggregate=(agg("sum", "total"),)
        )
        assert [(row["line_items"].lower(), row["sum_total_amount"]["amount"]) for row in found.rows] == [
            ("rope", "0.3")
        ]
        median = ask(store, group_by=("line_items",), aggregate=(agg("median", "total"),))
        assert ("Tar", "5") in [
            (row["line_items"], row["median_total_amount"]["amount"]) for row in median.rows
        ]
    finally:
        store.put("invoices", ROWS)


def test_groups_fold_spellings_and_name_the_missing(store):
    result = ask(store, group_by=("vendor_name",), order_by=("-count",))
    assert [(row["vendor_name"], row["count"]) for row in result.rows] == [
        ("Acorn Ltd", 2),
        ("Birch", 2),
        (NO_VALUE, 1),
    ]


@pytest.mark.parametrize(
    ("cut", "names"),
    [
        ("year", ["2018", "2019"]),
        ("quarter", ["2018-Q1", "2018-Q2", "2019-Q2"]),
        ("month", ["2018-01", "2018-02", "2018-04", "2019-04"]),
        ("day", ["2018-01-31", "2018-02-01", "2018-04-01", "2019-04-01"]),
    ],
)
def test_dates_group_by_year_quarter_month_and_day(store, cut, names):
    result = ask(store, "date exists", group_by=(f"date.{cut}",))
    assert [row[f"invoice_date.{cut}"] for row in result.rows] == names


def test_a_period_has_the_numbers_of_all_its_documents(store):
    numbers = [agg("count"), agg("count", "total_amount"), agg("average", "total_amount")]
    numbers += [agg("sum", "total_amount"), agg("min", "total_amount"), agg("max", "total_amount")]
    result = ask(store, "date exists", aggregate=tuple(numbers), group_by=("date.year",))
    euro = {"currency": "EUR"}
    assert result.rows == [
        {
            "invoice_date.year": "2018",
            "count": 2,
            "count_total_amount": 2,
            "average_total_amount": {"amount": "0.15", **euro},
            "sum_total_amount": {"amount": "0.3", **euro},
            "min_total_amount": {"amount": "0.1", **euro},
            "max_total_amount": {"amount": "0.2", **euro},
        },
        {
            "invoice_date.year": "2018",
            "count": 1,
            "count_total_amount": 1,
            **{
                f"{name}_total_amount": {"amount": "5", "currency": "MYR"}
                for name in ("average", "sum", "min", "max")
            },
        },
        {
            "invoice_date.year": "2019",
            "count": 1,
            "count_total_amount": 0,
            **{f"{name}_total_amount": None for name in ("average", "sum", "min", "max")},
        },
    ]
    assert [type(row["count"]) for row in result.rows] == [int, int, int]


def test_a_group_table_of_vendor_and_month(store):
    result = ask(
        store,
        "currency missing",
        aggregate=(agg("sum", "total_amount"),),
        group_by=("vendor_name", "invoice_date.month"),
    )
    assert result.columns == ("vendor_name", "invoice_date.month", "sum_total_amount")
    assert result.rows[2]["sum_total_amount"] == {"amount": "5", "currency": "MYR"}


def test_a_list_is_cut_and_says_so(store):
    result = ask(store, select=("vendor", "total"), order_by=("-date",), limit=2)
    assert result.rows == [
        {"doc_id": "r4", "vendor_name": "Birch", "total_amount": None},
        {"doc_id": "r3", "vendor_name": "Birch", "total_amount": {"amount": "5", "currency": "MYR"}},
    ]
    assert (result.truncated, result.matched, result.covered) == (
        True,
        5,
        {"vendor_name": 4, "total_amount": 4},
    )


def test_quantities_are_averaged_in_their_unit(store):
    result = run_query(store, DocumentQuery(bucket="contracts", aggregate=(agg("average", "term"),)))
    assert result.rows == [{"average_term": 1.75}]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"aggregate": (agg("sum", "vendor_name"),)}, "sum does not fit vendor_name, which is keyword"),
        ({"aggregate": (agg("sum", "date"),)}, "sum does not fit invoice_date"),
        ({"aggregate": (agg("sum"),)}, "sum needs a field"),
        ({"aggregate": (agg("max", "nope"),)}, "'nope' is not a field of invoices"),
        ({"aggregate": (agg("sum", "total"), agg("sum", "net"))}, "one query aggregates one money field"),
        ({"group_by": ("payment_terms",)}, "cannot group by payment_terms, which is text"),
        ({"group_by": ("vendor_name.month",)}, "cannot group by"),
        ({"group_by": ("vendor_name",), "order_by": ("date",)}, "cannot order by 'date'"),
        ({"select": ("x; DROP TABLE meta_invoices",)}, "is not a field"),
        ({"order_by": ("doc_id; --",)}, "is not a field"),
    ],
)
def test_what_does_not_fit_is_refused(store, settings, message):
    with pytest.raises(BadInput, match=message):
        ask(store, **settings)


def test_an_unknown_bucket_is_refused(store):
    with pytest.raises(BadInput, match="no bucket 'meta_invoices'"):
        run_query(store, DocumentQuery(bucket="meta_invoices"))


@pytest.mark.parametrize(
    ("part", "given"),
    [
        ("select", ("vendor_name",) * 101),
        ("group_by", ("vendor_name",) * 11),
        ("aggregate", (Aggregate(function="count"),) * 21),
        ("order_by", ("vendor_name",) * 21),
        ("only", ("r1",) * 30_001),
    ],
)
def test_more_than_a_database_takes_is_refused(store, part, given):
    with pytest.raises(BadInput, match=f"a query takes at most [0-9,]+ of {part}"):
        ask(store, **{part: given})


def test_a_text_that_no_database_holds_is_refused(store):
    with pytest.raises(BadInput, match="half a character"):
        ask(store, only=("\ud800",))
    with pytest.raises(BadInput, match="half a character"):
        store.get("\ud800")


def test_a_median_is_the_middle_of_each_currency_and_group(store):
    result = ask(store, aggregate=(agg("median", "total_amount"),))
    assert result.rows == [
        {"median_total_amount": {"amount": "0.15", "currency": "EUR"}},
        {"median_total_amount": {"amount": "5", "currency": "MYR"}},
        {"median_total_amount": {"amount": "7", "currency": None}},
    ]
    by_vendor = ask(
        store,
        "vendor_name exists",
        aggregate=(agg("median", "total_amount"),),
        group_by=("vendor_name",),
        order_by=("-median_total_amount",),
    )
    assert [(row["vendor_name"], row["median_total_amount"]["amount"]) for row in by_vendor.rows] == [
        ("Birch", "5"),
        ("Acorn Ltd", "0.15"),
    ]
    with pytest.raises(BadInput, match="alone"):
        ask(store, aggregate=(agg("median", "total_amount"), agg("count")))


def test_different_values_are_counted_as_they_are_compared(store):
    result = ask(store, aggregate=(agg("distinct", "vendor_name"), agg("distinct", "total_amount")))
    assert result.rows == [{"distinct_vendor_name": 2, "distinct_total_amount": 4}]
    by_year = ask(store, aggregate=(agg("distinct", "vendor_name"),), group_by=("invoice_date.year",))
    assert [(row["invoice_date.year"], row["distinct_vendor_name"]) for row in by_year.rows] == [
        ("2018", 2),
        ("2019", 1),
        (NO_VALUE, 0),
    ]


def test_days_between_two_dates_are_computed(store):
    store.put(
        "contracts",
        [
            ("d1", {"agreement_date": date(2020, 1, 1), "expiration_date": date(2020, 1, 31)}),
            ("d2", {"agreement_date": date(2020, 2, 1), "expiration_date": date(2020, 2, 11)}),
            ("d3", {"agreement_date": date(2020, 3, 1)}),
        ],
    )
    days = "expiration_date - agreement_date"
    found = {}
    for function in ("average", "median", "min", "max", "sum"):
        result = run_query(store, DocumentQuery(bucket="contracts", aggregate=(agg(function, days),)))
        (row,) = result.rows
        found[function] = float(row[f"{function}_expiration_date_minus_agreement_date"])
        assert result.covered == {days: 2}
    assert found == {"average": 20, "median": 20, "min": 10, "max": 30, "sum": 40}
    with pytest.raises(BadInput, match="does not fit"):
        run_query(
            store, DocumentQuery(bucket="contracts", aggregate=(agg("average", "expiration_date - title"),))
        )


def test_groups_are_kept_by_their_numbers(store):
    result = ask(
        store,
        aggregate=(agg("count"),),
        group_by=("vendor_name",),
        having=(Having(column="count", operator=">", value=Decimal(1)),),
    )
    assert [(row["vendor_name"], row["count"]) for row in result.rows] == [("Acorn Ltd", 2), ("Birch", 2)]
    with pytest.raises(BadInput, match="cannot have"):
        ask(store, aggregate=(agg("count"),), having=(Having(column="x", operator="=", value=Decimal(1)),))
