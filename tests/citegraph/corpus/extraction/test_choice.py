"""Which names and numbers the signs speak for, in documents that no rule reads, and how they are learned."""

from datetime import date
from decimal import Decimal

import numpy
import pytest

from citegraph.corpus.extraction.choice import (
    DOUBTFUL,
    SURE_OF,
    Frame,
    called,
    frame_of,
    names_in,
    numbers_in,
)
from citegraph.corpus.extraction.engine import Source, extract
from citegraph.corpus.schema.bucket import Bucket, load_buckets
from citegraph.corpus.schema.field import Field
from training.choice import Example, learn

BUCKETS = load_buckets()
TICKET = """Hvidbjerg Cykler ApS
Enghavevej 7
8722 Hedensted
post@hvidbjergcykler.dk

INV: HC-7731                       12.04.2031

Forgaffel                 1        450,00
"""


def test_the_number_beside_words_like_those_of_the_field_is_chosen_where_no_rule_knows_them():
    found = extract(BUCKETS["invoices"], Source(TICKET)).fields["invoice_number"]
    assert found.best.value == "HC-7731"
    assert found.best.method == "choice"
    assert 0.5 <= found.confidence <= SURE_OF
    assert TICKET[found.best.start : found.best.end] == "HC-7731"


def test_parties_are_chosen_from_a_list_of_the_head_that_no_opening_sentence_names():
    text = """Data sharing agreement

Provider: Ostrava Metering s.r.o.
Recipient: Kelmscott Analytics Ltd

1. Scope
The provider gives the recipient readings of meters.
"""
    found = extract(BUCKETS["contracts"], Source(text)).fields["parties"]
    assert {name.rstrip(".") for name in found.best.value} == {
        "Ostrava Metering s.r.o",
        "Kelmscott Analytics Ltd",
    }
    assert found.confidence <= DOUBTFUL


def test_a_value_that_a_rule_is_sure_of_is_not_weighed_against_a_choice():
    text = TICKET.replace("INV: HC-7731", "Invoice number: 90-14")
    found = extract(BUCKETS["invoices"], Source(text)).fields["invoice_number"]
    assert found.best.value == "90-14"
    assert "choice" not in {one.method for one in (found.best, *found.others)}


def test_a_day_is_chosen_by_where_it_stands_in_a_language_that_no_label_is_of():
    text = "Oljekanne AS\nStorgata 4, 7010 Trondheim\n\nKvittering 5521\n\nUtstedt: 03.05.2031\nBetales innen: 17.05.2031\n"
    fields = extract(BUCKETS["invoices"], Source(text, today=date(2032, 1, 1))).fields
    assert fields["due_date"].best.value == date(2031, 5, 17)
    assert fields["due_date"].best.method == "choice"


def test_net_and_tax_are_chosen_together_and_only_where_they_make_the_total():
    text = "Beleg 9\nZzub    200,00 EUR\nKvarn 19 %    38,00 EUR\nGesamtbetrag    238,00 EUR\n"
    said = amounts_of(text)
    assert said == [Decimal("238.00"), Decimal("200.00"), Decimal("38.00")]
    assert amounts_of(text.replace("200,00", "210,00"))[1:] == [None, None]


def amounts_of(text: str) -> list[Decimal | None]:
    fields = extract(BUCKETS["invoices"], Source(text)).fields
    names = ("total_amount", "net_amount", "tax_amount")
    return [fields[name].best.value.amount if name in fields else None for name in names]


def test_a_field_of_a_bucket_of_ones_own_is_chosen_by_its_type_and_stays_for_review():
    bucket = Bucket(
        name="berths",
        description="Berths.",
        nouns=("berth",),
        fields=(
            Field(name="moored", type="date", description="Day of mooring.", words=("moored", "made fast")),
            Field(name="cast_off", type="date", description="Day of leaving.", words=("cast off", "left on")),
        ),
    )
    fields = extract(bucket, Source("Harbour slip\n\nMoored on 2031-03-04\nCast off on 2031-03-09\n")).fields
    assert {name: one.best.value for name, one in fields.items()} == {
        "moored": date(2031, 3, 4),
        "cast_off": date(2031, 3, 9),
    }
    assert {one.best.method for one in fields.values()} == {"choice"}
    assert all(one.confidence <= DOUBTFUL for one in fields.values())


def test_a_day_says_its_place_among_the_others_and_an_amount_whether_others_make_it():
    frame = _frame_of("total_amount", "amount", "Zzub    20.00 EUR\nQuem    5.00 EUR\nVlit    25.00 EUR\n")
    names, signs = frame.signs("total_amount")
    said = {
        cell.text: dict(zip(names, row, strict=True)) for cell, row in zip(frame.cells, signs, strict=True)
    }
    assert [said[text]["made"] for text in said] == [0.0, 0.0, 1.0]
    assert [said[text]["larger_part"] for text in said] == [1.0, 0.0, 0.0]
    frame = _frame_of("due_date", "day", "Zzub 2031-02-01\nQuem 2031-04-01\n")
    names, signs = frame.signs("due_date")
    assert signs[:, names.index("most")].tolist() == [0.0, 1.0]


def _frame_of(field: str, role: str, text: str) -> Frame:
    declared = BUCKETS["invoices"].field(field)
    return frame_of(BUCKETS["invoices"], declared, role, Source(text).printed)


def test_cells_carry_the_words_that_stand_around_them():
    [code] = [cell for cell in numbers_in("Ref.      Date\n\nXK-204    soon\n") if cell.text == "XK-204"]
    assert (code.above, code.left) == ("Ref.", "")
    [name] = [cell for cell in names_in("Sold by: Brelholm Ltd, Odense\n") if cell.text == "Brelholm Ltd"]
    assert name.label == "Sold by"


def test_words_are_alike_by_the_letters_that_they_share():
    shares = called(BUCKETS["invoices"])("Invoice numbr")
    assert max(shares, key=shares.__getitem__) == "invoice_number"
    assert not any(called(BUCKETS["invoices"])("").values())


def test_a_sign_of_the_right_candidates_gets_weight_and_documents_without_a_value_teach_that_none_is():
    names = ["any", "sign"]
    one = Example("b.f", "maker", names, numpy.array([[1.0, 1.0], [1.0, 0.0]]), numpy.array([True, False]))
    none = Example("b.f", "maker", names, numpy.array([[1.0, 0.0]]), numpy.array([False]))
    weights = learn([one, none] * 20)["b.f"]
    assert weights["any"] < 0.0
    assert weights["sign"] > 1.0


@pytest.mark.parametrize("text", ["", "\n\n", "\f", "|  |"])
def test_texts_without_cells_have_no_candidates(text: str):
    assert not names_in(text)
    assert not numbers_in(text)
