"""The words that a bucket's declaration gives a meaning: synonyms, cues of fields, general words, countries."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product, takewhile
from typing import Generic, TypeVar

from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from citegraph.language.countries import country_names
from citegraph.language.names import Token, tokens
from citegraph.language.terms import fold, forms_among, inflections
from citegraph.language.word_tables import alternation

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PhraseTable(Generic[T]):
    """Phrases and what each means, found in any form of their nouns.

    Attributes:
        meanings: the plain tokens of a phrase to its meaning.
        words: all tokens of the phrases.
        proper: whether the phrases are proper names, which take no ending but "s".
    """

    meanings: Mapping[tuple[str, ...], T]
    words: frozenset[str]
    proper: bool = False

    def meaning(self, forms: Sequence[Sequence[str]]) -> T | None:
        """Return what words mean, each given by its forms, the one that was written first; None for nothing."""
        found = (self.meanings.get(key) for key in product(*forms))
        return next((meant for meant in found if meant is not None), None)

    def forms(self, word: Token) -> list[str]:
        """Return the word, the word without a possessive "s" and its other forms, where a phrase has them."""
        others = forms_among(word.written, self.words, proper=self.proper)
        return [form for form in (word.text, word.stem) if form in self.words] + others


def phrase_table(meanings: Mapping[tuple[str, ...], T], *, proper: bool = False) -> PhraseTable[T]:
    """Return a table of phrases by their tokens."""
    return PhraseTable(meanings, frozenset(word for key in meanings for word in key), proper)


@cache
def _bucket_synonyms(
    forms: tuple[tuple[str, str, str], ...], nouns: tuple[str, ...]
) -> PhraseTable[tuple[str, str]]:
    general = {parts[0].text for noun in nouns if len(parts := tokens(noun)) == 1}
    table: dict[tuple[str, ...], tuple[str, str]] = {}
    for name, form, value in forms:
        key = tuple(token.text for token in tokens(form))
        if not key or (len(key) == 1 and len(key[0]) == 1) or key[0].isdigit():
            continue
        # A noun of the bucket alone says no value, unless it is a narrower word than the bucket's first.
        wide = len(key) == 1 and fold(value) == fold(nouns[0])
        if not wide or not (key[0] in general or forms_among(key[0], general)):
            table.setdefault(key, (name, value))
    return phrase_table(table)


def synonyms(bucket: Bucket) -> PhraseTable[tuple[str, str]]:
    """Return the declared synonyms, each with the field and canonical value that it means."""
    return _bucket_synonyms(_declared_forms(bucket), bucket.nouns)


def _declared_forms(bucket: Bucket) -> tuple[tuple[str, str, str], ...]:
    """Return each declared form of a value with the field and the value."""
    return tuple(
        (declared.name, form, value)
        for declared in bucket.fields
        if declared.is_listed
        for value, others in declared.values.items()
        for form in (value, *others)
    )


@cache
def _without_nouns(
    forms: tuple[tuple[str, str, str], ...], nouns: tuple[str, ...]
) -> PhraseTable[tuple[str, str]]:
    single = {parts[0].text for noun in nouns if len(parts := tokens(noun)) == 1}
    table: dict[tuple[str, ...], tuple[str, str]] = {}
    for name, form, value in forms:
        words = [token.text for token in tokens(form)]
        rest = tuple(word for word in words if word not in single and not forms_among(word, single))
        if rest and len(rest) < len(words):
            table.setdefault(rest, (name, value))
    return phrase_table(table)


def synonyms_of_kinds(bucket: Bucket) -> PhraseTable[tuple[str, str]]:
    """Return what declared synonyms say beside a noun of the bucket: "transport" of "transport agreement"."""
    return _without_nouns(_declared_forms(bucket), bucket.nouns)


@cache
def country_phrases() -> PhraseTable[str]:
    """Return each country name and demonym with the country's code."""
    table: dict[tuple[str, ...], str] = {}
    for name, code in country_names().items():
        key = tuple(token.text for token in tokens(name))
        if key:
            table.setdefault(key, code)
    return phrase_table(table, proper=True)


def phrases(words: Sequence[Token], table: PhraseTable[T]) -> Iterator[tuple[int, int, T]]:
    """Yield the longest phrases of a table that stand in the text, left to right."""
    forms = [table.forms(word) for word in words]
    index = 0
    while index < len(words):
        known = len(list(takewhile(bool, forms[index : index + 6])))
        for length in range(known, 0, -1):
            meant = table.meaning(forms[index : index + length])
            if meant is not None:
                yield index, index + length - 1, meant
                index += length - 1
                break
        index += 1


@cache
def _cue_patterns(words: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    if not words:
        return None
    choice = "|".join(sorted((_any_form(word.lower()) for word in words), key=len, reverse=True))
    return (
        re.compile(
            rf"(?<!\w)(?:{choice})(?:\s+(?:{alternation('labels', 'behind_declared')}))*[\s:=\"'`“„(]*$"
        ),
        re.compile(rf"[\s\"'`”“)-]*(?:{choice})(?!\w)"),
    )


def _any_form(phrase: str) -> str:
    """Return the pattern of a phrase with every form of its last word."""
    *first, last = phrase.split()
    return r"\s+".join(
        [*map(re.escape, first), f"(?:{'|'.join(map(re.escape, (last, *inflections(last))))})"]
    )


def cues(declared: Field) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """Return the patterns of a field's words before and after a value, None for a field without words."""
    return _cue_patterns(
        tuple(word for word in (declared.name.replace("_", " "), *declared.words) if len(word) > 1)
    )


@cache
def _words_of(phrases: tuple[str, ...]) -> frozenset[str]:
    return frozenset(token.text for phrase in phrases for token in tokens(phrase))


def general_words(bucket: Bucket) -> frozenset[str]:
    """Return the words by which people mean the bucket, its documents and its fields: they name no value."""
    phrases = (
        *bucket.nouns,
        *bucket.topics,
        *(word for declared in bucket.fields for word in declared.words),
    )
    return _words_of(phrases)
