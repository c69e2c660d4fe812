"""Read "the three oldest", "top 5 by amount", "biggest first", "sorted by date": order and length of a list, or of its groups."""

import re
from dataclasses import dataclass
from functools import cache

from citegraph.corpus.schema.bucket import Bucket
from citegraph.corpus.schema.field import Field
from citegraph.language import terms
from citegraph.language.numbers import find_spelled
from citegraph.language.word_tables import alternation, pattern, source
from citegraph.question import cues
from citegraph.question.groups import UNITS, group_at
from citegraph.question.measures import durations, said_before
from citegraph.question.phrases import GENERAL_DOCUMENTS, find_phrase

RANKS = ("largest", "smallest", "newest", "oldest", "longest", "shortest", "top", "bottom", "first", "last")
FALLING = frozenset({"largest", "newest", "longest", "top", "last"})
ORDERED = frozenset({"money", "date", "quantity", "integer", "decimal"})
NUMBER = r"(?P<number>\d{1,3})"


@dataclass(frozen=True, slots=True)
class Rank:
    """An order: the field (None where none is named and the bucket has no usual one), how many (0 for all), and what is ranked.

    Attributes:
        group: the field whose values are ranked ("top 5 vendors"), None for documents.
        text: the words that say it.
        named: whether the question names the field.
    """

    field: str | None
    descending: bool
    limit: int
    group: str | None = None
    text: str = ""
    named: bool = True


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    ranks = "|".join(f"(?P<{kind}>{source(kind)})" for kind in RANKS)
    bare = "|".join(f"(?P<{kind}>{source(kind)})" for kind in RANKS[:6])
    units = source(*(f"unit_{unit}" for unit in UNITS))
    # "3 invoices are the largest", "3 invoices with the highest total", "3 that have the highest".
    said = rf"(?:\w+\s+)?{source('be', 'states')}\s+(?:(?:{alternation('asking', 'articles')}|{alternation('asking', 'before_a_rank')})\s+)?"
    between = rf"(?:\w+\s+(?:(?:{alternation('asking', 'before_a_rank')})\s+|{said})?)?"
    return (
        re.compile(rf"(?<![\w.]){NUMBER}\s+{between}(?:{ranks})", re.IGNORECASE),
        re.compile(
            rf"(?:{ranks})\s+{NUMBER}(?![\w.]|\s+(?:{units}|{alternation('asking', 'weeks')})(?!\w))",
            re.IGNORECASE,
        ),
        re.compile(rf"(?:{bare})", re.IGNORECASE),
    )


def read_rank(bucket: Bucket, question: str) -> Rank | None:
    """Return the order that a question asks for, None for none."""
    if in_order := _sorted(bucket, question):
        return in_order
    said_in_digits = in_digits(question)
    if most := _with_most(bucket, said_in_digits):
        return most
    for form in _forms():
        match = form.search(said_in_digits)
        if match is None:
            continue
        kind = next(name for name in RANKS if match.groupdict().get(name))
        limit = int(match.groupdict().get("number") or 1)
        if pattern("leading", before=r"\s+").match(said_in_digits, match.end()):
            limit = 0  # "the biggest first" orders all of them
        named = _named_field(bucket, question, match)
        field = named or _ending(bucket, question, kind) or _usual_field(bucket, kind)
        group = _group(bucket, question, match)
        text = question[match.start() : match.end()]
        return Rank(field, kind in FALLING, limit, group, text, named is not None)
    return _extreme_date(bucket, question)


def _with_most(bucket: Bucket, question: str) -> Rank | None:
    """Return the order of "the 3 concerts with the most seats"."""
    for match in _most().finditer(question):
        found = field_at_start(bucket, question[match.end() :])
        if found is not None:
            said = question[match.start() : match.end()]
            return Rank(found.name, match["most"] is not None, int(match["number"]), text=said)
    return None


@cache
def _most() -> re.Pattern[str]:
    most = alternation("asking", "most_or_least")
    return re.compile(rf"(?<![\w.]){NUMBER}\s+(?:\w+\s+){{1,4}}(?:{most})\s+", re.IGNORECASE)


def ranked_number(question: str) -> tuple[int, int] | None:
    """Return the characters of the number, or its word, that says how many are ranked ("the 2 oldest"); None without one."""
    said = in_digits(question)
    found = next((match for form in _forms()[:2] if (match := form.search(said))), None)
    word = re.compile(r"\w+").match(question, found.start("number")) if found else None
    return word.span() if word else None


def in_digits(question: str, *, bounded: bool = False) -> str:
    """Return the question with its number words in digits, blanks behind them, so that every place stays where it was.

    Args:
        bounded: also "one" behind a comparison ("more than one").
    """
    for number in find_spelled(question):
        size = number.end - number.start
        strong = not number.weak or (bounded and said_before(question, number.start))
        if strong and len(str(number.value)) <= size:
            question = f"{question[: number.start]}{number.value:<{size}}{question[number.end :]}"
    return question


def _named_field(bucket: Bucket, question: str, match: re.Match[str]) -> str | None:
    """Return the field that is named behind "by", or directly behind the word that orders."""
    rest = question[match.end() :]
    led = pattern("along", after=rf"\s+{cues.ARTICLE}").search(rest)
    found = field_at_start(bucket, rest[led.end() :]) if led else None
    found = found or field_at_start(bucket, rest.lstrip())
    return found.name if found else None


def field_at_start(bucket: Bucket, text: str) -> Field | None:
    """Return the field that can be ordered and whose word, the longest, a text begins with."""
    best: tuple[int, Field] | None = None
    for declared in bucket.fields:
        if declared.type in ORDERED:
            for word in declared.called:
                ends = [end for start, end in find_phrase(text, word)[:1] if start == 0]
                if ends and (best is None or ends[0] > best[0]):
                    best = (ends[0], declared)
    return best[1] if best else None


def _ending(bucket: Bucket, question: str, kind: str) -> str | None:
    """Return the date at which the usual length of time ends, where it is asked for: "valid the longest, until when?"."""
    lengths = durations(bucket)[:1] if kind in ("longest", "shortest") else []
    for rule in (rule for declared in lengths for rule in declared.extract if rule.years_between):
        end = bucket.field(rule.years_between[-1])
        if end and any(find_phrase(question, word) for word in end.words):
            return end.name
    return None


def _usual_field(bucket: Bucket, kind: str) -> str | None:
    if kind in ("newest", "oldest", "first", "last"):
        return bucket.main_date
    if kind in ("longest", "shortest"):
        return next((item.name for item in durations(bucket)), None)
    return bucket.main_amount


def _group(bucket: Bucket, question: str, match: re.Match[str]) -> str | None:
    """Return what is ranked: "top 5 vendors", "the 3 months with the highest total", "top 3 crates by number of advisories"."""
    places = [match.end()]
    if number := match.groupdict().get("number"):
        places.append(match.start("number") + len(number))
    for place in places:
        rest = question[place:].lstrip()
        found = group_at(bucket, rest)
        documents = GENERAL_DOCUMENTS.match(rest) is not None
        documents |= any(start == 0 for noun in bucket.nouns for start, _ in find_phrase(rest, noun)[:1])
        if found and not (documents and not pattern("count_noun").search(rest)):
            return found[0]
    return None


def _sorted(bucket: Bucket, question: str) -> Rank | None:
    led = pattern("sorted", after=rf"\s+{cues.ARTICLE}").search(question)
    if led is None:
        return None
    found = field_at_start(bucket, question[led.end() :])
    falling = bool(pattern("falling").search(question))
    return Rank(found.name, falling, 0, text=question[led.start() :]) if found else None


NEAR = 25
"""Characters between "the last of" and the documents."""


def _extreme_date(bucket: Bucket, question: str) -> Rank | None:
    """Return the order of "which contract runs out last": a date field's word beside "first", "last", "earliest" ...

    Or behind "the last of": "when does the last of the contracts run out".
    """
    of = pattern("first", "last", after=rf"\s+{source('from_a_set')}").search(question)
    meant = of is not None and any(
        0 <= start - of.end() <= NEAR for noun in bucket.nouns for start, _ in find_phrase(question, noun)
    )  # not "the first of March"
    for declared in bucket.fields:
        if declared.type != "date":
            continue
        for word in declared.words:
            for start, end in find_phrase(question, word):
                if (
                    of is not None
                    and meant
                    and start > of.end()
                    and terms.bare(word) not in terms.stop_words()
                ):
                    return Rank(
                        declared.name, pattern("last").match(of.group()) is not None, 1, text=of.group()
                    )
                after = cues.ENDMOST.match(question, end)
                period = re.compile(rf"\s+{source(*(f'unit_{unit}' for unit in UNITS))}", re.IGNORECASE)
                if after and start > 0 and not period.match(question, after.end()):  # "dated last month"
                    return Rank(declared.name, bool(after["late"]), 1, text=after.group())
    return None
