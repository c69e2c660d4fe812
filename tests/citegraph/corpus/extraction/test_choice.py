"""Which names and numbers the signs speak for, in documents that no rule reads, and how they are learned."""

import numpy
import pytest

from citegraph.corpus.extraction.choice import SURE_OF, called, names_in, numbers_in
from citegraph.corpus.extraction.engine import Source, extract
from citegraph.corpus.schema.bucket import load_buckets
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


def test_a_value_that_a_rule_is_sure_of_is_not_weighed_against_a_choice():
    text = TICKET.replace("INV: HC-7731", "Invoice number: 90-14")
    found = extract(BUCKETS["invoices"], Source(text)).fields["invoice_number"]
    assert found.best.value == "90-14"
    assert "choice" not in {one.method for one in (found.best, *found.others)}


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
    one = Example("b.f", "maker", numpy.array([[1.0, 1.0], [1.0, 0.0]]), numpy.array([True, False]))
    none = Example("b.f", "maker", numpy.array([[1.0, 0.0]]), numpy.array([False]))
    weights = learn([one, none] * 20, ["any", "sign"])["b.f"]
    assert weights["any"] < 0.0
    assert weights["sign"] > 1.0


@pytest.mark.parametrize("text", ["", "\n\n", "\f", "|  |"])
def test_texts_without_cells_have_no_candidates(text: str):
    assert not names_in(text)
    assert not numbers_in(text)
