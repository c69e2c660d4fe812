"""What a letter says by its form: whom it greets, who signs it, and where the block above its greeting ends."""

import re
from dataclasses import dataclass
from functools import cache

from citegraph.corpus.extraction.document_head import head_lines
from citegraph.language.terms import fold
from citegraph.language.word_tables import alternation

HEAD = 45
"""Lines at the top among which a letter greets."""
_LONG = 90
"""Characters of a line of running text: above the greeting of a letter there is none."""
_MOST_WORDS = 6
TRUST = 0.65
_WORD = re.compile(r"[^\W\d_][\w.'’-]*")


@dataclass(frozen=True, slots=True)
class Letter:
    """The spans of a letter's greeting and of the names that it gives, None where it gives none.

    Attributes:
        greeting: the line that opens the letter.
        addressee: whom it is written to, as the block above names them, else as it is greeted.
        signer: who wrote it, beneath the closing.
    """

    greeting: tuple[int, int]
    addressee: tuple[int, int] | None
    signer: tuple[int, int] | None


@cache
def _greeting() -> re.Pattern[str]:
    return re.compile(
        rf"(?:{alternation('letters', 'salutations')})\b(?P<name>[^\n,:!]{{0,60}})\s*[,:!]", re.IGNORECASE
    )


@cache
def _titled() -> re.Pattern[str]:
    one = rf"(?:{alternation('letters', 'titles')})\b\.?"
    return re.compile(
        rf"\s*\b{one}(?:\s*(?:{alternation('letters', 'joints')})?\s*\b{one})*\s*", re.IGNORECASE
    )


@cache
def _closing() -> re.Pattern[str]:
    return re.compile(
        rf"^[ \t]*(?:{alternation('letters', 'closings')})[^\w\n]*$", re.IGNORECASE | re.MULTILINE
    )


def find_letter(text: str) -> Letter | None:
    """Return what the form of a letter says, None of a text that greets nobody."""
    above: list[tuple[int, int]] = []
    for start, end in head_lines(text, HEAD):
        line = text[start:end]
        greeting = _greeting().fullmatch(line)
        if greeting is not None and above:
            greeted = start + greeting.start("name"), start + greeting.end("name")
            return Letter((start, end), _addressee(text, above, greeted), _signer(text, end))
        if len(line) > _LONG:
            return None
        above.append((start, end))
    return None


def _addressee(text: str, above: list[tuple[int, int]], greeted: tuple[int, int]) -> tuple[int, int] | None:
    """Return the line above the greeting that names whom it greets, else the name in the greeting."""
    start, end = greeted
    if titles := _titled().match(text, start, end):
        start = titles.end()
    name = text[start:end].strip()
    if not name or not _is_named(name):
        return None
    start += len(text[start:end]) - len(text[start:end].lstrip())
    last = fold(name.split()[-1])
    for line in reversed(above):
        said = text[slice(*line)]
        words = [fold(word) for word in _WORD.findall(said)]
        if last in words and len(words) <= _MOST_WORDS and _is_named(said):
            return line
    return start, start + len(name)


def _signer(text: str, start: int) -> tuple[int, int] | None:
    """Return the first line beneath the last closing that is a name."""
    closings = list(_closing().finditer(text, start))
    if not closings:
        return None
    for begin, end in head_lines(text[closings[-1].end() :], 3):
        line = text[closings[-1].end() + begin : closings[-1].end() + end]
        if _is_named(line):
            return closings[-1].end() + begin, closings[-1].end() + end
    return None


def _is_named(line: str) -> bool:
    """Return whether a line can be a name: a few words without a number, the first of them large."""
    words = _WORD.findall(line)
    return (
        0 < len(words) <= _MOST_WORDS
        and words[0][0].isupper()
        and not re.search(r"[\d@_]|[.!?:;]$", line.strip())
    )
