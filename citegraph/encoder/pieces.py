"""Texts as the pieces of words that the networks read.

The likeliest division of each word by a unigram model, the same as `tokenizers` makes of its file (`training.base`); there
its 59,000 pieces take 54 MB, here 9.
"""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "weights" / "multilingual_tokenizer.json"
MARK = "▁"
"""Stands before the first piece of a word."""
UNKNOWN, UNLIKELIER = 3, 10.0
"""Id of characters that no piece has, and how much less likely one of them is than the rarest piece."""
# White space is what Unicode calls so, without the separators that Python adds.
_WORD = re.compile(rf"([^\S\x1c-\x1f]+|{MARK}|^)((?:[^\s{MARK}]|[\x1c-\x1f])*)")


class Pieces(NamedTuple):
    """The ids of a text's pieces, and the characters (start, end) that each stands for, with the space before a word."""

    ids: list[int]
    offsets: list[tuple[int, int]]


def pieces_of(text: str, most: int | None = None) -> Pieces:
    """Return the pieces of a text, the first so many at most; one without a character has none."""
    read = Pieces([], [])
    normal, places = _normalised(text)
    for word in _WORD.finditer(normal) if normal else ():
        if most is not None and len(read.ids) >= most:
            break
        at = word.end(1) - 1  # of the mark
        for piece, length in _divided(word[2]):
            read.ids.append(piece)
            read.offsets.append((places[max(0, at)], places[max(0, at + length - 1)] + 1))
            at += length
    return Pieces(read.ids[:most], read.offsets[:most])


def is_one_piece(word: str) -> bool:
    """Tell whether a word, as it is written, is common enough in one of the languages to be a single piece."""
    return f"{MARK}{word}" in _model()[0]


@cache
def _model() -> tuple[Mapping[str, int], Sequence[float]]:
    """Return the id of each piece, and how likely each is, as a logarithm; read from the package at the first call."""
    vocabulary = json.loads(FILE.read_text("utf-8"))["model"]["vocab"]
    return {piece: place for place, (piece, _) in enumerate(vocabulary)}, [score for _, score in vocabulary]


@cache
def _bounds() -> tuple[int, float]:
    """Return the length of the longest piece, and how likely a character is that no piece has."""
    places, scores = _model()
    return max(map(len, places)), min(scores) - UNLIKELIER


@lru_cache(maxsize=4096)
def _divided(word: str) -> tuple[tuple[int, int], ...]:
    """Return (id, characters) of the pieces of a word with its mark, characters that no piece has together."""
    (places, scores), (longest, unlikely) = _model(), _bounds()
    word = MARK + word
    best = [0.0] + [-float("inf")] * len(word)
    last = [(UNKNOWN, 0)] * len(best)  # the piece that ends here, and its length
    for start in range(len(word)):
        for length in range(1, min(longest, len(word) - start) + 1):
            piece = places.get(word[start : start + length])
            if piece is None:
                if length > 1:
                    continue
                piece, score = UNKNOWN, best[start] + unlikely
            else:
                score = best[start] + scores[piece]
            if score > best[start + length]:
                best[start + length], last[start + length] = score, (piece, length)
    found: list[tuple[int, int]] = []
    end = len(word)
    while end:
        piece, length = last[end]
        end -= length
        if piece == UNKNOWN and found and found[-1][0] == UNKNOWN:
            length += found.pop()[1]
        found.append((piece, length))
    return tuple(reversed(found))


def _normalised(text: str) -> tuple[str, Sequence[int]]:
    """Return a text in normal form NFKC, and for each character of it the place of the one that it comes from."""
    if unicodedata.is_normalized("NFKC", text):
        return text, range(len(text))
    heads = [at for at, char in enumerate(text) if not at or not _joins(char)]
    parts: list[str] = []
    places: list[int] = []
    for start, end in pairwise([*heads, len(text)]):
        part = unicodedata.normalize("NFKC", text[start:end])
        own = min(len(part), end - start) - 1  # marks that did not become one with their character
        parts.append(part)
        places += [start] * (len(part) - own) + list(range(end - own, end))
    return "".join(parts), places


def _joins(char: str) -> bool:
    """Tell whether a character may become one with what stands before it: a mark, or a later part of a Hangul syllable."""
    decomposed = unicodedata.normalize("NFKD", char)[0]
    return bool(unicodedata.combining(decomposed)) or "\u1160" <= decomposed <= "\u11ff"
