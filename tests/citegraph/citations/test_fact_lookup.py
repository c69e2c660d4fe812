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


RECEIPT = Evidence(
    "r",
    "bon",
    "Eisenwaren Holm\nBohrer 8 mm | 64,00 A\nRabatt | -6,40 A\nTüte | 0,20 B\nSumme EUR | 57,80\n"
    "Angebot: 22.000 oder 26.500 Euro, gültig bis 8. Mai. Der Rat tagt am 6. Mai.\nLieferung am 03/05/2024.",
)
CLUB = Evidence(
    "c",
    "club",
    "Members pay within ten days. They may bring guests who share a boat: three or more. "
    "Boats are kept in the North Harbour Basin. The coils have 2.4K/W and 1.7K/W. Visitors may use the Crane only on decks owned by the Harbour.",
)


@pytest.mark.parametrize(
    ("claim", "right"),
    [
        ("Der Bohrer kostete 64,00 Euro und mit Rabatt 57,60 Euro [bon].", True),  # A is the class of its tax
        ("Die zwei Angebote liegen 4.500 Euro auseinander [bon].", True),
        ("Das Angebot gilt bis 8. Mai, der Rat tagt am 6. desselben Monats [bon].", True),
        ("Das Angebot gilt bis 8. Mai, der Rat tagt am 7. desselben Monats [bon].", False),
        ("Geliefert wurde am 03/05/2024 [bon].", True),
        ("Geliefert wurde am 05/03/2024 [bon].", False),
        ("The coils of 2.4K/W and 1.7K/W add up to 4.1K/W [club].", True),
        ("Members pay within eleven full days [club].", False),
        ("A boat is shared by at least four guests [club].", False),
        ("Berths lie in the NHB [club].", True),
        ("Visitors: only on decks that belong to the Harbour [club].", True),
    ],
)
def test_a_fact_is_what_its_source_prints(claim: str, right: bool) -> None:
    (found,) = verify(claim, [RECEIPT, CLUB]).claims
    assert (found.verdict in {"supported", "derived"}) is right, found.reason


def test_an_abbreviation_in_capitals_is_looked_up_in_german_too() -> None:
    plan = Evidence("p", "plan", "Der Vorstand erwartet eine EBIT-Marge von mindestens 7,5 %.")
    verdicts = [
        verify(f"Die {name}-Marge soll mindestens 7,5 % betragen [plan].", [plan]).claims[0].verdict
        for name in ("EBIT", "EBITDA")
    ]
    assert verdicts == ["supported", "unsupported"]
