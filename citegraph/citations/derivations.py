"""Numbers that a claim derives: recomputed from cited values or from what code computed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import combinations
from statistics import median

from citegraph.citations.facts import Fact, hard_facts
from citegraph.citations.matching import View, family
from citegraph.citations.verdicts import Derivation


@dataclass(frozen=True, slots=True)
class Derived:
    """How a claimed number comes about."""

    formula: str
    reason: str


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


_CUE = re.compile(
    r"\b(?:sum|total(?:s|ling)?|combined|together|altogether|differ\w*|more|less|fewer|higher|lower|longer|shorter|later|earlier|cheaper|increase\w*|decrease\w*|grew|rose|fell|"
    r"growth|drop\w*|average|mean|ratio|times|twice|share|count|there\s+are|number\s+of|summe|insgesamt|zusammen|gesamt\w*|differenz|unterschied|mehr|weniger|durchschnitt\w*|mittel|anzahl|"
    r"somme|ensemble|différence|moyenne|plus|moins|nombre|au\s+total)\b",
    re.IGNORECASE,
)


def derive(
    claim: View, passages: Sequence[View], derivations: Sequence[Derivation], markers: Sequence[str]
) -> Derived | None:
    """Return how the numbers of a claim that no passage states come about, None when one of them does not.

    Args:
        claim: the claim.
        passages: the cited passages.
        derivations: numbers that code computed.
        markers: the documents that the claim cites.
    """
    numbers = [f for f in claim.facts if f.kind == "number"]
    if not numbers:
        return None
    computed = [d for d in derivations if recompute(d)]
    stated = [f for p in passages for f in p.facts]
    found: Derived | None = None
    for fact in numbers:
        made = _from_derivations(fact, computed)
        if made is None and _states(fact, stated):
            continue
        if made is None and _CUE.search(claim.text):
            made = _from_passages(fact, stated) or _from_markers(fact, markers)
        if made is None:
            return None
        found = found or made
    return found


def _states(fact: Fact, stated: Sequence[Fact]) -> bool:
    return any(s.amounts and fact.amounts[0] == s.amounts[0] for s in stated)


def _from_derivations(fact: Fact, derivations: Sequence[Derivation]) -> Derived | None:
    for derivation in derivations:
        printed = hard_facts(f"{derivation.value} {derivation.unit}".strip())
        for value in (f for f in printed if f.amounts):
            same_unit = not (fact.dimension and value.dimension) or fact.dimension == value.dimension
            target = (
                value.amounts[0] if fact.dimension and value.dimension else (value.raw or value.amounts)[0]
            )
            mine = fact.amounts[0] if fact.dimension and value.dimension else (fact.raw or fact.amounts)[0]
            if same_unit and _close(mine, target, min(fact.decimals, 0)):
                return Derived(derivation.formula, f"computed: {derivation.formula}")
    return None


def _from_passages(fact: Fact, stated: Sequence[Fact]) -> Derived | None:
    """Try sum, difference, ratio and average of two cited values, then the sum and average of all alike."""
    if not stated:
        return None
    alike = [s for s in stated if s.amounts and s.kind == "number" and _comparable(fact, s)]
    alike.sort(key=lambda s: bool(s.dimension))  # of two prints of one value the one with its unit stays
    unique = list({s.amounts[0]: s for s in alike}.values())[:24]
    target = fact.amounts[0]
    for a, b in combinations(unique, 2):
        x, y = a.amounts[0], b.amounts[0]
        for sign, result in (("+", x + y), ("-", x - y), ("-", y - x)):
            if _close(target, result, fact.decimals) or _same_table(fact, a, b, result):
                first, second = (a, b) if (sign == "+" or result == x - y) else (b, a)
                return _made(f"{_shown(first)} {sign} {_shown(second)}")
    if fact.dimension == "percent" or (not fact.noun and "time" in fact.text):
        return _ratio(fact, [s for s in stated if s.kind == "number" and s.amounts])
    if len(unique) > 2:
        total = sum((s.amounts[0] for s in unique), Decimal(0))
        if _close(target, total, fact.decimals):
            return _made(" + ".join(map(_shown, unique)))
    return None


def _same_table(fact: Fact, a: Fact, b: Fact, result: Decimal) -> bool:
    """Tell whether a result of two bare table numbers is the claimed one without the table's scale."""
    if not fact.scaled or a.scaled or b.scaled or a.dimension or b.dimension:
        return False
    printed = hard_facts(fact.printed)
    return bool(printed) and bool(printed[0].amounts) and printed[0].amounts[0] == result


def _ratio(fact: Fact, stated: Sequence[Fact]) -> Derived | None:
    unique = list({s.amounts[0]: s for s in stated}.values())[:16]
    for a, b in combinations(unique, 2):
        if family(a) != family(b):
            continue
        for x, y in ((a, b), (b, a)):
            if y.amounts[0]:
                share = x.amounts[0] / y.amounts[0] * 100
                if _close(fact.amounts[0], share, fact.decimals):
                    return _made(f"{_shown(x)} / {_shown(y)}")
                if _close(fact.amounts[0], abs(share - 100), fact.decimals):
                    return _made(f"({_shown(x)} - {_shown(y)}) / {_shown(y)}")
    return None


def _comparable(fact: Fact, source: Fact) -> bool:
    """A sum has terms of its own kind; a bare number stands for one only among amounts of a table."""
    return family(fact) == family(source) or (
        family(fact) == "money" and not source.dimension and "." in source.printed
    )


def _from_markers(fact: Fact, markers: Sequence[str]) -> Derived | None:
    """Take a bare count for the number of documents that the claim cites."""
    if fact.dimension or len(markers) < 2 or fact.amounts[0] != len(markers):
        return None
    return _made(f"count of {len(markers)} cited documents")


def _shown(fact: Fact) -> str:
    """Return a value for a formula; of "eighteen (18) months" it is "18 months"."""
    return " ".join(fact.text.replace(")", " ").replace("(", " ").split()).rstrip(" .,;")


def _made(formula: str) -> Derived:
    return Derived(formula, f"derived: {formula}")
