"""The engine-neutral filter (Qdrant's REST shape) as objects of the embedded engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import qdrant_edge as edge

from citegraph.errors import BadInput

if TYPE_CHECKING:
    from citegraph.corpus.filters.qdrant_filter import FilterJSON

_MATCHES: Mapping[str, Callable[[Any], Any]] = {
    "value": edge.MatchValue,
    "any": edge.MatchAny,
    "except": edge.MatchExcept,
    "text": edge.MatchText,
    "text_any": edge.MatchTextAny,
    "phrase": edge.MatchPhrase,
    "prefix": edge.MatchPrefix,
    "substring": edge.MatchSubstring,
}


def edge_filter(given: FilterJSON | None) -> edge.Filter | None:
    """Return the engine's filter, None for none.

    Raises:
        BadInput: a part that this translation does not know; nothing is dropped in silence.
    """
    if not given:
        return None
    unknown = set(given) - {"must", "should", "must_not", "min_should"}
    if unknown:
        raise BadInput(f"Unknown filter clause {sorted(unknown)[0]!r}.")
    at_least = given.get("min_should")
    return edge.Filter(
        must=_conditions(given.get("must")),
        should=_conditions(given.get("should")),
        must_not=_conditions(given.get("must_not")),
        min_should=edge.MinShould(_conditions(at_least["conditions"]) or [], at_least["min_count"])
        if at_least
        else None,
    )


def _conditions(given: Any) -> list[Any] | None:
    if given is None:
        return None
    return [edge_condition(one) for one in (given if isinstance(given, list) else [given])]


def edge_condition(given: Mapping[str, Any]) -> Any:
    """Return one condition: field, emptiness, ids, nested, or a filter inside a filter."""
    if "key" in given:
        return _field(given)
    if "is_empty" in given:
        return edge.IsEmptyCondition(given["is_empty"]["key"])
    if "is_null" in given:
        return edge.IsNullCondition(given["is_null"]["key"])
    if "has_id" in given:
        return edge.HasIdCondition(set(given["has_id"]))
    if "nested" in given:
        inner = edge_filter(given["nested"]["filter"]) or edge.Filter()
        return edge.NestedCondition(given["nested"]["key"], inner)
    return edge_filter(dict(given)) or edge.Filter()


def _field(given: Mapping[str, Any]) -> edge.FieldCondition:
    parts: dict[str, Any] = {}
    for name, value in given.items():
        if name == "key":
            continue
        if name == "match":
            parts["match"] = _match(value)
        elif name == "range":
            parts["range"] = _range(value)
        elif name == "values_count":
            parts["values_count"] = edge.ValuesCount(**value)
        elif name in {"is_empty", "is_null"}:
            parts[name] = value
        else:
            raise BadInput(f"Unknown filter condition {name!r} on {given['key']!r}.")
    return edge.FieldCondition(given["key"], **parts)


def _match(given: Mapping[str, Any]) -> Any:
    ((kind, value),) = given.items()
    if kind not in _MATCHES:
        raise BadInput(f"Unknown match {kind!r}.")
    return _MATCHES[kind](value)


def _range(given: Mapping[str, Any]) -> Any:
    bounds = {name: value for name, value in given.items() if value is not None}
    if any(isinstance(value, str) for value in bounds.values()):
        return edge.RangeDateTime(**bounds)
    return edge.RangeFloat(**bounds)
