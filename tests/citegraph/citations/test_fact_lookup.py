"""Facts of a claim found in whatever spelling, unit or language its source has them."""

import pytest

from citegraph.citations.report_types import Evidence
from citegraph.citations.verify_answer import verify

HALL = Evidence(
    "h",
    "halle",
    "Die Miete der Halle beträgt 50.000 Euro im Jahr und ist am 3. März 2025 fällig. Die Halle öffnet um 17.30 Uhr. "
    "Gewartet wird sie im Oktober. Kein Mieter darf die Anlage ändern.",
)


@pytest.mark.parametrize(
    ("claim", "right"),
    [
        ("The rent of the hall is EUR 50,000 a year [halle].", True),
        ("The rent is due on 2025-03-03 [halle].", True),
        ("The hall opens at 5.30 p.m. [halle].", True),
        ("The hall opens at 17h30 [halle].", True),
        ("Maintenance takes place in October [halle].", True),
        ("Die Halle wird im Oktober gewartet [halle].", True),
        ("The rent of the hall is EUR 50 a year [halle].", False),
        ("The hall opens at 5.30 a.m. [halle].", False),
        ("Maintenance takes place in September [halle].", False),
        (
            "No tenant may change it [halle].",
            True,
        ),  # nothing that could be compared, and nothing that speaks against it
    ],
)
def test_a_fact_in_another_spelling(claim: str, right: bool) -> None:
    (found,) = verify(claim, [HALL]).claims
    assert (found.verdict in {"supported", "derived"}) is right, found.reason


def test_names_of_the_question_are_known_and_others_are_not() -> None:
    lease = Evidence(
        "l", "lease", "The Tenant may end this lease on 30 June 2027 by giving six months' notice."
    )
    said = "Marlowe Kilns may end the lease on 30 June 2027 [lease]."
    (asked,) = verify(said, [lease], question="When can Marlowe Kilns, the Tenant, leave?").claims
    (unasked,) = verify(said, [lease], question="When can the tenant leave?").claims
    assert (asked.verdict, unasked.verdict) == ("supported", "unsupported")


def test_silence_is_no_claim_about_words() -> None:
    lease = Evidence("l", "lease", "The Tenant may end this lease on 30 June 2027.")
    (found,) = verify("Whether spare keys are handed over is not stated [lease].", [lease]).claims
    assert found.verdict == "supported"
