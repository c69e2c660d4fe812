"""The statement of the group with the most or the least: "which vendor billed us the most"."""

from collections.abc import Sequence
from typing import Any

from citegraph.answer.cells import table_of
from citegraph.answer.cited_spans import CITED_INPUTS
from citegraph.answer.computed_cells import cited_values, derivation, json_cell, number_text
from citegraph.corpus.filters.clause import Clause
from citegraph.corpus.records.querying.aggregates import Aggregate
from citegraph.corpus.records.querying.document_query import NO_VALUE, DocumentQuery, QueryResult, run_query
from citegraph.plan.stored_filters import bucket_filters
from citegraph.run.pieces import Draft, Plan
from citegraph.run.services import Corpus
from citegraph.run.state import Json

GROUPS = 10_000
"""Groups that are compared; with more nothing is said of the first."""
NAMED = 5
"""Groups that are named when several have the same."""


def top_groups(corpus: Corpus, plan: Plan, ids: Sequence[str], only: tuple[str, ...] | None) -> Draft:
    """Return the draft that names the group with the most or the least, a line a currency, with its documents.

    Documents without the field that groups are no group; currencies are not compared.
    """
    name, made = plan["buckets"][0], plan["aggregate"]
    aggregate = Aggregate(function=made["function"], field=made["field"])
    query = DocumentQuery(
        bucket=name,
        filters=bucket_filters(plan, name),
        aggregate=(aggregate,),
        group_by=tuple(made["group_by"]),
        order_by=(f"-{aggregate.name}" if made["top"] == "most" else aggregate.name,),
        limit=GROUPS,
        only=only,
    )
    result = run_query(corpus.annotations, query)
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
    lines = lines or [f"The {made['group_by'][0].replace('_', ' ')} with the {made['top']} cannot be told."]
    shown = [[row.get(column) for column in result.columns] for row in rows[:1000]]
    return draft | {
        "text": "\n".join([*lines, *_missing(query, result), *result.notes]),
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
        marks = " ".join(f"[{member['doc_id']}]" for member in members[:CITED_INPUTS])
        doc_ids = [member["doc_id"] for member in members]
        if aggregate.field is None:
            said, number = f"{value:,} documents" if value != 1 else "1 document", str(value)
            draft["derivations"].append(
                {"value": number, "formula": f"count of {value} documents", "operation": "count", "inputs": [],
                 "doc_ids": doc_ids, "unit": ""}
            )  # fmt: skip
        else:
            number = number_text(value["amount"] if isinstance(value, dict) else value)
            said = f"{aggregate.function} of {aggregate.field.replace('_', ' ')} {number} {unit}".strip()
            values = {member["doc_id"]: member[aggregate.field] for member in members}
            draft["derivations"].append(
                derivation(aggregate.function, aggregate.field, number, unit, doc_ids, values)
            )
        lines.append(f"{row[group]}: {said} {marks}.")
        columns = [group, aggregate.field] if aggregate.field else [group]
        bucket = corpus.buckets[query.bucket]
        draft["cited"] += cited_values(corpus, bucket, members[:CITED_INPUTS], columns)
    return lines


def _members(corpus: Corpus, query: DocumentQuery, value: Any, unit: str) -> list[Json]:
    """Return the documents of a group, with the value that is computed over, in the group's currency."""
    (aggregate,), (group,) = query.aggregate, query.group_by
    filters = (*query.filters, Clause(field=group, operator="=", value=value))
    fields = [group, aggregate.field] if aggregate.field else [group]
    found = corpus.annotations.rows(query.bucket, filters, fields)
    kept = [row for row in found if query.only is None or row["doc_id"] in query.only]
    if aggregate.field is None:
        return kept
    stated = [row for row in kept if row.get(aggregate.field) is not None]
    return [row for row in stated if (getattr(row[aggregate.field], "currency", None) or "") == unit]


def _unit(value: Any) -> str:
    return str(value.get("currency") or "") if isinstance(value, dict) else ""


def _missing(query: DocumentQuery, result: QueryResult) -> list[str]:
    """Return what is left out: the documents that do not state what groups."""
    group = query.group_by[0]
    lacking = result.matched - result.covered.get(group, result.matched)
    return [f"{lacking} of {result.matched} documents have no {group.replace('_', ' ')}."] if lacking else []
