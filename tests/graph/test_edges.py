"""Routes only read: the same state gives the same edge, and nothing in it is changed."""

from copy import deepcopy
from typing import Any, cast, get_args, get_type_hints

import pytest
from langgraph.types import Send

from citegraph.run.services import Services
from citegraph.run.state import State
from citegraph.settings import Settings
from graph.build import build
from graph.edges import after_gate, after_review, after_verify, plan_edge, review_edge, search_tasks

CALL = {"tool": "search", "args": {"buckets": ["invoices"], "query": "q"}}


@pytest.mark.parametrize(
    ("route", "state", "edge"),
    [
        (after_gate, {}, "retrieve"),
        (after_gate, {"gate": {"retrieve": True}}, "retrieve"),
        (after_gate, {"gate": {"retrieve": False}}, "skip"),
        (after_review, {}, "enough"),
        (after_review, {"decision": {"status": "enough"}, "calls": [CALL]}, "enough"),
        (after_review, {"decision": {"status": "more"}, "calls": [CALL]}, "more"),
        (after_review, {"decision": {"status": "more"}, "calls": []}, "enough"),
        (after_review, {"decision": {"status": "clarify"}}, "clarify"),
        (after_verify, {}, "done"),
        (after_verify, {"draft": {"feedback": ""}}, "done"),
        (after_verify, {"draft": {"feedback": "- claim"}}, "correct"),
        (plan_edge, {"calls": []}, "none"),
        (plan_edge, {"decision": {"status": "clarify"}, "calls": []}, "clarify"),
        (plan_edge, {"decision": {"status": "enough", "left_open": "…"}, "calls": []}, "open"),
        (review_edge, {"decision": {"status": "enough"}}, "enough"),
        (review_edge, {"decision": {"status": "clarify"}}, "clarify"),
    ],
)
def test_edge_of_a_state(route: Any, state: dict[str, Any], edge: str) -> None:
    before = deepcopy(state)
    assert [route(state), route(state)] == [edge, edge]
    assert state == before


def test_more_becomes_one_send_per_call_with_the_deadline() -> None:
    state = cast(
        State,
        {
            "decision": {"status": "more"},
            "calls": [CALL, CALL],
            "plan": {"kind": "passages"},
            "deadline": 9.0,
        },
    )
    task = {"call": CALL, "plan": {"kind": "passages"}, "deadline": 9.0}
    expected = [Send("search", task | {"usage": {}}), Send("search", task)]
    assert review_edge(state) == expected
    assert plan_edge(state) == expected
    assert search_tasks(state) == expected


@pytest.mark.parametrize(
    ("node", "route"), [("gate", after_gate), ("review", after_review), ("verify_citations", after_verify)]
)
def test_every_literal_of_a_route_has_its_edge(node: str, route: Any) -> None:
    """A label without an edge ends the run without an error."""
    branches = build(Services(settings=Settings.model_construct())).branches[node]
    (branch,) = branches.values()
    assert set(branch.ends or {}) == set(get_args(get_type_hints(route)["return"]))
