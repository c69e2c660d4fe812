"""A declaration proposed from examples."""

import pytest

from corpus.extraction.proposal import Example, propose
from llm.errors import BadInput

EXAMPLES = [
    Example(
        f"d{number}.txt",
        f"DELIVERY NOTE\nNote No: DN-2024-{number:04}\nDate: {number + 12:02}/03/2024\nWeight: {number}.50\n"
        f"Amount: EUR {number}0.00\nCarrier: {'Fast Vans' if number % 2 else 'Slow Boats'}\nPieces: {number}\n",
    )
    for number in range(1, 9)
]


def test_fields_types_roles_and_identifiers_of_a_form() -> None:
    proposal = propose("notes", EXAMPLES)
    types = {field.name: field.type for field in proposal.bucket.fields}
    assert types == {
        "title": "keyword",
        "amount": "money",
        "carrier": "keyword",
        "date": "date",
        "note_no": "keyword",
        "pieces": "integer",
        "weight": "decimal",
    }
    fields = {field.name: field for field in proposal.bucket.fields}
    assert set(fields["carrier"].values) == {"Fast Vans", "Slow Boats"}
    assert fields["note_no"].kind == "identifier"
    assert (proposal.bucket.main_date, proposal.bucket.main_amount) == ("date", "amount")
    assert proposal.bucket.date_order == "DMY"
    assert proposal.bucket.find_identifiers("see DN-2025-0042")[0][1] == "DN-2025-0042"
    assert proposal.rates == dict.fromkeys(types, 1.0)


def test_dates_with_the_month_first() -> None:
    examples = [Example(f"{day}.txt", f"Shipped: 03/{day}/2024\n") for day in range(13, 20)]
    assert propose("loads", examples).bucket.date_order == "MDY"


def test_front_matter_needs_no_labels() -> None:
    examples = [Example(f"{n}.md", f"---\nowner: Ada {n}\n---\nText.") for n in range(3)]
    proposal = propose("pages", examples)
    owner = proposal.bucket.field("owner")
    assert owner is not None
    assert owner.extract == ()
    assert proposal.rates["owner"] == 1.0


def test_rare_labels_are_left_out() -> None:
    rare = Example("rare.txt", "DELIVERY NOTE\nNote No: DN-2024-0099\nRemark: torn\n")
    assert "remark" not in propose("notes", [*EXAMPLES, rare]).rates


@pytest.mark.parametrize(
    ("name", "examples", "reason"),
    [
        ("notes", [], "no document"),
        ("notes", [Example("a", "1 2 3"), Example("b", "4"), Example("c", "5")], "No label"),
        ("My Notes", EXAMPLES, "cannot be a bucket"),
    ],
)
def test_what_cannot_be_proposed(name: str, examples: list[Example], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        propose(name, examples)
