"""The checker tells supported from contradicted and from what is not stated."""

import pytest

from citegraph.encoder.checker import Checker, Verdict

INVOICE = "Invoice 5521 of Lindqvist AB\nNet amount: 480.00 EUR\nVAT 25 %: 120.00 EUR\nTotal: 600.00 EUR\nDue date: 14 May 2024"


@pytest.fixture(scope="module")
def checker() -> Checker:
    return Checker()


def named(verdict: Verdict) -> str:
    odds = {
        "supported": verdict.supported,
        "contradicted": verdict.contradicted,
        "not stated": verdict.not_stated,
    }
    return max(odds, key=lambda name: odds[name])


@pytest.mark.parametrize(
    ("claim", "evidence", "label"),
    [
        ("The contract ends on 3 May 2021.", "This Agreement terminates on 3 May 2021.", "supported"),
        (
            "Either party may terminate with 30 days' notice.",
            "Each party can end this agreement by giving thirty days' notice in writing.",
            "supported",
        ),
        ("Nobody was hurt in the fire.", "Three people were injured in the fire.", "contradicted"),
        ("The buyer is a hospital.", INVOICE, "not stated"),
    ],
)
def test_the_label_is_right(checker: Checker, claim: str, evidence: str, label: str) -> None:
    (verdict,) = checker.judge([(claim, evidence)])
    assert named(verdict) == label


def test_probabilities_add_up_and_places_are_kept(checker: Checker) -> None:
    pair = ("Nobody was hurt in the fire.", "Three people were injured in the fire.")
    first, empty, again = checker.judge([pair, ("A claim.", ""), pair])
    assert first.supported + first.contradicted + first.not_stated == pytest.approx(1)
    assert first == again
    assert empty == Verdict(0.0, 0.0, 1.0)
    assert checker.judge([]) == []


def test_evidence_is_read_to_its_end(checker: Checker) -> None:
    filler = "The committee met again and discussed the usual matters at some length without a vote. "
    claim = "The contract ends on 3 May 2021."
    verdict, without = checker.judge(
        [(claim, filler * 30 + "This Agreement terminates on 3 May 2021."), (claim, filler * 30)]
    )
    assert verdict.not_stated < without.not_stated / 2
