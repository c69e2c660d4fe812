"""Numbers and dates that a claim computes from stated ones: sums, differences, products, shares, growth, spans of time."""

import calendar
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import combinations

from citegraph.citations.fact_matching import family
from citegraph.citations.facts import Fact
from citegraph.language.amounts import same_currency
from citegraph.language.numbers import readings

MOST = 40
"""Operands that are tried in pairs; a longer table is computed over its columns only."""
IN_CLAIM = -2
"""The place of an operand that the claim itself shows; -1 is one that the question or an earlier claim says."""
DAY = Decimal(86400)
"""In seconds."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A stated value that may go into a computation.

    Attributes:
        place: the sentence or row that states it; what stands in one place was put together by the source.
        column: its column among the cells of a table's rows, -1 in prose.
        named: the claim, the question or an earlier claim says it: what is shown of the computation.
        near: the sentence or row that states it shares words with the claim.
    """

    fact: Fact
    place: int
    column: int = -1
    named: bool = False
    near: bool = True


@dataclass(frozen=True, slots=True)
class Result:
    """A computed value with its formula for people."""

    formula: str
    operands: tuple[Operand, ...]


def compute(
    wanted: Fact,
    operands: Sequence[Operand],
    bounded: bool = False,
    averages: bool = False,
    fits: Callable[[Result], bool] = lambda result: True,
) -> Result | None:
    """Return how a value comes about from stated ones, None when it does not.

    Units are kept: a length is no price less a length, and a count of things adds to no amount. Values that the claim
    does not show must stand in sentences that speak of it; a result of two significant digits or fewer is hit by chance,
    so the claim itself shows most of its operands or they stand in one place, and a bound ("at least six weeks") is nobody's result.

    Args:
        wanted: the number or date of the claim.
        operands: what the cited spans state, and what the claim and the question say besides.
        bounded: the claim says "at least", "more than" or the like of it.
        averages: the claim speaks of an average; nothing else is one.
        fits: whether a result is what the claim says; of several the first that is.
    """
    if wanted.kind == "date":
        return _date(wanted, operands)
    if wanted.kind == "identifier":
        return _clock(wanted, operands)
    if wanted.kind != "number" or not wanted.amounts:
        return None
    few = len(_significant(wanted)) <= 2
    for result in _results(wanted, _without_repeats(operands), averages):
        if _follows(wanted, result, few, bounded) and fits(result):
            return result
    return None


def _follows(wanted: Fact, result: Result, few: bool, bounded: bool) -> bool:
    """Tell whether a result is more than a coincidence of numbers."""
    stated = [o for o in result.operands if not o.named]
    if not stated or all(o.fact.kind == "date" and (o.near or not few) for o in stated):
        return True
    if not all(o.near for o in stated) or (
        "×" in result.formula and any(map(_uncounted, stated)) and _great(result)
    ):
        return False
    close = len({o.place for o in result.operands}) == 1
    if not close and any(family(o.fact) == "percent" and o.column > 1 for o in stated):
        return False  # the share in a cell is one of its row: an efficiency of 72 % is added to no current
    if few:
        added = not re.search(r" [×/] ", result.formula)
        pair = len(result.operands) == 2
        beside = len(stated) == 1 and any(o.place == IN_CLAIM for o in result.operands)
        if added and pair and (beside or (close and len(wanted.printed) > 1 and not bounded)):
            return True
        if pair and "×" in result.formula and len(stated) == 1 and family(wanted) == "money":
            return True  # "ten of them cost EUR 11,000": ten at EUR 1,100
        return (
            close
            and bool(wanted.dimension)
            and not bounded
            and len(result.operands) == 2
            and "×" not in result.formula
        )
    columns = {o.column for o in result.operands}
    return len(result.operands) != 3 or close or len(stated) == 1 or (len(columns) == 1 and columns != {-1})


def _uncounted(item: Operand) -> bool:
    """Tell whether an operand is a bare cell of a table that counts no things: an amount times it is nothing."""
    fact = item.fact
    return item.column >= 0 and not fact.dimension and bool(fact.raw) and abs(fact.raw[0]) >= _MANY


def _great(result: Result) -> bool:
    """Tell whether every operand is in the thousands."""
    return all(o.fact.amounts and abs(o.fact.amounts[0]) >= _MANY for o in result.operands)


_MANY = 1000


def _significant(wanted: Fact) -> str:
    """Return the digits of a number that tell: "32.0" has three, "32" and "EUR 32.00" two."""
    if wanted.spelled:
        return "1"
    digits = wanted.printed.strip("-−+ ").replace(".", "").replace(",", "").lstrip("0")
    return digits if _TENTHS.search(wanted.printed) else digits.rstrip("0")


_TENTHS = re.compile(r"\d[.,]0$")


def _without_repeats(operands: Sequence[Operand]) -> list[Operand]:
    """Return the operands, of equal values the one that the claim names, those first, at most `MOST`."""
    found: dict[tuple[str, tuple[Decimal, ...], str, int], Operand] = {}
    for item in sorted(operands, key=lambda o: (not o.named, not o.near, o.fact.spelled)):
        fact = item.fact
        if fact.label or (fact.kind == "number" and not fact.amounts):
            continue
        printed = str(fact.date) if fact.kind == "date" else ""
        found.setdefault((family(fact), fact.amounts, printed or fact.key, item.place), item)
    return list(found.values())[:MOST]


def _results(wanted: Fact, operands: Sequence[Operand], averages: bool) -> Iterator[Result]:
    numbers = [o for o in operands if o.fact.kind == "number"]
    yield from _spans_of_time(wanted, [o for o in operands if o.fact.kind == "date"])
    yield from _between_clocks(wanted, [o for o in operands if o.fact.kind == "identifier"])
    yield from _of_pairs(wanted, numbers)
    yield from _of_columns(wanted, numbers, averages)
    yield from _of_chains(wanted, numbers)


# ---------------------------------------------------------------- numbers


@dataclass(slots=True)
class _Value:
    """A value under way, of which thousands are made for one that is wanted.

    Attributes:
        raw: as it is printed, without the factor of its unit.
        factor: what makes of it the base unit.
        unit: its dimension, "" for a bare number.
        firm: printed in three digits or more, in two and shown by the claim, or in a table: a bare one may have any unit.
        made: how it came about: of two values by a sign, or as it is printed.
        places: digits behind its decimal point, None where it was computed.
        times: how often one span of time fits in another: no span of time itself.
    """

    raw: Decimal
    factor: Decimal
    unit: str
    firm: bool
    made: "tuple[_Value, str, _Value] | str"
    places: int | None = None
    times: bool = False

    @property
    def text(self) -> str:
        """Return how it came about, for people."""
        if isinstance(self.made, str):
            return self.made
        one, sign, other = self.made
        return f"{_inner(one)} {sign} {_inner(other)}"

    @property
    def amount(self) -> Decimal:
        """Return it in the base unit."""
        return self.raw * self.factor

    @property
    def share(self) -> bool:
        """Tell whether it is a percentage."""
        return self.unit.startswith("percent")

    @property
    def time(self) -> bool:
        """Tell whether it is a span of time."""
        return self.unit in _TIMES


_TIMES = ("time", "calendar months", "business days")


def _value(item: Operand, beside: Operand | None = None) -> _Value:
    """Return what an operand counts for; one with a scale word beside a bare one as it is printed ("1.1 of 1.8 million")."""
    fact = item.fact
    raw = fact.raw[0] if fact.raw else fact.amounts[0]
    factor = fact.amounts[0] / raw if raw else Decimal(1)
    if fact.scaled and beside is not None and not beside.fact.dimension and not beside.fact.scaled:
        raw = next(
            (r for r in readings(fact.printed) if r and raw / r == Decimal(10) ** (raw / r).adjusted()), raw
        )
    digits = len(_significant(fact)) + (item.named and not fact.printed.isdigit())
    firm = not fact.spelled and (item.column >= 0 or digits > (1 if item.named else 2))
    places = -exponent if isinstance(exponent := raw.as_tuple().exponent, int) else 0
    return _Value(raw, factor, fact.dimension, firm, _shown(item), max(0, places))


def _on_one_scale(one: _Value, other: _Value) -> tuple[Decimal, Decimal, Decimal, str] | None:
    """Return two values that can be added as numbers on one scale with its factor and unit, None when they cannot."""
    if one.unit and other.unit:
        if not _same_unit(one.unit, other.unit):
            return None
        if one.factor == other.factor:
            return one.raw, other.raw, one.factor, one.unit
        return one.amount, other.amount, Decimal(1), one.unit
    bare = [v for v in (one, other) if not v.unit]
    unit = one.unit or other.unit
    if unit and (not all(v.firm for v in bare) or one.share or other.share):
        return None
    if unit and any(
        v.places is not None and v.places < (w.places or 0)
        for v, w in ((one, other), (other, one))
        if not v.unit
    ):
        return None  # a bare 180 beside a price of two decimals is no price
    return one.raw, other.raw, max(one.factor, other.factor), unit


def _same_unit(one: str, other: str) -> bool:
    if one.startswith("money:") and other.startswith("money:"):
        return same_currency(one[6:], other[6:])
    return one == other or (one.startswith("percent") and other.startswith("percent"))


def _together(one: _Value, other: _Value, share: bool) -> Iterator[_Value]:
    """Yield what two values give: sum, difference, product, quotient; shares and growth when a `share` is wanted."""
    firm = one.firm or other.firm
    scale = _on_one_scale(one, other)
    if scale is not None:
        x, y, factor, unit = scale
        big, small = (one, other) if abs(x) >= abs(y) else (other, one)
        places = None if one.places is None or other.places is None else max(one.places, other.places)
        yield _Value(abs(x - y), factor, unit, firm, (big, "-", small), places)
        yield _Value(x + y, factor, unit, firm, (one, "+", other), places)
        for a, b, first, second in ((x, y, one, other), (y, x, other, one)):
            if b and a != b:
                if share and not one.share:
                    more = _Value(a - b, factor, unit, firm, (first, "-", second))
                    yield _Value(a / b * 100, Decimal(1), "percent", True, (first, "/", second))
                    yield _Value((a - b) / b * 100, Decimal(1), "percent", True, (more, "/", second))
                times = one.time and other.time
                yield _Value(a / b, Decimal(1), "", False, (first, "/", second), times=times)
    for first, second in ((one, other), (other, one)):
        yield from _multiplied(first, second)


def _multiplied(base: _Value, times: _Value) -> Iterator[_Value]:
    """Yield a percentage of a value, taken, added and taken off, and a price or measure times or by a number."""
    if times.share:
        if not base.time and not (base.share and not (base.firm and times.firm)):
            part = base.raw * times.raw / 100
            for sign, result in (("×", part), ("+", base.raw + part), ("-", base.raw - part)):
                yield _Value(result, base.factor, base.unit, base.firm, (base, sign, times))
    elif (not times.unit or base.unit.startswith("money")) and not base.share:
        if abs(times.raw) > 1 and base.raw != 1:
            product = base.raw * times.raw
            firm = bool(base.unit) or (base.firm and times.firm)
            yield _Value(product, base.factor, base.unit, firm, (base, "×", times))
        if times.raw and abs(times.raw) != 1 and base.unit and not _same_unit(base.unit, times.unit):
            yield _Value(base.raw / times.raw, base.factor, base.unit, True, (base, "/", times))


def _inner(value: _Value) -> str:
    text = value.text
    return f"({text})" if re.search(r" [-+×/] ", text) else text


def _hits(wanted: Fact, result: _Value) -> bool:
    """Tell whether a result is the wanted number within half of its last digit: in its unit, or bare and with none."""
    raw = abs(wanted.raw[0]) if wanted.raw else abs(wanted.amounts[0])
    whole = wanted.spelled or (len(wanted.printed) == 1 and not wanted.dimension.startswith("percent"))
    half = Decimal(0) if whole else Decimal(10) ** wanted.decimals / 2
    if wanted.dimension and result.unit:
        if not _same_unit(wanted.dimension, result.unit):
            return False
        if abs(abs(wanted.amounts[0]) - abs(result.amount)) <= _step(wanted):
            return True
        if not wanted.dimension.startswith("money"):
            return False  # the same unit and another amount: two weeks are no two days, 9 l/h no 9 m³/h
    elif wanted.dimension:
        if not result.firm and not (wanted.dimension in _TIMES and "/" in result.text):
            return False
        if result.times or (result.places and wanted.dimension in _TIMES and wanted.decimals >= 0):
            return False  # twelve years are no 20.00 less 8.00
    elif result.share or result.unit in _TIMES:
        return False
    if abs(raw - abs(result.raw)) <= half:
        return True
    exponent = raw.as_tuple().exponent
    if not wanted.scaled or not isinstance(exponent, int):
        return False
    least = Decimal(10) ** min(exponent, 0) / 2  # "57.6 million" out of a table "in millions"
    return abs(raw / Decimal(10) ** (wanted.decimals - exponent) - abs(result.raw)) <= least


def _step(wanted: Fact) -> Decimal:
    """Return half of the last printed digit, in the unit of the amounts."""
    factor = wanted.amounts[0] / wanted.raw[0] if wanted.raw and wanted.raw[0] else Decimal(1)
    return abs(Decimal(10) ** wanted.decimals * factor) / 2


def _of_pairs(wanted: Fact, numbers: Sequence[Operand]) -> Iterator[Result]:
    share = family(wanted) == "percent"
    alone = {id(item): _value(item) for item in numbers if not item.fact.scaled}
    for one, other in combinations(numbers, 2):
        if one.fact.amounts == other.fact.amounts and len(_significant(wanted)) <= 2:
            continue  # of "twelve (12) months" and twelve months elsewhere nothing is the sum
        first, second = alone.get(id(one)) or _value(one, other), alone.get(id(other)) or _value(other, one)
        for made in _together(first, second, share):
            if _hits(wanted, made):
                yield Result(made.text, (one, other))


_LONGEST = 12


def _of_columns(wanted: Fact, numbers: Sequence[Operand], averages: bool) -> Iterator[Result]:
    """Yield sums and averages of values that stand below each other, beside each other, or that the claim names."""
    fitting = [o for o in numbers if _adds_to(wanted, o)]
    groups: dict[tuple[str, int], list[Operand]] = {}
    for item in fitting:
        if item.column >= 0:
            groups.setdefault(("column", item.column), []).append(item)
        groups.setdefault(("place", item.place), []).append(item)
    shown = [o for o in fitting if o.named][:8]
    for count in range(3, len(shown) + 1):
        for chosen in combinations(shown, count):
            yield from _summed(wanted, chosen, averages)
    for group in groups.values():
        for first in range(len(group)):
            for count in range(3, min(_LONGEST, len(group) - first) + 1):
                yield from _summed(wanted, tuple(group[first : first + count]), averages)


def _adds_to(wanted: Fact, item: Operand) -> bool:
    value = _value(item)
    if not value.unit or not wanted.dimension:
        return (value.firm or not wanted.dimension) and not value.share
    return _same_unit(wanted.dimension, value.unit)


def _summed(wanted: Fact, chosen: tuple[Operand, ...], averages: bool) -> Iterator[Result]:
    values = [_value(o) for o in chosen]
    if len({v.factor for v in values if v.unit}) > 1 or len({v.unit for v in values if v.unit}) > 1:
        return
    units = {v.unit for v in values}
    if len(units) > 1 and not all(o.named or o.column >= 0 for o in chosen):
        return  # amperes and bare numbers of one line add up to nothing
    unit = next((v.unit for v in values if v.unit), "")
    factor = max(v.factor for v in values)
    total = sum((v.raw for v in values), Decimal(0))
    terms = " + ".join(v.text for v in values)
    if _hits(wanted, _Value(total, factor, unit, True, terms)):
        yield Result(terms, chosen)
    if averages and _hits(wanted, _Value(total / len(chosen), factor, unit, True, terms)):
        yield Result(f"({terms}) / {len(chosen)}", chosen)


def _of_chains(wanted: Fact, numbers: Sequence[Operand]) -> Iterator[Result]:
    """Yield what three values give in two steps; values that the claim names, or that one place states."""
    fitting = sorted(numbers, key=lambda o: not _same_unit(wanted.dimension, o.fact.dimension))
    if wanted.spelled and not wanted.dimension:
        return  # "eight" comes of almost any three values
    near = [o for o in fitting if o.named][:8] + [o for o in fitting if not o.named][:8]
    values = {id(item): _value(item) for item in near}
    pairs: dict[tuple[int, int], list[_Value]] = {}
    for items in combinations(near, 3):
        hidden = [o for o in items if not o.named]
        if len(hidden) > 1 and len({o.place for o in items}) > 1:
            continue
        one, other, third = items
        if wanted.dimension and not any(_same_unit(wanted.dimension, o.fact.dimension) for o in items):
            continue
        for a, b, c in ((one, other, third), (one, third, other), (other, third, one)):
            if (pair := (id(a), id(b))) not in pairs:
                both = _together(values[id(a)], values[id(b)], False)
                pairs[pair] = [made for made in both if "/" not in made.text]
            for made in pairs[pair]:
                for result in _together(made, values[id(c)], False):
                    if _hits(wanted, result) and "/ (" not in result.text:
                        yield Result(result.text, (a, b, c))


# ---------------------------------------------------------------- dates


_ANY_YEAR = 2023
"""Where no date has a year, all of them are of one year."""


def _days(operands: Sequence[Operand]) -> list[tuple[Operand, date]]:
    """Return the whole dates among operands in every reading; one without a year has that of the date before it."""
    found: list[tuple[Operand, date]] = []
    year: int | None = None
    if not any(o.fact.date and o.fact.date.year for o in operands):
        year = _ANY_YEAR
    for item in sorted(
        (o for o in operands if o.fact.date is not None), key=lambda o: (o.place, o.fact.start)
    ):
        if item.fact.date is None:
            continue
        year = item.fact.date.year or year
        for _, month, day in item.fact.date.readings():
            try:
                if year and month and day:
                    found.append((item, date(year, month, day)))
            except ValueError:
                continue
    return found


def _date(wanted: Fact, operands: Sequence[Operand]) -> Result | None:
    """Return a date that lies a stated span of time before or after a stated date, the day before its end included."""
    goals = {day for _, day in _days([Operand(wanted, 0)])} if wanted.date and wanted.date.year else set()
    spans = [o for o in operands if family(o.fact) == "duration" and o.fact.raw]
    for item, start in _days(operands):
        for span in spans:
            for sign in (1, -1):
                moved = moved_by(start, span.fact, sign)
                if moved is not None and (
                    any(abs((moved - goal).days) <= 1 for goal in goals) or _in_month(moved, wanted)
                ):
                    return Result(f"{_shown(item)} {'+' if sign > 0 else '-'} {_shown(span)}", (item, span))
    return None


def _in_month(day: date, wanted: Fact) -> bool:
    """Tell whether a day lies in the month that a claim names with its year."""
    value = wanted.date
    return value is not None and value.day is None and (value.year, value.month) == (day.year, day.month)


def moved_by(start: date, span: Fact, sign: int) -> date | None:
    """Return a date that lies a span of time after another, before it when `sign` is -1; None out of the calendar."""
    amount = span.amounts[0] * sign
    try:
        if span.dimension == "calendar months" and amount == int(amount):
            months = start.year * 12 + start.month - 1 + int(amount)
            year, month = divmod(months, 12)
            return date(year, month + 1, min(start.day, calendar.monthrange(year, month + 1)[1]))
        if span.dimension == "time" and not amount % DAY:
            return start + timedelta(days=int(amount / DAY))
    except (ValueError, OverflowError, calendar.IllegalMonthError):
        return None
    return None


def _spans_of_time(wanted: Fact, dates: Sequence[Operand]) -> Iterator[Result]:
    """Yield the days, months and years between two stated dates; both ends counted or not."""
    if family(wanted) != "duration":
        return
    for (one, first), (other, second) in combinations(_days(dates), 2):
        if one is other:
            continue
        gap = abs((second - first).days)
        if wanted.dimension == "calendar months":
            begin, end = sorted((first, second))
            months = (end.year - begin.year) * 12 + end.month - begin.month - (end.day + 1 < begin.day)
            later = end + timedelta(days=1)
            until = (later.year - begin.year) * 12 + later.month - begin.month - (later.day < begin.day)
            hit = wanted.amounts[0] in (months, until)
        elif wanted.dimension == "business days":
            hit = False
        else:
            hit = any(abs(wanted.amounts[0] / DAY - n) <= _step(wanted) / DAY for n in (gap, gap + 1))
        if hit:
            yield Result(f"{_shown(other)} - {_shown(one)}", (one, other))


def _minutes(fact: Fact) -> int | None:
    """Return the minute of the day of a time of day, None for any other identifier."""
    hour, _, minute = fact.key.partition(":")
    return int(hour) * 60 + int(minute) if hour.isdigit() and minute.isdigit() and len(minute) == 2 else None


def _clock(wanted: Fact, operands: Sequence[Operand]) -> Result | None:
    """Return a time of day that lies a stated span before or after a stated one."""
    goal = _minutes(wanted)
    if goal is None:
        return None
    spans = [o for o in operands if o.fact.dimension == "time" and o.fact.amounts]
    for item in operands:
        start = _minutes(item.fact) if item.fact.kind == "identifier" else None
        for span in spans if start is not None else ():
            for sign in (1, -1):
                if start is not None and (start + sign * int(span.fact.amounts[0] / 60) - goal) % 1440 == 0:
                    return Result(f"{_shown(item)} {'+' if sign > 0 else '-'} {_shown(span)}", (item, span))
    return None


def _between_clocks(wanted: Fact, clocks: Sequence[Operand]) -> Iterator[Result]:
    if wanted.dimension not in ("time", ""):
        return
    times = [(o, m) for o in clocks if (m := _minutes(o.fact)) is not None]
    goal = wanted.amounts[0] / 60 if wanted.dimension else wanted.amounts[0]
    for (one, first), (other, second) in combinations(times, 2):
        if goal in ((second - first) % 1440, (first - second) % 1440):
            yield Result(f"{_shown(other)} - {_shown(one)}", (one, other))


# ---------------------------------------------------------------- for people


def _shown(item: Operand) -> str:
    """Return a value for a formula; of "eighteen (18) months" it is "18 months"."""
    return " ".join(item.fact.text.replace(")", " ").replace("(", " ").split()).rstrip(" .,;")
