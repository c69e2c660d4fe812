"""The second stage by a language model: one call that scores short passages, or one that puts them in order."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from citegraph.corpus.index.rerankers import passage, score_key
from citegraph.corpus.index.views import ExactCache
from citegraph.corpus.schema.document import Hit
from citegraph.errors import Rejected

PASSAGE = 300
"""Characters of a passage that the model sees (requirement T8)."""
DEPTH = 30
"""Passages of one call; what lies behind keeps its order."""
BEST = 10.0
"""The highest score that the model may give."""

Reading = dict[int, float]
"""What a reply says of the passages: number from 0 to a score from 0 to 1; some may be missing."""
Ask = Callable[[str, Sequence[str]], Awaitable[Reading]]


@dataclass(frozen=True)
class ModelReranker:
    """Orders hits by what a model says of their passages; one call, none for what was asked before.

    Attributes:
        ask: asks the model about a question and passages; raises a CitegraphError when there is no answer.
        variant: form, model and prompt version: what else the kept scores depend on.
        threshold: passages scored below it are left out, unless all are; None leaves none out.
    """

    ask: Ask
    kept: ExactCache[Reading]
    variant: tuple[str, ...]
    threshold: float | None = None
    depth: int = DEPTH

    async def rerank(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """See `Reranker.rerank`; passages that the model left out stand behind the others in their order.

        Raises:
            CitegraphError: the model did not answer, or its reply names no passage.
        """
        head, rest = list(hits[: self.depth]), list(hits[self.depth :])
        key = (*self.variant, str(len(head)), *score_key(query, head))
        read = self.kept.get(key)
        if read is None:
            read = await self.ask(query, [passage(query, hit.chunk.text, PASSAGE) for hit in head])
            if not read:
                raise Rejected("rerank: the model's reply names none of the passages")
            self.kept.put(key, read)
        return [*_ordered(head, read, self.threshold), *rest]


def _ordered(head: Sequence[Hit], read: Reading, threshold: float | None) -> list[Hit]:
    """Return the hits by falling score; those without one follow, just below the lowest."""
    scored = sorted((place for place in range(len(head)) if place in read), key=lambda place: -read[place])
    if threshold is not None and any(read[place] >= threshold for place in scored):
        scored = [place for place in scored if read[place] >= threshold]
    lowest = min((read[place] for place in scored), default=0.0)
    silent = [place for place in range(len(head)) if place not in read]
    below = [replace(head[place], score=lowest - step * 1e-6) for step, place in enumerate(silent, 1)]
    return [*(replace(head[place], score=read[place]) for place in scored), *below]


def scores_read(given: Iterable[tuple[int, float]], count: int) -> Reading:
    """Return scores of 0 to 10 by passage number (from 1) as a reading; the first of a number counts.

    Numbers that no passage has and scores that are no number are passed over; others are cut to the range.
    """
    read: Reading = {}
    for number, score in given:
        if 1 <= number <= count and number - 1 not in read and math.isfinite(score):
            read[number - 1] = min(max(score, 0.0), BEST) / BEST
    return read


def order_read(order: Iterable[int], count: int) -> Reading:
    """Return an order of passage numbers (from 1), best first, as a reading with evenly falling scores."""
    known = list(dict.fromkeys(number - 1 for number in order if 1 <= number <= count))
    return {place: 1 - rank / count for rank, place in enumerate(known)}
