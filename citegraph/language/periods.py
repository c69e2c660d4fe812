"""Dates and periods as people write them ("Q3 2023", "before June"), as first and last day."""

import re
from dataclasses import replace
from datetime import date, timedelta
from functools import cache

from citegraph.errors import BadInput
from citegraph.language.date_order import DateOrder
from citegraph.language.dates import (
    Period,
    day_span,
    month_number,
    month_pattern,
    month_span,
    months_span,
    recent_month,
    year_span,
)
from citegraph.language.period_rules import ReadAs, period_rules
from citegraph.language.word_tables import words_to_keys

_LINK = re.compile(
    r"\s*(?:and|to|until|till|through|up\s+to(?:\s+and\s+including)?|bis\s+einschließlich|jusqu['’]à|hasta|fino\s+al?|tot(?:\s+en\s+met)?|und|bis|et|à|au|-|–|—)\s*(?:the\s+)?",
    re.IGNORECASE,
)
_ONWARDS = re.compile(
    r"\s*(?:or later|onwards?|on(?=\W*$|\s*[,.;?!])|and later|and after|or newer|oder später|et après)\b",
    re.IGNORECASE,
)


_KINDS = ("until", "since", "before", "after")


@cache
def _bounds(kind: str) -> str:
    """Return the source of a pattern of the words that bound a period in one way, the longest first."""
    words = [word for word, key in words_to_keys("dates", "bounds").items() if key == kind]
    forms = [re.escape(word).replace(r"\ ", r"\s+").replace("'", "['’]") for word in words]
    return "|".join(sorted(forms, key=len, reverse=True))


@cache
def _lead(kind: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<!\w)(?:{_bounds(kind)})\s+(?:the\s+|end\s+of\s+|am\s+|im\s+|en\s+|le\s+|el\s+)*$", re.IGNORECASE
    )


def find_periods(text: str, *, today: date, order: DateOrder = "DMY") -> list[Period]:
    """Return the dates and periods in a text, in order, with "before", "since", "between" ... applied.

    Args:
        today: what "last year" and "June" are relative to.
        order: how "03/04/2018" is read.
    """
    text = text[:20_000]
    plain = _scan(text, ReadAs(today, order))
    return _bounded(text, _joined(text, _with_their_year(text, plain)))


def _scan(text: str, read: ReadAs) -> list[Period]:
    found: list[Period] = []
    taken = bytearray(len(text))
    for pattern, reader in period_rules():
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(taken[start:end]):
                continue
            try:
                period = reader(match, read)
            except (ValueError, KeyError, OverflowError):
                continue
            if period:
                taken[start:end] = b"\x01" * (end - start)
                found.append(replace(period, text=match[0], span=(start, end)))
    return sorted(found, key=lambda period: period.span)


@cache
def _bare() -> re.Pattern[str]:
    """Return what may stand before "and May 2018" as the start of a range without its year."""
    months = month_pattern(False)
    return re.compile(
        rf"(?<!\w)(?:between|from|zwischen|von|vom|entre|du|de)\s+(?:the\s+)?(?P<x>(?:(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?)?(?P<m>{months})\.?|q(?P<q>[1-4]))"
        rf"\s*(?:and|to|until|till|through|und|bis(?:\s+zum)?|et|à|au|-|–)\s*(?:the\s+)?$|(?<!\w)(?P<x2>(?P<m2>{months}))\.?\s*(?:to|until|through|bis|à|-|–)\s*$",
        re.IGNORECASE,
    )  # fmt: skip


@cache
def _yearless() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return "August that year", and "March and" as it stands before "April 2018"."""
    names = rf"(?<!\w)(?:(?P<m>{month_pattern(False)})\.?|q(?P<q>[1-4]))"
    same = r"(?:that|the\s+same|desselben|des\s+gleichen|de\s+la\s+même)"
    that = rf"\s+(?:of\s+|in\s+)?{same}\s+(?:year|jahres|année)\b"
    also = r"\s*(?:and|or|und|oder|et|ou|&|,)\s*$"
    return re.compile(names + that, re.IGNORECASE), re.compile(names + also, re.IGNORECASE)


def _with_their_year(text: str, periods: list[Period]) -> list[Period]:
    """Add the months and quarters that take their year from another period of the same text."""
    dated = [period for period in periods if period.start]
    if not dated:
        return periods
    that, also = _yearless()
    found = [(match, dated[0]) for match in that.finditer(text)]
    spans = [match.span("m") for match, _ in found]
    periods = [p for p in periods if not any(p.span[0] <= start and end <= p.span[1] for start, end in spans)]
    found += [(match, period) for period in dated if (match := also.search(text, 0, period.span[0]))]
    added: list[Period] = []
    while found:
        match, period = found.pop(0)
        over = [other for other in periods if match.start() < other.span[1] and other.span[0] < match.end()]
        # "in March or May 2018": a month that was given the most recent year takes the one that is written.
        written = re.search(r"\d", period.text) or period in added
        if over and not (written and all(not re.search(r"\d", other.text) for other in over)):
            continue
        if re.search(r"(?:between|zwischen|entre)\s+$", text[: match.start()], re.IGNORECASE):
            continue
        assert period.start is not None
        year = period.start.year
        span = (
            months_span(year, 3 * int(match["q"]) - 2, 3)
            if match["q"]
            else month_span(year, month_number(match["m"]))
        )
        periods = [other for other in periods if other not in over]
        added.append(replace(span, text=match[0], span=match.span()))
        if before := also.search(text, 0, match.start()):
            found.append((before, added[-1]))
    return sorted(periods + added, key=lambda period: period.span)


def _joined(text: str, periods: list[Period]) -> list[Period]:
    """Join "from A to B" and "between A and B" into one period; A may lack the year that B has."""
    joined: list[Period] = []
    for period in periods:
        before = joined[-1] if joined else None
        gap = text[before.span[1] : period.span[0]] if before else ""
        if before and _LINK.fullmatch(gap) and _is_range(text, before, gap) and before.start and period.end:
            start, end = before.start, period.end
            if start <= end:
                joined[-1] = _over(text, before.span[0], period, start)
                continue
        bare = _bare().search(text[: period.span[0]])
        start_day = _bare_start(bare, period) if bare and period.start else None
        if bare and start_day and period.end and start_day <= period.end:
            while joined and joined[-1].span[1] > bare.start():
                joined.pop()
            joined.append(_over(text, bare.start(), period, start_day))
        else:
            joined.append(period)
    return joined


def _over(text: str, begin: int, last: Period, start: date) -> Period:
    lead = re.search(
        r"(?<!\w)(?:between|from|zwischen|vom|von|entre|du|de)\s+(?:the\s+)?$", text[:begin], re.IGNORECASE
    )
    begin = lead.start() if lead else begin
    return replace(
        last, start=start, text=text[begin : last.span[1]], span=(begin, last.span[1]), bounded=True
    )


def _is_range(text: str, before: Period, gap: str) -> bool:
    """Return whether neighbouring periods are one: "2016 and 2017" are two unless "between" leads."""
    if gap.strip().lower() in ("and", "und", "et"):
        lead = text[: before.span[0]].rstrip().lower()
        return lead.endswith(("between", "zwischen", "entre"))
    return True


def _bare_start(found: re.Match[str], period: Period) -> date | None:
    assert period.start is not None
    year = period.start.year
    if found["q"]:
        return months_span(year, 3 * int(found["q"]) - 2, 3).start
    month = month_number(found["m"] or found["m2"])
    day = day_span(year, month, int(found["d"] or 1))
    if day and day.start and day.start > period.start:
        day = day_span(year - 1, month, int(found["d"] or 1))
    return day.start if day else None


def _bounded(text: str, periods: list[Period]) -> list[Period]:
    """Open an end of the periods that follow "before", "after", "since" or "until"."""
    result = []
    for period in periods:
        head = text[: period.span[0]]
        inner = _inner().match(period.text)
        if inner:
            head += inner[0]
        result.append(period if period.bounded else _open(head, text, period))
    return result


@cache
def _inner() -> re.Pattern[str]:
    """Return what may begin a period that a rule read with its bound ("since June"); "from June" bounds nothing."""
    kinds = "|".join(_bounds(kind) for kind in _KINDS)
    return re.compile(rf"(?!from\s)(?:{kinds})\s+", re.IGNORECASE)


def _open(head: str, text: str, period: Period) -> Period:
    one = timedelta(days=1)
    for kind in _KINDS:
        lead = _lead(kind).search(head)
        if not lead:
            continue
        if (
            kind == "since"
            and lead[0].split()[0].lower() == "from"
            and not _ONWARDS.match(text, period.span[1])
        ):
            return period  # "invoices from 2018" are those of 2018
        begin = min(lead.start(), period.span[0])
        opened = replace(
            period, span=(begin, period.span[1]), text=text[begin : period.span[1]], bounded=True
        )
        match kind:
            case "before":
                return replace(opened, start=None, end=period.start - one if period.start else None)
            case "after":
                return replace(opened, start=period.end + one if period.end else None, end=None)
            case "since":
                return replace(opened, end=None)
        return replace(opened, start=None)
    if later := _ONWARDS.match(text, period.span[1]):
        span = (period.span[0], later.end())
        return replace(period, end=None, bounded=True, span=span, text=text[span[0] : span[1]])
    return period


def parse_period(text: str, *, today: date, order: DateOrder = "DMY") -> Period:
    """Return the one period that a text says.

    Raises:
        BadInput: the text says no date or period, or more than one.
    """
    text = text.strip()
    if text.isdigit() and len(text) == 4 and 1000 <= int(text) <= 9999:
        return replace(year_span(int(text)), text=text, span=(0, 4))
    periods = find_periods(text, today=today, order=order) if len(text) <= 200 else []
    if len(periods) == 1 and len(periods[0].text) >= 0.5 * len(text):
        return periods[0]
    if len(periods) > 1:
        raise BadInput(f"{text!r} names more than one date; write a range as 'from A to B'")
    months = re.fullmatch(rf"(?:{month_pattern(False)})\.?", text, re.IGNORECASE)
    if months:
        return replace(recent_month(month_number(text), today), text=text, span=(0, len(text)))
    if day := _by_dateparser(text, today, order):
        return Period(day, day, text, (0, len(text)))
    raise BadInput(
        f"{text[:60]!r} is not a date or period (examples: 2018-03-14, March 2018, Q3 2023, last year)"
    )


def _by_dateparser(text: str, today: date, order: DateOrder) -> date | None:
    """Read what the rules above do not know ("3 days ago", "next Tuesday") with dateparser."""
    if len(text) > 60 or not re.search(r"[a-zà-ÿ]{3}", text, re.IGNORECASE):
        return None
    import warnings
    from datetime import datetime

    import dateparser

    settings = {
        "DATE_ORDER": order,
        "RELATIVE_BASE": datetime.combine(today, datetime.min.time()),
        "PREFER_DAY_OF_MONTH": "first",
        "RETURN_AS_TIMEZONE_AWARE": False,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dateparser.parse(text, languages=["en", "de", "fr"], settings=settings)
    return found.date() if found else None
