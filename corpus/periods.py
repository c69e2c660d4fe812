"""Dates and periods as people write them ("Q3 2023", "before June"), as first and last day."""

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache

from corpus.fields import DateOrder
from llm.errors import BadInput

LANGUAGES = ("en", "de", "fr")


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


@dataclass(frozen=True, slots=True)
class _Read:
    """What a rule may look at: the day it is, and how numeric dates are ordered."""

    today: date
    order: DateOrder


def _month_span(year: int, month: int) -> Period:
    return Period(date(year, month, 1), date(year, month, monthrange(year, month)[1]))


def _months_span(year: int, first: int, count: int) -> Period:
    """Return `count` months from month `first` of a year; months may run past December."""
    start = date(year + (first - 1) // 12, (first - 1) % 12 + 1, 1)
    last = first + count - 1
    end = _month_span(year + (last - 1) // 12, (last - 1) % 12 + 1).end
    return Period(start, end)


def _year_span(year: int) -> Period:
    return Period(date(year, 1, 1), date(year, 12, 31))


def full_year(year: int, today: date) -> int:
    """Return a year in full; of two digits, the last such year that is at most 30 years ahead of today."""
    if year >= 100:
        return year
    ahead = today.year + 30
    return ahead - (ahead - year) % 100


@cache
def month_names() -> dict[str, int]:
    """Return month names and abbreviations (English, German, French), lower case, to their numbers."""
    from babel import Locale

    names: dict[str, int] = {}
    for language in LANGUAGES:
        locale = Locale(language)
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in locale.months[context][width].items():
                    names[name.lower().rstrip(".")] = number
    return {**names, "sept": 9, "maerz": 3, "mrz": 3, "fevrier": 2, "aout": 8, "decembre": 12}


_ORDINALS = {
    **dict.fromkeys(
        ("first", "1st", "erstes", "ersten", "erste", "1.", "premier", "première", "1er", "1ère"), 1
    ),
    **dict.fromkeys(("second", "2nd", "zweites", "zweiten", "zweite", "2.", "deuxième", "2e", "2ème"), 2),
    **dict.fromkeys(("third", "3rd", "drittes", "dritten", "dritte", "3.", "troisième", "3e", "3ème"), 3),
    **dict.fromkeys(("fourth", "4th", "last", "viertes", "vierten", "4.", "quatrième", "4e", "4ème"), 4),
}
_SEASONS = {
    **dict.fromkeys(("spring", "frühjahr", "frühling", "printemps"), 3),
    **dict.fromkeys(("summer", "sommer", "été"), 6),
    **dict.fromkeys(("autumn", "fall", "herbst", "automne"), 9),
    **dict.fromkeys(("winter", "hiver"), 12),
}
_PARTS = {
    **dict.fromkeys(("early", "beginning of", "start of", "anfang", "début"), 0),
    **dict.fromkeys(("mid", "middle of", "mitte", "mi"), 1),
    **dict.fromkeys(("late", "end of", "the end of", "ende", "fin"), 2),
}
_NUMBERS = {
    word: number
    for number, words in enumerate(
        ("", "one a eins ein einem un une", "two zwei deux", "three drei trois", "four vier quatre",
         "five fünf cinq", "six sechs", "seven sieben sept", "eight acht huit", "nine neun neuf",
         "ten zehn dix", "eleven elf onze", "twelve zwölf douze")
    )
    for word in words.split()
}  # fmt: skip
_UNITS = {
    **dict.fromkeys(("day", "days", "tag", "tage", "tagen", "jour", "jours"), "day"),
    **dict.fromkeys(("week", "weeks", "woche", "wochen", "semaine", "semaines"), "week"),
    **dict.fromkeys(("month", "months", "monat", "monate", "monaten", "mois"), "month"),
    **dict.fromkeys(
        ("quarter", "quarters", "quartal", "quartale", "quartalen", "trimestre", "trimestres"), "quarter"
    ),
    **dict.fromkeys(("year", "years", "jahr", "jahre", "jahren", "année", "an", "ans", "années"), "year"),
}
_LAST = "last|past|previous|letzte[nsrm]?|vergangene[nsrm]?|vorige[nsrm]?"
_THIS = "this|current|diesen|dieses|diese|diesem|dieser|aktuellen|laufenden|ce|cette|cet"
_NEXT = "next|coming|following|nächsten|nächstes|nächste|nächster|kommenden|kommendes|kommende"
_YEAR = r"(?:19|20|21)\d\d"
_ANY_YEAR = rf"(?:{_YEAR}|['’]\d\d)"


_NOT_A_YEAR = (
    r"(?:(?:eur|usd|gbp|chf|myr|rm|euros?|dollars?|ringgit|pounds?|[mk]?[vawg]|[kmg]?hz|bits?|ppm|[nmc]?m"
    r"|pcs|pages)\b|[€$£])"
)
_AMOUNT_LEAD = re.compile(
    r"(?:\b(?:rm|usd|eur|gbp|chf|myr|over|above|more than|less than|under|below|exceeding|at least|at most"
    r"|up to|über|mehr als|weniger als|unter|mindestens|höchstens|plus de|moins de|no|nr|number|nummer|part"
    r"|model|type|un|cve|iso|(?-i:EN)|iec)\.?[\s-]*|\d[\s,])$",
    re.IGNORECASE,
)


def _words(mapping: dict[str, int] | dict[str, str]) -> str:
    return "|".join(re.escape(word) for word in sorted(mapping, key=len, reverse=True))


def _year(text: str, today: date) -> int:
    return full_year(int(text.lstrip("'’ ")), today)


def _month(text: str) -> int:
    return month_names()[text.lower().rstrip(".")]


def _day(year: int, month: int, day: int) -> Period | None:
    try:
        return Period(value := date(year, month, day), value)
    except ValueError:
        return None


def _numeric(found: re.Match[str], read: _Read) -> Period | None:
    """Read "03/04/2018" by the declared order, or by the only order that makes a date."""
    first, second = int(found["a"]), int(found["b"])
    year = _year(found["y"], read.today)
    month_first = read.order == "MDY" or (read.order == "YMD" and first <= 12 and "/" in found[0])
    if "." in found[0]:
        month_first = False
    month, day = (first, second) if month_first else (second, first)
    if month > 12:
        month, day = day, month
    period = _day(year, month, day)
    if period and period.start and first <= 12 and second <= 12 and first != second and "." not in found[0]:
        way = "month" if month == first else "day"
        note = f"{found[0]} read as {period.start.isoformat()} ({way} first)"
        return replace(period, note=note)
    return period


def _shift(today: date, unit: str, count: int) -> date:
    """Return the first day of the unit that lies `count` units from the one that holds today."""
    if unit == "day":
        return today + timedelta(days=count)
    if unit == "week":
        return today - timedelta(days=today.weekday()) + timedelta(weeks=count)
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    index = (today.year * 12 + today.month - 1) // months * months + count * months
    return date(index // 12, index % 12 + 1, 1)


def _whole(today: date, unit: str, count: int) -> Period:
    return Period(_shift(today, unit, count), _shift(today, unit, count + 1) - timedelta(days=1))


def _rolling(found: re.Match[str], read: _Read) -> Period | None:
    """Read "the last 3 months": back from today; a plain "last month" is the whole calendar month."""
    raw = found["n"].lower()
    count = int(raw) if raw.isdigit() else _NUMBERS[raw]
    unit = _UNITS[found["unit"].lower()]
    if not 0 < count <= 1200:
        return None
    days = {"day": 1, "week": 7}.get(unit)
    if days:
        return Period(read.today - timedelta(days=days * count), read.today)
    months = {"month": 1, "quarter": 3, "year": 12}[unit] * count
    index = read.today.year * 12 + read.today.month - 1 - months
    if index < 12:
        return None
    year, month = index // 12, index % 12 + 1
    day = min(read.today.day, monthrange(year, month)[1])
    return Period(date(year, month, day), read.today)


def _part(period: Period, part: int) -> Period:
    """Return the first, middle or last third of a month, or of a year (four months)."""
    assert period.start is not None
    assert period.end is not None
    if (period.end - period.start).days > 40:
        return _months_span(period.start.year, 1 + 4 * part, 4)
    first = (1, 11, 21)[part]
    last = (10, 20, period.end.day)[part]
    return Period(period.start.replace(day=first), period.start.replace(day=last))


def _recent_month(month: int, today: date) -> Period:
    """Return a month named without its year: the last one that has begun."""
    return _month_span(today.year if month <= today.month else today.year - 1, month)


def _week(year: int, week: int) -> Period | None:
    try:
        start = date.fromisocalendar(year, week, 1)
    except ValueError:
        return None
    return Period(start, start + timedelta(days=6))


Rule = tuple[re.Pattern[str], Callable[[re.Match[str], _Read], Period | None]]


@cache
def _rules() -> tuple[Rule, ...]:
    """Return the rules, the most specific first: each reads what it matches, or declines with None."""
    months = _words(month_names())
    day = r"(?P<d>\d{1,2})(?:st|nd|rd|th|\.|er)?(?:\s+of)?"
    month = rf"(?P<m>{months})\.?"
    year = rf"(?P<y>{_ANY_YEAR})"
    of = r"(?:\s+(?:of|in|des\s+jahres|de\s+l['’]année|de))?[\s,/-]+"
    ordinal = rf"(?P<o>{_words(_ORDINALS)})"

    def rule(pattern: str, reader: Callable[[re.Match[str], _Read], Period | None]) -> Rule:
        return re.compile(rf"(?<![\w.])(?:{pattern})(?![\w])", re.IGNORECASE), reader

    def year_of(found: re.Match[str], read: _Read) -> int:
        return _year(found["y"], read.today)

    return (
        rule(
            r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?:T\d{2}:\d{2}(?::\d{2})?[\d.]*(?:Z|[+-]\d{2}:?\d{2})?)?",
            lambda f, r: _day(int(f["y"]), int(f["m"]), int(f["d"])),
        ),
        rule(r"(?P<a>\d{1,2})\s?[-/.]\s?(?P<b>\d{1,2})\s?[-/.]\s?(?P<y>\d{4}|\d{2})", _numeric),
        rule(
            rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s*(?:-|–|to|bis|and|und|et|au)\s*(?P<e>\d{{1,2}})(?:st|nd|rd|th|\.)?(?:\s+of)?\s+{month}{of}{year}",
            _days,
        ),
        rule(
            rf"{day}[\s-]*{month}[\s,-]*{year}", lambda f, r: _day(year_of(f, r), _month(f["m"]), int(f["d"]))
        ),
        rule(
            rf"{month}[\s-]*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:,\s*|\s+){year}",
            lambda f, r: _day(year_of(f, r), _month(f["m"]), int(f["d"])),
        ),
        rule(
            rf"(?P<y>{_YEAR})[\s,-]+{month}[\s-]*(?P<d>\d{{1,2}})(?!\d)",
            lambda f, r: _day(year_of(f, r), _month(f["m"]), int(f["d"])),
        ),
        rule(
            rf"(?:between|zwischen|entre|from|von)\s+(?:christmas|xmas|weihnachten|no[ëe]l)\s+(?:and|und|et|to|bis)\s+(?:the\s+|le\s+)?(?:new\s+year(?:['’]?s(?:\s+(?:eve|day))?)?|neujahr|silvester|nouvel\s+an)(?:\s+(?:of|in))?[\s,]*(?P<y>{_YEAR})?",
            _christmas_to_new_year,
        ),
        rule(
            rf"(?:christmas|xmas|weihnachten|no[ëe]l){of}{year}",
            lambda f, r: Period(date(year_of(f, r), 12, 24), date(year_of(f, r), 12, 26)),
        ),
        rule(
            rf"(?P<p>{_words(_PARTS)})[\s-]+(?:of\s+)?{month}{of}{year}",
            lambda f, r: _part(_month_span(year_of(f, r), _month(f["m"])), _PARTS[f["p"].lower()]),
        ),
        rule(rf"{month}{of}{year}", lambda f, r: _month_span(year_of(f, r), _month(f["m"]))),
        rule(rf"(?P<y>{_YEAR})[\s,-]+{month}", lambda f, r: _month_span(year_of(f, r), _month(f["m"]))),
        rule(
            rf"(?:q|t)(?P<q>[1-4])(?:{of}|\s*['’]?){year}|(?P<y2>{_YEAR})[\s/-]*(?:q|t)(?P<q2>[1-4])",
            lambda f, r: _months_span(_year(f["y"] or f["y2"], r.today), 3 * int(f["q"] or f["q2"]) - 2, 3),
        ),
        rule(
            rf"{ordinal}\s+(?:quarter|quartal|trimestre){of}{year}",
            lambda f, r: _months_span(year_of(f, r), 3 * _ORDINALS[f["o"].lower()] - 2, 3),
        ),
        rule(
            rf"h(?P<h>[12]){of}{year}|(?P<y2>{_YEAR})[\s/-]*h(?P<h2>[12])",
            lambda f, r: _months_span(_year(f["y"] or f["y2"], r.today), 6 * int(f["h"] or f["h2"]) - 5, 6),
        ),
        rule(
            rf"{ordinal}\s+(?:half|halbjahr|hälfte|semestre|moitié){of}{year}",
            lambda f, r: _months_span(year_of(f, r), 1 if _ORDINALS[f["o"].lower()] == 1 else 7, 6),
        ),
        rule(
            rf"(?P<s>{_words(_SEASONS)}){of}{year}(?:/\d\d)?",
            lambda f, r: _months_span(year_of(f, r), _SEASONS[f["s"].lower()], 3),
        ),
        rule(
            rf"(?:calendar\s+week|week|kw|kalenderwoche|semaine)\s*(?P<w>\d{{1,2}}){of}{year}",
            lambda f, r: _week(year_of(f, r), int(f["w"])),
        ),
        rule(
            rf"(?:the\s+)?(?P<p>{_words(_PARTS)})[\s-]+(?:of\s+)?(?:the\s+year\s+)?{year}",
            lambda f, r: _part(_year_span(year_of(f, r)), _PARTS[f["p"].lower()]),
        ),
        rule(
            r"(?P<m>0?[1-9]|1[0-2])/(?P<y>(?:19|20)\d\d)", lambda f, r: _month_span(int(f["y"]), int(f["m"]))
        ),
        rule(
            r"(?P<y>(?:19|20)\d\d)-(?P<m>0[1-9]|1[0-2])", lambda f, r: _month_span(int(f["y"]), int(f["m"]))
        ),
        rule(
            r"(?P<y>(?:19|20)\d)0s",
            lambda f, r: Period(date(int(f["y"]) * 10, 1, 1), date(int(f["y"]) * 10 + 9, 12, 31)),
        ),
        rule(
            rf"(?:the\s+|den\s+|les\s+)?(?:{_LAST})\s+(?P<n>\d{{1,4}}|{'|'.join(_NUMBERS)})\s+(?P<unit>{_words(_UNITS)})",
            _rolling,
        ),
        rule(
            rf"(?P<n>\d{{1,4}}|{'|'.join(_NUMBERS)})\s+derni(?:er|ère)s?\s+(?P<unit>{_words(_UNITS)})",
            _rolling,
        ),
        rule(
            rf"(?:{_LAST})\s+(?P<unit>{_words(_UNITS)})",
            lambda f, r: _whole(r.today, _UNITS[f["unit"].lower()], -1),
        ),
        rule(
            rf"(?:l['’]|la\s+|le\s+)(?P<unit>{_words(_UNITS)})\s+(?:derni(?:er|ère)|passée?)",
            lambda f, r: _whole(r.today, _UNITS[f["unit"].lower()], -1),
        ),
        rule(
            rf"(?:{_THIS})\s+(?P<unit>{_words(_UNITS)})",
            lambda f, r: _whole(r.today, _UNITS[f["unit"].lower()], 0),
        ),
        rule(
            rf"(?:{_NEXT})\s+(?P<unit>{_words(_UNITS)})",
            lambda f, r: _whole(r.today, _UNITS[f["unit"].lower()], 1),
        ),
        rule(r"today|heute|aujourd['’]hui", lambda f, r: Period(r.today, r.today)),
        rule(
            r"yesterday|gestern|hier",
            lambda f, r: (
                Period(r.today - timedelta(days=1), r.today - timedelta(days=1)) if f[0] != "hier" else None
            ),
        ),
        rule(
            rf"(?:the\s+)?(?:year|calendar\s+year|fiscal\s+year|fy|jahr|l['’]année)\s?(?P<y>{_YEAR})",
            lambda f, r: _year_span(year_of(f, r)),
        ),
        rule(
            rf"(?<![$€£#:/-])(?P<y>{_YEAR})\s?[-–/]\s?(?P<z>{_YEAR}|\d\d)(?![-–/.:]?\d)",
            lambda f, r: _years(int(f["y"]), int(f["z"])),
        ),
        rule(
            rf"(?<![$€£#:/-])(?<!\d,)(?P<y>{_YEAR})(?![\d/:%]|[.,]\d|-\d|\s?{_NOT_A_YEAR})",
            lambda f, r: None if _AMOUNT_LEAD.search(f.string, 0, f.start()) else _year_span(year_of(f, r)),
        ),
        rule(
            rf"(?<=in )(?:the\s+)?{month}|(?<=before ){month}|(?<=after ){month}".replace("(?P<m>", "(?:")
            + rf"|(?:since|until|till|by|during|for|last|this|of|from|im|seit|bis|vor|nach)\s+(?:{months})\b"
            + rf"|(?:en|depuis|avant|après)\s+(?:{months})\b",
            _named_month,
        ),
    )


def _years(first: int, last: int) -> Period | None:
    last = last if last >= 100 else first // 100 * 100 + last
    return Period(date(first, 1, 1), date(last, 12, 31), bounded=True) if first < last else None


def _named_month(found: re.Match[str], read: _Read) -> Period | None:
    name = found[0].lower().split()[-1].rstrip(".")
    return _recent_month(month_names()[name], read.today)


def _days(found: re.Match[str], read: _Read) -> Period | None:
    year, month = _year(found["y"], read.today), _month(found["m"])
    first, last = _day(year, month, int(found["d"])), _day(year, month, int(found["e"]))
    return Period(first.start, last.end) if first and last else None


def _christmas_to_new_year(found: re.Match[str], read: _Read) -> Period:
    year = int(found["y"]) if found["y"] else read.today.year - (read.today.month < 12)
    return Period(date(year, 12, 25), date(year, 12, 31))


_BEFORE = r"before|earlier than|prior to|older than|vor(?: dem)?|avant(?: le)?"
_AFTER = r"after|later than|newer than|beyond|nach(?: dem)?|après(?: le)?"
_SINCE = (
    r"since|from|as of|starting(?: in| from)?|on or after|not before|ab(?: dem)?|seit(?: dem)?"
    r"|depuis(?: le)?|à partir (?:de|du)"
)
_UNTIL = (
    r"until|till|up to|through|by(?: the end of)?|no later than|not later than|not after|on or before"
    r"|bis(?: zum| ende)?|spätestens|jusqu['’](?:à|au|en)|au plus tard"
)
_LINK = re.compile(r"\s*(?:and|to|until|till|through|und|bis|et|à|au|-|–|—)\s*(?:the\s+)?", re.IGNORECASE)
_ONWARDS = re.compile(
    r"\s*(?:or later|onwards?|on(?=\W*$|\s*[,.;?!])|and later|and after|or newer|oder später|et après)\b",
    re.IGNORECASE,
)


@cache
def _lead(pattern: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<!\w)(?:{pattern})\s+(?:the\s+|end\s+of\s+|am\s+|im\s+|en\s+|le\s+)*$", re.IGNORECASE
    )


def find_periods(text: str, *, today: date, order: DateOrder = "DMY") -> list[Period]:
    """Return the dates and periods in a text, in order, with "before", "since", "between" ... applied.

    Args:
        today: what "last year" and "June" are relative to.
        order: how "03/04/2018" is read.
    """
    text = text[:20_000]
    plain = _scan(text, _Read(today, order))
    return _bounded(text, _joined(text, _with_their_year(text, plain)))


def _scan(text: str, read: _Read) -> list[Period]:
    found: list[Period] = []
    taken = bytearray(len(text))
    for pattern, reader in _rules():
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
    months = _words(month_names())
    return re.compile(
        rf"(?<!\w)(?:between|from|zwischen|von|vom|entre|du|de)\s+(?:the\s+)?(?P<x>(?:(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?)?(?P<m>{months})\.?|q(?P<q>[1-4]))"
        rf"\s*(?:and|to|until|till|through|und|bis(?:\s+zum)?|et|à|au|-|–)\s*(?:the\s+)?$|(?<!\w)(?P<x2>(?P<m2>{months}))\.?\s*(?:to|until|through|bis|à|-|–)\s*$",
        re.IGNORECASE,
    )  # fmt: skip


@cache
def _yearless() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return "August that year", and "March and" as it stands before "April 2018"."""
    names = rf"(?<!\w)(?:(?P<m>{_words(month_names())})\.?|q(?P<q>[1-4]))"
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
            _months_span(year, 3 * int(match["q"]) - 2, 3)
            if match["q"]
            else _month_span(year, _month(match["m"]))
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
        return _months_span(year, 3 * int(found["q"]) - 2, 3).start
    month = _month(found["m"] or found["m2"])
    day = _day(year, month, int(found["d"] or 1))
    if day and day.start and day.start > period.start:
        day = _day(year - 1, month, int(found["d"] or 1))
    return day.start if day else None


def _bounded(text: str, periods: list[Period]) -> list[Period]:
    """Open an end of the periods that follow "before", "after", "since" or "until"."""
    result = []
    for period in periods:
        head = text[: period.span[0]]
        inner = re.match(
            rf"(?:{_BEFORE}|{_AFTER}|since|until|till|by|seit|bis|depuis)\s+", period.text, re.IGNORECASE
        )
        if inner:
            head += inner[0]
        result.append(period if period.bounded else _open(head, text, period))
    return result


def _open(head: str, text: str, period: Period) -> Period:
    one = timedelta(days=1)
    kinds = ((_UNTIL, "until"), (_SINCE, "since"), (_BEFORE, "before"), (_AFTER, "after"))
    for pattern, kind in kinds:
        lead = _lead(pattern).search(head)
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
        return replace(_year_span(int(text)), text=text, span=(0, 4))
    periods = find_periods(text, today=today, order=order) if len(text) <= 200 else []
    if len(periods) == 1 and len(periods[0].text) >= 0.5 * len(text):
        return periods[0]
    if len(periods) > 1:
        raise BadInput(f"{text!r} names more than one date; write a range as 'from A to B'")
    months = re.fullmatch(rf"(?:{_words(month_names())})\.?", text, re.IGNORECASE)
    if months:
        return replace(_recent_month(_month(text), today), text=text, span=(0, len(text)))
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
        found = dateparser.parse(text, languages=list(LANGUAGES), settings=settings)
    return found.date() if found else None
