"""Draws of right and wrong claims for a judge, and its rulings as they are kept and replayed."""

import json

import pytest

from benches import claims_judge as bench
from citegraph.citations.verify_answer import Judgement


def test_a_draw_has_its_numbers_and_no_two_versions_of_a_claim() -> None:
    first, second = bench.draw(1), bench.draw(2)
    assert not {sheet.id for sheet in first} & {sheet.id for sheet in second}
    for number, sheets in ((1, first), (2, second)):
        right = sum(case.right for sheet in sheets for case in sheet.cases)
        wrong = sum(not case.right for sheet in sheets for case in sheet.cases)
        assert right + wrong >= 2 * bench.DRAWS[number][1] - 2
    for sheet in first:
        places = [(case.start, case.end) for case in sheet.cases]
        assert len(set(places)) == len(places)
        assert all(sheet.answer[case.start : case.end].strip() for case in sheet.cases)


def test_a_prompt_has_each_evidence_once_and_says_nothing_of_right_and_wrong() -> None:
    sheet = bench.draw(1)[0]
    prompt = sheet.prompt()
    asked = sheet.asked()
    assert prompt.count("<claim_") == len(asked)
    assert prompt.count("<evidence_") == len({evidence for _, evidence in asked})
    assert not any(case.kind in prompt for case in sheet.cases if not case.right)


def test_a_reply_rules_on_every_claim_of_its_prompt() -> None:
    sheet = next(s for s in bench.draw(1) if len(s.asked()) > 1)
    ruling = {"number": 1, "verdict": "contradicted", "reason": "another day"}
    with pytest.raises(ValueError, match="no ruling on claim 2"):
        list(bench.lines_of(1, sheet, json.dumps({"rulings": [ruling]})))
    whole = {"rulings": [ruling | {"number": n} for n in range(1, len(sheet.asked()) + 1)]}
    lines = list(bench.lines_of(1, sheet, json.dumps(whole)))
    assert [line["claim"] for line in lines] == [claim for claim, _ in sheet.asked()]


@pytest.mark.slow
def test_the_kept_rulings_are_on_the_claims_that_the_product_asks_about() -> None:
    given = bench.recorded()
    asked = {
        bench.key_of(case) for number in bench.DRAWS for sheet in bench.draw(number) for case in sheet.asked()
    }
    assert asked == given.keys()


@pytest.mark.slow
def test_what_a_judge_refuses_falls() -> None:
    everything = {
        bench.key_of(case): Judgement("unsupported", "so ruled")
        for sheet in bench.draw(2)
        for case in sheet.asked()
    }
    result = bench.judged(2, everything)
    assert result["unruled"] == 0
    assert result["with"]["wrong passed"] < result["without"]["wrong passed"]
    assert result["with"]["right refused"] > 0.8
    assert "draw 2" in bench.table([result])
