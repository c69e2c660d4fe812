"""Dates as questions, documents and answers write them, and what each says: the one grammar of a day."""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import Literal

from citegraph.language.date_order import DateOrder
from citegraph.language.terms import bare
from citegraph.language.word_tables import alternation, any_of, listed, table


@dataclass(frozen=True, slots=True)
class Period:
    """A run of days, both ends included; an end that is None is open.

    Attributes:
        text: the words that it was read from; `span`: their character offsets in the text searched.
        bounded: whether a word such as "before" or "since" gave it an open end.
        note: how an ambiguous date was read, else empty.
    """

    start: date | None
    end: date | None
    text: str = ""
    span: tuple[int, int] = (0, 0)
    bounded: bool = False
    note: str = ""

    @property
    def is_day(self) -> bool:
        """Return whether the period is one day."""
        return self.start is not None and self.start == self.end


def month_span(year: int, month: int) -> Period:
    """Return a month of a year as a period."""
    return Period(date(year, month, 1), date(year, month, monthrange(year, month)[1]))


def months_span(year: int, first: int, count: int) -> Period:
    """Return `count` months from month `first` of a year; months may run past December."""
    start = date(year + (first - 1) // 12, (first - 1) % 12 + 1, 1)
    last = first + count - 1
    end = month_span(year + (last - 1) // 12, (last - 1) % 12 + 1).end
    return Period(start, end)


def year_span(year: int) -> Period:
    """Return a year as a period."""
    return Period(date(year, 1, 1), date(year, 12, 31))


def full_year(year: int, today: date) -> int:
    """Return a year in full; of two digits, the last such year that is at most 30 years ahead of today."""
    if year >= 100:
        return year
    ahead = today.year + 30
    return ahead - (ahead - year) % 100


def day_span(year: int, month: int, day: int) -> Period | None:
    """Return one day as a period, None when the calendar has no such day."""
    try:
        return Period(value := date(year, month, day), value)
    except ValueError:
        return None


def shift(today: date, unit: str, count: int) -> date:
    """Return the first day of the unit that lies `count` units from the one that holds today."""
    if unit == "day":
        return today + timedelta(days=count)
    if unit == "week":
        return today - timedelta(days=today.weekday()) + timedelta(weeks=count)
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    index = (today.year * 12 + today.month - 1) // months * months + count * months
    return date(index // 12, index % 12 + 1, 1)


def whole_unit(today: date, unit: str, count: int) -> Period:
    """Return the whole unit that lies `count` units from the one that holds today."""
    return Period(shift(today, unit, count), shift(today, unit, count + 1) - timedelta(days=1))


def third_of(period: Period, part: int) -> Period:
    """Return the first, middle or last third of a month, or of a year (four months)."""
    assert period.start is not None
    assert period.end is not None
    if (period.end - period.start).days > 40:
        return months_span(period.start.year, 1 + 4 * part, 4)
    first = (1, 11, 21)[part]
    last = (10, 20, period.end.day)[part]
    return Period(period.start.replace(day=first), period.start.replace(day=last))


def recent_month(month: int, today: date) -> Period:
    """Return a month named without its year: the last one that has begun."""
    return month_span(today.year if month <= today.month else today.year - 1, month)


def week_span(year: int, week: int) -> Period | None:
    """Return a week of the ISO calendar, None when the year has no such week."""
    try:
        start = date.fromisocalendar(year, week, 1)
    except ValueError:
        return None
    return Period(start, start + timedelta(days=6))


def years_span(first: int, last: int) -> Period | None:
    """Return the years from one to another, which may be two digits; None when they do not follow each other."""
    last = last if last >= 100 else first // 100 * 100 + last
    return Period(date(first, 1, 1), date(last, 12, 31), bounded=True) if first < last else None


@dataclass(frozen=True, slots=True)
class DateValue:
    """A date or a part of one; an unknown part is None.

    Attributes:
        swapped: (month, day) of the other reading of an ambiguous "03/05/2020".
        quarter: 1-4 for "Q3 2023".
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    swapped: tuple[int, int] | None = None
    quarter: int | None = None

    def readings(self) -> tuple[tuple[int | None, int | None, int | None], ...]:
        """Return (year, month, day) of each possible reading."""
        first = (self.year, self.month, self.day)
        return (first, (self.year, *self.swapped)) if self.swapped else (first,)

    def agrees(self, source: "DateValue") -> bool:
        """Tell whether a source date backs this one: every part that is stated here is the same there.

        Two dates of which each may be read in two ways ("10/04/2024", "04/10/2024") are the same only in the same order.
        """
        if self.swapped and source.swapped:
            return (self.year, self.month, self.day) == (source.year, source.month, source.day)
        return any(
            _backs(mine, self.quarter, theirs, source)
            for mine in self.readings()
            for theirs in source.readings()
        )

    def on(self, order: DateOrder | str) -> date | None:
        """Return the day that is meant where numeric dates are ordered so; None when a part or the day lacks."""
        month, day = self.month, self.day
        if self.swapped and order != "DMY":
            month, day = self.swapped
        if self.year is None or month is None or day is None:
            return None
        try:
            return date(self.year, month, day)
        except ValueError:
            return None


_Parts = tuple[int | None, int | None, int | None]


def _backs(mine: _Parts, quarter: int | None, theirs: _Parts, source: DateValue) -> bool:
    if quarter is not None:
        month = theirs[1]
        same = source.quarter == quarter or (month is not None and (month + 2) // 3 == quarter)
        return same and (mine[0] is None or mine[0] == theirs[0])
    # a year that the source leaves out ("May 1") is looked for elsewhere by the caller
    return all(m is None or m == t for m, t in zip(mine, theirs, strict=True))


# ---------------------------------------------------------------- months


@cache
def month_names(beside_a_day: bool = True) -> dict[str, int]:
    """Return the month names and abbreviations of every language that is read, lower case, to their numbers.

    Each stands with and without its accents. Not `beside_a_day`: without those that are ordinary words elsewhere
    ("set 2024" is no September); "may" is left, because capitals tell.
    """
    entries = [*table("cldr_months").values(), table("dates")["months"]]
    ordinary = set() if beside_a_day else set(listed("dates", "ordinary")) - {"may", "mar"}
    names: dict[str, int] = {}
    for entry in " ".join(entries).split():
        number, _, name = entry.partition(":")
        for form in (name, bare(name)):
            if form not in ordinary:
                names.setdefault(form, int(number))
    return names


def _is_word(written: str) -> bool:
    """Tell whether a month's name without a year is some other word: "5 may", "3 Out", but not "5 May"."""
    return written.lower() in listed("dates", "ordinary") and written not in ("May", "Mar")


def month_number(text: str) -> int:
    """Return the number of the month that a text names.

    Raises:
        KeyError: it names none.
    """
    return month_names()[text.lower().rstrip(".")]


@cache
def month_pattern(beside_a_day: bool = True) -> str:
    """Return the names of `month_names` as a pattern without groups."""
    return any_of(month_names(beside_a_day))


# ---------------------------------------------------------------- the grammar

_YEAR = r"(?:1[5-9]|20|21)\d\d"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_ORDINAL = rf"(?:[°º]|[^\S\n]{{0,3}}(?:{alternation('dates', 'ordinal_ends')}|t\s?h|s\s?t|n\s?d|r\s?d)\b)"
_YEAR_END, _MONTH_END = r"(?:[-/]|\.[ ]?|[ ]?[年년][ ]?)", r"(?:[-/]|\.[ ]?|[ ]?[月월][ ]?)"
_GAP = r"(?:[^\S\n]|[.,/-]|\n(?!\s*\n))*"
"""Between a day and its month: no empty line, for a page's number stands over "May 3, 2016"."""
_TIME = r"(?:\s+\d{1,2}:\d\d(?::\d\d)?)?"

Kind = Literal["day", "month", "quarter", "year"]


@dataclass(frozen=True, slots=True)
class DateFound:
    """A date in a text: its characters from `start` to `end`, what it says, and which parts it names."""

    start: int
    end: int
    text: str
    value: DateValue
    kind: Kind


@cache
def date_pattern() -> re.Pattern[str]:
    """Return the grammar of a day, a month, a quarter and a year; `read_date` reads its matches."""
    beside, alone = month_pattern(), month_pattern(False)
    of = alternation("dates", "before_a_year")
    begins = "".join(sorted({name[0] for name in (*month_names(), *ordinals(), "the", "quarter", "fiscal")}))
    return re.compile(
        rf"""(?<!\w)(?=[\d{begins}])(?:  # most places of a text begin none of these
    (?<![\w./-])(?P<iso>(?P<iy>{_YEAR}){_YEAR_END}(?P<im>0?[1-9]|1[0-2]){_MONTH_END}(?P<id>{_DAY})(?:[ ]?[日일]|(?=T\d|[^\w/-]|$)))
  | (?<![\w/-])(?<!\d\.)(?P<num>(?P<n1>\d{{1,2}})\s?(?P<sep>[./-])\s?(?P<n2>\d{{1,2}})\s?(?P=sep)\s?(?P<ny>{_YEAR}|\d\d))(?![\d/]|-\d|\.\d|[^\W\d_]+\d)
  | (?<![\w./-])(?P<dmy>(?:the\s+)?(?P<d1>{_DAY})(?:{_ORDINAL}|\.)?{_GAP}(?:(?:{alternation("dates", "before_a_month")})\s+)?
       (?P<m1>{beside})\b\.?(?![\s-]*{_DAY}{_ORDINAL}?[\s,.]+{_YEAR}(?!\d))(?:(?:[\s,.'’/-]*|\s*(?:{of})\s+)(?P<y1>{_YEAR})(?!\d)|[-\s'’/]{{1,2}}(?P<y1s>\d\d)(?![\w.,:]\d|\w))?)
  | (?<![\w./])(?P<mdy>(?P<m2>{beside})\b[.,]?[\s-]*(?P<d2>{_DAY}){_ORDINAL}?(?![\w.]\d|\d|\w)
       {_TIME}(?:[\s,.-]+(?P<y2>{_YEAR})(?!\d))?)
  | (?<![\w./-])(?P<ymd>(?P<y5>{_YEAR})[\s,-]+(?P<m5>{beside})\b\.?[\s-]*(?P<d5>{_DAY}){_ORDINAL}?(?![\w.]\d|\d|\w))
  | (?<![\w./])(?<!\d-)(?P<my>(?P<m3>{alone})\b\.?[\s,-]*(?:(?:{of})\s+)?(?P<y3>{_YEAR})(?![\d-]\d|\d))
  | (?<![\w./-])(?P<quarter>(?:Q|T)(?P<q1>[1-4])[\s/-]*(?:FY\s?)?(?P<yq1>{_YEAR}|\d\d(?!\d))
     | (?P<q2>{"|".join(re.escape(word) for word in sorted(ordinals(), key=len, reverse=True) if word != "last")})\s+
       (?:fiscal\s+)?(?:quarter|quartal|trimestre)(?:\s+(?:of\s+)?(?:fiscal\s+)?(?:year\s+)?(?P<yq2>{_YEAR}))?)
  | (?<![\w./-])(?P<year>(?:FY\s?|fiscal\s+(?:year\s+)?)?(?P<y4>(?:1[89]|20)\d\d))(?![\w%€$£-]|[.,]\d)
    )""",
        re.IGNORECASE | re.VERBOSE,
    )


@cache
def ordinals() -> dict[str, int]:
    """Return "first", "2nd", "dritten" ... "fourth" to their numbers."""
    return {
        word: int(number) for number, words in table("dates")["ordinals"].items() for word in words.split()
    }


_SOLID = re.compile(r"(?<![\d:.,])((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)")


def find_dates(text: str) -> Iterator[DateFound]:
    """Yield the dates of a text and parts of dates, in order: "5 March 2024", "May 1", "Q3 2023", "2024"."""
    for match in date_pattern().finditer(text):
        value, kind = read_date(match)
        if value is not None:
            yield DateFound(match.start(), match.end(), match[0], value, kind)


def find_days(text: str, order: DateOrder | str) -> Iterator[tuple[DateFound, date]]:
    """Yield the whole dates of a text with the day each means; "20240305" is one too."""
    for found in find_dates(text):
        if day := found.value.on(order):
            yield found, day
    for match in _SOLID.finditer(text):
        value = DateValue(int(match[1]), int(match[2]), int(match[3]))
        if day := value.on(order):
            yield DateFound(match.start(), match.end(), match[0], value, "day"), day


def shows_day(text: str) -> bool:
    """Tell whether a whole date stands in a text."""
    return any(True for _ in find_days(text, "DMY"))


@lru_cache(maxsize=512)
def _year(text: str) -> int:
    return full_year(int(text), date.today())


def _numeric(match: re.Match[str]) -> DateValue | None:
    first, second, year = int(match["n1"]), int(match["n2"]), _year(match["ny"])
    day_first = 1 <= first <= 31 and 1 <= second <= 12
    month_first = 1 <= first <= 12 and 1 <= second <= 31 and match["sep"] != "."
    if day_first and month_first and first != second:
        return DateValue(year, second, first, swapped=(first, second))
    if day_first:
        return DateValue(year, second, first)
    if month_first:
        return DateValue(year, first, second)
    return None


def read_date(match: re.Match[str]) -> tuple[DateValue | None, Kind]:
    """Return what a match of `date_pattern` says, None when it is no date."""
    if match["iso"]:
        return DateValue(int(match["iy"]), int(match["im"]), int(match["id"])), "day"
    if match["num"]:
        return _numeric(match), "day"
    for name, day, year, short in (("m1", "d1", "y1", "y1s"), ("m2", "d2", "y2", ""), ("m5", "d5", "y5", "")):
        if match[name]:
            written = match[year] or (match[short] if short else None)
            if not written and _is_word(match[name]):
                return None, "day"  # "5 may" is a verb
            return DateValue(
                _year(written) if written else None, month_number(match[name]), int(match[day])
            ), "day"
    if match["my"]:
        return DateValue(int(match["y3"]), month_number(match["m3"])), "month"
    if match["quarter"]:
        quarter = int(match["q1"]) if match["q1"] else ordinals()[match["q2"].lower()]
        year_text = match["yq1"] or match["yq2"]
        return DateValue(_year(year_text) if year_text else None, quarter=quarter), "quarter"
    return DateValue(int(match["y4"])), "year"
