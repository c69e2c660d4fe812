"""What a sum, a count or a list holds twice is said."""

from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast

from citegraph.answer.set_statements import copies_notes
from citegraph.corpus.schema.bucket import Bucket
from citegraph.language.amounts import Money
from citegraph.run.services import Corpus

BUCKET = Bucket.model_validate(
    {
        "name": "bills",
        "description": "Bills.",
        "nouns": ["bill"],
        "main_date": "day",
        "main_amount": "total",
        "supersedes_field": "replaces",
        "identifiers": [{"name": "number", "pattern": "B-\\d+", "field": "number"}],
        "fields": [
            {"name": "number", "description": "It.", "type": "keyword"},
            {"name": "day", "description": "It.", "type": "date"},
            {"name": "total", "description": "It.", "type": "money"},
            {"name": "replaces", "description": "It.", "type": "keyword"},
        ],
    }
)


def bill(number: str, total: int, **more: Any) -> dict[str, Any]:
    return {"number": number, "day": date(2025, 1, 1), "total": Money(Decimal(total), "EUR"), **more}


def said(texts: dict[str, str], values: dict[str, Any]) -> list[str]:
    records = {doc_id: SimpleNamespace(content_hash=text) for doc_id, text in texts.items()}
    corpus = SimpleNamespace(
        documents=SimpleNamespace(records=lambda ids: {doc_id: records[doc_id] for doc_id in ids}),
        annotations=SimpleNamespace(values_of=lambda bucket, ids: values),
    )
    return [item["message"] for item in copies_notes(cast(Corpus, corpus), BUCKET, list(texts))]


def test_copies_scans_and_versions_are_told_once() -> None:
    texts = {"a": "x", "a-copy": "x", "a-scan": "y", "b": "z", "b-v2": "u", "c": "v", "d": "w"}
    values = {
        "a": bill("B-1", 10),
        "a-copy": bill("B-1", 10),
        "a-scan": bill("b-1", 10),
        "b": bill("B-2", 20),
        "b-v2": bill("B-2", 20, replaces="b"),
        "c": bill("B-3", 30),
        "d": bill("B-3", 31),
    }
    assert said(texts, values) == [
        "a and a-copy have the same text; each is counted.",
        "a and a-scan have the same number, date and amount; each is counted.",
        "b-v2 and b are versions, the first replaces the second; each is counted.",
    ]


def test_things_that_only_look_alike_are_not_told() -> None:
    incomplete = {"number": "B-1", "total": Money(Decimal(10), "EUR")}
    assert said({"a": "x", "b": "y"}, {"a": incomplete, "b": incomplete}) == []
    assert said({"a": "x"}, {"a": bill("B-1", 10)}) == []


def test_many_groups_are_counted() -> None:
    texts = {f"{n}{side}": str(n) for n in range(5) for side in "ab"}
    assert said(texts, {}) == [
        "0a and 0b; 1a and 1b; 2a and 2b have the same text; each is counted; and 2 more such groups."
    ]
