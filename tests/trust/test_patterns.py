"""No pattern costs more than its text's size; `python -m tests.trust.patterns` prints what each costs."""

import os

import pytest

from tests.trust.patterns import all_patterns, costly

SHARE = int(os.environ.get("PATTERN_SHARE", "200"))
"""Every which pattern is tried: all of them (1) take some 10 minutes."""


@pytest.mark.slow
def test_every_pattern_is_found_and_costs_what_its_text_is_long() -> None:
    patterns = all_patterns()
    assert len(patterns) > 900
    assert {item.where.split("/")[0] for item in patterns} >= {"citegraph", "nodes", "server"}
    over = {item.where: cost for item in patterns[::SHARE] if (cost := costly(item))}
    assert over == {}
