"""Read "without a total", "have no due date" in a question: documents that do not state a field."""

import re

from citegraph.question import cues
from citegraph.question.phrases import find_phrase
from citegraph.question.reading import Reader
from citegraph.run.pieces import StoredClause

LACKING = re.compile(
    r"\b(?:without|lack(?:s|ing)?|missing|(?:with|hav(?:e|ing)|has|states?|stating|gives?|shows?|names?)\s+no"
    r"|(?:do|does)\s+not\s+(?:have|state|give|show|name)|(?:don|doesn)(?:'|’)t\s+(?:have|state|give|show|name)"
    r"|ohne|(?:mit|haben|hat)\s+keine?[mnr]?|sans|n(?:'|’)ont\s+pas)\s+(?:an?\s+|the\s+|any\s+|their\s+|its\s+|de\s+|eine?[mnrs]?\s+)?",
    re.IGNORECASE,
)
STATED = frozenset({"money", "date", "quantity"})
"""Types of fields that a document states or not; "without a renewal clause" is asked of the text."""


def read_lacking(reader: Reader) -> None:
    """Add a `missing` clause for each amount, date, quantity or identifier that the question says is not there."""
    for match in LACKING.finditer(reader.question):
        rest = reader.question[match.end() :]
        best: tuple[int, str] | None = None
        for declared in reader.bucket.fields:
            if declared.type not in STATED and declared.kind != "identifier":
                continue
            for word in (*declared.words, declared.name.replace("_", " ")):
                ends = [end for start, end in find_phrase(rest, word)[:1] if start == 0]
                if ends and (best is None or ends[0] > best[0]):
                    best = (ends[0], declared.name)
        span = (match.start(), match.end() + best[0]) if best else None
        if best and span and reader.free(*span) and not _means_else(reader.question, span):
            reader.add(best[1], "missing", None, *span)
            reader.use(*span)


def _means_else(question: str, span: tuple[int, int]) -> bool:
    """Tell whether a number is asked for ("the total without tax" is another amount), or one follows the field, or a clause is meant."""
    outside = f"{question[: span[0]]} . {question[span[1] :]}"
    computes = (cues.SUM, cues.AVERAGE, cues.MAXIMUM, cues.MINIMUM)
    return any(pattern.search(outside) for pattern in computes) or bool(
        re.match(
            r"\s*(?:(?:\w+\s+)?[€$£]?\d|(?:clause|provision|section|paragraph)s?\b)", question[span[1] :]
        )
    )


def lacks(filters: list[StoredClause], field: str | None) -> bool:
    """Tell whether stored filters ask for documents that do not state a field: there is nothing to sum in them."""
    return field is not None and any(
        clause.get("operator") == "missing" and clause.get("field") == field for clause in filters
    )
