"""Amounts of money and physical quantities as people write them ("RM 1.5k", "12,50 EUR", "600 mA")."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any

from citegraph.errors import BadInput

DIGITS = 15
"""Significant digits that are kept: as many as every double keeps, so that all backends compare alike."""

LIMIT = Decimal(10) ** 15


def read_table(text: str) -> dict[str, str]:
    """Return word -> value of a table written as "value: word word  value: word ..."."""
    table: dict[str, str] = {}
    value = ""
    for part in text.split():
        if part.endswith(":") and len(part) > 1:
            value = part[:-1]
        else:
            table[part] = value
    return table


_SYMBOLS = read_table(
    """
    USD: $ us$ buck bucks     EUR: €      GBP: £ quid     JPY: ¥      MYR: rm sen     INR: ₹ rs       PLN: zł
    KRW: ₩                    TRY: ₺      THB: ฿          VND: ₫      RUB: ₽          BRL: r$         CZK: kč
    CAD: c$ ca$               AUD: a$ au$ HKD: hk$        SGD: s$     TWD: nt$        NZD: nz$        HUF: ft
    CHF: sfr fr               SEK: kr     CNY: rmb
    """
)
"""What stands for one currency beside a number; "$", "kr" and the like for the most usual of theirs."""

_PREFERRED = read_table(
    """
    USD: dollar           GBP: pound pfund livre    CHF: franc franken    MXN: peso     NOK: krone krones
    SEK: krona kronor     DKK: kronen               INR: rupee rupie      IDR: rupiah   KRW: won
    KWD: dinar            BRL: real                 CNY: yuan             RUB: ruble rouble rubel
    TRY: lira             AED: dirham               SAR: riyal            KES: shilling ZAR: rand
    EUR: euro             JPY: yen                  ILS: shekel
    """
)
"""Which currency a name that several share means."""

_MULTIPLIERS = {
    word: int(power)
    for word, power in read_table(
        """
        2: hundred hundert
        3: k thousand tausend tsd mille grand
        6: m mn mio million millions millionen
        9: bn b billion billions mrd milliarde milliarden milliard milliards
        """
    ).items()
}
"""Words after a number, to their power of ten."""

_WORDS = {
    word: int(number)
    for word, number in read_table(
        """
        1: one a an ein eine einem einen un une     2: two zwei deux couple      3: three drei trois
        4: four vier quatre      5: five fünf cinq      6: six sechs             7: seven sieben sept
        8: eight acht huit       9: nine neun neuf      10: ten zehn dix         11: eleven elf onze
        12: twelve zwölf douze   15: fifteen fünfzehn quinze                     18: eighteen achtzehn
        20: twenty zwanzig vingt 24: twenty-four        30: thirty dreißig trente
        36: thirty-six           40: forty vierzig      50: fifty fünfzig        60: sixty sechzig
        90: ninety neunzig       100: hundred hundert cent                       1000: thousand tausend mille
        """
    ).items()
}

NUMBER = r"[-+−]?(?:\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?:[.,]\d{1,4})?|\d+(?:[.,]\d+)?|\.\d+)"


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


@cache
def currencies() -> dict[str, str]:
    """Return symbols, codes and names (English, German, French), lower case, to ISO 4217 codes."""
    from babel import Locale
    from babel.numbers import list_currencies
    from pycountry import currencies as current

    known = {currency.alpha_3 for currency in current}
    names: dict[str, set[str]] = {}
    for language in ("en", "de", "fr"):
        plurals = Locale(language)._data["currency_names_plural"]
        single = Locale(language).currencies
        for code in known & list_currencies():
            forms = {*dict(plurals.get(code, {})).values(), single.get(code, "")}
            for form in forms:
                if words := re.findall(r"[^\W\d_]+", form.lower()):
                    names.setdefault(" ".join(words), set()).add(code)
                    for word in words:
                        names.setdefault(word, set()).add(code)
    result = {name: next(iter(codes)) for name, codes in names.items() if len(codes) == 1 and len(name) > 3}
    for name, codes in names.items():
        stem = name.rstrip("sne") if name.rstrip("sne") in _PREFERRED else name.rstrip("s")
        if len(codes) > 1 and stem in _PREFERRED:
            result[name] = _PREFERRED[stem]
    return {**result, **_PREFERRED, **{code.lower(): code for code in known}, **_SYMBOLS}


def currency_code(text: str) -> str | None:
    """Return the ISO 4217 code that a code, symbol or name means, or None."""
    name = text.strip().lower().rstrip(".")
    return currencies().get(name) or currencies().get(name.rstrip("s"))


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


def parse_number(text: str) -> Decimal | None:
    """Return a written number: "1,000.50", "1.000,50", "1 000", "12,50"; "1,000" is a thousand."""
    text = text.strip().replace("−", "-").replace("’", "'")
    sign = -1 if text.startswith("-") or (text.startswith("(") and text.endswith(")")) else 1
    digits = re.sub(r"[^\d.,]", "", text)
    last = max(digits.rfind("."), digits.rfind(","))
    if last >= 0:
        mark = digits[last]
        both = "." in digits and "," in digits
        grouped = digits.count(mark) > 1 or (
            len(digits) - last - 1 == 3 and not both and digits[:last].lstrip("0")
        )
        whole = re.sub(r"[.,]", "", digits if grouped else digits[:last])
        digits = whole if grouped else f"{whole or '0'}.{digits[last + 1 :] or '0'}"
    try:
        return sign * Decimal(digits)
    except InvalidOperation:
        return None


def _any_of(names: Iterable[str]) -> str:
    """Return a pattern of names that begins with the longest that stands there, letter by letter.

    A plain alternative of 2,000 names is tried name by name at each place of a text: 10 times as slow.
    """
    tree: dict[str, Any] = {}
    for name in names:
        node = tree
        for letter in name:
            node = node.setdefault(letter, {})
        node[""] = {}

    def pattern(node: dict[str, Any]) -> str:
        branches = [re.escape(letter) + pattern(rest) for letter, rest in sorted(node.items()) if letter]
        if not branches:
            return ""
        joined = branches[0] if len(branches) == 1 and "" not in node else f"(?:{'|'.join(branches)})"
        return f"{joined}?" if "" in node else joined

    return f"(?:{pattern(tree)})"


@cache
def _amount_pattern() -> re.Pattern[str]:
    marks = _any_of(currencies())
    before = rf"(?:(?<![\w$])(?P<c1>{marks})\.?\s{{0,2}}|(?<![\w.,/-]))"
    times = rf"(?:\s?(?P<k>{'|'.join(sorted(_MULTIPLIERS, key=len, reverse=True))})(?![\w]))?"
    after = rf"(?:[\s-]{{0,2}}(?P<c2>{marks})(?:s|n|en)?(?!\w))?"
    return re.compile(rf"{before}(?P<n>{NUMBER})(?![\d/])(?P<k0>k\b)?{times}{after}", re.IGNORECASE)


def find_amounts(text: str) -> list[Amount]:
    """Return the numbers in a text with the currency that stands beside each ("over RM 1.5k")."""
    found: list[Amount] = []
    if not re.search(r"\d", text):
        return found
    for match in _amount_pattern().finditer(text[:20_000]):
        number = parse_number(match["n"])
        if number is None:
            continue
        power = 3 if match["k0"] else _MULTIPLIERS.get((match["k"] or "").lower(), 0)
        mark = match["c1"] or match["c2"]
        try:
            money = Money(rounded(number * 10**power), currency_code(mark) if mark else None)
        except BadInput:
            continue
        found.append(Amount(money, match[0].strip(), match.span()))
    return found


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
    if price.amount is None:
        return []
    money = Money(rounded(price.amount), currency_code(price.currency or ""))
    return [Amount(money, text, (0, len(text)))]


@cache
def _units() -> Any:
    from pint import UnitRegistry

    return UnitRegistry(autoconvert_offset_to_baseunit=True, cache_folder=None)


_UNIT_NAMES = {
    word.replace("_", " "): unit
    for word, unit in read_table(
        """
        degC: °c ℃ celsius grad grad_celsius degrees_celsius °   degF: °f
        year: jahr jahre jahren an ans année années yr yrs       month: monat monate monaten mois mo
        week: woche wochen semaine semaines                      ohm: ω      kiloohm: kω    megaohm: mω
        day: tag tage tagen jour jours business_days calendar_days
        volt: volts vdc vac      ampere: amps amp      bit: bits      kilogram: kilo kilos      percent: %
        """
    ).items()
}
"""Written units that pint does not know by that name."""


@cache
def _conversion(unit: str, target: str) -> tuple[float, float]:
    """Return (factor, offset) from a written unit to the declared one: value * factor + offset."""
    from pint.errors import PintError

    registry = _units()
    name = _UNIT_NAMES.get(unit.lower(), unit)
    try:
        zero = registry.Quantity(0.0, name).to(target).magnitude
        return registry.Quantity(1.0, name).to(target).magnitude - zero, zero
    except (PintError, AttributeError, TypeError, ValueError, AssertionError, ZeroDivisionError) as error:
        raise BadInput(f"{unit!r} is not a unit that converts to {target}") from error


_COUNTS = "|".join(sorted(_WORDS, key=len, reverse=True))
_LONG_COUNTS = "|".join(word for word in _WORDS if len(word) > 2)
_MEASURE = re.compile(
    rf"(?P<n>{NUMBER}|\b(?:{_COUNTS})\b)\s*(?:\(\s*\d+\s*\)|\))?[\s-]*(?!(?:{_LONG_COUNTS})\b)"
    r"(?P<u>business days|calendar days|grad celsius|degrees celsius|[°℃%µμΩ]?[^\W\d_]*(?:/[^\W\d_]+)?)",
    re.IGNORECASE,
)


def parse_quantity(text: str, unit: str) -> float:
    """Return the quantity that a text says, in the declared unit; a bare number is in that unit already.

    Raises:
        BadInput: no number, or a unit that does not convert.
    """
    match = _MEASURE.search(text[:200])
    if not match:
        raise BadInput(f"{text[:60]!r} is not a quantity (example: 2 {unit})")
    number = _number(match["n"])
    if number is None:
        raise BadInput(f"{text[:60]!r} is not a quantity (example: 2 {unit})")
    if match["u"]:
        factor, offset = _conversion(match["u"], unit)
        number = float(f"{number * factor + offset:.12g}")
    return float(f"{number:.{DIGITS}g}")


def _number(text: str) -> float | None:
    if text.lower() in _WORDS:
        return float(_WORDS[text.lower()])
    number = parse_number(text)
    return float(number) if number is not None else None


def find_quantities(
    text: str, unit: str, *, forms: Iterable[str] = ()
) -> list[tuple[float, tuple[int, int]]]:
    """Return the quantities in a text whose written unit converts to `unit`, with their character offsets."""
    found = []
    for match in _MEASURE.finditer(text[:20_000]):
        number = _number(match["n"])
        if (
            number is None
            or not match["u"]
            or (match["u"].lower() in ("a", "in", "m") and match["n"].lower() in _WORDS)
        ):
            continue
        try:
            factor, offset = _conversion(match["u"], unit)
        except BadInput:
            continue
        found.append((float(f"{number * factor + offset:.12g}"), match.span()))
    return found
