"""The annotation store: round trips, replacement, counts of values, facets, relaxations."""

from datetime import date
from decimal import Decimal

import pytest
from sqlalchemy import inspect

from citegraph.corpus.filters.checks import check_filters
from citegraph.corpus.filters.clause import Clause, Group, parse_clause
from citegraph.corpus.records.access import Principal, create_labels_table, labels_table
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore, entropy
from citegraph.corpus.records.annotations.annotation_tables import Annotation, Source
from citegraph.corpus.schema.bucket import Bucket, load_buckets
from citegraph.corpus.schema.field import Field
from citegraph.errors import BadInput
from citegraph.language.amounts import Money, Quantity

TODAY = date(2026, 11, 27)
BUCKETS = load_buckets()


def receipt(vendor, day, amount, currency="MYR", **more):
    return {
        "vendor_name": vendor,
        "invoice_date": date.fromisoformat(day),
        "total_amount": Money(Decimal(amount), currency),
        "document_type": "receipt",
        **more,
    }


RECEIPTS = {
    "r1": receipt("Acorn Ltd", "2017-03-01", "10.10"),
    "r2": receipt("ACORN LTD", "2018-03-02", "20.20"),
    "r3": receipt("Birch GmbH", "2018-05-03", "30.30", "EUR"),
    "r4": receipt("Birch GmbH", "2018-06-04", "700"),
    "r5": {"document_type": "invoice"},
}


@pytest.fixture
def store(new_database):
    opened = AnnotationStore(new_database(), BUCKETS)
    opened.put("invoices", RECEIPTS.items())
    return opened


def filters(*texts, bucket="invoices", origin="inferred"):
    return check_filters(BUCKETS[bucket], [parse_clause(text, origin) for text in texts], today=TODAY).filters


def values_of(store, bucket, field):
    found = store.facets(bucket, (), [field], limit=100)
    return {facet.label: facet.count for facet in found.get(field, [])}


def test_values_come_back_typed(store):
    contract = {
        "title": "Supply agreement",
        "parties": ("Acorn Ltd", "Birch GmbH"),
        "clauses": (),
        "term": Quantity(1.5, "18 months"),
        "effective_date": date(2014, 5, 8),
        "contract_value": Money(Decimal("123456789.25"), None),
    }
    store.put("contracts", [("c1", contract)])
    assert store.get("c1") == contract
    assert store.get("c1", "invoices") is None
    assert store.get("nobody") is None


def test_a_document_without_values_counts(store):
    assert store.count("invoices") == 5
    assert store.count("invoices", filters("total exists")) == 4
    store.put("invoices", [("r6", {})])
    assert store.count("invoices", filters("total missing")) == 2


def test_replacing_and_deleting_keep_the_counts_of_values(store):
    assert values_of(store, "invoices", "vendor_name") == {"Acorn Ltd": 2, "Birch GmbH": 2}
    before = store.version("invoices")
    store.put(
        "invoices",
        [("r2", receipt("Cedar AG", "2018-03-02", "1")), ("r2", receipt("Birch GmbH", "2018-03-02", "1"))],
    )
    assert values_of(store, "invoices", "vendor_name") == {"Acorn Ltd": 1, "Birch GmbH": 3}
    store.delete("invoices", ["r1", "no such"])
    assert values_of(store, "invoices", "vendor_name") == {"Birch GmbH": 3}
    assert store.count("invoices") == 4
    assert store.version("invoices") > before
    versions = {name: store.version(name) for name in store.buckets}
    assert store.all_versions() == versions


def test_the_values_of_several_documents_are_those_of_each(store):
    both = store.values_of("invoices", ["r1", "no such", "r2"])
    assert both == {name: store.get(name, "invoices") for name in ("r1", "r2")}
    assert store.values_of("no bucket", ["r1"]) == {}
    unseen = store.seen_by(Principal("guest", labels=frozenset({"public"})))
    create_labels_table(store.engine)
    with store.engine.begin() as connection:
        connection.execute(labels_table.insert(), [{"doc_id": "r1", "label": "board"}])
    assert list(unseen.values_of("invoices", ["r1", "r2"])) == ["r2"]


def test_list_values_are_counted_a_document_once(store):
    store.put(
        "generic", [("g1", {"categories": ("Leak", "leak", "crash")}), ("g2", {"categories": ("crash",)})]
    )
    assert values_of(store, "generic", "categories") == {"crash": 2, "Leak": 1}
    store.put("generic", [("g1", {"categories": ()})])
    assert values_of(store, "generic", "categories") == {"crash": 1}
    # Known to hold nothing is no value: "with a category" is the other one alone.
    assert store.document_ids("generic", filters("categories exists", bucket="generic")) == ["g2"]
    assert store.document_ids("generic", filters("categories missing", bucket="generic")) == ["g1"]


def test_documents_are_ordered_with_missing_last(store):
    assert store.document_ids("invoices", order_by=["-total_amount"]) == ["r4", "r3", "r2", "r1", "r5"]
    assert store.document_ids("invoices", order_by=["vendor", "-date"], limit=3) == ["r2", "r1", "r4"]


def test_rows_hold_the_asked_fields_only(store):
    rows = store.rows("invoices", filters("total > 600"), ["total", "vendor_name"])
    assert rows == [{"doc_id": "r4", "vendor_name": "Birch GmbH", "total_amount": Money(Decimal(700), "MYR")}]
    with pytest.raises(BadInput, match="'nope' is not a field of invoices"):
        store.rows("invoices", (), ["nope"])


def test_places_of_values_are_kept(store):
    annotation = Annotation("r7", {"vendor_name": "Acorn"}, {"vendor_name": Source(2, 10, 15)})
    store.put("invoices", [annotation])
    assert store.get_sources("r7", "invoices") == {"vendor_name": Source(page=2, start=10, end=15)}
    assert store.get_sources("r1", "invoices") == {}


def test_facets_count_within_the_set_and_carry_their_clause(store):
    facets = store.facets("invoices", filters("date = 2018"), ["vendor_name", "date", "vendor_country"])
    assert [(f.label, f.count) for f in facets["vendor_name"]] == [("Birch GmbH", 2), ("Acorn Ltd", 1)]
    assert [(f.label, f.count) for f in facets["invoice_date"]] == [("2018", 3)]
    assert "vendor_country" not in facets
    year = store.facets("invoices", (), ["date"])["invoice_date"][0]
    assert store.count("invoices", (year.clause,)) == year.count == 3


def test_the_most_telling_facets_come_first(store):
    facets = store.telling_facets("invoices", fields=2)
    assert list(facets) == ["vendor_name", "invoice_date"]
    assert entropy([1, 1], 2) == 1.0
    assert entropy([2], 2) == 0.0
    assert entropy([1], 4) == pytest.approx(0.811, abs=1e-3)


def test_relaxations_give_up_soft_clauses_in_their_order(store):
    asked = filters("vendor = Acorn Ltd", "date = June 2018", "total > 100")
    assert store.count("invoices", asked) == 0
    found = [
        ([clause.field for clause in item.dropped], item.count)
        for item in store.relaxations("invoices", asked)
    ]
    assert found == [
        (["invoice_date"], 0),
        (["total_amount"], 0),
        (["vendor_name"], 1),
        (["invoice_date", "total_amount"], 2),
        (["invoice_date", "total_amount", "vendor_name"], 5),
    ]


def test_the_number_of_all_documents_is_that_of_now(store):
    asked = filters("vendor = Acorn Ltd", "date = June 2018")
    assert store.relaxations("invoices", asked)[-1].count == 5
    store.put("invoices", [("r6", receipt("Cedar", "2019-01-01", "1"))])
    assert store.relaxations("invoices", asked)[-1].count == 6
    store.delete("invoices", ["r1", "r2"])
    assert store.relaxations("invoices", asked)[-1].count == 4


def test_what_a_principal_may_see_is_counted_for_it_alone(store):
    asked = filters("vendor = Acorn Ltd")
    assert [item.count for item in store.relaxations("invoices", asked)] == [5]
    with store.engine.begin() as connection:
        connection.execute(labels_table.insert(), [{"doc_id": "r1", "label": "board"}])
    seen = store.seen_by(Principal("ann", labels=frozenset({"staff"})))
    assert [item.count for item in seen.relaxations("invoices", asked)] == [4]
    assert [item.count for item in store.relaxations("invoices", asked)] == [5]


def test_hard_clauses_are_never_relaxed(store):
    hard = filters("vendor = Acorn Ltd", origin="user") + filters("document_type = invoice", origin="access")
    assert store.relaxations("invoices", hard) == []
    soft = filters("date = June 2018")
    (only,) = store.relaxations("invoices", hard + soft)
    assert only.remaining == hard
    mixed = Group(mode="any", clauses=(Clause(field="currency", operator="=", value="EUR", origin="user"),))
    assert all(mixed in item.remaining for item in store.relaxations("invoices", (mixed, *soft)))


def test_documents_that_fail_only_for_want_of_the_field_are_counted(store):
    assert store.unknown("invoices", filters("vendor != Birch GmbH")) == {"vendor_name": 1}
    assert store.unknown("invoices", filters("document_type = receipt", "vendor != Birch GmbH")) == {}


def declared(*fields):
    made = [Field(name=name, type=kind, description=name) for name, kind in fields]
    return Bucket(name="slips", description="Slips.", nouns=("slip",), fields=tuple(made))


def test_a_changed_declaration_keeps_what_is_stored(new_database):
    url = new_database()
    first = AnnotationStore(url, {"slips": declared(("vendor", "keyword"), ("place", "keyword"))})
    first.put("slips", [("a", {"vendor": "Elm", "place": "Rome"})])
    changed = declared(("vendor", "keyword"), ("paid", "date"), ("total", "money"))
    second = AnnotationStore(url, {"slips": changed})
    assert second.get("a") == {"vendor": "Elm"}
    second.put(
        "slips", [("b", {"vendor": "Oak", "total": Money(Decimal(3), "EUR"), "paid": date(2024, 1, 2)})]
    )
    assert second.document_ids("slips") == ["a", "b"]
    assert second.get("b") == {"vendor": "Oak", "total": Money(Decimal(3), "EUR"), "paid": date(2024, 1, 2)}
    assert {"meta_slips__paid", "meta_slips__total"} <= {
        index["name"] for index in inspect(second.engine).get_indexes("meta_slips")
    }
    # A field that is taken back has its values again.
    assert first.get("a") == {"vendor": "Elm", "place": "Rome"}


@pytest.mark.parametrize(
    ("kind", "said"),
    [("money", "another type than money"), ("date", "another type than date"), ("text", "stored as varchar")],
)
def test_another_type_of_a_stored_field_is_refused(new_database, kind, said):
    url = new_database()
    AnnotationStore(url, {"slips": declared(("vendor", "keyword"))})
    with pytest.raises(
        BadInput, match=f"Field 'vendor' of slips was stored as .*{said.removeprefix('stored as ')}"
    ) as raised:
        AnnotationStore(url, {"slips": declared(("vendor", kind), ("new", "date"))})
    assert "columns: [vendor]" in str(raised.value)
    assert AnnotationStore(url, {"slips": declared(("vendor", "keyword"))}).get("a") is None
