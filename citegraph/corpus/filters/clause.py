"""Typed filters: one clause, three meanings held to the same result set (SQL, Qdrant, plain Python).

A field that a document does not have matches no comparison, negative ones included: "not governed by
New York law" lists the documents that are known to be governed by another. Only `missing` finds them.
Strings are compared folded (`citegraph.language.terms.fold`), amounts and quantities as doubles. Clauses are checked in
`citegraph.corpus.filters.checks`; what they mean stands in `citegraph.corpus.filters.filter_operators`, `citegraph.corpus.filters.sql_filter`, `citegraph.corpus.filters.qdrant_filter`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from citegraph.corpus.schema.field import FieldType
from citegraph.errors import BadInput

Operator = Literal[
    "=", "!=", "<", "<=", ">", ">=", "between", "in", "not in", "contains", "starts with", "exists", "missing"
]
Scalar = str | int | float | bool
Origin = Literal["inferred", "user", "access"]

MAX_CLAUSES = 100
MAX_DEPTH = 3
MAX_LIST = 1000
MAX_TEXT = 2000
"""Bounds of one filter: clauses, groups in groups, values of a list, characters of a value."""


class Clause(BaseModel, frozen=True, extra="forbid"):
    """One condition on one field of a bucket.

    Attributes:
        field: a field name of the bucket's declaration.
        operator: see `Operator`; `contains` on a list means membership, on text a substring.
        value: scalar, or a list for `between` (two), `in` and `not in`; None for `exists` and `missing`.
            Dates are ISO strings, money is `{"amount": "12.50", "currency": "EUR"}` or a bare number; `{"field": name}`
            is the value of another field of the same document.
        raw: the words of the question that it came from.
        origin: `user` and `access` clauses are hard; `inferred` ones may be relaxed.
    """

    field: str
    operator: Operator
    value: Scalar | list[Scalar] | dict[str, str] | None = None
    raw: str = ""
    origin: Origin = "inferred"


class Group(BaseModel, frozen=True, extra="forbid"):
    """Clauses and groups joined by `any` (OR) or `all` (AND): "A in 2024 or B in 2026" is any of two all-of groups."""

    mode: Literal["any", "all"]
    clauses: tuple["Clause | Group", ...]


Filters = tuple[Clause | Group, ...]


def clauses_in(item: Clause | Group) -> Iterator[Clause]:
    """Yield the clauses of a filter, those of the groups inside a group too."""
    if isinstance(item, Clause):
        yield item
    else:
        for part in item.clauses:
            yield from clauses_in(part)


def each_value(value: Any) -> list[Any]:
    """Return the values that a clause's `value` holds, one or several."""
    return list(value) if isinstance(value, list) else [value]


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


_STRING: frozenset[Operator] = frozenset({"=", "!=", "in", "not in", "contains", "starts with"})
_ORDERED: frozenset[Operator] = frozenset({"=", "!=", "<", "<=", ">", ">=", "between", "in", "not in"})
PRESENCE: frozenset[Operator] = frozenset({"exists", "missing"})
COMPARED: frozenset[Operator] = frozenset({"=", "!=", "<", "<=", ">", ">="})
"""Operators between two fields of a document."""
OPERATORS: Mapping[FieldType, frozenset[Operator]] = {
    "text": _STRING | PRESENCE,
    "keyword": _STRING | PRESENCE,
    "keywords": _STRING | PRESENCE,
    "integer": _ORDERED | PRESENCE,
    "decimal": _ORDERED | PRESENCE,
    "money": _ORDERED | PRESENCE,
    "quantity": _ORDERED | PRESENCE,
    "date": _ORDERED | PRESENCE,
    "boolean": frozenset[Operator]({"=", "!="}) | PRESENCE,
}
"""Which operators fit a field type."""


_SIGNS: Mapping[str, Operator] = {
    ">=": ">=", "<=": "<=", "!=": "!=", "<>": "!=", "==": "=", "=": "=", ">": ">", "<": "<", "≥": ">=",
    "≤": "<=", "~": "contains", "not in": "not in", "in": "in", "between": "between", "contains": "contains",
    "starts with": "starts with", "exists": "exists", "missing": "missing",
}  # fmt: skip
_WRITTEN = re.compile(
    r"\s*(?P<field>[^\s<>=!~≤≥][^<>=!~≤≥]*?)(?<!\s)\s*(?:(?P<sign>>=|<=|!=|<>|==|=|>|<|≥|≤|~)(?!\s*[<>=!~≤≥])\s*"
    r"|\s(?P<word>not in|in|between|contains|starts with|exists|missing)(?:\s+|$))(?P<value>.*)",
    re.DOTALL | re.IGNORECASE,
)


def parse_clause(text: str, origin: Origin = "user") -> Clause:
    """Return the clause written as "field>=value", "field in a, b", "field between a and b", "field missing".

    Semicolons separate the values of a list that hold commas ("vendor_name in Acme, Inc.; Bravo Ltd").

    Raises:
        BadInput: the text is not of that form.
    """
    if len(text) > 10 * MAX_TEXT:
        raise BadInput(f"{text[:60]!r}... is a filter of more than {10 * MAX_TEXT:,} characters")
    match = _WRITTEN.fullmatch(text)
    if not match:
        raise BadInput(
            f"{text[:60]!r} is not a filter (examples: total_amount>=500, governing_law in Delaware, Nevada)"
        )
    operator = _SIGNS[match["sign"] or re.sub(r"\s+", " ", match["word"].lower())]
    written = match["value"].strip()
    value: Any = written
    if operator in PRESENCE:
        value = None
    elif operator in ("in", "not in"):
        parts = written.strip("()[]").split(";" if ";" in written else ",")
        value = [part.strip() for part in parts if part.strip()]
    elif operator == "between":
        value = re.split(r"\s*(?:\.\.|;|\band\b)\s*", written, maxsplit=1)
    return Clause(field=match["field"].strip(), operator=operator, value=value, raw=text, origin=origin)


def other_field(item: Clause) -> str:
    """Return the name of the field that a checked clause compares its own with, "" where it has a value of its own."""
    return item.value.get("field", "") if isinstance(item.value, dict) else ""


def filtered_fields(item: Clause | Group) -> set[str]:
    """Return the fields that a clause, or the clauses of a group, are on."""
    return {clause.field for clause in clauses_in(item)}


def typed_filters(raw: Sequence[Mapping[str, object]]) -> Filters:
    """Return stored clauses and groups as typed ones; they were checked before they were stored."""
    return tuple(
        Group.model_validate(item) if "clauses" in item else Clause.model_validate(item) for item in raw
    )
