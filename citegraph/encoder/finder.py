"""Which characters of a passage answer a question, or that it does not say."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer


WEIGHTS = Path(__file__).parent / "weights"
WINDOW = 192  # tokens of a pair; the heads were trained on no longer ones
FIRST = 64  # tokens kept of the first text at most
_CLS, _SEP, _PAD = 101, 102, 0


@cache
def tokenizer() -> Tokenizer:
    """The base model's tokenizer (uncased, 30,522 word pieces), read from the package at the first call."""
    from tokenizers import Tokenizer

    read: Tokenizer = Tokenizer.from_file(str(WEIGHTS / "tokenizer.json"))
    read.no_truncation()
    read.no_padding()
    return read


@dataclass(frozen=True)
class Window:
    """The ids of one pair, and the characters of the second text that its tokens stand for.

    `first` is the place of the second text's first token; `offsets` are (start, end) characters, one for each of
    its tokens; `owner` is the place of the pair in the list that was asked.
    """

    ids: tuple[int, ...]
    first: int
    offsets: tuple[tuple[int, int], ...]
    owner: int


def windows(pairs: Sequence[tuple[str, str]]) -> list[Window]:
    """Every pair in one or more windows of at most `WINDOW` tokens; neighbours share a third of the second text.

    An empty second text gives one window without tokens of it.
    """
    read = tokenizer()
    firsts = {text: read.encode(text, add_special_tokens=False).ids for text in {first for first, _ in pairs}}
    seconds = read.encode_batch([second for _, second in pairs], add_special_tokens=False)
    found = []
    for owner, ((text, _), second) in enumerate(zip(pairs, seconds, strict=True)):
        head = (_CLS, *firsts[text][:FIRST], _SEP)
        room = WINDOW - len(head) - 1
        for at in _starts(len(second.ids), room):
            ids = (*head, *second.ids[at : at + room], _SEP)
            found.append(Window(ids, len(head), tuple(second.offsets[at : at + room]), owner))
    return found


def _starts(size: int, room: int) -> Iterator[int]:
    """Where windows start so that the last one ends with the text."""
    at, step = 0, room - room // 3
    while at + room < size:
        yield at
        at += step
    yield max(0, size - room)


@dataclass(frozen=True)
class Batch:
    """Windows side by side: ids, segments (1 = second text) and mask, each (windows, longest window) int64."""

    places: tuple[int, ...]
    ids: NDArray[numpy.int64]
    segments: NDArray[numpy.int64]
    mask: NDArray[numpy.int64]


def batches(asked: Sequence[Window], size: int = 4) -> Iterable[Batch]:
    """Windows of like length together: padding costs as much as text, and small batches stay in the cache."""
    order = sorted(range(len(asked)), key=lambda place: len(asked[place].ids))
    for at in range(0, len(order), size):
        places = order[at : at + size]
        ids = numpy.full((len(places), max(len(asked[place].ids) for place in places)), _PAD, numpy.int64)
        segments, mask = numpy.zeros_like(ids), numpy.zeros_like(ids)
        for row, place in enumerate(places):
            window = asked[place]
            ids[row, : len(window.ids)] = window.ids
            segments[row, window.first : len(window.ids)] = 1
            mask[row, : len(window.ids)] = 1
        yield Batch(tuple(places), ids, segments, mask)


_OPENING = threading.Lock()


@cache
def _opened(name: str, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Spinning threads would take the cores that search and the readers need between two questions.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        str(WEIGHTS / f"{name}.onnx"), options, providers=["CPUExecutionProvider"]
    )


def session(name: str, threads: int = 1) -> Any:
    """Return the runtime of a file of weights, opened at the first call; safe to call from several threads."""
    with _OPENING:  # two first questions at once would open the file twice
        return _opened(name, threads)


class Head:
    """One head over the trunk. Opens nothing until `run`; safe to call from several threads.

    `threads` is the number of processor threads that one call may use.
    """

    def __init__(self, name: str, threads: int = 1) -> None:
        self._name = name
        self._threads = threads

    def run(self, batch: Batch) -> NDArray[numpy.float32]:
        """The head's logits: (windows, tokens, 2)."""
        given = {"ids": batch.ids, "segments": batch.segments, "mask": batch.mask}
        (states,) = session("trunk", self._threads).run(None, given)
        head = session(self._name, self._threads)
        known = {**given, "states": states}
        (logits,) = head.run(None, {wanted.name: known[wanted.name] for wanted in head.get_inputs()})
        found: NDArray[numpy.float32] = logits
        return found


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
