"""What an amount is for and how often something happens: per day, monthly, je Woche, par an."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from citegraph.language.word_tables import any_of, source, table, words_to_keys


@dataclass(frozen=True, slots=True)
class Rate:
    """A period that something is counted by.

    Attributes:
        period: hour, day, week, month, quarter, half-year or year.
        start, end: its place in the text.
        after: it stands behind what it counts ("900 a month"); "monthly" may stand anywhere in its clause.
    """

    period: str
    start: int
    end: int
    after: bool


@cache
def _pattern() -> re.Pattern[str]:
    words = table("rates")
    alone = any_of(words_to_keys("rates", "alone"))
    periods = any_of(words_to_keys("rates", "periods"))
    before = any_of(word.replace("_", " ") for word in str(words["before"]).split())
    articles = any_of(str(words["articles"]).split())
    between = any_of(str(words["between"]).split())
    thing = rf"(?:[^\W\d_]+\s{source('joins')}\s)?"  # "je Rad und Tag"
    return re.compile(
        rf"(?<!\w)(?P<alone>{alone})\w{{0,3}}(?!\w)"
        rf"|(?:(?<!\w){before}\s*{thing}|/\s?|(?<=[\w%€$£)]\s)(?P<article>{articles})\s)"
        rf"(?:{between}\s)?(?P<period>{periods})(?!\w)",
        re.IGNORECASE,
    )


@lru_cache(maxsize=8192)
def rates(text: str) -> tuple[Rate, ...]:
    """Return the periods of a text by which something is counted, in order.

    "a month" is one only behind an amount or the thing that is counted: in "within a month" it is a span of time.
    """
    alone, periods = words_to_keys("rates", "alone"), words_to_keys("rates", "periods")
    found = []
    for match in _pattern().finditer(text):
        if match["alone"]:
            found.append(Rate(alone[match["alone"].casefold()], *match.span(), after=False))
        elif not match["article"] or _counted(text, match.start()):
            found.append(Rate(periods[match["period"].casefold()], *match.span(), after=True))
    return tuple(found)


_AMOUNT = re.compile(r"(?:\d[\d.,]*|[€$£%]|\b[A-Z]{3})[)\s]*$")
_THING = re.compile(r"(?:\d[\d.,]*|\b[^\W\d_]+)\s+[^\W\d_]{4,}s\s*$")


def _counted(text: str, at: int) -> bool:
    """Tell whether an amount ("EUR 900 a month") or a number of things ("two concerts a month") stands before a place."""
    return bool(_AMOUNT.search(text, 0, at) or _THING.search(text, max(0, at - 40), at))
