"""Claims over two documents: values beside the right names, the greater one called greater, names that hold together."""

import pytest

from citegraph.citations.report_types import Claim, Evidence
from citegraph.citations.verify_answer import Judgement, verify

TARN = (
    "NON-COMPETE AGREEMENT between Helmwick AG and Ilse Tarn.\nDuring the employment and for eighteen (18) months "
    "thereafter the Employee will not work for any competitor of Helmwick."
)
OKORO = (
    "NON-COMPETE AGREEMENT between Helmwick AG and Peter Okoro.\nDuring the employment and for twelve (12) months "
    "thereafter the Employee will not work for any competitor of Helmwick."
)
FAIR = "SPONSORSHIP AGREEMENT\nBrinewell Ltd shall be the sponsor of the Dunmere Fair in June."
SINGER = (
    "ENDORSEMENT AGREEMENT\nBrinewell Ltd engages the singer Mara Quist as endorser of its mineral water."
)
OTHER = "ENDORSEMENT AGREEMENT\nOakmoor Ltd engages the singer Lena Voss as endorser of its bicycles."
CERT = (
    "Subject: O=Fennick Corp, CN=Fennick Root 2017\nValidity\nNot Before: Dec 18 23:06:45 2019 GMT\n"
    "Not After : Jul 18 23:16:04 2042 GMT"
)
EVIDENCE = [
    Evidence("t1", "tarn", TARN, facts=(("parties", "Helmwick AG; Ilse Tarn"),)),
    Evidence("o1", "okoro", OKORO, facts=(("parties", "Helmwick AG; Peter Okoro"),)),
    Evidence("f1", "fair", FAIR, facts=(("parties", "Brinewell Ltd"),)),
    Evidence("s1", "singer", SINGER, facts=(("parties", "Brinewell Ltd; Mara Quist"),)),
    Evidence("v1", "other", OTHER, facts=(("parties", "Oakmoor Ltd; Lena Voss"),)),
    Evidence("c1", "cert", CERT, facts=(("organization", "Fennick Corp"), ("valid_until", "2042-07-18"))),
]


ROOTS = [
    Evidence(
        "a1",
        "a",
        "Subject: CN=Ostrel Root A, expires\nNot Before: Jan 1 2010\nNot After : Oct 1 2033",
        facts=(("subject", "Ostrel Root A"),),
    ),
    Evidence(
        "b1",
        "b",
        "Subject: CN=Varnel Root B, expires\nNot Before: Jan 1 2012\nNot After : Jun 22 2036",
        facts=(("subject", "Varnel Root B"),),
    ),
]
SECRETS = [
    Evidence(
        "k1",
        "k",
        "NDA of Gellwick and Korr.\nDisclosure ends five (5) years after the Effective Date.\nThe duties "
        "expire seven (7) years from the Effective Date.",
    ),
    Evidence(
        "m1", "m", "NDA of Gellwick and Mirren.\nThe duties expire five (5) years from the Effective Date."
    ),
]


def test_a_comparison_over_a_semicolon_is_one_claim() -> None:
    for said, backed in (
        ("Ostrel expires first, on Oct 1 2033; Varnel expires on Jun 22 2036 [a] [b].", True),
        ("Varnel expires first, on Jun 22 2036; Ostrel expires on Oct 1 2033 [a] [b].", False),
    ):
        (claim,) = verify(said, ROOTS).claims
        assert (claim.verdict in {"supported", "derived"}) is backed


@pytest.mark.parametrize(
    ("said", "backed"),
    [
        ("Ostrel expires first, on Oct 1 2033, and Varnel expires on Jun 22 2036 [a] [b].", True),
        ("Varnel expires later than Ostrel, on Jun 22 2036 and on Oct 1 2033 [a] [b].", True),
        ("Varnel expires first, on Jun 22 2036, and Ostrel expires on Oct 1 2033 [a] [b].", False),
        ("Ostrel expires first, on Jun 22 2036, and Varnel expires on Oct 1 2033 [a] [b].", False),
        ("Ostrel expires before Varnel: on Oct 1 2033, against Jun 22 2036 [a] [b].", True),
        ("Varnel expires before Ostrel: on Oct 1 2033, against Jun 22 2036 [a] [b].", False),
    ],
)
def test_the_earlier_date_is_the_first(said: str, backed: bool) -> None:
    (claim,) = verify(said, ROOTS).claims
    assert (claim.verdict in {"supported", "derived"}) is backed


@pytest.mark.parametrize(
    ("said", "backed"),
    [
        (
            "The duties run longer with Korr (seven (7) years) than with Mirren (five (5) years) [k] [m].",
            True,
        ),
        (
            "The duties run longer with Mirren (seven (7) years) than with Korr (five (5) years) [k] [m].",
            False,
        ),
        (
            "The duties run longer with Mirren (five (5) years) than with Korr (seven (7) years) [k] [m].",
            False,
        ),
    ],
)
def test_a_value_that_both_state_may_belong_to_either(said: str, backed: bool) -> None:
    (claim,) = verify(said, SECRETS).claims
    assert (claim.verdict in {"supported", "derived"}) is backed


def judged(text: str) -> Claim:
    (claim,) = verify(text, EVIDENCE).claims
    return claim


@pytest.mark.parametrize(
    "said",
    [
        "Ilse Tarn is kept from competitors for longer, eighteen (18) months, than Peter Okoro, twelve (12) months",
        "Ilse Tarn may not work for a competitor for 18 months, longer than Peter Okoro, for whom it is 12 months",
        "Peter Okoro is kept from competitors for less time, 12 months, than Ilse Tarn, 18 months",
        "Ilse Tarn is kept from competitors for 18 months and Peter Okoro for 12 months, so Tarn is kept for longer",
        "Ilse Tarn is locked out for longer: eighteen (18) months, against twelve (12) months for Peter Okoro",
        "The employee will not work for a competitor of Helmwick for longer under the contract of Ilse Tarn (18 months) "
        "than of Peter Okoro (12 months)",
    ],
)
def test_a_comparison_whose_values_stand_beside_their_names_is_backed(said: str) -> None:
    claim = judged(f"{said} [tarn] [okoro].")
    assert claim.verdict in {"supported", "derived"}
    assert set(claim.backed_by) == {"tarn", "okoro"}


@pytest.mark.parametrize(
    "said",
    [
        "Ilse Tarn is kept from competitors for longer, 12 months, than Peter Okoro, 18 months",
        "Peter Okoro is kept from competitors for longer, 18 months, than Ilse Tarn, 12 months",
        "Peter Okoro is kept from competitors for longer, 12 months, than Ilse Tarn, 18 months",
        "Ilse Tarn is kept from competitors for a shorter time, 18 months, than Peter Okoro, 12 months",
        "Ilse Tarn is kept from competitors for longer, 24 months, than Peter Okoro, 12 months",
        "Ilse Tarn is kept from competitors for longer, 18 months, than Greta Lind, 12 months",
        "Peter Okoro is kept from competitors 6 months longer, for 18 months, than Ilse Tarn for 12 months",
        "Both Ilse Tarn and Peter Okoro are kept from competitors for 18 months",
        "Ilse Tarn is kept from competitors for 18 months and Peter Okoro for 12 months, so Okoro is kept for longer",
        "Ilse Tarn may work for any competitor of Helmwick for longer, 18 months, than Peter Okoro, 12 months",
    ],
)
def test_a_comparison_with_swapped_or_foreign_values_falls(said: str) -> None:
    assert judged(f"{said} [tarn] [okoro].").verdict in {"contradicted", "unsupported"}


def test_a_difference_is_still_computed() -> None:
    claim = judged(
        "Ilse Tarn is kept from competitors six months longer (18 months) than Peter Okoro (12 months) [tarn] [okoro]."
    )
    assert (claim.verdict, claim.formula) == ("derived", "18 months - 12 months")


def test_a_name_that_both_documents_have_holds_a_claim_together() -> None:
    claim = judged(
        "Brinewell Ltd, the sponsor of the Dunmere Fair, engages Mara Quist as endorser [fair] [singer]."
    )
    assert claim.verdict == "supported"


def test_documents_without_a_name_in_common_back_no_claim_together() -> None:
    claim = judged("The sponsor of the Dunmere Fair engages Lena Voss as endorser [fair] [other].")
    assert (claim.verdict, claim.reason[:19]) == ("unsupported", "no name holds the c")
    bridged = judged("The sponsor of the Dunmere Fair engages Mara Quist as endorser [fair] [singer].")
    assert bridged.verdict == "supported"


def test_a_judge_sees_all_documents_that_a_claim_cites() -> None:
    seen = []

    def judge(claim: str, evidence: str) -> Judgement:
        seen.append(evidence)
        return Judgement("unsupported", "no")

    text = "Brinewell Ltd, the happy sponsor of the Dunmere Fair, engages Mara Quist as endorser [fair] [singer]."
    verify(text, EVIDENCE, judge=judge)
    assert any("[fair]" in text and FAIR in text and "[singer]" in text and SINGER in text for text in seen)


def test_the_year_in_a_name_is_no_rival_of_a_day() -> None:
    assert judged("Fennick Corp owns the Fennick Root, valid until 2042-07-18 [cert].").verdict == "supported"
    assert judged("Fennick Corp owns the Fennick Root, valid until 2042-07-19 [cert].").verdict != "supported"


def test_a_label_before_a_value_is_not_glued_to_it() -> None:
    text = "KX-ER-C model seven: power consumption < 3.5W [kx-er-c]."
    evidence = [
        Evidence(
            "p1",
            "kx-er-c",
            "KX-ER-C model seven\nOptical module\nPower consumption    < 3.5W",
            facts=(("title", "KX-ER-C model seven"),),
        )
    ]
    (claim,) = verify(text, evidence).claims
    assert claim.verdict == "supported", claim.reason
    (other,) = verify(text.replace("seven", "seven of Harl Ltd"), evidence).claims
    assert other.verdict != "supported"


def test_a_sentence_ends_behind_its_marker() -> None:
    claims = verify("Helmwick AG employs Ilse Tarn [tarn]. oko-tool is unknown [okoro].", EVIDENCE).claims
    assert [claim.markers for claim in claims] == [("tarn",), ("okoro",)]


def test_a_german_noun_is_no_name() -> None:
    text = "Holzfrei K und Holzfrei L: Permethrin (CAS-Nr. 52645-53-1)."
    evidence = [Evidence("g", "k", text)]
    (claim,) = verify(
        "Holzfrei K enthält denselben Wirkstoff wie Holzfrei L, Permethrin (CAS-Nr. 52645-53-1) [k].",
        evidence,
    ).claims
    assert "Wirkstoff" not in claim.reason
