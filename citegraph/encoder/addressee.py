"""Whether pieces of a document speak to the program that reads them, in any of twelve languages."""

import math
from collections.abc import Sequence

from citegraph.encoder.multilingual import pieces_of, run


def speak_to_program(texts: Sequence[str]) -> list[float]:
    """Return for each text, a sentence or a few, the probability that it speaks to the assistant or program that reads it.

    What only people are told to do ("enter the total in box 7") is not meant. A few milliseconds of one core each; of a
    long text the beginning is read.
    """
    read = run([pieces_of(text)[0] for text in texts])
    return [
        1 / (1 + math.exp(-max(-60.0, min(60.0, told.addressed)))) if text.strip() else 0.0
        for text, told in zip(texts, read, strict=True)
    ]
