"""What a question asks for, and which of its words are conditions, left out or wanted: intent and slots, in one pass.

A small multilingual transformer (docs/encoder.md). Nothing is read before the first question.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from citegraph.encoder.multilingual import pieces_of, run, softmax

Intent = Literal[
    "list", "fact", "count", "sum", "average", "median", "max", "min", "distinct", "share", "change", "group", "compare", "summarize",
    "same",
]  # fmt: skip
"""What is wanted: documents, a fact of one, a number over many, one side against another, a summary."""
Slot = Literal["none", "included", "excluded", "asked"]
"""What a word is for: nothing of these, a condition, what is left out, or what is wanted."""
INTENTS: tuple[Intent, ...] = get_args(Intent)
SLOTS: tuple[Slot, ...] = get_args(Slot)


@dataclass(frozen=True, slots=True)
class Token:
    """Characters of a question with the probability of each slot, in the order of `SLOTS`."""

    start: int
    end: int
    slots: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TaggedQuestion:
    """A question as the tagger reads it: the probability of each intent, and its tokens in order."""

    intents: Mapping[Intent, float]
    tokens: tuple[Token, ...]

    @property
    def intent(self) -> Intent:
        """The likeliest intent."""
        return max(self.intents, key=lambda name: self.intents[name])

    @property
    def certainty(self) -> float:
        """The probability of the likeliest intent, 0 to 1."""
        return self.intents[self.intent]

    def slot(self, start: int, end: int, slot: Slot) -> float:
        """Return the mean probability of a slot over the tokens of some characters; 0 where no token stands there."""
        held = [token.slots for token in self.tokens if token.start < end and token.end > start]
        return sum(slots[SLOTS.index(slot)] for slots in held) / len(held) if held else 0.0


@lru_cache(maxsize=512)
def tag_question(question: str) -> TaggedQuestion:
    """Return intent and slots of a question, in about 6 ms of one core; the same for the same text.

    Safe to call from several threads. Of a text without a word every intent is as likely, and it has no tokens.
    """
    ids, offsets = pieces_of(question)
    if not question.strip():
        return TaggedQuestion(dict.fromkeys(INTENTS, 1 / len(INTENTS)), ())
    [read] = run([ids])
    told = softmax(read.slots)
    tokens = tuple(
        Token(start, end, tuple(map(float, told[place])))
        for place, (start, end) in enumerate(offsets)
        if question[start:end].strip()
    )
    return TaggedQuestion(dict(zip(INTENTS, map(float, softmax(read.intents)), strict=True)), tokens)
