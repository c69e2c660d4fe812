"""Money by a table of prices per million tokens."""

import pytest

from citegraph.errors import BadInput
from citegraph.llm.call_options import Price, Prices
from citegraph.llm.chat import ChatModels
from citegraph.settings import Settings

TABLE = {"gpt-5": {"input": 1.25, "output": 10.0}, "gpt-5-mini": {"input": 0.25, "output": 2.0}}


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("gpt-5", Price(input=1.25, output=10.0)),
        ("gpt-5-2025-08-07", Price(input=1.25, output=10.0)),
        ("gpt-5-mini", Price(input=0.25, output=2.0)),
        ("gpt-5-nano", None),
        ("other", None),
    ],
)
def test_the_price_of_a_model(model: str, price: Price | None) -> None:
    assert Prices(TABLE).price(model) == price


def test_a_star_prices_all_others() -> None:
    assert Prices({"*": {"input": 1.0, "output": 1.0}}).price("any") == Price(input=1.0, output=1.0)


def test_a_million_tokens_cost_the_price() -> None:
    assert Price(input=1.25, output=10.0).of(2_000_000, 500_000) == 7.5


def test_a_wrong_table_fails_at_start() -> None:
    with pytest.raises(BadInput, match=r"CITEGRAPH_PRICES: output: Field required"):
        ChatModels(Settings.model_construct(prices={"m": {"input": 1.0}}))
