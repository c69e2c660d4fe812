"""Find the passage of a document that answers a question, without a model: units of text, rarity and kind of answer."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from citegraph.citations.facts import dated, hard_facts
from citegraph.language.claim_tokens import sentence_spans
from citegraph.language.terms import bare, content_words, stem, words
from citegraph.question.answer_form import form_of, phrasing_of

FACT_WINDOW = 60_000
PREFIX = 4
UNIT = 320
NEAR, NAMED, HEAD, SECOND = 0.45, 0.1, 0.35, 0.5
"""Weights: a word in a neighbouring line, in the document's name, in its head; the score of a second passage."""
HEAD_UNITS = 6
WHOLE = 4
"""Words of a unit that says something without its neighbours."""
SEMANTIC, SEMANTIC_POOL = 0.5, 120
Similar = Callable[[Sequence[str]], Sequence[float]]
"""Characters of a passage at most; a short line is shown with its neighbours up to this size."""
HEADING = re.compile(r"#{1,6} ")
RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
"""The line beneath a table's head in Markdown."""
NUMBERED = re.compile(r"(?:\d{1,2}\.)+\d{0,2}\s+[^\W\d].{0,60}(?<![.!?])")
"""A heading of a numbered section, "8. Termination": no sentence."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a document's text that may answer, with its score."""

    start: int
    end: int
    text: str
    score: float


@lru_cache(maxsize=256)
def units(text: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of the sentences and stand-alone lines; a sentence that is broken over lines is one."""
    return tuple(sentence_spans(text))


def best_passages(
    text: str,
    question: str,
    language: str,
    *,
    skip: Sequence[str] = (),
    limit: int = 2,
    similar: Similar | None = None,
    second: float = SECOND,
) -> list[Passage]:
    """Return the passages of `text` that answer `question` best, best first, without overlaps.

    A word counts by its rarity among the units of this document, little when it only says which document is
    meant: it stands in `skip` or in the document's head. Neighbouring lines count in part, since a table's value
    stands beside its label. Where documents say what is asked in words of their own ("governed by the laws of"),
    only passages with these words are returned.

    Args:
        skip: words that name the document.
        limit: passages returned; later ones reach at least the share `second` of the best score.
        similar: semantic similarity of the question to each of some texts, -1 to 1.
    """
    spans = units(text)
    wanted = asked_weights(text, question, language, skip, spans)
    if not spans or not wanted:
        return []
    held = [
        frozenset(stem(word, language) for word in words(text[start:end])) & wanted.keys()
        for start, end in spans
    ]
    kind = form_of(question)
    whole = sum(wanted.values())
    scores = []
    for place, (start, end) in enumerate(spans):
        own = sum(wanted[word] for word in held[place])
        near = sum(
            wanted[word] for word in frozenset().union(*held[max(0, place - 2) : place + 3]) - held[place]
        )
        scores.append(
            (own + NEAR * near) * length_factor(end - start) * kind_factor(text, spans, place, kind)
        )
    order = sorted(range(len(spans)), key=lambda place: (-scores[place], place))
    phrasing = phrasing_of(question)
    if phrasing is not None:
        order = [place for place in order if phrasing.search(text[slice(*widened(text, spans, place, kind))])]
    if similar is not None:
        order = with_similarity(text, spans, scores, order[:SEMANTIC_POOL], whole, similar, kind)
    best = max((scores[place] for place in order), default=0.0)
    scored = [(scores[place], place) for place in order if scores[place] > 0]
    return chosen(text, spans, [item for item in scored if item[0] >= second * best], limit, kind)


def speaks_of(passage: str, question: str, language: str, skip: Sequence[str]) -> bool:
    """Tell whether a passage holds a word of the question that does not just name the document.

    A word of the same first letters counts ("weigh" and "weight"); a question of names alone is always spoken of.
    Where documents say a thing in words of their own ("governed by the laws of"), these stand there already.
    """
    if phrasing_of(question) is not None:
        return True
    named = {stem(bare(word), language) for word in skip}
    asked = [word for word in content_words(question) if stem(word, language) not in named]
    held = {word[:PREFIX] for word in words(passage)}
    return not asked or any(word[:PREFIX] in held for word in asked)


def asked_weights(
    text: str, question: str, language: str, skip: Sequence[str], spans: Sequence[tuple[int, int]]
) -> dict[str, float]:
    """Return the stems of the question's words with their rarity in this document; names of the document count little."""
    head = {stem(word, language) for start, end in spans[:HEAD_UNITS] for word in words(text[start:end])}
    named = {stem(bare(word), language) for word in skip}
    count: dict[str, int] = {}
    for start, end in spans:
        for word in {stem(word, language) for word in words(text[start:end])}:
            count[word] = count.get(word, 0) + 1
    weights = {}
    for word in dict.fromkeys(stem(word, language) for word in content_words(question)):
        rarity = math.log(1 + len(spans) / (1 + count.get(word, 0)))
        weights[word] = rarity * (NAMED if word in named else HEAD if word in head else 1.0)
    return weights


def kind_factor(
    text: str, spans: Sequence[tuple[int, int]], place: int, kind: re.Pattern[str] | None
) -> float:
    """Return how well a unit's form fits the kind of answer asked for: it or the lines beside it hold one."""
    if kind is None:
        return 1.0
    start, end = spans[place]
    if kind.search(text[start:end]):
        return 1.5
    after = text[spans[place][0] : spans[min(place + 2, len(spans) - 1)][1]]
    return 1.2 if end - start < 90 and kind.search(after) else 0.7


def with_similarity(
    text: str,
    spans: Sequence[tuple[int, int]],
    scores: list[float],
    pool: Sequence[int],
    whole: float,
    similar: Similar,
    kind: re.Pattern[str] | None,
) -> list[int]:
    """Add semantic similarity to the scores of the pool, in place; return the pool best first."""
    windows = [text[slice(*widened(text, spans, place, kind))] for place in pool]
    for place, value in zip(pool, similar(windows), strict=True):
        scores[place] += SEMANTIC * whole * max(0.0, value)
    return sorted(pool, key=lambda place: (-scores[place], place))


def length_factor(size: int) -> float:
    """Return a mild penalty for long units, whose many words match by chance."""
    return 1.0 if size <= UNIT else UNIT / (UNIT + 0.35 * (size - UNIT))


def chosen(
    text: str,
    spans: Sequence[tuple[int, int]],
    scored: Sequence[tuple[float, int]],
    limit: int,
    kind: re.Pattern[str] | None,
) -> list[Passage]:
    """Return the best units, each widened to its neighbours while it is short, without overlaps."""
    passages: list[Passage] = []
    for score, place in scored:
        start, end = widened(text, spans, place, kind)
        if all(end <= other.start or start >= other.end for other in passages):
            passages.append(Passage(start, end, text[start:end], score))
        if len(passages) == limit:
            break
    return passages


def widened(
    text: str, spans: Sequence[tuple[int, int]], place: int, kind: re.Pattern[str] | None
) -> tuple[int, int]:
    """Return the unit's span with following, then preceding lines while it stays short and on the same page.

    A row of a table and what holds an answer of the `kind` asked for stand alone, what
    has few words, or is a heading, takes a following sentence with it, and a section ends where the next heading begins.
    """
    first = last = place
    start, end = spans[place]
    if is_row(text[start:end]) or (kind is not None and is_whole(text[start:end], kind)):
        return start, end
    opens = len(words(text[start:end])) < WHOLE or is_heading(text[start:end])
    if opens and place + 1 < len(spans):
        following = text[slice(*spans[place + 1])]
        if not is_border(following) and "\f" not in text[end : spans[place + 1][0]]:
            # A long sentence behind its heading is shown as far as there is room.
            room = following[: 2 * UNIT]
            kept = room if len(room) == len(following) else room[: room.rfind(" ")]
            return start, spans[place + 1][0] + len(kept)
    while (
        last + 1 < len(spans)
        and not is_border(text[slice(*spans[last + 1])])
        and spans[last + 1][1] - start <= UNIT * 0.7
        and "\f" not in text[end : spans[last + 1][0]]
        and last - place < 4
    ):
        last += 1
        end = spans[last][1]
    while (
        first > 0
        and not is_heading(text[slice(*spans[first])])
        and not is_row(text[slice(*spans[first - 1])])
        and end - spans[first - 1][0] <= UNIT * 0.7
        and "\f" not in text[spans[first - 1][1] : start]
        and place - first < 1
    ):
        first -= 1
        start = spans[first][0]
    return start, end


def is_row(line: str) -> bool:
    """Tell whether a line is a row of a table, as the readers write one."""
    return " | " in line


def is_heading(line: str) -> bool:
    """Tell whether a line is a heading, as the readers write one or as a numbered section has it."""
    return HEADING.match(line) is not None or NUMBERED.fullmatch(line) is not None


def is_whole(unit: str, kind: re.Pattern[str]) -> bool:
    """Tell whether a unit by itself says something of the kind that is asked for."""
    return len(words(unit)) >= WHOLE and kind.search(unit) is not None


def is_border(line: str) -> bool:
    """Tell whether a passage of prose ends before a line."""
    return is_row(line) or is_heading(line)


def head_of(text: str, start: int) -> tuple[int, int] | None:
    """Return the span of the head of the table whose row begins at `start`, None when that is no row or has none."""
    line = text[start:].partition("\n")[0]
    at, head = start, None
    while at > 0 and is_row(line):
        begin = text.rfind("\n", 0, at - 1) + 1
        above = text[begin : at - 1]
        if not is_row(above) and not RULE.fullmatch(above):
            break
        head = (begin, at - 1) if is_row(above) else head
        at = begin
    if head is None:
        return None
    cells = [cell.strip(" |") for cell in text[slice(*head)].split(" | ")]
    named = all(cell and not cell[0].isdigit() for cell in cells)
    return head if named and len(cells) == len(line.split(" | ")) else None


def locate(text: str, value: str) -> tuple[int, int] | None:
    """Return the span in `text` that says `value`: literally, by words, as the same number or as the same date."""
    literal = re.search(re.escape(value), text, re.IGNORECASE)
    if literal:
        return literal.span()
    loose = r"[\s\W_]+".join(re.escape(part) for part in re.findall(r"[^\W_]+", value))
    if loose and (found := re.search(rf"(?<!\w){loose}(?!\w)", text, re.IGNORECASE)):
        return found.span()
    return same_fact(text, value)


def same_fact(text: str, value: str) -> tuple[int, int] | None:
    """Return the first span of `text` with the number or date that `value` is, in whatever form."""
    wanted = next(iter(hard_facts(value)), None)
    if wanted is None:
        return None
    text, day = text[:FACT_WINDOW], wanted.date
    if day is not None:  # a month alone backs no more than a month
        facts = dated(text) if day.year or day.day else hard_facts(text)
        same = (fact for fact in facts if fact.date is not None and day.agrees(fact.date))
    else:
        alike = (fact for fact in hard_facts(text) if fact.kind == wanted.kind) if wanted.amounts else ()
        same = (fact for fact in alike if set(wanted.amounts) & set(fact.amounts))
    return next(((fact.start, fact.end) for fact in same), None)
