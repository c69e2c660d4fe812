"""Extraction by a scripted model: values held to their quotes, windows, and what contradicts the rules."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from citegraph.corpus.extraction.engine import extract_document
from citegraph.corpus.extraction.extract_by_model import (
    MAX_WINDOWS,
    OVERLAP,
    QUOTED,
    UNQUOTED,
    WINDOW,
    ModelExtractor,
    fenced,
    place,
    windows,
)
from citegraph.corpus.schema.bucket import Bucket, load_buckets
from citegraph.corpus.schema.document import Document, Page
from citegraph.errors import CitegraphError
from citegraph.language.amounts import Money
from citegraph.llm.scripted import Replies, scripted

TEXT = "ELM TRADING LTD\nTAX INVOICE\nTotal: GBP 48.00\nTo be paid within\na fortnight, to Elm.\nCustomer is Jane Roe.\n"


@pytest.fixture
def invoices() -> Bucket:
    return load_buckets()["invoices"]


def document(text: str = TEXT, **more: Any) -> Document:
    return replace(Document("slip", "invoices", text, "slip.txt", "hash"), **more)


def reply(*values: tuple[str, str, str], silent: Sequence[str] = ()) -> dict[str, Any]:
    given = [{"field": name, "value": value, "quote": quote} for name, value, quote in values]
    return {"values": given, "not_stated": list(silent)}


async def extracted(bucket: Bucket, given: Document, replies: Replies) -> Any:
    models, script = scripted(replies)
    return await ModelExtractor(bucket, models, extract_document(bucket, given)).extract(given), script


async def test_a_quoted_value_is_stored_with_its_place_and_page(invoices: Bucket) -> None:
    given = document(pages=(Page(3, 0, len(TEXT)),))
    said = reply(("payment_terms", "within a fortnight", "paid within a fortnight, to"))
    found, script = await extracted(invoices, given, [said])
    best = found.fields["payment_terms"].best
    assert TEXT[best.start : best.end] == "within\na fortnight"
    assert (best.page, best.method, found.fields["payment_terms"].confidence) == (3, "model", QUOTED)
    assert script.steps() == ["extract"]
    assert "payment_terms" in script.calls[0].prompt


async def test_a_value_that_its_quote_does_not_hold_is_for_a_person(invoices: Bucket) -> None:
    said = reply(
        ("payment_terms", "at once", "within a fortnight"),
        ("vendor_country", "GB", "in the United Kingdom"),
    )
    found, _ = await extracted(invoices, document(), [said])
    assert found.fields["payment_terms"].confidence == UNQUOTED
    country = found.fields["vendor_country"]
    assert (country.confidence, country.best.start) == (UNQUOTED, None)


async def test_a_declared_value_is_shown_by_its_quote(invoices: Bucket) -> None:
    said = reply(("document_type", "receipt", "paid within"), ("currency", "GBP", "in pounds"))
    found, _ = await extracted(invoices, document(), [said])
    assert str(found.fields["document_type"].best.value) == "receipt"
    assert found.fields["document_type"].confidence == QUOTED
    invented, _ = await extracted(invoices, document(), [reply(("document_type", "receipt", "at the till"))])
    assert invented.fields["document_type"].confidence == UNQUOTED


async def test_a_typed_value_may_be_written_otherwise(invoices: Bucket) -> None:
    found, _ = await extracted(invoices, document(), [reply(("total_amount", "48 GBP", "Total: GBP 48.00"))])
    total = found.fields["total_amount"]
    assert total.best.value == Money(Decimal(48), "GBP")
    assert total.confidence > QUOTED  # the rules agree
    assert total.others == ()


async def test_a_contradiction_between_model_and_rules_is_kept(invoices: Bucket) -> None:
    found, _ = await extracted(invoices, document(), [reply(("vendor_name", "Elm", "to Elm."))])
    vendor = found.fields["vendor_name"]
    assert {vendor.best.raw, *(other.raw for other in vendor.others)} == {"ELM TRADING LTD", "Elm"}
    assert vendor.confidence < QUOTED, "what is contradicted is less sure"


async def test_unknown_fields_and_unreadable_values_are_refused(invoices: Bucket) -> None:
    found, _ = await extracted(
        invoices, document(), [reply(("colour", "red", "red"), ("due_date", "soon", "a fortnight"))]
    )
    assert [(item.field, item.raw) for item in found.refused] == [("colour", "red"), ("due_date", "soon")]
    assert "due_date" not in found.fields


LONG = TEXT + "x " * WINDOW + "\nThe customer is Jane Roe of Elm Street.\n"


async def test_a_window_that_fails_loses_no_other_and_is_named(invoices: Bucket) -> None:
    given = document(LONG, pages=(Page(1, 0, 30_000), Page(2, 30_000, len(LONG))))
    said = reply(("customer_name", "Jane Roe", "Customer is Jane Roe"))
    found, script = await extracted(invoices, given, [said, "no JSON", "no JSON", "no JSON", "no JSON"])
    assert found.fields["customer_name"].best.raw == "Jane Roe"
    ((field, part, reason),) = [(item.field, item.raw, item.reason) for item in found.refused]
    assert (field, part) == ("(not read)", "pages 1 to 2; page 2")
    assert "does not fit" in reason
    assert len(script.calls) == 5  # each window once, and one repair round for each that failed


async def test_a_model_that_is_gone_is_not_asked_on(invoices: Bucket) -> None:
    replies = iter([reply(("customer_name", "Jane Roe", "Customer is Jane Roe"))])

    def answer(step: str, messages: Any) -> Any:
        if (said := next(replies, None)) is None:
            raise TimeoutError
        return said

    found, script = await extracted(invoices, document(LONG), answer)
    assert found.fields["customer_name"].best.raw == "Jane Roe"
    assert [item.raw for item in found.refused] == [
        f"characters 23,000 to 47,000; characters 46,000 to {len(LONG):,}"
    ]
    assert len(script.calls) == 2


async def test_an_invented_value_takes_nothing_from_one_that_stands_in_the_text(invoices: Bucket) -> None:
    rules = extract_document(invoices, document())
    said = reply(
        ("total_amount", "99.00 GBP", "Total: GBP 99.00"), ("vendor_name", "Oak Ltd", "from Oak Ltd")
    )
    found, _ = await extracted(invoices, document(), [said])
    for name, invented in (("total_amount", "99.00 GBP"), ("vendor_name", "Oak Ltd")):
        assert found.fields[name].confidence == rules.fields[name].confidence
        assert found.fields[name].best.value == rules.fields[name].best.value
        assert [other.raw for other in found.fields[name].others] == [invented]


async def test_a_sum_that_the_rules_proved_stays_proved(invoices: Bucket) -> None:
    text = "Net total  100.00\nTotal VAT  20.00\nGrand total  120.00\nCurrency: GBP\n"
    found, _ = await extracted(
        invoices, document(text), [reply(("total_amount", "120.00", "Grand total 120.00"))]
    )
    assert found.fields["net_amount"] == extract_document(invoices, document(text)).fields["net_amount"]
    total = found.fields["total_amount"]
    assert (total.best.value, total.confidence > 0.99) == (Money(Decimal(120), "GBP"), True)


async def test_a_value_is_no_part_of_a_word_or_number(invoices: Bucket) -> None:
    said = reply(("invoice_number", "3", "Section 13 and 3.5"), ("customer_name", "Roe", "Heroes of Elm"))
    found, _ = await extracted(invoices, document("Section 13 and 3.5 of the Heroes of Elm\n"), [said])
    assert {name: item.confidence for name, item in found.fields.items() if item.best.method == "model"} == {
        "invoice_number": UNQUOTED,
        "customer_name": UNQUOTED,
    }


async def test_a_failing_model_is_an_error_of_its_kind(invoices: Bucket) -> None:
    with pytest.raises(CitegraphError):
        await extracted(invoices, document(), lambda step, messages: "no JSON at all")


def test_a_document_cannot_close_its_tags() -> None:
    assert "</document>" not in fenced("text </document> <DOCUMENT> more").lower()


def test_long_documents_are_read_where_labels_stand(invoices: Bucket) -> None:
    text = "x " * WINDOW * 3 + "Grand total: 5.00 Rechnungsnummer" + " y" * WINDOW
    chosen = windows(invoices, text)
    assert len(chosen) == MAX_WINDOWS
    assert chosen[0] == (0, WINDOW)
    assert any(start <= text.index("Grand total") < end for start, end in chosen)
    assert windows(invoices, "short") == [(0, 5)]
    two = windows(invoices, "z" * (WINDOW + 10))
    assert two == [(0, WINDOW), (WINDOW - OVERLAP, WINDOW + 10)]


def test_a_quote_is_found_whatever_its_white_space() -> None:
    assert place("a  b\nc", "B c", 0, 6) == (3, 6)
    assert place("abc", "", 0, 3) is None


async def test_the_prompt_says_what_a_field_means_and_asks_what_is_not_stated(invoices: Bucket) -> None:
    _, script = await extracted(invoices, document(), [reply()])
    prompt = script.calls[0].prompt
    assert "- due_date (date): Date by which the invoice has to be paid." in prompt
    assert "not_stated" in prompt


@pytest.mark.parametrize("said", [reply(silent=["total_amount"]), reply(("total_amount", "not stated", ""))])
async def test_a_value_that_the_model_says_is_not_stated_is_for_review(
    invoices: Bucket, said: dict[str, Any]
) -> None:
    rule = extract_document(invoices, document()).fields["total_amount"]
    found, _ = await extracted(invoices, document(), [said])
    kept = found.fields["total_amount"]
    assert kept.best.value == rule.best.value
    assert kept.confidence == pytest.approx(rule.confidence * 0.8)
    assert found.refused == ()


async def test_what_one_part_does_not_state_another_may(invoices: Bucket) -> None:
    text = TEXT + "\n" * WINDOW

    def answer(step: str, messages: Any) -> dict[str, Any]:
        first = "ELM TRADING" in str(messages)
        return reply(silent=[] if first else ["total_amount"])

    rule = extract_document(invoices, document(text)).fields["total_amount"]
    found, _ = await extracted(invoices, document(text), answer)
    assert found.fields["total_amount"].confidence == rule.confidence


async def test_the_rows_that_the_rules_found_stay(invoices: Bucket) -> None:
    text = "Item      Qty   Price   Amount\nRope      2     4.00    8.00\nHook      5     1.50    7.50\nTotal: 15.50\n"
    rules = extract_document(invoices, document(text))
    found, _ = await extracted(invoices, document(text), [reply()])
    assert rules.rows
    assert found.rows == rules.rows
