"""Read "per vendor per month", or "which vendor the most", in a question: the groups of a computed table."""

import re
from collections.abc import Sequence

from citegraph.corpus.schema.bucket import Bucket
from citegraph.language import terms
from citegraph.language.numbers import find_spelled
from citegraph.language.word_tables import alternation, pattern
from citegraph.question import cues
from citegraph.question.phrases import find_phrase
from citegraph.run.state_types import WantedNumber

UNITS = ("month", "quarter", "year", "day")


GROUPING = frozenset({"keyword", "keywords", "boolean"})
"""Types of field whose values make groups; dates do by their unit."""


def group_at(bucket: Bucket, text: str) -> tuple[str, int] | None:
    """Return the group that a text begins with the word of, the longest, and where that ends: a field, or "date.month"."""
    unit = next(
        ((name, match.end()) for name in UNITS if (match := pattern(f"unit_{name}").match(text))), None
    )
    if unit and bucket.main_date:
        return f"{bucket.main_date}.{unit[0]}", unit[1]
    best: tuple[str, int] | None = None
    for declared in bucket.fields:
        if declared.type not in GROUPING or declared.kind == "identifier":
            continue
        for word in declared.called:
            if terms.bare(word) in terms.stop_words():
                continue
            ends = [end for start, end in find_phrase(text, word)[:1] if start == 0]
            if ends and (best is None or ends[0] > best[1]):
                best = declared.name, ends[0]
    return best or _by_head(bucket, text)


def _by_head(bucket: Bucket, text: str) -> tuple[str, int] | None:
    """Return the only field whose name or word ends with the word that a text begins with: "per type", "by law"."""
    heads: dict[str, tuple[str, int]] = {}
    for declared in bucket.fields:
        if declared.type not in GROUPING or declared.kind == "identifier":
            continue
        for word in declared.called:
            head = word.split()[-1]
            telling = " " in word and terms.bare(head) not in terms.stop_words("grammar")
            for start, end in find_phrase(text, head)[:1] if telling else ():
                if start == 0:
                    heads[declared.name] = declared.name, end
    return next(iter(heads.values())) if len(heads) == 1 else None


def read_groups(bucket: Bucket, question: str) -> list[str]:
    """Return the group fields in order of the question: field names, or "date.month" of the bucket's main date.

    Only what can group counts; anything else after "per" is left alone. One word may stand before it ("by issuing
    country"), and another group may follow ("per vendor and month").
    """
    found: list[str] = []
    for match in pattern("each", after=rf"\s+{cues.ARTICLE}").finditer(question):
        place = match.end()
        described = _DESCRIBED.match(question, place)
        group = group_at(bucket, question[place:])
        if group is None and described is not None:
            place = described.end()
            group = group_at(bucket, question[place:])
        while group is not None:
            found.append(group[0])
            place += group[1]
            more = pattern("and", before=r"(?:\s+|\s*,\s*)", after=r"\s+").match(question, place)
            group = group_at(bucket, question[more.end() :]) if more else None
            place = more.end() if more else place
    return [dated_by(bucket, question, name) for name in dict.fromkeys(found)]


def periods_asked(bucket: Bucket, question: str) -> list[str]:
    """Return the part of a date whose values are asked for ("from which years are the invoices?"), as a group; [] for none."""
    for match in cues.WHICH.finditer(question):
        rest = question[match.end() :].lstrip()
        if (group := group_at(bucket, rest)) and "." in group[0]:
            return [dated_by(bucket, question, group[0])]
    return []


def dated_by(bucket: Bucket, question: str, group: str) -> str:
    """Return a group by a part of a date with the date field that the question has a word of: "expire each year".

    The longest word says it; without any it is the main date.
    """
    name, dot, unit = group.partition(".")
    if not dot:
        return group
    said = [word for word in terms.words(question) if word not in terms.stop_words("grammar")]
    found = [
        (len(word), declared.name)
        for declared in bucket.fields
        if declared.type == "date"
        for word in declared.words
        if (len(word) >= TELLING and find_phrase(question, word))
        or (len(word) > TELLING and any(_is_form(one, terms.bare(word)) for one in said))
        or (" " in word and _apart(terms.words(word), terms.words(question)))
    ]
    return f"{max(found, default=(0, name), key=lambda item: item[0])[1]}.{unit}"


def _is_form(said: str, verb: str) -> bool:
    """Tell whether a bare word is a verb with another ending: "expirent"."""
    return said.startswith(verb[:-1]) and len(said) - len(verb) <= TELLING


def _apart(phrase: Sequence[str], said: Sequence[str]) -> bool:
    """Tell whether the words of a phrase stand in that order, others between them: "laufen im Mai ab"."""
    left = iter(said)
    return all(word in left for word in phrase)


TELLING = 3
"""Letters from which a word tells which date is meant: "due" does, "on" does not."""


_DESCRIBED = re.compile(r"(?-i:[a-zà-ÿ]{4,})\s+")
"""A word in lower case that says more of what groups: "by issuing country"."""


MOST = re.compile(rf"\b(?:{alternation('asking', 'most_or_least')})\b", re.IGNORECASE)
OFTEN = re.compile(rf"\b(?:{alternation('asking', 'often')})\b", re.IGNORECASE)
COMMON = re.compile(alternation("asking", "common"), re.IGNORECASE)
MONEY = pattern("money")
SENDS = f"(?:{alternation('asking', 'sends')})"
SENDER = re.compile(rf"^\W*(?:{alternation('asking', 'who')})\b[^?]{{0,30}}\b{SENDS}\b", re.IGNORECASE)
WE = re.compile(alternation("asking", "we_ask"), re.IGNORECASE)
"""Whom we pay is the seller."""
TOP_WORDS = (MOST, OFTEN, MONEY, re.compile(rf"\b(?:{SENDS}|fewest)\b", re.IGNORECASE))
"""What matches the words by which a question asks for the group with the most: they are no condition."""


_ENDS_MOST = re.compile(alternation("asking", "ends_most"))


def top_group(bucket: Bucket, question: str) -> WantedNumber | None:
    """Return the aggregate of "which vendor billed us the most", with `top`: "most" or "least"; None for others.

    The documents named behind "most", or "most often", count documents; a word for money sums the main amount, and so
    does "the highest total" of a group. "Most recent" and its like order documents and are no question for a group.
    """
    found = MOST.search(question)
    if not found:
        return _highest(bucket, question)
    group = _ranked_group(bucket, question, found)
    if group is None:
        return None
    rest = question[found.end() :].lstrip()
    ordering = pattern("largest", "smallest", "newest", "oldest").match(question, found.start("most"))
    if found["most"] and ordering:
        return None
    counts = OFTEN.search(question) or any(
        start == 0 or (len(rest[:start].split()) <= BETWEEN and rest[start:end].lower() != noun.lower())
        for noun in bucket.nouns
        for start, end in find_phrase(re.split(r"[?.!,;]", rest)[0], noun)
    )
    ends = not rest or _ENDS_MOST.match(rest)
    if not counts and not ends and not MONEY.match(rest):
        return None
    made: WantedNumber = {"function": "count", "field": None}
    if not counts:
        if not bucket.main_amount or not MONEY.search(question):
            return None
        made = {"function": "sum", "field": bucket.main_amount}
    name, limit = group
    ranked: WantedNumber = {
        **made,
        "group_by": [dated_by(bucket, question, name)],
        "top": "most" if found["most"] else "least",
    }
    return {**ranked, "limit": limit} if limit > 1 else ranked


BETWEEN = 3
"""Words that may stand between "most" and the documents, in the plural: "the most terminated studies"."""


def _highest(bucket: Bucket, question: str) -> WantedNumber | None:
    """Return the aggregate of "which month had the highest total": a sum a group."""
    which = cues.WHICH.search(question)
    amount = bucket.field(bucket.main_amount or "")
    group = group_at(bucket, question[which.end() :].lstrip()) if which else None
    if amount is None or group is None:
        return None
    for top, kind in (("most", "largest"), ("least", "smallest")):
        for match in pattern(kind, after=r"\s+(?:overall\s+)?").finditer(question):
            rest = question[match.end() :]
            summed = pattern("sum", "total").match(rest) or any(
                start == 0 for word in amount.words for start, _ in find_phrase(rest, word)[:1]
            )
            if summed and not any(
                start == 0 for noun in bucket.nouns for start, _ in find_phrase(rest, noun)
            ):
                return {"function": "sum", "field": amount.name, "group_by": [group[0]], "top": top}
    return None


def _ranked_group(bucket: Bucket, question: str, most: re.Match[str]) -> tuple[str, int] | None:
    """Return the group that is asked for, and how many of its values (1 where no number stands before its word).

    It stands after "which" or "most common", or before "with the most" and "holding the most"; a "who" is the sender.
    """
    for match in (cues.WHICH.search(question), COMMON.search(question)):
        limit, rest = _number_before(question[match.end() :]) if match else (1, "")
        found = group_at(bucket, rest) if rest else None
        if match and found:
            return found[0], limit if limit > 1 else _number_ending(question[: match.start()])
    before = question[: most.start()]
    for start in (match.start() for match in re.finditer(r"[^\W_]+", before)):
        limit, rest = _number_before(before[start:])
        found = group_at(bucket, rest)
        if found and len(terms.content_words(rest[found[1] :])) <= VERB:
            return found[0], limit
    first = bucket.field(bucket.entity_fields[0]) if bucket.entity_fields else None
    asked = SENDER.search(question) or (WE.search(question) and MONEY.search(question))
    sender = first is not None and first.kind in ("organization", "person") and asked
    return (first.name, 1) if first is not None and sender else None


def limit_before(bucket: Bucket, text: str) -> int:
    """Return the number that stands before the word of a group somewhere in a text, 1 without any."""
    read = (_number_before(text[match.start() :]) for match in re.finditer(r"[^\W_]+", text))
    return next((limit for limit, rest in read if limit > 1 and group_at(bucket, rest)), 1)


VERB = 1
"""Words between a group's word and "the most": "organisations holding the most"."""


def _number_ending(text: str) -> int:
    """Return the number with which a text ends, 1 without any: "the three" of "the three most common laws"."""
    words = re.findall(r"\S+", text)[-1:]
    limit, rest = _number_before(f"{words[0]} " if words else "")
    return 1 if rest.strip() else limit


def _number_before(text: str) -> tuple[int, str]:
    """Return the number that a text begins with, 1 without any, and the text behind it."""
    text = text.lstrip()
    if digits := re.match(r"(\d{1,3})\s+", text):
        return int(digits[1]), text[digits.end() :]
    spelled = next((number for number in find_spelled(text) if number.start == 0 and not number.weak), None)
    return (int(spelled.value), text[spelled.end :].lstrip()) if spelled else (1, text)
