"""What a model is told of a document's fields and of the conditions that chose it."""

from typing import Any

import pytest

from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field, Value
from citegraph.evidence.shown import fields_shown
from citegraph.language.amounts import Quantity
from citegraph.plan.stored_filters import filters_shown
from citegraph.run.services import Corpus

SHEETS = Bucket(
    name="sheets",
    description="Data sheets.",
    nouns=("sheet",),
    fields=(
        Field(name="boiling_point", type="quantity", unit="degC", description="Where it boils."),
        Field(name="sheets", type="integer", unit="pages", description="Its pages."),
        Field(name="maker", type="keyword", description="Who makes it."),
    ),
)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ({"boiling_point": Quantity(88.0, "88")}, "boiling_point=88 degC"),
        ({"boiling_point": Quantity(88.0, "88 °C")}, "boiling_point=88 °C"),
        ({"sheets": 12}, "sheets=12 pages"),
        ({"maker": "4711"}, "maker=4711"),
    ],
)
def test_a_bare_number_is_shown_with_the_unit_of_its_field(values: dict[str, Value], shown: str) -> None:
    assert fields_shown(SHEETS, values, ["What is it?"]) == shown


def test_each_side_of_a_comparison_shows_its_own_filters(corpus: Corpus) -> None:
    def side(label: str, state: str) -> Any:
        clause = {"field": "currency", "operator": "=", "value": state, "raw": state}
        return {"label": label, "question": label, "per_bucket": {"invoices": {"filters": [clause]}}}

    plan: Any = {
        "buckets": ["invoices"],
        "per_bucket": {"invoices": {"filters": []}},
        "sides": [side("the first", "EUR"), side("the second", "XTS")],
    }
    first, second = filters_shown(corpus, plan).split("\n")
    assert first.startswith("the first: invoices: currency ")
    assert "EUR" in first
    assert "XTS" not in first
    assert second.startswith("the second: invoices: currency ")
    assert second.endswith("all together: 0 documents")
