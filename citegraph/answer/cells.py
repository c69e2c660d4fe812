"""The cells of a table: what a person reads, and beside it the value as a program takes it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, cast

from citegraph.answer.cited_spans import CITED_INPUTS, cite_values
from citegraph.corpus.schema.bucket import Bucket
from citegraph.language.amounts import Money, Quantity, number_text
from citegraph.run.services import Corpus
from citegraph.run.state import Json
from citegraph.run.state_types import CitedSpan, NumberMade, Operation, Plan, TableRows, TypedCell


def table_of(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    doc_ids: Sequence[str],
    shown: Callable[[Any], Any],
    behind: Sequence[Sequence[str]] = (),
) -> TableRows:
    """Return a table of values: each as `shown` prints it in `rows`, and typed at the same place of `cells`."""
    return {
        "columns": list(columns),
        "rows": [["" if value is None else shown(value) for value in row] for row in rows],
        "cells": [[typed_cell(value) for value in row] for row in rows],
        "doc_ids": list(doc_ids),
        "behind": [list(held) for held in behind],
    }


def typed_cell(value: Any) -> TypedCell | None:
    """Return a value with its kind: money, date, number; None for a text, which is what is shown, and for nothing.

    Amounts and numbers are decimal texts, dates ISO; what the database computes comes as JSON of the same keys.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, Money):
        return _money(value.amount, value.currency)
    if isinstance(value, dict) and "amount" in value:
        return _money(value["amount"], value.get("currency"))
    if isinstance(value, Quantity):
        return {"type": "number", "number": f"{value.value:g}"}
    if isinstance(value, dict) and "value" in value:
        return {"type": "number", "number": str(value["value"]), "unit": value.get("unit")}
    if isinstance(value, int | float | Decimal):
        return {"type": "number", "number": f"{value:f}" if isinstance(value, Decimal) else str(value)}
    if isinstance(value, date):
        return {"type": "date", "date": value.isoformat()}
    return {"type": "date", "date": value} if isinstance(value, str) and _is_day(value) else None


def _money(amount: Any, currency: str | None) -> TypedCell:
    return {"type": "money", "amount": f"{Decimal(str(amount)):f}", "currency": currency}


def _is_day(text: str) -> bool:
    try:
        return len(text) == 10 and bool(date.fromisoformat(text))
    except ValueError:
        return False


def cited_values(
    corpus: Corpus, bucket: Bucket, rows: Sequence[Json], columns: Sequence[str]
) -> list[CitedSpan]:
    """Return one cited span per row: where a value of the row stands in the document, else the document's head."""
    cited = []
    documents = corpus.documents.all_of(row["doc_id"] for row in rows)
    corpus.annotations.sources_of(bucket.name, list(documents))  # kept for `cite_values`
    for row in rows:
        document = documents.get(row["doc_id"])
        if document is not None:
            cited.append(
                cite_values(
                    corpus,
                    bucket,
                    document,
                    {column: row[column] for column in columns if row.get(column) is not None},
                )
            )
    return cited


def json_cell(value: Any) -> Any:
    """Return a JSON value of a query's result as a cell: money as "12.50 EUR"."""
    if isinstance(value, dict):
        return f"{number_text(value['amount'])} {value.get('currency') or ''}".strip()
    return "" if value is None else value


def marks(doc_ids: Sequence[str]) -> str:
    """Return the markers of documents, as many as an answer cites."""
    return " ".join(f"[{doc_id}]" for doc_id in doc_ids[:CITED_INPUTS])


def question_of(plan: Plan) -> str:
    """Return the question that a plan is for: its first query."""
    return next(iter(plan.get("queries", [])), "")


def sortable(value: Any) -> Any:
    """Return what orders a value: an amount, a number, a day or a text; 0 for a missing one."""
    return 0 if value is None else getattr(value, "amount", getattr(value, "value", value))


def derivation(
    function: str, field: str, number: str, unit: str, members: Sequence[str], values: Mapping[str, Any]
) -> NumberMade:
    """Return how a number was computed, for verification to recompute."""
    recomputed = function in {"sum", "average", "median", "min", "max"}
    inputs = [f"{sortable(values[doc_id])}" for doc_id in members if doc_id in values] if recomputed else []
    formula = f"{function}({field}) over {len(members)} documents"
    operation = cast(Operation, "count" if function == "distinct" else function)
    return made_number(number, operation, formula, inputs, members, unit)


def made_number(
    value: str, operation: Operation, formula: str, inputs: list[str], doc_ids: Sequence[str], unit: str
) -> NumberMade:
    """Return a number with what it was made of."""
    return {
        "value": value,
        "unit": unit,
        "operation": operation,
        "formula": formula,
        "inputs": inputs,
        "doc_ids": list(doc_ids),
    }
