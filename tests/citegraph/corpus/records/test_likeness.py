"""Signatures of texts."""

import pytest

from citegraph.corpus.records.likeness import signature_of, similarity

TEXT = " ".join(f"{word} {number}" for number in range(400) for word in ("oak", "ash", f"elm{number % 7}"))


@pytest.mark.parametrize("at_once", [3, 4, 100, 799])
def test_a_long_text_has_the_signature_that_it_has_at_once(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    expected = [signature_of(text) for text in (TEXT, "", "oak", "oak ash elm")]
    monkeypatch.setattr("citegraph.corpus.records.likeness.RUNS_AT_ONCE", at_once)
    assert [signature_of(text) for text in (TEXT, "", "oak", "oak ash elm")] == expected
    assert similarity(signature_of(TEXT), signature_of(f"{TEXT} fir yew")) > 0.9
