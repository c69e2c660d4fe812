"""What stands in the columns of a table file: numbers of one scale, days, or words; told from all of its cells."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, lru_cache
from typing import Literal

from citegraph.language.amounts import currency_code
from citegraph.language.date_order import written_order
from citegraph.language.dates import find_days
from citegraph.language.units import unit
from citegraph.language.word_tables import table

Kind = Literal["number", "date", "text"]
Mark = Literal[".", ","]

MOSTLY = 0.8
"""Share of the filled cells of a column that must be numbers, or days, to make it one of numbers, or days."""
MOST_UNITS = 12
"""Different currencies or units that a column of numbers may have."""
SAMPLED = 2_000
"""Filled cells after which a column that holds mostly words is one of words."""
PLACES = 12
"""Decimal places that are kept of a number at most."""
LARGEST = 2**62
"""What the sum of a column stays below in units of its last place: both databases add such numbers exactly."""

_NUMBER = re.compile(
    r"(?P<open>\()?(?P<sign>[-+−])?\s?(?P<before>[^\W\d_]{1,4}\$?|[€$£¥₹])?\.?\s?(?P<inner>[-−])?"
    r"(?P<digits>\d[\d.,'’\u00a0\u202f ]*|\.\d+)\s?(?P<behind>%|[€$£¥₹]|[^\W\d_][\w/²³°]{0,11}|°C)?\)?(?P<after>-)?"
)
_POINT = re.compile(
    r"\d{1,3}(?:,\d{2,3})*,\d{3}\.\d+|\d+\.(?:\d{1,2}|\d{4,})|\d{4,}\.\d+|0\.\d+|\.\d+|\d{1,3}(?:,\d{2,3})+,\d{3}"
)
_COMMA = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d+,(?:\d{1,2}|\d{4,})|\d{4,},\d+|0,\d+|\d{1,3}(?:\.\d{3}){2,}")
_OPEN = re.compile(r"\d{1,3}[.,]\d{3}")
_GAPS = re.compile(r"(?<=\d)['’\u00a0\u202f ](?=\d{3}(?!\d))")
_WHOLE = re.compile(r"\d+")
_CODE = re.compile(r"0\d+")
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.(?P<places>\d{1,2}|\d{4,}))?")
"""A number as programs write it, which needs no other look: all but "1.234", which may be a thousand."""
_ISO = re.compile(r"((?:1|2)\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:[T ]\d\d:\d\d.*)?")


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table file.

    Attributes:
        head: as the file names it.
        kind: what its cells are.
        places: decimal places of its numbers; a stored number is the value times 10 to this power.
        unit: currency, "%" or unit of all its numbers; "" for none.
        units: whether its numbers have different units, which each row then tells.
        mark: the decimal mark of its numbers, None where both are used.
        filled: cells that hold something.
        unread: filled cells that are no number, or no day, though the column is one of such.
        rounded: whether numbers were cut to `places`.
        order: whether the day or the month comes first in its dates.
        currencies: whether each of its cells is the code of a currency: that of its row.
    """

    head: str
    kind: Kind
    places: int = 0
    unit: str = ""
    units: bool = False
    mark: Mark | None = "."
    filled: int = 0
    unread: int = 0
    rounded: bool = False
    order: str = "DMY"
    currencies: bool = False


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed number: its sign and digits, and the unit beside them."""

    negative: bool
    digits: str
    unit: str


@lru_cache(maxsize=8192)
def printed_number(cell: str) -> Printed | None:
    """Return a cell as a number with the unit beside it, None when it is none or a code ("007")."""
    found = _NUMBER.fullmatch(cell)
    if found is None:
        return None
    digits = _GAPS.sub("", found["digits"].strip())
    if _CODE.fullmatch(digits) or " " in digits:
        return None
    marks = [mark for mark in (found["before"], found["behind"]) if mark]
    if len(marks) > 1 or (found["open"] is not None) != cell.rstrip("-").endswith(")"):
        return None
    said = _unit(marks[0], cell, behind=found["behind"] is not None) if marks else ""
    if said is None:
        return None
    signs = [found["sign"], found["inner"], found["after"]]
    negative = found["open"] is not None or any(sign in {"-", "−"} for sign in signs if sign)
    return Printed(negative, digits, said)


@lru_cache(maxsize=4096)
def _unit(mark: str, cell: str, *, behind: bool) -> str | None:
    """Return a currency's code, a unit as it is printed behind a number, None for any other word."""
    if mark == "%":
        return mark
    code = currency_code(mark)
    if code is not None and (not mark.isalpha() or mark.isupper() or len(mark) > 3):
        return code
    return mark if behind and unit(mark, glued=" " not in cell) is not None else None


def own_mark(digits: str) -> Mark | None:
    """Return the decimal mark that digits are surely printed with, None where they do not tell."""
    return "." if _POINT.fullmatch(digits) else "," if _COMMA.fullmatch(digits) else None


def number_in(cell: str, mark: Mark | None) -> Decimal | None:
    """Return the number of a cell of a column with a decimal mark, None when it is none."""
    plain = _PLAIN.fullmatch(cell)
    if plain and (mark == "." or not plain["places"]):
        return Decimal(cell)
    printed = printed_number(cell)
    return value_of(printed, mark) if printed else None


def value_of(printed: Printed, mark: Mark | None) -> Decimal | None:
    """Return the value of a printed number.

    Args:
        mark: the decimal mark of its column; None when cells of both kinds stand there: then "1.234" is no number.
    """
    digits = printed.digits
    if not _WHOLE.fullmatch(digits):
        own = own_mark(digits)
        if own is None and not _OPEN.fullmatch(digits):
            return None
        own = own or mark
        if own is None:
            return None
        digits = digits.replace("," if own == "." else ".", "").replace(own, ".")
    value = Decimal(digits)
    return -value if printed.negative else value


def day_of(cell: str, order: str) -> str | None:
    """Return the ISO day of a cell that is a date, with or without a time of day; None when it is none."""
    if found := _ISO.fullmatch(cell):
        return found[1]
    if len(cell) > 40 or not any(map(str.isdigit, cell)):
        return None
    return _printed_day(cell, order)


@lru_cache(maxsize=16_384)
def _printed_day(cell: str, order: str) -> str | None:
    days = [(found, day) for found, day in find_days(cell, order) if found.start == 0]
    if len(days) != 1:
        return None
    found, day = days[0]
    rest = cell[found.end :].strip()
    return day.isoformat() if not rest or re.fullmatch(r"\d{1,2}:\d\d.*", rest) else None


@dataclass(slots=True)
class _Numbers:
    """Some of a column's numbers: how many, their most places and their largest size."""

    count: int = 0
    places: int = 0
    largest: Decimal = Decimal()

    def add(self, value: Decimal, places: int | None = None) -> None:
        self.count += 1
        if places is None:
            places = max(0, -int(value.as_tuple().exponent))
        self.places = max(self.places, places)
        size = abs(value)
        self.largest = max(self.largest, size)

    def __add__(self, other: "_Numbers") -> "_Numbers":
        return _Numbers(
            self.count + other.count, max(self.places, other.places), max(self.largest, other.largest)
        )


@dataclass(slots=True)
class ColumnReader:
    """Takes the cells of a column one by one and tells what it is when all are taken.

    `sure` are numbers that can be read in one way, `with_mark` those such as "1.234", by either decimal mark; days are
    counted by either order of day and month. `words` says that enough was seen to tell that the column holds words.
    """

    head: str
    filled: int = 0
    units: Counter[str] = field(default_factory=Counter)
    coded: bool = False
    codes: set[str] = field(default_factory=set)
    marks: set[Mark] = field(default_factory=set)
    sure: _Numbers = field(default_factory=_Numbers)
    with_mark: dict[Mark, _Numbers] = field(default_factory=lambda: {".": _Numbers(), ",": _Numbers()})
    days: Counter[str] = field(default_factory=Counter)
    orders: set[str] = field(default_factory=set)
    words: bool = False

    def add(self, cell: str) -> None:
        """Take the next cell; an empty one says nothing."""
        if not cell:
            return
        self.filled += 1
        if self.words:
            return
        if self.filled % SAMPLED == 0 and self._is_words():
            self.words = True
        if len(self.codes) < MOST_UNITS:
            self.codes.add(cell)
        if plain := _PLAIN.fullmatch(cell):
            self.units[""] += 1
            self.sure.add(Decimal(cell), len(plain["places"] or ""))
            if plain["places"]:
                self.marks.add(".")
            return
        if _ISO.fullmatch(cell):
            self.days["DMY"] += 1
            self.days["MDY"] += 1
            return
        if (printed := printed_number(cell)) and self._add_number(printed):
            return
        self.coded = self.coded or _CODE.fullmatch(cell) is not None
        for order in ("DMY", "MDY"):
            self.days[order] += day_of(cell, order) is not None
        if order_told := written_order(cell):
            self.orders.add(order_told)

    def _is_words(self) -> bool:
        """Tell whether so few of many cells were numbers or days that the rest need not be looked at."""
        least = self.filled / 2
        numbers = self.sure.count + self.with_mark["."].count
        return numbers < least and max(self.days.values(), default=0) < least

    def _add_number(self, printed: Printed) -> bool:
        own = own_mark(printed.digits)
        if own is not None:
            self.marks.add(own)
        if own is not None or _WHOLE.fullmatch(printed.digits):
            value = value_of(printed, own)
            assert value is not None
            self.sure.add(value)
        elif _OPEN.fullmatch(printed.digits):
            for mark, numbers in self.with_mark.items():
                value = value_of(printed, mark)
                assert value is not None
                numbers.add(value)
        else:
            return False
        if len(self.units) <= MOST_UNITS:
            self.units[printed.unit] += 1
        return True

    def column(self, other: Mark, order: str) -> "TableColumn":
        """Return what the column is.

        Args:
            other: the decimal mark of the other columns; used where this one's own cells do not tell.
            order: how "03/04/2018" is read where no cell of the column tells.
        """
        if len(self.marks) > 1:
            mark, numbers = None, self.sure
        else:
            mark = next(iter(self.marks), other)
            numbers = self.sure + self.with_mark[mark]
        enough = MOSTLY * self.filled
        if self.filled and numbers.count >= enough and len(self.units) <= MOST_UNITS and not self.coded:
            places = min(numbers.places, PLACES)
            while places and numbers.largest * self.filled * 10**places >= LARGEST:
                places -= 1
            if numbers.largest * self.filled < LARGEST:
                several = len(self.units) > 1
                said = _unit_of_head(self.head) if not several else ""
                said = said if not any(self.units) else next(iter(self.units)) if not several else ""
                return TableColumn(
                    self.head, "number", places, said, several, mark, self.filled, self.filled - numbers.count,
                    places < numbers.places,
                )  # fmt: skip
        read = self.orders.pop() if len(self.orders) == 1 else order if order in self.days else "DMY"
        if self.filled and self.days[read] >= enough:
            return TableColumn(
                self.head, "date", order=read, filled=self.filled, unread=self.filled - self.days[read]
            )
        currencies = len(self.codes) < MOST_UNITS and bool(self.codes) and self.codes <= _codes()
        return TableColumn(self.head, "text", filled=self.filled, currencies=currencies)


def columns_of(readers: Sequence[ColumnReader], order: str) -> tuple[TableColumn, ...]:
    """Return the columns of a table of which all cells were read; `order` is that of the bucket's dates."""
    told = {next(iter(reader.marks)) for reader in readers if len(reader.marks) == 1}
    other: Mark = told.pop() if len(told) == 1 else "."
    return tuple(reader.column(other, order) for reader in readers)


@cache
def _codes() -> frozenset[str]:
    return frozenset(table("cldr_currencies"))


def _unit_of_head(head: str) -> str:
    """Return the currency that a head has beside its name ("Price (EUR)", "Betrag in €"), "" for none."""
    marks = [
        *re.findall(r"[€£¥₹]", head),
        *(word for word in re.findall(r"[A-Z]{3}", head) if word in _codes()),
    ]
    return (currency_code(marks[0]) or "") if len(marks) == 1 and marks[0] != head.strip() else ""


def scaled(value: Decimal, places: int) -> int:
    """Return a value in units of the last place of its column."""
    return int((value * 10**places).to_integral_value())


def of_scale(number: int, places: int) -> Decimal:
    """Return the value of a stored number."""
    return Decimal(number).scaleb(-places)
