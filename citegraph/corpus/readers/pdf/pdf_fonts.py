"""Tells whether the text of a PDF page is letters at all: a font may draw them without saying which they are."""

from __future__ import annotations

import re
from typing import Any
from unicodedata import category

# Characters of a page that are asked for; each costs a call.
_ASKED = 400
# A page with fewer of them has a font of symbols, whose text nobody looks for.
_UNMAPPED = 0.2
_SAME = 0.5
_NO_LETTERS = frozenset({"Cc", "Cn", "Co", "Cs"})
_VOWEL = re.compile(r"[aeiouyäöüàâéèêëîïôûáíóúãõåæøœ]", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{3,}|\d{2,}")


def has_unmapped_fonts(words: Any, text: str) -> bool:
    """Return whether PDFium had to guess a good part of a page's characters, or they are controls and private ones.

    Args:
        words: PDFium's text of the page.
    """
    from pypdfium2 import raw

    if not text.strip():
        return False
    strange = sum(category(char) in _NO_LETTERS for char in text if not char.isspace())
    if strange >= _UNMAPPED * len(text):
        return True
    count = words.count_chars()
    step = max(1, count // _ASKED)
    asked = range(0, count, step)
    guessed = sum(raw.FPDFText_HasUnicodeMapError(words.raw, number) == 1 for number in asked)
    return bool(guessed >= _UNMAPPED * len(asked))


def same_words(one: str, other: str) -> bool:
    """Return whether a text has most of the words and numbers of another."""
    wanted = {word.casefold() for word in _WORD.findall(one)}
    found = {word.casefold() for word in _WORD.findall(other)}
    return len(wanted & found) >= _SAME * max(1, len(wanted))


def reads_as_words(text: str) -> bool:
    """Return whether a text looks as if its letters were right: words that can be spoken, of the length of words."""
    found = re.findall(r"[^\W\d_]+", text)
    letters = sum(map(len, found))
    spoken = sum(len(word) for word in found if len(word) <= 20 and _VOWEL.search(word))
    strange = sum(category(char) in _NO_LETTERS for char in text if not char.isspace())
    vowels = len(_VOWEL.findall(text))
    return letters > 0 and strange == 0 and spoken >= 0.8 * letters and 0.25 <= vowels / letters <= 0.6
