"""with_rows: the rows of tables that a question asks for."""

from typing import Any

from citegraph.plan.make_plan import make_plan
from citegraph.run.context import Context
from citegraph.run.services import Corpus
from nodes.decompose import decompose
from tests.node_runtime import TODAY


def test_the_number_of_a_bound_names_no_row(corpus: Corpus) -> None:
    question = "Which parts stand more than 30 V and come in a TO-92 package?"
    state: Any = {
        "question": question,
        "decomposition": decompose(question),
        "routes": [{"bucket": "datasheets"}],
    }
    plan = make_plan(corpus, state, Context(today=TODAY.isoformat()))[0]
    (wanted,) = plan["rows"]
    assert wanted["words"] == []
    assert {item.get("field") for item in wanted["filters"]} == {"unit", None}
    assert "30" not in plan["per_bucket"]["datasheets"]["terms"]
