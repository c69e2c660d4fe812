"""The table that a review team fills in: values to review and corrections, written and read as CSV or JSON lines."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citegraph.errors import BadInput
from cli.annotated import shown
from tools.value_rows import Row

if TYPE_CHECKING:
    from citegraph.corpus.records.extracted.editing import Change

COLUMNS = ("doc_id", "file", "field", "value", "certainty", "page", "quote", "others", "correction", "note")
HISTORY_COLUMNS = ("at", "by", "doc_id", "field", "action", "value", "instead_of", "note")
ACCEPTED, NOTHING, UNDONE = "(ok)", "(none)", "(undo)"
"""What a correction says instead of a value: that the value is right, that there is none, that a correction goes."""


def review_table(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of a list for review as rows of the table; `correction` is left to the team."""
    return [_to_review(row) for row in rows]


def _to_review(row: Row) -> Row:
    first, *others = row["found"]
    said = "; ".join(f"{_said(item)} ({item['status']}, {item['method']})" for item in others)
    if row["value"] is None:
        said = "; ".join(filter(None, (f"{_said(first)} ({first['status']}, {first['method']})", said)))
    return {
        "doc_id": row["doc_id"],
        "file": row["file"],
        "field": row["field"],
        "value": "" if row["value"] is None else shown(row["value"]),
        "certainty": f"{row['certainty']:.2f}",
        "page": "" if first["page"] is None else str(first["page"]),
        "quote": first["quote"] or "",
        "others": said,
        "correction": "",
        "note": "",
    }


def _said(found: Mapping[str, Any]) -> str:
    return f"{found['raw']!r}: {found['reason']}" if found["reason"] else shown(found["value"])


def correction_table(rows: Sequence[Row]) -> list[Row]:
    """Return corrections as rows of the table, to be read into another home."""
    return [
        {
            **dict.fromkeys(COLUMNS, ""),
            "doc_id": row["doc_id"],
            "field": row["field"],
            "value": shown(row["instead_of"]) if row["instead_of"] is not None else "",
            "correction": NOTHING if row["raw"] is None else row["raw"],
            "note": row["note"] or "",
        }
        for row in rows
    ]


def history_table(rows: Sequence[Row]) -> list[Row]:
    """Return the history of corrections as rows of a table."""
    return [
        {
            name: "" if row[name] is None else shown(row[name])
            for name in ("at", "by", "doc_id", "field", "action", "note")
        }
        | {
            "value": "" if row["raw"] is None else row["raw"],
            "instead_of": "" if row["instead_of"] is None else shown(row["instead_of"]),
        }
        for row in rows
    ]


def write_table(path: Path, rows: Sequence[Row], columns: Sequence[str] = COLUMNS) -> None:
    """Write a table as the file's ending says: .csv (as spreadsheets read it safely) or .jsonl.

    Raises:
        BadInput: another ending, or the file cannot be written.
    """
    from citegraph.corpus.records.csv_rows import BOM, safe_cell

    kind = path.suffix.lower()
    if kind not in {".csv", ".jsonl"}:
        raise BadInput(f"{path.name}: a table is written as .csv or .jsonl.")
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            if kind == ".jsonl":
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
                return
            file.write(BOM)
            table = csv.writer(file)
            table.writerow(columns)
            table.writerows([safe_cell(str(row[name])) for name in columns] for row in rows)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror or type(error).__name__}).") from error


def read_table(path: Path) -> "Iterator[Change]":
    """Yield the changes that a filled table asks for; rows without a correction ask for nothing.

    Raises:
        BadInput: the file cannot be read, or a row names no document or field.
    """
    from citegraph.corpus.ingestion.annotation_files import table_rows
    from citegraph.corpus.records.extracted.editing import Change

    for number, row in enumerate(table_rows(path), 1):
        where = f"{path.name}, row {number}"
        correction = _cell(row, "correction")
        if not correction:
            continue
        doc_id, field = _cell(row, "doc_id"), _cell(row, "field")
        if not doc_id or not field:
            raise BadInput(f"{where}: a correction needs a doc_id and a field.")
        action: Any = {ACCEPTED: "accept", NOTHING: "absent", UNDONE: "undo"}.get(correction.lower(), "set")
        yield Change(doc_id, field, action, correction, _cell(row, "note") or None, where)


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    text = "" if value is None else str(value).strip()
    # The apostrophe before what a spreadsheet could run as a formula; see `citegraph.corpus.records.csv_rows.safe_cell`.
    return text[1:] if text[:2] in ("'=", "'+", "'-", "'@", "'|", "'%") else text
