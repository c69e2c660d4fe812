"""Thoughts are taken out of text, whole and streamed alike."""

import pytest

from citegraph.llm.outcome import ReasoningFilter, without_reasoning

TEXTS = [
    ("Plain.", "Plain."),
    ("<think>a\nb</think>\n\nYes.", "Yes."),
    ("\n<THINKING>a</THINKING>Yes.", "Yes."),
    ("<think>never closed", ""),
    ("<think></think>", ""),
    ("<think>a</think>x <think>b</think>", "x <think>b</think>"),
    ("<thin ice", "<thin ice"),
    ("a < b and <think> is a tag", "a < b and <think> is a tag"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "shown"), TEXTS)
def test_whole_text(text: str, shown: str) -> None:
    assert without_reasoning(text) == shown


def test_a_lone_closing_tag_ends_the_thoughts() -> None:
    assert without_reasoning("the template opened it</think>\nYes.") == "Yes."


@pytest.mark.parametrize(("text", "shown"), TEXTS)
@pytest.mark.parametrize("size", [1, 3, 7])
def test_streamed_text_shows_the_same(text: str, shown: str, size: int) -> None:
    hidden = ReasoningFilter()
    pieces = [hidden.add(text[i : i + size]) for i in range(0, len(text), size)]
    assert "".join([*pieces, hidden.end()]) == shown


def test_plain_text_is_not_held_back() -> None:
    hidden = ReasoningFilter()
    assert [hidden.add("Yes"), hidden.add(", <b>")] == ["Yes", ", <b>"]
