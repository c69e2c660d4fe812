"""Read the numbers of fields without a unit by the field's word beside them: "a rating over 4.5", "40 items or more"."""

import re

from citegraph.corpus.filters.clause import Operator
from citegraph.corpus.schema.field import Field
from citegraph.language.amounts import Amount, find_amounts
from citegraph.language.units import is_measure
from citegraph.question.measures import RANGE, compared, range_of
from citegraph.question.phrases import find_phrase
from citegraph.question.reading import Reader

_JOINS = re.compile(
    r"[\s:=]*(?:(?:is|are|was|were|be|that|which|of|with|has|have|a|an|the|ist|sind|war|liegt|von|bei|est|sont|de|d['’]|à)\s+){0,3}",
    re.IGNORECASE,
)
"""Between a field's word and its number, or what compares it."""
_UNIT = re.compile(r"\s?(?:%|[^\W\d_]{1,3}(?!\w))")
"""After a number: a percentage or a unit makes it another thing, unless it is a word of the question."""
_SMALL_WORDS = re.compile(
    r"\s?(?:or|and|in|by|to|of|at|on|are|is|was|has|who|von|und|bei|in|im|am|ist|aus|et|ou|de|du|en)\b",
    re.IGNORECASE,
)


def read_numbers(reader: Reader) -> None:
    """Add the clauses of integer and decimal fields that have no unit; a number without their word is none of theirs."""
    fields = [item for item in reader.bucket.fields if item.type in {"integer", "decimal"} and counts(item)]
    for declared in fields:
        for word in sorted((*declared.words, declared.name.replace("_", " ")), key=len, reverse=True):
            for begin, end in find_phrase(reader.question, word):
                if reader.free(begin, end):
                    _read_beside(reader, declared, begin, end)


def counts(declared: Field) -> bool:
    """Tell whether a number is one of things (items, pages), without a unit that measures."""
    return not declared.unit or not is_measure(declared.unit)


def _read_beside(reader: Reader, declared: Field, begin: int, end: int) -> None:
    """Add what the numbers around a field's word say of it."""
    question = reader.question
    free = [amount for amount in find_amounts(question) if _is_plain(reader, amount)]
    if pair := range_of(question, free):
        low, high = pair
        lead = RANGE.search(question[: low.span[0]])
        start = lead.start() if lead else low.span[0]
        if _joined(question, begin, end, start, high.span[1]):
            values = [_value(declared, low), _value(declared, high)]
            if None not in values:
                _add(reader, declared, "between", values, (min(begin, start), max(end, high.span[1])))
            return
    for amount in free:
        operator, start, finish = compared(question, *amount.span)
        value = _value(declared, amount)
        if value is not None and _joined(question, begin, end, start, finish):
            _add(reader, declared, operator, value, (min(begin, start), max(end, finish)))
            return


def _is_plain(reader: Reader, amount: Amount) -> bool:
    after = reader.question[amount.span[1] :]
    bare = not _UNIT.match(after) or _SMALL_WORDS.match(after)
    return amount.money.currency is None and reader.free(*amount.span) and bool(bare)


def _joined(question: str, begin: int, end: int, start: int, finish: int) -> bool:
    """Return whether only small words stand between a field's word and what is said of its number."""
    between = question[end:start] if start >= end else question[finish:begin]
    return (start >= end or begin >= finish) and _JOINS.fullmatch(between) is not None


def _value(declared: Field, amount: Amount) -> object | None:
    number = amount.money.amount
    if declared.type == "decimal":
        return f"{number:f}"
    return int(number) if number == int(number) else None


def _add(reader: Reader, declared: Field, operator: Operator, value: object, span: tuple[int, int]) -> None:
    reader.add(declared.name, operator, value, *span)
