"""Read "per vendor per month" in a question: the groups of a computed table."""

import re

from corpus.buckets import Bucket
from nodes.phrases import find_phrase

LEAD = r"(?:per|by|for\s+each|for\s+every|grouped\s+by|broken\s+down\s+by|split\s+by|je|pro|nach|par|für\s+jede[nrs]?)"
UNITS = {
    "month": r"(?:month|months|monat|mois|monthly|monatlich)",
    "quarter": r"(?:quarter|quarters|quartal|trimestre)",
    "year": r"(?:year|years|jahr|année|an|yearly|annually|jährlich)",
    "day": r"(?:day|days|tag|jour)",
}


def read_groups(bucket: Bucket, question: str) -> list[str]:
    """Return the group fields in order of the question: field names, or "date.month" of the bucket's main date.

    Only a field that can group (a keyword, a date by its unit) counts; anything else after "per" is left alone.
    """
    found: list[tuple[int, str]] = []
    for match in re.finditer(rf"(?<!\w){LEAD}\s+(?:the\s+|and\s+)?", question, re.IGNORECASE):
        rest = question[match.end() :]
        unit = next(
            (name for name, pattern in UNITS.items() if re.match(rf"{pattern}(?!\w)", rest, re.IGNORECASE)),
            None,
        )
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
