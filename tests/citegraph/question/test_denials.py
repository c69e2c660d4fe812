"""Denials and alternatives: how far they reach, over lists, across fields, in four languages."""

import pytest

from citegraph.plan.stored_filters import printed
from tests.node_runtime import Read

COBALTINE, HALBRECHT, OUDENVELD = (
    "Cobaltine Cloud Inc.",
    "Halbrecht Präzisionstechnik GmbH",
    "Oudenveld Facility B.V.",
)
NEITHER = {f"vendor name not in {COBALTINE}, {HALBRECHT}"}


def filters(read: Read, bucket: str, question: str) -> set[str]:
    """Return the filters of a question as people read them."""
    return {printed(item) for item in read(bucket, question)["filters"]}


@pytest.mark.parametrize(
    "question",
    [
        "Every invoice except Cobaltine Cloud and Halbrecht",
        "invoices from neither Cobaltine Cloud nor Halbrecht",
        "invoices that are not from Cobaltine Cloud or Halbrecht",
        "invoices, leaving out Cobaltine Cloud and Halbrecht",
        "invoices of anyone but Cobaltine Cloud and Halbrecht",
        "Rechnungen, die weder von Cobaltine Cloud noch von Halbrecht sind",
        "alle Rechnungen außer Cobaltine Cloud und Halbrecht",
        "toutes les factures sauf Cobaltine Cloud et Halbrecht",
        "todas las facturas excepto Cobaltine Cloud y Halbrecht",
        "invoices not issued by Cobaltine Cloud and not by Halbrecht",
        "factures, Cobaltine Cloud et Halbrecht non compris",
    ],
)
def test_a_denial_reaches_over_its_whole_list(read: Read, question: str) -> None:
    assert filters(read, "invoices", question) == NEITHER


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("invoices outside 2024", {"invoice date < 2024-01-01 or invoice date > 2024-12-31"}),
        ("invoices not over 500 EUR", {"total amount <= 500 EUR"}),
        ("Rechnungen nicht unter 500 EUR", {"total amount >= 500 EUR"}),
        ("invoices not in EUR", {"total amount != EUR"}),
        ("non-EUR invoices", {"total amount != EUR"}),
        (
            "invoices not between 5 and 10 EUR",
            {"total amount < 5 EUR or total amount > 10 EUR"},
        ),
        ("everything but credit notes and receipts", {"document type not in credit note, receipt"}),
        ("please skip the receipts", {"document type != receipt"}),
        (
            "invoices from Cobaltine Cloud but not those of 2023",
            {f"vendor name = {COBALTINE}", "invoice date < 2023-01-01 or invoice date > 2023-12-31"},
        ),
        ("not only invoices from Halbrecht", {f"vendor name = {HALBRECHT}"}),
    ],
)
def test_what_is_denied_turns_around(read: Read, question: str, expected: set[str]) -> None:
    assert filters(read, "invoices", question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What is the notice for non-renewal under the contract with Halbrecht?",
        "How do we choose to not renew under the contract with Halbrecht?",
        "What happens if we do not pay on time under the Halbrecht contract?",
    ],
)
def test_a_denied_verb_denies_no_name_behind_it(read: Read, question: str) -> None:
    (only,) = filters(read, "contracts", question)
    assert only == f"parties contains {HALBRECHT}"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "invoices in 2023 or over 900 EUR",
            {"invoice date between 2023-01-01, 2023-12-31 or total amount > 900 EUR"},
        ),
        (
            "invoices of Halbrecht in 2023 or Oudenveld in 2024",
            {
                f"(vendor name = {HALBRECHT} and invoice date between 2023-01-01, 2023-12-31) or "
                f"(vendor name = {OUDENVELD} and invoice date between 2024-01-01, 2024-12-31)"
            },
        ),
        (
            "invoices of Halbrecht in 2023 and of Oudenveld in 2024",
            {
                f"(vendor name = {HALBRECHT} and invoice date between 2023-01-01, 2023-12-31) or "
                f"(vendor name = {OUDENVELD} and invoice date between 2024-01-01, 2024-12-31)"
            },
        ),
        (
            "invoices of Halbrecht in 2023 or 2024",
            {
                f"vendor name = {HALBRECHT}",
                "invoice date between 2023-01-01, 2023-12-31 or invoice date between 2024-01-01, 2024-12-31",
            },
        ),
        (
            "invoices of Halbrecht or Oudenveld in 2023",
            {f"vendor name in {HALBRECHT}, {OUDENVELD}", "invoice date between 2023-01-01, 2023-12-31"},
        ),
        (
            "invoices of Halbrecht dated in 2023 or over 900 EUR",
            {
                f"vendor name = {HALBRECHT}",
                "invoice date between 2023-01-01, 2023-12-31 or total amount > 900 EUR",
            },
        ),
    ],
)
def test_alternatives_reach_across_fields(read: Read, question: str, expected: set[str]) -> None:
    assert filters(read, "invoices", question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which invoices have no customer?", {"customer name missing"}),
        ("invoices without a vendor", {"vendor name missing"}),
        ("invoices that don't name a customer", {"customer name missing"}),
        ("invoices where the customer is unknown", {"customer name missing"}),
        ("Rechnungen ohne Kunden", {"customer name missing"}),
        ("factures sans client", {"customer name missing"}),
        ("invoices that have a customer", {"customer name exists"}),
        ("invoices without the customer Marrowfen Penang", {"customer name != Marrowfen Penang"}),
    ],
)
def test_every_field_can_be_missing_or_stated(read: Read, question: str, expected: set[str]) -> None:
    assert filters(read, "invoices", question) == expected


def test_a_denial_that_became_no_condition_is_said_to_be_unused(read: Read) -> None:
    assert read("invoices", "Which invoices were not paid yet?")["unused"] == ["not"]
    assert read("invoices", "invoices not from Halbrecht")["unused"] == []


@pytest.mark.parametrize("question", ["Top 3 invoices", "give me 3 ALL invoices", "top 2 by amount"])
def test_a_common_word_beside_a_number_is_no_currency(read: Read, question: str) -> None:
    assert filters(read, "invoices", question) == set()


def test_a_currency_alone_is_a_condition_on_the_amounts(read: Read) -> None:
    for question in ("invoices in EUR", "the EUR invoices", "invoices in euros", "invoices (EUR)"):
        assert filters(read, "invoices", question) == {"total amount = EUR"}, question
    assert filters(read, "invoices", "invoices over 200 in EUR") == {
        "total amount > 200",
        "total amount = EUR",
    }


@pytest.mark.parametrize(
    "question",
    [
        "Invoices of Halbrecht in EUR, please. What Cobaltine Cloud sent is of no interest.",
        "Halbrecht-Rechnungen in EUR, die von Cobaltine Cloud interessieren mich nicht",
        "les factures de Halbrecht, celles de Cobaltine Cloud je les ai déjà",
        "facturas de Halbrecht, las de Cobaltine Cloud ya las tengo",
    ],
)
def test_what_is_left_out_is_read_in_words_that_no_table_has(read: Read, question: str) -> None:
    found = filters(read, "invoices", question)
    assert f"vendor name = {HALBRECHT}" in found
    assert f"vendor name != {COBALTINE}" in found


def test_a_denial_of_what_is_demanded_is_no_condition(read: Read) -> None:
    question = "distributor contracts, but not those where the distributor may sell other brands"
    reading = read("contracts", question)
    assert [printed(item) for item in reading["filters"]] == ["contract type = Distributor"]
    assert reading["unused"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("invoices not yet paid (Halbrecht)", {f"vendor name = {HALBRECHT}"}),
        ("which bills never came through (Halbrecht)?", {f"vendor name = {HALBRECHT}"}),
        ("invoices (not Halbrecht)", {f"vendor name != {HALBRECHT}"}),
        ("all invoices except (Halbrecht)", {f"vendor name != {HALBRECHT}"}),
        (
            "which invoices of Halbrecht lack care (risk of receipts)?",
            {f"vendor name = {HALBRECHT}", "document type = receipt"},
        ),
    ],
)
def test_brackets_tell_more_of_what_is_meant_unless_they_deny(
    read: Read, question: str, expected: set[str]
) -> None:
    assert filters(read, "invoices", question) == expected


def test_brackets_behind_what_is_left_out_leave_it_out(read: Read) -> None:
    question = "Rechnungen seit 2023, die alten Lieferanten (Cobaltine, Halbrecht) kannst du weglassen"
    assert filters(read, "invoices", question) == NEITHER | {"invoice date >= 2023-01-01"}
