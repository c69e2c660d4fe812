"""The day on which a document was signed, as its place names it ("Oban, 3 May 2021"), and the days that a term runs between."""

import re
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import pairwise

from citegraph.corpus.extraction.in_text import Typed, find_dates
from citegraph.language.word_tables import alternation

SIGNED = 0.65
SPANNED = 0.6
SHORTEST = timedelta(days=27)
"""The days between which a contract runs are a month apart at least."""
_CELL = re.compile(r"\S+(?:[ \t]\S+)*")
_PLACE = re.compile(
    r"[\W_]*(?-i:[^\W\d_a-zß-öø-ÿ])[^\d:;,]{1,60}(?:\([^\d()]{1,20}\))?,\s*(?:[^\W\d_]{1,3}\.?\s*){0,2}"
)
"""What stands before a day that has its line: a place behind a few words, a comma, and "den", "le", "lì" or nothing."""
_PARTED = re.compile(r"[ \t]*[-–—~～〜→][ \t]*")
"""A sign between the two days of a range."""
_LINE = re.compile(r"^[^\n]*?\d\d[^\n]*$", re.MULTILINE)
_MOST_WORDS = 6


def find_signing_day(text: str, *, order: str, today: date) -> tuple[int, int, float] | None:
    """Return (start, end, confidence) of the day that the last line with a place and a day names; the later, if two.

    Also of one within a sentence that says that it was signed ("ondertekend te Zwolle op 3 mei 2021").
    """
    last: list[Typed] = []
    for line in _LINE.finditer(text):
        here = [
            day
            for cell in _CELL.finditer(line[0])
            if (day := _signed(cell[0], line.start() + cell.start(), order, today)) is not None
        ]
        last = here or last
    if not last:
        return None
    day = max(last, key=lambda found: found.value)  # type: ignore[arg-type, return-value]
    return day.start, day.end, SIGNED


def _signed(cell: str, at: int, order: str, today: date) -> Typed | None:
    days = list(find_dates(cell, order, today))
    if len(days) != 1 or days[0].value > today:  # type: ignore[operator]
        return None
    day, before, after = days[0], cell[: days[0].start], cell[days[0].end :]
    placed = (
        len(before.split()) <= _MOST_WORDS
        and len(after.split()) <= _MOST_WORDS
        and _PLACE.fullmatch(before) is not None
        and re.match(r"\s*(?:[.,)]|\Z)", after) is not None
    )
    if not placed and not _signs().search(before[-100:]):
        return None
    return Typed(at + day.start, at + day.end, day.raw, day.value)


@cache
def _signs() -> re.Pattern[str]:
    """Return a word for signing with no other sentence, number or clause behind it."""
    return re.compile(rf"(?<!\w)(?:{alternation('contracts', 'signs')})(?!\w)[^.:;\d]*\Z", re.IGNORECASE)


@lru_cache(maxsize=4)
def find_span(text: str, *, order: str, today: date) -> tuple[Typed, Typed] | None:
    """Return the two days of the only range that a text names ("vom 1.8.2024 bis zum 31.7.2029"), None when it names several."""
    days = list(find_dates(text, order, today))
    spans = [
        (one, other)
        for one, other in pairwise(days)
        if other.start - one.end <= 40
        and (
            _between().fullmatch(text, one.end, other.start) or _PARTED.fullmatch(text, one.end, other.start)
        )
        and (
            _leads().search(text, max(0, one.start - 30), one.start)
            or _PARTED.fullmatch(text, one.end, other.start)
        )
        and other.value - one.value >= SHORTEST  # type: ignore[operator]
    ]
    return spans[0] if len({(one.value, other.value) for one, other in spans}) == 1 else None


def find_last_day(text: str, *, order: str, today: date) -> tuple[int, int, float] | None:
    """Return (start, end, confidence) of the day that a short form labels and that lies a month behind every other one.

    A certificate that names several days ends on such a one, whatever its label calls it.
    """
    if len(text) > SHORT:
        return None
    days = [
        Typed(
            line.start() + cell.start() + day.start, line.start() + cell.start() + day.end, day.raw, day.value
        )
        for line in _LINE.finditer(text)
        for cell in _CELL.finditer(line[0])
        for day in find_dates(cell[0], order, today)
        if _LABEL.fullmatch(line[0], 0, cell.start() + day.start)
    ]
    if not days:
        return None
    last = max(days, key=lambda day: day.value)  # type: ignore[arg-type, return-value]
    others = [day.value for day in find_dates(text, order, today) if day.value != last.value]
    if not others or last.value - max(others) < SHORTEST:  # type: ignore[operator, type-var]
        return None
    return last.start, last.end, LAST


SHORT, LAST = 5_000, 0.55
_LABEL = re.compile(r"(?:.*(?:[ \t]{2}|\|))?\W*(?:[^\W\d_]+[^\w:\n]{1,3}){0,4}[^\W\d_]{2,}[\s|:.]*")
"""What stands before a labelled day in its line: up to five words."""


@cache
def _leads() -> re.Pattern[str]:
    articles = alternation("dates", "articles")
    return re.compile(
        rf"(?<!\w)(?:{alternation('dates', 'leads')})\s+(?:(?:{articles})\s+)?\Z", re.IGNORECASE
    )


@cache
def _between() -> re.Pattern[str]:
    articles = alternation("dates", "articles")
    joints = rf"{alternation('dates', 'to')}|{alternation('dates', 'and')}"
    return re.compile(rf",?\s+(?:{joints})\s+(?:(?:{articles})\s+)?", re.IGNORECASE)
