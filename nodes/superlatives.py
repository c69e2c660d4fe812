"""Read "the three oldest" and "runs out last" in a question: order and length of a list."""

import re

from corpus.buckets import Bucket
from graph.state import Json
from nodes.phrases import find_phrase


def superlative(bucket: Bucket, question: str) -> Json | None:
    """Return `{"field", "descending", "limit"}` for "the three oldest ...", or None."""
    match = re.search(
        r"\b(?:the\s+)?(?P<n>\d+|two|three|four|five|six|seven|eight|nine|ten|zwei|drei|vier|fünf|deux|trois|quatre|cinq)?\s*"
        r"(?P<kind>latest|newest|most\s+recent|oldest|earliest|largest|biggest|highest|most\s+expensive|cheapest|smallest|lowest"
        r"|neueste\w*|älteste\w*|größte\w*|teuerste\w*|günstigste\w*)\b",
        question,
        re.IGNORECASE,
    )
    if not match:
        return extreme_date(bucket, question)
    kind = match["kind"].lower()
    by_date = bool(re.match(r"latest|newest|most\s+recent|oldest|earliest|neu|ält", kind))
    name = bucket.main_date if by_date else bucket.main_amount
    if name is None:
        return None
    descending = not re.match(r"oldest|earliest|cheapest|smallest|lowest|ält|günst", kind)
    return {
        "field": name,
        "descending": descending,
        "limit": NUMBERS.get((match["n"] or "one").lower(), 0) or int(match["n"]),
    }


def extreme_date(bucket: Bucket, question: str) -> Json | None:
    """Return the order of "which contract runs out last": a date field's word beside "first", "last", "earliest" ..."""
    for declared in bucket.fields:
        if declared.type != "date":
            continue
        for word in declared.words:
            for start, end in find_phrase(question, word):
                after = re.match(
                    r"\s+(?P<end>first|last|earliest|latest|soonest|next|zuerst|zuletzt|en\s+premier|en\s+dernier)\b",
                    question[end:],
                    re.IGNORECASE,
                )
                if after and start > 0:
                    late = bool(re.match(r"last|latest|zuletzt|en\s+dernier", after["end"], re.IGNORECASE))
                    return {"field": declared.name, "descending": late, "limit": 1}
    return None


NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5,
}  # fmt: skip
