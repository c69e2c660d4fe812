"""Clauses compiled to conditions, the algebra that SQL, Qdrant and plain Python share, and its plain-Python meaning."""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from citegraph.corpus.filters.clause import (
    COMPARED,
    OPERATORS,
    PRESENCE,
    Clause,
    Filters,
    Group,
    Operator,
    clauses_in,
    each_value,
    other_field,
)
from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field, Value
from citegraph.errors import BadInput
from citegraph.language.amounts import Money, Quantity
from citegraph.language.terms import fold


@dataclass(frozen=True, slots=True)
class Range:
    """A range of numbers or days; a bound that is None is open, `low_open` and `high_open` exclude it."""

    low: Any = None
    high: Any = None
    low_open: bool = False
    high_open: bool = False
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled clause: the field is present and the test holds (or does not, when negated).

    Exactly one test is set: `present`, `ranges` (any of them), `words` (equal to any), `part`
    (substring, or prefix when `anchored`), `flag`, `other` (a field that the value is `compared` with).
    """

    field: Field
    negated: bool = False
    present: bool | None = None
    ranges: tuple[Range, ...] | None = None
    words: tuple[str, ...] | None = None
    part: str | None = None
    anchored: bool = False
    flag: bool | None = None
    other: Field | None = None
    compared: Operator = "="


COMPARES = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compile_clause(bucket: Bucket, clause: Clause) -> Condition:
    """Return a checked clause's condition.

    Raises:
        BadInput: the clause is not one that `check` returned.
    """
    field = next((item for item in bucket.fields if item.name == clause.field), None)
    if field is None:
        raise BadInput(f"{clause.field[:60]!r} is not a field of {bucket.name}")
    if clause.operator not in OPERATORS[field.type]:
        raise BadInput(f"{clause.operator!r} does not fit {field.name}, which is {field.type}")
    if clause.operator in PRESENCE:
        return Condition(field, present=clause.operator == "exists")
    if name := other_field(clause):
        other = next((item for item in bucket.fields if item.name == name), None)
        if other is None or clause.operator not in COMPARED:
            raise BadInput(f"{field.name} {clause.operator} {name[:60]} compares no two fields")
        return Condition(field, other=other, compared=clause.operator)
    values = each_value(clause.value)
    if not values or any(value is None for value in values):
        raise BadInput(f"{field.name} {clause.operator} needs a value")
    negated = clause.operator in ("!=", "not in")
    if field.is_string:
        return _compile_string(field, clause.operator, values, negated)
    if field.type == "boolean":
        return Condition(field, flag=bool(values[0]) != negated)
    return Condition(field, negated, ranges=_compile_ranges(field, clause.operator, values))


def _compile_string(field: Field, operator: Operator, values: Sequence[Any], negated: bool) -> Condition:
    words = tuple(fold(str(value)) for value in values)
    if operator == "starts with":
        return Condition(field, part=words[0], anchored=True)
    if operator == "contains" and field.type != "keywords":
        return Condition(field, part=words[0])
    return Condition(field, negated, words=words)


def _compile_ranges(field: Field, operator: Operator, values: Sequence[Any]) -> tuple[Range, ...]:
    points = [operand(field, value) for value in values]
    if operator == "between":
        if len(points) != 2:
            raise BadInput(f"{field.name} between needs two values")
        (low, currency), (high, other) = points
        return (Range(low, high, currency=currency or other),)
    point, currency = points[0]
    match operator:
        case "<" | "<=":
            return (Range(None, point, high_open=operator == "<", currency=currency),)
        case ">" | ">=":
            return (Range(point, None, low_open=operator == ">", currency=currency),)
    return tuple(Range(point, point, currency=currency) for point, currency in points)


def is_currency(text: str) -> bool:
    """Tell whether the value of an amount's clause is a currency alone: "every amount in EUR"."""
    return len(text) == 3 and text.isalpha() and text.isupper()


def operand(field: Field, value: Any) -> tuple[Any, str | None]:
    """Return a canonical filter value as what is compared (double, or day) and its currency."""
    if field.type == "date":
        return date.fromisoformat(str(value)), None
    if field.type == "money":
        if isinstance(value, Mapping):
            return float(value["amount"]), value.get("currency") or None
        amount, _, currency = str(value).partition(" ")
        if is_currency(amount):
            return None, amount
        return float(amount), currency or None
    if field.type == "integer":
        return int(value), None
    return float(value), None


def matches(bucket: Bucket, filters: Filters, values: Mapping[str, Value]) -> bool:
    """Return whether a document with these values passes checked filters (the oracle of the other two)."""

    def passes(item: Clause | Group) -> bool:
        if isinstance(item, Group):
            return (any if item.mode == "any" else all)(map(passes, item.clauses))
        condition = compile_clause(bucket, item)
        if condition.other is not None:
            return _compares(condition, values.get(condition.field.name), values.get(condition.other.name))
        return _holds(condition, values.get(condition.field.name))

    return all(map(passes, filters))


def _compares(condition: Condition, value: Any, other: Any) -> bool:
    """Tell whether a value compares with another one; amounts of two currencies do not."""
    if value is None or other is None:
        return False
    if isinstance(value, Money):
        if (value.currency or "") != (other.currency or ""):
            return False
        value, other = value.amount, other.amount
    elif isinstance(value, Quantity):
        value, other = value.value, other.value
    return bool(COMPARES[condition.compared](value, other))


def _holds(condition: Condition, value: Value | None) -> bool:
    if condition.present is not None:
        # A list that is known to hold nothing ("fixed in: none") has no value either.
        return (value not in (None, ())) == condition.present
    if value is None:
        return False
    if condition.flag is not None:
        return value == condition.flag
    if condition.ranges is not None:
        return any(_inside(item, value) for item in condition.ranges) != condition.negated
    held = [fold(item) for item in (value if isinstance(value, tuple) else (str(value),))]
    if condition.words is not None:
        return any(item in condition.words for item in held) != condition.negated
    part = condition.part or ""
    return any(item.startswith(part) if condition.anchored else part in item for item in held)


def _inside(item: Range, value: Value) -> bool:
    point: Any = value
    if isinstance(value, Money):
        if item.currency and value.currency != item.currency:
            return False
        point = float(value.amount)
    elif isinstance(value, Quantity):
        point = value.value
    above = item.low is None or (point > item.low if item.low_open else point >= item.low)
    return above and (item.high is None or (point < item.high if item.high_open else point <= item.high))


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A weaker version of some filters: what was given up, what remains, and how many documents match."""

    dropped: tuple[Clause | Group, ...]
    remaining: Filters
    count: int


def weaker_filters(bucket: Bucket, filters: Filters) -> list[tuple[Filters, Filters]]:
    """Return (given up, what remains) in the order of giving up; see `AnnotationStore.relaxations`."""
    order = {item.name: item.relax for item in bucket.fields}
    soft = sorted((item for item in filters if _is_soft(item)), key=lambda item: _importance(item, order))
    drops = [(item,) for item in soft] + [tuple(soft[:length]) for length in range(2, len(soft) + 1)]
    return [(dropped, tuple(item for item in filters if item not in dropped)) for dropped in drops]


def _is_soft(item: Clause | Group) -> bool:
    return all(clause.origin == "inferred" for clause in clauses_in(item))


def _importance(item: Clause | Group, order: Mapping[str, int]) -> int:
    return max((order.get(clause.field, 50) for clause in clauses_in(item)), default=0)
