"""Numbers of fields without a unit are read by the field's word beside them."""

from datetime import date

import pytest

from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from citegraph.question.measures import read_numbers
from citegraph.question.reading import Reader

BUCKET = Bucket(
    name="suppliers",
    description="Suppliers and how they are rated.",
    nouns=("supplier",),
    fields=(
        Field(
            name="rating", type="decimal", description="Mean rating.", words=("rating", "Bewertung", "note")
        ),
        Field(
            name="staff", type="integer", description="People.", words=("employee", "staff", "Mitarbeiter")
        ),
        Field(name="length", type="quantity", unit="m", description="Length."),
    ),
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("suppliers with a rating of 4.5 or more", [("rating", ">=", "4.5", "rating of 4.5 or more")]),
        ("whose rating is above 3", [("rating", ">", "3", "rating is above 3")]),
        ("Lieferanten mit einer Bewertung unter 2,5", [("rating", "<", "2.5", "Bewertung unter 2,5")]),
        ("fournisseurs avec une note supérieure à 4", [("rating", ">", "4", "note supérieure à 4")]),
        ("rating between 3 and 4", [("rating", "between", ["3", "4"], "rating between 3 and 4")]),
        ("at least 40 employees", [("staff", ">=", 40, "at least 40 employees")]),
        ("mehr als 40 Mitarbeiter", [("staff", ">", 40, "mehr als 40 Mitarbeiter")]),
        ("with 12 employees and a rating under 2",
         [("rating", "<", "2", "rating under 2"), ("staff", "=", 12, "12 employees")]),
        ("with STAFF40, not staff-40b or multistaff40", [("staff", "=", 40, "STAFF40")]),
        ("a staff of 2.5", []),  # people are counted whole
        ("rating over 4 km", []),  # another thing is measured
        ("rating over 40 %", []),
        ("rating over 40 EUR", []),
        ("suppliers over 40", []),  # of what is not said
        ("What is the rating of the supplier at number 12?", []),
    ],
)  # fmt: skip
def test_a_number_beside_the_word_of_a_field(
    question: str, expected: list[tuple[str, str, object, str]]
) -> None:
    reader = Reader(BUCKET, question, date(2026, 1, 1))
    read_numbers(reader)
    assert [(c.field, c.operator, c.value, c.raw) for c in (atom.clause for atom in reader.atoms)] == expected
