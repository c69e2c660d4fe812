"""Dates of any common format in English, German and French, as comparable values."""

import re
from dataclasses import dataclass

from citegraph.language.claim_tokens import fold

_MONTH_NAMES = """january janvier januar jan janv jaenner janner
february fevrier februar feb fevr fev
march mars marz maerz mar mrz
april avril apr avr
may mai
june juin juni jun
july juillet juli jul juil
august aout aug
september septembre sep sept
october octobre oktober oct okt
november novembre nov
december decembre dezember dec dez"""
MONTHS = {name: n for n, line in enumerate(_MONTH_NAMES.splitlines(), 1) for name in line.split()}


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
        """Tell whether a source date backs this one: every part that is stated here is the same there."""
        return any(
            _backs(mine, self.quarter, theirs, source)
            for mine in self.readings()
            for theirs in source.readings()
        )


_Parts = tuple[int | None, int | None, int | None]


def _backs(mine: _Parts, quarter: int | None, theirs: _Parts, source: DateValue) -> bool:
    if quarter is not None:
        month = theirs[1]
        same = source.quarter == quarter or (month is not None and (month + 2) // 3 == quarter)
        return same and (mine[0] is None or mine[0] == theirs[0])
    # a year that the source leaves out ("May 1") is looked for elsewhere by the caller
    return all(m is None or m == t for m, t in zip(mine, theirs, strict=True))


_MONTH = "|".join(
    sorted(
        {*MONTHS, "février", "fév", "févr", "août", "décembre", "déc", "märz", "jänner"},
        key=len,
        reverse=True,
    )
)
_YEAR = r"(?:1[5-9]|20|21)\d\d"
_TIME = r"(?:\s+\d{1,2}:\d\d(?::\d\d)?)?"
DATE = re.compile(
    rf"""(?<![\w./-])(?:
    (?P<iso>(?P<iy>{_YEAR})[-/.](?P<im>0?[1-9]|1[0-2])[-/.](?P<id>3[01]|[12]\d|0?[1-9]))(?=T\d|[^\w/-]|$)
  | (?P<num>(?P<n1>\d{{1,2}})(?P<sep>[./-])(?P<n2>\d{{1,2}})(?P=sep)(?P<ny>{_YEAR}|\d\d))(?![\w/-]|\.\d)
  | (?P<dmy>(?:the\s+)?(?P<d1>3[01]|[12]\d|0?[1-9])(?:\.|st|nd|rd|th|er|ten)?[\s-]*(?:(?:day\s+)?of\s+)?
       (?P<m1>{_MONTH})\b\.?(?:[\s,-]*(?:of\s+)?(?P<y1>{_YEAR})(?!\d)|[-\s'](?P<y1s>\d\d)(?![\w.,:]\d|\w))?)
  | (?P<mdy>(?P<m2>{_MONTH})\b\.?[\s-]*(?P<d2>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?![\w.]\d|\d|\w)
       {_TIME}(?:[\s,-]+(?P<y2>{_YEAR})(?!\d))?)
  | (?P<my>(?P<m3>{_MONTH})\b\.?[\s,-]*(?:of\s+)?(?P<y3>{_YEAR})(?![\d-]\d|\d))
  | (?P<quarter>(?:Q|T)(?P<q1>[1-4])[\s/-]*(?:FY\s?)?(?P<yq1>{_YEAR}|\d\d(?!\d))
     | (?P<q2>first|second|third|fourth|1st|2nd|3rd|4th|erste[sn]?|zweite[sn]?|dritte[sn]?
       |vierte[sn]?|[1-4]\.)\s+
       (?:fiscal\s+)?(?:quarter|quartal)(?:\s+(?:of\s+)?(?:fiscal\s+)?(?:year\s+)?(?P<yq2>{_YEAR}))?)
  | (?P<year>(?:FY\s?|fiscal\s+(?:year\s+)?)?(?P<y4>(?:1[89]|20)\d\d))(?![\w%€$£-]|[.,]\d)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "erste": 1,
    "zweite": 2,
    "dritte": 3,
    "vierte": 4,
}


def _full_year(text: str) -> int:
    year = int(text)
    if len(text) > 2:
        return year
    return year + (2000 if year < 69 else 1900)


def _numeric(match: re.Match[str]) -> DateValue | None:
    first, second, year = int(match["n1"]), int(match["n2"]), _full_year(match["ny"])
    day_first = 1 <= first <= 31 and 1 <= second <= 12
    month_first = 1 <= first <= 12 and 1 <= second <= 31 and match["sep"] != "."
    if day_first and month_first and first != second:
        return DateValue(year, second, first, swapped=(first, second))
    if day_first:
        return DateValue(year, second, first)
    if month_first:
        return DateValue(year, first, second)
    return None


def read_date(match: re.Match[str]) -> DateValue | None:
    """Return the value of a match of `DATE`, None when the numbers are no date."""
    if match["iso"]:
        return DateValue(int(match["iy"]), int(match["im"]), int(match["id"]))
    if match["num"]:
        return _numeric(match)
    if match["dmy"]:
        year = match["y1"] or match["y1s"]
        if not year and match["m1"] == "may":
            return None
        return DateValue(_full_year(year) if year else None, MONTHS[fold(match["m1"])], int(match["d1"]))
    if match["mdy"]:
        if not match["y2"] and match["m2"] == "may":
            return None
        return DateValue(
            int(match["y2"]) if match["y2"] else None, MONTHS[fold(match["m2"])], int(match["d2"])
        )
    if match["my"]:
        return DateValue(int(match["y3"]), MONTHS[fold(match["m3"])])
    if match["quarter"]:
        word = (match["q1"] or match["q2"]).casefold()
        quarter = int(word[0]) if word[0].isdigit() else _ORDINALS[word.rstrip("sn")]
        year = match["yq1"] or match["yq2"]
        return DateValue(_full_year(year) if year else None, quarter=quarter)
    return DateValue(int(match["y4"]))
