"""The tables of words as patterns and as lists."""

import re

import pytest

from citegraph.language.word_tables import alternation, listed


def test_a_blank_of_a_pattern_is_any_white_space() -> None:
    found = re.compile(alternation("statements", "at_least"), re.IGNORECASE)
    assert found.fullmatch("at least")
    assert found.fullmatch("at \n least")
    assert not found.fullmatch("atleast")


def test_a_blank_is_what_the_caller_says() -> None:
    found = re.compile(alternation("statements", "at_least", blank="_"))
    assert found.fullmatch("at_least")
    assert not found.fullmatch("at least")


def test_patterns_stand_on_lines_and_between_bars() -> None:
    said = alternation("statements", "at_least").split("|")
    assert {"mindestens", "wenigstens", r"au\s+moins"} <= set(said)


def test_a_listed_word_of_two_parts_has_its_blank() -> None:
    assert "not found" in listed("statements", "empty_cells")
    assert "not_found" not in listed("statements", "empty_cells")


def test_an_unknown_part_is_an_error() -> None:
    with pytest.raises(KeyError):
        listed("statements", "no such part")
