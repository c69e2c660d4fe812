"""The rules of a bucket over whole documents: what wins, how sure it is, what is refused."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from citegraph.corpus.extraction.engine import DISAGREEMENT, Source, extract
from citegraph.corpus.schema.bucket import Bucket, load_buckets
from citegraph.corpus.schema.document import Page
from citegraph.corpus.schema.field import CONFIDENCE, ExtractRule
from citegraph.language.amounts import Money, Quantity
from tests.citegraph.corpus.extraction.test_places import CII

TODAY = date(2026, 1, 1)


def bucket(*fields: dict[str, Any]) -> Bucket:
    declared = [{"description": "", **item} for item in fields]
    return Bucket.model_validate(
        {"name": "papers", "description": "", "nouns": ["paper"], "fields": declared}
    )


def test_agreeing_ways_raise_the_confidence_and_contradicting_ones_are_kept() -> None:
    papers = bucket(
        {"name": "number", "type": "keyword", "extract": [{"pattern": r"No (\w+)"}, {"labels": ["no"]}]},
        {"name": "made", "type": "date", "extract": [{"labels": ["made"]}, {"pattern": r"on (\S+)"}]},
    )
    found = extract(papers, Source("No A7\nMade: 2024-01-02\non 2024-01-03\n", today=TODAY)).fields
    assert found["number"].confidence == pytest.approx(
        1 - (1 - CONFIDENCE["pattern"]) * (1 - CONFIDENCE["labels"])
    )
    assert found["number"].others == ()
    made = found["made"]
    assert made.best.value == date(2024, 1, 3)  # a pattern is surer than a label
    assert made.confidence == pytest.approx(CONFIDENCE["pattern"] * DISAGREEMENT)
    assert [other.value for other in made.others] == [date(2024, 1, 2)]


def test_a_value_has_its_place_and_page() -> None:
    papers = bucket({"name": "code", "type": "keyword", "extract": [{"pattern": r"Code: (\w+)"}]})
    text = "first page\fCode: X9"
    pages = (Page(1, 0, 10), Page(2, 11, 19))
    best = extract(papers, Source(text, pages, today=TODAY)).fields["code"].best
    assert (text[best.start : best.end], best.page, best.method) == ("X9", 2, "pattern")


def test_what_a_type_refuses_is_listed_and_not_stored() -> None:
    papers = bucket({"name": "count", "type": "integer", "extract": [{"pattern": r"count (\w+)"}]})
    found = extract(papers, Source("count many", today=TODAY))
    assert found.values == {}
    assert [(item.field, item.raw) for item in found.refused] == [("count", "many")]


def test_front_matter_answers_to_field_names_and_columns() -> None:
    papers = bucket(
        {"name": "author", "type": "keyword", "columns": ["written_by"]},
        {"name": "tags", "type": "keywords", "columns": ["labels"]},
    )
    text = "---\nwritten by: Ada\nlabels: [x, y]\n---\nbody"
    found = extract(papers, Source(text, today=TODAY))
    assert found.values == {"author": "Ada", "tags": ("x", "y")}
    best = found.fields["author"].best
    assert text[best.start : best.end] == "Ada"


def test_a_list_takes_all_of_them() -> None:
    papers = bucket(
        {"name": "names", "type": "keywords", "extract": [{"pattern": r"by (\w+)", "take": "all"}]}
    )
    assert extract(papers, Source("by Ada\nby Bob\nby ada\n", today=TODAY)).values == {
        "names": ("Ada", "Bob")
    }


@pytest.mark.parametrize(("take", "value"), [("first", 3), ("last", 2), ("most", 2), ("largest", 9)])
def test_which_of_several_places_counts(take: str, value: int) -> None:
    papers = bucket({"name": "n", "type": "integer", "extract": [{"pattern": r"n=(\d)", "take": take}]})
    assert extract(papers, Source("n=3 n=2 n=9 n=2", today=TODAY)).values == {"n": value}


def test_years_between_two_dates_and_the_currency_of_another_field() -> None:
    papers = bucket(
        {"name": "first", "type": "date", "extract": [{"labels": ["from"]}]},
        {"name": "last", "type": "date", "extract": [{"labels": ["to"]}]},
        {
            "name": "length",
            "type": "quantity",
            "unit": "year",
            "extract": [{"years_between": ["first", "last"]}],
        },
        {"name": "mark", "type": "keyword", "extract": [{"pattern": r"\b(CHF)\b"}]},
        {"name": "price", "type": "money", "currency_field": "mark", "extract": [{"labels": ["price"]}]},
    )
    text = "From: 2020-01-01\nTo: 2030-01-01\nPrice: 12.50\nAll in CHF\n"
    values = extract(papers, Source(text, today=TODAY)).values
    assert values["length"] == Quantity(10.0, "10 years")
    assert values["price"] == Money(Decimal("12.5"), "CHF")


def test_embedded_data_win_and_what_the_text_prints_is_their_place() -> None:
    invoices = load_buckets()["invoices"]
    text = "Elm GmbH\nRechnung Nr. R-1 vom 05.03.2024\nGesamtbetrag: 119,00 EUR\nUSt 19%: 18,00 EUR\n"
    found = extract(invoices, Source(text, embedded=[b"<other/>", CII], today=TODAY)).fields
    number, tax = found["invoice_number"], found["tax_amount"]
    assert (number.best.value, number.best.method) == ("R-1", "embedded")
    assert text[number.best.start : number.best.end] == "R-1"
    assert tax.best.value == Money(Decimal(19), "EUR")
    assert [other.value for other in tax.others] == [Money(Decimal(18), "EUR")]


@pytest.mark.parametrize(
    "rule",
    [
        {},
        {"labels": ["a"], "pattern": "b"},
        {"pattern": "("},
        {"years_between": ["one"]},
        {"labels": ["a"], "take": "some"},
    ],
)
def test_a_rule_is_one_way_and_readable(rule: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ExtractRule.model_validate(rule)


def test_a_rule_names_fields_of_its_bucket() -> None:
    with pytest.raises(ValidationError, match="years_between"):
        bucket({"name": "n", "type": "quantity", "unit": "year", "extract": [{"years_between": ["a", "b"]}]})


@pytest.mark.parametrize("printed", ["seller: Acme", "SELLER: Acme", "ſeller: Acme"])
def test_a_label_is_found_regardless_of_case(printed: str) -> None:
    papers = bucket({"name": "seller", "type": "keyword", "extract": [{"labels": ["Seller"]}]})
    assert extract(papers, Source(printed, today=TODAY)).values == {"seller": "Acme"}


@pytest.mark.parametrize("printed", ["Invoice: 7", "İnvoice: 7", "ınvoice: 7", "INVOİCE: 7"])
def test_letters_that_a_pattern_takes_for_another_are_found(printed: str) -> None:
    papers = bucket({"name": "number", "type": "keyword", "extract": [{"labels": ["invoice"]}]})
    assert extract(papers, Source(printed, today=TODAY)).values == {"number": "7"}


HALL = (
    "Rules of the hall\n\nMembers of Harbour Loft may use the hall. Harbour Loft keeps it warm. Harbour Loft is closed on "
    "Sundays. The roof was mended by Ada Quill. Write to Harbour Loft by 4 May 2031.\n"
)


def test_a_question_finds_what_no_other_rule_does_and_a_name_that_recurs() -> None:
    papers = bucket(
        {"name": "keeper", "type": "keyword", "extract": [{"question": "Who keeps the hall warm?"}]},
        {"name": "person", "type": "keyword", "extract": [{"question": "Who mended the roof?"}]},
        {"name": "last", "type": "date", "extract": [{"question": "By when must one write?"}]},
        {"name": "size", "type": "decimal", "extract": [{"question": "How large is the hall?"}]},
        {
            "name": "shut",
            "type": "keyword",
            "extract": [{"question": "Who keeps the hall warm?"}, {"pattern": r"closed on (\w+)"}],
        },
    )
    fields = extract(papers, Source(HALL, today=TODAY)).fields
    assert {name: item.best.value for name, item in fields.items()} == {
        "keeper": "Harbour Loft",
        "last": date(2031, 5, 4),
        "shut": "Sundays",
    }
    best = fields["keeper"].best
    assert (HALL[best.start : best.end], best.method) == ("Harbour Loft", "question")
