"""Numbers and dates that a claim computes from stated ones: sums, differences, products, shares, growth, spans of time."""

import calendar
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import combinations

from citegraph.citations.facts import Fact
from citegraph.citations.matching import family

MOST = 40
"""Operands that are tried in pairs; a longer table is computed over its columns only."""
DAY = Decimal(86400)
"""In seconds."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A stated value that may go into a computation.

    Attributes:
        place: the sentence or row that states it; what stands in one place was put together by the source.
        column: its column among the cells of a table's rows, -1 in prose.
        named: the claim itself says it: what a claim shows of its computation.
    """

    fact: Fact
    place: int
    column: int = -1
    named: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """A computed value with its formula for people."""

    formula: str
    operands: tuple[Operand, ...]


def compute(wanted: Fact, operands: Sequence[Operand], bounded: bool = False) -> Result | None:
    """Return how a value comes about from stated ones, None when it does not.

    A result of two significant digits or fewer is hit by chance among many operands: there the operands must be named
    by the claim or stand in one place of the source, and a bound ("at least six weeks") is nobody's result.

    Args:
        wanted: the number or date of the claim.
        operands: what the cited spans state, and what the claim and the question say besides.
        bounded: the claim says "at least", "more than" or the like of it.
    """
    if wanted.kind == "date":
        return _date(wanted, operands)
    if wanted.kind == "identifier":
        return _clock(wanted, operands)
    if wanted.kind != "number" or not wanted.amounts:
        return None
    if family(wanted) not in ("number", "money", "percent"):
        # a bare number has a unit by the head or the column of its table, in prose it has none
        operands = [o for o in operands if family(o.fact) != "number" or o.column >= 0 or o.named]
    few = len(_significant(wanted)) <= 2
    for result in _results(wanted, _without_repeats(operands)):
        if not few:
            return result
        stated = [o for o in result.operands if not o.named]
        close = len({o.place for o in result.operands}) == 1 and bool(wanted.dimension) and not bounded
        product = "×" in result.formula
        if not stated or (not product and (len(stated) <= len(result.operands) // 2 or close)):
            return result
    return None


def _significant(fact: Fact) -> str:
    return (
        fact.printed.strip("-−+ ").replace(".", "").replace(",", "").strip("0") if not fact.spelled else "1"
    )


def _without_repeats(operands: Sequence[Operand]) -> list[Operand]:
    """Return the operands, of equal values the one that the claim names, those first, at most `MOST`."""
    found: dict[tuple[str, tuple[Decimal, ...], str, int], Operand] = {}
    for item in sorted(operands, key=lambda o: (not o.named, o.fact.spelled)):
        fact = item.fact
        if fact.label or (fact.kind == "number" and not fact.amounts):
            continue
        printed = str(fact.date) if fact.kind == "date" else ""
        found.setdefault((family(fact), fact.amounts, printed or fact.key, item.place), item)
    return list(found.values())[:MOST]


def _results(wanted: Fact, operands: Sequence[Operand]) -> Iterator[Result]:
    numbers = [o for o in operands if o.fact.kind == "number"]
    yield from _spans_of_time(wanted, [o for o in operands if o.fact.kind == "date"])
    yield from _between_clocks(wanted, [o for o in operands if o.fact.kind == "identifier"])
    yield from _of_pairs(wanted, numbers)
    yield from _of_columns(wanted, numbers)
    if len(_significant(wanted)) > 2 or wanted.dimension:
        yield from _of_chains(wanted, numbers)


# ---------------------------------------------------------------- numbers


def _values(fact: Fact) -> tuple[Decimal, ...]:
    """Return what a number counts for: in its base unit, and as it is printed."""
    return tuple(dict.fromkeys((fact.amounts[0], *(fact.raw[:1]))))


def _step(wanted: Fact) -> Decimal:
    """Return half of the last printed digit, in the unit of the amounts."""
    factor = wanted.amounts[0] / wanted.raw[0] if wanted.raw and wanted.raw[0] else Decimal(1)
    return abs(Decimal(10) ** wanted.decimals * factor) / 2


def _hits(wanted: Fact, result: Decimal) -> bool:
    """Tell whether a result is the wanted number within half of its last digit, with its scale or without."""
    if abs(abs(wanted.amounts[0]) - abs(result)) <= _step(wanted):
        return True
    if not wanted.raw:
        return False
    raw = abs(wanted.raw[0])
    if abs(raw - abs(result)) <= Decimal(10) ** wanted.decimals / 2:
        return True
    exponent = raw.as_tuple().exponent
    if not wanted.scaled or not isinstance(exponent, int):
        return False
    half = Decimal(10) ** min(exponent, 0) / 2  # "57.6 million" out of a table "in millions"
    return abs(raw / Decimal(10) ** (wanted.decimals - exponent) - abs(result)) <= half


def _alike(wanted: Fact, *facts: Fact) -> bool:
    """Tell whether values can be added up to the wanted one: all of its family, or bare ones of a table for a unit."""
    families = {family(f) for f in facts}
    mine = family(wanted)
    if families == {"number"}:
        return mine in ("number", "money") or all("." in f.printed or len(f.printed) > 2 for f in facts)
    return len(families - {"number"}) == 1 and mine in (*families, "number")


def _of_pairs(wanted: Fact, numbers: Sequence[Operand]) -> Iterator[Result]:
    share = family(wanted) == "percent"
    times = not wanted.dimension or family(wanted) == "duration"
    for one, other in combinations(numbers, 2):
        a, b = one.fact, other.fact
        if a.amounts == b.amounts and len(_significant(wanted)) <= 2:
            continue  # of "twelve (12) months" and twelve months elsewhere nothing is the sum
        if _alike(wanted, a, b):
            for x, y in _readings(a, b):
                if _hits(wanted, x - y):
                    first, second = (one, other) if abs(x) >= abs(y) else (other, one)
                    yield _made("-", first, second)
                if _hits(wanted, x + y):
                    yield _made("+", one, other)
        if share or times:
            yield from _shares(wanted, one, other)
        for left, right in ((one, other), (other, one)):
            yield from _products(wanted, left, right)


def _readings(a: Fact, b: Fact) -> Iterator[tuple[Decimal, Decimal]]:
    """Yield the values of two numbers on one scale: both in their base unit, or both as printed."""
    yield a.amounts[0], b.amounts[0]
    if a.raw and b.raw and (a.raw[0] != a.amounts[0] or b.raw[0] != b.amounts[0]):
        yield a.raw[0], b.raw[0]


def _shares(wanted: Fact, one: Operand, other: Operand) -> Iterator[Result]:
    """Yield what part one number is of another, how far it lies above or below it, and how many times it is it."""
    if family(one.fact) != family(other.fact):
        return
    for x, y in _readings(one.fact, other.fact):
        for a, b, first, second in ((x, y, one, other), (y, x, other, one)):
            if not b:
                continue
            if family(wanted) == "percent":
                if _hits(wanted, a / b * 100):
                    yield _made("/", first, second)
                if _hits(wanted, (a - b) / b * 100):
                    yield Result(f"({_shown(first)} - {_shown(second)}) / {_shown(second)}", (first, second))
            elif _hits(wanted, a / b):
                yield _made("/", first, second)


def _products(wanted: Fact, left: Operand, right: Operand) -> Iterator[Result]:
    """Yield a price times a number of things, and a percentage of an amount, taken, added and taken off."""
    a, b = left.fact, right.fact
    if family(b) == "percent":
        if not _alike(wanted, a):
            return
        for x in _values(a):
            part = x * b.amounts[0] / 100
            for sign, result in (("×", part), ("+", x + part), ("-", x - part)):
                if _hits(wanted, result):
                    yield _made(sign, left, right)
    elif family(a) == family(wanted) and (not b.dimension or family(a) == "money"):
        for x, y in ((_values(a)[0], _values(b)[-1]), (_values(a)[-1], _values(b)[-1])):
            if abs(y) > 1 and abs(x) != 1 and _hits(wanted, x * y):
                yield _made("×", left, right)
            if y and y != 1 and _hits(wanted, x / y):
                yield _made("/", left, right)


_LONGEST = 12


def _of_columns(wanted: Fact, numbers: Sequence[Operand]) -> Iterator[Result]:
    """Yield sums and averages of values that stand below each other, beside each other, or that the claim names."""
    groups: dict[tuple[str, int], list[Operand]] = {}
    for item in numbers:
        if not _alike(wanted, item.fact):
            continue
        if item.column >= 0:
            groups.setdefault(("column", item.column), []).append(item)
        groups.setdefault(("place", item.place), []).append(item)
    shown = [o for o in numbers if o.named and _alike(wanted, o.fact)][:8]
    for count in range(3, len(shown) + 1):
        for chosen in combinations(shown, count):
            if _hits(wanted, sum((o.fact.amounts[0] for o in chosen), Decimal(0))):
                yield Result(" + ".join(map(_shown, chosen)), chosen)
    for group in groups.values():
        for first in range(len(group)):
            total = Decimal(0)
            for count, item in enumerate(group[first : first + _LONGEST], 1):
                total += item.fact.amounts[0]
                if count < 3:
                    continue
                chosen = tuple(group[first : first + count])
                if _hits(wanted, total):
                    yield Result(" + ".join(map(_shown, chosen)), chosen)
                if _hits(wanted, total / count):
                    yield Result(f"({' + '.join(map(_shown, chosen))}) / {count}", chosen)


def _of_chains(wanted: Fact, numbers: Sequence[Operand]) -> Iterator[Result]:
    """Yield what three values give in two steps; values that the claim names, or that one place states."""
    near = [o for o in numbers if o.named] + [o for o in numbers if not o.named][:12]
    near = near[:14]
    for one, other, third in combinations(near, 3):
        if not any(o.named for o in (one, other, third)) and len({o.place for o in (one, other, third)}) > 1:
            continue
        if not _priced(wanted, one, other, third):
            continue
        for a, b, c in ((one, other, third), (one, third, other), (other, third, one)):
            for made, formula in _steps(a, b):
                for value, how in _then(made, c):
                    if _hits(wanted, value):
                        yield Result(how.format(formula, _shown(c)), (a, b, c))


def _priced(wanted: Fact, *items: Operand) -> bool:
    """Tell whether three values make a price or the like: the wanted kind is among them, and one other kind at most."""
    families = [family(o.fact) for o in items]
    others = {f for f in families if f not in (family(wanted), "number", "percent")}
    return family(wanted) in families and (not others or family(wanted) == "money")


def _steps(one: Operand, other: Operand) -> Iterator[tuple[Decimal, str]]:
    x, y = _values(one.fact)[-1], _values(other.fact)[-1]
    shown = _shown(one), _shown(other)
    if "percent" in (family(one.fact), family(other.fact)):
        rate, base = (x, y) if family(one.fact) == "percent" else (y, x)
        yield base * rate / 100, "{} × {}".format(*shown)
        yield base * (1 + rate / 100), "({} + {})".format(*shown)
        yield base * (1 - rate / 100), "({} - {})".format(*shown)
        return
    yield x * y, "{} × {}".format(*shown)
    yield x + y, "({} + {})".format(*shown)
    yield abs(x - y), "({} - {})".format(*shown)


def _then(made: Decimal, third: Operand) -> Iterator[tuple[Decimal, str]]:
    z = _values(third.fact)[-1]
    if family(third.fact) == "percent":
        yield made * z / 100, "{} × {}"
        yield made * (1 + z / 100), "{} + {}"
        yield made * (1 - z / 100), "{} - {}"
        return
    yield made + z, "{} + {}"
    yield made - z, "{} - {}"
    yield made * z, "{} × {}"
    if z:
        yield made / z, "{} / {}"


# ---------------------------------------------------------------- dates


def _days(operands: Sequence[Operand]) -> list[tuple[Operand, date]]:
    """Return the whole dates among operands in every reading; one without a year has that of the date before it."""
    found: list[tuple[Operand, date]] = []
    year: int | None = None
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
    goals = {day for _, day in _days([Operand(wanted, 0)])}
    spans = [o for o in operands if family(o.fact) == "duration" and o.fact.raw]
    for item, start in _days(operands) if goals else ():
        for span in spans:
            for sign in (1, -1):
                moved = moved_by(start, span.fact, sign)
                if moved is not None and any(abs((moved - goal).days) <= 1 for goal in goals):
                    return Result(f"{_shown(item)} {'+' if sign > 0 else '-'} {_shown(span)}", (item, span))
    return None


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


def _made(sign: str, one: Operand, other: Operand) -> Result:
    return Result(f"{_shown(one)} {sign} {_shown(other)}", (one, other))
