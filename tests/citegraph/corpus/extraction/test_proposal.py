"""A declaration proposed from examples."""

import pytest

from citegraph.corpus.extraction.labelled.label_pairs import Example
from citegraph.corpus.extraction.proposal import propose
from citegraph.corpus.schema.bucket import load_buckets
from citegraph.errors import BadInput

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


def proposed(lines: list[str], names: str = "abcdef") -> dict[str, tuple[str, str | None]]:
    """Return field -> (type, kind) of what is proposed for a document a letter; `{}` in a line is another number in each."""
    examples = [
        Example(letter, "\n".join(lines).replace("{}", str(number)).replace("{name}", letter.upper()) + "\n")
        for number, letter in enumerate(names, 12)
    ]
    fields = propose("docs", examples).bucket.fields
    return {field.name: (field.type, field.kind) for field in fields if field.name != "title"}


def test_types_of_values() -> None:
    lines = [
        "Überarbeitet am: {}.03.2024",
        "Not Before: Jan {} 10:00:00 2024 GMT",
        "GST ID: 0004176{}904",
        "Bruttosumme      {},50",
        "Grand total      RM {}.00",
        "Public-Key: (40{} bit)",
        "Supplier: {name} Trading Ltd",
        "Approved: yes",
        "Invoice No INV-{}",
    ]
    assert proposed(lines) == {
        "ueberarbeitet_am": ("date", None),
        "not_before": ("date", None),
        "gst_id": ("keyword", "identifier"),
        "bruttosumme": ("money", None),
        "grand_total": ("money", None),
        "public_key": ("quantity", None),
        "supplier": ("keyword", "organization"),
        "invoice_no": ("keyword", "identifier"),
    }


def test_what_is_no_field() -> None:
    noise = [
        "Tel: 07-35{}405",  # how to reach somebody
        "Page {}",
        "Section 5: Measures",  # a heading: the same in all
        "GHS: Globally Harmonised System of Classification",
        "By: /s/ Ada",  # where somebody signs
        "Name: ______",
        "    d8:cb:7a:{}:ef:73",  # bytes
        "http://example.com/{}",
        "The 25XX{} in a system with",  # running text
    ]
    assert proposed(["Order No: {}-A", *noise]) == {"order_no": ("keyword", "identifier")}


def test_a_label_with_the_values_of_another_is_that_one() -> None:
    assert list(proposed(["Order No: A-{}", "Reference: A-{}"])) == ["order_no"]


def test_documents_like_those_of_a_bucket_take_over_its_fields() -> None:
    invoices, contracts = (load_buckets()[name] for name in ("invoices", "contracts"))
    slips = [
        Example(
            f"{n}.txt",
            f"ELM TRADING LTD\nTAX INVOICE\nInvoice No: E-7{n}\nDate: {n + 10}/03/2024\nTotal: GBP {n}8.00\nTable No: T{n}\n",
        )
        for n in range(6)
    ]
    proposal = propose("slips", slips, [contracts, invoices])
    fields = {field.name: field for field in proposal.bucket.fields}
    assert proposal.like == "invoices"
    assert {"vendor_name", "invoice_number", "invoice_date", "total_amount", "table_no"} <= fields.keys()
    assert "date" not in fields  # it is the invoice's date
    assert fields["invoice_number"].examples == ("E-70", "E-71", "E-72")
    assert (
        fields["invoice_number"].extract == (invoices.field("invoice_number") or fields["table_no"]).extract
    )
    assert (proposal.bucket.main_amount, proposal.bucket.nouns[:2]) == ("total_amount", ("slip", "slips"))
    assert proposal.rates["total_amount"] == 1.0
    letters = [Example(f"{n}.txt", f"ELM TRADING LTD\nDate: {n + 10}/03/2024\nDear Ada,\n") for n in range(6)]
    assert propose("letters", letters, [contracts, invoices]).like is None


def test_the_language_of_most_documents() -> None:
    german = [
        Example(f"{n}", f"Nummer: A-{n}\nDer Stoff ist nicht mit dem Wasser und der Luft zu mischen.")
        for n in range(3)
    ]
    assert propose("stoffe", german).bucket.language == "de"


def test_conditions_and_boilerplate_are_no_fields() -> None:
    parts = "oak ash elm fir yew".split()
    examples = [
        Example(
            f"{part}.txt",
            f"Part No: X-{number}7\nVCC = {number}V, all inputs open\nAugust {2001 + number}\nParkstrasse 1\n"
            f"Keeper: This module keeps the {part} of all users\nStep: one\nStep: two\nStep: {part}\n"
            f"Supply 3.3V-5.{number}V and 4.7K\n",
        )
        for number, part in enumerate(parts, 1)
    ]
    proposal = propose("parts", examples)
    assert set(proposal.rates) - {"title"} == {"part_no"}
    assert [kind.examples for kind in proposal.bucket.identifiers] == [("X-17", "X-27", "X-37")]
