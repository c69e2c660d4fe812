"""The statements that code writes about sets of documents: rows of a list, computed numbers, tables of groups."""

import re
from collections.abc import Sequence
from typing import Any

from citegraph.answer.cited_spans import CITED_INPUTS, cell, value_spans
from citegraph.answer.computed_cells import LABELS, cited_values, derivation, json_cell, number_text
from citegraph.answer.set_copies import copies_notes
from citegraph.answer.set_notes import export_notes, unknown_notes
from citegraph.answer.top_groups import top_groups
from citegraph.corpus.records.querying.aggregates import Aggregate
from citegraph.corpus.records.querying.document_query import DocumentQuery, run_query
from citegraph.corpus.schema.bucket import Bucket
from citegraph.plan.stored_filters import bucket_filters, flat
from citegraph.run.context import Context
from citegraph.run.pieces import Decision, Draft, NumberMade, Plan, Values
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
    return (
        draft
        | {"notes": copies + unknown_notes(corpus, plan, decision) + export_notes(plan)}
        | lost_conditions(plan)
    )


def set_rows(
    corpus: Corpus,
    plan: Plan,
    decision: Decision,
    columns: Sequence[str],
    order: Sequence[str],
    limit: int | None,
) -> list[Json]:
    """Return the rows of the plan's set as typed values by field; of the documents that the review chose, if it did."""
    name = plan["buckets"][0]
    only = decision.get("targets") or plan.get("only")
    if not only:
        return list(
            corpus.annotations.rows(name, bucket_filters(plan, name), list(columns), list(order), limit)
        )
    rows = [{"doc_id": doc_id, **(corpus.annotations.get(doc_id, name) or {})} for doc_id in only]
    for field in reversed(order):
        key = field.removeprefix("-")
        rows.sort(
            key=lambda row: (row.get(key) is None, sortable(row.get(key))), reverse=field.startswith("-")
        )
    return rows[:limit]


def sortable(value: Any) -> Any:
    """Return what orders a value: an amount, a number, a day or a text; 0 for a missing one."""
    return 0 if value is None else getattr(value, "amount", getattr(value, "value", value))


def listed(corpus: Corpus, plan: Plan, decision: Decision, context: Context) -> Draft:
    """Return the draft of a list: title, the telling fields and a marker per document."""
    name = plan["buckets"][0]
    bucket = corpus.buckets[name]
    order = plan.get("order_by")
    limit = min(context.list_limit, order["limit"]) if order and order["limit"] else context.list_limit
    by = [f"-{order['field']}" if order["descending"] else order["field"]] if order else default_order(bucket)
    wanted = row_columns(bucket, plan)
    rows = set_rows(corpus, plan, decision, wanted, by, limit)
    columns = [column for column in wanted if any(row.get(column) is not None for row in rows)]
    all_ids = document_ids(corpus, plan, decision)
    lines = [row_line(row, columns) for row in rows]
    shown = f"showing {len(lines)} of {len(all_ids):,}" if len(lines) < len(all_ids) else f"{len(all_ids):,}"
    noun = "documents" if len(all_ids) != 1 else "document"
    basis = " (by evidence in their text, not by a field)" if decision.get("targets") else ""
    basis = f"{basis[:-1]}; {decision['coverage']})" if basis and decision.get("coverage") else basis
    doc_ids = [str(row["doc_id"]) for row in rows]
    return {
        "text": "\n".join([f"{shown} {noun} in {name}{basis}:", *lines]),
        "table": {
            "columns": ["document", *columns],
            "rows": [table_row(row, columns) for row in rows],
            "doc_ids": doc_ids,
        },
        "documents": doc_ids if order and order["limit"] else all_ids,
        "matched": len(all_ids),
        "cited": [
            {"doc": doc_id, **decision["spans"][doc_id]}
            for doc_id in doc_ids
            if doc_id in decision.get("spans", {})
        ]
        or cited_values(corpus, bucket, rows, columns),
    }


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


def lost_conditions(plan: Plan) -> Draft:
    """Return why the set is only partly what was asked: a denial or a compared number became no condition."""
    lost = plan["per_bucket"][plan["buckets"][0]].get("unused", [])
    if not lost:
        return {}
    said = " and ".join(f"“{words}”" for words in lost)
    return {"partial": f"{said} could not be turned into a condition, so the set is not narrowed by it"}


def table_row(row: Json, columns: Sequence[str]) -> list[Any]:
    """Return the cells of one row: document id, then printed values."""
    return [row["doc_id"], *("" if row.get(column) is None else cell(row[column]) for column in columns)]


def computed(corpus: Corpus, plan: Plan, decision: Decision, context: Context) -> Draft:
    """Return the draft of a count, sum, average or extreme over all matching documents, with its coverage.

    The database computes the number; the inputs are read only to be cited.
    """
    name = plan["buckets"][0]
    function, field = plan["aggregate"]["function"], plan["aggregate"].get("field") or ""
    ids = document_ids(corpus, plan, decision)
    if plan["aggregate"].get("top"):
        return top_groups(corpus, plan, ids, chosen(plan, decision))
    if plan["aggregate"].get("group_by"):
        return grouped(corpus, plan, ids, chosen(plan, decision))
    if function == "count":
        return counted(corpus, plan, ids)
    query = DocumentQuery(
        bucket=name,
        filters=bucket_filters(plan, name),
        aggregate=(Aggregate(function=function, field=field),),
        only=chosen(plan, decision),
    )
    result = run_query(corpus.annotations, query)
    rows = set_rows(corpus, plan, decision, [field], [], 5000)
    values = {str(row["doc_id"]): row[field] for row in rows if row.get(field) is not None}
    lines, derivations = [], []
    for row in result.rows:
        value = row[f"{function}_{field}"]
        if value is None:
            continue
        unit = value.get("currency") or "" if isinstance(value, dict) else ""
        number = number_text(value["amount"] if isinstance(value, dict) else value)
        members = [
            doc_id for doc_id, held in values.items() if (getattr(held, "currency", None) or "") == unit
        ]
        cited = extreme_of(values, members, function) if function in {"min", "max"} else members
        marks = " ".join(f"[{doc_id}]" for doc_id in cited[:CITED_INPUTS])
        lines.append(
            f"{LABELS[function].format(field=field.replace('_', ' '))}: {number} {unit} {marks}.".replace(
                "  ", " "
            )
        )
        derivations.append(derivation(function, field, number, unit, members, values))
    covered = result.covered.get(field, 0)
    if not lines:
        lines = [f"None of the {result.matched} matching documents states its {field.replace('_', ' ')}."]
    elif covered:
        lines.append(f"{covered} of {result.matched} documents were included.")
    if covered and covered < result.matched:
        lines.append(
            f"{result.matched - covered} of {result.matched} documents have no {field.replace('_', ' ')}."
        )
    shown = list(values)[: context.list_limit]
    return {
        "text": "\n".join(lines),
        "documents": ids,
        "matched": result.matched,
        "derivations": derivations,
        "cited": value_spans(corpus, corpus.buckets[name], field, values),
        "table": {
            "columns": ["document", field],
            "rows": [[doc_id, cell(values[doc_id])] for doc_id in shown],
            "doc_ids": shown,
        },
        "unanswerable": not values,
    }


def chosen(plan: Plan, decision: Decision) -> tuple[str, ...] | None:
    """Return the documents that the review or a reply chose, None when the filters alone say which."""
    only = decision.get("targets") or plan.get("only")
    return tuple(only) if only else None


def grouped(corpus: Corpus, plan: Plan, ids: Sequence[str], only: tuple[str, ...] | None = None) -> Draft:
    """Return the draft of a table of groups ("spend per vendor per month"), computed by the database."""
    name = plan["buckets"][0]
    function, field = plan["aggregate"]["function"], plan["aggregate"]["field"]
    aggregate = Aggregate(function=function, field=field if function != "count" else None)
    groups = tuple(plan["aggregate"]["group_by"])
    query = DocumentQuery(
        bucket=name,
        filters=bucket_filters(plan, name),
        aggregate=(aggregate,),
        group_by=groups,
        order_by=groups,
        limit=1000,
        only=only,
    )
    result = run_query(corpus.annotations, query)
    rows = [[json_cell(row.get(column)) for column in result.columns] for row in result.rows]
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
        "table": {"columns": list(result.columns), "rows": rows, "doc_ids": []},
        "cited": [],
        "computed": True,
    }


def extreme_of(values: Values, members: Sequence[str], function: str) -> list[str]:
    """Return the documents that hold the smallest or largest value."""
    amounts = {doc_id: sortable(values[doc_id]) for doc_id in members}
    if not amounts:
        return []
    best = (min if function == "min" else max)(amounts.values())
    return [doc_id for doc_id, amount in amounts.items() if amount == best]


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
