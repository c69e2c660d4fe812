"""Numbers of the database as an answer writes, derives and cites them."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, cast

from citegraph.answer.cited_spans import cite_values
from citegraph.corpus.schema.bucket import Bucket
from citegraph.run.pieces import CitedSpan, NumberMade, Operation, Values
from citegraph.run.services import Corpus
from citegraph.run.state import Json


def cited_values(
    corpus: Corpus, bucket: Bucket, rows: Sequence[Json], columns: Sequence[str]
) -> list[CitedSpan]:
    """Return one cited span per row: where a value of the row stands in the document, else the document's head."""
    cited = []
    for row in rows:
        document = corpus.documents.get(row["doc_id"])
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


LABELS = {
    "sum": "Sum of {field}",
    "average": "Average {field}",
    "min": "Lowest {field}",
    "max": "Highest {field}",
}


def number_text(value: Any) -> str:
    """Return a computed number with at least two decimals and thousands separators."""
    return f"{Decimal(str(value)):,.2f}"


def derivation(
    function: str, field: str, number: str, unit: str, members: Sequence[str], values: Values
) -> NumberMade:
    """Return how a number was computed, for verification to recompute."""
    inputs = [f"{getattr(values[doc_id], 'amount', values[doc_id])}" for doc_id in members]
    return {
        "value": number,
        "formula": f"{function}({field}) over {len(members)} documents",
        "operation": cast(Operation, function),
        "inputs": inputs,
        "doc_ids": list(members),
        "unit": unit,
    }
