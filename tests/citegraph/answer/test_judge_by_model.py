"""What a judge is told of the documents whose passages it sees."""

import pytest

from citegraph.answer.judge_by_model import fields_of
from citegraph.citations.report_types import Evidence


def span(doc_id: str, text: str) -> Evidence:
    return Evidence(f"{doc_id}:{text}", doc_id, text, facts=(("title", doc_id),))


EVIDENCE = [
    span("offer", "Price: 900 EUR"),
    span("deed", "Deed of sale\nPrice: 900 EUR\nSigned"),
    span("deed", "Annex"),
    span("copy", "Annex"),
]


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("Deed of sale\nPrice: 900 EUR\nSigned", ["deed"]),
        ("Deed of sale\nPrice: 900 EUR\nSigned\nAnnex", ["deed"]),
        ("Price: 900 EUR", ["offer"]),
        ("[offer]\nPrice: 900 EUR\n\n[copy]\nAnnex", ["offer", "copy"]),
        ("Annex", []),
        ("of nothing that is known", []),
    ],
)
def test_the_fields_are_those_of_the_documents_that_the_text_is_of(text: str, documents: list[str]) -> None:
    assert fields_of(text, EVIDENCE) == [f"title: {doc_id}" for doc_id in documents]


def test_a_text_that_is_cut_is_of_its_document_and_the_names_of_that_are_told() -> None:
    cut = Evidence("c", "deed", "Price: 900 EUR", facts=(("title", "Deed"),), called=("deed.pdf", "Deed"))
    assert fields_of("…\nPrice: 900 EUR\n…", [cut]) == ["title: Deed; called: deed.pdf"]
