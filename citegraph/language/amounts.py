"""Amounts of money and physical quantities as people write them ("RM 1.5k", "12,50 EUR", "3 Mrd. €", "600 mA")."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache, lru_cache

from citegraph.errors import BadInput
from citegraph.language import units
from citegraph.language.numbers import (
    DIGITS_PATTERN,
    LANGUAGES,
    SPELLED,
    find_spelled,
    number_of,
    parse_number,
)
from citegraph.language.word_tables import alternation, any_of, listed, table, words_to_keys

DIGITS = 15
"""Significant digits that are kept: as many as every double keeps, so that all backends compare alike."""

LIMIT = Decimal(10) ** 15

NUMBER = rf"[-+−]?{DIGITS_PATTERN}"


@dataclass(frozen=True, slots=True)
class Money:
    """An amount (at most 15 significant digits) and its ISO 4217 currency, None when unknown."""

    amount: Decimal
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class Quantity:
    """A physical quantity: `value` in the unit that the field declares, `raw` as it was written."""

    value: float
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number found in a text, with its currency when one is written, and its character offsets."""

    money: Money
    text: str
    span: tuple[int, int]


# ---------------------------------------------------------------- currencies


@cache
def _preferred() -> dict[str, str]:
    return words_to_keys("money", "names")


@cache
def _shared() -> dict[str, tuple[str, ...]]:
    """Return "$", "kr" ... to the codes that each may mean, the most usual first."""
    return {mark: tuple(codes.split()) for mark, codes in table("money")["shared"].items()}


@cache
def currencies() -> dict[str, str]:
    """Return symbols, codes and names (English, German, French), lower case, to ISO 4217 codes."""
    known = table("cldr_currencies")
    names: dict[str, set[str]] = {}
    for code, forms in known.items():
        for form in forms.split(" | "):
            names.setdefault(form, set()).add(code)
    result = {name: next(iter(codes)) for name, codes in names.items() if len(codes) == 1 and len(name) > 3}
    for name, codes in names.items():
        stem = name.rstrip("sne") if name.rstrip("sne") in _preferred() else name.rstrip("s")
        if len(codes) > 1 and stem in _preferred():
            result[name] = _preferred()[stem]
    marks = {word: _shared()[mark][0] for word, mark in words_to_keys("money", "alike").items()}
    codes_themselves = {code.lower(): code for code in known}
    return {
        **result,
        **_preferred(),
        **codes_themselves,
        **words_to_keys("money", "symbols"),
        **marks,
        "$": "USD",
    }


@lru_cache(maxsize=8192)
def currency_code(text: str) -> str | None:
    """Return the ISO 4217 code that a code, symbol or name means, the most usual of several; or None."""
    name = text.strip().lower().rstrip(".")
    return currencies().get(name) or currencies().get(name.rstrip("s"))


@lru_cache(maxsize=8192)
def currency(text: str) -> str | None:
    """Return the currency of a printed mark: its ISO code, "$" or "kr" for one that several share, "cent", or None."""
    name = text.casefold().strip(". ")
    if name in _shared():
        return name
    if name in listed("money", "cents"):
        return "cent"
    if name in units.units() and name not in currencies():
        return None  # "gbps" is no plural of "GBP"
    return words_to_keys("money", "alike").get(name) or currency_code(name)


def same_currency(one: str, other: str) -> bool:
    """Tell whether two currencies can be the same: a bare "$" fits any dollar, "kr" any crown."""
    if one == other:
        return True
    return other in _shared().get(one, ()) or one in _shared().get(other, ())


@lru_cache(maxsize=8192)
def is_currency_here(mark: str, number: str) -> bool:
    """Tell whether a mark beside a printed number is a currency, where it may be a word: "TRY 250", not "top 3"."""
    word = mark.lower().strip(". ")
    if word in listed("money", "printed_as_money"):
        return mark.isupper() and re.search(r"[.,]\d", number) is not None
    return word not in listed("money", "in_capitals") or mark[:1].isupper() or len(word) == 2


# ---------------------------------------------------------------- scales


@cache
def scales() -> dict[str, int]:
    """Return the words behind a number to their power of ten."""
    return {word: int(power) for word, power in words_to_keys("money", "scales").items()}


SCALE_NOTE = re.compile(alternation("money", "scale_note"), re.IGNORECASE)


@lru_cache(maxsize=8192)
def scale(text: str, beside_currency: bool) -> int | None:
    """Return the power of ten of a scale word ("million" gives 6), None when it is none here."""
    key = text.casefold().strip(".")
    if not beside_currency and key in listed("money", "short_scales"):
        return None
    return scales().get(key)


# ---------------------------------------------------------------- amounts in texts


def rounded(number: Decimal) -> Decimal:
    """Return the number with at most 15 significant digits and 4 decimal places.

    Raises:
        BadInput: it is not finite, or 10^15 or more.
    """
    if not number.is_finite() or abs(number) >= LIMIT:
        raise BadInput(f"{str(number)[:40]} is out of range (an amount is below 10^15)")
    places = min(4, DIGITS - max(1, number.adjusted() + 1))
    result = round(number, places) if number else Decimal(0)
    return result.normalize() + 0 if result else Decimal(0)


@cache
def _marks() -> str:
    return any_of([*currencies(), *(f"{name}s" for name in _preferred())])


@cache
def marks_before() -> str:
    """Return what stands before an amount as a currency, as it is printed: "US$", "Rs.", "kr", "TRY"."""
    symbols = [*words_to_keys("money", "symbols"), *_shared()]
    printed = {form for mark in symbols for form in (mark, mark.upper(), mark.capitalize())}
    return rf"(?:{any_of([*printed, *table('cldr_currencies')])}\.?)"


@cache
def _behind() -> re.Pattern[str]:
    """Return the scale and the currency that stand behind a number."""
    times = rf"(?:[ \u00a0]?(?P<k>{any_of(scales())})(?!\w)\.?)?"
    return re.compile(
        rf"(?P<k0>k\b)?{times}(?:[\s-]{{0,2}}(?P<c2>{_marks()})(?:s|n|en)?(?!\w))?", re.IGNORECASE
    )


@cache
def _amount_pattern() -> re.Pattern[str]:
    before = rf"(?:(?<![\w$])(?P<c1>{_marks()})\.?\s{{0,2}}|(?<![\w.,/-]))"
    return re.compile(rf"{before}(?P<n>{NUMBER})(?![\d/])", re.IGNORECASE)


def find_amounts(text: str) -> list[Amount]:
    """Return the numbers in a text with the currency that stands beside each ("over RM 1.5k").

    A number in words is one only where a currency stands behind it ("three million dollars").
    """
    text = text[:20_000]
    found: list[Amount] = []
    if re.search(r"\d", text):
        for match in _amount_pattern().finditer(text):
            number = parse_number(match["n"])
            if number is not None:
                _add(found, text, number, match.span(), match["c1"] or "", match["n"])
    for spelled in find_spelled(text):
        behind = _behind().match(text, spelled.end)
        if behind and behind["c2"] and is_currency_here(behind["c2"], "") and not _over(found, spelled.start):
            _add(found, text, Decimal(spelled.value), (spelled.start, spelled.end), "", "")
    return sorted(found, key=lambda amount: amount.span)


def _over(found: list[Amount], start: int) -> bool:
    return any(amount.span[0] <= start < amount.span[1] for amount in found)


def _add(
    found: list[Amount], text: str, number: Decimal, span: tuple[int, int], before: str, printed: str
) -> None:
    """Add an amount with the scale and the currency that stand behind it, or before it."""
    start, end = span
    behind = _behind().match(text, end)
    assert behind is not None  # every part of it may lack
    mark = before if before and is_currency_here(before, printed) else ""
    if before and not mark:
        start = end - len(printed)
    after = behind["c2"] if behind["c2"] and is_currency_here(behind["c2"], printed) else ""
    if after and not _CENTS.search(printed) and _is_next_ones(text, behind):
        after, behind = "", _behind().match(text, end, behind.start("c2")) or behind
    power = 3 if behind["k0"] else scale(behind["k"] or "", bool(mark or after)) or 0
    if after and not (mark and behind["c2"]):
        end = behind.end()
    elif power:
        end = behind.end("k0") if behind["k0"] else behind.end("k")
    if mark and after and currency_code(mark) == currency_code(after):
        end = behind.end()
    try:
        money = Money(rounded(number * 10**power), currency_code(mark or after) if mark or after else None)
    except BadInput:
        return
    found.append(Amount(money, text[start:end].strip(), (start, end)))


def _is_next_ones(text: str, behind: re.Match[str]) -> bool:
    """Tell whether the currency behind a number is that of the next one: "paid 3 May 2024  GBP 40.00".

    That one has cents, and no currency behind it.
    """
    following = _NUMBER_NEXT.match(text, behind.end("c2"))
    if following is None or not _CENTS.search(following[1]):
        return False
    again = _behind().match(text, following.end())
    return again is None or not again["c2"]


_CENTS = re.compile(r"[.,]\d\d$")
_NUMBER_NEXT = re.compile(rf"[ \u00a0]{{0,2}}({NUMBER})(?![\d/])")


def parse_money(text: str) -> Money:
    """Return the one amount that a text says; its currency is None when the text has none.

    Raises:
        BadInput: the text says no amount, or more than one.
    """
    plain = text.strip()
    try:
        return Money(rounded(Decimal(plain)))
    except InvalidOperation:
        pass
    if re.fullmatch(r"\(.*\d.*\)", plain):
        money = parse_money(plain[1:-1])
        return Money(-money.amount, money.currency)
    found = find_amounts(plain)
    if not found and re.search(r"\d", plain[:60]):
        found = _by_price_parser(plain[:60])
    if len(found) != 1:
        raise BadInput(f"{text[:60]!r} is not an amount of money (examples: 12.50, RM 500, 12,50 EUR, $1k)")
    money = found[0].money
    negative = re.match(r"\s*[-−]\s*\D", plain)
    return Money(-abs(money.amount), money.currency) if negative else money


def _by_price_parser(text: str) -> list[Amount]:
    from price_parser import Price

    price = Price.fromstring(text)
    if price.amount is None or re.search(r"\d[.,]\d+[.,]\d", text):
        return []  # groups of digits that no custom knows are refused, not cut
    money = Money(rounded(price.amount), currency_code(price.currency or ""))
    return [Amount(money, text, (0, len(text)))]


# ---------------------------------------------------------------- quantities

_MEASURE = re.compile(
    rf"(?P<n>{NUMBER})\s*(?:\(\s*\d+\s*\)|\))?[\s-]*"
    r"(?P<u>" + alternation("money", "two_words", blank=" ") + r"|[°℃%µμΩ]?[^\W\d_]*(?:/[^\W\d_]+)?)",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"\s*(?:\(\s*\d+\s*\)|\))?[\s-]*"
    r"(?P<u>" + alternation("money", "two_words", blank=" ") + r"|[°℃%µμΩ]?[^\W\d_]+(?:/[^\W\d_]+)?)",
    re.IGNORECASE,
)


def _measures(text: str) -> list[tuple[float, str, tuple[int, int]]]:
    """Return each number of a text, in digits or in words, with the word behind it and the span of both."""
    found = []
    for spelled in find_spelled(text):
        behind = _UNIT.match(text, spelled.end)
        if behind and behind["u"].lower() not in ("a", "in", "m") and number_of(behind["u"]) is None:
            found.append((float(spelled.value), behind["u"], (spelled.start, behind.end())))
    found += _counted_times(text, [span for _, _, span in found])
    taken = [span for _, _, span in found]  # "two (2) years" is told once
    for match in _MEASURE.finditer(text):
        number = parse_number(match["n"])
        if number is not None and not any(start <= match.start() < end for start, end in taken):
            found.append((float(number), match["u"], match.span()))
    return sorted(found, key=lambda measure: measure[2])


def _counted_times(text: str, taken: list[tuple[int, int]]) -> list[tuple[float, str, tuple[int, int]]]:
    """Return the spans of time whose number and unit are words of one language, of those that are not read everywhere.

    "due" is a number before "anni" alone: a few words of a contract do not tell their language. Italian counts the other
    way round too: "mesi 12", "anni tre".
    """
    found: list[tuple[float, str, tuple[int, int]]] = []
    said = set(re.findall(r"[^\W\d_]+", text.lower()))

    def add(number: float, word: str, span: tuple[int, int]) -> None:
        if not any(start < span[1] and span[0] < end for start, end in taken):
            found.append((number, word, span))
            taken.append(span)

    for language, words in units.durations().items():
        if language in LANGUAGES or language not in SPELLED or said.isdisjoint(words):
            continue
        for spelled in find_spelled(text, language):
            behind = _UNIT.match(text, spelled.end)
            if behind and behind["u"].lower() in words:
                add(float(spelled.value), behind["u"], (spelled.start, behind.end()))
            elif (before := _unit_before(text, spelled.start, words)) and language in _UNIT_FIRST:
                add(float(spelled.value), before[1], (before.start(1), spelled.end))
        for digits in re.finditer(r"\d{1,3}(?!\w|[.,/]\d)", text) if language in _UNIT_FIRST else ():
            behind = _UNIT.match(text, digits.end())
            if (before := _unit_before(text, digits.start(), words)) and not (
                behind and behind["u"].lower() in words
            ):
                add(float(digits[0]), before[1], (before.start(1), digits.end()))
    return found


_UNIT_FIRST = ("it",)
_WORD_BEFORE = re.compile(r"(?<![^\W_])([^\W\d_]+)\s+\Z")


def _unit_before(text: str, start: int, words: Mapping[str, str]) -> re.Match[str] | None:
    """Return the unit of time that stands right before a place, in group 1."""
    found = _WORD_BEFORE.search(text, max(0, start - 20), start)
    return found if found and found[1].lower() in words else None


def parse_quantity(text: str, unit: str) -> float:
    """Return the quantity that a text says, in the declared unit; a bare number is in that unit already.

    Raises:
        BadInput: no number, or a unit that does not convert.
    """
    found = _measures(text[:200])
    if not found:
        raise BadInput(f"{text[:60]!r} is not a quantity (example: 2 {unit})")
    number, written, _ = found[0]
    if written:
        factor, offset = units.conversion(written, unit)
        number = float(f"{number * factor + offset:.12g}")
    return float(f"{number:.{DIGITS}g}")


def find_quantities(text: str, unit: str) -> list[tuple[float, tuple[int, int]]]:
    """Return the quantities in a text whose written unit converts to `unit`, with their character offsets."""
    found = []
    for number, written, span in _measures(text[:20_000]):
        if not written:
            continue
        try:
            factor, offset = units.conversion(written, unit)
        except BadInput:
            continue
        found.append((float(f"{number * factor + offset:.12g}"), span))
    return found


EXACT = 4
"""Decimals up to which a number is said in full; one with more is a quotient."""


def number_text(value: Decimal | float | str) -> str:
    """Return a number with thousands separators and its own decimals, at least two ("0.085"); two where they do not end."""
    number = Decimal(str(value))
    own = -int(number.normalize().as_tuple().exponent)
    return f"{number:,.{own if 2 < own <= EXACT else 2}f}"
