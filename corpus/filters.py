"""Typed filters: one clause, three meanings held to the same result set (SQL, Qdrant, plain Python).

A field that a document does not have matches no comparison, negative ones included: "not governed by
New York law" lists the documents that are known to be governed by another. Only `missing` finds them.
Strings are compared folded (`corpus.fields.fold`), amounts and quantities as doubles.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from corpus.fields import Field, FieldType, Money, Quantity, Value, fold
from llm.errors import BadInput

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Table

    from corpus.buckets import Bucket

Operator = Literal[
    "=", "!=", "<", "<=", ">", ">=", "between", "in", "not in", "contains", "starts with", "exists", "missing"
]
Scalar = str | int | float | bool
Origin = Literal["inferred", "user", "access"]

MAX_CLAUSES = 100
MAX_LIST = 1000
MAX_TEXT = 2000
"""Bounds of one filter: clauses, values of a list, characters of a value."""


class Clause(BaseModel):
    """One condition on one field of a bucket.

    Attributes:
        field: a field name of the bucket's declaration.
        operator: see `Operator`; `contains` on a list means membership, on text a substring.
        value: scalar, or a list for `between` (two), `in` and `not in`; None for `exists` and `missing`.
            Dates are ISO strings, money is `{"amount": "12.50", "currency": "EUR"}` or a bare number.
        raw: the words of the question that it came from.
        origin: `user` and `access` clauses are hard; `inferred` ones may be relaxed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    field: str
    operator: Operator
    value: Scalar | list[Scalar] | dict[str, str] | None = None
    raw: str = ""
    origin: Origin = "inferred"


class Group(BaseModel):
    """Clauses joined by `any` (OR) or `all` (AND); one level deep, a group holds no groups."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: Literal["any", "all"]
    clauses: tuple[Clause, ...]


Filters = tuple[Clause | Group, ...]


@dataclass(frozen=True, slots=True)
class FilterProblem:
    """A clause that cannot be used: why, and the nearest valid choice (empty when there is none)."""

    clause: Clause
    reason: str
    suggestion: str = ""

    def __str__(self) -> str:
        """Return one sentence that names the clause, the reason and the suggestion."""
        shown = f"{self.clause.field[:60]} {self.clause.operator} {str(self.clause.value)[:60]}"
        return f"{shown}: {self.reason}" + (f"; {self.suggestion}" if self.suggestion else "")


@dataclass(frozen=True, slots=True)
class Checked:
    """Filters that can be compiled, the clauses that fell, and how ambiguous values were read."""

    filters: Filters
    problems: tuple[FilterProblem, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tables:
    """The SQL tables of one bucket: a row a document, and an item a value of a list field."""

    rows: "Table"
    items: "Table"


# --- the algebra that the three back ends share -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Range:
    """A range of numbers or days; a bound that is None is open, `low_open` and `high_open` exclude it."""

    low: Any = None
    high: Any = None
    low_open: bool = False
    high_open: bool = False
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled clause: the field is present and the test holds (or does not, when negated).

    Exactly one test is set: `present`, `ranges` (any of them), `words` (equal to any), `part`
    (substring, or prefix when `anchored`), `flag`.
    """

    field: Field
    negated: bool = False
    present: bool | None = None
    ranges: tuple[Range, ...] | None = None
    words: tuple[str, ...] | None = None
    part: str | None = None
    anchored: bool = False
    flag: bool | None = None


_STRING: frozenset[Operator] = frozenset({"=", "!=", "in", "not in", "contains", "starts with"})
_ORDERED: frozenset[Operator] = frozenset({"=", "!=", "<", "<=", ">", ">=", "between", "in", "not in"})
_BOTH: frozenset[Operator] = frozenset({"exists", "missing"})
OPERATORS: Mapping[FieldType, frozenset[Operator]] = {
    "text": _STRING | _BOTH,
    "keyword": _STRING | _BOTH,
    "keywords": _STRING | _BOTH,
    "integer": _ORDERED | _BOTH,
    "decimal": _ORDERED | _BOTH,
    "money": _ORDERED | _BOTH,
    "quantity": _ORDERED | _BOTH,
    "date": _ORDERED | _BOTH,
    "boolean": frozenset[Operator]({"=", "!="}) | _BOTH,
}
"""Which operators fit a field type."""


def compile_clause(bucket: "Bucket", clause: Clause) -> Condition:
    """Return a checked clause's condition.

    Raises:
        BadInput: the clause is not one that `check` returned.
    """
    field = next((item for item in bucket.fields if item.name == clause.field), None)
    if field is None:
        raise BadInput(f"{clause.field[:60]!r} is not a field of {bucket.name}")
    if clause.operator not in OPERATORS[field.type]:
        raise BadInput(f"{clause.operator!r} does not fit {field.name}, which is {field.type}")
    if clause.operator in _BOTH:
        return Condition(field, present=clause.operator == "exists")
    values = clause.value if isinstance(clause.value, list) else [clause.value]
    if not values or any(value is None for value in values):
        raise BadInput(f"{field.name} {clause.operator} needs a value")
    negated = clause.operator in ("!=", "not in")
    if field.is_string:
        return _compile_string(field, clause.operator, values, negated)
    if field.type == "boolean":
        return Condition(field, flag=bool(values[0]) != negated)
    return Condition(field, negated, ranges=_compile_ranges(field, clause.operator, values))


def _compile_string(field: Field, operator: Operator, values: Sequence[Any], negated: bool) -> Condition:
    words = tuple(fold(str(value)) for value in values)
    if operator == "starts with":
        return Condition(field, part=words[0], anchored=True)
    if operator == "contains" and field.type != "keywords":
        return Condition(field, part=words[0])
    return Condition(field, negated, words=words)


def _compile_ranges(field: Field, operator: Operator, values: Sequence[Any]) -> tuple[Range, ...]:
    points = [_operand(field, value) for value in values]
    if operator == "between":
        if len(points) != 2:
            raise BadInput(f"{field.name} between needs two values")
        (low, currency), (high, other) = points
        return (Range(low, high, currency=currency or other),)
    point, currency = points[0]
    match operator:
        case "<" | "<=":
            return (Range(None, point, high_open=operator == "<", currency=currency),)
        case ">" | ">=":
            return (Range(point, None, low_open=operator == ">", currency=currency),)
    return tuple(Range(point, point, currency=currency) for point, currency in points)


def _operand(field: Field, value: Any) -> tuple[Any, str | None]:
    """Return a canonical filter value as what is compared (double, or day) and its currency."""
    if field.type == "date":
        return date.fromisoformat(str(value)), None
    if field.type == "money":
        if isinstance(value, Mapping):
            return float(value["amount"]), value.get("currency") or None
        amount, _, currency = str(value).partition(" ")
        return float(amount), currency or None
    if field.type == "integer":
        return int(value), None
    return float(value), None


# --- plain Python -------------------------------------------------------------------------------


def matches(bucket: "Bucket", filters: Filters, values: Mapping[str, Value]) -> bool:
    """Return whether a document with these values passes checked filters (the oracle of the other two)."""

    def passes(clause: Clause) -> bool:
        condition = compile_clause(bucket, clause)
        return _holds(condition, values.get(condition.field.name))

    return all(
        passes(item)
        if isinstance(item, Clause)
        else (any if item.mode == "any" else all)(map(passes, item.clauses))
        for item in filters
    )


def _holds(condition: Condition, value: Value | None) -> bool:
    if condition.present is not None:
        return (value is not None) == condition.present
    if value is None:
        return False
    if condition.flag is not None:
        return value == condition.flag
    if condition.ranges is not None:
        return any(_inside(item, value) for item in condition.ranges) != condition.negated
    held = [fold(item) for item in (value if isinstance(value, tuple) else (str(value),))]
    if condition.words is not None:
        return any(item in condition.words for item in held) != condition.negated
    part = condition.part or ""
    return any(item.startswith(part) if condition.anchored else part in item for item in held)


def _inside(item: Range, value: Value) -> bool:
    point: Any = value
    if isinstance(value, Money):
        if item.currency and value.currency != item.currency:
            return False
        point = float(value.amount)
    elif isinstance(value, Quantity):
        point = value.value
    above = item.low is None or (point > item.low if item.low_open else point >= item.low)
    return above and (item.high is None or (point < item.high if item.high_open else point <= item.high))


# --- SQL ----------------------------------------------------------------------------------------


def to_sql(bucket: "Bucket", filters: Filters, tables: Tables) -> "ColumnElement[bool]":
    """Return checked filters as a parametrised SQL condition on the bucket's row table."""
    from sqlalchemy import and_, or_, true

    def clause_sql(clause: Clause) -> "ColumnElement[bool]":
        return condition_sql(compile_clause(bucket, clause), tables)

    parts: list[ColumnElement[bool]] = []
    for item in filters:
        if isinstance(item, Clause):
            parts.append(clause_sql(item))
        else:
            join = or_ if item.mode == "any" else and_
            parts.append(join(*(clause_sql(clause) for clause in item.clauses)))
    return and_(true(), *parts)


def condition_sql(condition: Condition, tables: Tables) -> "ColumnElement[bool]":
    """Return one condition as SQL that is never NULL-dependent: a missing field gives no row."""
    from sqlalchemy import and_, not_

    column = compared_column(condition.field, tables.rows)
    if condition.present is not None:
        return column.is_not(None) if condition.present else column.is_(None)
    test = _test_sql(condition, tables)
    return and_(column.is_not(None), not_(test)) if condition.negated else test


def compared_column(field: Field, rows: "Table") -> "ColumnElement[Any]":
    """Return the column that stands for a field where it is compared, ordered or grouped by."""
    return rows.c[f"{field.name}__folded" if field.type in ("text", "keyword") else field.name]


def _test_sql(condition: Condition, tables: Tables) -> "ColumnElement[bool]":
    from sqlalchemy import or_, select

    field, rows, items = condition.field, tables.rows, tables.items
    if condition.flag is not None:
        return compared_column(field, rows) == condition.flag
    if condition.ranges is not None:
        return or_(*(_range_sql(field, item, rows) for item in condition.ranges))
    if field.type == "keywords":
        held = _words_sql(condition, items.c.folded)
        return rows.c.doc_id.in_(select(items.c.doc_id).where(items.c.field == field.name, held))
    return _words_sql(condition, compared_column(field, rows))


def _words_sql(condition: Condition, column: "ColumnElement[str]") -> "ColumnElement[bool]":
    from sqlalchemy import and_, true

    if condition.words is not None:
        return column == condition.words[0] if len(condition.words) == 1 else column.in_(condition.words)
    part = condition.part or ""
    if not condition.anchored:
        return has_part(column, part)
    end = _after_prefix(part)
    return and_(column >= part, column < end if end else true())


def has_part(column: "ColumnElement[str]", part: str) -> "ColumnElement[bool]":
    """Return "the column has this substring", without wildcards, on SQLite (instr) and Postgres (strpos)."""
    from corpus.sql_text import position_of

    return position_of(column, part) > 0


def _after_prefix(part: str) -> str | None:
    """Return the least string above every string with this prefix, in code point order."""
    while part:
        code = ord(part[-1]) + 1
        if code < 0x110000:
            return part[:-1] + chr(0xE000 if 0xD800 <= code <= 0xDFFF else code)
        part = part[:-1]
    return None


def _range_sql(field: Field, item: Range, rows: "Table") -> "ColumnElement[bool]":
    from sqlalchemy import and_, func, true

    column = rows.c[field.name]

    def bound(value: Any) -> Any:
        return Decimal(repr(value)) if field.type == "money" else value

    parts: list[ColumnElement[bool]] = []
    if item.low is not None:
        low = bound(item.low)
        parts.append(column > low if item.low_open else column >= low)
    if item.high is not None:
        high = bound(item.high)
        parts.append(column < high if item.high_open else column <= high)
    if item.currency:
        parts.append(func.coalesce(rows.c[f"{field.name}__currency"], "") == item.currency)
    return and_(*parts) if parts else true()


# --- Qdrant -------------------------------------------------------------------------------------


def to_qdrant(bucket: "Bucket", filters: Filters) -> dict[str, Any]:
    """Return checked filters as Qdrant's REST filter JSON; empty filters give an empty dict."""

    def clause_json(clause: Clause) -> dict[str, Any]:
        return condition_json(compile_clause(bucket, clause))

    must = []
    for item in filters:
        if isinstance(item, Clause):
            must.append(clause_json(item))
        else:
            key = "should" if item.mode == "any" else "must"
            must.append({key: [clause_json(clause) for clause in item.clauses]})
    return {"must": must} if must else {}


def condition_json(condition: Condition) -> dict[str, Any]:
    """Return one condition as a Qdrant condition (a field condition or a nested filter)."""
    field = condition.field
    present = {"key": "meta._fields", "match": {"value": field.name}}
    if condition.present is not None:
        return present if condition.present else {"must_not": [present]}
    test = _test_json(condition, f"meta.{field.name}")
    return {"must": [present], "must_not": [test]} if condition.negated else test


def _test_json(condition: Condition, key: str) -> dict[str, Any]:
    if condition.flag is not None:
        return {"key": key, "match": {"value": str(condition.flag).lower()}}
    if condition.ranges is not None:
        parts = [_range_json(condition.field, item, key) for item in condition.ranges]
        return parts[0] if len(parts) == 1 else {"should": parts}
    if condition.words is not None:
        words = list(condition.words)
        return {"key": key, "match": {"value": words[0]} if len(words) == 1 else {"any": words}}
    kind = "prefix" if condition.anchored else "substring"
    return {"key": key, "match": {kind: condition.part}}


def _range_json(field: Field, item: Range, key: str) -> dict[str, Any]:
    from corpus.coercion import day_text

    def bound(value: Any) -> Any:
        return day_text(value) if isinstance(value, date) else value

    limits: dict[str, Any] = {}
    if item.low is not None:
        limits["gt" if item.low_open else "gte"] = bound(item.low)
    if item.high is not None:
        limits["lt" if item.high_open else "lte"] = bound(item.high)
    if field.type != "money":
        return {"key": key, "range": limits}
    amount = {"key": f"{key}.amount", "range": limits}
    if not item.currency:
        return amount
    return {"must": [amount, {"key": f"{key}.currency", "match": {"value": item.currency}}]}


# --- checking -----------------------------------------------------------------------------------


def check(bucket: "Bucket", clause: Clause, *, today: date) -> Clause | Group | FilterProblem:
    """Return the clause with its field's name, a fitting operator and a canonical value, or the problem.

    A period ("Q3 2023") becomes `between` its days, "not in 2018" an any-of group around it. Field
    names may be aliases; on a list `=` and `!=` mean membership.
    """
    field = bucket.field(clause.field) if len(clause.field) <= MAX_TEXT else None
    if field is None:
        return FilterProblem(clause, f"{bucket.name} has no such field", _nearest(bucket, clause.field))
    try:
        _check_size(clause.value)
        operator = _fitting(field, clause.operator)
        if operator in _BOTH:
            return clause.model_copy(update={"field": field.name, "operator": operator, "value": None})
        values = _values(field, operator, clause.value)
        if field.type == "date":
            return _check_dates(bucket, field, clause, values, today)
        canonical = [_canonical(field, value, today) for value in values]
    except BadInput as error:
        return FilterProblem(clause, str(error), _hint(field))
    if operator == "between":
        canonical = sorted(canonical, key=lambda value: _operand(field, value)[0])
    many = operator in ("between", "in", "not in")
    if many and field.type == "money":
        canonical = [_money_text(value) for value in canonical]
    value = canonical if many else canonical[0]
    return clause.model_copy(update={"field": field.name, "operator": operator, "value": value})


def check_filters(bucket: "Bucket", filters: Iterable[Clause | Group], *, today: date) -> Checked:
    """Return the filters that can be compiled; a bad clause falls alone, a group with none left goes too."""
    kept: list[Clause | Group] = []
    problems: list[FilterProblem] = []
    count = 0
    for item in filters:
        group: list[Clause] = []
        clauses = (item,) if isinstance(item, Clause) else item.clauses
        for clause in clauses:
            count += 1
            result = check(bucket, clause, today=today)
            if count > MAX_CLAUSES:
                result = FilterProblem(clause, f"more than {MAX_CLAUSES} clauses")
            if isinstance(result, FilterProblem):
                problems.append(result)
            elif isinstance(item, Clause):
                kept.append(result)
            elif isinstance(result, Clause):
                group.append(result)
            elif item.mode == result.mode:
                group.extend(result.clauses)
            else:
                problems.append(FilterProblem(clause, "a period cannot be negated inside an all-of group"))
        if group and isinstance(item, Group):
            kept.append(Group(mode=item.mode, clauses=tuple(group)))
    return Checked(tuple(kept), tuple(problems), tuple(_notes(bucket, filters, today)))


def _notes(bucket: "Bucket", filters: Iterable[Clause | Group], today: date) -> Iterable[str]:
    """Yield how ambiguous numeric dates were read."""
    from corpus.periods import find_periods

    for item in filters:
        for clause in (item,) if isinstance(item, Clause) else item.clauses:
            field = bucket.field(clause.field) if len(clause.field) <= MAX_TEXT else None
            if field is None or field.type != "date":
                continue
            for value in clause.value if isinstance(clause.value, list) else [clause.value]:
                order = field.date_order or bucket.date_order
                yield from (
                    p.note for p in find_periods(str(value)[:100], today=today, order=order) if p.note
                )


def _check_size(value: Any) -> None:
    values = (
        value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else [value]
    )
    if len(values) > MAX_LIST:
        raise BadInput(f"more than {MAX_LIST} values")
    for item in values:
        if isinstance(item, str) and len(item) > MAX_TEXT:
            raise BadInput(f"a value of more than {MAX_TEXT} characters")
        if isinstance(item, str) and re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]", item):
            raise BadInput("a value with control characters")


def _fitting(field: Field, operator: Operator) -> Operator:
    """Return the operator as it is meant on this type: `=` on a list is membership."""
    if field.type == "keywords":
        operator = {"=": "contains", "!=": "not in"}.get(operator, operator)  # type: ignore[assignment]
    if operator in OPERATORS[field.type]:
        return operator
    fitting = ", ".join(sorted(OPERATORS[field.type]))
    raise BadInput(f"{operator!r} does not fit {field.name}, which is {field.type} (fitting: {fitting})")


def _values(field: Field, operator: Operator, value: Any) -> list[Any]:
    if value is None or value in ("", []):
        raise BadInput(f"{operator!r} needs a value")
    values = value if isinstance(value, list) else [value]
    if operator == "between" and len(values) == 1 and isinstance(value, str) and field.type != "date":
        values = re.split(r"\s*(?:\.\.|\band\b|\bto\b|\bund\b|\bbis\b|;)\s*", value, maxsplit=1)
    if operator == "between" and len(values) != 2 and not (field.type == "date" and len(values) == 1):
        raise BadInput("'between' needs two values")
    if operator not in ("between", "in", "not in") and len(values) > 1:
        raise BadInput(f"{operator!r} takes one value (use 'in' for several)")
    return list(values)


def _canonical(field: Field, value: Any, today: date) -> Any:
    from corpus.coercion import coerce

    single = (
        field.model_copy(update={"type": "keyword", "split": None}) if field.type == "keywords" else field
    )
    typed = coerce(single, value, today=today)
    match typed:
        case Money():
            amount = f"{typed.amount:f}"
            return {"amount": amount, "currency": typed.currency} if typed.currency else {"amount": amount}
        case Quantity():
            return typed.value
        case tuple() | date():
            raise BadInput("not a value of this type")
    return typed


def _money_text(value: Mapping[str, str]) -> str:
    return f"{value['amount']} {value.get('currency', '')}".strip()


def _check_dates(
    bucket: "Bucket", field: Field, clause: Clause, values: Sequence[Any], today: date
) -> Clause | Group:
    """Return a date clause with ISO days; see `check` for periods."""
    from corpus.coercion import coerce_period

    order = field.date_order or bucket.date_order
    periods = [coerce_period(field, value, today=today, order=order) for value in values]

    def made(operator: Operator, value: Any) -> Clause:
        return clause.model_copy(update={"field": field.name, "operator": operator, "value": value})

    if clause.operator == "between" and len(periods) == 2:
        first, last = sorted(periods, key=lambda period: period.start or period.end or today)
        ends = [first.start or first.end, last.end or last.start]
        return made("between", [day.isoformat() for day in ends if day])
    if clause.operator in ("in", "not in"):
        if all(period.is_day for period in periods):
            return made(clause.operator, [period.start.isoformat() for period in periods if period.start])
        if clause.operator == "not in":
            raise BadInput("'not in' takes days; write one '!=' for each period")
        return Group(mode="any", clauses=tuple(_within(made, period.start, period.end) for period in periods))
    start, end = periods[0].start, periods[0].end
    if clause.operator == "!=" and start != end:
        outside = [made("<", start.isoformat())] if start else []
        outside += [made(">", end.isoformat())] if end else []
        return Group(mode="any", clauses=tuple(outside))
    if clause.operator in ("=", "between") or start is None or end is None:
        return _within(made, start, end)
    bound = start if clause.operator in ("<", ">=", "!=") else end
    return made(clause.operator, bound.isoformat())


def _within(made: Callable[[Operator, Any], Clause], start: date | None, end: date | None) -> Clause:
    if start and end:
        return (
            made("=", start.isoformat())
            if start == end
            else made("between", [start.isoformat(), end.isoformat()])
        )
    if start:
        return made(">=", start.isoformat())
    assert end is not None
    return made("<=", end.isoformat())


def _nearest(bucket: "Bucket", name: str) -> str:
    from rapidfuzz import process

    names = {alias: field.name for field in bucket.fields for alias in (field.name, *field.aliases)}
    found = process.extractOne(fold(name[:100]), list(names), score_cutoff=70)
    if found:
        return f"did you mean {names[found[0]]}?"
    return f"fields: {', '.join(field.name for field in bucket.fields)}"


def _hint(field: Field) -> str:
    if field.values:
        return f"known values: {', '.join(list(field.values)[:8])}"
    if field.examples:
        return f"example: {field.examples[0]}"
    samples = {
        "date": "2018-03-14",
        "money": "12.50 EUR",
        "quantity": f"2 {field.unit}",
        "boolean": "yes",
        "integer": "4",
    }
    return f"example: {samples[field.type]}" if field.type in samples else ""


_SIGNS: Mapping[str, Operator] = {
    ">=": ">=", "<=": "<=", "!=": "!=", "<>": "!=", "==": "=", "=": "=", ">": ">", "<": "<", "≥": ">=",
    "≤": "<=", "~": "contains", "not in": "not in", "in": "in", "between": "between", "contains": "contains",
    "starts with": "starts with", "exists": "exists", "missing": "missing",
}  # fmt: skip
_WRITTEN = re.compile(
    r"\s*(?P<field>[^<>=!~≤≥]+?)\s*(?:(?P<sign>>=|<=|!=|<>|==|=|>|<|≥|≤|~)(?!\s*[<>=!~≤≥])\s*"
    r"|\s(?P<word>not in|in|between|contains|starts with|exists|missing)(?:\s+|$))(?P<value>.*)",
    re.DOTALL | re.IGNORECASE,
)


def parse_clause(text: str, origin: Origin = "user") -> Clause:
    """Return the clause written as "field>=value", "field in a, b", "field between a and b", "field missing".

    Semicolons separate the values of a list that hold commas ("vendor_name in Acme, Inc.; Bravo Ltd").

    Raises:
        BadInput: the text is not of that form.
    """
    match = _WRITTEN.fullmatch(text) if len(text) <= 10 * MAX_TEXT else None
    if not match:
        raise BadInput(
            f"{text[:60]!r} is not a filter (examples: total_amount>=500, governing_law in Delaware, Nevada)"
        )
    operator = _SIGNS[match["sign"] or re.sub(r"\s+", " ", match["word"].lower())]
    written = match["value"].strip()
    value: Any = written
    if operator in _BOTH:
        value = None
    elif operator in ("in", "not in"):
        parts = written.strip("()[]").split(";" if ";" in written else ",")
        value = [part.strip() for part in parts if part.strip()]
    elif operator == "between":
        value = re.split(r"\s*(?:\.\.|;|\band\b)\s*", written, maxsplit=1)
    return Clause(field=match["field"].strip(), operator=operator, value=value, raw=text, origin=origin)
