"""Of which fields of a bucket the words of a question speak, where the tagger is sure: it learned how people call things."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

import numpy
from numpy.typing import NDArray

from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from citegraph.encoder.multilingual import ROLES, Role, field_text, fields_of
from citegraph.language import terms
from citegraph.language.amounts import find_amounts
from citegraph.language.periods import find_periods
from citegraph.language.word_tables import pattern
from citegraph.question.groups import UNITS
from citegraph.question.phrases import find_phrase

SURE, RIVAL = 0.5, 0.3
"""Share of a field from which each word of a run speaks of it; share of another one in a word beside it that casts doubt."""

CONDITION = ROLES.index("condition")
ANY_DAY = date(2000, 1, 1)
"""Only where dates stand is wanted, not which they are."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """Characters of a question that speak of a field, in a role."""

    start: int
    end: int
    field: str
    role: Role


def text_of(declared: Field) -> str:
    """Return what the tagger reads of a declared field."""
    return field_text(declared.type, declared.name, declared.description.rstrip("."))


Shares = NDArray[numpy.float32]
"""Of each field, in the order of a declaration, in each role."""


@lru_cache(maxsize=256)
def _words(question: str, fields: tuple[str, ...]) -> tuple[tuple[int, int, Shares], ...]:
    read = fields_of(question, fields)
    found = []
    for word in _WORD.finditer(question):
        held = [one.shares for one in read if one.start < word.end() and one.end > word.start()]
        if held:
            found.append((*word.span(), numpy.mean(held, axis=0)))
    return tuple(found)


_WORD = re.compile(r"\S*\w\S*(?<!\W)")


def words_of(bucket: Bucket, question: str) -> tuple[tuple[int, int, Shares], ...]:
    """Return the words of a question: characters from, to, and what they speak of."""
    return _words(question, tuple(map(text_of, bucket.fields)))


def spoken_of(bucket: Bucket, question: str, start: int, end: int, *, among: Collection[str]) -> str | None:
    """Return the field that a value surely speaks of, None where the tagger is not sure or it speaks of another one.

    The words around it say more than itself ("500 EUR was put down up front"), the nearer the more, up to the next value;
    those that ask for a field ("when does the contract from 1999 end?") say nothing of a value.

    Args:
        start, end: the characters of the value.
        among: names of the fields that may hold it.
    """
    words = words_of(bucket, question)
    own = [place for place, (first, last, _) in enumerate(words) if first < end and last > start]
    fitting = [place for place, declared in enumerate(bucket.fields) if declared.name in among]
    if not own or not fitting:
        return None
    if numpy.mean([words[place][2][fitting, CONDITION].sum() for place in own]) < OWN:
        return None
    others = [span for span in values_in(question) if span[1] <= start or span[0] >= end]
    total, told = numpy.zeros(len(fitting)), numpy.zeros(len(fitting))
    for places, step in ((own, 0), (range(own[0] - 1, -1, -1), 1), (range(own[-1] + 1, len(words)), 1)):
        weight = 1.0
        for place in places:
            first, last, shares = words[place]
            if any(first < stop and last > begin for begin, stop in others):
                break
            weight *= FARTHER**step
            said = shares[fitting, CONDITION]
            total += weight * said
            if step and terms.bare(question[first:last]) not in terms.stop_words():
                told = numpy.maximum(told, said)
    order = numpy.argsort(total)
    best, second = order[-1], total[order[-2]] if len(order) > 1 else 0.0
    sure = total[best] >= SURER * second and told[best] >= TOLD
    return bucket.fields[fitting[best]].name if sure else None


OWN, FARTHER, SURER, TOLD = 0.3, 0.8, 1.5, 0.5
"""Share of a value that may speak of the fields that fit; how much less each word away from it says; how much more must
speak of a field than of the next one; share of a word beside it that says which one: a bare amount is the main one."""


@lru_cache(maxsize=256)
def values_in(question: str) -> tuple[tuple[int, int], ...]:
    """Return where numbers and dates stand in a question."""
    dates = [period.span for period in find_periods(question, today=ANY_DAY)]
    return (*(amount.span for amount in find_amounts(question)), *dates)


def runs(bucket: Bucket, question: str) -> Iterator[Spoken]:
    """Yield the runs of a question's words that surely speak of one field, in order."""
    begun: tuple[int, int, int, Role] | None = None
    for start, end, shares in words_of(bucket, question):
        of_field = shares.sum(axis=1)
        best = int(of_field.argmax())
        sure = of_field[best] >= SURE
        role = ROLES[int(shares[best].argmax())]
        if begun and sure and begun[2] == best and question[begun[1] : start].isspace():
            begun = begun[0], end, best, begun[3]
            continue
        if begun:
            yield Spoken(begun[0], begun[1], bucket.fields[begun[2]].name, begun[3])
        begun = (start, end, best, role) if sure else None
    if begun:
        yield Spoken(begun[0], begun[1], bucket.fields[begun[2]].name, begun[3])


def is_doubted(bucket: Bucket, question: str, run: Spoken) -> bool:
    """Tell whether a word beside a run speaks of another field: "the maximum supply voltage" asks for one thing."""
    words = words_of(bucket, question)
    beside = [
        shares.sum(axis=1)
        for start, end, shares in words
        if (end <= run.start and question[end : run.start].isspace())
        or (start >= run.end and question[run.end : start].isspace())
    ]
    return any(
        share.max() >= RIVAL and bucket.fields[int(share.argmax())].name != run.field for share in beside
    )


def understood(bucket: Bucket, question: str, *, besides: Collection[str] = ()) -> Bucket:
    """Return a bucket's declaration with the words of a question that surely speak of a field among that field's words.

    Values (dates, numbers) are no words of a field, nor is what is said of a name that may be stored, or what a field's
    own words say already: only what asks for a date, or sets a condition on a field that holds no names. "How much" and
    "the maximum" ask for a number without saying which.

    Args:
        besides: names of fields that no document states, of which nobody speaks.
    """
    values = values_in(question)
    declared_words = [
        word
        for declared in bucket.fields
        for word in declared.called
        if terms.bare(word) not in terms.stop_words()
    ]
    more: dict[str, list[str]] = {}
    for run in runs(bucket, question):
        declared = bucket.field(run.field)
        if declared is None or run.field in besides or (run.role == "condition" and declared.is_string):
            continue
        if run.role == "wanted" and (declared.type != "date" or is_doubted(bucket, question, run)):
            continue
        if any(
            find_phrase(question[run.start : run.end], word)
            for other in bucket.fields
            if other.type == declared.type and other.name != declared.name
            for word in other.words
            if terms.bare(word) not in terms.stop_words()
        ):
            continue  # its own words say of which field it is
        for text in _beside(question, run.start, run.end, values):
            if not any(find_phrase(text, word) for word in declared_words):
                more.setdefault(run.field, []).append(text)
    if not more:
        return bucket
    fields = tuple(
        declared.model_copy(update={"words": (*declared.words, *more[declared.name])})
        if declared.name in more
        else declared
        for declared in bucket.fields
    )
    return bucket.model_construct(
        **{**{name: getattr(bucket, name) for name in type(bucket).model_fields}, "fields": fields}
    )


ASKING = ("how_long", "until", "since", "when", "longer", *(f"unit_{unit}" for unit in UNITS))
"""Kinds of words that ask for a time, and of which one the declaration says."""


def _beside(question: str, start: int, end: int, values: Collection[tuple[int, int]]) -> Iterator[str]:
    """Yield what is left of some characters without the values in them, where it holds more than what any question asks with."""
    cuts = sorted((first, last) for first, last in values if first < end and last > start)
    places = [start, *(place for cut in cuts for place in cut), end]
    for first, last in zip(places[::2], places[1::2], strict=True):
        words = [word for word in terms.words(question[first:last]) if word not in terms.stop_words()]
        text = question[first:last].strip(" \t\n,.;:?!\"'()")
        asks = pattern(*ASKING).search(text)
        # A verb in two parts: "läuft früher ab".
        parted = pattern("since", "until", before=r"\S\s+", after="$").search(text)
        if words and (parted or not asks) and len(text) > 2 and any(map(str.isalpha, text)):
            yield text
