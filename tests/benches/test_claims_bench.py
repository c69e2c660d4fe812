"""The benchmark of real claims: where a claim lies in its answer, what counts as refused, passed and broken."""

from pathlib import Path

import pytest

from benches import claims_bench as bench

ROW = {
    "id": "t1",
    "passages": [
        {
            "n": 1,
            "doc_id": "kiln",
            "text": "Kiln | Volume (l) | Peak (°C)\nTerra 4 | 120 | 1,280\nTerra 9 | 310 | 1,320\n\nThe kilns need 400 V.",
        },
        {"n": 2, "doc_id": "lease", "text": "The Tenant shall give 3 months' notice."},
    ],
    "answer": "| Kiln | Volume |\n|---|---|\n| Terra 4 | 120 l [1] |\n| Terra 9 | 310 l [1] |\n\nThe kilns need 400 V [1].",
    "claims": [
        {"text": "| Terra 4 | 120 l |", "cites": [1], "right": True, "form": "table row"},
        {"text": "| Terra 9 | 310 l |", "cites": [1], "right": True, "form": "table row"},
        {"text": "The kilns need 400 V.", "cites": [1], "right": True, "form": "sentence"},
    ],
    "wrong": [
        {"replaces": 0, "text": "| Terra 4 | 125 l |", "kind": "wrong number", "why": ""},
        {"replaces": 2, "text": "The kilns need 230 V.", "kind": "wrong number", "why": ""},
    ],
}


def test_a_wrong_version_takes_the_place_and_the_markers_of_its_claim() -> None:
    first, second, third, row, sentence = bench.cases_of(ROW)
    assert first.answer[first.start : first.end] == "| Terra 4 | 120 l [1] |"
    assert second.start > first.end
    assert third.answer[third.start : third.end] == "The kilns need 400 V [1]."
    assert row.answer == first.answer.replace("120", "125")
    assert row.answer[row.start : row.end] == "| Terra 4 | 125 l [1] |"
    assert sentence.answer == first.answer.replace("400", "230")
    assert not sentence.right
    assert sentence.kind == "wrong number"


def test_the_markers_behind_a_full_stop_belong_to_the_claim_and_not_those_of_the_next_line() -> None:
    answer = "It weighs 4 kg. [1]\n[1] It is blue."
    start, end = bench.place_of(answer, "It weighs 4 kg.")
    assert answer[start:end] == "It weighs 4 kg. [1]"


def test_what_a_wrong_version_says_is_refused_and_the_rest_stands() -> None:
    outcomes = [(case, bench.passes(case)) for case in bench.cases_of(ROW)]
    assert [passed for _, passed in outcomes] == [True, True, True, False, False]
    found = bench.rates([(case, not passed) for case, passed in outcomes])
    assert found["right refused"] == found["wrong passed"] == found["facts passed"] == 1.0
    assert found["refused by form"]["table row"] == {"n": 2, "bad": 2}


def test_a_threshold_parts_the_scores_as_well_as_one_can() -> None:
    assert bench.threshold([0.9, 0.8, 0.2], [0.1, 0.3, 0.7]) == 0.8


def test_overlap_counts_words_and_numbers() -> None:
    assert bench.overlap("It weighs 4.5 kg", "Weight: it is 4.5 kg") == 0.75


def test_an_absent_half_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(bench.DataAbsent, match="open"):
        bench.measure("open", folder=tmp_path)


def test_the_open_half_is_complete_and_each_claim_has_its_place() -> None:
    rows = bench.read_answers("open")
    cases = [case for row in rows for case in bench.cases_of(row)]
    assert len(rows) == 158
    assert sum(case.right for case in cases) == 658
    assert sum(not case.right for case in cases) == 793
    assert all(
        "".join(case.text.split())[:5] == "".join(case.answer[case.start :].split())[:5] for case in cases
    )


def test_damaged_sentences_have_places_and_some_cite_another_document() -> None:
    rows = bench.read_answers("open", sets=[bench.CORRUPTIONS])
    cases = [case for row in rows[::9] for case in bench.cases_of(row)]
    assert [case.text for case in cases if case.right and not bench.passes(case)] == []
    moved = [case for case in cases if case.kind == "wrong document"]
    assert moved
    assert all(case.cited == case.evidence[1].text and not bench.passes(case) for case in moved)


@pytest.mark.slow
def test_sentences_of_real_passages_stand_and_damaged_ones_fall() -> None:
    found = bench.measure("open", False, sets=[bench.CORRUPTIONS])["verifier"]
    assert found["right refused"] <= 0.01
    kinds = found["passed by kind"]
    assert len(kinds) == 10
    assert {kind: row for kind, row in kinds.items() if row["bad"] > row["n"] / 10} == {}
