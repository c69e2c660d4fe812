"""The words that a bucket's declaration gives a meaning: synonyms, cues of fields, general words, countries."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TypeVar

from corpus.buckets import Bucket
from corpus.countries import country_names
from corpus.fields import Field, fold
from corpus.names import Token, tokens

T = TypeVar("T")


def number_form(word: str, known: Mapping[str, object]) -> str | None:
    """Return the singular or plural of a word, when that is known."""
    return next((form for form in (singular(word), word + "s") if form != word and form in known), None)


def singular(word: str) -> str:
    """Return an English plural without its ending, other words as they are."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return (
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
    )


@cache
def _bucket_synonyms(forms: tuple[tuple[str, str, str], ...]) -> Mapping[tuple[str, ...], tuple[str, str]]:
    table: dict[tuple[str, ...], tuple[str, str]] = {}
    for name, form, value in forms:
        key = tuple(singular(token.text) for token in tokens(form))
        if key and (len(key) > 1 or len(key[0]) > 1) and not key[0].isdigit():
            table.setdefault(key, (name, value))
    return table


def synonyms(bucket: Bucket) -> Mapping[tuple[str, ...], tuple[str, str]]:
    """Return the tokens of each declared synonym, singular, to the field and canonical value that it means."""
    nouns = {tuple(singular(token.text) for token in tokens(noun)) for noun in bucket.nouns}
    forms = tuple(
        (declared.name, form, value)
        for declared in bucket.fields
        if declared.is_listed
        for value, others in declared.values.items()
        for form in (value, *others)
    )
    return {
        key: meant
        for key, meant in _bucket_synonyms(forms).items()
        if key not in nouns or len(key) > 1 or _narrow(bucket, *meant)
    }


def _narrow(bucket: Bucket, name: str, value: str) -> bool:
    """Return whether a noun of the bucket still says which kind of its documents is meant."""
    return fold(value) != fold(bucket.nouns[0])


@cache
def country_phrases() -> Mapping[tuple[str, ...], str]:
    """Return the tokens of each country name and demonym to the country's code."""
    table: dict[tuple[str, ...], str] = {}
    for name, code in country_names().items():
        key = tuple(token.text for token in tokens(name))
        if key:
            table.setdefault(key, code)
    return table


def phrases(words: Sequence[Token], table: Mapping[tuple[str, ...], T]) -> Iterator[tuple[int, int, T]]:
    """Yield the longest phrases of a table that stand in the text, left to right."""
    texts = [word.text for word in words]
    single = [singular(word.stem or word.text) for word in words]
    index = 0
    while index < len(texts):
        for length in range(min(6, len(texts) - index), 0, -1):
            meant = table.get(tuple(single[index : index + length])) or table.get(
                tuple(texts[index : index + length])
            )
            if meant is not None:
                yield index, index + length - 1, meant
                index += length - 1
                break
        index += 1


@cache
def _cue_patterns(words: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    if not words:
        return None
    choice = "|".join(sorted((re.escape(word.lower()) for word in words), key=len, reverse=True))
    return (
        re.compile(
            rf"(?<!\w)(?:{choice})s?(?:\s+(?:the|of|is|are|was|der|die|das|von|to|in|with))*[\s:=\"'`“„(]*$"
        ),
        re.compile(rf"[\s\"'`”“)-]*(?:{choice})s?(?!\w)"),
    )


def cues(declared: Field) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """Return the patterns of a field's words before and after a value, None for a field without words."""
    return _cue_patterns(
        tuple(word for word in (declared.name.replace("_", " "), *declared.words) if len(word) > 1)
    )


@cache
def _words_of(phrases: tuple[str, ...]) -> frozenset[str]:
    found = {token.text for phrase in phrases for token in tokens(phrase)}
    return frozenset(found | {word + "s" for word in found} | {singular(word) for word in found})


def general_words(bucket: Bucket) -> frozenset[str]:
    """Return the words by which people mean the bucket, its documents and its fields: they name no value."""
    phrases = (
        *bucket.nouns,
        *bucket.topics,
        *(word for declared in bucket.fields for word in declared.words),
    )
    return _words_of(phrases)
