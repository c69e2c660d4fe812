"""Dates and periods as people write them ("Q3 2023", "before June"), as first and last day."""

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache

from citegraph.errors import BadInput
from citegraph.language.date_order import DateOrder
from citegraph.language.dates import (
    Period,
    date_pattern,
    day_span,
    full_year,
    month_number,
    month_pattern,
    month_span,
    months_span,
    ordinals,
    read_date,
    recent_month,
    third_of,
    week_span,
    whole_unit,
    year_span,
    years_span,
)
from citegraph.language.numbers import number_of
from citegraph.language.word_tables import alternation, words_to_keys


@dataclass(frozen=True, slots=True)
class ReadAs:
    """What a rule may look at: the day it is, and how numeric dates are ordered."""

    today: date
    order: DateOrder


@cache
def _words(part: str) -> dict[str, int]:
    return {word: int(number) for word, number in words_to_keys("dates", part).items()}


@cache
def _units() -> dict[str, str]:
    return words_to_keys("dates", "units")


_YEAR = r"(?:19|20|21)\d\d"
_ANY_YEAR = rf"(?:{_YEAR}|['’]\d\d)"
_ORDINAL = alternation("dates", "ordinal_ends")
_COUNT = r"(?P<n>\d{1,4}|[^\W\d_]+(?:[ -][^\W\d_]+)?)"


@cache
def _any(*parts: str) -> str:
    """Return the source of a pattern of the words of some parts of the table."""
    return rf"(?:{'|'.join(alternation('dates', part) for part in parts)})"


@cache
def _amount_lead() -> re.Pattern[str]:
    """Return what before four figures says that they are no year."""
    return re.compile(rf"(?:\b{_any('amount')}\.?[\s-]*|\d[\s,])$", re.IGNORECASE)


def alternatives(mapping: dict[str, int] | dict[str, str]) -> str:
    """Return the keys of a mapping as alternatives of a pattern, the longest first."""
    return "|".join(re.escape(word) for word in sorted(mapping, key=len, reverse=True))


def _year(text: str, today: date) -> int:
    return full_year(int(text.lstrip("'’ ")), today)


def _day(found: re.Match[str], read: ReadAs) -> Period | None:
    """Read one day; of "03/04/2018" note in which order it was read."""
    value, _ = read_date(found)
    day = value.on(read.order) if value else None
    if value is None or day is None:
        return None
    way = "day" if (day.month, day.day) == (value.month, value.day) else "month"
    note = f"{found[0]} read as {day.isoformat()} ({way} first)" if value.swapped else ""
    return Period(day, day, note=note)


def _rolling(found: re.Match[str], read: ReadAs) -> Period | None:
    """Read "the last 3 months": back from today; a plain "last month" is the whole calendar month."""
    raw = found["n"]
    count = int(raw) if raw.isdigit() else number_of(raw) or 0
    unit = _units()[found["unit"].lower()]
    if not 0 < count <= 1200:
        return None
    other = _away(read.today, unit, -count)
    return Period(other, read.today) if other else None


def _rolling_on(found: re.Match[str], read: ReadAs) -> Period | None:
    """Read "the next 3 months": on from today."""
    raw = found["n"]
    count = int(raw) if raw.isdigit() else number_of(raw) or 0
    other = _away(read.today, _units()[found["unit"].lower()], count) if 0 < count <= 1200 else None
    return Period(read.today, other) if other else None


def _away(today: date, unit: str, count: int) -> date | None:
    """Return the day that lies so many units from today, None outside of the calendar."""
    days = {"day": 1, "week": 7}.get(unit)
    if days:
        return today + timedelta(days=days * count)
    index = today.year * 12 + today.month - 1 + {"month": 1, "quarter": 3, "year": 12}[unit] * count
    if not 12 <= index < 120_000:
        return None
    year, month = index // 12, index % 12 + 1
    return date(year, month, min(today.day, monthrange(year, month)[1]))


def _part_of_month(found: re.Match[str], read: ReadAs) -> Period:
    """Read "the first week of May 2018" as its first seven days, the last as its last seven, and say so; halves too."""
    month = month_span(_year(found["y"], read.today), month_number(found["m"]))
    assert month.start is not None
    assert month.end is not None
    ordinal = found["o"].lower()
    last = re.fullmatch(_any("last_of"), ordinal) is not None
    if re.fullmatch(_any("weeks"), found["u"], re.IGNORECASE):
        end = month.end.day if last else 7 * ordinals()[ordinal]
        first = end - 6
    else:
        later = last or ordinals()[ordinal] > 1
        first, end = (16, month.end.day) if later else (1, 15)
    period = Period(month.start.replace(day=first), month.start.replace(day=end))
    return replace(period, note=f"{found[0]} read as days {first} to {end} of the month")


Rule = tuple[re.Pattern[str], Callable[[re.Match[str], ReadAs], Period | None]]


@cache
def period_rules() -> tuple[Rule, ...]:
    """Return the rules, the most specific first: each reads what it matches, or declines with None."""
    months = month_pattern(False)
    month = rf"(?P<m>{months})\.?"
    year = rf"(?P<y>{_ANY_YEAR})"
    of = rf"(?:\s+{_any('of')})?[\s,/-]+"
    units, article = rf"(?P<unit>{alternatives(_units())})", rf"(?:{_any('articles')}\s+|l['’])?"
    ordinal = rf"(?P<o>{alternatives(ordinals())})"

    def rule(pattern: str, reader: Callable[[re.Match[str], ReadAs], Period | None]) -> Rule:
        return re.compile(rf"(?<![\w.])(?:{pattern})(?![\w])", re.IGNORECASE), reader

    def year_of(found: re.Match[str], read: ReadAs) -> int:
        return _year(found["y"], read.today)

    return (
        rule(
            rf"(?P<d>\d{{1,2}})(?:{_ORDINAL}|\.)?\s*(?:-|–|{_any('to', 'and')})\s*(?P<e>\d{{1,2}})(?:{_ORDINAL}|\.)?(?:\s+of)?\s+{month}{of}{year}",
            _days,
        ),
        (date_pattern(), _day),
        rule(
            rf"(?P<p>{alternatives(_words('parts'))})[\s-]+(?:of\s+)?{month}{of}{year}",
            lambda f, r: third_of(
                month_span(year_of(f, r), month_number(f["m"])), _words("parts")[f["p"].lower()]
            ),
        ),
        rule(
            rf"(?P<o>{_any('last_of')}|{alternatives(ordinals())})\s+(?P<u>{_any('weeks', 'halves')})(?:\s+{_any('of')})?\s+{month}{of}{year}",
            _part_of_month,
        ),
        rule(rf"{month}{of}{year}", lambda f, r: month_span(year_of(f, r), month_number(f["m"]))),
        rule(
            rf"(?:q|t)(?P<q>[1-4])(?:{of}|\s*['’]?){year}|(?P<y2>{_YEAR})[\s/-]*(?:q|t)(?P<q2>[1-4])",
            lambda f, r: months_span(_year(f["y"] or f["y2"], r.today), 3 * int(f["q"] or f["q2"]) - 2, 3),
        ),
        rule(
            rf"{ordinal}\s+{_any('quarters')}{of}{year}",
            lambda f, r: months_span(year_of(f, r), 3 * ordinals()[f["o"].lower()] - 2, 3),
        ),
        rule(
            rf"h(?P<h>[12]){of}{year}|(?P<y2>{_YEAR})[\s/-]*h(?P<h2>[12])",
            lambda f, r: months_span(_year(f["y"] or f["y2"], r.today), 6 * int(f["h"] or f["h2"]) - 5, 6),
        ),
        rule(
            rf"{ordinal}\s+{_any('halves')}{of}{year}",
            lambda f, r: months_span(year_of(f, r), 1 if ordinals()[f["o"].lower()] == 1 else 7, 6),
        ),
        rule(rf"(?P<y>{_YEAR})[\s,-]+{month}", lambda f, r: month_span(year_of(f, r), month_number(f["m"]))),
        rule(
            rf"(?P<s>{alternatives(_words('seasons'))})(?!\s+in\s){of}{year}(?:/\d\d)?",  # "that fall in 2024"
            lambda f, r: months_span(year_of(f, r), _words("seasons")[f["s"].lower()], 3),
        ),
        rule(
            rf"{_any('weeks')}\s*(?P<w>\d{{1,2}}){of}{year}",
            lambda f, r: week_span(year_of(f, r), int(f["w"])),
        ),
        rule(
            rf"(?:the\s+)?(?P<p>{alternatives(_words('parts'))})[\s-]+(?:of\s+)?(?:the\s+year\s+)?{year}",
            lambda f, r: third_of(year_span(year_of(f, r)), _words("parts")[f["p"].lower()]),
        ),
        rule(
            r"(?P<m>0?[1-9]|1[0-2])/(?P<y>(?:19|20)\d\d)", lambda f, r: month_span(int(f["y"]), int(f["m"]))
        ),
        rule(r"(?P<y>(?:19|20)\d\d)-(?P<m>0[1-9]|1[0-2])", lambda f, r: month_span(int(f["y"]), int(f["m"]))),
        rule(
            r"(?P<y>(?:19|20)\d)0s",
            lambda f, r: Period(date(int(f["y"]) * 10, 1, 1), date(int(f["y"]) * 10 + 9, 12, 31)),
        ),
        rule(rf"{article}{_any('last')}\s+{_COUNT}\s+{units}", _rolling),
        rule(rf"{_COUNT}\s+{_any('last_behind')}\s+{units}", _rolling),
        rule(rf"{_any('last')}\s+{units}", lambda f, r: whole_unit(r.today, _units()[f["unit"].lower()], -1)),
        rule(
            rf"{article}{units}\s+{_any('last_behind')}",
            lambda f, r: whole_unit(r.today, _units()[f["unit"].lower()], -1),
        ),
        rule(rf"{_any('this')}\s+{units}", lambda f, r: whole_unit(r.today, _units()[f["unit"].lower()], 0)),
        rule(rf"(?:{_any('within')}\s+)?{article}{_any('next')}\s+{_COUNT}\s+{units}", _rolling_on),
        rule(r"(?<=\s)['’](?P<y>\d\d)(?![\w'’])", lambda f, r: year_span(year_of(f, r))),
        rule(rf"{_any('next')}\s+{units}", lambda f, r: whole_unit(r.today, _units()[f["unit"].lower()], 1)),
        rule(_any("today"), lambda f, r: Period(r.today, r.today)),
        rule(_any("yesterday"), lambda f, r: whole_unit(r.today, "day", -1)),
        rule(
            rf"(?:the\s+)?{_any('years')}\s?(?P<y>{_YEAR})",
            lambda f, r: year_span(year_of(f, r)),
        ),
        rule(
            rf"(?<![$€£#:/-])(?P<y>{_YEAR})\s?[-–/]\s?(?P<z>{_YEAR}|\d\d)(?![-–/.:]?\d)",
            lambda f, r: years_span(int(f["y"]), int(f["z"])),
        ),
        rule(
            rf"(?<![$€£#:/-])(?<!\d,)(?P<y>{_YEAR})(?![\d/%]|:\d|[.,]\d|-\d|\s?(?:{_any('no_year')}\b|[€$£]))",
            lambda f, r: None if _amount_lead().search(f.string, 0, f.start()) else year_span(year_of(f, r)),
        ),
        rule(
            rf"(?:{'|'.join(map(_bounds, _KINDS))}|{_any('of', 'last', 'this')}|for|during)\s+(?:{months})\b(?!\.?\s+\d)",
            _named_month,
        ),
    )


def _named_month(found: re.Match[str], read: ReadAs) -> Period | None:
    name = found[0].lower().split()[-1].rstrip(".")
    return recent_month(month_number(name), read.today)


def _days(found: re.Match[str], read: ReadAs) -> Period | None:
    year, month = _year(found["y"], read.today), month_number(found["m"])
    first, last = day_span(year, month, int(found["d"])), day_span(year, month, int(found["e"]))
    return Period(first.start, last.end) if first and last else None


@cache
def _link() -> re.Pattern[str]:
    """Return what stands between the ends of a range."""
    return re.compile(rf"\s*(?:{_any('and', 'to')}|-|–|—)\s*(?:the\s+)?", re.IGNORECASE)


@cache
def _onwards() -> re.Pattern[str]:
    return re.compile(rf"\s*{_any('onwards')}(?!\w)", re.IGNORECASE)


@cache
def _from_on() -> re.Pattern[str]:
    """Return what behind "from 2020" says that it has no end: "on", not "on the supply of"."""
    return re.compile(rf"\s*{_any('from_on')}(?!\w)", re.IGNORECASE)


_KINDS = ("until", "since", "before", "after")


@cache
def _bounds(kind: str) -> str:
    """Return the source of a pattern of the words that bound a period in one way, the longest first."""
    words = [word for word, key in words_to_keys("dates", "bounds").items() if key == kind]
    forms = [re.escape(word).replace(r"\ ", r"\s+").replace("'", "['’]") for word in words]
    return "|".join(sorted(forms, key=len, reverse=True))


@cache
def _lead(kind: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{_bounds(kind)})\s+(?:{_any('small')}\s+)*$", re.IGNORECASE)


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
        rf"(?<!\w){_any('leads')}\s+(?:the\s+)?(?P<x>(?:(?P<d>\d{{1,2}})(?:{_ORDINAL}|\.)?\s+(?:of\s+)?)?(?P<m>{months})\.?|q(?P<q>[1-4]))"
        rf"\s*(?:{_any('and', 'to')}|-|–)\s*(?:the\s+)?$|(?<!\w)(?P<x2>(?P<m2>{months}))\.?\s*(?:{_any('to')}|-|–)\s*$",
        re.IGNORECASE,
    )  # fmt: skip


@cache
def _yearless() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return "August that year", and "March and" as it stands before "April 2018"."""
    names = rf"(?<!\w)(?:(?P<m>{month_pattern(False)})\.?|q(?P<q>[1-4]))"
    years = alternatives({word: unit for word, unit in _units().items() if unit == "year"})
    that = rf"\s+(?:of\s+|in\s+)?{_any('same')}\s+(?:{years}|jahres)\b"
    also = rf"\s*(?:{_any('and', 'or', 'against')}|&|,|/)\s*$"
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
        if re.search(rf"{_any('both')}\s+$", text[: match.start()], re.IGNORECASE):
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
        if before and _link().fullmatch(gap) and _is_range(text, before, gap) and before.start and period.end:
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
    lead = re.search(rf"(?<!\w){_any('leads')}\s+(?:the\s+)?$", text[:begin], re.IGNORECASE)
    begin = lead.start() if lead else begin
    return replace(
        last, start=start, text=text[begin : last.span[1]], span=(begin, last.span[1]), bounded=True
    )


def _is_range(text: str, before: Period, gap: str) -> bool:
    """Return whether neighbouring periods are one: "2016 and 2017" are two unless "between" leads."""
    if re.fullmatch(_any("and"), gap.strip(), re.IGNORECASE):
        return re.search(rf"{_any('both')}\s*$", text[: before.span[0]], re.IGNORECASE) is not None
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
            and not _onwards().match(text, period.span[1])
            and not _from_on().match(text, period.span[1])
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
    if later := _onwards().match(text, period.span[1]):
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
        found = dateparser.parse(text, languages=["en", "de", "fr", "es", "it", "nl"], settings=settings)
    return found.date() if found else None
