"""What a model call costs, by a table of prices per million tokens."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from citegraph.errors import BadInput

SNAPSHOT = re.compile(r"[-@](?:\d{4}-\d{2}-\d{2}|\d{4,8}|latest)$")
ANY_MODEL = "*"


class Price(BaseModel):
    """Money per million tokens, in whatever currency the table is written in."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0)
    output: float = Field(ge=0)

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Return the price of one call."""
        return (tokens_in * self.input + tokens_out * self.output) / 1_000_000


class Prices:
    """The prices of models by name; a dated snapshot has its model's price, and "*" is for all others.

    Raises:
        BadInput: the table has another shape.
    """

    def __init__(self, table: Mapping[str, Mapping[str, Any]]) -> None:
        try:
            self._prices = {name: Price.model_validate(dict(row)) for name, row in table.items()}
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise BadInput(
                f'CITEGRAPH_PRICES: {where}: {first["msg"]}; give {{"MODEL": {{"input": 1.25, "output": 10}}}}.'
            ) from None

    def price(self, model: str) -> Price | None:
        """Return the price of a model, None when the table has none."""
        for name in (model, SNAPSHOT.sub("", model), ANY_MODEL):
            if name in self._prices:
                return self._prices[name]
        return None
