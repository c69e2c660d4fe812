"""The several things that one message asks of a document: "when does it expire, and how many bits is the key"."""

import re

from citegraph.encoder.multilingual import asked_runs
from citegraph.language.terms import content_words
from citegraph.language.word_tables import pattern, source

_BORDER = re.compile(
    rf"\s*(?:[.;:?!&+]|,|\s{source('and', 'and_before_a_question')}\s)[\s.;:?!&+,]*(?:{source('and', 'and_before_a_question')}\s+)?",
    re.IGNORECASE,
)


def wants(question: str) -> list[str]:
    """Return the parts of a question of which each begins with a word of asking and says something, the whole question where
    there are not several.

    What stands before the first one, and a part that asks nothing, go with the part beside it.
    """
    named = asked_runs(question)
    parts: list[tuple[int, int]] = []
    start = 0
    borders = [match.span() for match in _BORDER.finditer(question)]
    for end, after in [*borders, (len(question), len(question))]:
        piece = question[start:end]
        within = any(first + 1 < start < last for first, last in named)  # a run begins with its blank
        asks = _LED.match(piece) is not None and bool(content_words(piece)) and not within
        if asks and parts and pattern("interrogative").search(question, *parts[-1]):
            parts.append((start, end))
        else:
            parts[-1:] = [(parts[-1][0] if parts else start, end)]
        start = after
    return [question[slice(*part)].strip() for part in parts]


_LED = re.compile(rf"(?:\W*\w+){{0,2}}?\W*{source('interrogative')}", re.IGNORECASE)
