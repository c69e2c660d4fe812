"""Find a declared word or phrase in a question, in any form of its noun."""

import re
from functools import lru_cache

from rapidfuzz.distance import OSA

from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from citegraph.language import terms
from citegraph.language.terms import bare, same_noun
from citegraph.language.word_tables import alternation
from citegraph.question import cues


@lru_cache(maxsize=16384)
def _pattern(phrase: str) -> re.Pattern[str]:
    """Return the pattern of a phrase; its last word, when it is one of letters, is left to `same_noun`.

    The first may have the "s" of a plural: "fiches de données".
    """
    *first, last = re.split(r"[\s\-]+", phrase.strip())
    before, end = [re.escape(part) for part in first], _begun(last) if last.isalpha() else re.escape(last)
    if first and first[0].isalpha() and len(first[0]) > terms.SHORT:
        before[0] += "s?"
    body = rf"{CLITIC}[-\s]+".join([*before, f"(?P<last>{end})"])
    return re.compile(rf"(?<!\w){body}(?!\w)", re.IGNORECASE)


def _begun(word: str) -> str:
    """Return the pattern of words that begin like a word, with its vowel or an umlaut."""
    letter = bare(word[:1])
    first = rf"[{letter}{UMLAUTS[letter]}{re.escape(word[0])}]" if letter in UMLAUTS else re.escape(word[0])
    return rf"{first}[^\W\d_]*"


CLITIC = rf"(?:-t)?(?:-(?:{alternation('asking', 'clitics')}))?"
"""What French puts behind a verb that asks: "reste-t-il à payer"."""
UMLAUTS = {"a": "ä", "o": "ö", "u": "ü"}


@lru_cache(maxsize=16384)
def _last_word(phrase: str) -> str:
    return re.split(r"[\s\-]+", phrase.strip())[-1].lower()


@lru_cache(maxsize=65536)
def _is_form(said: str, word: str) -> bool:
    return said == word or (word.isalpha() and same_noun(said, word))


def find_phrase(text: str, phrase: str) -> list[tuple[int, int]]:
    """Return the character spans of `phrase` in `text`, whole words, other forms of the last word included."""
    return [
        match.span()
        for match in _pattern(phrase).finditer(text)
        if _is_form(match["last"].lower(), _last_word(phrase))
    ]


def is_written(word: str, other: str) -> bool:
    """Tell whether a bare word is another one: in another form of it, or misspelt."""
    if word[:5] == other[:5] and min(len(word), len(other)) > 4 and abs(len(word) - len(other)) <= ENDING:
        return True
    slips = (len(word) > 5) + (len(word) > 9)
    pairs = ((word, other), (terms.stem(word), terms.stem(other)))
    return any(OSA.distance(one, two, score_cutoff=slips) <= slips for one, two in pairs)


ENDING = 4
"""Letters by which two forms of a word differ; a compound ("Lieferanteneingang") has more."""


def document_words(bucket: Bucket) -> tuple[str, ...]:
    """Return the words for a bucket's documents: its nouns, and the declared kinds of them ("Lizenzvertrag")."""
    kinds = (item for item in bucket.fields if item.type == "keyword" and "type" in item.name)
    forms = (form for item in kinds if _is_of_documents(item, bucket) for form in item.canonical)
    return (*bucket.nouns, *forms)


def _is_of_documents(declared: Field, bucket: Bucket) -> bool:
    """Tell whether a field's values are kinds of the bucket's documents: one is said by their noun ("root certificate")."""
    return any(find_phrase(form, noun) for form in declared.canonical for noun in bucket.nouns)


def clean(question: str) -> str:
    """Return the question without greetings and filler; the original when nothing would be left."""
    text = cues.FILLER.sub(" ", cues.GREETING.sub("", question))
    text = re.sub(r"\s+([?.!,])", r"\1", re.sub(r"\s{2,}", " ", text)).strip(" ,;")
    text = re.sub(r"^[,.;:!\s]+", "", text)
    return text or question.strip()


def named(asked: list[str], phrases: tuple[str, ...]) -> set[str]:
    """Return the phrases that occur in the question word for word, the last one in any form of its noun."""
    text, starts, whole = " ".join(asked), {word[:2] for word in asked}, set(asked)
    return {
        phrase
        for phrase, first, folded in _folded(phrases)
        if (first in whole or f"{first}s" in whole if first else folded[:2] in starts)
        and find_phrase(text, folded)
    }


@lru_cache(maxsize=4096)
def _folded(phrases: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    """Return each phrase with its first word ("" of a single one, all of whose forms begin alike) and folded."""
    split = [(phrase, terms.words(phrase)) for phrase in phrases]
    return tuple(
        (phrase, words[0] if len(words) > 1 else "", " ".join(words)) for phrase, words in split if words
    )
