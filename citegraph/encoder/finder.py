"""Which characters of a passage answer a question, or that it does not say."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy
from cachetools import LRUCache

from citegraph.encoder.multilingual import END, run
from citegraph.encoder.pieces import pieces_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


WINDOW = 256
"""Pieces of a question with its passage; the network was trained on no longer ones."""
QUESTION = 64
"""Pieces kept of the question at most."""
BATCH = 4
"""Windows that are run together: small batches stay in the cache. One alone takes a tenth less and answers worse (docs/encoder.md)."""


@dataclass(frozen=True)
class Window:
    """The pieces of a question and of a part of a passage, and the characters of the passage that those stand for.

    `first` is the number of pieces before the passage's; `offsets` are (start, end) characters, one for each of them;
    `owner` is the place of the passage in the list that was asked.
    """

    ids: tuple[int, ...]
    first: int
    offsets: tuple[tuple[int, int], ...]
    owner: int


def windows(question: str, passages: Sequence[str]) -> list[Window]:
    """Every passage in one or more windows of at most `WINDOW` pieces; neighbours share a third of the passage.

    A passage without a word gives none.
    """
    head = (*pieces_of(question, QUESTION).ids, END, END)
    room = WINDOW - len(head) - 2
    found = []
    for owner, read in enumerate(map(pieces_of, passages)):
        for at in _starts(len(read.ids), room) if read.ids else ():
            ids = (*head, *read.ids[at : at + room])
            found.append(Window(ids, len(head), tuple(read.offsets[at : at + room]), owner))
    return found


def _starts(size: int, room: int) -> Iterator[int]:
    """Where windows start so that the last one ends with the text."""
    at, step = 0, room - room // 3
    while at + room < size:
        yield at
        at += step
    yield max(0, size - room)


OFFSET, SLOPE = -0.09, 0.26
"""From the network's logits above "not stated" to the log-odds that a passage states the answer, as `python -m benches.encoder_bench`
fits them. Other weights need this fit and nothing else: whatever compares readings does so by the probabilities below."""
POSSIBLE, PLAUSIBLE, LIKELY, SURE = 0.25, 0.36, 0.6, 0.72
"""Probabilities from which a passage is taken to answer: where more speaks for it than the reading; where little hangs on it or there is
another sign; by itself; and against another answer. What each finds stands in docs/encoder.md."""
EVEN = 0.5
HIGHEST, AHEAD = 1.2, 0.26
"""Log-odds that 1 in 1,000 windows of whole documents reaches, and by which a passage answers more surely than another one."""
LONGEST = 64  # tokens of a span at most

# Half a number would be another number: a span ends where the number, code or word does.
_WORD = re.compile(r"[^\W_]+(?:[.,'’\-/:]\d+|[^\W_]+)*")


@dataclass(frozen=True)
class Span:
    """The best span of one passage: characters `start` to `end` (exclusive), also when it is not stated.

    `logit` are the log-odds that the passage states the answer, comparable between passages, questions and weights.
    """

    start: int
    end: int
    logit: float

    @property
    def probability(self) -> float:
        """That the passage states the answer, where five of eight do."""
        return probable(self.logit)


def probable(logit: float) -> float:
    """Return the probability of some log-odds."""
    return 1 / (1 + math.exp(-logit))


class Finder:
    """The finder; weights are read at the first question. Safe to call from several threads."""

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads

    def find(self, question: str, passages: Sequence[str]) -> list[Span]:
        """The best span of every passage, in the order given; a long passage is read in overlapping windows.

        A passage without a word gives an empty span of probability 0. What was read is kept for the next time.
        """
        with _KEEPING:
            known = {passage: kept for passage in passages if (kept := _kept.get((question, passage)))}
        missing = [passage for passage in dict.fromkeys(passages) if passage not in known]
        read = {
            passage: (span, len(passage))
            for passage, span in zip(missing, self._read(question, missing), strict=True)
        }
        with _KEEPING:
            _kept.update({(question, passage): kept for passage, kept in read.items() if kept[1] < KEPT})
        known |= read
        return [known[passage][0] for passage in passages]

    def _read(self, question: str, passages: Sequence[str]) -> list[Span]:
        asked = windows(question, passages)
        best = [Span(0, 0, -math.inf) for _ in passages]
        told = run(
            "finder",
            [window.ids for window in asked],
            [window.first for window in asked],
            batch=BATCH,
            threads=self._threads,
        )
        for window, (logits,) in zip(asked, told, strict=True):
            span = _best(logits, window)
            if span.logit > best[window.owner].logit:
                best[window.owner] = span
        return [_whole(span, passage) for span, passage in zip(best, passages, strict=True)]


KEPT = 2_000_000
"""Characters of the passages whose spans are kept, each with the question that it was asked."""
_kept: LRUCache[tuple[str, str], tuple[Span, int]] = LRUCache(KEPT, getsizeof=lambda kept: kept[1])
_KEEPING = threading.Lock()


def _best(logits: NDArray[numpy.float32], window: Window) -> Span:
    """Start and end with the highest sum, the end at most `LONGEST` tokens after the start."""
    size = len(window.offsets)
    starts, ends = logits[window.first + 1 : window.first + 1 + size].T
    sums = starts[:, None] + ends[None, :]
    place = numpy.arange(size)
    sums[(place[None, :] < place[:, None]) | (place[None, :] >= place[:, None] + LONGEST)] = -numpy.inf
    start, end = divmod(int(sums.argmax()), size)
    null = float(logits[0, 0] + logits[0, 1])
    margin = float(sums[start, end]) - null
    return Span(window.offsets[start][0], window.offsets[end][1], OFFSET + SLOPE * margin)


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
    return Span(start, end, span.logit)
