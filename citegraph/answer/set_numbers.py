"""The statements of computed numbers: one over a set, a share of it, two sets against each other."""

import operator
import re
from calendar import month_name
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Literal, cast

from citegraph.answer.cells import (
    cited_values,
    derivation,
    json_cell,
    made_number,
    marks,
    question_of,
    sortable,
    table_of,
)
from citegraph.answer.cited_spans import CITED_INPUTS, cell, value_spans
from citegraph.corpus.filters.clause import Clause, Filters, typed_filters
from citegraph.corpus.records.querying.aggregates import MINUS, Aggregate, Having
from citegraph.corpus.records.querying.document_query import NO_VALUE, DocumentQuery, QueryResult, run_query
from citegraph.corpus.schema.bucket import Bucket
from citegraph.language.amounts import Money, number_text
from citegraph.language.terms import fold, phrased
from citegraph.plan.stored_filters import bucket_filters, flat, printed
from citegraph.run.services import Corpus
from citegraph.run.state import Json
from citegraph.run.state_types import Draft, NumberMade, Plan, StoredClause

INPUTS = 5000
"""Documents whose values are read to be cited and recomputed."""

OF_DATES = {"min": "earliest", "max": "latest"}


def spoken(field: str) -> str:
    """Return a field's name as people read it; of two dates the days between them."""
    later, minus, earlier = field.partition(MINUS)
    if minus:
        return f"number of days from {earlier.replace('_', ' ')} to {later.replace('_', ' ')}"
    return field.replace("_", " ")


def figure(bucket: Bucket, field: str, function: str, value: Any) -> tuple[str, str]:
    """Return a computed value as (number, unit): an amount with its currency, days, a count without decimals."""
    if isinstance(value, dict):
        return number_text(value["amount"]), value.get("currency") or ""
    if isinstance(value, str):
        return value, ""
    declared = bucket.field(field)
    whole = function in {"count", "distinct"} or (
        function not in {"average", "median"}
        and (MINUS in field or (declared and declared.type == "integer"))
    )
    unit = "days" if MINUS in field else (declared.unit or "" if declared and function != "distinct" else "")
    return (f"{int(value):,}" if whole else number_text(value)), unit


def inputs_of(
    corpus: Corpus, bucket: Bucket, field: str, filters: Filters, only: Sequence[str] | None, *, signed: bool
) -> dict[str, Any]:
    """Return the values that a number is made from, by document; an amount that is deducted as negative; blocking."""
    names = [*field.split(MINUS), *bucket.deduct]
    rows: Sequence[Mapping[str, Any]]
    if only:
        values = corpus.annotations.values_of(bucket.name, only)
        rows = [{"doc_id": doc_id, **values.get(doc_id, {})} for doc_id in only]
    else:
        rows = list(corpus.annotations.rows(bucket.name, filters, names, [], INPUTS))
    return {
        str(row["doc_id"]): value
        for row in rows
        if (value := _input(bucket, row, field, signed=signed)) is not None
    }


def _input(bucket: Bucket, row: Mapping[str, Any], field: str, *, signed: bool) -> Any:
    later, minus, earlier = field.partition(MINUS)
    if minus:
        first, last = row.get(earlier), row.get(later)
        return (last - first).days if isinstance(first, date) and isinstance(last, date) else None
    value = row.get(field)
    if signed and isinstance(value, Money) and value.amount > 0 and is_deducted(bucket, row):
        return Money(-value.amount, value.currency)
    return value


def is_deducted(bucket: Bucket, row: Mapping[str, Any]) -> bool:
    """Tell whether the amounts of a document with such values count as negative: those of a credit note."""
    return any(
        row.get(name) is not None and fold(str(row[name])) in {fold(one) for one in values}
        for name, values in bucket.deduct.items()
    )


def set_query(
    plan: Plan, only: tuple[str, ...] | None = None, filters: Filters | None = None
) -> DocumentQuery:
    """Return the query of the number that a plan wants, with its groups; over the plan's own conditions unless others are given."""
    name, made = plan["buckets"][0], plan["aggregate"]
    groups, top, kept = tuple(made.get("group_by") or ()), made.get("top"), made.get("having")
    field = None if groups and made["function"] == "count" else made.get("field") or None
    aggregate = Aggregate(function=cast(Any, made["function"]), field=field)
    ranked = f"-{aggregate.name}" if top == "most" else aggregate.name
    return DocumentQuery(
        bucket=name,
        filters=bucket_filters(plan, name) if filters is None else filters,
        aggregate=(aggregate,),
        group_by=groups,
        besides=tuple(made["besides"]) if "besides" in made else None,
        order_by=(ranked,) if top else groups,
        having=(Having.model_validate(kept),) if kept else (),
        limit=GROUPS if top else LISTED_GROUPS,
        only=only,
    )


def number_lines(
    corpus: Corpus, plan: Plan, filters: Filters, only: tuple[str, ...] | None, label: str = ""
) -> tuple[Draft, QueryResult, dict[str, Any]]:
    """Return the draft of one number over the documents of some filters, a line a currency; blocking."""
    name = plan["buckets"][0]
    bucket, made = corpus.buckets[name], plan["aggregate"]
    function, field = made["function"], made.get("field") or ""
    query = set_query(plan, only, filters)
    result, (aggregate,) = run_query(corpus.annotations, query), query.aggregate
    asked = {clause["field"] for clause in flat(plan["per_bucket"][name]["filters"])}
    signed = function == "sum" and not set(bucket.deduct) & asked
    values = inputs_of(corpus, bucket, field, filters, only, signed=signed) if field else {}
    ids = [] if values else list(corpus.annotations.document_ids(name, filters, limit=INPUTS))
    lines: list[str] = []
    derivations: list[NumberMade] = []
    for row in result.rows:
        value = row[aggregate.name]
        if value is None:
            continue
        number, unit = figure(bucket, field, function, value)
        money = isinstance(value, dict)
        members = [
            doc_id
            for doc_id, held in values.items()
            if not money or (getattr(held, "currency", None) or "") == unit
        ] or ids
        cited = extreme_of(values, members, function) if function in {"min", "max"} and values else members
        form = OF_DATES.get(function, function) if isinstance(value, str) else function
        what = phrased(form, question_of(plan), field=spoken(field))
        what = f"{what[0].lower()}{what[1:]}" if label else what
        lines.append(
            f"{label + ': ' if label else ''}{what}: {number} {unit} {marks(cited)}.".replace("  ", " ")
        )
        if not isinstance(value, str):
            derivations.append(derivation(function, field, number, unit, members, values))
    draft: Draft = {
        "text": "\n".join(lines),
        "derivations": derivations,
        "cited": value_spans(corpus, bucket, field.split(MINUS)[0], values)
        if values
        else cited_values(corpus, bucket, [{"doc_id": doc_id} for doc_id in ids[:CITED_INPUTS]], []),
        "matched": result.matched,
    }
    return draft, result, values


def computed_number(
    corpus: Corpus, plan: Plan, ids: list[str], only: tuple[str, ...] | None, limit: int
) -> Draft:
    """Return the draft of a number over all matching documents, with its coverage, and of a second one held against it; blocking.

    The database computes the numbers; the inputs are read only to be cited.
    """
    name, field = plan["buckets"][0], plan["aggregate"].get("field") or ""
    draft, result, values = number_lines(corpus, plan, bucket_filters(plan, name), only)
    lines = [draft["text"]] if draft["text"] else []
    covered, what, question = result.covered.get(field, 0), spoken(field), question_of(plan)
    if not lines:
        lines = [phrased("none", question, matched=result.matched, field=what)]
    elif covered:
        lines.append(phrased("included", question, covered=covered, matched=result.matched))
    if covered and covered < result.matched:
        lacking = result.matched - covered
        lines.append(phrased("lacking", question, lacking=lacking, matched=result.matched, field=what))
    lines += [f"{line[0].upper()}{line[1:]}." for line in result.notes if "negative" in line]
    lines += holders(corpus, plan, values)
    if second := plan["aggregate"].get("second"):
        other: Plan = {**plan, "aggregate": {"function": second["function"], "field": second["field"]}}
        beside, rows, held = number_lines(corpus, other, bucket_filters(plan, name), only)
        said, numbers = between(result.rows, rows.rows, second["operation"], ids)
        # The answer itself comes first, what it is made of behind it.
        lines = [*said, lines[0], *filter(None, [beside["text"]]), *lines[1:], *holders(corpus, other, held)]
        draft["derivations"] += [*beside["derivations"], *numbers]
        draft["cited"] += beside["cited"]
    told, made = held_against(plan["aggregate"].get("against"), result.rows)
    lines += told
    shown = list(values)[:limit]
    # The day by which a document counts stands beside its value.
    dated = corpus.buckets[name].main_date or ""
    stored = corpus.annotations.values_of(name, shown) if dated and dated != field else {}
    days = {doc_id: kept[dated] for doc_id, kept in stored.items() if kept.get(dated) is not None}
    return {
        **draft,
        "text": "\n".join(lines),
        "derivations": [*draft.get("derivations", []), *made],
        "documents": ids,
        "table": table_of(
            ["document", *([spoken(dated)] if days else []), what],
            [[doc_id, *([days.get(doc_id)] if days else []), values[doc_id]] for doc_id in shown],
            shown,
            lambda value: value if isinstance(value, int) else cell(value),
        ),
        "unanswerable": not draft["text"],
    }


def between(
    first: Sequence[Mapping[str, Any]],
    second: Sequence[Mapping[str, Any]],
    operation: Literal["difference", "ratio"],
    ids: Sequence[str],
) -> tuple[list[str], list[NumberMade]]:
    """Return the difference, or the quotient, of two numbers over a set, a line a currency; of two dates the days between.

    An amount may be divided by a bare number and keeps its currency; two currencies are never mixed.
    """
    lines: list[str] = []
    made: list[NumberMade] = []
    divisors = dict(_numbers_of(second))
    for unit, one in _numbers_of(first):
        other = divisors.get(unit)
        left = ""
        if other is None and operation == "ratio":
            other, left = divisors.get(""), unit
        if other is None or (operation == "ratio" and not other):
            continue
        value = abs(one - other) if operation == "difference" else one / other
        text = number_text(value) if operation == "difference" else f"{value:.2f}"
        shown = unit if operation == "difference" else left
        inputs = [str(one), str(other)]
        made.append(made_number(text, operation, f"the {operation}", inputs, ids, shown))
        lines.append(f"{operation.capitalize()}: {text} {shown}".rstrip() + ".")
    return lines, made


def _numbers_of(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Decimal]]:
    """Yield the numbers of a result without groups, each with its currency, "days" for a date, "" for none."""
    for row in rows:
        for value in row.values():
            if isinstance(value, dict):
                yield value.get("currency") or "", Decimal(value["amount"])
            elif isinstance(value, str):
                yield "days", Decimal(date.fromisoformat(value).toordinal())
            elif value is not None:
                yield "", Decimal(str(value))


HOLDS: dict[str, tuple[Callable[[Decimal, Decimal], bool], str]] = {
    ">": (operator.gt, "more than"),
    "<": (operator.lt, "less than"),
    ">=": (operator.ge, "at least"),
    "<=": (operator.le, "at most"),
}
"""What a yes-or-no question holds a number against another by, and how it is said."""


def held_against(
    against: StoredClause | None, rows: Sequence[Mapping[str, Any]]
) -> tuple[list[str], list[NumberMade]]:
    """Return whether each number of a result is what a question holds it against, with the numbers that this takes.

    Another currency than the one that was asked for is not compared.
    """
    if against is None:
        return [], []
    value: Any = against.get("value")
    text = value if isinstance(value, str | int | float) else value.get("amount")
    asked, _, code = str(text).partition(" ")
    code = code or (value.get("currency") or "" if isinstance(value, dict) else "")
    holds, said = HOLDS[against["operator"]]
    lines: list[str] = []
    made: list[NumberMade] = []
    for unit, number in _numbers_of(rows):
        if code and unit and code != unit:
            continue
        yes = holds(number, Decimal(asked))
        bound = f"{number_text(asked)} {code or unit}".strip()
        line = f"{'Yes' if yes else 'No'}: {number_text(number)} {unit} is {'' if yes else 'not '}{said} {bound}."
        lines.append(line.replace("  ", " "))
        made.append(made_number(number_text(asked), "difference", "as asked", [], [], code or unit))
    return lines, made


def holders(corpus: Corpus, plan: Plan, values: Mapping[str, Any]) -> list[str]:
    """Return a line on each document that holds a smallest or largest value: which one, and of what day; blocking."""
    name, function = plan["buckets"][0], plan["aggregate"]["function"]
    if function not in {"min", "max"}:
        return []
    apart: dict[str, list[str]] = {}
    for doc_id, value in values.items():
        apart.setdefault(getattr(value, "currency", None) or "", []).append(doc_id)
    found = [extreme_of(values, members, function) for members in apart.values()]
    best = [doc_id for holding in found if len(holding) <= HOLDERS for doc_id in holding]
    if not best:
        return []
    bucket = corpus.buckets[name]
    lines = []
    for doc_id, held in corpus.annotations.values_of(name, best).items():
        day = held.get(bucket.main_date or "")
        said = [bucket.title(held), cell(day) if day is not None else ""]
        lines.append(f"{', '.join(filter(None, said)) or doc_id} [{doc_id}].")
    return lines


HOLDERS = 3
"""Documents with the same smallest or largest value that are named."""


def share_of(corpus: Corpus, plan: Plan, ids: Sequence[str]) -> Draft:
    """Return the draft of a share in percent: of the documents of a whole, or of their amount, by currency; blocking.

    Its documents are those of the whole; `ids`, those of the part, are cited.
    """
    name, made = plan["buckets"][0], plan["aggregate"]
    part = bucket_filters(plan, name)
    whole = typed_filters(made.get("whole", []))
    of = " and ".join(printed(clause) for clause in made.get("whole", [])) or f"all documents in {name}"
    dated = any(re.search(r"\d", printed(clause)) for clause in made.get("whole", []))
    said = "" if dated else f" ({of})"  # no document prints the bounds of the whole
    lines: list[str] = []
    derivations: list[NumberMade] = []
    field = made.get("field")
    if field:
        aggregate = Aggregate(function="sum", field=field)
        totals = [
            dict(_numbers_of(run_query(corpus.annotations, query).rows))
            for filters in (part, whole)
            for query in [DocumentQuery(bucket=name, filters=filters, aggregate=(aggregate,))]
        ]
        pairs = [(totals[0].get(unit, Decimal(0)), total, unit) for unit, total in totals[1].items()]
    else:
        counts = [Decimal(corpus.annotations.count(name, filters)) for filters in (part, whole)]
        pairs = [(counts[0], counts[1], "documents")]
    for some, total, unit in pairs:
        if not total:
            continue
        percent = f"{some / total * 100:.1f}"
        texts = [number_text(value) if field else f"{int(value):,}" for value in (some, total)]
        lines.append(f"{percent} %: {texts[0]} of {texts[1]} {unit}{said} {marks(ids)}.".replace("  ", " "))
        derivations.append(
            made_number(percent, "ratio", "share in percent", [str(some), str(total)], ids, "%")
        )
        derivations += [
            made_number(text, "sum" if field else "count", what, [], ids, unit if field else "")
            for text, what in zip(texts, ("the part", "the whole"), strict=True)
        ]
    return {
        "text": "\n".join([*lines, *([f"Note: the whole is {of}."] if dated and lines else [])])
        or f"There are no documents with {of}.",
        "documents": list(corpus.annotations.document_ids(name, whole, limit=INPUTS)),
        "matched": len(ids),
        "derivations": derivations,
        "cited": cited_values(
            corpus, corpus.buckets[name], [{"doc_id": doc_id} for doc_id in ids[:CITED_INPUTS]], []
        ),
        "unanswerable": not lines,
    }


def side_by_side(corpus: Corpus, plan: Plan, ids: Sequence[str]) -> Draft:
    """Return the draft of two sets against each other: the number of each, the difference and the change; blocking."""
    name, made = plan["buckets"][0], plan["aggregate"]
    sides = made["sides"]
    parts = [number_lines(corpus, plan, typed_filters(side), None, _label(sides, side))[0] for side in sides]
    lines = [draft["text"] for draft in parts if draft["text"]]
    derivations = [number for draft in parts for number in draft["derivations"]]
    by_unit: dict[str, list[Decimal]] = {}
    for draft in parts:
        for number in draft["derivations"]:
            by_unit.setdefault(number["unit"], []).append(Decimal(number["value"].replace(",", "")))
    for unit, values in by_unit.items():
        if len(values) != 2:
            continue
        first, last = values
        change = last - first
        text = (
            number_text(abs(change))
            if made["function"] not in {"count", "distinct"}
            else f"{abs(change):,.0f}"
        )
        inputs = [str(first), str(last)]
        derivations.append(made_number(text, "difference", "the difference", inputs, ids, unit))
        said = f"Difference: {text} {unit}".strip()
        if first and change:
            percent = f"{abs(change) / abs(first) * 100:.1f}"
            derivations.append(made_number(percent, "ratio", "the change in percent", inputs, ids, "%"))
            said += f" ({percent} % {'more' if change > 0 else 'less'} than the first)"
        lines.append(f"{said}.")
    return {
        "text": "\n".join(lines) or f"None of the documents in {name} states it.",
        "documents": list(ids),
        "matched": len(ids),
        "derivations": derivations,
        "cited": [span for draft in parts for span in draft["cited"]],
        "unanswerable": not any(draft["text"] for draft in parts),
    }


def _label(sides: Sequence[Sequence[StoredClause]], side: Sequence[StoredClause]) -> str:
    """Return what tells a side from the other: the value of the condition that only it has."""
    others = [clause for other in sides if other is not side for clause in other]
    (own,) = [clause for clause in side if clause not in others][:1] or [{}]
    value = own.get("value")
    if not isinstance(value, list):
        return str(value)
    first, last = str(value[0]), str(value[-1])
    whole = first[:4] == last[:4] and (first[4:], last[4:]) == ("-01-01", "-12-31")
    return first[:4] if whole else " to ".join(map(str, value))


def extreme_of(values: Mapping[str, Any], members: Sequence[str], function: str) -> list[str]:
    """Return the documents that hold the smallest or largest value."""
    amounts = {doc_id: sortable(values[doc_id]) for doc_id in members if doc_id in values}
    if not amounts:
        return []
    best = (min if function == "min" else max)(amounts.values())
    return [doc_id for doc_id, amount in amounts.items() if amount == best]


GROUPS, LISTED_GROUPS = 10_000, 1_000
"""Groups that are compared (with more nothing is said of the first), and those of a table."""
NAMED = 5
"""Groups that are named when several have the same."""


def top_groups(corpus: Corpus, plan: Plan, ids: Sequence[str], only: tuple[str, ...] | None) -> Draft:
    """Return the draft that names the group with the most or the least, a line a currency, with the documents behind it.

    Documents without the field that groups are no group; currencies are not compared.
    """
    made = plan["aggregate"]
    query = set_query(plan, only)
    result, (aggregate,) = run_query(corpus.annotations, query), query.aggregate
    rows = [
        row for row in result.rows if row[made["group_by"][0]] != NO_VALUE and row[aggregate.name] is not None
    ]
    draft: Draft = {
        "text": "",
        "documents": list(ids),
        "matched": result.matched,
        "derivations": [],
        "cited": [],
    }
    lines = (
        []
        if result.truncated
        else [
            line
            for best in _best(rows, aggregate.name, made.get("limit", 1))
            for line in _lines(corpus, query, best[: max(NAMED, made.get("limit", 1))], draft)
        ]
    )
    several = made.get("limit", 1) > 1 and lines
    by = (
        f"the {aggregate.function} of {aggregate.field.replace('_', ' ')}"
        if aggregate.field
        else "their number of documents"
    )
    lines = [f"Ranked by {by}:", *lines] if several else lines
    lines = lines or [
        f"The {spoken(made['group_by'][0].replace('.', ' '))} with the {made['top']} cannot be told."
    ]
    shown = [[row.get(column) for column in result.columns] for row in rows[:1000]]
    behind = list(dict.fromkeys(doc_id for number in draft["derivations"] for doc_id in number["doc_ids"]))
    return draft | {
        "documents": behind or list(ids),
        "text": "\n".join([*lines, *_missing(query, result), *coverage_notes(result)]),
        "table": table_of(result.columns, shown, [], json_cell),
        "unanswerable": not draft["cited"],
    }


def _best(rows: Sequence[Json], column: str, limit: int) -> list[list[Json]]:
    """Return, a currency each, the first rows, as many as are wanted, with those that have the last one's value."""
    by_unit: dict[str, list[Json]] = {}
    for row in rows:
        by_unit.setdefault(_unit(row[column]), []).append(row)
    return [
        [row for place, row in enumerate(held) if place < limit or row[column] == held[limit - 1][column]]
        for held in by_unit.values()
    ]


def _lines(corpus: Corpus, query: DocumentQuery, rows: Sequence[Json], draft: Draft) -> list[str]:
    """Return a line for each row, and put what it is computed from into the draft."""
    (aggregate,), (group,) = query.aggregate, query.group_by
    lines = []
    for row in rows:
        value, unit = row[aggregate.name], _unit(row[aggregate.name])
        members = _members(corpus, query, row[group], unit)
        doc_ids = [member["doc_id"] for member in members]
        if aggregate.field is None:
            said, number = f"{value:,} documents" if value != 1 else "1 document", str(value)
            made = made_number(number, "count", f"count of {value} documents", [], doc_ids, "")
        else:
            number = number_text(value["amount"] if isinstance(value, dict) else value)
            said = f"{aggregate.function} of {aggregate.field.replace('_', ' ')} {number} {unit}".strip()
            values = {member["doc_id"]: member[aggregate.field] for member in members}
            made = derivation(aggregate.function, aggregate.field, number, unit, doc_ids, values)
        draft["derivations"].append(made)
        lines.append(f"{said_period(group, row[group]) or row[group]}: {said} {marks(doc_ids)}.")
        name = group.partition(".")[0]
        columns = [name, aggregate.field] if aggregate.field else [name]
        bucket = corpus.buckets[query.bucket]
        draft["cited"] += cited_values(corpus, bucket, members[:CITED_INPUTS], columns)
    return lines


def _members(corpus: Corpus, query: DocumentQuery, value: Any, unit: str) -> list[Json]:
    """Return the documents of a group, with the value that is computed over, in the group's currency."""
    (aggregate,), (group,) = query.aggregate, query.group_by
    name, _, cut = group.partition(".")
    declared = corpus.buckets[query.bucket].field(name)
    several = declared is not None and declared.type == "keywords"
    own = () if cut else (Clause(field=name, operator="contains" if several else "=", value=value),)
    fields = [name, aggregate.field] if aggregate.field else [name]
    found = corpus.annotations.rows(query.bucket, (*query.filters, *own), fields)
    kept = [row for row in found if query.only is None or row["doc_id"] in query.only]
    kept = [row for row in kept if not cut or value in group_keys(row.get(name), cut)]
    if aggregate.field is None:
        return kept
    stated = [row for row in kept if row.get(aggregate.field) is not None]
    return [row for row in stated if (getattr(row[aggregate.field], "currency", None) or "") == unit]


def group_keys(value: Any, cut: str) -> list[Any]:
    """Return the groups that a document's value puts it in: of a date its year, quarter, month or day as the database writes it."""
    if cut == "quarter" and isinstance(value, date):
        return [f"{value.year}-Q{(value.month + 2) // 3}"]
    size = {"year": 4, "month": 7, "day": 10}.get(cut)
    if size and isinstance(value, date):
        return [value.isoformat()[:size]]
    return list(value) if isinstance(value, tuple) else [value]


def said_period(column: str, key: Any) -> str:
    """Return a group of months or quarters as a sentence names it: "2024-06" as "June 2024", "2024-Q2" as "Q2 2024"; else "".

    A table keeps the key, which orders by time. In a sentence "2024-06" reads as the number of a document.
    """
    cut = column.partition(".")[2]
    if key == NO_VALUE or cut not in {"month", "quarter"}:
        return ""
    year, _, part = str(key).partition("-")
    return f"{part} {year}" if cut == "quarter" else f"{month_name[int(part)]} {year}"


def _unit(value: Any) -> str:
    return str(value.get("currency") or "") if isinstance(value, dict) else ""


def coverage_notes(result: QueryResult) -> list[str]:
    """Return what the database says of a computation, a line each; that nothing was left out goes without saying."""
    whole = f" {result.matched} of {result.matched}"
    return [f"Note: {said}." for said in result.notes if not said.endswith(whole)]


def _missing(query: DocumentQuery, result: QueryResult) -> list[str]:
    """Return what is left out: the documents that do not state what groups."""
    group = query.group_by[0].partition(".")[0]
    lacking = result.matched - result.covered.get(group, result.matched)
    return [f"{lacking} of {result.matched} documents have no {group.replace('_', ' ')}."] if lacking else []
