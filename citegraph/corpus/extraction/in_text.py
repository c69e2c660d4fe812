"""Finds values of a field's type in running text: dates, amounts, quantities, numbers, places, identifiers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache

from citegraph.corpus.schema.field import Field, Value
from citegraph.corpus.schema.values import coerce
from citegraph.errors import BadInput
from citegraph.language.amounts import Amount, Quantity, find_amounts, find_quantities
from citegraph.language.dates import find_days
from citegraph.language.terms import fold
from citegraph.language.word_tables import alternation, listed, table, words_to_keys


@dataclass(frozen=True, slots=True)
class Typed:
    """A value as it stands in a text: its characters from `start` to `end` and what they mean."""

    start: int
    end: int
    raw: str
    value: Value


_CELL_END = re.compile(r"[ \t]{2,}|[\t\n\f|]")
_CENTS = re.compile(r"[.,]\d{2}(?!\d)|\d{3}\.\d(?!\d)")
"""What says that a number is an amount; programs print 1200.50 as "1200.5"."""
_CELL_ALONE = re.compile(r"\|[ \t]*(?P<number>[-−]?\d[\d.,'’ \u00a0\u202f]*)[ \t|]*")
"""A cell of a table that holds a number and nothing else, from its bar on: spreadsheets print no cents of round amounts."""
_IDENTIFIER = re.compile(
    r"(?<![\w.,/-])(?=[\w./#-]*\d)[A-Z0-9][\w./#-]*(?:(?:[ ]\d{3,5}){2,}(?![\w./-])|[ ](?=[\w./-]*\d)[\w./-]+(?-i:[ ][A-Z]{1,4}(?=\s*$))?)?",
    re.IGNORECASE,
)
DAY = re.compile(r"(?:19|20)\d\d([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2(?:19|20)\d\d")
"""A day in figures, which is no identifier."""
_REGISTRATION = re.compile(r"[A-Za-z]{2,3}\d{5,}")
"""A number that begins with a country ("FR11999999998") is that of a VAT payer, not francs."""
_NUMBER = re.compile(r"(?<![\w.,])[-+]?\d[\d.,'’]*")


def find_typed(field: Field, text: str, *, today: date, order: str) -> Iterator[Typed]:
    """Yield the values of the field's type in a text, in order; a string is what stands in the first cell."""
    match field.type:
        case "date":
            yield from find_dates(text, field.date_order or order, today)
        case "money":
            yield from _money(field, text)
        case "quantity":
            yield from _quantities(field, text)
        case "integer" | "decimal":
            yield from _coerced(field, text, _NUMBER, today, order)
        case "boolean":
            yield from _coerced(field, text, re.compile(r"\w+"), today, order)
        case _:
            yield from _strings(field, text, today, order)


def find_dates(text: str, order: str, today: date) -> Iterator[Typed]:
    """Yield the days in a text; `order` decides what 03/04/2018 means."""
    for found, day in find_days(text, order):
        if 1900 <= day.year <= today.year + 100:
            yield Typed(found.start, found.end, found.text, day)


@lru_cache(maxsize=2048)
def _amounts(text: str) -> tuple[Amount, ...]:
    """Return the amounts of a line; each money field of a bucket looks at the same lines."""
    return tuple(find_amounts(text))


def _money(field: Field, text: str) -> Iterator[Typed]:
    """Yield amounts: numbers with cents or with a currency beside them, or alone in a cell, never a percentage."""
    alone = _CELL_ALONE.fullmatch(text)
    for amount in _amounts(text):
        start, end = amount.span
        raw = text[start:end]
        if (
            re.match(r"\s?%", text[end:])
            or re.search(r"\d[.,]\s?$", text[:start])
            or _REGISTRATION.fullmatch(raw)
        ):
            continue
        cents = _CENTS.search(raw)
        if not cents and amount.money.currency is None and not (alone and start == alone.start("number")):
            continue
        sign = _sign(text, start, end)
        money = amount.money
        if sign < 0 and money.amount > 0:
            money = type(money)(-money.amount, money.currency)
        yield Typed(start, end, raw, type(money)(money.amount, money.currency or field.currency))


def _sign(text: str, start: int, end: int) -> int:
    before, after = text[max(0, start - 2) : start], text[end : end + 1]
    minus = re.search(r"(?:^|[\s(:])[-−–]\s?$", text[max(0, start - 3) : start])
    return (
        -1 if minus or (before.endswith("(") and after == ")") or re.match(r"[-−](?![\w])", text[end:]) else 1
    )


def _quantities(field: Field, text: str) -> Iterator[Typed]:
    assert field.unit is not None
    for value, (start, end) in find_quantities(text, field.unit):
        raw = text[start:end]
        yield Typed(start, end, raw, Quantity(value + 0.0, " ".join(raw.split())))


def read_value(field: Field, raw: str, today: date, order: str) -> Value | None:
    """Return a raw value as the field's type, None where the field does not take it."""
    try:
        return coerce(field, raw, today=today, order=order)
    except BadInput:
        return None


def _coerced(field: Field, text: str, pattern: re.Pattern[str], today: date, order: str) -> Iterator[Typed]:
    for found in pattern.finditer(text):
        if (value := read_value(field, found[0], today, order)) is not None:
            yield Typed(found.start(), found.end(), found[0], value)


def _strings(field: Field, text: str, today: date, order: str) -> Iterator[Typed]:
    if field.values:
        yield from _declared(field, text)
    elif field.kind in ("country", "jurisdiction"):
        yield from find_places(field, text, today=today, order=order)
    elif field.kind in ("identifier", "version"):
        for found in _IDENTIFIER.finditer(text):
            if field.kind == "identifier" and DAY.fullmatch(found[0]):
                continue
            yield from _one(field, text, found.start(), found.end(), today, order)
    else:
        start = len(text) - len(text.lstrip())
        end = _CELL_END.search(text, start)
        yield from _one(field, text, start, end.start() if end else len(text), today, order)


def _one(field: Field, text: str, start: int, end: int, today: date, order: str) -> Iterator[Typed]:
    raw = text[start:end].rstrip(" .,:;-")
    if not raw or not any(character.isalnum() for character in raw):
        return
    if field.kind == "organization" and not re.search(r"[^\W\d_]{2}", raw):
        return
    if (value := read_value(field, raw, today, order)) is not None:
        yield Typed(start, start + len(raw), raw, value)


def _declared(field: Field, text: str) -> Iterator[Typed]:
    """Yield the declared values of the field by their surface forms, the longest first at a place."""
    for found in _forms_pattern(tuple(field.canonical)).finditer(text):
        canonical = field.canonical.get(fold(found[0]))
        if canonical:
            value: Value = (canonical,) if field.type == "keywords" else canonical
            yield Typed(found.start(), found.end(), found[0], value)


def find_in_compounds(field: Field, text: str) -> Iterator[Typed]:
    """Yield the declared values that longer words end with, as German and Dutch put them together ("Zeitmietvertrag")."""
    forms = [form for form in field.canonical if form.isalpha() and len(form) >= _SHORTEST_HEAD]
    for word in re.finditer(r"[^\W\d_]+", text):
        said = fold(word[0])
        form = max((form for form in forms if said.endswith(form)), key=len, default=None)
        if form and len(said) == len(word[0]):
            start = word.end() - len(form)
            yield Typed(start, word.end(), text[start : word.end()], field.canonical[form])


_SHORTEST_HEAD = 8
"""Letters of a word that others are put before."""


@cache
def _forms_pattern(forms: tuple[str, ...]) -> re.Pattern[str]:
    ordered = sorted(forms, key=len, reverse=True)
    return re.compile(
        r"(?<!\w)(?:" + "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in ordered) + r")(?!\w)",
        re.IGNORECASE,
    )


@cache
def place_names() -> dict[str, str]:
    """Return folded names of countries, states and provinces to the name that people use (pycountry, CLDR)."""
    import pycountry

    names: dict[str, str] = {}
    for part in pycountry.subdivisions:
        if part.country_code in ("US", "CA", "AU", "GB", "CH", "DE"):
            names.setdefault(fold(part.name), part.name)
    for country in pycountry.countries:
        shown = getattr(country, "common_name", country.name).partition(",")[0]
        for key in ("name", "official_name", "common_name"):
            if text := getattr(country, key, None):
                names.setdefault(fold(text), shown)
                names.setdefault(fold(text.partition(",")[0]), shown)
    # The parts of the United Kingdom and other law districts that ISO 3166 does not name so.
    for name in listed("labels", "more_places"):
        names[fold(name)] = name
    inside = {word for name in names for word in name.split() if name != word}
    for code, forms in table("cldr_countries").items():
        if (shown := _shown(code)) is not None:
            # "Island" is Iceland in German, and a word of other places in English.
            others = (fold(form) for form in forms.split(" | "))
            names |= {
                form: shown for form in others if len(form) > 3 and form not in names and form not in inside
            }
    return names


def _shown(code: str) -> str | None:
    """Return the name that people use for a country (ISO 3166-1 alpha-2)."""
    import pycountry

    country = pycountry.countries.get(alpha_2=code)
    return getattr(country, "common_name", country.name).partition(",")[0] if country else None


def find_places(field: Field, text: str, *, today: date, order: str) -> Iterator[Typed]:
    """Yield the countries, states and provinces that a text names, the longest name at a place.

    A law has a country's adjective too: "droit français", "deutsches Recht".
    """
    places = [
        (found, place_names()[fold(found[0].replace("’", "'"))]) for found in _places_pattern().finditer(text)
    ]
    if field.kind == "jurisdiction":
        adjectives = (
            (found, _shown(words_to_keys("demonyms")[(found[1] or found[2]).casefold()]))
            for found in _laws_pattern().finditer(text)
        )
        places += [(found, name) for found, name in adjectives if name]
    for found, name in sorted(places, key=lambda place: place[0].start()):
        if (value := read_value(field, name, today, order)) is not None:
            yield Typed(found.start(), found.end(), found[0], value)


def find_law(text: str) -> tuple[int, int, str] | None:
    """Return (start, end, country) of the only law that a text names by its country's adjective, None of several."""
    # Words for law are few: around each of them alone a country's adjective is looked for.
    near = ((max(0, law.start() - _ADJECTIVE), law.end() + _ADJECTIVE) for law in _law_words().finditer(text))
    found = [law for start, end in near if (law := _laws_pattern().search(text, start, end))]
    codes = {words_to_keys("demonyms")[(law[1] or law[2]).casefold()] for law in found}
    name = _shown(codes.pop()) if len(codes) == 1 else None
    return (*found[-1].span(), name) if name else None


_ADJECTIVE = 24


@cache
def _law_words() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{alternation('contracts', 'law')})(?!\w)", re.IGNORECASE)


@cache
def _laws_pattern() -> re.Pattern[str]:
    """Return the adjective of a country beside a word for law."""
    law = alternation("contracts", "law")
    adjectives = "|".join(sorted(map(re.escape, words_to_keys("demonyms")), key=len, reverse=True))
    return re.compile(
        rf"(?<!\w)(?:({adjectives})\s+(?:{law})|(?:{law})\s+({adjectives}))(?!\w)", re.IGNORECASE
    )


@cache
def _places_pattern() -> re.Pattern[str]:
    ordered = sorted((name for name in place_names() if len(name) > 3), key=len, reverse=True)
    forms = "|".join(re.escape(name).replace(r"\ ", r"\s+").replace("'", "['’]") for name in ordered)
    return re.compile(rf"(?<!\w)(?:{forms})(?!\w)", re.IGNORECASE)
