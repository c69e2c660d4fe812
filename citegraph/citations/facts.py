"""The hard facts of a text as comparable values: numbers, dates, identifiers and names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache
from typing import Literal

from citegraph.language import units
from citegraph.language.amounts import currency as currency_of
from citegraph.language.amounts import is_currency_here, marks_before, same_currency, scale
from citegraph.language.claim_tokens import stem
from citegraph.language.dates import DateValue, find_dates, month_names, month_number
from citegraph.language.names import LEGAL_FORMS
from citegraph.language.numbers import GROUPED, find_spelled, readings
from citegraph.language.terms import bare, stop_words
from citegraph.language.word_tables import alternation, any_of

Kind = Literal["number", "date", "identifier"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One checkable value with its place in the text.

    Attributes:
        amounts: the possible readings of a number in the base unit of its dimension, the likelier first
            ("1.577" is 1.577 or 1577).
        raw: the same without the factor of the unit ("2 years" is 24 months, raw 2).
        dimension: "" for a bare number, "money:EUR", "percent", "time" (seconds) and so on.
        printed: the digits as printed, without unit.
        decimals: the power of ten of the last printed digit after scaling; rounding is judged by it.
        scaled: a scale word stood beside the number.
        noun: the stem of the word that follows a bare number ("5 employees").
        spelled: written in words.
        label: it numbers a heading, a clause or an item, and measures nothing.
    """

    kind: Kind
    text: str
    start: int
    end: int
    amounts: tuple[Decimal, ...] = ()
    raw: tuple[Decimal, ...] = ()
    dimension: str = ""
    printed: str = ""
    decimals: int = 0
    scaled: bool = False
    noun: str = ""
    spelled: bool = False
    label: bool = False
    date: DateValue | None = None
    key: str = ""


# ---------------------------------------------------------------- numbers in digits

_DIGITS = (
    rf"(?:{GROUPED}|\d{{1,3}}(?:\ \d{{3}})+(?:(?=[,.]\d\d?\s?€"
    r"|\s?(?:€|EUR|CHF|euros))(?:[,.]\d+)?|(?<=\ 000)(?!\d))"
    # Within a sentence or a calculation blanks part no columns: "de 1 391,4 millions", "12 × 5 480 = 65 760".
    r"|(?<=[a-zß-ÿ×*·/+−=-]\ )\d{1,3}(?:\ \d{3})+,\d+(?=\ [a-zß-ÿ×*·/+−=-])"
    r"|(?<=[x×*·/+−=-]\ )\d{1,3}(?:\ \d{3})+(?=\ [x×*·/+−=-])"
    r"|\d+(?:[.,]\d+)?|(?<![\w])[.,]\d+)"
)
_CURRENCY_PREFIX = (
    r"(?:US\s?\$|CA?\$|AU?\$|NZ\$|HK\$|S\$|R\$|[$€£¥₹₩₽₺₪]|USD|EUR|GBP|CHF|RM|MYR|INR|JPY|CNY|CAD|AUD"
    r"|SGD|HKD|SEK|NOK|DKK|PLN|Rs\.?)"
)


@cache
def _number_pattern() -> re.Pattern[str]:
    return re.compile(
        # A sign may have a column of its own, and a bracket before an amount that is negative.
        rf"(?:(?P<currency>(?<![A-Za-z])(?:{_CURRENCY_PREFIX}|{marks_before()}(?=[ \u00a0])))(?:[ \u00a0]{{0,8}}\()?)?"
        r"[ \u00a0]{0,8}"
        rf"(?P<sign>(?<![\w)])[-−+](?=\d))?(?<![\w.,])(?P<digits>{_DIGITS})"
    )


_AFTER = re.compile(
    r"(?P<space>[ \u00a0\u202f]*\n?[ \u00a0\u202f]*)(?P<close>\)[ ]?)?(?P<hyphen>-)?"
    r"(?P<word>[^\W\d_]+(?:[./][^\W\d_]+\d?|[²³](?:/[^\W\d_]+)?|(?<=m)[23](?:/[^\W\d_]+)?(?!\w))?\.?(?![\w$]|['’][^\W\d_])|%|°\s?[CF]?(?:/[A-Z](?!\w))?|[€£¥$₹]|Ω|[kM]Ω|[µμ][A-Za-z]+(?:/[a-z]+)?|US\$)"
)
_NEXT = re.compile(r"[ \u00a0]{1,8}\(?\d")
"""The next number of a row, behind its sign."""
_TWO_WORDS = re.compile(
    rf"[ \u00a0-]*({alternation('statements', 'before_a_unit')})[ \u00a0-]+([^\W\d_]+)",
    re.IGNORECASE,
)
_VERSION = re.compile(r"(?<![\w.])v?\d+(?:\.\d+){2,}(?![\w])")
_HALF = r"(?:(?P<half>[ap])\.?[ ]?m\b\.?|Uhr\b)"
_CLOCK = re.compile(
    rf"""(?<![\w:.,])(?P<hour>[01]?\d|2[0-4])(?:
    :(?P<colon>[0-5]\d)(?::[0-5]\d)?(?![\w:])(?:[ ]?{_HALF.replace("half", "half1")})?
    | [ ]?h(?:eures?)?[ ]?(?P<french>[0-5]\d)(?!\w)
    | \.(?P<dot>[0-5]\d)[ ]?{_HALF.replace("half", "half2")}
    | [ ]?{_HALF.replace("half", "half3")})""",
    re.VERBOSE,
)
_IDENTIFIER = re.compile(
    r"(?<![\w])(?=[\w./:#+-]*(?:-\n[ \t]{0,40})?\d)(?=[\w./:#+-]*[A-Za-z])"
    r"[A-Za-z0-9]+(?:(?:[-_./:#+]|-\n[ \t]{0,40}(?=\d))[A-Za-z0-9]+)*(?![\w])"
    r"|(?<![\w-])\d+(?:-\d+){2,}(?![\w-])|(?<![\w.,])\d{2,}[-/][A-Z]+\b|(?<![\w:])(?:[0-9a-f]{2}:){3,}[0-9a-f]{2}\b"
    r"|(?<![\w.,])\d{4,}[/-]\d+(?![\w])|(?<![\w.,])0\d{4,}(?![\w.,])"
)
_NO_IDENTIFIER = re.compile(
    rf"(?:\d+(?:{alternation('statements', 'ordinal_ends')})|"
    r"FY\d+|\d+(?:[.,]\d+)?-?[^\W\d_]{2,}|(?:\d+(?:[.,]\d+)?-)+[a-zäöüß]{3,}(?:-[a-z]+)*|"
    r"\d+(?:[.,]\d+)?(?:[kmKMµun]?(?:[VAWFHgmLsJ]|Hz|Ω)|[KMBkmb]|bn)|[A-Za-z]?\d{1,2}|T\d\d:\d\d\S*|\d+[:.]\d+[ap]m)",
)


_SLASHED, _GOES_ON = re.compile(r"/\d+$"), re.compile(r",\d")
"""A number behind a stroke that goes on behind a comma is no part of a code: "10,000 flash/100,000 EEPROM"."""
_COMMA_DECIMAL = re.compile(
    r"\d\.\d{3},\d|(?<![\d,.])\d+,\d{1,2}(?![\d,])|\d\s?,\d+\s?(?:€|EUR)|(?<![\d,.])[1-9]\d{0,2}\.\d{3}\s?(?:€|EUR\b|Euro\b)"
)
_DOT_DECIMAL = re.compile(r"\d,\d{3}\.\d|(?<![\d,.])\d+\.\d{1,2}(?![\d.])|\d,\d{3}(?!\d)")


@lru_cache(maxsize=2048)
def uses_comma_decimals(text: str) -> bool:
    """Tell whether a text writes 1.234,56 (German, French) rather than 1,234.56."""
    comma = len(_COMMA_DECIMAL.findall(text))
    return comma > 0 and comma > len(_DOT_DECIMAL.findall(text))


def _tail(
    text: str, at: int, currency: str | None
) -> tuple[int, int, str | None, tuple[str, Decimal] | None]:
    """Read scale, currency and unit behind a number: (end, power of ten, currency, unit)."""
    power = 0
    end = at
    for _ in range(4):
        match = _AFTER.match(text, end)
        if match is None:
            break
        if match["close"] and end != at:
            break
        word = match["word"]
        if "\n" in match["space"] and len(word) < 3:
            break
        glued = not match["space"] and not match["close"]
        pair = _TWO_WORDS.match(text, end + (len(match["close"] or "")))
        if pair:
            found = units.unit(f"{pair[1]} {pair[2]}", False)
            if found is None and pair[1].casefold() == "calendar":
                found = units.unit(pair[2], False)
            if found:
                return pair.end(), power, currency, found
        ten = scale(word, currency is not None or (glued and word in ("K", "k", "M", "B")))
        if ten is None and power == 0 and word in ("m", "b", "M") and not currency:
            after = _AFTER.match(text, match.end())
            if after and currency_of(after["word"]):
                ten = scale(word, True)
        if ten is not None:
            power += ten
            end = match.end()
            continue
        code = currency_of(word)
        if code and currency is not None and _NEXT.match(text, match.end()):
            break  # of "$ 36 $ 34" the second sign is the second number's
        if code and (currency is None or same_currency(code, currency)):
            if not is_currency_here(word, text[at - 8 : at]):
                break
            currency = code if currency in (None, "$") else currency
            end = match.end()
            if power:
                break
            continue
        found = units.unit(word.replace(" ", ""), glued or bool(match["hyphen"]))
        if found is None and word.endswith("."):
            found = units.unit(word[:-1], glued)
        if found and currency is None:
            return match.end(), power, currency, found
        break
    return end, power, currency, None


_NOUN = re.compile(r"[\s)-]*([^\W\d_]{3,})")


def _number(
    text: str, span: tuple[int, int], amounts: tuple[Decimal, ...], currency: str | None, spelled: bool
) -> Fact:
    start, end = span
    printed = text[start:end]
    tail_end, power, code, found = _tail(text, end, currency)
    dimension, factor = found or ("", Decimal(1))
    if code and not power and len(amounts) == 2:
        amounts = tuple(
            sorted(amounts, reverse=True)
        )  # no price has three decimals: "50.000 Euro", "EUR 50,000"
    if code:
        if code == "cent":
            dimension, factor = "money:$", Decimal("0.01")
        else:
            dimension = f"money:{code}"
    multiplier = factor * (Decimal(10) ** power)
    exponent = amounts[0].as_tuple().exponent
    places = -exponent if isinstance(exponent, int) else 0
    noun = ""
    if not dimension:
        following = _NOUN.match(text, tail_end)
        noun = stem(following[1]) if following and bare(following[1]) not in stop_words("grammar") else ""
    return Fact(
        "number",
        text[start:tail_end],
        start,
        tail_end,
        tuple(a * multiplier for a in amounts),
        tuple(a * Decimal(10) ** power for a in amounts),
        dimension,
        printed,
        power - int(places),
        bool(power),
        noun,
        spelled,
    )


_DIGIT = re.compile(r"\d")
_NUMBERED = re.compile(
    r"""(?:^|(?<=\n))[ \t]*(?:\#{1,6}[ \t]*)?(?:
    \(?(?P<item>\d{1,3})[.)](?=\s|$)              # "3. Term", "(3) Term", "## 3) Term"
    |(?P<clause>\d{1,2}(?:\.\d|(?:\.\d{1,2}){2,}))(?=\.?[ \t]+[^\W\d_a-z])  # "3.1 Term", but "1.50 Milk" is a price
    )""",
    re.VERBOSE,
)
_REFERRED = re.compile(
    rf"(?<!\w)(?:{alternation('statements', 'places')})\s*(?P<item>\d{{1,3}}(?:\.\d{{1,3}})*)(?!\w)",
    re.IGNORECASE,
)


def _blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with blanks in some places, in their order."""
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += [text[at:start], " " * (end - max(start, at))]
        at = max(at, end)
    return "".join([*parts, text[at:]]) if parts else text


def _has_unit(text: str, at: int) -> bool:
    _, power, code, found = _tail(text, at, None)
    return bool(power or code or found)


@lru_cache(maxsize=2048)
def hard_facts(text: str, comma_decimal: bool = False) -> tuple[Fact, ...]:
    """Return the numbers, dates and identifiers of a text in order of their place."""
    facts: list[Fact] = []
    rest = text
    if _DIGIT.search(text):
        facts, rest = _read_dates(text)
        rest = _read_identifiers(rest, facts)
        rest = _read_digits(rest, comma_decimal, facts)
    rest = _read_months(rest, facts)
    _read_spelled(rest, facts)
    return _twin_units(text, tuple(sorted(facts, key=lambda f: f.start)))


def dated(text: str) -> list[Fact]:
    """Return those of the hard facts of a text that name a day or a year, in order."""
    return _read_dates(text)[0]


def _read_dates(text: str) -> tuple[list[Fact], str]:
    facts: list[Fact] = []
    for found in find_dates(text):
        span = (found.start, found.end)
        year = found.kind == "year"
        if year and (_has_unit(text, found.end) or text[: found.start].rstrip()[-1:] in tuple("$€£¥")):
            continue
        amounts = (Decimal(found.value.year),) if year and found.value.year else ()
        facts.append(Fact("date", found.text, *span, amounts, date=found.value))
    return facts, _blanked(text, [(fact.start, fact.end) for fact in facts])


@cache
def _month_alone() -> re.Pattern[str]:
    """Return the pattern of months by their name alone; short ones, and those with another meaning, are left out."""
    longer = [
        name for name in month_names(beside_a_day=False) if len(name) > 4 and name not in ("march", "maerz")
    ]
    begins = "".join(sorted({name[0] for name in longer}))
    return re.compile(rf"(?<!\w)(?=[{begins}]){any_of(longer)}(?!\w)", re.IGNORECASE)


def _read_months(rest: str, facts: list[Fact]) -> str:
    spans: list[tuple[int, int]] = []
    for match in _month_alone().finditer(rest):
        value = DateValue(month=month_number(match.group()))
        facts.append(Fact("date", match.group(), *match.span(), date=value))
        spans.append(match.span())
    return _blanked(rest, spans)


def _read_identifiers(rest: str, facts: list[Fact]) -> str:
    for pattern in (_VERSION, _CLOCK, _IDENTIFIER):
        spans: list[tuple[int, int]] = []
        for match in pattern.finditer(rest):
            word = match.group()
            if pattern is _IDENTIFIER and _NO_IDENTIFIER.fullmatch(word):
                continue
            if pattern is _IDENTIFIER and (_measured(word) or _PRICED.match(word)):
                continue
            if pattern is _IDENTIFIER and _GOES_ON.match(rest, match.end()) and _SLASHED.search(word):
                continue
            # A code may go on in the next line behind its hyphen.
            key = _clock(match) if pattern is _CLOCK else re.sub(r"-\s+", "-", word).casefold()
            facts.append(Fact("identifier", word, *match.span(), key=key))
            spans.append(match.span())
        rest = _blanked(rest, spans)
    return rest


_PRICED = re.compile(_CURRENCY_PREFIX + r"\d")
_GLUED = re.compile(r"\d+(?:[.,]\d+)?(?P<unit>[^\W\d_]+/[^\W\d_]+)")


def _measured(word: str) -> bool:
    """Tell whether what looks like a code is a number with a compound unit: "3.9K/W"."""
    match = _GLUED.fullmatch(word)
    return match is not None and units.unit(match["unit"], True) is not None


def _clock(match: re.Match[str]) -> str:
    """Return a time of day as "17:05", however it is printed: "5.05 p.m.", "17h05", "17.05 Uhr"."""
    hour = int(match["hour"])
    half = match["half1"] or match["half2"] or match["half3"]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"{hour:02d}:{match['colon'] or match['french'] or match['dot'] or '00'}"


def _read_digits(rest: str, comma_decimal: bool, facts: list[Fact]) -> str:
    for match in _number_pattern().finditer(rest):
        amounts = readings(match["digits"], comma_decimal)
        if not amounts:
            continue
        if match["sign"] in ("-", "−"):
            amounts = tuple(-a for a in amounts)
        mark = match["currency"] or ""
        known = mark and is_currency_here(mark, match["digits"])
        code = currency_of(mark.replace(" ", "")) if known else None
        fact = _number(rest, match.span("digits"), amounts, code, False)
        if code:
            fact = replace(fact, start=match.start(), text=rest[match.start() : fact.end])
        facts.append(fact)
    _mark_labels(rest, facts)
    return _blanked(rest, [(fact.start, fact.end) for fact in facts if fact.kind == "number"])


def _mark_labels(text: str, facts: list[Fact]) -> None:
    """Mark the bare numbers that count headings, clauses and items."""
    if all(fact.kind != "number" or fact.dimension or fact.scaled for fact in facts):
        return
    labels = {match.start(match.lastgroup or 0) for match in _NUMBERED.finditer(text)}
    labels |= {match.start("item") for match in _REFERRED.finditer(text)}
    for place, fact in enumerate(facts):
        if fact.kind == "number" and not fact.dimension and not fact.scaled and fact.start in labels:
            facts[place] = replace(fact, label=True)


def _read_spelled(rest: str, facts: list[Fact]) -> None:
    for spelled in find_spelled(rest):
        if spelled.weak:
            _, _, code, unit = _tail(rest, spelled.end, None)
            if unit is None and code in (None, "cent"):
                continue
        span = (spelled.start, spelled.end)
        facts.append(_number(rest, span, (Decimal(spelled.value),), None, True))


def _twin_units(text: str, facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Give a number in words the unit of the digits behind it: "twenty-four (24) months"."""
    out = list(facts)
    for i, fact in enumerate(out):
        if fact.spelled and not fact.dimension:
            for other in out[i + 1 : i + 2]:
                between = text[fact.end : other.start]
                if other.kind == "number" and between.strip() in ("(", "($", "(€", "(US$"):
                    amounts = tuple(a * _factor(other) for a in fact.amounts)
                    out[i] = Fact(
                        "number",
                        fact.text,
                        fact.start,
                        fact.end,
                        amounts,
                        fact.raw,
                        other.dimension,
                        fact.printed,
                        0,
                        False,
                        other.noun,
                        True,
                    )
    return tuple(out)


def with_unit(fact: Fact, unit: tuple[str, Decimal] | None) -> Fact:
    """Return a bare number in the unit that stands in its table's head or in a cell of its own, any other as it is."""
    if unit is None or fact.kind != "number" or fact.dimension or fact.scaled or fact.label:
        return fact
    return replace(fact, dimension=unit[0], amounts=tuple(a * unit[1] for a in fact.amounts))


def _factor(fact: Fact) -> Decimal:
    return fact.amounts[0] / fact.raw[0] if fact.raw and fact.raw[0] else Decimal(1)


# ---------------------------------------------------------------- names

_NAME = re.compile(
    r"(?<![\w])[A-ZÀ-ÞŠŽ][^\W\d_]*(?:[-'’.&][^\W\d_]+)*"
    rf"(?:(?:\s+(?:{alternation('statements', 'within_names')})\s+|[ \t]*&[ \t]*|[ \t]+)[A-ZÀ-ÞŠŽ][^\W\d_]*(?:[-'’.&][^\W\d_]+)*)*"
)
_PART = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


@dataclass(frozen=True, slots=True)
class Name:
    """A capitalised run of words; `stems` leaves out legal forms and stop words."""

    text: str
    start: int
    end: int
    stems: tuple[str, ...]


@lru_cache(maxsize=4096)
def names(text: str) -> tuple[Name, ...]:
    """Return the capitalised runs of a text in order, stop words and legal forms not counted."""
    found: list[Name] = []
    for match in _NAME.finditer(text):
        stems = tuple(
            stem(w)
            for w in _PART.findall(match.group())
            if bare(w) not in stop_words("grammar") and bare(w) not in LEGAL_FORMS and len(w) > 1
        )
        if stems:
            found.append(Name(match.group(), *match.span(), stems))
    return tuple(found)
