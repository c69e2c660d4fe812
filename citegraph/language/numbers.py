"""Numbers in words ("twenty-four", "einundzwanzig", "quatre-vingt-dix"), by text2num."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from citegraph.language.terms import language_of
from citegraph.language.word_tables import table, words_to_keys

LANGUAGES = ("en", "de", "fr")
"""Read in every text; words of Spanish, Italian and Dutch only in a text of that language ("due" is no 2 in English)."""
LONGEST = 10
"""Words of one number."""

_WORD = re.compile(r"[^\W\d_]+")
_BETWEEN = re.compile(r"[ \u00a0]+|[ \u00a0]?-[ \u00a0]?|[ \u00a0]+(?:and|und|et|y|e|en)[ \u00a0]+|-et-|-en-")


@dataclass(frozen=True, slots=True)
class Spelled:
    """A number in words, with its character offsets; `weak`: it may be no number by itself ("one", "cent")."""

    value: int
    start: int
    end: int
    weak: bool


@cache
def _more() -> dict[str, int]:
    return {word: int(number) for word, number in words_to_keys("numbers", "more").items()}


@cache
def _weak() -> frozenset[str]:
    return frozenset(table("numbers")["weak"].split())


@lru_cache(maxsize=100_000)
def _value(words: str, language: str) -> int | None:
    from text_to_num import text2num

    if len(words) < 2:
        return None
    try:
        return int(text2num(words, language))
    except ValueError:
        return None


@lru_cache(maxsize=100_000)
def number_of(words: str) -> int | None:
    """Return the value of a number in words, None when it is none."""
    values = (_value(words.lower(), language) for language in LANGUAGES)
    return next((value for value in values if value is not None), None)


def _languages(text: str) -> Sequence[str]:
    language = language_of(text)
    return (language,) if language and language not in LANGUAGES else LANGUAGES


def find_spelled(text: str) -> list[Spelled]:
    """Return the numbers in words of a text, in order, each as long as it goes."""
    words = list(_WORD.finditer(text))
    if not any(_may_begin(word[0].lower()) for word in words):
        return []
    languages = _languages(text)
    found: list[Spelled] = []
    at = 0
    while at < len(words):
        value, last = _longest(text, words, at, languages)
        if value is None:
            at += 1
            continue
        start, end = words[at].start(), words[last].end()
        alone = text[start:end].lower()
        found.append(Spelled(value, start, end, all(word in _weak() for word in alone.split())))
        at = last + 1
    return found


@lru_cache(maxsize=100_000)
def _may_begin(word: str) -> bool:
    return word in _more() or any(
        _value(word, tongue) is not None for tongue in (*LANGUAGES, "es", "it", "nl")
    )


def _longest(
    text: str, words: list[re.Match[str]], at: int, languages: Sequence[str]
) -> tuple[int | None, int]:
    """Return the value of the longest number that begins with a word, and its last word."""
    first = words[at]
    value = _more().get(first[0].lower())
    if value is not None and at + 1 < len(words) and number_of(words[at + 1][0]) is not None:
        return None, at  # "a hundred" is told by "hundred"
    last = at
    for language in languages:
        if _value(first[0].lower(), language) is None:
            continue
        for end in range(at, min(at + LONGEST, len(words))):
            if end > at and not _BETWEEN.fullmatch(text, words[end - 1].end(), words[end].start()):
                break
            said = " ".join(text[first.start() : words[end].end()].lower().split())
            read = _value(said, language)
            if read is not None and (value is None or end > last or end == at):
                value, last = read, end
    return value, last
