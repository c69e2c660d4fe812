"""Numbers in digits ("1.234,50", "1,41,600.00") and in words ("twenty-four", "einundzwanzig"; by text2num)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache, lru_cache

from citegraph.language.terms import language_of
from citegraph.language.word_tables import alternation, listed, words_to_keys

LANGUAGES = ("en", "de", "fr")
"""Read in every text; words of Spanish, Italian and Dutch only in a text of that language ("due" is no 2 in English)."""
SPELLED = (*LANGUAGES, "es", "it", "nl", "pt")
"""Languages whose numbers in words are known."""
LONGEST = 10
"""Words of one number."""

# ---------------------------------------------------------------- in digits

_END = r"(?![\d]|[.,]\d)"
GROUPED = (
    rf"(?:\d{{1,2}}(?:,\d\d)+,\d{{3}}(?:\.\d+)?{_END}"
    rf"|\d{{1,3}}(?:[.,'’\u00a0\u202f\u2009]\d{{3}})+(?:[.,]\d+)?{_END})"
)
"""Digits in groups of three, or as India groups them: lakhs (1,00,000) and crores (1,00,00,000)."""
DIGITS_PATTERN = (
    rf"(?:{GROUPED}|\d{{1,3}}(?: \d{{3}}){{1,6}}(?:[.,]\d{{1,4}})?{_END}|\d+(?:[.,]\d+)?{_END}|\.\d+)"
)
"""A number in digits; one whose groups no custom knows ("1,41,6000") is none, rather than cut short."""


@lru_cache(maxsize=2048)
def readings(digits: str, comma_decimal: bool = False) -> tuple[Decimal, ...]:
    """Return the possible values of printed digits without sign, the likelier first; none when they are no number.

    Args:
        comma_decimal: the text writes 1.234,56, so that "1.234" is more likely 1234.
    """
    plain = re.sub(r"[^\d.,]", "", digits)
    commas, dots = plain.count(","), plain.count(".")
    if commas and dots:
        decimal_mark = max(",", ".", key=plain.rfind)
        grouping = "." if decimal_mark == "," else ","
        if plain.count(decimal_mark) != 1 or not _grouped(plain.partition(decimal_mark)[0], grouping):
            return ()
        return (Decimal(plain.replace(grouping, "").replace(decimal_mark, ".")),)
    if not commas and not dots:
        return (Decimal(plain),) if plain else ()
    mark = "," if commas else "."
    if plain.count(mark) > 1:
        return (Decimal(plain.replace(mark, "")),) if _grouped(plain, mark) else ()
    head, _, tail = plain.partition(mark)
    try:
        as_decimal = Decimal(f"{head or '0'}.{tail or '0'}")
    except InvalidOperation:
        return ()
    if len(tail) != 3 or not head or head.startswith("0") or len(head) > 3:
        return (as_decimal,)
    as_group = Decimal(head + tail)
    return (as_decimal, as_group) if comma_decimal == (mark == ",") else (as_group, as_decimal)


def _grouped(digits: str, mark: str) -> bool:
    first, *groups, last = digits.split(mark) if mark in digits else (digits, "000")
    if len(last) != 3 or (not 1 <= len(first) <= 3 and mark in digits):
        return False
    return all(len(group) == 3 for group in groups) or (
        mark == "," and all(len(group) == 2 for group in groups)
    )


def parse_number(text: str) -> Decimal | None:
    """Return a written number: "1,000.50", "1.000,50", "1 000", "12,50"; "1,000" is a thousand; None when it is none."""
    text = text.strip().replace("−", "-").replace("’", "'")
    sign = -1 if text.startswith("-") or (text.startswith("(") and text.endswith(")")) else 1
    found = readings(text)
    return sign * max(found) if found else None


# ---------------------------------------------------------------- in words

_WORD = re.compile(r"[^\W\d_]+")
_BETWEEN = re.compile(
    rf"[ \u00a0]+|[ \u00a0]?-[ \u00a0]?|[ \u00a0]+(?:{alternation('numbers', 'joins')})[ \u00a0]+|-et-|-en-"
)


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
    return frozenset(listed("numbers", "weak"))


@lru_cache(maxsize=8192)
def _value(words: str, language: str) -> int | None:
    from text_to_num import text2num

    if len(words) < 2:
        return None
    try:
        return int(text2num(words, language))
    except ValueError:
        return None


@lru_cache(maxsize=8192)
def number_of(words: str) -> int | None:
    """Return the value of a number in words, None when it is none."""
    values = (_value(words.lower(), language) for language in LANGUAGES)
    return next((value for value in values if value is not None), None)


def _languages(text: str) -> Sequence[str]:
    language = language_of(text)
    return (language,) if language and language not in LANGUAGES else LANGUAGES


def find_spelled(text: str, language: str = "") -> list[Spelled]:
    """Return the numbers in words of a text, in order, each as long as it goes.

    Args:
        language: the only one that is read; empty: those of the text.
    """
    words = list(_WORD.finditer(text))
    begins = [may_begin_number(word[0].lower()) for word in words]
    if not any(begins):
        return []
    languages = (language,) if language else _languages(text)
    found: list[Spelled] = []
    at = 0
    while at < len(words):
        value, last = _longest(text, words, at, languages) if begins[at] else (None, at)
        if value is None:
            at += 1
            continue
        start, end = words[at].start(), words[last].end()
        alone = text[start:end].lower()
        found.append(Spelled(value, start, end, all(word in _weak() for word in alone.split())))
        at = last + 1
    return found


@lru_cache(maxsize=8192)
def may_begin_number(word: str) -> bool:
    """Tell whether a lower-case word is a number, or begins one, in any of the languages that are read."""
    return word in _more() or any(_value(word, tongue) is not None for tongue in SPELLED)


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
