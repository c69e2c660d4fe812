"""The settings of a run as a form shows them."""

import pytest

from citegraph.errors import BadInput
from citegraph.run.context import GROUPS, Context, read_context
from graph.main import agent


def test_every_setting_has_its_group_and_stands_in_its_order() -> None:
    named = [name for names in GROUPS.values() for name in names]
    assert sorted(named) == sorted(Context.model_fields)
    schema = Context.model_json_schema()["properties"]
    assert list(schema) == named
    assert schema["max_rounds"]["title"] == "Budgets: max rounds"
    assert schema["max_rounds"]["langgraph_nodes"] == ["review"]
    assert "langgraph_nodes" not in schema["models"]


def test_what_a_form_shows_at_a_node_is_a_node() -> None:
    nodes = {node for names in GROUPS.values() for at in names.values() for node in at}
    assert nodes <= set(agent.nodes)


def test_a_style_is_bounded() -> None:
    assert read_context({"style": "x" * 300}).style == "x" * 300
    with pytest.raises(BadInput, match=r"^style="):
        read_context({"style": "x" * 301})
