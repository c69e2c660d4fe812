"""Reducers are pure: identity, order, and the reset that a new question needs."""

from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from citegraph.run.state import State, add_usage, collect

ENTRIES = st.lists(st.dictionaries(st.sampled_from("abc"), st.integers()), max_size=4)
COUNTERS = st.dictionaries(st.sampled_from(["llm_calls", "tool_calls", "rounds"]), st.integers(0, 9))
USAGE = st.builds(
    lambda counters, steps: counters | ({"steps": steps} if steps else {}),
    COUNTERS,
    st.dictionaries(st.sampled_from(["gate", "search"]), st.integers(0, 9)),
)


@given(ENTRIES)
def test_collect_keeps_identity(entries: list[dict[str, Any]]) -> None:
    assert collect(entries, []) == entries
    assert collect([], entries) == entries


@given(ENTRIES, ENTRIES, ENTRIES)
def test_collect_keeps_order_and_associates(
    first: list[dict[str, Any]], second: list[dict[str, Any]], third: list[dict[str, Any]]
) -> None:
    assert collect(collect(first, second), third) == [*first, *second, *third]


def test_collect_is_emptied_by_none() -> None:
    assert collect([{"a": 1}], None) == []


def test_collect_changes_neither_side() -> None:
    left, right = [{"a": 1}], [{"b": 2}]
    assert collect(left, right) == [{"a": 1}, {"b": 2}]
    assert (left, right) == ([{"a": 1}], [{"b": 2}])


@given(USAGE, USAGE, USAGE)
def test_usage_of_parallel_searches_adds_up_in_any_order(
    first: dict[str, Any], second: dict[str, Any], third: dict[str, Any]
) -> None:
    before = deepcopy((first, second))
    assert add_usage(add_usage(first, second), third) == add_usage(add_usage(third, first), second)
    assert add_usage(first, {}) == first
    assert add_usage({}, first) == first
    assert (first, second) == before


def test_usage_adds_counters_and_seconds_per_step() -> None:
    left = {"llm_calls": 1, "steps": {"gate": 0.25}}
    right = {"llm_calls": 2, "tool_calls": 1, "steps": {"gate": 0.5, "search": 0.125}}
    assert add_usage(left, right) == {
        "llm_calls": 3,
        "tool_calls": 1,
        "steps": {"gate": 0.75, "search": 0.125},
    }


def test_usage_starts_from_zero_on_none() -> None:
    assert add_usage({"llm_calls": 3}, None) == {}


def test_every_channel_says_what_it_holds() -> None:
    channels = TypeAdapter(State).json_schema()["properties"]
    assert [name for name, shown in channels.items() if not shown.get("description")] == []
