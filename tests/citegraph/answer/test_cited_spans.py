"""The span that is cited for a claim shows the claim's numbers."""

import pytest

from citegraph.answer.cited_spans import with_own_value
from citegraph.citations.verdicts import Claim
from citegraph.corpus.schema.document import Document, Page

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
