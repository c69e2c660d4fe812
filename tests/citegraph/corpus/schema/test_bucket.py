"""Bucket declarations: what they accept, what they make, and where an invalid one is wrong."""

from pathlib import Path

import pytest

from citegraph.corpus.schema.bucket import load_buckets
from citegraph.errors import BadInput

MINIMAL = """\
name: notes
description: Notes.
nouns: [note]
fields:
  - name: topic
    type: keyword
    description: Topic.
  - name: written
    type: date
    description: Date.
"""


@pytest.fixture(scope="module")
def buckets():
    return load_buckets()


def test_the_five_buckets_load_in_order_of_their_files(buckets):
    assert list(buckets) == ["certificates", "contracts", "datasheets", "generic", "invoices"]


@pytest.mark.parametrize(
    ("bucket", "column", "field"),
    [
        ("invoices", "company", "vendor_name"),
        ("invoices", "seller", "vendor_name"),
        ("invoices", "date", "invoice_date"),
        ("invoices", "total", "total_amount"),
        ("invoices", "currency_assumed", "currency"),
        ("invoices", "type_code", "document_type"),
        ("invoices", "Total Amount", "total_amount"),
        ("contracts", "jurisdiction", "governing_law"),
        ("contracts", "clauses_present", "clauses"),
        ("certificates", "not_after", "valid_until"),
        ("certificates", "not_valid_after", "valid_until"),
        ("datasheets", "title_pdf", "title"),
        ("datasheets", "doc_kind", "document_type"),
        ("generic", "aliases", "identifiers"),
        ("generic", "patched", "fixed_versions"),
        ("generic", "informational", "notice_kind"),
    ],
)
def test_columns_of_annotation_files_are_fields(buckets, bucket, column, field):
    assert buckets[bucket].field(column).name == field


def test_words_of_a_question_find_the_field(buckets):
    assert buckets["certificates"].field("expires").name == "valid_until"
    assert buckets["contracts"].field("governed by").name == "governing_law"
    assert buckets["contracts"].field("no such thing") is None


def test_payload_indexes_follow_the_types(buckets):
    indexes = buckets["invoices"].payload_indexes()
    assert indexes["meta.vendor_name"] == "keyword"
    assert indexes["meta.invoice_date"] == "datetime"
    assert indexes["meta.total_amount.amount"] == "float"
    assert indexes["meta.total_amount.currency"] == "keyword"
    assert indexes["meta._fields"] == "keyword"


@pytest.mark.parametrize(
    ("bucket", "text", "found"),
    [
        ("invoices", "status of invoice no. AB-2024-17 please", ["AB-2024-17"]),
        (
            "generic",
            "does CVE-2031-12345 affect us, see GHSA-aaaa-bbbb-cccc",
            ["CVE-2031-12345", "GHSA-aaaa-bbbb-cccc"],
        ),
        ("generic", "is it safe on Java 25?", ["Java 25"]),
        ("datasheets", "shipped as UN 1993, CAS 67-64-1, H225", ["1993", "67-64-1", "H225"]),
        ("certificates", "report BSI-DSZ-CC-0999-2012 at EAL4+", ["BSI-DSZ-CC-0999-2012", "EAL4+"]),
    ],
)
def test_identifiers_are_found_whole(buckets, bucket, text, found):
    assert [item[1] for item in buckets[bucket].find_identifiers(text)] == found


def test_documentation_and_prompt_schema_name_every_field(buckets):
    for bucket in buckets.values():
        text, schema = bucket.describe(), bucket.llm_schema()
        assert all(f"| {field.name} |" in text and f"- {field.name} (" in schema for field in bucket.fields)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("type: date", "type: dat", r"notes\.yaml:9: fields\.1\.type: Input should be 'text'"),
        ("name: written", "name: topic", r"notes\.yaml:1: two fields have the same name"),
        ("nouns: [note]", "nuons: [note]", r"notes\.yaml:\d+: (nouns: Field required|nuons: Extra)"),
        (
            "    type: keyword\n",
            "    type: keyword\n    unit: V\n",
            r"notes\.yaml:5: fields\.0: unit belongs",
        ),
        ("nouns: [note]", "nouns: [note", r"notes\.yaml:\d+: "),
        (
            "nouns: [note]",
            "nouns: [note]\nmain_date: topic",
            r"notes\.yaml:1: main_date 'topic' is not a date",
        ),
        ("name: topic", "name: doc_id", r"notes\.yaml:1: reserved field name: doc_id"),
        ("name: topic", "name: 'x; drop table'", r"notes\.yaml:5: fields\.0\.name: "),
    ],
)
def test_an_invalid_declaration_names_file_and_line(tmp_path: Path, old, new, message):
    (tmp_path / "notes.yaml").write_text(MINIMAL.replace(old, new, 1))
    with pytest.raises(BadInput, match="^" + message):
        load_buckets(tmp_path)


def test_an_empty_folder_is_an_error(tmp_path: Path):
    with pytest.raises(BadInput, match="no bucket declaration"):
        load_buckets(tmp_path)
