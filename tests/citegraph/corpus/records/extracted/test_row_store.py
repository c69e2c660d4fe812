"""Rows are stored with their document, found by conditions on their columns, and summed by unit."""

from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import select

from citegraph.corpus.filters.clause import Clause, Group
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.records.annotations.annotation_tables import Annotation
from citegraph.corpus.records.extracted.extraction_store import ExtractionStore
from citegraph.corpus.records.extracted.found import Extraction, FoundRow
from citegraph.corpus.records.extracted.row_store import RowQuery
from citegraph.corpus.records.querying.aggregates import RowNumber
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.errors import BadInput
from citegraph.language.amounts import Money

BUCKET = load_buckets()["invoices"]
(KIND,) = BUCKET.rows


def row(
    words: str, amount: str, currency: str | None, quantity: float | None = None, sure: float = 0.9
) -> FoundRow:
    values = {"description": words, "amount": Money(Decimal(amount), currency)}
    counted = {} if quantity is None else {"quantity": quantity}
    return FoundRow("line_items", {**values, **counted}, f"{words} {amount}", 3, 9, 1, sure)


@pytest.fixture
def store(tmp_path: Path) -> ExtractionStore:
    store = ExtractionStore(f"sqlite:///{tmp_path / 'a.db'}")
    store.put(
        BUCKET.name,
        {
            "a": Extraction(rows=(row("Anchor chain", "37.50", "EUR", 3), row("Delivery", "9.90", "EUR"))),
            "b": Extraction(rows=(row("ANCHOR, plough", "120.00", "EUR", 1), row("Rope", "5.00", "USD", 10))),
            "c": Extraction(rows=(row("Anchor light", "1.00", None), row("guess", "7.00", None, sure=0.4))),
        },
    )
    return store


def query(*filters: Clause | Group, **given: object) -> RowQuery:
    return RowQuery(BUCKET, KIND, filters, **given)  # type: ignore[arg-type]


ANCHOR = Clause(field="description", operator="contains", value="anchor")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ((), ["Anchor chain", "Delivery", "ANCHOR, plough", "Rope", "Anchor light"]),
        ((ANCHOR,), ["Anchor chain", "ANCHOR, plough", "Anchor light"]),
        ((ANCHOR, Clause(field="quantity", operator=">", value=1)), ["Anchor chain"]),
        ((Clause(field="quantity", operator="missing"),), ["Delivery", "Anchor light"]),
        ((Clause(field="quantity", operator="!=", value=1),), ["Anchor chain", "Rope"]),
        ((Clause(field="description", operator="starts with", value="an"),), ["Anchor chain", "ANCHOR, plough", "Anchor light"]),
        (
            (Clause(field="amount", operator="between", value=["5", "40"]),),
            ["Anchor chain", "Delivery", "Rope"],
        ),
        (
            (Clause(field="amount", operator="<", value={"amount": "40", "currency": "EUR"}),),
            ["Anchor chain", "Delivery"],
        ),
        (
            (Group(mode="any", clauses=(Clause(field="description", operator="=", value="rope"), Clause(field="quantity", operator="=", value=3))),),
            ["Anchor chain", "Rope"],
        ),
    ],
)  # fmt: skip
def test_rows_are_found_by_their_columns(
    store: ExtractionStore, filters: tuple[Clause | Group, ...], expected: list[str]
) -> None:
    found = store.rows.find(query(*filters))
    assert [item.values["description"] for item in found] == expected
    assert store.rows.count(query(*filters)) == len(expected)


def test_numbers_over_rows_are_kept_apart_by_currency(store: ExtractionStore) -> None:
    assert store.rows.number(query(), "sum", "amount") == [
        RowNumber(Decimal(1), "", 1),
        RowNumber(Decimal("167.4"), "EUR", 3),
        RowNumber(Decimal(5), "USD", 1),
    ]
    assert store.rows.number(query(ANCHOR, doc_ids=["a", "b"]), "max", "amount") == [
        RowNumber(Decimal(120), "EUR", 2)
    ]
    assert store.rows.number(query(), "count", "quantity") == [RowNumber(Decimal(3), "", 3)]
    assert store.rows.number(query(), "median", "amount")[1] == RowNumber(Decimal("37.5"), "EUR", 3)
    with pytest.raises(BadInput, match="no column 'weight'"):
        store.rows.number(query(), "sum", "weight")
    with pytest.raises(BadInput, match="not a field"):
        store.rows.find(query(Clause(field="weight", operator="exists")))


def test_rows_are_ordered_by_a_number_and_cut_by_what_is_known_of_their_documents(
    store: ExtractionStore, tmp_path: Path
) -> None:
    most = store.rows.find(query(), order_by="amount", descending=True, limit=2)
    assert [(item.doc_id, item.values["amount"]) for item in most] == [
        ("b", {"amount": "120.00", "currency": "EUR"}),
        ("a", {"amount": "37.50", "currency": "EUR"}),
    ]
    annotations = AnnotationStore(f"sqlite:///{tmp_path / 'a.db'}", {BUCKET.name: BUCKET})
    annotations.put(BUCKET.name, [Annotation(name, {"vendor_name": f"{name} Ltd"}) for name in "abc"])
    wanted = annotations.condition(BUCKET.name, (Clause(field="vendor_name", operator="=", value="b ltd"),))
    of = select(annotations.tables[BUCKET.name].rows.c.doc_id).where(wanted)
    assert {item.doc_id for item in store.rows.find(query(documents=of))} == {"b"}


def test_rows_go_with_their_document(store: ExtractionStore) -> None:
    kept = store.extraction(BUCKET, "a")
    assert [item.values["description"] for item in kept.rows] == ["Anchor chain", "Delivery"]
    assert (kept.rows[0].start, kept.rows[0].page) == (3, 1)
    store.put(BUCKET.name, {"a": Extraction(rows=kept.rows[:1])})
    assert [item.ordinal for item in store.rows.of("a", "line_items")] == [0]
    store.delete(["a"])
    assert store.rows.of("a") == []
    assert len(store.rows.of("b")) == 2
