"""Clauses checked against a bucket's declaration: field, operator and value, each clause for itself."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from citegraph.corpus.filters.clause import (
    COMPARED,
    MAX_CLAUSES,
    MAX_DEPTH,
    MAX_LIST,
    MAX_TEXT,
    OPERATORS,
    PRESENCE,
    Checked,
    Clause,
    FilterProblem,
    Filters,
    Group,
    Operator,
    clauses_in,
    each_value,
    parse_clause,
)
from citegraph.corpus.filters.filter_operators import operand
from citegraph.corpus.schema.field import Field
from citegraph.errors import BadInput
from citegraph.language.amounts import Money, Quantity, currency_code
from citegraph.language.terms import fold
from citegraph.language.word_tables import alternation

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket


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
        if operator in PRESENCE:
            return clause.model_copy(update={"field": field.name, "operator": operator, "value": None})
        if (other := _other(bucket, field, operator, clause.value)) is not None:
            held = {"field": other.name}
            return clause.model_copy(update={"field": field.name, "operator": operator, "value": held})
        values = _values(field, operator, clause.value)
        if field.type == "date":
            return _check_dates(bucket, field, clause, values, today)
        if field.type == "money" and all(_as_currency(value) for value in values):
            codes = [_as_currency(value) for value in values]
            if operator not in ("=", "!=", "in", "not in"):
                raise BadInput(f"{operator!r} needs an amount beside the currency")
            many = operator in ("in", "not in")
            value = codes if many else codes[0]
            return clause.model_copy(update={"field": field.name, "operator": operator, "value": value})
        canonical = [_canonical(field, value, today) for value in values]
    except BadInput as error:
        return FilterProblem(clause, str(error), _hint(field))
    if operator == "between":
        canonical = sorted(canonical, key=lambda value: operand(field, value)[0])
    many = operator in ("between", "in", "not in")
    if many and field.type == "money":
        canonical = [_money_text(value) for value in canonical]
    value = canonical if many else canonical[0]
    return clause.model_copy(update={"field": field.name, "operator": operator, "value": value})


def read_filters(bucket: "Bucket", texts: Iterable[str], *, today: date) -> Filters:
    """Return filters such as "total_amount>=100" of a caller, checked and typed.

    Raises:
        BadInput: one cannot be read or does not fit the bucket; the message names it and says why.
    """
    checked = check_filters(bucket, [parse_clause(text) for text in texts], today=today)
    if checked.problems:
        raise BadInput(f"Filter {checked.problems[0].clause.raw[:60]!r}: {checked.problems[0]}.")
    return checked.filters


def check_filters(bucket: "Bucket", filters: Iterable[Clause | Group], *, today: date) -> Checked:
    """Return the filters that can be compiled; a bad clause falls alone, a group with none left goes too."""
    problems: list[FilterProblem] = []
    count = 0

    def part(item: Clause | Group, depth: int) -> Clause | Group | None:
        nonlocal count
        if isinstance(item, Group):
            if depth > MAX_DEPTH:
                problems.extend(FilterProblem(one, "groups too deep") for one in clauses_in(item))
                return None
            inner = [found for one in item.clauses if (found := part(one, depth + 1)) is not None]
            # A part of an alternative that cannot be used would turn "A or B" into "A" alone without a word.
            return Group(mode=item.mode, clauses=tuple(inner)) if inner else None
        count += 1
        result = check(bucket, item, today=today)
        if count > MAX_CLAUSES:
            result = FilterProblem(item, f"more than {MAX_CLAUSES} clauses")
        if isinstance(result, FilterProblem):
            problems.append(result)
            return None
        return result

    kept = [found for item in filters if (found := part(item, 0)) is not None]
    return Checked(tuple(map(_flattened, kept)), tuple(problems), tuple(_notes(bucket, filters, today)))


def _flattened(item: Clause | Group) -> Clause | Group:
    """Return a group with the groups of its own mode taken into it: a negated period is itself a group."""
    if isinstance(item, Clause):
        return item
    inner = [_flattened(part) for part in item.clauses]
    parts = [
        one
        for part in inner
        for one in (part.clauses if isinstance(part, Group) and part.mode == item.mode else (part,))
    ]
    return Group(mode=item.mode, clauses=tuple(parts))


def _notes(bucket: "Bucket", filters: Iterable[Clause | Group], today: date) -> Iterable[str]:
    """Yield how ambiguous numeric dates were read."""
    from citegraph.language.periods import find_periods

    for item in filters:
        for clause in clauses_in(item):
            field = bucket.field(clause.field) if len(clause.field) <= MAX_TEXT else None
            if field is None or field.type != "date":
                continue
            for value in each_value(clause.value):
                order = field.date_order or bucket.date_order
                yield from (
                    p.note for p in find_periods(str(value)[:100], today=today, order=order) if p.note
                )


def _check_size(value: Any) -> None:
    values = list(value.values()) if isinstance(value, dict) else each_value(value)
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


def _other(bucket: "Bucket", field: Field, operator: Operator, value: Any) -> Field | None:
    """Return the field that a value names ("amount_due < total_amount"); None where it is a value of its own.

    Raises:
        BadInput: the two cannot be compared.
    """
    name = value.get("field") if isinstance(value, dict) else value
    if field.is_string or field.type == "boolean" or not isinstance(name, str):
        return None
    other = next((item for item in bucket.fields if item.name == re.sub(r"\s+", "_", name.strip())), None)
    if other is None:
        return None
    if (other.type, other.unit) != (field.type, field.unit) or operator not in COMPARED:
        raise BadInput(f"{field.name} {operator} {other.name} compares no two values of one kind")
    return other


_BETWEEN_VALUES = re.compile(rf"\s*(?:\.\.|\b(?:{alternation('labels', 'between_values')})\b|;)\s*")


def _values(field: Field, operator: Operator, value: Any) -> list[Any]:
    if value is None or value in ("", []):
        raise BadInput(f"{operator!r} needs a value")
    values = each_value(value)
    if operator == "between" and len(values) == 1 and isinstance(value, str) and field.type != "date":
        values = _BETWEEN_VALUES.split(value, maxsplit=1)
    if operator == "between" and len(values) != 2 and not (field.type == "date" and len(values) == 1):
        raise BadInput("'between' needs two values")
    if operator not in ("between", "in", "not in") and len(values) > 1:
        raise BadInput(f"{operator!r} takes one value (use 'in' for several)")
    return list(values)


def _canonical(field: Field, value: Any, today: date) -> Any:
    from citegraph.corpus.schema.values import coerce

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


def _as_currency(value: Any) -> str | None:
    """Return the code when a value names a currency and no amount ("EUR", "euros"), else None."""
    text = str(value).strip()
    if not text or len(text) > 30 or any(char.isdigit() for char in text):
        return None
    return currency_code(text)


def _money_text(value: Mapping[str, str]) -> str:
    return f"{value['amount']} {value.get('currency', '')}".strip()


def _check_dates(
    bucket: "Bucket", field: Field, clause: Clause, values: Sequence[Any], today: date
) -> Clause | Group:
    """Return a date clause with ISO days; see `check` for periods."""
    from citegraph.corpus.schema.values import coerce_period

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
