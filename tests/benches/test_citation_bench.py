"""The verification benchmarks: what the generator makes, and the measured targets on a small share."""

import random
import re

import pytest

from benches import citation_bench as bench
from benches.corruptions import FALSE_KINDS, TRUE_KINDS, Case, Passage, make_cases, read_passages

TEXT = (
    "The Supplier shall pay the Purchaser a penalty of $3,000,000 within 30 days of the notice dated March 4, 2021. "
    "If the Purchaser rejects the goods under order PO-7741, the Supplier must replace them without charge. "
    "The Purchaser may not assign this Agreement to a competitor of the Supplier before 1 June 2025. "
    "This Agreement is governed by the laws of the State of Oregon and by no other law. "
    "Each party shall keep the books of the last three years at its principal place of business. "
    "The insurance that the Supplier provides must cover at least 80% of the value of the goods in store. "
    "The parties are required to meet once in every quarter to review the delivery schedule of the plant. "
    "A notice is valid when it has been sent by registered letter to the address stated in the first annex. "
    "The works in the harbour will be closed for cleaning on every second Monday of the summer season. "
    "Samples are taken from each batch by two inspectors who have been trained at the laboratory in town."
)


def cases() -> list[Case]:
    others = [
        Passage(f"other-{i}", f"Pumps of series {i} are tested at the works before they leave it. " * 6)
        for i in range(4)
    ]
    return make_cases([Passage("deal-1", TEXT), *others], random.Random(1), each=2)


def test_every_kind_is_made_and_a_corruption_changes_the_source() -> None:
    made = cases()
    assert {c.kind for c in made} == {*TRUE_KINDS, *FALSE_KINDS}
    for case in made:
        stated = re.sub(r" \[[^\]]+\]", "", case.answer)
        assert (stated == case.source) == (case.kind in ("verbatim", "wrong document"))
        assert len(case.passages) == 4


def test_cases_are_the_same_for_the_same_seed() -> None:
    assert cases() == cases()


def test_the_verifier_is_right_on_each_of_them() -> None:
    wrong = [(c.kind, c.answer, bench.judge_case(c)) for c in cases() if bench.judge_case(c)[0] != c.true]
    assert wrong == []


@pytest.mark.slow
def test_the_sample_corpus_meets_the_targets_of_false_alarms() -> None:
    rng = random.Random(3)
    made = make_cases(read_passages([bench.ROOT / "buckets" / "sample"], rng), rng, each=15)
    true = [c for c in made if c.true]
    assert len(true) > 20
    assert sum(not bench.judge_case(c)[0] for c in true) <= 0.05 * len(true)
    false = [c for c in made if not c.true]
    assert sum(not bench.judge_case(c)[0] for c in false) >= 0.95 * len(false)


@pytest.mark.corpora
@pytest.mark.skipif(bench.corpora() is None, reason="the shared archive is absent")
def test_the_archive_meets_the_targets() -> None:
    result = bench.corruption(seed=5, each=25)
    assert result["false_alarm_rate"] <= bench.FALSE_ALARMS
    caught = [
        (k, r["caught"])
        for k, r in result["kinds"].items()
        if "caught" in r and r["caught"] < r["target"] - 0.05
    ]
    assert caught == []
