"""Two-level search: sections found by their summaries first, then the chunks inside of them, fused with all chunks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from citegraph.corpus.schema.document import Chunk, Hit
from citegraph.language.terms import fold

if TYPE_CHECKING:
    from citegraph.corpus.filters.qdrant_filter import FilterJSON

LEVEL_KEY = "level"
"""Where the payload of a summary holds its level; that of a chunk has no such key."""

SECTIONS = 20
"""Sections, found by their summaries, that a search also looks into; measured in docs/measured.md."""

_SUMMARY: dict[str, Any] = {"key": LEVEL_KEY, "match": {"any": ["section", "document"]}}


def level_condition(*, summaries: bool) -> FilterJSON:
    """Return the filter for the summaries of a collection, or for all else: its chunks."""
    return {"must" if summaries else "must_not": [_SUMMARY]}


def joined(*filters: FilterJSON | None) -> FilterJSON | None:
    """Return the filter that holds where all of these hold, None when there are none."""
    given = [one for one in filters if one]
    return {"must": given} if len(given) > 1 else (given[0] if given else None)


def chunks_of(points: Iterable[Chunk]) -> list[Chunk]:
    """Return what is a passage of a document, without the summaries."""
    return [point for point in points if point.level == "segment"]


def inside(summaries: Sequence[Chunk]) -> FilterJSON:
    """Return the filter for the chunks that begin in what these summaries stand for."""
    spans = (
        {
            "must": [
                {"key": "doc_id", "match": {"value": summary.doc_id}},
                {"key": "ordinal", "range": {"gte": summary.ordinal, "lt": summary.ordinal + summary.covers}},
            ]
        }
        for summary in summaries
    )
    return {"should": list(spans)}


def fused(
    everywhere: Sequence[Hit], within: Sequence[Hit], *, rank_constant: int, identifiers: Iterable[str] = ()
) -> list[Hit]:
    """Return the hits of one level with those inside the best sections, by reciprocal ranks (RRF).

    Only the places of long documents change hands, and a place keeps its score: documents without summaries stay
    where they are, and scores stay comparable with those of other buckets. Chunks that carry a wanted identifier
    come before the others.
    """
    places = [place for place, hit in enumerate(everywhere) if hit.chunk.summarised]
    known: dict[str, Hit] = {}
    scores: dict[str, float] = defaultdict(float)
    for ranking in ([everywhere[place] for place in places], within):
        for rank, hit in enumerate(ranking, 1):
            known.setdefault(hit.chunk.chunk_id, hit)
            scores[hit.chunk.chunk_id] += 1 / (rank_constant + rank)
    wanted = {fold(value) for value in identifiers}
    order = sorted(
        known.values(),
        key=lambda hit: (wanted.isdisjoint(hit.chunk.identifiers), -scores[hit.chunk.chunk_id]),
    )
    result = list(everywhere)
    for place, hit in zip(places, order, strict=False):
        result[place] = replace(hit, score=everywhere[place].score)
    return result
