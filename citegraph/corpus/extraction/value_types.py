"""Which type the values beside a label have, as a field of a declaration says it."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from citegraph.corpus.extraction.in_text import find_dates
from citegraph.corpus.schema.field import Field
from citegraph.corpus.schema.values import coerce_period
from citegraph.errors import BadInput
from citegraph.language.amounts import currency_code, parse_quantity
from citegraph.language.names import CLEAR_FORMS, parse_name, words

AGREE = 0.8
"""Share of a label's values that have to read as a type for the field to have it."""
FEW_VALUES = 12
"""A keyword with at most this many values, each in several documents, is declared with its values."""
LONG_NUMBER = 7
"""Digits from which a number without separators names something."""
TODAY = date(2026, 1, 1)

_AMOUNT = re.compile(
    r"(?P<before>[^\W\d_]{1,3}|[€$£¥])?\.?\s?[-+]?\d[\d.,'’ ]*\s?(?P<after>[^\W\d_]{1,3}|[€$£¥])?"
)
_MEASURE = re.compile(r"\(?[-+<>≤≥~]?\s?\d[\d.,]*\s?(?P<unit>[^\W\d_]{1,8}|[°µΩ%][^\W\d_]{0,3})\)?")
_CENTS = re.compile(r"\d[.,]\d{2}(?!\d)")
_CODE = re.compile(r"(?=\S*\d)[\w./:#+-]+")
_MONEY_WORDS = words(
    """
    total subtotal sum amount price cost fee net gross tax vat gst cash change balance due payment payable paid charge
    tendered rounding discount betrag summe preis netto brutto steuer mwst ust kosten zahlbetrag montant prix somme tva
    """
)
"""Words of labels beside which a number with two decimals is money, whatever its currency."""


def typed_as(label: str, values: Sequence[str]) -> dict[str, Any]:
    """Return type, and kind, unit, currency or values where they can be told, of the field that has such values."""
    if (
        _share(values, lambda value: value.casefold() in ("true", "false", "yes", "no", "ja", "nein"))
        >= AGREE
    ):
        return {"type": "boolean"}
    if _share(values, _is_date) >= AGREE or _share(values, is_moment) >= AGREE:
        return {"type": "date"}
    if _share(values, _is_name_number) >= AGREE:
        return {"type": "keyword", "kind": "identifier"}
    if _share(values, lambda value: bool(re.fullmatch(r"[-+]?\d{1,6}", value))) >= AGREE:
        return {"type": "integer"}
    if _share(values, _is_amount) >= AGREE:
        return _number(label, values)
    if unit := _unit(values):
        return {"type": "quantity", "unit": unit}
    return _strings(values)


def _number(label: str, values: Sequence[str]) -> dict[str, Any]:
    said = re.findall(r"[^\W\d_]+", label.casefold())
    # German joins them: "Bruttosumme", "Steuerbetrag".
    named = any(word in said or (len(word) > 4 and any(word in one for one in said)) for word in _MONEY_WORDS)
    cents = _share(values, lambda value: bool(_CENTS.search(value)))
    codes = Counter(code for value in values if (code := _currency(value)))
    if sum(codes.values()) >= len(values) / 2 or (named and cents >= AGREE):
        return {"type": "money"}
    return {"type": "decimal"}


def _unit(values: Sequence[str]) -> str:
    """Return the unit that most of the values have, "" without one that is known as such."""
    units = Counter(found["unit"] for value in values if (found := _MEASURE.fullmatch(value)))
    unit, count = next(iter(units.most_common(1)), ("", 0))
    if count < AGREE * len(values):
        return ""
    try:
        parse_quantity(f"1 {unit}", unit)
    except BadInput:
        return ""
    return unit


def _strings(values: Sequence[str]) -> dict[str, Any]:
    """Return how strings are declared: lists, names of companies, few values, codes, else keyword or text."""
    if _share(values, lambda value: value.count(";") > 0) >= 0.5:
        return {"type": "keywords"}
    if _share(values, lambda value: "=" not in value and bool(parse_name(value).legal & CLEAR_FORMS)) >= 0.3:
        return {"type": "keyword", "kind": "organization"}
    counts = Counter(values)
    if len(counts) <= FEW_VALUES and len(values) >= 2 * len(counts) and len(counts) > 1:
        return {"type": "keyword", "values": {value: [] for value in sorted(counts)}}
    if _share(values, lambda value: bool(_CODE.fullmatch(value))) >= AGREE:
        return {"type": "keyword", "kind": "identifier"}
    return {"type": "text" if sum(map(len, values)) / len(values) > 80 else "keyword"}


def _share(values: Sequence[str], test: Callable[[str], bool]) -> float:
    return sum(1 for value in values if test(value)) / max(1, len(values))


def _is_date(value: str) -> bool:
    found = next(find_dates(value, "DMY", TODAY), None)
    return found is not None and len(value) - (found.end - found.start) <= 12


def is_moment(value: str) -> bool:
    """Return whether a value names one day, though not as running text writes it ("Jan 15 10:00:00 2021 GMT")."""
    if not re.search(r"[12]\d{3}", value) or _is_date(value):
        return False
    try:
        return coerce_period(_DAY, value, today=TODAY).is_day
    except BadInput:
        return False


def is_day(value: str) -> bool:
    """Return whether a value is a date, with little beside it."""
    return _is_date(value) or is_moment(value)


def is_typed(value: str) -> bool:
    """Return whether a value is an amount, a measure, a date or a code, and nothing else."""
    return _is_amount(value) or is_day(value) or bool(_CODE.fullmatch(value) or _MEASURE.fullmatch(value))


def is_code(value: str) -> bool:
    """Return whether a value is one word with a digit, as codes are."""
    return bool(_CODE.fullmatch(value))


_DAY = Field(name="day", type="date", description="")


def _is_name_number(value: str) -> bool:
    """Return whether a number names something: long, or with leading zeros."""
    return bool(re.fullmatch(rf"0\d+|\d{{{LONG_NUMBER},}}", value))


def _is_amount(value: str) -> bool:
    """Return whether a value is a number, with nothing beside it but a currency."""
    found = _AMOUNT.fullmatch(value)
    marks = [mark for mark in (found["before"], found["after"]) if mark] if found else []
    return found is not None and all(currency_code(mark) for mark in marks)


def _currency(value: str) -> str | None:
    found = _AMOUNT.fullmatch(value)
    marks = [mark for mark in (found["before"], found["after"]) if mark] if found else []
    return next((code for mark in marks if (code := currency_code(mark))), None)


def rules_for(kind: Mapping[str, Any], labels: Sequence[str], values: Sequence[str]) -> list[dict[str, Any]]:
    """Return the extraction rules of a field that has these labels."""
    rules: list[dict[str, Any]] = [{"labels": list(labels)}]
    if kind["type"] == "date" and _share(values, is_moment) >= AGREE:
        names = "|".join(re.escape(label) for label in labels)
        rules = [{"pattern": rf"^\s*(?:{names})\s*[:=]\s*(\S.*?)\s*$"}]
    return rules
