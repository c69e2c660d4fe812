"""The span that is cited for a claim shows the claim's numbers."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from citegraph.answer.cited_spans import cite_values, with_own_value
from citegraph.citations.report_types import Claim
from citegraph.corpus.records.annotations.annotation_tables import Source
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.corpus.schema.document import Document, Page
from citegraph.language.amounts import Money

HEAD = "Invoice KOS-1 of 2025-01-15, Elm Ltd"


@pytest.mark.parametrize(
    ("between", "said", "quote", "page"),
    [
        (10, "Elm Ltd, KOS-1, 1,119.00 EUR", "{head}{gap}Total 1.119,00 EUR", 1),
        (600, "Elm Ltd, KOS-1, 1,119.00 EUR", "Total 1.119,00 EUR", 2),
        (10, "Elm Ltd, KOS-1", "{head}", None),
        (10, "Elm Ltd, KOS-1, 7 EUR", "{head}", None),
    ],
)
def test_a_row_is_cited_with_its_amount(between: int, said: str, quote: str, page: int | None) -> None:
    gap = "\n" * between
    text = f"{HEAD}{gap}Total 1.119,00 EUR"
    pages = (Page(1, 0, len(HEAD) + 2), Page(2, len(HEAD) + 2, len(text)))
    document = Document("d", "invoices", text, "d.pdf", "", pages=pages)
    claim = Claim(
        said, 0, len(said), ("d",), "supported", doc_id="d", quote=HEAD, quote_start=0, quote_end=len(HEAD)
    )
    cited = [{"doc": "e", "start": 0, "end": 9}, {"doc": "d", "start": text.index("Total"), "end": len(text)}]
    found = with_own_value(claim, cited, {"d": document})
    assert found.quote == quote.format(head=HEAD, gap=gap) == text[found.quote_start : found.quote_end]
    assert found.page == page


class Sources:
    """Annotations that were extracted from places of their documents."""

    def __init__(self, places: dict[str, Source]) -> None:
        self.places = places

    def get_sources(self, doc_id: str, bucket: str) -> dict[str, Source]:
        """Return the place of each value."""
        return self.places


@pytest.mark.parametrize("printed", ["84.00", "1,284.00", "1.284,00"])
@pytest.mark.parametrize("found_at", [None, "Net amount"])
def test_a_total_is_cited_by_the_line_with_its_label(found_at: str | None, printed: str) -> None:
    text = f"Invoice KOS-2\nNet amount {printed}\nTax exempt\nGrand total {printed} EUR\n"
    amount = Money(Decimal("84.00") if printed == "84.00" else Decimal("1284.00"), "EUR")
    start = text.index(found_at) if found_at else 0
    places = (
        {"total_amount": Source(start=start, end=start + len(f"Net amount {printed}"))} if found_at else {}
    )
    corpus: Any = SimpleNamespace(annotations=Sources(places))
    document = Document("d", "invoices", text, "d.pdf", "")
    invoices = load_buckets()["invoices"]
    cited = cite_values(corpus, invoices, document, {"total_amount": amount})
    assert text[cited["start"] : cited["end"]] == f"Grand total {printed} EUR"
    cited = cite_values(corpus, invoices, document, {"net_amount": amount})
    assert text[cited["start"] : cited["end"]] == f"Net amount {printed}"
