"""Which characters of a passage answer a question, or that it does not say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

from citegraph.encoder.onnx_session import Head, batches, windows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from citegraph.encoder.onnx_session import Window

LONGEST = 64  # tokens of a span at most

# Chosen on one half of the dev sets (docs/encoder.md): below it a span answers less often than not.
THRESHOLD = 0.25

# Half a number would be another number: a span ends where the number, code or word does.
_WORD = re.compile(r"[^\W_]+(?:[.,'’\-/:]\d+|[^\W_]+)*")


@dataclass(frozen=True)
class Span:
    """The best span of one passage: characters `start` to `end` (exclusive), also when it is not stated.

    `score` and `null` are the logits of the span and of "not stated", both of the window that the span is in; only
    their difference, `margin`, can be compared between passages.
    """

    start: int
    end: int
    score: float
    null: float

    @property
    def margin(self) -> float:
        """How much more likely the span is than "not stated", in logits."""
        return self.score - self.null

    @property
    def stated(self) -> bool:
        """Whether the passage answers the question."""
        return self.margin >= THRESHOLD


class Finder:
    """The finder head; weights are read at the first question. Safe to call from several threads."""

    def __init__(self, threads: int = 1) -> None:
        self._head = Head("finder", threads)

    def find(self, question: str, passages: Sequence[str]) -> list[Span]:
        """The best span of every passage, in the order given; a long passage is read in overlapping windows.

        A passage without a word gives an empty span that is never stated.
        """
        asked = windows([(question, passage) for passage in passages])
        best = [Span(0, 0, -numpy.inf, 0.0) for _ in passages]
        readable = [window for window in asked if window.offsets]
        for batch in batches(readable):
            logits = self._head.run(batch)
            for row, place in enumerate(batch.places):
                window = readable[place]
                span = _best(logits[row], window)
                if span.margin > best[window.owner].margin:
                    best[window.owner] = span
        return [_whole(span, passage) for span, passage in zip(best, passages, strict=True)]


def _best(logits: NDArray[numpy.float32], window: Window) -> Span:
    """Start and end with the highest sum, the end at most `LONGEST` tokens after the start."""
    size = len(window.offsets)
    starts, ends = logits[window.first : window.first + size].T
    sums = starts[:, None] + ends[None, :]
    place = numpy.arange(size)
    sums[(place[None, :] < place[:, None]) | (place[None, :] >= place[:, None] + LONGEST)] = -numpy.inf
    start, end = divmod(int(sums.argmax()), size)
    null = float(logits[0, 0] + logits[0, 1])
    return Span(window.offsets[start][0], window.offsets[end][1], float(sums[start, end]), null)


def _whole(span: Span, passage: str) -> Span:
    """The span up to the borders of the words and numbers that it cuts."""
    if span.start >= span.end:
        return span
    start, end = span.start, span.end
    near = slice(max(0, start - 60), end + 60)
    for found in _WORD.finditer(passage[near]):
        low, high = found.start() + near.start, found.end() + near.start
        if low < span.start < high:
            start = low
        if low < span.end < high:
            end = high
    return Span(start, end, span.score, span.null)
