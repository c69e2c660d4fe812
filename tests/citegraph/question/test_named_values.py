"""A common word names no stored value, whatever a value looks like."""

from datetime import date

import pytest

from citegraph.corpus.linking.name_search import How, Link
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from citegraph.question.named_values import is_common_word
from citegraph.question.reading import Reader
from tests.node_runtime import Read

MOORINGS = Bucket(
    name="moorings",
    description="Berths.",
    nouns=("mooring",),
    fields=(
        Field(name="tenant", type="keyword", kind="person", description="Who rents it."),
        Field(name="tags", type="keywords", description="Free words."),
    ),
)


def common(question: str, text: str, field: str, how: How, *, cued: bool = False) -> bool:
    start = question.index(text)
    link = Link(field, (text.title(),), 1, how, 0.9, start, start + len(text), text, cued=cued)
    declared = MOORINGS.field(field)
    assert declared is not None
    return is_common_word(Reader(MOORINGS, question, date(2026, 1, 1)), declared, link)


@pytest.mark.parametrize(
    ("question", "text", "field", "how", "cued"),
    [
        ("Give me a brief summary: how many moorings were let per year?", "summary", "tags", "exact", False),
        ("may a tenant paint the mooring", "paint", "tenant", "fuzzy", True),
    ],
)
def test_a_common_word_names_nothing(question: str, text: str, field: str, how: How, cued: bool) -> None:
    assert common(question, text, field, how, cued=cued)


@pytest.mark.parametrize(
    ("question", "text", "field", "how"),
    [
        ("moorings of okonjo, please", "okonjo", "tenant", "exact"),
        ("moorings of ockonjo", "ockonjo", "tenant", "fuzzy"),
        ("list the moorings tagged harbour", "harbour", "tags", "exact"),
    ],
)
def test_what_restricts_the_documents_is_a_name(question: str, text: str, field: str, how: How) -> None:
    assert not common(question, text, field, how)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("which invoices are for cloud services?", False),
        ("total we paid for facility management", False),
        ("total we paid to Facility", True),
        ("invoices of cobaltine", True),
    ],
)
def test_a_common_word_is_no_part_of_a_longer_name(read: Read, question: str, named: bool) -> None:
    assert bool(read("invoices", question)["filters"]) is named


def test_an_elided_word_is_no_code_of_a_country(read: Read) -> None:
    """Without its apostrophe "c'est" ends in the code of Estonia."""
    fields = [
        item.get("field") for item in read("invoices", "les factures, c'est-à-dire les avoirs")["filters"]
    ]
    assert "vendor_country" not in fields


def test_what_a_state_calls_itself_is_part_of_its_name(read: Read) -> None:
    found = read("contracts", "Which agreements fall under the law of the Kingdom of the Netherlands?")
    assert [item["field"] for item in found["filters"]] == ["governing_law"]
    assert "kingdom" not in [*found["terms"], *found["names"]]


def test_a_number_that_bounds_something_names_nothing(read: Read) -> None:
    fields = [item.get("field") for item in read("datasheets", "parts with a title over 200")["filters"]]
    assert not {"title", "product"} & set(fields)


def test_parts_of_two_names_of_one_field_are_alternatives_where_both_are_conditions(read: Read) -> None:
    question = "every bill of Cobaltine Cloud, that is the new name, and those of Oudenveld Facility as well"
    (vendors,) = read("invoices", question)["filters"]
    assert vendors["operator"] == "in"
    assert vendors["value"] == ["Cobaltine Cloud Inc.", "Oudenveld Facility B.V."]
