"""The figures of the networks on rows of each kind."""

import json
import math
import random
from pathlib import Path

import pytest

from benches.encoder_bench import HELD, calibration, measured, of_kind, overlap, readings, rows_of
from citegraph.encoder.finder import OFFSET, SLOPE


def test_each_kind_of_row_is_measured_by_its_own_figures(tmp_path: Path) -> None:
    rows = [
        {"q": "Which permits are from Tromsdal?", "intent": "list", "included": ["Tromsdal"], "excluded": []},
        {"text": "Enter the total in box 7.", "addressed": 0},
        {
            "passage": "The rent is EUR 900 a month.",
            "questions": [
                {"q": "How much is the rent?", "a": "EUR 900"},
                {"q": "Who is the baker?", "a": None},
            ],
        },
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    found = {tuple(figures)[1]: figures for figures in measured(tmp_path / "rows.jsonl")}
    assert list(found) == ["questions", "stated"]  # no piece speaks to a program: nothing to measure
    assert (found["stated"]["stated"], found["stated"]["area"]) == (1, 1.0)


def test_the_fit_finds_how_logits_have_to_be_moved_and_stretched() -> None:
    draw = random.Random(3)
    true = [draw.gauss(0, 2) for _ in range(8_000)]
    read = [((logit - 0.5) / 2, draw.random() < 1 / (1 + math.exp(-logit))) for logit in true]
    found = calibration(read)
    assert found["OFFSET"] == pytest.approx(0.5 + 2 * OFFSET, abs=0.1)
    assert found["SLOPE"] == pytest.approx(2 * SLOPE, rel=0.1)
    assert (
        calibration([(logit, right) for logit, (_, right) in zip(true, read, strict=True)])["off by"] < 0.03
    )


def test_the_finder_says_how_often_it_is_right() -> None:
    """Fails for weights whose fit was not made."""
    held = [row for path in HELD if path.stem.startswith("finder") for row in rows_of(path)]
    rows = [{**row, "questions": [row["questions"][at % 8]]} for at, row in enumerate(held)]
    read = [(logit, wanted is not None) for logit, _, wanted in readings(rows)]
    found = calibration(read)
    assert found["off by"] < 0.12
    assert found["SLOPE"] == pytest.approx(SLOPE, rel=0.5)


def test_precision_and_recall_are_of_what_is_and_what_is_said() -> None:
    told = {(True, True): 3, (False, True): 1, (True, False): 2}
    assert of_kind("x", told | {(False, False): 0}) == {"x: precision": 0.75, "x: recall": 0.6, "x, n": 5}


@pytest.mark.parametrize(
    ("found", "wanted", "share"), [("the rent", "rent", 2 / 3), ("a", "b", 0.0), ("", "", 1.0)]
)
def test_overlap_is_of_words(found: str, wanted: str, share: float) -> None:
    assert overlap(found, wanted) == pytest.approx(share)
