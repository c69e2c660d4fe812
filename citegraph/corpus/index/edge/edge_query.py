"""The engine-neutral filters (Qdrant's REST shape) and searches as objects of the embedded engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import qdrant_edge as edge

from citegraph.corpus.index.index_protocol import DENSE, RRF_K, Leg, SearchRequest, identifier_condition
from citegraph.corpus.index.sparse import SparseVector
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


def query_of(request: SearchRequest, fused: Sequence[Leg]) -> edge.QueryRequest:
    """Build the engine's query over one list, or over several fused by rank."""
    common: dict[str, Any] = {
        "limit": request.limit,
        "with_payload": True,
        "with_vector": [DENSE] if fused[0].using == DENSE else False,
    }
    if len(fused) == 1:
        (only,) = fused
        allowed = edge_filter(only.filter_json)
        return edge.QueryRequest(query=_nearest(only), filter=allowed, params=_params(only), **common)
    alone: Any = edge.Fusion.Rrf(k=RRF_K)
    lists = [
        edge.Prefetch(
            request.candidates,
            prefetches=[
                edge.Prefetch(
                    request.candidates,
                    query=_nearest(leg),
                    filter=edge_filter(leg.filter_json),
                    params=_params(leg),
                )
            ],
            query=alone,
        )
        for leg in fused
    ]
    return edge.QueryRequest(prefetches=lists, query=_formula(request.identifiers, fused), **common)


def _params(leg: Leg) -> edge.SearchParams | None:
    if leg.population is None:
        return None
    return edge.SearchParams(idf=edge.IdfParams(edge_filter(leg.population)))


def _nearest(leg: Leg) -> edge.Query:
    vector = edge.SparseVector(*leg.vector) if isinstance(leg.vector, SparseVector) else leg.vector
    return edge.Query.Nearest(vector, using=leg.using)


def _formula(identifiers: Sequence[str], fused: Sequence[Leg]) -> edge.Formula:
    """Add the weighted scores of the lists, and 1 for a wanted identifier: more than they can reach."""
    scores = [f"$score[{place}]" for place in range(len(fused))]
    terms = [
        edge.Expression.Mult([edge.Expression.Constant(leg.weight), edge.Expression.Variable(score)])
        for leg, score in zip(fused, scores, strict=True)
    ]
    if identifiers:
        terms.append(edge.Expression.Condition(edge_condition(identifier_condition(identifiers))))
    return edge.Formula(edge.Expression.Sum(terms), dict.fromkeys(scores, 0.0))
