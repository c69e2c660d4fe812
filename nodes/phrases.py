"""Find a declared word or phrase in a question, in singular or plural."""

import re
from functools import lru_cache

SHORT = 3
"""Longest word whose plural is only looked for in "s" and "es": the German ending of "du" would find "due"."""
UMLAUTS = {"au": "äu", "a": "ä", "o": "ö", "u": "ü"}


@lru_cache(maxsize=16384)
def _pattern(phrase: str) -> re.Pattern[str]:
    *first, last = re.split(r"[\s\-]+", phrase.strip())
    body = r"[-\s]+".join([*(re.escape(part) for part in first), _numbers(last)])
    return re.compile(rf"(?<!\w){body}(?!\w)", re.IGNORECASE)


def _numbers(word: str) -> str:
    """Return the pattern of a word with its regular plurals, those with an umlaut included ("Vertrag", "Verträge")."""
    escaped = re.escape(word)
    if len(word) <= SHORT:
        return rf"{escaped}(?:s|es)?"
    if word.endswith("y"):
        return rf"(?:{escaped}s?|{re.escape(word[:-1])}ies)"
    forms = rf"{escaped}(?:s|es|e|en|n|er)?"
    vowel = re.search(r"(au|[aou])([^\Waeiouäöü]*)$", word)
    if not vowel:
        return forms
    umlauted = re.escape(f"{word[: vowel.start()]}{UMLAUTS[vowel[1]]}{vowel[2]}")
    return rf"(?:{forms}|{umlauted}(?:e|en|er|ern)?)"


def find_phrase(text: str, phrase: str) -> list[tuple[int, int]]:
    """Return the character spans of `phrase` in `text`, whole words, regular plurals of the last word included."""
    return [match.span() for match in _pattern(phrase).finditer(text)]
