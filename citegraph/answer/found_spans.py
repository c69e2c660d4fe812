"""What the finder says of a document's passages: whether one answers, and where one does that shares no word."""

from collections.abc import Sequence

from citegraph.answer.extracts import Passage, units
from citegraph.encoder.finder import Finder

READ = 8
"""Passages that are read: 17 ms of one core each."""
WINDOW = 700
"""Characters that are read at once of a document whose words say nothing about the question."""
SURE = 4.25
"""Margin from which a span stands without a word in common: 73 of 100 such spans are right (docs/encoder.md)."""
ABSENT = -1.75
"""Margin below which a reader is told that a passage may not answer: 62 of 100 silent ones lie there, and 11 of 100
others, so that it is no reason to refuse."""


def best_margin(finder: Finder, question: str, passages: Sequence[Passage]) -> float:
    """Return how much more likely the best of some passages answers than none of them does, in logits."""
    spans = finder.find(question, [passage.text for passage in passages[:READ]])
    return max((span.margin for span in spans), default=float("-inf"))


def read_whole(finder: Finder, question: str, text: str) -> Passage | None:
    """Return the passage of a document that surely answers though it shares no word with the question.

    Only the first `READ` windows are read: longer documents are found by their words.
    """
    windows = _windows(text)
    if not windows:
        return None
    spans = finder.find(question, [text[start:end] for start, end in windows])
    best = max(range(len(windows)), key=lambda place: spans[place].margin)
    if spans[best].margin < SURE:
        return None
    begin = windows[best][0]
    found = (begin + spans[best].start, begin + spans[best].end)
    around = [unit for unit in units(text) if unit[0] < found[1] and unit[1] > found[0]]
    if not around:
        return None
    start, end = around[0][0], around[-1][1]
    return Passage(start, end, text[start:end], spans[best].margin)


def _windows(text: str) -> list[tuple[int, int]]:
    """Return the spans of the first lines of a text, joined up to `WINDOW` characters."""
    windows: list[tuple[int, int]] = []
    for start, end in units(text):
        if windows and end - windows[-1][0] <= WINDOW:
            windows[-1] = (windows[-1][0], end)
        elif len(windows) == READ:
            break
        else:
            windows.append((start, end))
    return windows
