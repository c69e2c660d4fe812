"""The question of the last turn with what a follow-up says in the place of its like, where no condition holds it."""

import re
from datetime import date

from citegraph.corpus.schema.bucket import Bucket
from citegraph.language import terms
from citegraph.language.terms import same_noun
from citegraph.plan.follow_ups import completed, goes_on, left_words
from citegraph.plan.stored_filters import fields_of, flat
from citegraph.plan.turns import one_fact
from citegraph.question.clauses import read_question
from citegraph.question.functions import function_of
from citegraph.question.phrases import find_phrase
from citegraph.run.services import Corpus
from citegraph.run.state_types import Turn


def renewed(corpus: Corpus, turn: Turn, message: str, today: date) -> str | None:
    """Return the question of a turn with a number, or the name of another document, in the place of its own; blocking.

    "And with 90 days?", "and of the Aster contract?": None where the message has no such, or a condition holds it.
    """
    bucket = corpus.buckets.get(turn["buckets"][0]) if turn.get("left") and turn["buckets"] else None
    if bucket is None or not goes_on(message):
        return None
    reading = read_question(bucket, corpus.linker, completed(turn, bucket, message), today)
    content = set(terms.content_words(message))
    fresh = [word for word in terms.WORD.finditer(message) if content & {*terms.words(word[0])}]
    taken = reading["filters"] or reading["identifiers"] or reading["asked"]
    if not fresh or taken or function_of(message) != "none":
        return None
    text, number, *units = turn["question"], fresh[0][0], *(word[0] for word in fresh[1:])
    if number.isdigit() and len(units) <= 1:
        held = [
            match
            for match in re.finditer(r"(?<![\w.,])(\d+)(?![.,]?\d)\W*([^\W\d_]*)", text)
            if all(same_noun(terms.bare(match[2]), terms.bare(unit)) for unit in units)
        ]
        if len(held) == 1:
            return f"{text[: held[0].start(1)]}{number}{text[held[0].end(1) :]}"
    nouns = any(find_phrase(message, noun) for noun in bucket.nouns)
    names = reading["names"] or (nouns and left_words(bucket, reading, message))
    span = naming_span(turn, bucket, noun=nouns) if names and one_fact(turn) else None
    return f"{text[: span[0]]}{message[fresh[0].start() :].rstrip(' ?.!')}{text[span[1] :]}" if span else None


def naming_span(turn: Turn, bucket: Bucket, *, noun: bool) -> tuple[int, int] | None:
    """Return where the question of a turn names its document: names, and the words before its noun; None for nowhere.

    Args:
        noun: the noun is a part of it.
    """
    text, part = turn["question"], turn["applied"].get(bucket.name, {})
    named = [item for item in flat(part.get("filters", [])) if fields_of(item) & bucket.naming_fields]
    names = [*(str(item.get("raw", "")) for item in named), *part.get("names", [])]
    spans = [span for name in names if name for span in find_phrase(text, name)]
    content = set(terms.content_words(text))
    for begin, end in (span for word in bucket.nouns for span in find_phrase(text, word)):
        run: list[re.Match[str]] = []
        for word in reversed(list(terms.WORD.finditer(text[:begin]))):
            if not content & {*terms.words(word[0])}:
                break
            run.append(word)
        if run or noun:
            spans.append((run[-1].start() if run else begin, end if noun else run[0].end()))
    return (min(start for start, _ in spans), max(end for _, end in spans)) if spans else None
