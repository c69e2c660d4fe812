"""A search as the embedded engine's query: one list, or several fused by rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import qdrant_edge as edge

from citegraph.corpus.index.edge.edge_filter import edge_condition, edge_filter
from citegraph.corpus.index.index_protocol import DENSE, RRF_K, Leg, SearchRequest, identifier_condition
from citegraph.corpus.index.sparse import SparseVector


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
