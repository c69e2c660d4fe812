"""What a turn leaves for the next one."""

from typing import Any

import pytest

from citegraph.plan.turns import VIEW, left_of


@pytest.mark.parametrize(
    ("documents", "by_texts", "only"),
    [
        (["a", "b"], True, ["a", "b"]),
        (["a", "b"], False, ["z"]),
        ([str(number) for number in range(VIEW)], True, ["z"]),  # not all are kept: the search is made again
    ],
)
def test_the_next_turn_stays_with_what_texts_chose(
    documents: list[str], by_texts: bool, only: list[str]
) -> None:
    plan: Any = {"intent": "list", "kind": "documents", "aggregate": {"function": "none"}, "only": ["z"]}
    assert left_of(plan, {"documents": documents}, by_texts=by_texts)["only"] == only
