"""Typed filters: one clause, three meanings held to the same result set (SQL, Qdrant, plain Python)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Operator = Literal[
    "=", "!=", "<", "<=", ">", ">=", "between", "in", "not in", "contains", "starts with", "exists", "missing"
]
Scalar = str | int | float | bool
Origin = Literal["inferred", "user", "access"]


class Clause(BaseModel):
    """One condition on one field of a bucket.

    Attributes:
        field: a field name of the bucket's declaration.
        operator: see `Operator`; `contains` on a list means membership, on text a substring.
        value: scalar, or a list for `between` (two), `in` and `not in`; None for `exists` and `missing`.
            Dates are ISO strings, money is `{"amount": "12.50", "currency": "EUR"}` or a bare number.
        raw: the words of the question that it came from.
        origin: `user` and `access` clauses are hard; `inferred` ones may be relaxed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    field: str
    operator: Operator
    value: Scalar | list[Scalar] | dict[str, str] | None = None
    raw: str = ""
    origin: Origin = "inferred"


class Group(BaseModel):
    """Clauses joined by `any` (OR) or `all` (AND); one level deep, a group holds no groups."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: Literal["any", "all"]
    clauses: tuple[Clause, ...]


Filters = tuple[Clause | Group, ...]
