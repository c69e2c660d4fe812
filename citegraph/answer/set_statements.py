"""The statements that code writes about sets of documents: rows of a list, computed numbers, tables of groups."""

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, cast

from citegraph.answer.cells import (
    cited_values,
    json_cell,
    made_number,
    marks,
    question_of,
    sortable,
    table_of,
)
from citegraph.answer.cited_spans import CITED_INPUTS, cell
from citegraph.answer.row_statements import rows_draft
from citegraph.answer.set_numbers import (
    computed_number,
    coverage_notes,
    group_keys,
    is_deducted,
    said_period,
    set_query,
    share_of,
    side_by_side,
    spoken,
    top_groups,
)
from citegraph.corpus.filters.clause import Clause
from citegraph.corpus.records.likeness import identifier_fields
from citegraph.corpus.records.querying.aggregates import Aggregate
from citegraph.corpus.records.querying.document_query import NO_VALUE, DocumentQuery, run_query
from citegraph.corpus.schema.bucket import Bucket, show
from citegraph.evidence.names_in_texts import grouped_by_name, worded
from citegraph.language import terms
from citegraph.language.terms import phrased
from citegraph.plan.stored_filters import bucket_filters, flat
from citegraph.plan.unbound import declared_words, said_by_grammar, unbound_words
from citegraph.question.ordering import in_digits
from citegraph.run.context import Context
from citegraph.run.model_calls import note
from citegraph.run.services import Corpus
from citegraph.run.state import Json
from citegraph.run.state_types import (
    CitedSpan,
    Decision,
    Draft,
    Operation,
    OrderBy,
    Plan,
    StoredClause,
    StoredNote,
)


def unknown_notes(corpus: Corpus, plan: Plan, decision: Decision) -> list[StoredNote]:
    """Return what the set leaves out: documents that lack a condition's field, and words that became no condition."""
    name = plan["buckets"][0]
    filters = bucket_filters(plan, name)
    notes = []
    for field, count in corpus.annotations.unknown(name, filters).items():
        said = f"Of {count} more document{'' if count == 1 else 's'} no {field.replace('_', ' ')} is known; "
        said += f"{'it is' if count == 1 else 'they are'} not included"
        if count <= NAMED:
            others = [item for item in filters if getattr(item, "field", "") != field]
            missing = Clause(field=field, operator="missing", value=None)
            said += f": {', '.join(corpus.annotations.document_ids(name, (*others, missing)))}"
        notes.append(note("compose", "unknown", f"{said}."))
    notes += [
        note(
            "compose",
            "unknown",
            f"No {item.field.replace('_', ' ')} of theirs is known; their texts were not searched for one.",
        )
        for item in filters
        if isinstance(item, Clause) and item.operator == "missing" and item.origin == "inferred"
    ]
    unused = unbound_words(corpus.buckets[name], plan, decision.get("described", []))
    if unused:
        message = f"Not used as a condition, since no field holds it: {', '.join(unused)}."
        notes.append(note("compose", "not applied", message))
    return notes


def below_zero_notes(corpus: Corpus, plan: Plan, doc_ids: Sequence[str]) -> list[StoredNote]:
    """Return which of the documents that are counted or added have an amount below zero, though nothing calls them what sums
    deduct; blocking.
    """
    bucket = corpus.buckets[plan["buckets"][0]]
    declared = bucket.field(plan["aggregate"].get("field") or "")
    amount = declared.name if declared and declared.type == "money" else bucket.main_amount
    if amount is None or not bucket.deduct:
        return []
    below = Clause(field=amount, operator="<", value={"amount": "0"})
    filters = (*bucket_filters(plan, bucket.name), below)
    known = corpus.annotations.rows(bucket.name, filters, list(bucket.deduct), only=list(doc_ids))
    found = [str(row["doc_id"]) for row in known if not is_deducted(bucket, row)]
    if not found:
        return []
    which = ", ".join(found[:NAMED]) + (f" and {len(found) - NAMED} more" if len(found) > NAMED else "")
    said = f"{len(found)} of them with a {amount.replace('_', ' ')} below zero, counted as such: {which}."
    return [note("compose", "below zero", said)]


def export_notes(plan: Plan) -> list[StoredNote]:
    """Return the command that writes the whole set as CSV, where the user chose the export."""
    if not plan.get("export"):
        return []
    name = plan["buckets"][0]
    filters = "".join(
        f" --filter {shlex.quote(caller_form(clause))}"
        for clause in plan["per_bucket"][name]["filters"]
        if "field" in clause
    )
    return [
        note(
            "compose",
            "export",
            f"All of them as CSV: citegraph export --bucket {name}{filters} --out {name}.csv",
        )
    ]


def caller_form(clause: StoredClause) -> str:
    """Return a clause as `--filter` takes it: "invoice_date between 2024-01-01; 2024-12-31"."""
    value = clause.get("value")
    if isinstance(value, dict):
        value = " ".join(str(part) for part in value.values() if part)
    if isinstance(value, list):
        value = "; ".join(str(part) for part in value)
    return f"{clause['field']} {clause['operator']} {'' if value is None else value}".strip()


LOOKED_AT = 2_000
"""Documents of a set that are looked at."""
NAMED = 3
"""Groups that one note names."""


def copies_notes(corpus: Corpus, bucket: Bucket, doc_ids: Sequence[str]) -> list[StoredNote]:
    """Return notes on documents of a set that are the same thing, as far as text and values tell; blocking."""
    some = list(doc_ids[:LOOKED_AT])
    if len(some) < 2:
        return []
    hashes = {doc_id: record.content_hash for doc_id, record in corpus.documents.records(some).items()}
    values = corpus.annotations.values_of(bucket.name, some)
    copies = _groups(some, hashes)
    first_of = {doc_id: group[0] for group in copies for doc_id in group}
    others = [doc_id for doc_id in some if first_of.get(doc_id, doc_id) == doc_id]
    keys = {doc_id: key for doc_id in others if (key := _identity(bucket, values.get(doc_id, {})))}
    replaced = list(_replaced(bucket, others, values))
    told = {frozenset(pair) for pair in replaced}
    same = [group for group in _groups(others, keys) if frozenset(group) not in told]
    return [
        *_notes("copies", copies, "have the same text"),
        *_notes("copies", same, "have the same number, date and amount"),
        *_notes("versions", replaced, "are versions, the first replaces the second"),
    ]


def _notes(kind: str, groups: Sequence[Sequence[str]], said: str) -> list[StoredNote]:
    if not groups:
        return []
    named = "; ".join(" and ".join(group) for group in groups[:NAMED])
    more = f"; and {len(groups) - NAMED:,} more such groups" if len(groups) > NAMED else ""
    return [note("compose", kind, f"{named} {said}; each is counted{more}.")]


def _groups(doc_ids: Sequence[str], keys: Mapping[str, Any]) -> list[list[str]]:
    """Return the documents that share a key, two or more, in their order."""
    groups: defaultdict[Any, list[str]] = defaultdict(list)
    for doc_id in doc_ids:
        if doc_id in keys:
            groups[keys[doc_id]].append(doc_id)
    return [group for group in groups.values() if len(group) > 1]


def _identity(bucket: Bucket, values: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return what a thing is known by: its identifiers with its date and amount; None when one of these is missing."""
    identifiers = [show(values[name]).casefold() for name in identifier_fields(bucket) if name in values]
    main = [name for name in (bucket.main_date, bucket.main_amount) if name]
    if not identifiers or not main or any(name not in values for name in main):
        return None
    return (*identifiers, *(show(values[name]) for name in main))


def _replaced(
    bucket: Bucket, doc_ids: Sequence[str], values: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield (new, old) for the documents of which both a version and what it replaces are there."""
    field = bucket.supersedes_field
    for doc_id in doc_ids if field else ():
        old = values.get(doc_id, {}).get(field or "")
        if old is not None and show(old) in doc_ids:
            yield doc_id, show(old)


MAX_COLUMNS = 6
SAID_GROUPS = 12
"""Groups up to which each is said in a line; of more those with the most documents, the others in the table only."""
READ_MEMBERS = 5_000
"""Documents that are told apart by their group."""


def compose_set(corpus: Corpus, plan: Plan, decision: Decision, context: Context) -> Draft:
    """Return the draft for a set of documents: a list with one line each, or a computed number; blocking.

    Denials, compared numbers and names that no condition took up are said first, and leave it partial; other words that none
    took up are only noted, and count in the answer's confidence.
    """
    bucket = corpus.buckets[plan["buckets"][0]]
    compute = plan["intent"] == "compute" and plan["aggregate"]["function"] != "none"
    rows = rows_draft(corpus, plan, context) if plan.get("rows") else {}
    if rows and "doc" in plan["rows"][0]:
        return rows
    if plan.get("worded"):
        draft = by_name(corpus, plan, decision)
    elif rows:
        draft = rows
    elif compute:
        draft = computed(corpus, plan, decision, context)
    else:
        draft = listed(corpus, plan, decision, context)
    counts_each = not compute or plan["aggregate"]["function"] not in {"min", "max"}
    copies = copies_notes(corpus, bucket, draft["documents"]) if counts_each else []
    copies = [*draft.get("notes", []), *copies]
    lost = lost_conditions(bucket, plan, decision)
    notes = copies + unknown_notes(corpus, plan, decision) + export_notes(plan)
    notes += below_zero_notes(corpus, plan, draft["documents"]) if compute and counts_each else []
    whole: Draft = {**draft, "notes": notes}
    if not lost:
        return whole
    said = " and ".join(f"“{words}”" for words in lost)
    whole["text"] = f"Note: not used as a condition: {', '.join(lost)}.\n{draft['text']}"
    whole["partial"] = f"{said} could not be turned into a condition, so the set is not narrowed by it"
    return whole


def set_rows(
    corpus: Corpus,
    plan: Plan,
    decision: Decision,
    columns: Sequence[str],
    order: Sequence[str],
    limit: int | None,
    *,
    currency: str | None = None,
) -> list[Json]:
    """Return the rows of the plan's set as typed values by field; of the documents that the review chose, if it did.

    Args:
        currency: only the rows whose amount that orders them is in this currency.
    """
    name = plan["buckets"][0]
    filters = bucket_filters(plan, name)
    if currency is not None:
        filters = (*filters, Clause(field=order[0].removeprefix("-"), operator="=", value=currency))
    only = decision.get("targets") or plan.get("only")
    if not only:
        return list(corpus.annotations.rows(name, filters, list(columns), list(order), limit))
    values = corpus.annotations.values_of(name, only)
    rows = [{"doc_id": doc_id, **values.get(doc_id, {})} for doc_id in only]
    for field in reversed(order):
        key = field.removeprefix("-")
        rows.sort(
            key=lambda row: (row.get(key) is None, sortable(row.get(key))), reverse=field.startswith("-")
        )
    return rows[:limit]


def listed(corpus: Corpus, plan: Plan, decision: Decision, context: Context) -> Draft:
    """Return the draft of a list: title, the telling fields and a marker per document."""
    name = plan["buckets"][0]
    bucket = corpus.buckets[name]
    order = plan.get("order_by")
    limit = min(context.list_limit, order["limit"]) if order and order["limit"] else context.list_limit
    by = [f"-{order['field']}" if order["descending"] else order["field"]] if order else default_order(bucket)
    wanted = row_columns(bucket, plan)
    codes = ranked_currencies(corpus, bucket, plan, decision, order)
    apiece: list[str | None] = [*codes] or [None]
    rows = [
        row for code in apiece for row in set_rows(corpus, plan, decision, wanted, by, limit, currency=code)
    ]
    rows, beside = ([*rows], []) if codes else by_currency(bucket, order, rows)
    columns = [column for column in wanted if any(row.get(column) is not None for row in rows)]
    all_ids = document_ids(corpus, plan, decision)
    lines = [row_line(row, columns) for row in rows]
    shown = f"showing {len(lines)} of {len(all_ids):,}" if len(lines) < len(all_ids) else f"{len(all_ids):,}"
    noun = "documents" if len(all_ids) != 1 else "document"
    apart = f" ({limit} of each currency, since {', '.join(codes)} cannot be compared)" if codes else ""
    apart = f" (each in its order: {', '.join(beside)})" if beside else apart
    basis = " (by evidence in their text, not by a field)" if decision.get("targets") else ""
    basis = f"{basis[:-1]}; {decision['coverage']})" if basis and decision.get("coverage") else basis
    doc_ids = [str(row["doc_id"]) for row in rows]
    return {
        "text": "\n".join([f"{shown} {noun} in {name}{basis}{apart}:", *lines]),
        "table": table_of(
            ["document", *columns],
            [[row["doc_id"], *(row.get(column) for column in columns)] for row in rows],
            doc_ids,
            cell,
        ),
        "documents": doc_ids if order and order["limit"] else all_ids,
        "matched": len(all_ids),
        "cited": [
            {"doc": doc_id, **decision["spans"][doc_id]}
            for doc_id in doc_ids
            if doc_id in decision.get("spans", {})
        ]
        or cited_values(corpus, bucket, rows, columns),
    }


def ranked_currencies(
    corpus: Corpus, bucket: Bucket, plan: Plan, decision: Decision, order: OrderBy | None
) -> list[str]:
    """Return the currencies of a ranking by amount that must be kept apart; [] where one is enough or nothing is ranked."""
    declared = bucket.field(order["field"]) if order and order["limit"] else None
    if declared is None or declared.type != "money" or chosen(plan, decision):
        return []
    aggregate = Aggregate(function="count", field=declared.name)
    query = DocumentQuery(
        bucket=bucket.name, filters=bucket_filters(plan, bucket.name), aggregate=(aggregate,)
    )
    found = run_query(corpus.annotations, query).currencies
    codes = [code for code in found if code is not None]
    return codes if len(codes) > 1 else []


def by_currency(bucket: Bucket, order: OrderBy | None, rows: Sequence[Json]) -> tuple[list[Json], list[str]]:
    """Return rows that an amount orders with those of a currency together, and the currencies where there are several."""
    declared = bucket.field(order["field"]) if order else None
    if declared is None or declared.type != "money":
        return list(rows), []
    codes = [getattr(row.get(declared.name), "currency", None) or "" for row in rows]
    held = [code for code, _ in Counter(code for code in codes if code).most_common()]
    if len(held) < 2:
        return list(rows), []
    places = {code: at for at, code in enumerate(held)}
    ordered = sorted(zip(codes, rows, strict=True), key=lambda item: places.get(item[0], len(held)))
    return [row for _, row in ordered], held


def default_order(bucket: Bucket) -> list[str]:
    """Return the order of a list: by main date, the newest last."""
    return [bucket.main_date] if bucket.main_date else []


def document_ids(corpus: Corpus, plan: Plan, decision: Decision) -> list[str]:
    """Return the ids of every document of the set, at most 5,000."""
    only = chosen(plan, decision)
    if only:
        return list(only)
    name = plan["buckets"][0]
    return list(corpus.annotations.document_ids(name, bucket_filters(plan, name), limit=5000))


def row_columns(bucket: Bucket, plan: Plan) -> list[str]:
    """Return the fields to show: title fields, main date and amount, what was filtered, asked and ordered by.

    Where they are too many, main and filtered fields give way.
    """
    part, order = plan["per_bucket"][bucket.name], plan.get("order_by")
    named = [*bucket.title_fields, *part["asked"], *([order["field"]] if order else [])]
    wanted = [
        *bucket.title_fields,
        bucket.main_date,
        bucket.main_amount,
        *(clause.get("field") for clause in part["filters"]),
        *named,
    ]
    known = {field.name for field in bucket.fields}
    spare = MAX_COLUMNS - len(known & set(named))
    beside = [name for name in dict.fromkeys(wanted) if name in known and name not in named][: max(0, spare)]
    return [name for name in dict.fromkeys(wanted) if name in beside or name in known & set(named)][
        :MAX_COLUMNS
    ]


def row_line(row: Json, columns: Sequence[str]) -> str:
    """Return one document as a list item with its marker; no value twice, no quotation marks (they mean a quote)."""
    values = dict.fromkeys(cell(row[column]) for column in columns if row.get(column) is not None)
    shown = ", ".join(re.sub(r"[\"“”„«»]", "", value) for value in values)
    return f"- {shown or row['doc_id']} [{row['doc_id']}]"


def lost_conditions(bucket: Bucket, plan: Plan, decision: Decision) -> list[str]:
    """Return the denials, compared numbers and names of the question that no filter holds: the set is only partly what was asked.

    Words of the fields that are computed or grouped by ("VAT", "supplier") are no conditions.
    """
    part = plan["per_bucket"][plan["buckets"][0]]
    taken = {word for clause in flat(part["filters"]) for word in terms.words(str(clause.get("raw", "")))}
    # Names that the listed documents hold have chosen them.
    names = [] if decision.get("targets") else [name for name in part["names"] if name not in taken]
    lost = list(dict.fromkeys([*part.get("unused", []), *names]))
    made = plan.get("aggregate") or {}
    kept, known = made.get("having"), declared_words(bucket, plan) | said_by_grammar()
    return [
        words
        for words in lost
        if not (kept and kept["value"] in in_digits(words, bounded=True))
        and not (set(terms.words(words)) <= known)
    ]


def computed(corpus: Corpus, plan: Plan, decision: Decision, context: Context) -> Draft:
    """Return the draft of a count, sum, average or extreme over all matching documents, with its coverage.

    The database computes the number; the inputs are read only to be cited.
    """
    function = plan["aggregate"]["function"]
    ids = document_ids(corpus, plan, decision)
    if plan["aggregate"].get("top"):
        return top_groups(corpus, plan, ids, chosen(plan, decision))
    if plan["aggregate"].get("group_by"):
        return grouped(corpus, plan, ids, chosen(plan, decision))
    if function == "count" and not plan["aggregate"].get("sides"):
        return counted(corpus, plan, ids)
    if plan["aggregate"].get("sides"):
        return side_by_side(corpus, plan, ids)
    if function == "share":
        return share_of(corpus, plan, ids)
    declared = corpus.buckets[plan["buckets"][0]].field(plan["aggregate"].get("field") or "")
    if function == "distinct" and declared is not None and declared.type == "keywords":
        return different_values(corpus, plan, ids, chosen(plan, decision))
    return computed_number(corpus, plan, ids, chosen(plan, decision), context.list_limit)


def chosen(plan: Plan, decision: Decision) -> tuple[str, ...] | None:
    """Return the documents that the review or a reply chose, None when the filters alone say which."""
    only = decision.get("targets") or plan.get("only")
    return tuple(only) if only else None


def grouped(corpus: Corpus, plan: Plan, ids: Sequence[str], only: tuple[str, ...] | None = None) -> Draft:
    """Return the draft of a table of groups ("spend per vendor per month"), computed by the database."""
    name = plan["buckets"][0]
    function, field = plan["aggregate"]["function"], plan["aggregate"]["field"]
    query = set_query(plan, only)
    groups = query.group_by
    result = run_query(corpus.annotations, query)
    rows = [[row.get(column) for column in result.columns] for row in result.rows]
    # The table is the statement; what stands beside it says how it came about, and is held against no passage.
    covered = result.covered.get(field or "", result.matched) if function != "count" else result.matched
    groups_found = f"{len(rows)} {'group' if len(rows) == 1 else 'groups'}"
    lines = [f"{groups_found}: {covered} of {result.matched} documents were included."]
    # With more documents than are read the groups are not known whole.
    members = members_of(corpus, query) if result.matched <= READ_MEMBERS else {}
    held_by = [behind(row, groups, members) for row in rows]
    said = list(zip(rows, held_by, strict=True))
    if len(rows) > SAID_GROUPS:
        most = sorted(range(len(said)), key=lambda at: -len(said[at][1]))[:SAID_GROUPS] if members else []
        said = [said[at] for at in sorted(most)]
        lines += [f"The {SAID_GROUPS} with the most documents, the others in the table:"] if said else []
    cited = shared_out([held for _, held in said])
    for (row, held), few in zip(said, cited, strict=True):
        count = len(held) if function != "count" and held else None
        lines.append(f"- {group_line(result.columns, row, groups, count)} {marks(few)}".rstrip())
    operation = cast(Operation, function if function != "distinct" else "count")
    numbers = [str(json_cell(value)).partition(" ") for row, _ in said for value in row[len(groups) :]]
    made = [
        made_number(text, operation, f"{function} of a group", [], ids, unit)
        for text, _, unit in numbers
        if text
    ]
    made += [made_number(str(len(held)), "count", "of a group", [], held, "") for _, held in said if held]
    notes = coverage_notes(result)
    # A line right below an item would belong to the item, in Markdown and to the check of its statement.
    lines += ["", *notes] if said and notes else notes
    return {
        "text": "\n".join(lines),
        "documents": list(ids),
        "matched": result.matched,
        "table": table_of(
            result.columns, rows, [], json_cell, [held[:CITED_INPUTS] for held in held_by] if members else []
        ),
        "cited": cited_members(corpus, name, cited, [*groups, field or ""]),
        "derivations": made,
    }


def shared_out(held_by: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the documents of each group to cite: all, or of the largest groups as many each as an answer cites in all."""
    most = CITED_INPUTS
    while most > 1 and sum(min(len(held), most) for held in held_by) > CITED_INPUTS:
        most -= 1
    return [held[:most] for held in held_by]


def different_values(corpus: Corpus, plan: Plan, ids: Sequence[str], only: tuple[str, ...] | None) -> Draft:
    """Return the draft of how many different values a field of several has, and which; those left out are not counted."""
    field = plan["aggregate"]["field"] or ""
    by_value: Plan = {
        **plan,
        "aggregate": {
            "function": "count",
            "field": None,
            "group_by": [field],
            "besides": plan["aggregate"].get("besides", []),
        },
    }
    draft = grouped(corpus, by_value, ids, only)
    count = str(sum(row[0] != NO_VALUE for row in draft["table"]["rows"]))
    lines = draft["text"].split("\n")[1:]
    said = f"{phrased('distinct', question_of(plan), field=spoken(field))}: {count}."
    number = made_number(count, "count", f"different values of {field}", [], ids, "")
    return {
        **draft,
        "text": "\n".join([said, *lines]),
        "derivations": [number, *draft["derivations"]],
    }


def by_name(corpus: Corpus, plan: Plan, decision: Decision) -> Draft:
    """Return the draft of a number for each name that documents print in the same words; the database computes it."""
    name, words, spans = plan["buckets"][0], worded(plan["worded"]), decision["spans"]
    assert words is not None, "a plan without a name's words"
    wanted = plan["aggregate"]
    aggregate = Aggregate(function=cast(Any, wanted["function"]), field=wanted["field"])
    rows: list[list[Any]] = []
    behind_rows: list[list[str]] = []
    for said, held in grouped_by_name(corpus, words, spans).items():
        result = run_query(
            corpus.annotations, DocumentQuery(bucket=name, aggregate=(aggregate,), only=tuple(held))
        )
        rows += [[said, row[aggregate.name]] for row in result.rows]
        behind_rows += [held] * len(result.rows)
    columns = ("name", aggregate.name)
    lines = [
        f"- {group_line(columns, row, columns[:1], len(held) if wanted['field'] else None)} {marks(held)}"
        for row, held in zip(rows, behind_rows, strict=True)
    ]
    head = f"{len(rows)} {'group' if len(rows) == 1 else 'groups'}: {decision['coverage']}."
    numbers = [str(json_cell(row[1])).partition(" ") for row in rows]
    operation = cast(Operation, wanted["function"])
    return {
        "text": "\n".join([head, *lines, "", f"Note: grouped by the name in “{plan['worded']}”."]),
        "documents": list(spans),
        "matched": len(spans),
        "table": table_of(columns, rows, [], json_cell, [held[:CITED_INPUTS] for held in behind_rows]),
        "cited": [{"doc": doc_id, **span} for doc_id, span in spans.items()],
        "derivations": [
            made_number(text, operation, f"{wanted['function']} of a name", [], held, unit)
            for (text, _, unit), held in zip(numbers, behind_rows, strict=True)
        ],
    }


def members_of(corpus: Corpus, query: DocumentQuery) -> dict[tuple[Any, ...], list[tuple[str, str]]]:
    """Return the documents of each group by its values, as the query's rows give them, each with its currency; blocking.

    A document without the value that is computed over is behind no row; the currency is "" where there is none.
    """
    fields = [name.partition(".")[0] for name in query.group_by]
    computed_over = query.aggregate[0].field
    wanted = [*fields, computed_over] if computed_over else fields
    found: dict[tuple[Any, ...], list[tuple[str, str]]] = {}
    for row in corpus.annotations.rows(
        query.bucket, query.filters, list(dict.fromkeys(wanted)), [], READ_MEMBERS
    ):
        if query.only is not None and row["doc_id"] not in query.only:
            continue
        if computed_over and row.get(computed_over) is None:
            continue
        unit = str(getattr(row.get(computed_over or ""), "currency", None) or "")
        keys = [
            [NO_VALUE if key is None else key for key in group_keys(row.get(field), name.partition(".")[2])]
            for field, name in zip(fields, query.group_by, strict=True)
        ]
        for key in product(*keys):
            found.setdefault(key, []).append((str(row["doc_id"]), unit))
    return found


def behind(
    row: Sequence[Any], groups: Sequence[str], members: Mapping[tuple[Any, ...], Sequence[tuple[str, str]]]
) -> list[str]:
    """Return the documents that a row is computed over: those of its group, of an amount those in its currency."""
    units = {str(value.get("currency") or "") for value in row[len(groups) :] if isinstance(value, dict)}
    held = members.get(tuple(row[: len(groups)]), [])
    return [doc_id for doc_id, unit in held if not units or unit in units]


def cited_members(
    corpus: Corpus, bucket: str, cited: Sequence[Sequence[str]], columns: Sequence[str]
) -> list[CitedSpan]:
    """Return where the cited documents of the groups state what was computed over, else what groups them; blocking."""
    fields = list(dict.fromkeys(name.partition(".")[0] for name in columns if name))
    ids = list(dict.fromkeys(one for held in cited for one in held))
    values = corpus.annotations.values_of(bucket, ids)
    rows = [{"doc_id": one, **values.get(one, {})} for one in ids]
    return cited_values(corpus, corpus.buckets[bucket], rows, fields)


def group_line(columns: Sequence[str], row: Sequence[Any], groups: Sequence[str], held: int | None) -> str:
    """Return a group as a line: its values, its numbers with what they are, and of how many documents.

    "June 2024, Aster: sum of total amount 12.50 EUR (3 documents)"; a count says that itself.
    """
    shown = [
        said_period(column, value) or str(json_cell(value))
        for column, value in zip(columns, row, strict=True)
    ]
    keys = [text for column, text in zip(columns, shown, strict=True) if column in groups]
    numbers = [
        f"{column.replace('_', ' ')} {text}".strip()
        for column, text in zip(columns, shown, strict=True)
        if column not in groups and text
    ]
    of = "" if held is None else f" ({held} {'document' if held == 1 else 'documents'})"
    return f"{', '.join(keys)}: {', '.join(numbers)}{of}"


def counted(corpus: Corpus, plan: Plan, ids: Sequence[str]) -> Draft:
    """Return the draft of a count, with the documents that were counted."""
    name = plan["buckets"][0]
    text = f"{phrased('counted', question_of(plan), name=name, count=len(ids))} {marks(ids)}."
    filtered = {clause["field"] for clause in flat(plan["per_bucket"][name]["filters"])}
    rows = [
        {field: value for field, value in values.items() if field in filtered} | {"doc_id": doc_id}
        for doc_id, values in corpus.annotations.values_of(name, ids[:CITED_INPUTS]).items()
    ]
    rows.sort(key=lambda row: ids.index(row["doc_id"]))
    cited = cited_values(corpus, corpus.buckets[name], rows, sorted(filtered))
    made = made_number(str(len(ids)), "count", f"count of {len(ids)} documents", [], ids, "")
    return {"text": text, "documents": list(ids), "matched": len(ids), "derivations": [made], "cited": cited}
