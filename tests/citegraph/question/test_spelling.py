"""spelling: a slip in a word of asking is read as that word; names, values and other words stay as they are."""

import pytest

from citegraph.question.phrases import spelled

DECLARED = ("invoice", "supply agreement", "Laufzeit", "expires")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("avrage of the bills", "average of the bills"),
        ("beetween 5 and 9", "between 5 and 9"),
        ("nubmer of leases", "number of leases"),
        ("the lagest lease", "the largest lease"),
        ("how manny leases", "how many leases"),
        ("two invocies", "two invoices"),
        ("aggreement with Tarn", "agreement with Tarn"),
        ("expries in May", "expires in May"),
        ("wieviele Verträge, insgesammt", "wieviele Verträge, insgesamt"),
        # Words of their own, although one letter from a word of asking.
        ("the county lease", "the county lease"),
        ("who is the contact", "who is the contact"),
        ("a form of lease", "a form of lease"),
        # A capital inside makes a name, a sign within a word a code.
        ("leases of Avrage Ltd", "leases of Avrage Ltd"),
        ("see avrage-2 and x.avrage", "see avrage-2 and x.avrage"),
    ],
)
def test_slips(written: str, read: str) -> None:
    assert spelled(written, DECLARED, lambda word: False)[0] == read


def test_what_a_stored_value_holds_is_no_slip_and_a_slip_is_told() -> None:
    assert spelled("avrage leases", (), {"avrage"}.__contains__) == ("avrage leases", [])
    assert spelled("avrage leases", (), set[str]().__contains__)[1] == ["“avrage” was read as “average”."]
