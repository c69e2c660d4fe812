"""The statements that code writes about sets of documents: rows of a list, computed numbers, tables of groups."""

import re
from collections.abc import Sequence
from typing import Any, cast

from citegraph.answer.cells import table_of
from citegraph.answer.cited_spans import CITED_INPUTS, cell
from citegraph.answer.computed_cells import cited_values, json_cell, sortable
from citegraph.answer.set_copies import copies_notes
from citegraph.answer.set_notes import export_notes, unknown_notes
from citegraph.answer.set_numbers import computed_number, share_of, side_by_side
from citegraph.answer.top_groups import top_groups
from citegraph.corpus.filters.clause import Clause
from citegraph.corpus.records.querying.aggregates import Aggregate, Having
from citegraph.corpus.records.querying.document_query import DocumentQuery, run_query
from citegraph.corpus.schema.bucket import Bucket
from citegraph.plan.stored_filters import bucket_filters, flat
from citegraph.run.context import Context
from citegraph.run.pieces import Decision, Draft, NumberMade, OrderBy, Plan
from citegraph.run.services import Corpus
from citegraph.run.state import Json

MAX_COLUMNS = 6


def compose_set(corpus: Corpus, plan: Plan, decision: Decision, context: Context) -> Draft:
    """Return the draft for a set of documents: a list with one line each, or a computed number; blocking."""
    bucket = corpus.buckets[plan["buckets"][0]]
    compute = plan["intent"] == "compute" and plan["aggregate"]["function"] != "none"
    draft = computed(corpus, plan, decision, context) if compute else listed(corpus, plan, decision, context)
    counts_each = not compute or plan["aggregate"]["function"] not in {"min", "max"}
    copies = copies_notes(corpus, bucket, draft["documents"]) if counts_each else []
    lost = lost_conditions(plan)
    notes = copies + unknown_notes(corpus, plan, decision) + export_notes(plan)
    text = f"Not used as a condition: {', '.join(lost)}.\n{draft['text']}" if lost else draft["text"]
    said = " and ".join(f"“{words}”" for words in lost)
    partial: Draft = {
        "partial": f"{said} could not be turned into a condition, so the set is not narrowed by it"
    }
    return {**draft, "text": text, "notes": notes, **(partial if lost else {})}


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
    rows = [{"doc_id": doc_id, **(corpus.annotations.get(doc_id, name) or {})} for doc_id in only]
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
    columns = [column for column in wanted if any(row.get(column) is not None for row in rows)]
    all_ids = document_ids(corpus, plan, decision)
    lines = [row_line(row, columns) for row in rows]
    shown = f"showing {len(lines)} of {len(all_ids):,}" if len(lines) < len(all_ids) else f"{len(all_ids):,}"
    noun = "documents" if len(all_ids) != 1 else "document"
    apart = f" ({limit} of each currency, since {', '.join(codes)} cannot be compared)" if codes else ""
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
    """Return the fields to show: title fields, main date and amount, what was filtered and what was asked."""
    part = plan["per_bucket"][bucket.name]
    wanted = [
        *bucket.title_fields,
        bucket.main_date,
        bucket.main_amount,
        *(clause.get("field") for clause in part["filters"]),
        *part["asked"],
    ]
    known = {field.name: field for field in bucket.fields}
    return [name for name in dict.fromkeys(wanted) if name in known][:MAX_COLUMNS]


def row_line(row: Json, columns: Sequence[str]) -> str:
    """Return one document as a list item with its marker; no value twice, no quotation marks (they mean a quote)."""
    values = dict.fromkeys(cell(row[column]) for column in columns if row.get(column) is not None)
    shown = ", ".join(re.sub(r"[\"“”„«»]", "", value) for value in values)
    return f"- {shown or row['doc_id']} [{row['doc_id']}]"


def lost_conditions(plan: Plan) -> list[str]:
    """Return the denials and compared numbers of the question that no filter holds: the set is only partly what was asked."""
    lost = plan["per_bucket"][plan["buckets"][0]].get("unused", [])
    made = plan.get("aggregate") or {}
    kept = made.get("having")
    return [words for words in lost if not (kept and kept["value"] in words)]


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
    return computed_number(corpus, plan, ids, chosen(plan, decision), context.list_limit)


def chosen(plan: Plan, decision: Decision) -> tuple[str, ...] | None:
    """Return the documents that the review or a reply chose, None when the filters alone say which."""
    only = decision.get("targets") or plan.get("only")
    return tuple(only) if only else None


def grouped(corpus: Corpus, plan: Plan, ids: Sequence[str], only: tuple[str, ...] | None = None) -> Draft:
    """Return the draft of a table of groups ("spend per vendor per month"), computed by the database."""
    name = plan["buckets"][0]
    function, field = plan["aggregate"]["function"], plan["aggregate"]["field"]
    aggregate = Aggregate(function=cast(Any, function), field=field if function != "count" else None)
    groups = tuple(plan["aggregate"]["group_by"])
    kept = plan["aggregate"].get("having")
    query = DocumentQuery(
        bucket=name,
        filters=bucket_filters(plan, name),
        aggregate=(aggregate,),
        group_by=groups,
        order_by=groups,
        having=(Having.model_validate(kept),) if kept else (),
        limit=1000,
        only=only,
    )
    result = run_query(corpus.annotations, query)
    rows = [[row.get(column) for column in result.columns] for row in result.rows]
    # The table is the statement; what stands beside it says how it came about, and is held against no passage.
    covered = result.covered.get(field or "", result.matched) if function != "count" else result.matched
    groups_found = f"{len(rows)} {'group' if len(rows) == 1 else 'groups'}"
    lines = [f"{groups_found}: {covered} of {result.matched} documents were included."]
    whole = f" {result.matched} of {result.matched}"
    lines += [f"Note: {note}." for note in result.notes if not note.endswith(whole)]
    return {
        "text": "\n".join(lines),
        "documents": list(ids),
        "matched": result.matched,
        "table": table_of(result.columns, rows, [], json_cell),
        "cited": [],
        "computed": True,
    }


def counted(corpus: Corpus, plan: Plan, ids: Sequence[str]) -> Draft:
    """Return the draft of a count, with the documents that were counted."""
    name = plan["buckets"][0]
    marks = " ".join(f"[{doc_id}]" for doc_id in ids[:CITED_INPUTS])
    text = f"The number of matching documents in {name} is {len(ids)} {marks}."
    filtered = {clause["field"] for clause in flat(plan["per_bucket"][name]["filters"])}
    rows = [
        {field: value for field, value in values.items() if field in filtered} | {"doc_id": doc_id}
        for doc_id, values in corpus.annotations.values_of(name, ids[:CITED_INPUTS]).items()
    ]
    rows.sort(key=lambda row: ids.index(row["doc_id"]))
    cited = cited_values(corpus, corpus.buckets[name], rows, sorted(filtered))
    made: NumberMade = {
        "value": str(len(ids)),
        "formula": f"count of {len(ids)} documents",
        "operation": "count",
        "inputs": [],
        "doc_ids": list(ids),
        "unit": "",
    }
    return {"text": text, "documents": list(ids), "matched": len(ids), "derivations": [made], "cited": cited}
