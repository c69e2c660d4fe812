"""Finds rows without knowing any head: by what their numbers do, quantity times price and amounts that add up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import permutations
from statistics import median

from citegraph.corpus.extraction.rows.grid import Cell, GridLine
from citegraph.language.amounts import currency_code
from citegraph.language.numbers import readings
from citegraph.language.terms import fold

MOST_NUMBERS = 16
"""Numbers of a line that are tried with each other, the readings of "1 500" counted apart."""
MOST_BELOW = 14
"""Lines below a table in which its sum is looked for."""
MOST_BETWEEN = 8
"""Lines between two rows: a description that goes on."""
EDGE = 3
"""Characters by which the edges of one column differ."""
LONGEST = 600
MOST_RATES = 6
"""Percentages of a document that are tried between a product and its amount."""
_MARK = r"(?:[^\W\d_]{1,3}[$€£]?|[€$£¥￥₹₽₺₴₩₫₪฿])(?:/?\.)?"
"""What may be a currency."""
_NUMBER = re.compile(
    rf"(?:(?<![\w.,/:#-])|(?<=[\s(][x×X*]))(?P<open>\()?(?P<before>(?:%|{_MARK})\s?)?(?P<sign>[-−–+]\s?)?(?P<mid>[€$£¥₹]\s?)?"
    r"(?P<digits>\d{1,3}(?:[ '’\u00a0\u202f]\d{3})+(?:[.,]\d{1,4})?|\d[\d.,]*\d|\d)"
    rf"(?P<behind>\s?(?:%|{_MARK}(?![\w])))?(?P<close>\))?(?![\w/:]|-\d|[.,]\d)"
)
_SIGNS = frozenset("%xX×")
_SMALL = re.compile(r"\d{1,3} \d{3}(?:[.,]\d{1,4})?")
_THOUSANDS = re.compile(r"\d{1,3}(?:[ '’\u00a0\u202f]\d{3})+")
"""Whole units in groups: so programs print amounts of currencies without cents."""
_GROUPS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_CENTS = re.compile(r"[.,]\d{1,4}$")
_COMMA, _POINT = re.compile(r"\d,\d{2}(?!\d)"), re.compile(r"\d\.\d{2}(?!\d)")
_WORD = re.compile(r"[^\W\d_]{2,}")
_INDEX = re.compile(r"^\W{0,2}\d{1,4}[.)]?\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Printed:
    """A number of a line: where it stands, and what it may mean.

    `unit` is the last place that is printed (0.01), `money` whether a currency or cents say that it is an amount.
    """

    start: int
    end: int
    values: tuple[Decimal, ...]
    unit: Decimal
    money: bool
    percent: bool


@dataclass(slots=True)
class ProvedRow:
    """A row that its numbers prove; `line` is the number of its line; what it does not say is None."""

    line: int
    description: str
    left: int
    amount: Decimal | None
    quantity: Decimal | None = None
    price: Decimal | None = None
    start: int = 0
    end: int = 0
    more: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the whole description."""
        return " ".join([self.description, *self.more])[:LONGEST]


@dataclass(frozen=True, slots=True)
class Proof:
    """The rows of a table and how they are proved: by their sum, else by their products alone."""

    rows: tuple[ProvedRow, ...]
    summed: bool

    @property
    def products(self) -> int:
        """Return how many rows multiply."""
        return sum(row.price is not None and row.amount is not None for row in self.rows)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A line that may be a row: its amount, and its product if it has one.

    `above` is the number of the line that the row begins with, where its quantity stands, None when that is its own.
    """

    line: int
    amount: Printed
    value: Decimal
    quantity: Printed | None = None
    price: Printed | None = None
    values: tuple[Decimal, Decimal] | None = None
    above: int | None = None
    is_money: bool = True

    @property
    def tells(self) -> bool:
        """Return whether the product is no accident: a quantity of one and an amount twice, or nothing, may be one."""
        return self.values is not None and self.values[0] != 1 and self.values[1] not in {0, 1}

    @property
    def is_rated(self) -> bool:
        """Return whether a rate between the product and the amount is no accident: it takes off, or the product tells."""
        return self.values is not None and (self.tells or 1 != self.values[1] > self.value > 0)

    @property
    def ends(self) -> tuple[int, int, int]:
        """Return where quantity, price and amount end."""
        assert self.quantity is not None
        assert self.price is not None
        return self.quantity.end, self.price.end, self.amount.end

    @property
    def shape(self) -> tuple[bool, bool]:
        """Return the order of the three numbers."""
        assert self.quantity is not None
        assert self.price is not None
        return self.quantity.start < self.price.start, self.price.start < self.amount.start


def proved_rows(
    lines: Sequence[GridLine], known: Sequence[Decimal], ends: re.Pattern[str] | None = None
) -> Proof | None:
    """Return the rows of the first table whose numbers prove it, None when there is none.

    Args:
        known: sums that are known of the document.
        ends: how a line with one of the document's sums begins: no row, though net and tax add up as rows do.
    """
    comma = has_comma(lines)
    sums = [ends is not None and is_sum(line, ends) for line in lines]
    comma = has_comma(lines)
    numbers = [tuple(_numbers(line.text, comma)) for line in lines]
    printed = {value / 100 for line in numbers for one in line if one.percent for value in one.values}
    rates = sorted(printed)[:MOST_RATES]
    multiplied = [_products(place, lines, numbers, rates) for place in range(len(lines))]
    found: list[tuple[bool, int, Proof]] = []
    for money, last in ((True, True), (True, False), (False, True)):
        products = _once(_of_one_shape(multiplied, money=money, last=last))
        if not products:
            continue
        proof = _summed_up(products, lines, numbers, known)
        tells = any(one.tells for one in products)
        if (proof.summed and (money or tells)) or (money and tells and len(proof.rows) > 1):
            # Of prices without tax and with it both multiply: those are meant whose sum comes first of what is known.
            found.append((not proof.summed, _rank(proof.rows, known), proof))
    # With lines of an amount alone between them, discounts and freight, products may add up that do not by themselves.
    if added := _adding_up(lines, numbers, multiplied, known, sums):
        found.append((False, _rank(added.rows, known), added))
    if found:
        return min(found, key=lambda one: one[:2])[2]
    return _counted(lines, numbers, known) or _only(lines, numbers, known, sums)


def has_comma(lines: Sequence[GridLine]) -> bool:
    """Tell whether the numbers of a page have a comma before their cents."""
    return sum(len(_COMMA.findall(line.text)) for line in lines) > sum(
        len(_POINT.findall(line.text)) for line in lines
    )


def is_sum(line: GridLine, ends: re.Pattern[str]) -> bool:
    """Tell whether a line, or a later cell of it that names no rate, begins as one of the document's sums does."""
    said = [line.text.strip(" |"), *(cell.text for cell in line.cells[1:] if "%" not in cell.text)]
    return any(ends.match(fold(text)) for text in said)


def factors(
    text: str, amount: Decimal, known: tuple[Decimal | None, Decimal | None], *, comma: bool
) -> tuple[Decimal, Decimal] | None:
    """Return quantity and price of a row whose amount is known, None when no numbers of it multiply so.

    Args:
        known: quantity and price as far as they are known.
        comma: whether numbers have a comma before their cents.
    """
    numbers = list(_numbers(text, comma))
    plain = [number for number in numbers if not number.percent][-MOST_NUMBERS:]
    rated = [1 - value / 100 for number in numbers if number.percent for value in number.values]
    found = (
        one.values
        for parts in ([Decimal(1)], rated)
        for one in _multiplied(0, plain, [number for number in plain if amount in number.values], parts)
        if one.values and one.value == amount
    )
    fitting = (
        both
        for both in found
        if all(said is None or said == value for said, value in zip(known, both, strict=True))
    )
    return next(fitting, None)


def _numbers(text: str, comma: bool) -> Iterator[Printed]:
    """Yield the numbers of a line; "1 100,00" is one, and "1" and "100,00" too."""
    for found in _NUMBER.finditer(text):
        glued = (mark for mark in (found["before"], found["behind"]) if mark and mark == mark.strip())
        if any(mark not in _SIGNS and not _is_currency(mark) for mark in glued):
            continue  # "No.5", "8mm"
        yield from _printed(found, found["digits"], found.start("digits"), comma)
        if _SMALL.fullmatch(found["digits"]):
            first, _, rest = found["digits"].partition(" ")
            at = found.start("digits")
            yield from _printed(None, first, at, comma)
            yield from _printed(None, rest, at + len(first) + 1, comma)


def _printed(found: re.Match[str] | None, digits: str, at: int, comma: bool) -> Iterator[Printed]:
    plain = re.sub(r"[ '’\u00a0\u202f]", "", digits)
    values = readings(plain, comma_decimal=comma)
    if not values:
        return
    cents = _CENTS.search(plain)
    negative = found is not None and bool((found["sign"] or "").strip() in {"-", "−", "–"} or found["open"])
    marks = (
        [mark.strip() for mark in (found["before"], found["mid"], found["behind"]) if mark] if found else []
    )
    percent = "%" in marks
    money = not percent and (
        any(_is_currency(mark) for mark in marks)
        or bool(cents and len(cents[0]) == 3)
        or _THOUSANDS.fullmatch(digits) is not None
    )
    unit = (
        Decimal(1).scaleb(-(len(cents[0]) - 1))
        if cents and cents[0][0] == ("," if comma else ".")
        else Decimal(1)
    )
    start, end = at, at + len(digits)
    if found and (percent or money):
        start, end = found.start(), found.end()
    yield Printed(start, end, tuple(-value if negative else value for value in values), unit, money, percent)


def _is_currency(mark: str) -> bool:
    return mark == "e" or currency_code(mark.rstrip("/.")) is not None


def _products(
    place: int, lines: Sequence[GridLine], numbers: Sequence[Sequence[Printed]], rates: Sequence[Decimal]
) -> list[_Candidate]:
    """Return the products that a line holds, the best first: one that tells, with the last amount.

    Where its own numbers make none those that lines beside it hold count too, as in a cell that wraps or is centred, and then
    what rates take off it or add.
    """
    line = lines[place]
    found = [number for number in numbers[place] if not number.percent][-MOST_NUMBERS:]
    if line.is_blank or not found:
        return []
    above = place and not any(number.money for number in numbers[place - 1]) and lines[place - 1].text
    said = any(text and _WORD.search(text) for text in (line.text, above))
    shares = [number for more in numbers[place : place + 3] for number in more if number.percent]
    rated = [*(value / 100 for number in shares for value in number.values), *rates]
    beside = _beside(place, lines, numbers) if said else []
    parts = [1 + sign * rate for rate in dict.fromkeys(rated) if 0 < rate < 1 for sign in (-1, 1)]
    own = _multiplied(place, found, found) if said else []
    return (
        [one for one in own if one.value]
        or _multiplied(place, found, _moved(place, lines, numbers))
        or _begun_above(place, found, lines, numbers)
        or [one for one in _multiplied(place, beside, found) if one.values and one.values[1] not in {0, 1}]
        or [one for one in _multiplied(place, found, found, parts) if said and one.is_money and one.is_rated]
        or own
    )


def _beside(place: int, lines: Sequence[GridLine], numbers: Sequence[Sequence[Printed]]) -> Sequence[Printed]:
    """Return the numbers of a line that ends in an amount, with those of the lines beside it that end in none."""
    own = [number for number in numbers[place] if not number.percent]
    if not own or not own[-1].money:
        return []
    near = [
        number
        for other in (place - 1, place + 1)
        if 0 <= other < len(lines) and not any(abs(one.end - own[-1].end) <= EDGE for one in numbers[other])
        for number in numbers[other]
        if not number.percent and number.end < own[-1].start
    ]
    return [*near, *own][-MOST_NUMBERS:] if near else []


_LINE_APART = 10_000
"""By how much the places of numbers on a line above come before those of a line."""


def _begun_above(
    place: int, found: Sequence[Printed], lines: Sequence[GridLine], numbers: Sequence[Sequence[Printed]]
) -> list[_Candidate]:
    """Return the products of a price and an amount with the quantity that begins a line above: the description between wraps."""
    if sum(number.money for number in found) < 2:
        return []
    for above in range(place - 1, max(-1, place - 1 - _MOST_ABOVE), -1):
        if lines[above].is_blank or any(number.money for number in numbers[above]):
            return []
        first = next(iter(numbers[above]), None)
        if first is None or lines[above].text[: first.start].strip(" |"):
            continue
        counted = replace(first, start=first.start - _LINE_APART, end=first.end - _LINE_APART)
        products = _multiplied(place, [counted, *found], found)
        return [replace(one, above=above) for one in products if one.quantity == counted]
    return []


_MOST_ABOVE = 3


def _moved(place: int, lines: Sequence[GridLine], numbers: Sequence[Sequence[Printed]]) -> Sequence[Printed]:
    """Return the amount that stands on the next line, as in a cell that is aligned to its middle: alone there, further right."""
    below = next(
        (after for after in range(place + 1, min(place + 4, len(lines))) if not lines[after].is_blank), None
    )
    amounts = [number for number in numbers[below] if number.money] if below is not None else []
    right = max((number.end for number in numbers[place]), default=0)
    return amounts if len(amounts) == 1 and amounts[0].end > right else []


def _multiplied(
    place: int, found: Sequence[Printed], amounts: Sequence[Printed], parts: Sequence[Decimal] = (Decimal(1),)
) -> list[_Candidate]:
    """Return quantity times price that is one of the amounts, or one of `parts` of which is."""
    ranked: list[tuple[tuple[bool, bool, int, int], _Candidate]] = []
    for amount in amounts:
        money = amount.money or any(other.money for other in found)
        if any(other.start == amount.start and other.end > amount.end for other in found):
            continue  # the "1" of "1 500" counts something, or nothing
        for one, other in permutations([number for number in found if number is not amount], 2):
            if _overlap(one, other) or _overlap(one, amount) or _overlap(other, amount):
                continue
            for quantity, price, value in (
                _holding(one, other, amount, parts) if _is_quantity(one, other) else ()
            ):
                candidate = _Candidate(place, amount, value, one, other, (quantity, price), is_money=money)
                near = -one.start if other.unit <= one.unit else -10_000
                ranked.append(((money, candidate.tells, amount.end, near), candidate))
    return [candidate for _, candidate in sorted(ranked, key=lambda item: item[0], reverse=True)]


def _holding(
    one: Printed, other: Printed, amount: Printed, parts: Sequence[Decimal]
) -> Iterator[tuple[Decimal, Decimal, Decimal]]:
    for quantity in one.values:
        for price in other.values:
            for value in amount.values:
                room = amount.unit / 2 + min(abs(quantity) * other.unit, abs(price) * one.unit) / 2
                room = (
                    min(room, Decimal("0.05") * abs(value))
                    if one.unit == 1
                    else min(room, Decimal("0.02") * abs(value))
                )
                free = price == 0 == value and quantity > 0
                of = [abs(quantity * price) * part for part in parts]
                if free or (value and quantity and any(abs(whole - abs(value)) <= room for whole in of)):
                    yield quantity, price, value


def _is_quantity(one: Printed, other: Printed) -> bool:
    """Tell whether the first of two factors is the quantity: it is no amount, and has not more places than the price."""
    if one.money != other.money:
        return other.money
    return one.unit >= other.unit


def _overlap(one: Printed, other: Printed) -> bool:
    return one.start < other.end and other.start < one.end


def _of_one_shape(multiplied: Sequence[Sequence[_Candidate]], *, money: bool, last: bool) -> list[_Candidate]:
    """Return of each line the best product whose three numbers stand in the order of most lines' best ones.

    Args:
        money: whether one of the three has to be printed as an amount.
        last: whether the last amount of a line comes before the first.
    """
    lines = [some for all_of in multiplied if (some := [one for one in all_of if one.is_money or not money])]
    shapes = Counter(some[0].shape for some in lines for _ in range(3 if some[0].tells else 1))
    if not shapes:
        return []
    shape = shapes.most_common(1)[0][0]
    kept = [same for some in lines if (same := [one for one in some if one.shape == shape])]
    if not last:
        kept = [sorted(some, key=lambda one: (one.tells != some[0].tells, one.amount.end)) for some in kept]
    columns = [median(some[0].ends[place] for some in kept) for place in range(3)]

    def astray(one: _Candidate) -> int:
        return sum(abs(end - column) > EDGE for end, column in zip(one.ends, columns, strict=True))

    return [min(some, key=astray) for some in kept]


def _once(products: list[_Candidate]) -> list[_Candidate]:
    """Return products without those of a copy of the pages."""
    half = len(products) // 2
    said = [one.values for one in products]
    return products[:half] if half > 1 and said[:half] == said[half:] else products


def _rank(rows: Sequence[ProvedRow], known: Sequence[Decimal]) -> int:
    """Return which of the known sums rows add up to, the number of them when to none: each may be rounded by half a cent."""
    total = abs(sum((row.amount for row in rows if row.amount is not None), Decimal()))
    room = Decimal("0.005") * len(rows)
    return next((place for place, one in enumerate(known) if abs(abs(one) - total) <= room), len(known))


def _summed_up(
    products: Sequence[_Candidate],
    lines: Sequence[GridLine],
    numbers: Sequence[Sequence[Printed]],
    known: Sequence[Decimal],
) -> Proof:
    """Return the products as rows, with what their sum says."""
    total = abs(sum((candidate.value for candidate in products), Decimal()))
    below = len(products) > 1 and total in _below(products[-1].line, lines, numbers)
    proof = _rows(products, lines, numbers, summed=below)
    return replace(proof, summed=below or _rank(proof.rows, known) < len(known))


def _below(last: int, lines: Sequence[GridLine], numbers: Sequence[Sequence[Printed]]) -> set[Decimal]:
    """Return the amounts in the lines below a table."""
    return {
        abs(value)
        for place in range(last + 1, min(last + 1 + MOST_BELOW * 2, len(lines)))
        for number in numbers[place]
        if number.money
        for value in number.values
    }


def _adding_up(
    lines: Sequence[GridLine],
    numbers: Sequence[Sequence[Printed]],
    multiplied: Sequence[Sequence[_Candidate]],
    known: Sequence[Decimal],
    labelled: Sequence[bool],
) -> Proof | None:
    """Return lines of words and an amount each, one below the other, whose sum is known: as many as add up to it."""
    amounts = [
        (place, one)
        for place, line in enumerate(lines)
        if not labelled[place]
        and any(_WORD.search(near.text) for near in lines[max(0, place - 1) : place + 2])
        for one in reversed(numbers[place])
        if one.money or _GROUPS.fullmatch(line.text[one.start : one.end])
    ]
    ended = [place for place, is_sum in enumerate(labelled) if is_sum]
    sums = {abs(value) for value in known if value}
    for begun, (first, head) in enumerate(amounts):
        total, rows = Decimal(), list[_Candidate]()
        end = next((place for place in ended if place > first), len(lines))
        for place, amount in amounts[begun:]:
            if place >= end or (rows and place - rows[-1].line > MOST_BETWEEN * 4):
                break
            if (rows and place == rows[-1].line) or abs(amount.end - head.end) > EDGE:
                continue
            product = next((one for one in multiplied[place] if one.amount == amount), None)
            rows.append(product or _Candidate(place, amount, amount.values[0]))
            total += rows[-1].value
            if sum(row.value != 0 for row in rows) > 1 and total in sums:
                return _rows(rows, lines, numbers, summed=True)
    return None


def _only(
    lines: Sequence[GridLine],
    numbers: Sequence[Sequence[Printed]],
    known: Sequence[Decimal],
    labelled: Sequence[bool],
) -> Proof | None:
    """Return the line of words that prints a known sum twice, as price and as amount: the only row."""
    for place, line in enumerate(lines):
        amounts = [one for one in numbers[place] if one.money and one.values[0] in known]
        if len(amounts) == 2 and amounts[0].values == amounts[1].values and not labelled[place]:
            one, other = amounts
            if _WORD.search(line.text[: one.start]):
                values = Decimal(1), one.values[0]
                return _rows(
                    [_Candidate(place, other, other.values[0], None, one, values)],
                    lines,
                    numbers,
                    summed=True,
                )
    return None


def _counted(
    lines: Sequence[GridLine], numbers: Sequence[Sequence[Printed]], known: Sequence[Decimal]
) -> Proof | None:
    """Return lines of words, a quantity and a price each whose products, which nobody printed, add up to a known sum."""
    rows: list[ProvedRow] = []
    for place, line in enumerate(lines):
        if len(numbers[place]) != 2 or not _WORD.search(line.text):
            continue
        one, other = numbers[place]
        if not _is_quantity(one, other):
            one, other = other, one
        words, left, start, end = _described(
            line, numbers[place], _Candidate(place, other, other.values[0], one)
        )
        rows.append(ProvedRow(place, words, left, None, abs(one.values[0]), other.values[0], start, end))
        for first in range(len(rows)):
            some = rows[first:]
            total = sum(((row.quantity or 0) * (row.price or 0) for row in some), Decimal())
            if total and total in known and any((row.quantity or 0) > 1 for row in some):
                return Proof(tuple(some), summed=True)
    return None


def _rows(
    found: Sequence[_Candidate],
    lines: Sequence[GridLine],
    numbers: Sequence[Sequence[Printed]],
    *,
    summed: bool,
) -> Proof:
    rows: list[ProvedRow] = []
    bounds = [*(candidate.line for candidate in found[1:]), found[-1].line + 4]
    said = Counter(
        piece[2]
        for candidate in found
        for piece in set(_pieces(lines[candidate.line], numbers[candidate.line], candidate))
    )
    # A word that most rows have is their unit.
    common = {word for word, times in said.items() if " " not in word and times > max(1, len(found) / 2)}
    for candidate, bound in zip(found, bounds, strict=True):
        description, left, start, end = _described(
            lines[candidate.line], numbers[candidate.line], candidate, common
        )
        wordless = _letters(description) <= _FEW or description in common
        if candidate.above is not None:
            begun = [
                _words_of(lines[place], numbers[place]) for place in range(candidate.above, candidate.line)
            ]
            description = " ".join(filter(None, [*begun, description]))
        elif begun := _begun(candidate, rows, lines, numbers, wordless=wordless):
            if rows:
                rows[-1].more = [words for words in rows[-1].more if words not in begun]
            description = " ".join(begun if wordless else [*begun, description])
        quantity, price = candidate.values or (None, None)
        row = ProvedRow(candidate.line, description, left, candidate.value, quantity, price, start, end)
        row.more += _going_on(row, lines, numbers, bound)
        rows.append(row)
    if all(one.quantity is None for one in found) and (counted := _begun_with(found, lines, numbers)):
        rows = [replace(row, quantity=count) for row, count in zip(rows, counted, strict=True)]
    return Proof(tuple(_without_index(rows)), summed)


def _begun_with(
    found: Sequence[_Candidate], lines: Sequence[GridLine], numbers: Sequence[Sequence[Printed]]
) -> list[Decimal]:
    """Return the number that begins each row, where all have one that does not count the rows, nor is a part of a name."""
    first = [next(iter(numbers[one.line]), None) for one in found]
    begun = [
        number.values[0]
        for one, number in zip(found, first, strict=True)
        if number
        and number != one.amount
        and re.fullmatch(r"\d{1,4}\s{1,}", lines[one.line].text[: number.end].strip(" |") + " ")
    ]
    if len(begun) < len(found) or begun == list(range(int(begun[0]), int(begun[0]) + len(begun))):
        return []
    return begun


_FEW, _COLUMNS = 3, 3


def _is_over(cell: Cell, line: GridLine, row: _Candidate) -> bool:
    """Tell whether a cell of another line stands in the column of a number of a row, or right of its amount."""
    if len(line.cells) < _COLUMNS:
        return False
    taken = [number for number in (row.quantity, row.price) if number]
    return cell.left >= row.amount.start or any(
        number.start < cell.right and cell.left < number.end for number in taken
    )


def _begun(
    candidate: _Candidate,
    rows: Sequence[ProvedRow],
    lines: Sequence[GridLine],
    numbers: Sequence[Sequence[Printed]],
    *,
    wordless: bool,
) -> list[str]:
    """Return the lines of words right above a row that are its own, not the last of the rows': its number in the table
    begins them, or its own line has no words but a unit."""
    before = rows[-1].line if rows else -1
    above: list[str] = []
    for place in range(candidate.line - 1, max(before, candidate.line - 1 - MOST_BETWEEN), -1):
        if lines[place].is_blank or any(number.money for number in numbers[place]):
            break
        cells = [cell.text for cell in lines[place].cells if cell.text]
        if len(cells) != 1 or _is_over(lines[place].cells[0], lines[candidate.line], candidate):
            break
        above.insert(0, " ".join(cells[0].split()))
        if (index := _INDEX.match(above[0])) and index[0].strip(" .)") == str(len(rows) + 1):
            return above
    return above[-1:] if wordless else []


def _words_of(line: GridLine, numbers: Sequence[Printed]) -> str:
    """Return the words of a line that a row begins with, without the quantity before them."""
    first = next(iter(numbers), None)
    begins = first is not None and not line.text[: first.start].strip(" |")
    text = line.text[first.end :] if first is not None and begins else line.text
    return " ".join(text.replace("|", " ").split())


def _described(
    line: GridLine, numbers: Sequence[Printed], candidate: _Candidate, common: Container[str] = ()
) -> tuple[str, int, int, int]:
    """Return the words of a row, the column where they begin, and their place in the text.

    They are the cell with most letters of those that other rows do not have in `common`.
    """
    pieces = _pieces(line, numbers, candidate)
    if not pieces:
        return "", 0, line.start, line.end
    left, right, words = max(
        pieces, key=lambda piece: (piece[2] not in common, _letters(piece[2]) > 3, _letters(piece[2]))
    )
    return " ".join(words.split()).strip(" .,:;*"), left, line.start + left, line.start + right


def _pieces(line: GridLine, numbers: Sequence[Printed], candidate: _Candidate) -> list[tuple[int, int, str]]:
    """Return the cells of a row that hold words, not its numbers: where each begins and ends in the line, and its text."""
    numbers_of = (candidate.quantity, candidate.price, candidate.amount)
    text = line.text
    # A price may stand on another line: there its place says nothing of this one.
    taken = [
        one for one in numbers_of if one and one.start >= 0 and re.search(r"\d", text[one.start : one.end])
    ]
    others = (one for one in numbers if one.percent or one.money or one.start > candidate.amount.start)
    for number in [*taken, *others]:
        text = f"{text[: number.start]}{chr(0) * (number.end - number.start)}{text[number.end :]}"
    return [
        (match.start(), match.end(), match[0])
        for match in re.finditer(r"[^\x00|\t ]+(?: [^\x00|\t ]+)*", text)
        if _WORD.search(match[0]) or len(re.sub(r"\W", "", match[0])) > 2
    ]


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _going_on(
    row: ProvedRow, lines: Sequence[GridLine], numbers: Sequence[Sequence[Printed]], bound: int
) -> Iterator[str]:
    """Yield the lines below a row that go on with its description: words alone that begin where it does."""
    for place in range(row.line + 1, min(bound, row.line + 1 + MOST_BETWEEN, len(lines))):
        line = lines[place]
        if line.is_blank:
            continue
        cells = [cell for cell in line.cells if cell.text]
        if any(number.money for number in numbers[place]) or len(cells) != 1:
            return
        if abs((len(line.text) - len(line.text.lstrip())) - row.left) > EDGE and not line.barred:
            return
        yield " ".join(cells[0].text.split())


def _without_index(rows: Sequence[ProvedRow]) -> Iterator[ProvedRow]:
    """Yield the rows without the number of each that stands before its words in all of them."""
    counted = [_INDEX.match(row.description) for row in rows]
    indexed = bool(rows) and all(counted)
    for row, index in zip(rows, counted, strict=True):
        yield replace(row, description=row.description[index.end() :]) if indexed and index else row
