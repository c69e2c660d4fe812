"""Every pattern comes to an end; `python -m tests.trust.pattern_costs` tells which cost more than their text's size."""

import re
import subprocess
import sys

import pytest

from citegraph.corpus.extraction.labelled.labels import _ITEM
from tests.trust.pattern_costs import Found, endless, hostile_text
from tests.trust.pattern_texts import own_units

EACH = """
from tests.trust.pattern_costs import all_patterns, counted, endless
patterns = all_patterns()
print(*filter(None, map(endless, patterns)), counted(patterns), sep="\\n")
"""


@pytest.mark.slow
def test_every_pattern_is_found_and_comes_to_an_end() -> None:
    # In a process of its own: patterns are recorded while modules are imported, and other tests have imported most.
    told = subprocess.run([sys.executable, "-c", EACH], capture_output=True, text=True, check=True)
    *over, summary = told.stdout.splitlines()
    assert over == []
    assert (found := re.fullmatch(r"(\d+) patterns in (.+)", summary)), summary
    assert int(found[1]) > 900
    assert {"citegraph", "nodes", "server"} <= set(found[2].split(", "))


def test_a_pattern_of_exponentially_many_ways_does_not_come_to_an_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tests.trust.pattern_costs.ENDLESS", 0.5)
    told = endless(Found(re.compile(r"(?:de\W+(?:de|\W)*)*x"), "here"))
    assert told is not None
    assert told.startswith("here search ")


def test_a_pattern_is_tried_on_its_own_whole() -> None:
    pattern = re.compile(r"(?:EUR|USD) ?(\d{1,3})[^\W\d]{2}(?!x)[^a1]")
    whole = own_units(pattern)[0]
    assert re.fullmatch(r"(?:EUR|USD) ?(\d{1,3})[^\W\d]{2}[^a1]", whole)
    assert whole * 3 in hostile_text(10_000, whole, "")


def test_an_item_of_a_list_comes_to_an_end() -> None:
    assert endless(Found(_ITEM, "labels", frozenset({"fullmatch"}))) is None
