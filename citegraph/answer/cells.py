"""The cells of a table: what a person reads, and beside it the value as a program takes it."""

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from citegraph.language.amounts import Money, Quantity
from citegraph.run.pieces import TableRows, TypedCell


def table_of(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], doc_ids: Sequence[str], shown: Callable[[Any], Any]
) -> TableRows:
    """Return a table of values: each as `shown` prints it in `rows`, and typed at the same place of `cells`."""
    return {
        "columns": list(columns),
        "rows": [["" if value is None else shown(value) for value in row] for row in rows],
        "cells": [[typed_cell(value) for value in row] for row in rows],
        "doc_ids": list(doc_ids),
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
