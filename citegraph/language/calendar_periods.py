"""Runs of days of the calendar: days, weeks, months, quarters, years, and their parts."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta


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
