"""The statements about rows of tables inside documents: what was bought, what a part is rated for, and sums of it."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

from citegraph.answer.cells import made_number, phrased, question_of, table_of
from citegraph.answer.cited_spans import CITED_INPUTS
from citegraph.answer.set_numbers import INPUTS, is_deducted
from citegraph.corpus.records.extracted.row_store import StoredRow
from citegraph.corpus.schema.bucket import RowKind
from citegraph.language.amounts import number_text
from citegraph.plan.rows_asked import Function, filters_of, row_query
from citegraph.plan.stored_filters import bucket_filters, printed
from citegraph.run.context import Context
from citegraph.run.model_calls import note
from citegraph.run.services import Corpus
from citegraph.run.state_types import Draft, NumberMade, Operation, Plan

SHOWN = 12
"""Rows that are said in lines beside a number; more stand in the table only."""


def rows_draft(corpus: Corpus, plan: Plan, context: Context) -> Draft:
    """Return the draft of the rows that a plan wants: a number of them, a line a unit, then the rows; blocking."""
    wanted, name = plan["rows"], plan["buckets"][0]
    bucket = corpus.buckets[name]
    kind = next(item for item in bucket.rows if item.name == wanted["kind"])
    query = row_query(
        corpus, bucket, kind, filters_of(wanted), bucket_filters(plan, name), plan.get("only", [])
    )
    assert corpus.rows is not None
    rows = corpus.rows.find(query, limit=context.list_limit)
    total = corpus.rows.count(query)
    # Those of the rows that are shown first: their lines are cited.
    ids = list(dict.fromkeys([*(row.doc_id for row in rows), *corpus.rows.documents(query)]))
    spoken = kind.name.replace("_", " ")
    what = " and ".join([*(f"“{word}”" for word in wanted["words"][:1]), *wanted["words"][1:]])
    lines: list[str] = []
    made: list[NumberMade] = []
    function, column = wanted["function"], wanted.get("column")
    deducted: list[str] = []
    if function != "none" and column:
        known = (
            corpus.annotations.values_of(name, ids[:INPUTS]) if function == "sum" and bucket.deduct else {}
        )
        deducted = [doc_id for doc_id in ids if is_deducted(bucket, known.get(doc_id, {}))]
        if deducted:
            lines.append(
                f"Note: {len(deducted)} of the documents are deducted; their rows are added as printed."
            )
        marks = " ".join(f"[{doc_id}]" for doc_id in ids[:CITED_INPUTS])
        for number in corpus.rows.number(query, cast(Function, function), column):
            declared = kind.field(column)
            text = (
                number_text(str(number.value))
                if declared and declared.type == "money"
                else f"{Decimal(str(number.value)):f}".rstrip("0").rstrip(".")
            )
            counted = f"{column.replace('_', ' ')} of {spoken}"
            label = phrased(function, question_of(plan), field=counted)
            lines.append(f"{label}: {text} {number.unit} {marks}.".replace("  ", " "))
            values = [_amount(row.values.get(column), number.unit) for row in rows]
            # The database computed it over all rows; it is computed once more where all of them are here.
            inputs = [value for value in values if value is not None] if len(rows) == total else []
            made.append(
                made_number(
                    text,
                    cast(Operation, function),
                    f"{function} over {number.rows} {spoken}",
                    inputs,
                    ids,
                    number.unit,
                )
            )
    else:
        lines.append(f"{total} {spoken} in {len(ids)} documents:")
    if total > min(SHOWN, len(rows)):
        lines.append(f"showing {min(SHOWN, len(rows))} of {total} rows:")
    lines += [f"- {row_said(kind, row)} [{row.doc_id}]" for row in rows[:SHOWN]]
    columns = [field.name for field in kind.fields if any(field.name in row.values for row in rows)]
    conditions = " and ".join(printed(item) for item in wanted["filters"]) or "all of theirs"
    said = f"{total} rows of tables ({spoken}) in {len(ids)} documents were taken: {conditions}."
    return {
        "text": "\n".join(lines) if rows else f"No {spoken} with {what} was found.",
        "documents": ids,
        "matched": len(ids),
        "derivations": made,
        "table": table_of(
            ["document", *columns],
            [[row.doc_id, *(_cell(row.values.get(column)) for column in columns)] for row in rows],
            [row.doc_id for row in rows],
            lambda value: value,
        ),
        "cited": [
            {"doc": row.doc_id, "start": row.start, "end": row.end}
            for row in rows[:CITED_INPUTS]
            if row.start is not None and row.end is not None
        ],
        "notes": [note("compose", "rows", said)],
        "unanswerable": not rows,
        "partial": "the rows of credit notes, which are to be deducted, are added as printed"
        if deducted
        else "",
    }


def row_said(kind: RowKind, row: StoredRow) -> str:
    """Return a row in words: what it is about, then its other columns with their names."""
    about = str(row.values.get(kind.named_by, ""))
    rest = [
        f"{field.name.replace('_', ' ')} {_cell(row.values[field.name])}"
        for field in kind.fields
        if field.name != kind.named_by and field.name in row.values
    ]
    return f"{about}: {', '.join(rest)}" if rest else about


def _cell(value: Any) -> Any:
    if isinstance(value, Mapping):
        return f"{number_text(value['amount'])} {value.get('currency') or ''}".strip()
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is None else value


def _amount(value: Any, unit: str) -> str | None:
    """Return a value of one unit or currency as the input of a sum."""
    if isinstance(value, Mapping):
        return str(value["amount"]) if (value.get("currency") or "") == unit else None
    return None if value is None or unit else f"{value:g}"
