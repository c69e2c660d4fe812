"""Invoices without XML, invented after the layouts of the trade in six languages: as text and as a PDF, each field right."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from citegraph.corpus.extraction.engine import extract_document
from citegraph.corpus.readers.protocol import Reading
from citegraph.corpus.readers.reader_registry import read_file
from citegraph.corpus.records.extracted.settle import settle
from citegraph.corpus.schema.bucket import Bucket, load_buckets
from citegraph.corpus.schema.document import Document
from citegraph.corpus.schema.values import coerce, same
from citegraph.language.names import parse_name

FOLDER = Path(__file__).parent / "invented"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "expected.yaml").read_text(encoding="utf-8"))
FIELDS = (
    "invoice_number",
    "invoice_date",
    "due_date",
    "vendor_name",
    "customer_name",
    "currency",
    "net_amount",
    "tax_amount",
    "total_amount",
)
TODAY = date(2026, 1, 1)


@pytest.fixture(scope="module")
def invoices() -> Bucket:
    return load_buckets()["invoices"]


def comparable(bucket: Bucket, name: str, value: Any) -> object:
    """Return what must be the same: names without regard to case and legal form."""
    field = bucket.field(name)
    assert field is not None
    typed = coerce(field, value, today=TODAY) if isinstance(value, str) else value
    return parse_name(str(typed)).core if field.kind == "organization" else same(typed)


def wrong(bucket: Bucket, document: Document, expected: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the fields whose value is not the one that the invoice says, with both."""
    found = settle(bucket, document.text, {}, extract_document(bucket, document, today=TODAY), {}).values
    pairs = {
        name: tuple(
            None if value is None else comparable(bucket, name, value)
            for value in (expected.get(name), found.get(name))
        )
        for name in FIELDS
    }
    return {name: (wanted, got) for name, (wanted, got) in pairs.items() if wanted != got}


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def printed(name: str, path: Path) -> Reading:
    """Return an invoice as a PDF's reader finds it: in a proportional font, its columns written one after the other."""
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), pagesize=(620, 842))
    canvas.setFont("Helvetica", 8.5)
    cells = [
        (cell.start(), row, cell[0])
        for row, line in enumerate(text_of(name).split("\n"))
        for cell in re.finditer(r"\S+(?: \S+)*", line)
    ]
    for column, row, text in sorted(cells, key=lambda cell: (cell[0] // 40, cell[1])):
        canvas.drawString(20 + 5 * column, 800 - 12 * row, text)
    canvas.save()
    (reading,) = read_file(path)
    assert isinstance(reading, Reading)
    return reading


@pytest.mark.parametrize("name", EXPECTED)
def test_every_field_of_the_text(name: str, invoices: Bucket) -> None:
    assert wrong(invoices, Document(name, "invoices", text_of(name), name, ""), EXPECTED[name]) == {}


@pytest.mark.parametrize("name", EXPECTED)
def test_every_field_of_the_page(name: str, invoices: Bucket, tmp_path: Path) -> None:
    reading = printed(name, tmp_path / f"{name}.pdf")
    document = Document(
        name, "invoices", reading.text, name, "", pages=reading.pages, layouts=reading.layouts
    )
    assert wrong(invoices, document, EXPECTED[name]) == {}
