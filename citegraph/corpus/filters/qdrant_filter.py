"""Checked filters as Qdrant's REST filter JSON."""

from datetime import date
from typing import TYPE_CHECKING, Any

from citegraph.corpus.filters.clause import Clause, Filters, Group
from citegraph.corpus.filters.filter_operators import Condition, Range, compile_clause
from citegraph.corpus.schema.field import Field
from citegraph.errors import BadInput

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket


def to_qdrant(bucket: "Bucket", filters: Filters) -> dict[str, Any]:
    """Return checked filters as Qdrant's REST filter JSON; empty filters give an empty dict.

    Raises:
        BadInput: a clause is not a checked one, or compares two fields: an index knows no such test.
    """

    def part_json(item: Clause | Group) -> dict[str, Any]:
        if isinstance(item, Clause):
            return condition_json(compile_clause(bucket, item))
        return {"should" if item.mode == "any" else "must": [part_json(part) for part in item.clauses]}

    must = [part_json(item) for item in filters]
    return {"must": must} if must else {}


def condition_json(condition: Condition) -> dict[str, Any]:
    """Return one condition as a Qdrant condition (a field condition or a nested filter)."""
    field = condition.field
    if condition.other is not None:
        raise BadInput(f"an index cannot compare {field.name} with {condition.other.name}")
    present = {"key": "meta._fields", "match": {"value": field.name}}
    if condition.present is not None and field.type == "keywords":
        none: dict[str, Any] = {"is_empty": {"key": f"meta.{field.name}"}}
        return {"must_not": [none]} if condition.present else none
    if condition.present is not None:
        return present if condition.present else {"must_not": [present]}
    test = _test_json(condition, f"meta.{field.name}")
    return {"must": [present], "must_not": [test]} if condition.negated else test


def _test_json(condition: Condition, key: str) -> dict[str, Any]:
    if condition.flag is not None:
        return {"key": key, "match": {"value": str(condition.flag).lower()}}
    if condition.ranges is not None:
        parts = [_range_json(condition.field, item, key) for item in condition.ranges]
        return parts[0] if len(parts) == 1 else {"should": parts}
    if condition.words is not None:
        words = list(condition.words)
        return {"key": key, "match": {"value": words[0]} if len(words) == 1 else {"any": words}}
    kind = "prefix" if condition.anchored else "substring"
    return {"key": key, "match": {kind: condition.part}}


def _range_json(field: Field, item: Range, key: str) -> dict[str, Any]:
    from citegraph.corpus.schema.values import day_text

    def bound(value: Any) -> Any:
        return day_text(value) if isinstance(value, date) else value

    limits: dict[str, Any] = {}
    if item.low is not None:
        limits["gt" if item.low_open else "gte"] = bound(item.low)
    if item.high is not None:
        limits["lt" if item.high_open else "lte"] = bound(item.high)
    if field.type != "money":
        return {"key": key, "range": limits}
    amount = {"key": f"{key}.amount", "range": limits}
    if not item.currency:
        return amount
    currency = {"key": f"{key}.currency", "match": {"value": item.currency}}
    return {"must": [amount, currency]} if limits else currency


FilterJSON = dict[str, Any]
