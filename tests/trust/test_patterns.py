"""No pattern costs more than its text's size; `python -m tests.trust.patterns` tries each on every text of the list."""

import re
import subprocess
import sys

import pytest

from citegraph.corpus.extraction.labelled.labels import _ITEM
from tests.trust.own_units import own_units
from tests.trust.patterns import SHORT_LIST, Found, costly


@pytest.mark.slow
def test_every_pattern_is_found_and_costs_what_its_text_is_long() -> None:
    # In a process of its own: patterns are recorded while modules are imported, and other tests have imported most.
    told = subprocess.run(
        [sys.executable, "-m", "tests.trust.patterns", SHORT_LIST], capture_output=True, text=True, check=True
    )
    *over, summary = told.stdout.splitlines()
    assert over == []
    assert (found := re.match(r"(\d+) patterns in (.+); 0 over the bound", summary)), summary
    assert int(found[1]) > 900
    assert {"citegraph", "nodes", "server"} <= set(found[2].split(", "))


@pytest.mark.parametrize(
    "expression",
    [
        r"<(b|i)>.*?</\1>",
        r"\s*,?\s*\b(?:a|an)\s+kind",
        r"(?:de\W+(?:de|\W)*)*x",
        r"\s*[^=]+?\s*=",
        r"[a-c]x(?:[a-c]x)*(?:[a-c]x)*!",
    ],
)
@pytest.mark.slow
def test_texts_made_of_a_pattern_find_what_it_costs(expression: str) -> None:
    assert costly(Found(re.compile(expression, re.DOTALL), "here")) is not None


def test_a_pattern_costs_what_its_own_whole_shows() -> None:
    whole = own_units(re.compile(r"(?:EUR|USD) ?(\d{1,3})[^\W\d]{2}(?!x)[^a1]"))[0]
    assert re.fullmatch(r"(?:EUR|USD) ?(\d{1,3})[^\W\d]{2}[^a1]", whole)
    assert costly(Found(re.compile(r"\bEUR \d{1,3}\b"), "here")) is None


def test_an_item_of_a_list_costs_what_its_line_is_long() -> None:
    assert costly(Found(_ITEM, "labels", frozenset({"fullmatch"}))) is None
