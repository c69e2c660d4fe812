"""Read "the three oldest" and "runs out last" in a question: order and length of a list."""

from citegraph.corpus.schema.bucket import Bucket
from citegraph.question import cues
from citegraph.question.phrases import find_phrase
from citegraph.run.pieces import OrderBy


def superlative(bucket: Bucket, question: str) -> OrderBy | None:
    """Return `{"field", "descending", "limit"}` for "the three oldest ...", or None."""
    match = cues.SUPERLATIVE.search(question)
    if not match:
        return extreme_date(bucket, question)
    name = bucket.main_date if match["newest"] or match["oldest"] else bucket.main_amount
    if name is None:
        return None
    number = (match["number"] or "one").lower()
    return {
        "field": name,
        "descending": bool(match["newest"] or match["largest"]),
        "limit": cues.NUMBERS.get(number) or int(number),
    }


def extreme_date(bucket: Bucket, question: str) -> OrderBy | None:
    """Return the order of "which contract runs out last": a date field's word beside "first", "last", "earliest" ..."""
    for declared in bucket.fields:
        if declared.type != "date":
            continue
        for word in declared.words:
            for start, end in find_phrase(question, word):
                after = cues.ENDMOST.match(question, end)
                if after and start > 0:
                    return {"field": declared.name, "descending": bool(after["late"]), "limit": 1}
    return None
