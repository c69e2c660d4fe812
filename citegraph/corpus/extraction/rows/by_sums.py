"""Finds rows without knowing any head: by what their numbers do, quantity times price and amounts that add up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import permutations
from statistics import median

from citegraph.corpus.extraction.rows.grid import GridLine
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
_MARK = r"(?:[A-Z]{3}|[A-Z]{0,2}[€$£¥₹]|R[sM]\.?|kr\.?|z[łl]|K[čc]|Ft|e)"
_NUMBER = re.compile(
    rf"(?:(?<![\w.,/:#-])|(?<=[\s(][x×]))(?P<open>\()?(?P<before>{_MARK}\s?)?(?P<sign>[-−–+]\s?)?(?P<mid>[€$£¥₹]\s?)?"
    r"(?P<digits>\d{1,3}(?:[ '’\u00a0\u202f]\d{3})+(?:[.,]\d{1,4})?|\d[\d.,]*\d|\d)"
    rf"(?P<behind>\s?(?:%|{_MARK}(?![\w])))?(?P<close>\))?(?![\w/:]|-\d|[.,]\d)"
)
_SMALL = re.compile(r"\d{1,3} \d{3}(?:[.,]\d{1,4})?")
_THOUSANDS = re.compile(r"\d{1,3}(?:[ '’\u00a0\u202f]\d{3})+")
"""Whole units in groups: so programs print amounts of currencies without cents."""
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
    """A row that its numbers prove; `line` is the number of its line, `quantity` and `price` None where it has an amount alone."""

    line: int
    description: str
    left: int
    amount: Decimal
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
        return sum(row.quantity is not None for row in self.rows)


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

    @property
    def tells(self) -> bool:
        """Return whether the product is no accident: a quantity of one and an amount twice, or nothing, may be one."""
        return self.values is not None and self.values[0] != 1 and self.values[1] not in {0, 1}

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
    numbers = [tuple(_numbers(line.text, comma)) for line in lines]
    products = _of_one_shape(
        [found for place in range(len(lines)) if (found := _product(place, lines, numbers))]
    )
    if products:
        proof = _summed_up(products, lines, numbers, known, sums)
        if proof.summed or (len(proof.rows) > 1 and any(found.tells for found in products)):
            return proof
    return _adding_up(lines, numbers, known, sums)


def has_comma(lines: Sequence[GridLine]) -> bool:
    """Tell whether the numbers of a page have a comma before their cents."""
    return sum(len(_COMMA.findall(line.text)) for line in lines) > sum(
        len(_POINT.findall(line.text)) for line in lines
    )


def is_sum(line: GridLine, ends: re.Pattern[str]) -> bool:
    """Tell whether a line, or a later cell of it that names no rate, begins as one of the document's sums does."""
    said = [line.text.strip(" |"), *(cell.text for cell in line.cells[1:] if "%" not in cell.text)]
    return any(ends.match(fold(text)) for text in said)


def missing_factor(
    text: str, known: Decimal, amount: Decimal, *, priced: bool, comma: bool
) -> Decimal | None:
    """Return the number of a row that makes its product right, None when it has none.

    Args:
        known: the factor that is known; `priced` says that it is the price.
        comma: whether numbers have a comma before their cents.
    """
    numbers = [number for number in _numbers(text, comma) if not number.percent]
    for one in (amount, known):
        used = next((number for number in reversed(numbers) if one in number.values), None)
        numbers = [number for number in numbers if number is not used]
    found = (
        value
        for number in numbers
        if not (priced and number.money)
        for value in number.values
        if value and abs(known * value - amount) <= abs(known) * number.unit / 2 + Decimal("0.005")
    )
    return next(found, None)


def _numbers(text: str, comma: bool) -> Iterator[Printed]:
    """Yield the numbers of a line; "1 100,00" is one, and "1" and "100,00" too."""
    for found in _NUMBER.finditer(text):
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
        any(currency_code(mark) or mark == "e" for mark in marks)
        or bool(cents and len(cents[0]) == 3)
        or _THOUSANDS.fullmatch(digits) is not None
    )
    unit = (
        Decimal(1).scaleb(-(len(cents[0]) - 1))
        if cents and cents[0][0] == ("," if comma else ".")
        else Decimal(1)
    )
    start, end = (found.start(), found.end()) if found else (at, at + len(digits))
    yield Printed(start, end, tuple(-value if negative else value for value in values), unit, money, percent)


def _product(
    place: int, lines: Sequence[GridLine], numbers: Sequence[Sequence[Printed]]
) -> _Candidate | None:
    """Return the product that a line holds: of all that hold the one with the last amount, a telling one first."""
    line = lines[place]
    if not _WORD.search(line.text) or line.is_blank:
        return None
    found = [number for number in numbers[place] if not number.percent][-MOST_NUMBERS:]
    return (
        _best_product(place, found, found)
        or _best_product(place, found, _moved(place, lines, numbers))
        or _begun_above(place, found, lines, numbers)
    )


_LINE_APART = 10_000
"""By how much the places of numbers on a line above come before those of a line."""


def _begun_above(
    place: int, found: Sequence[Printed], lines: Sequence[GridLine], numbers: Sequence[Sequence[Printed]]
) -> _Candidate | None:
    """Return the product of a price and an amount with the quantity that begins a line above: the description between wraps."""
    if sum(number.money for number in found) < 2:
        return None
    for above in range(place - 1, max(-1, place - 1 - _MOST_ABOVE), -1):
        if lines[above].is_blank or any(number.money for number in numbers[above]):
            return None
        first = next(iter(numbers[above]), None)
        if first is None or lines[above].text[: first.start].strip(" |"):
            continue
        counted = replace(first, start=first.start - _LINE_APART, end=first.end - _LINE_APART)
        product = _best_product(place, [counted, *found], found)
        return replace(product, above=above) if product and product.quantity == counted else None
    return None


_MOST_ABOVE = 3


def _moved(place: int, lines: Sequence[GridLine], numbers: Sequence[Sequence[Printed]]) -> Sequence[Printed]:
    """Return the amount that stands on the next line, as in a cell that is aligned to its middle: alone there, further right."""
    below = next(
        (after for after in range(place + 1, min(place + 4, len(lines))) if not lines[after].is_blank), None
    )
    amounts = [number for number in numbers[below] if number.money] if below is not None else []
    right = max((number.end for number in numbers[place]), default=0)
    return amounts if len(amounts) == 1 and amounts[0].end > right else []


def _best_product(place: int, found: Sequence[Printed], amounts: Sequence[Printed]) -> _Candidate | None:
    best: tuple[tuple[bool, int, int], _Candidate] | None = None
    for amount in amounts:
        if not amount.money and not any(other.money for other in found):
            continue
        if any(other.start == amount.start and other.end > amount.end for other in found):
            continue  # the "1" of "1 500" counts something, or nothing
        for one, other in permutations([number for number in found if number is not amount], 2):
            if _overlap(one, other) or _overlap(one, amount) or _overlap(other, amount):
                continue
            for quantity, price, value in _holding(one, other, amount):
                candidate = _Candidate(place, amount, value, one, other, (quantity, price))
                rank = (candidate.tells, amount.end, -one.start if other.unit <= one.unit else -10_000)
                if _is_quantity(one, other) and (best is None or rank > best[0]):
                    best = rank, candidate
    return best[1] if best else None


def _holding(one: Printed, other: Printed, amount: Printed) -> Iterator[tuple[Decimal, Decimal, Decimal]]:
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
                if free or (value and quantity and abs(abs(quantity * price) - abs(value)) <= room):
                    yield quantity, price, value


def _is_quantity(one: Printed, other: Printed) -> bool:
    """Tell whether the first of two factors is the quantity: it is no amount, and has not more places than the price."""
    if one.money != other.money:
        return other.money
    return one.unit >= other.unit


def _overlap(one: Printed, other: Printed) -> bool:
    return one.start < other.end and other.start < one.end


def _of_one_shape(found: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the products whose three numbers stand in the order of most."""
    shapes = Counter(candidate.shape for candidate in found for _ in range(3 if candidate.tells else 1))
    if not shapes:
        return []
    shape = shapes.most_common(1)[0][0]
    return [candidate for candidate in found if candidate.shape == shape]


def _summed_up(
    products: Sequence[_Candidate],
    lines: Sequence[GridLine],
    numbers: Sequence[Sequence[Printed]],
    known: Sequence[Decimal],
    labelled: Sequence[bool],
) -> Proof:
    """Return the products as rows, with the lines of an amount alone that make their sum right: discounts, freight."""
    sums = {abs(value) for value in known if value} | _below(products[-1].line, lines, numbers)
    total = sum((candidate.value for candidate in products), Decimal())
    if abs(total) in sums and len(products) > 1:
        return _rows(products, lines, numbers, summed=True)
    alone = [one for one in _alone(products, lines, numbers) if not labelled[one.line]]
    for some in (alone, [one for one in alone if one.line < products[-1].line]):
        extra = sum((one.value for one in some), Decimal())
        if some and abs(total + extra) in sums:
            both = sorted([*products, *some], key=lambda one: one.line)
            return _rows(both, lines, numbers, summed=True)
    return _rows(products, lines, numbers, summed=abs(total) in {abs(value) for value in known})


def _below(last: int, lines: Sequence[GridLine], numbers: Sequence[Sequence[Printed]]) -> set[Decimal]:
    """Return the amounts in the lines below a table."""
    return {
        abs(value)
        for place in range(last + 1, min(last + 1 + MOST_BELOW * 2, len(lines)))
        for number in numbers[place]
        if number.money
        for value in number.values
    }


def _alone(
    products: Sequence[_Candidate], lines: Sequence[GridLine], numbers: Sequence[Sequence[Printed]]
) -> Iterator[_Candidate]:
    """Yield the lines with an amount alone in the column of the amounts, between the rows and directly below them."""
    right = median(candidate.amount.end for candidate in products)
    taken = {candidate.line for candidate in products}
    for place in range(products[0].line, min(products[-1].line + 4, len(lines))):
        amounts = [number for number in numbers[place] if number.money]
        if place in taken or len(amounts) != 1 or not _WORD.search(lines[place].text):
            continue
        if abs(amounts[0].end - right) <= EDGE:
            yield _Candidate(place, amounts[0], amounts[0].values[0])


def _adding_up(
    lines: Sequence[GridLine],
    numbers: Sequence[Sequence[Printed]],
    known: Sequence[Decimal],
    labelled: Sequence[bool],
) -> Proof | None:
    """Return lines of words and an amount each, one below the other, whose sum stands below them or is known."""
    last = [
        (place, amounts[-1])
        for place in range(len(lines))
        if (amounts := [number for number in numbers[place] if number.money])
        and _WORD.search(lines[place].text)
    ]
    sums = {abs(value) for value in known if value}
    for first in range(len(last)):
        total, rows = Decimal(), list[_Candidate]()
        for place, amount in last[first:]:
            apart = rows and (
                place - rows[-1].line > MOST_BETWEEN or abs(amount.end - rows[0].amount.end) > EDGE
            )
            if apart:
                break
            several = sum(row.value != 0 for row in rows) > 1 and not any(labelled[row.line] for row in rows)
            if several and amount.values[0] == total and total in sums:
                return _rows(rows, lines, numbers, summed=True)
            rows.append(_Candidate(place, amount, amount.values[0]))
            total += amount.values[0]
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
    for candidate, bound in zip(found, bounds, strict=True):
        description, left, start, end = _described(lines[candidate.line], numbers[candidate.line], candidate)
        if candidate.above is not None:
            begun = [
                _words_of(lines[place], numbers[place]) for place in range(candidate.above, candidate.line)
            ]
            description = " ".join(filter(None, [*begun, description]))
        elif begun := _begun(candidate, rows, description, lines, numbers):
            if rows:
                rows[-1].more = [words for words in rows[-1].more if words not in begun]
            description = " ".join([*begun, description] if _letters(description) > _FEW else begun)
        quantity, price = candidate.values or (None, None)
        row = ProvedRow(candidate.line, description, left, candidate.value, quantity, price, start, end)
        if candidate is not found[-1] or bound:
            row.more += _going_on(row, lines, numbers, bound)
        rows.append(row)
    return Proof(tuple(_without_index(rows)), summed)


_FEW = 3


def _begun(
    candidate: _Candidate,
    rows: Sequence[ProvedRow],
    description: str,
    lines: Sequence[GridLine],
    numbers: Sequence[Sequence[Printed]],
) -> list[str]:
    """Return the lines of words right above a row that are its own, not the last of the rows': its number in the table
    begins them, or its own line has no words but a unit."""
    before = rows[-1].line if rows else -1
    above: list[str] = []
    for place in range(candidate.line - 1, max(before, candidate.line - 1 - MOST_BETWEEN), -1):
        if lines[place].is_blank or any(number.money for number in numbers[place]):
            break
        cells = [cell.text for cell in lines[place].cells if cell.text]
        if len(cells) != 1:
            break
        above.insert(0, " ".join(cells[0].split()))
        if (index := _INDEX.match(above[0])) and index[0].strip(" .)") == str(len(rows) + 1):
            return above
    return above[-1:] if _letters(description) <= _FEW else []


def _words_of(line: GridLine, numbers: Sequence[Printed]) -> str:
    """Return the words of a line that a row begins with, without the quantity before them."""
    first = next(iter(numbers), None)
    begins = first is not None and not line.text[: first.start].strip(" |")
    text = line.text[first.end :] if first is not None and begins else line.text
    return " ".join(text.replace("|", " ").split())


def _described(
    line: GridLine, numbers: Sequence[Printed], candidate: _Candidate
) -> tuple[str, int, int, int]:
    """Return the words of a row, the column where they begin, and their place in the text: the cell with most letters."""
    numbers_of = (candidate.quantity, candidate.price, candidate.amount)
    taken = [number for number in numbers_of if number and number.start >= 0]
    text = line.text
    for number in [*taken, *(one for one in numbers if one.percent or one.start > candidate.amount.start)]:
        text = f"{text[: number.start]}{chr(0) * (number.end - number.start)}{text[number.end :]}"
    pieces = [
        (match.start(), match.end(), match[0])
        for match in re.finditer(r"[^\x00|\t ]+(?: [^\x00|\t ]+)*", text)
        if _WORD.search(match[0]) or len(re.sub(r"\W", "", match[0])) > 2
    ]
    if not pieces:
        return "", 0, line.start, line.end
    left, right, words = max(pieces, key=lambda piece: (_letters(piece[2]) > 3, _letters(piece[2])))
    return " ".join(words.split()).strip(" .,:;*"), left, line.start + left, line.start + right


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
