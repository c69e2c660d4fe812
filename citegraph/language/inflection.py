"""Inflected nouns of English, German and French: whether two words are one noun in another number or case."""

import re
from collections.abc import Container, Iterator
from functools import lru_cache
from typing import Any

from citegraph.language.terms import bare

SHORT = 3
"""Longest word of which only forms in "s" and "es" count: with a German ending "du" would be "due"."""

ENDINGS: dict[str, tuple[tuple[str, ...], ...]] = {
    "porter": (("", "s", "es"), ("y", "ies"), ("um", "a"), ("is", "es")),
    "german": (
        ("", "e", "en", "n", "s", "es"),
        ("e", "en", "n"),
        ("sch", "sche", "scher", "schen", "sches", "schem"),
        ("um", "en"),
        ("a", "en"),
    ),
    "french": (("", "s"), ("al", "aux"), ("eu", "eux"), ("eau", "eaux")),
}
"""Per Snowball stemmer, the endings of one noun or adjective, its ground form first.

A stem alone would join "market" and "marketing", endings alone "use" and "us". "porter", the older of the two
English stemmers, takes the "s" off any word; so it serves what all three languages share. A plural in "er" counts
only where an umlaut shows that it is one ("Blätter"): "Becker" is not "Beck".
"""

IRREGULAR = frozenset({"um", "is", "a", "al", "eau", "eu"})
"""Ground forms whose other forms have another stem in Snowball."""


@lru_cache(maxsize=3)
def _stemmer(language: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer(language)


@lru_cache(maxsize=32768)
def inflections(word: str) -> tuple[str, ...]:
    """Return what may be other forms of a lower-case word, plain (without accents), the nearest first.

    Not every one of them exists: they are for looking up among words that do.
    """
    base = bare(word)
    if len(base) < 2 or not base.isalpha():
        return ()
    found: dict[str, None] = {}
    for language, families in ENDINGS.items():
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


def _rewritten(word: str, families: tuple[tuple[str, ...], ...]) -> Iterator[tuple[str, str]]:
    """Yield each word that has another ending of the same family, with the family's ground form."""
    for ground, *others in families:
        for one in others:
            for ending, other in ((one, ground), (ground, one)):
                form = word.removesuffix(ending) + other
                short = min(len(word), len(form)) <= SHORT and not only_s(word, form)
                if word.endswith(ending) and len(word) - len(ending) >= 2 and not short:
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
    return bare(one) == bare(other) or bare(other) in inflections(one) or bare(one) in inflections(other)


def forms_among(word: str, known: Container[str], *, proper: bool = False) -> list[str]:
    """Return the other forms of a lower-case word that are known, the nearest first; of a proper name those in "s"."""
    base = bare(word)
    return [form for form in inflections(word) if form in known and (not proper or only_s(base, form))]
