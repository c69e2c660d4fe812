"""Numbers that code computed for an answer, computed once more."""

from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from math import prod
from statistics import median

from citegraph.citations.facts import Fact, hard_facts
from citegraph.citations.report_types import Derivation


def _close(one: Decimal, other: Decimal, decimals: int) -> bool:
    """Tell whether two numbers are equal to half of the last printed digit of the first."""
    return abs(one - other) <= Decimal(10) ** decimals / 2


def recompute(derivation: Derivation) -> bool:
    """Tell whether a derivation's value follows from its inputs; without inputs it is taken as computed."""
    try:
        value = Decimal(derivation.value.replace(",", ""))
        inputs = [Decimal(i.replace(",", "")) for i in derivation.inputs]
    except InvalidOperation:
        return False
    if not inputs:
        return True
    exponent = value.as_tuple().exponent
    decimals = exponent if isinstance(exponent, int) else 0
    return any(_close(value, r, decimals) for r in _results(derivation.operation, inputs))


def _results(operation: str, inputs: list[Decimal]) -> Iterator[Decimal]:
    if operation == "count":
        yield Decimal(len(inputs))
    elif operation == "sum":
        yield sum(inputs, Decimal(0))
    elif operation == "average":
        yield sum(inputs, Decimal(0)) / len(inputs)
    elif operation == "median":
        yield median(inputs)
    elif operation == "product":
        yield prod(inputs, start=Decimal(1))
    elif operation == "min":
        yield min(inputs)
    elif operation == "max":
        yield max(inputs)
    elif len(inputs) == 2:
        a, b = inputs
        if operation == "difference":
            yield a - b
            yield b - a
        elif b:
            yield a / b
            yield a / b * 100
            yield (a - b) / b * 100


def from_code(fact: Fact, derivations: Sequence[Derivation]) -> Derivation | None:
    """Return the computation of code that gives a claimed number, None when none does; a date is computed by none."""
    if not (fact.amounts or fact.raw):
        return None
    for derivation in derivations:
        printed = hard_facts(f"{derivation.value} {derivation.unit}".strip())
        for value in (f for f in printed if f.amounts):
            same_unit = not (fact.dimension and value.dimension) or fact.dimension == value.dimension
            both = fact.dimension and value.dimension
            target = value.amounts[0] if both else (value.raw or value.amounts)[0]
            mine = fact.amounts[0] if both else (fact.raw or fact.amounts)[0]
            if same_unit and _close(mine, target, min(fact.decimals, 0)):
                return derivation
    return None


def count_of(fact: Fact, markers: Sequence[str]) -> str:
    """Return the formula of a bare count of the documents that a claim cites, "" when it is none."""
    if fact.kind != "number" or fact.dimension or len(markers) < 2 or fact.amounts[0] != len(markers):
        return ""
    return f"count of {len(markers)} cited documents"
