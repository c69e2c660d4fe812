"""Words of a question against words of a text: folding, stems, rarity and coverage."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, Literal

from citegraph.language.word_tables import table

WORD = re.compile(r"[^\W_]+", re.UNICODE)
LANGUAGES = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian", "nl": "dutch"}


@lru_cache(maxsize=65536)
def bare(text: str) -> str:
    """Return `text` case-folded and without accents and ligatures, for comparing, never for showing."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    decomposed = unicodedata.normalize("NFKD", folded)
    return "".join(char for char in decomposed if not unicodedata.combining(char)).replace("’", "'")


def bare_with_places(text: str) -> tuple[str, Sequence[int]]:
    """Return the text as `bare` gives it, and for each of its characters the place in `text` that it came from."""
    if text.isascii():
        return text.lower(), range(len(text))
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        piece = bare(character)
        folded.append(piece)
        places.extend([place] * len(piece))
    return "".join(folded), places


Level = Literal["grammar", "asking", "general"]


@cache
def stop_words(level: Level = "asking") -> frozenset[str]:
    """Return the bare words that carry little, English, German and French; each level holds those before it.

    "grammar" says nothing anywhere, "asking" names no topic of a question, "general" is no value by itself: general
    words of asking, listing and measuring, and the names of months.
    """
    listed = [table("stop_words")["grammar"]]
    if level != "grammar":
        listed.append(table("stop_words")["asking"])
    months: list[str] = []
    if level == "general":
        listed.append(table("stop_words")["general"])
        named = " ".join(table("cldr_months")[language] for language in ("en", "de", "fr"))
        months = [name for entry in named.split() if len(name := entry.partition(":")[2]) > 2]
    return frozenset(
        bare(word) for part in listed for words in part.values() for word in words.split()
    ) | frozenset(map(bare, months))


@cache
def _signs() -> dict[str, tuple[str, ...]]:
    """Return each small word to the languages that it is a sign of."""
    found: dict[str, tuple[str, ...]] = {}
    for part in ("grammar", "signs"):
        for language, listed in table("stop_words")[part].items():
            for word in dict.fromkeys(bare(word) for word in listed.split()):
                found[word] = (*found.get(word, ()), language)
    return found


@lru_cache(maxsize=4096)
def language_of(text: str) -> str | None:
    """Return the language (en, de, fr, es, it, nl) whose small words a text holds most of, None when none leads."""
    counted = Counter(language for word in words(text[:5000]) for language in _signs().get(word, ()))
    first, second, *_ = [*counted.most_common(2), ("", 0), ("", 0)]
    return first[0] if first[1] > second[1] else None


def words(text: str) -> list[str]:
    """Return the bare words of `text` in order; punctuation and underscores separate."""
    return WORD.findall(bare(text))


def content_words(text: str) -> list[str]:
    """Return the bare words of `text` that are not stop words, in order, without repeats."""
    return list(dict.fromkeys(word for word in words(text) if word not in stop_words()))


@lru_cache(maxsize=8)
def _stemmer(language: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer(LANGUAGES.get(language, "english"))


@lru_cache(maxsize=65536)
def stem(word: str, language: str = "en") -> str:
    """Return the Snowball stem of a bare word; numbers and identifiers are returned as they are."""
    return word if any(char.isdigit() for char in word) else str(_stemmer(language).stemWord(word))


def stems(text: str, language: str = "en") -> set[str]:
    """Return the stems of the words of `text`."""
    return {stem(word, language) for word in words(text)}


def fold(text: str) -> str:
    """Return the text as every backend compares it: NFKC, case-folded, runs of white space as one blank."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())
