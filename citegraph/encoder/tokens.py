"""Pairs of texts as the encoder reads them: token ids, the second text cut into overlapping windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

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
