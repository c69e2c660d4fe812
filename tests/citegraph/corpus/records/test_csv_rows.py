"""CSV export: all fields, safe cells, places, source files, and rows that are streamed."""

import csv
import io
import re
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citegraph.corpus.filters.checks import check_filters
from citegraph.corpus.filters.clause import parse_clause
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.records.annotations.annotation_tables import Annotation, Source
from citegraph.corpus.records.csv_rows import BOM, export_csv, safe_cell
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.language.amounts import Money

BUCKETS = load_buckets()


@pytest.fixture
def store(new_database):
    opened = AnnotationStore(new_database(), BUCKETS)
    opened.put(
        "invoices",
        [
            Annotation(
                "r1", {"vendor_name": '=HYPERLINK("http://x")', "total_amount": Money(Decimal("-5"), "EUR")}
            ),
            Annotation(
                "r2",
                {"vendor_name": 'Büro "Ost", 1', "invoice_date": date(2018, 3, 1)},
                {"vendor_name": Source(3)},
            ),
        ],
    )
    return opened


def read(lines):
    return list(csv.DictReader(io.StringIO("".join(lines).removeprefix(BOM))))


def test_every_field_is_a_column_and_cells_are_safe(store):
    first, second = read(export_csv(store, "invoices"))
    assert {field.name for field in BUCKETS["invoices"].fields} <= set(first)
    assert (first["doc_id"], first["vendor_name"]) == ("r1", '\'=HYPERLINK("http://x")')
    assert (first["total_amount"], first["total_amount_currency"]) == ("-5", "EUR")
    assert (second["vendor_name"], second["invoice_date"]) == ('Büro "Ost", 1', "2018-03-01")
    assert (first["vendor_name_page"], second["vendor_name_page"]) == ("", "3")


def test_filters_apply_and_documents_come_by_their_ids(store):
    filters = check_filters(
        BUCKETS["invoices"], [parse_clause("total exists")], today=date(2026, 11, 27)
    ).filters
    assert [row["doc_id"] for row in read(export_csv(store, "invoices", filters))] == ["r1"]
    assert [row["doc_id"] for row in read(export_csv(store, "invoices"))] == ["r1", "r2"]


def test_the_source_file_comes_from_the_documents_table(store):
    with store.engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE documents (doc_id TEXT PRIMARY KEY, source_file TEXT)")
        connection.exec_driver_sql("INSERT INTO documents VALUES ('r1', 'bills/r1.pdf')")
    assert [row["source_file"] for row in read(export_csv(store, "invoices"))] == ["bills/r1.pdf", ""]


def test_a_byte_order_mark_on_request(store):
    assert next(export_csv(store, "invoices", bom=True)).startswith(BOM + "doc_id,")
    assert next(export_csv(store, "invoices")).startswith("doc_id,")


def test_rows_are_produced_one_by_one(store):
    lines = export_csv(store, "invoices")
    next(lines)
    assert next(lines).startswith("r1,")
    lines.close()


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-5.2", "-5.2"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("plain", "plain"),
        ("-1e-07", "-1e-07"),
        ("-1,250.00", "-1,250.00"),
        ("-inf", "'-inf"),
        ("--5", "'--5"),
        # Blanks and invisible characters are trimmed by some importers.
        ("  =1+1", "  '=1+1"),
        ("\u00a0\u200b\ufeff=1+1", "\u00a0\u200b\ufeff'=1+1"),
        ("\x00=1+1", "\x00'=1+1"),
        ("＝1+1", "'＝1+1"),
        # Tabs, semicolons and line ends may end a cell or a row.
        ("\t=1", "'\t'=1"),
        ("\t1", "'\t1"),
        ("\r=1", "'\r'=1"),
        ("\n@SUM(A1)", "'\n'@SUM(A1)"),
        ("Acorn;=1+1", "Acorn;'=1+1"),
        ("Acorn\r\n =1+1; 5", "Acorn\r\n '=1+1; 5"),
        ("Acorn; -5", "Acorn; -5"),
        ("Miller - Sons = 2", "Miller - Sons = 2"),
    ],
)
def test_formula_characters_are_escaped(cell, safe):
    assert safe_cell(cell) == safe


@settings(deadline=None)
@given(st.text(st.sampled_from(list("=+-@|%;\t\n\r\x00 ax1,.\u200b＝'\"")), max_size=12))
def test_no_cell_begins_a_formula_and_nothing_is_lost(cell):
    safe = safe_cell(cell)
    assert safe.replace("'", "") == cell.replace("'", "")
    for piece in re.split("[;\t\n\r]", safe):
        shown = piece.strip(" \x00\u200b")
        assert shown[:1] not in tuple("=+-@|%＝") or re.fullmatch(r"[+-]\d[\d.,]*", shown)


def test_a_large_cell_takes_no_longer_than_its_length():
    for part in ("\t", " ", ";", "\x00", "\x1f", "\xa0", "= ", "-1"):
        assert len(safe_cell(part * 200_000)) >= 200_000


def test_every_cell_is_safe_where_a_value_comes_from_outside(new_database):
    store = AnnotationStore(new_database(), BUCKETS)
    hostile = {
        "vendor_name": " =cmd|' /C calc'!A0",
        "document_type": "@SUM(A1)",
        "invoice_number": "-1+1",
        "total_amount": Money(Decimal(1), "=1"),
    }
    places = {"vendor_name": Source("=1+1"), "total_amount": Source(2)}  # type: ignore[arg-type]
    store.put("invoices", [Annotation("=doc", hostile, places)])
    with store.engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE documents (doc_id TEXT PRIMARY KEY, source_file TEXT)")
        connection.exec_driver_sql("INSERT INTO documents VALUES ('=doc', '+a.pdf')")
    (row,) = read(export_csv(store, "invoices"))
    kept = {name: row[name] for name in (*hostile, "doc_id", "source_file", "total_amount_currency")}
    assert kept == {
        "vendor_name": " '=cmd|' /C calc'!A0",
        "document_type": "'@SUM(A1)",
        "invoice_number": "'-1+1",
        "total_amount": "1",
        "total_amount_currency": "'=1",
        "doc_id": "'=doc",
        "source_file": "'+a.pdf",
    }
    assert (row["vendor_name_page"], row["total_amount_page"]) == ("'=1+1", "2")
