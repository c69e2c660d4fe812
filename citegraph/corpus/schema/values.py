"""Raw values to typed values: annotation columns, filter values, and the JSON and SQL forms of each type."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from citegraph.corpus.schema.bucket import RESERVED, Bucket, Problem
from citegraph.corpus.schema.field import Field, Value
from citegraph.errors import BadInput
from citegraph.language.amounts import (
    DIGITS,
    Money,
    Quantity,
    currency_code,
    parse_money,
    parse_quantity,
    rounded,
)
from citegraph.language.dates import Period
from citegraph.language.numbers import parse_number
from citegraph.language.periods import parse_period
from citegraph.language.terms import fold
from citegraph.language.word_tables import listed

KEYWORD_LENGTH = 600
"""Characters that a keyword keeps: an index row of PostgreSQL holds 2,700 bytes."""

TEXT_LENGTH = 100_000
LIST_LENGTH = 1000
INTEGER_LIMIT = 2**53
"""Integers below this are exact as doubles, which is what a Qdrant range compares."""

_MISSING = frozenset({"", "-", "--", "[]", "{}", *listed("labels", "missing")})
_YES = frozenset(listed("labels", "yes"))
_NO = frozenset(listed("labels", "no"))
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")


def coerce(field: Field, raw: Any, *, today: date, order: str = "DMY") -> Value:
    """Return a raw value as the field's type.

    Strings are read as people write them: "12,50 EUR", "Q3 2023" (a date field takes its first day),
    "600 mA". `order` is the bucket's order of numeric dates; the field's own goes first.

    Raises:
        BadInput: the value cannot be read as that type; the message says why, with examples.
    """
    match field.type:
        case "text":
            return _string(field, raw, TEXT_LENGTH)
        case "keyword":
            return _string(field, raw, KEYWORD_LENGTH)
        case "keywords":
            return _strings(field, raw)
        case "integer":
            return _integer(raw)
        case "decimal":
            return _decimal(raw)
        case "money":
            return _money(field, raw)
        case "boolean":
            return _boolean(raw)
        case "quantity":
            return _quantity(field, raw)
    return _date(raw, today, field.date_order or order)


def clean_text(text: str) -> str:
    """Return text without control characters and lone surrogates, which no backend stores."""
    return _CONTROL.sub("", text)


_DASH = re.compile(r"(?<=\w)[−‐‑](?=\w)")
"""A sign that prints a hyphen within a code ("TO−92")."""


def _string(field: Field, raw: Any, length: int) -> str:
    if isinstance(raw, Mapping | list | tuple | set):
        raw = "; ".join(str(item) for item in raw) if not isinstance(raw, Mapping) else json.dumps(raw)
    text = clean_text(str(raw))
    # Before it is cleaned, too: a pattern that begins with blanks is slow where many stand.
    text = text.strip() if field.type == "text" else " ".join(text.split())
    if field.clean:
        text = re.sub(field.clean, "", text, flags=re.IGNORECASE | re.DOTALL).strip()
    if field.type != "text":
        text = " ".join(text.split())[:length].strip()
        text = _DASH.sub("-", text) if field.kind == "identifier" else text
        text = field.canonical.get(fold(text), text)
        text = _country(text) if field.kind == "country" else text
    if not fold(text):
        raise BadInput("empty")
    return text[:length]


def _country(text: str) -> str:
    from citegraph.language.countries import country_code

    return country_code(text) or text


def _strings(field: Field, raw: Any) -> tuple[str, ...]:
    items = [item for part in _items(field, raw) for item in _split(field, part)]
    values: dict[str, str] = {}
    for item in items[:LIST_LENGTH]:
        try:
            value = _string(field, item, KEYWORD_LENGTH)
        except BadInput:
            continue
        values.setdefault(fold(value), value)
    if not values and field.empty == "unknown":
        raise BadInput("empty")
    return tuple(values.values())


def _items(field: Field, raw: Any) -> Iterable[Any]:
    """Return a list's items: a mapping's keys that are true, objects' `item_key`, the list of JSON text."""
    if isinstance(raw, str) and raw.lstrip()[:1] in ("[", "{"):
        try:
            raw = json.loads(raw)
        except ValueError:
            return (raw,)
    if isinstance(raw, Mapping):
        return [key for key, value in raw.items() if value and str(value).strip().lower() not in _NO]
    if isinstance(raw, list | tuple | set | frozenset):
        key = field.item_key
        return [
            item.get(key, "") if key and isinstance(item, Mapping) else item
            for item in raw
            if item is not None
        ]
    return (raw,)


def _split(field: Field, item: Any) -> Iterable[Any]:
    if not isinstance(item, str):
        return (item,)
    return re.split(field.split or r"\s*[;|]\s*", item)


def _integer(raw: Any) -> int:
    if isinstance(raw, bool):
        raise BadInput("true or false is not a number")
    number = Decimal(raw) if isinstance(raw, int) else _number(raw)
    if number != number.to_integral_value():
        raise BadInput(f"{raw!r} is not a whole number")
    if abs(number) > INTEGER_LIMIT:
        raise BadInput(f"{str(raw)[:40]} is out of range (whole numbers up to 2^53)")
    return int(number)


def _number(raw: Any) -> Decimal:
    if isinstance(raw, bool):
        raise BadInput("true or false is not a number")
    try:
        number = Decimal(str(raw).strip())
    except InvalidOperation:
        text = str(raw)[:100]
        match = re.fullmatch(r"\s*([-+−]?[\d.,'’\s]*\d)\s*(?:[^\W\d_]{0,12}|%)\s*", text)
        parsed = parse_number(match[1]) if match else None
        if parsed is None:
            raise BadInput(f"{text[:60]!r} is not a number") from None
        number = parsed
    if not number.is_finite():
        raise BadInput(f"{str(raw)[:40]!r} is not a finite number")
    return number


def _decimal(raw: Any) -> float:
    value = float(f"{_number(raw):.{DIGITS}g}")
    if not math.isfinite(value):
        raise BadInput(f"{str(raw)[:40]} is out of range")
    return value + 0.0


def _money(field: Field, raw: Any) -> Money:
    if isinstance(raw, Money):
        return Money(rounded(raw.amount), raw.currency or field.currency)
    if isinstance(raw, Mapping):
        currency = raw.get("currency") or field.currency
        money = _money(field, raw.get("amount", ""))
        return Money(money.amount, _currency(currency) if currency else money.currency)
    if isinstance(raw, bool):
        raise BadInput("true or false is not an amount")
    if isinstance(raw, int | float | Decimal):
        try:
            return Money(rounded(Decimal(repr(raw) if isinstance(raw, float) else raw)), field.currency)
        except InvalidOperation as error:
            raise BadInput(f"{raw!r} is not an amount") from error
    money = parse_money(str(raw))
    return Money(money.amount, money.currency or field.currency)


def _currency(raw: Any) -> str:
    if code := currency_code(str(raw)):
        return code
    raise BadInput(f"{str(raw)[:20]!r} is not a currency (examples: EUR, USD)")


def _boolean(raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    text = fold(str(raw))
    if text in _YES or text in _NO:
        return text in _YES
    raise BadInput(f"{str(raw)[:40]!r} is neither yes nor no")


def _quantity(field: Field, raw: Any) -> Quantity:
    assert field.unit is not None
    if isinstance(raw, Quantity):
        return raw
    if isinstance(raw, Mapping):
        raw = raw.get("raw") or raw.get("value", "")
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        return Quantity(_decimal(raw), f"{raw} {field.unit}")
    text = " ".join(clean_text(str(raw)).split())[:200]
    return Quantity(parse_quantity(text, field.unit) + 0.0, text)


def _date(raw: Any, today: date, order: Any) -> date:
    if isinstance(raw, datetime):
        return raw.date()
    if isinstance(raw, date):
        return raw
    text = str(raw).strip()
    if _ISO.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError as error:
            raise BadInput(f"{text!r} is not a date of the calendar") from error
    period = parse_period(text, today=today, order=order)
    if period.start is None:
        raise BadInput(f"{text!r} has no first day")
    return period.start


def coerce_period(field: Field, raw: Any, *, today: date, order: str = "DMY") -> Period:
    """Return a date filter's value as a period: one day for a date, its first and last day for "Q3 2023".

    Raises:
        BadInput: it is neither a date nor a period.
    """
    if isinstance(raw, date) or (isinstance(raw, str) and _ISO.fullmatch(raw.strip())):
        day = _date(raw, today, order)
        return Period(day, day, str(raw))
    read_order: Any = field.date_order or order
    return parse_period(str(raw), today=today, order=read_order)


def is_missing(raw: Any) -> bool:
    """Return whether a raw value of an annotation says nothing."""
    if raw is None or (isinstance(raw, float) and math.isnan(raw)):
        return True
    return isinstance(raw, str) and raw.strip().lower() in _MISSING


def read_row(
    bucket: Bucket, row: Mapping[str, Any], *, today: date | None = None
) -> tuple[dict[str, Value], list[Problem]]:
    """Return an annotation row's typed values and problems; a missing value is left out, an unknown column is a problem."""
    today = today or date.today()
    values: dict[str, Value] = {}
    problems: list[Problem] = []
    ignored = {fold(name) for name in bucket.ignore} | RESERVED
    for column, raw in row.items():
        field = bucket.field(column) if column not in ignored else None
        if field is None:
            if fold(str(column)) not in ignored and not is_missing(raw):
                problems.append(Problem(str(column), str(raw)[:200], "unknown column"))
            continue
        if _says_nothing(field, raw) or (field.name in values and column != field.name):
            continue
        try:
            values[field.name] = coerce(field, raw, today=today, order=bucket.date_order)
        except BadInput as error:
            if str(error) != "empty":
                problems.append(Problem(str(column), str(raw)[:200], str(error)))
    add_currencies(bucket, values)
    return values, problems


def _says_nothing(field: Field, raw: Any) -> bool:
    declared = isinstance(raw, str) and fold(raw) in field.canonical
    return is_missing(raw) and not declared


def add_currencies(bucket: Bucket, values: dict[str, Value]) -> None:
    """Give amounts without a currency the one that the currency field of their row says."""
    for field in bucket.fields:
        value = values.get(field.name)
        if isinstance(value, Money) and value.currency is None and field.currency_field:
            code = currency_code(str(values.get(field.currency_field, "")))
            values[field.name] = Money(value.amount, code)


def derive_values(bucket: Bucket, values: Mapping[str, Value], text: str) -> dict[str, Value]:
    """Return values completed from the text and from other fields, where it has none."""
    result = dict(values)
    today = date.today()
    for field in bucket.fields:
        if field.name in result or not text:
            continue
        for rule in field.from_text:
            if rule.beside:
                raw = rule.find_beside(text, re.split(r"[\s/,;]", str(result.get(rule.beside, "")))[0])
            else:
                raw = "; ".join(rule.find_all(text)) if field.type == "keywords" else rule.find(text)
            if raw and not is_missing(raw):
                try:
                    result[field.name] = coerce(field, raw, today=today, order=bucket.date_order)
                except BadInput:
                    continue
                break
    for field in bucket.fields:
        source = next((name for name in field.first_of if name in result), None)
        if source and field.name not in result:
            result[field.name] = result[source]
    return result


def payload_value(field: Field, value: Value) -> Any:
    """Return a value as the index compares it: strings folded, dates RFC 3339, amounts as doubles.

    Truth values are the words "true" and "false": the embedded engine's binding reads True as 1.
    """
    match value:
        case Money():
            return {"amount": float(value.amount), "currency": value.currency or ""}
        case Quantity():
            return value.value
        case bool():
            return str(value).lower()
        case int() | float():
            return value
        case date():
            return day_text(value)
        case tuple():
            return [fold(item) for item in value]
    return fold(str(value))


def day_text(day: date) -> str:
    """Return a date as RFC 3339 at midnight UTC, which is what a datetime range compares."""
    return f"{day.isoformat()}T00:00:00Z"


def to_json(value: Value) -> Any:
    """Return a value as plain JSON for states, answers and files."""
    match value:
        case Money():
            return {"amount": f"{value.amount:f}", "currency": value.currency}
        case Quantity():
            return {"value": value.value, "raw": value.raw}
        case date():
            return value.isoformat()
        case tuple():
            return list(value)
    return value


def same(value: Value) -> object:
    """Return what two values must share to say the same; a currency that is not written does not differ."""
    match value:
        case Money():
            return value.amount
        case Quantity():
            return round(value.value, 9)
        case tuple():
            return frozenset(fold(item) for item in value)
        case str():
            return fold(value)
    return value


def payload(bucket: Bucket, values: Mapping[str, Value]) -> dict[str, Any]:
    """Return the JSON that the index keeps under "meta": what filters compare, so strings are folded.

    `_fields` lists the fields that are present.
    """
    fields = {field.name: field for field in bucket.fields}
    present = {name: payload_value(fields[name], value) for name, value in values.items() if name in fields}
    return {**present, "_fields": sorted(present)} if present else {"_fields": []}
