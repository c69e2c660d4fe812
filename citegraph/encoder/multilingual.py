"""The multilingual network that reads questions and single pieces of text: its pieces, its words and its runtime.

Nothing is read before the first text. The words' vectors are kept in four bits, mapped from the file.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy

from citegraph.encoder.finder import WEIGHTS, open_session

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

LONGEST = 126
"""Pieces of a text that are read."""
BEGIN, PADDING, END = 0, 1, 2
BATCH = 16
"""Texts that are run together: more gains nothing on one core."""


def pieces_of(text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the ids of a text's first `LONGEST` pieces, and the characters that each stands for."""
    read = _tokenizer().encode(text, add_special_tokens=False)
    return read.ids[:LONGEST], read.offsets[:LONGEST]


@dataclass(frozen=True)
class Logits:
    """What the network says of a text: logits of the intents, of each piece's slots, and that a program is spoken to."""

    intents: NDArray[numpy.float32]
    slots: NDArray[numpy.float32]
    addressed: float


def run(texts: Sequence[Sequence[int]]) -> list[Logits]:
    """Return the logits of some texts, given by their pieces, in that order; texts of like length are run together."""
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    found: dict[int, Logits] = {}
    for at in range(0, len(order), BATCH):
        places = order[at : at + BATCH]
        longest = max(len(texts[place]) for place in places) + 2
        ids = numpy.full((len(places), longest), PADDING, numpy.int64)
        for row, place in enumerate(places):
            ids[row, : len(texts[place]) + 2] = [BEGIN, *texts[place], END]
        given = {"words": _vectors(ids), "mask": (ids != PADDING).astype(numpy.int64)}
        intents, slots, addressed = _network().run(None, given)
        for row, place in enumerate(places):
            own = slots[row][1 : len(texts[place]) + 1]
            found[place] = Logits(intents[row], own, float(addressed[row]))
    return [found[place] for place in range(len(texts))]


def softmax(logits: NDArray[numpy.float32]) -> NDArray[numpy.float32]:
    """Return logits as shares of one, along the last axis."""
    raised = numpy.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: NDArray[numpy.float32] = raised / raised.sum(axis=-1, keepdims=True)
    return shares


_OPENING = threading.Lock()


def _network() -> Any:
    with _OPENING:  # two first texts at once would open the file twice
        return open_session("multilingual", 1)


@cache
def _tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer

    read: Tokenizer = Tokenizer.from_file(str(WEIGHTS / "multilingual_tokenizer.json"))
    return read


@cache
def _words() -> NDArray[Any]:
    """Return the words' rows: (pieces, blocks) of a scale and sixteen bytes."""
    rows: NDArray[Any] = numpy.load(WEIGHTS / "multilingual_words.npy", mmap_mode="r")
    return rows


def _vectors(ids: NDArray[numpy.int64]) -> NDArray[numpy.float32]:
    """Return the vectors of some pieces: (texts, pieces, width)."""
    rows = _words()[ids]
    halves = numpy.concatenate([rows["weights"] & 15, rows["weights"] >> 4], axis=-1).astype(numpy.float32)
    vectors = (halves - 8) * rows["scale"].astype(numpy.float32)[..., None]
    return vectors.reshape(*ids.shape, math.prod(vectors.shape[2:]))
