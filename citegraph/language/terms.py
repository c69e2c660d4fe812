"""Words of a question against words of a text: folding, stems, forms of one noun, rarity and coverage."""

import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from functools import cache, lru_cache
from itertools import combinations
from typing import Any, Literal

from citegraph.language.word_tables import table

WORD = re.compile(r"[^\W_]+", re.UNICODE)
LANGUAGES = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian", "nl": "dutch"}


NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_KEPT = 4096
"""Characters up to which the bare form of a text is kept: a line or a passage, which is compared with many words."""


def bare(text: str) -> str:
    """Return `text` case-folded and without accents and ligatures, for comparing, never for showing."""
    if text.isascii():
        return text.lower()
    return _kept_bare(text) if len(text) <= _KEPT else _bare(text)


def _bare(text: str) -> str:
    folded = text.casefold()
    if folded.isascii():
        return folded
    decomposed = unicodedata.normalize("NFKD", folded)
    return NOT_ASCII.sub(_without_marks, decomposed).replace("’", "'")


_kept_bare = lru_cache(maxsize=1024)(_bare)


def _without_marks(run: re.Match[str]) -> str:
    return "".join(char for char in run[0] if not unicodedata.combining(char))


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
def signs() -> dict[str, tuple[str, ...]]:
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
    said = _APART.findall(bare(text[:5000]))
    counted = Counter(language for word in said for language in signs().get(word, ()))
    first, second, *_ = [*counted.most_common(2), ("", 0), ("", 0)]
    return first[0] if first[1] > second[1] else None


@lru_cache(maxsize=256)
def phrased(key: str, question: str, **values: Any) -> str:
    """Return what code says of an answer, in the language of the question where `words/answers.yaml` has it, else in English."""
    sayings = table("answers")
    form = sayings.get(language_of(question) or "en", {}).get(key) or sayings["en"][key]
    return str(form.format(**values))


def small_words(text: str) -> frozenset[str]:
    """Return the bare small words of a text's own language beside those of every one."""
    language = language_of(text)
    return stop_words() | {word for word, tongues in signs().items() if language in tongues}


_APART = re.compile(r"(?<![\w-])[^\W_]+(?![\w-])")
"""A word that is no part of a longer one with hyphens: "non-alcoholic" is not Italian."""


def words(text: str) -> list[str]:
    """Return the bare words of `text` in order; punctuation and underscores separate."""
    return WORD.findall(bare(text))


def content_words(text: str) -> list[str]:
    """Return the bare words of `text` that are not stop words, in order, without repeats."""
    return list(dict.fromkeys(word for word in words(text) if word not in stop_words()))


@cache
def _stemmer(name: str) -> Any:
    """Return Snowball's stemmer of this name."""
    import Stemmer

    return Stemmer.Stemmer(name, 0)  # without a memory of its own: `stem` has one


@lru_cache(maxsize=16384)
def stem(word: str, language: str = "en") -> str:
    """Return the Snowball stem of a bare word; numbers and identifiers are returned as they are."""
    if any(char.isdigit() for char in word):
        return word
    return str(_stemmer(LANGUAGES.get(language, "english")).stemWord(word))


def stems(text: str, language: str = "en") -> set[str]:
    """Return the stems of the words of `text`."""
    return {stem(word, language) for word in set(words(text))}


def fold(text: str) -> str:
    """Return the text as every backend compares it: NFKC, case-folded, runs of white space as one blank."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


SHORT = 3
"""Longest word of which only forms in "s" and "es" count: with a German ending "du" would be "due"."""

ENDINGS: dict[str, tuple[tuple[str, ...], ...]] = {
    "porter": (("", "s", "es"), ("y", "ies"), ("um", "a"), ("is", "es")),
    "german": (
        ("", "e", "en", "n", "s", "es"),
        ("e", "en", "n"),
        *(pair for family in table("endings").values() for pair in combinations(family.split(), 2)),
        ("um", "en"),
        ("a", "en"),
    ),
    "french": (("", "s"), ("al", "aux"), ("eu", "eux"), ("eau", "eaux")),
    "spanish": (("a", "an"), ("e", "en")),
    "italian": (("o", "i"), ("a", "e"), ("e", "i"), ("a", "ano"), ("e", "ono")),
}
"""Per Snowball stemmer, the endings of one noun or adjective, its ground form first.

A stem alone would join "market" and "marketing", endings alone "use" and "us". "porter", the older of the two
English stemmers, takes the "s" off any word; so it serves what all three languages share. A plural in "er" counts
only where an umlaut shows that it is one ("Blätter"): "Becker" is not "Beck".
"""

ROMANCE, LONG = frozenset({"spanish", "italian"}), 6
"""Languages whose endings count only of words with so many letters: "date" is no form of "data" to an English reader."""

IRREGULAR = frozenset({"um", "is", "a", "al", "eau", "eu"})
"""Ground forms whose other forms have another stem in Snowball."""


@lru_cache(maxsize=8192)
def inflections(word: str) -> tuple[str, ...]:
    """Return what may be other forms of a lower-case word, plain (without accents), the nearest first.

    Not every one of them exists: they are for looking up among words that do.
    """
    base = bare(word)
    if len(base) < 2 or not base.isalpha():
        return ()
    found: dict[str, None] = {}
    for language, families in ENDINGS.items():
        if language in ROMANCE and len(base) < LONG:
            continue
        forms = dict(_rewritten(base, families))
        if language == "german" and UMLAUT.search(word):
            forms |= dict(_rewritten(base, (("", "er", "ern"),)))
        own, *stems = _stemmer(language).stemWords([base, *forms])
        found |= dict.fromkeys(
            form
            for (form, ground), stem in zip(forms.items(), stems, strict=True)
            if stem == own or ground in IRREGULAR
        )
    found.pop(base, None)
    return tuple(sorted(found, key=lambda form: (not only_s(base, form), abs(len(form) - len(base)), form)))


UMLAUT = re.compile(r"(?:äu|[äöü])[^aeiouäöü]*e[rn]+$")


ROOT = 2
"""Letters at least that stay of a word whose ending is another one."""


def _rewritten(word: str, families: tuple[tuple[str, ...], ...]) -> Iterator[tuple[str, str]]:
    """Yield each word that has another ending of the same family, with the family's ground form."""
    for ground, *others in families:
        for one in others:
            for ending, other in ((one, ground), (ground, one)):
                if not word.endswith(ending) or len(word) - len(ending) < ROOT:
                    continue
                form = word.removesuffix(ending) + other
                if min(len(word), len(form)) > SHORT or only_s(word, form):
                    yield form, ground


def only_s(word: str, form: str) -> bool:
    """Return whether one of two words is the other with an English plural ending."""
    shorter, longer = sorted((word, form), key=len)
    return longer in (f"{shorter}s", f"{shorter}es") or (
        longer.endswith("ies") and shorter == f"{longer[:-3]}y"
    )


def same_noun(left: str, right: str) -> bool:
    """Return whether two words are forms of one noun ("Datenblatt", "Datenblättern"), case and accents apart."""
    one, other = left.lower(), right.lower()
    first, second = bare(one), bare(other)
    if first == second or first[:ROOT] != second[:ROOT]:
        return first == second
    if second in inflections(one) or first in inflections(other):
        return True
    # French verbs of several: "expirent" is "expire", though no stemmer joins them.
    return any(
        len(ground) >= LONG and form == f"{ground}nt" and ground[-1] == "e"
        for ground, form in ((one, other), (other, one))
    )


def forms_among(word: str, known: Container[str], *, proper: bool = False) -> list[str]:
    """Return the other forms of a lower-case word that are known, the nearest first; of a proper name those in "s"."""
    base = bare(word)
    return [form for form in inflections(word) if form in known and (not proper or only_s(base, form))]
