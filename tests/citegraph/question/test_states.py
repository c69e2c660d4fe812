"""Words that say where a date lies from today."""

import pytest

from tests.node_runtime import TODAY, Read

NOW = TODAY.isoformat()
PAST, AHEAD = ("<", NOW), (">=", NOW)


@pytest.mark.parametrize(
    ("bucket", "question", "field", "bound"),
    [
        ("contracts", "Which agreements have expired?", "expiration_date", PAST),
        ("contracts", "list the agreements that are no longer in force", "expiration_date", PAST),
        ("contracts", "agreements that have not expired yet", "expiration_date", AHEAD),
        ("contracts", "Welche Verträge laufen noch?", "expiration_date", AHEAD),
        ("contracts", "Quels contrats sont encore en vigueur ?", "expiration_date", AHEAD),
        ("certificates", "How many certificates are still valid?", "valid_until", AHEAD),
        ("certificates", "certificates valid today", "valid_until", AHEAD),
        ("certificates", "Welche Zertifikate sind abgelaufen?", "valid_until", PAST),
        ("invoices", "Which bills are overdue?", "due_date", PAST),
        ("invoices", "überfällige Rechnungen", "due_date", PAST),
    ],
)
def test_a_state_is_a_bound_at_today(
    read: Read, bucket: str, question: str, field: str, bound: tuple[str, str]
) -> None:
    ((name, *said),) = [
        (item["field"], item["operator"], item["value"]) for item in read(bucket, question)["filters"]
    ]
    assert (name, tuple(said)) == (field, bound)


@pytest.mark.parametrize(
    ("bucket", "question"),
    [
        ("contracts", "contracts that expired in 2022"),
        ("certificates", "certificates valid for more than 10 years"),
        ("certificates", "certificates valid until 2031"),
    ],
)
def test_a_time_that_is_said_stays_the_bound(read: Read, bucket: str, question: str) -> None:
    values = [str(item.get("value")) for item in read(bucket, question)["filters"]]
    assert values
    assert not any(NOW in value for value in values)


def test_a_state_of_one_document_asks_for_its_date(read: Read) -> None:
    found = read("contracts", "Is the Driftmoor agreement still in force?")
    assert "expiration_date" in found["asked"]
    assert all(item.get("field") != "expiration_date" for item in found["filters"])
