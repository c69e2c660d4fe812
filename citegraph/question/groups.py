"""Read "per vendor per month", or "which vendor the most", in a question: the groups of a computed table."""

import re

from citegraph.corpus.schema.bucket import Bucket
from citegraph.language.word_tables import pattern
from citegraph.question import cues
from citegraph.question.phrases import find_phrase
from citegraph.run.pieces import WantedNumber

UNITS = ("month", "quarter", "year", "day")


def read_groups(bucket: Bucket, question: str) -> list[str]:
    """Return the group fields in order of the question: field names, or "date.month" of the bucket's main date.

    Only a field that can group (a keyword, a date by its unit) counts; anything else after "per" is left alone.
    """
    found: list[tuple[int, str]] = []
    for match in pattern("each", after=r"\s+(?:the\s+|and\s+)?").finditer(question):
        rest = question[match.end() :]
        unit = next((name for name in UNITS if pattern(f"unit_{name}").match(rest)), None)
        if unit and bucket.main_date:
            found.append((match.start(), f"{bucket.main_date}.{unit}"))
            continue
        names = [
            declared.name
            for declared in bucket.fields
            if declared.type == "keyword"
            and any(
                find_phrase(rest, word)[:1] and find_phrase(rest, word)[0][0] == 0
                for word in (*declared.words, declared.name.replace("_", " "))
            )
        ]
        if names:
            found.append((match.start(), names[0]))
    return list(dict.fromkeys(name for _, name in sorted(found)))


MOST = re.compile(
    r"\b(?:(?P<most>(?:the\s+)?most(?:\s+often|\s+frequently)?|häufigste[mnrs]?|am\s+meisten|am\s+häufigsten|die\s+meisten|le\s+plus)"
    r"|(?P<least>(?:the\s+)?(?:least|fewest)(?:\s+often)?|am\s+wenigsten|am\s+seltensten|die\s+wenigsten|le\s+moins))\b",
    re.IGNORECASE,
)
OFTEN = re.compile(r"\b(?:often|frequent\w*|common\w*|häufig\w*|oft|souvent)\b", re.IGNORECASE)
COMMON = re.compile(r"\b(?:most|least)\s+(?:common|frequent)\b|\bhäufigste[mnrs]?\b", re.IGNORECASE)
MONEY = re.compile(
    r"\b(?:bill(?:ed|s)?|charge[ds]?|invoice[ds]?|spen[dt]|costs?|paid|pays?|sold|sells?|earn(?:ed|s)?|money|amount|revenue"
    r"|berechne\w*|gekostet|kostet|bezahlt|ausgegeben|verkauft|factur\w+|coût\w*|payé\w*|dépens\w+)\b",
    re.IGNORECASE,
)
SENDS = (
    r"(?:billed|bills|charged|charges|invoiced|invoices|sent|sends|issued|sold|sells|schickt\w*|stellt\w*)"
)
SENDER = re.compile(rf"^\W*(?:who|wer|qui)\b[^?]{{0,30}}\b{SENDS}\b", re.IGNORECASE)
WE = re.compile(
    r"^\W*(?:who|whom|wem|wen|(?:à\s+)?qui|(?:a\s+)?quién)\b[^?]{0,24}\b(?:we|i|wir|nous|on|pagamos)\b",
    re.IGNORECASE,
)
"""Whom we pay is the seller."""
TOP_WORDS = (MOST, OFTEN, MONEY, re.compile(rf"\b(?:{SENDS}|fewest)\b", re.IGNORECASE))
"""What matches the words by which a question asks for the group with the most: they are no condition."""


def top_group(bucket: Bucket, question: str) -> WantedNumber | None:
    """Return the aggregate of "which vendor billed us the most", with `top`: "most" or "least"; None for others.

    A plural of the documents after "most", or "most often", counts documents; a word for money sums the main amount.
    "Most recent" and its like order documents and are no question for a group.
    """
    found = MOST.search(question)
    field = _ranked_field(bucket, question)
    if not found or field is None:
        return None
    rest = question[found.end() :].lstrip()
    counts = OFTEN.search(question) or any(
        start == 0 for noun in bucket.nouns for start, _ in find_phrase(rest, noun)
    )
    ends = not rest or re.match(
        r"[?.!,]|(?:in|of|from|during|since|for|to|by|im|seit|en|depuis)\b|money\b", rest
    )
    if not counts and not ends and not MONEY.match(rest):
        return None
    made: WantedNumber = {"function": "count", "field": None}
    if not counts:
        if not bucket.main_amount or not MONEY.search(question):
            return None
        made = {"function": "sum", "field": bucket.main_amount}
    return made | {"group_by": [field], "top": "most" if found["most"] else "least"}


def _ranked_field(bucket: Bucket, question: str) -> str | None:
    """Return the keyword field that is asked for: its word after "which" or "most common", the sender for a "who"."""
    for match in (cues.WHICH.search(question), COMMON.search(question)):
        rest = question[match.end() :].lstrip() if match else ""
        for declared in bucket.fields:
            words = (*declared.words, declared.name.replace("_", " "))
            if declared.type == "keyword" and any(
                start == 0 for word in words for start, _ in find_phrase(rest, word)[:1]
            ):
                return declared.name
    first = bucket.field(bucket.entity_fields[0]) if bucket.entity_fields else None
    asked = SENDER.search(question) or (WE.search(question) and MONEY.search(question))
    sender = first is not None and first.kind in ("organization", "person") and asked
    return first.name if first is not None and sender else None
