"""How `annotate` shows values, lists for review, corrections and their history: as data, as text, and as the table that a review team fills in."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citegraph.errors import BadInput
from citegraph.run.json_output import dumped
from tools.value_rows import Row, shown

if TYPE_CHECKING:
    from citegraph.corpus.records.extracted.editing import Change

COLUMNS = ("doc_id", "file", "field", "value", "certainty", "page", "quote", "others", "correction", "note")
HISTORY_COLUMNS = ("at", "by", "doc_id", "field", "action", "value", "instead_of", "note")
ACCEPTED, NOTHING, UNDONE = "(ok)", "(none)", "(undo)"
"""What a correction says instead of a value: that the value is right, that there is none, that a correction goes."""


def document_text(title: str, rows: Sequence[Row]) -> str:
    """Return a document's rows as a table, with what a person should know of a row beneath it."""
    lines = [
        title,
        f"{'field':20} {'status':9} {'conf':>4}  {'method':13} {'page':>4} {'characters':>13}  value",
    ]
    for row in rows:
        page = "" if row["page"] is None else str(row["page"])
        span = "" if row["start"] is None else f"{row['start']}-{row['end']}"
        lines.append(
            f"{row['field'][:20]:20} {row['status']:9} {row['confidence']:4.2f}  {row['method'][:13]:13} {page:>4} "
            f"{span:>13}  {_said(row)}"
        )
        lines += [f"{'':20}   {line}" for line in _remarks(row)]
    return "\n".join(lines)


def _said(row: Mapping[str, Any]) -> str:
    if row["status"] == "waiting" and not row["reason"]:
        return f"{row['raw'] if row['raw'] is not None else 'none'} ({row['state']})"[:120]
    return _found_said(row)[:120]


def _found_said(found: Mapping[str, Any]) -> str:
    return f"{found['raw']!r}: {found['reason']}" if found["reason"] else shown(found["value"]) or "none"


def _remarks(row: Mapping[str, Any]) -> Iterator[str]:
    if row.get("at"):
        earlier = "; made on an earlier version" if "earlier" in row["state"] else ""
        yield f"{said_by(row)}{earlier}{': ' + row['note'] if row['note'] else ''}"
    elif row["against"]:
        yield f"the document also says {row['against']}"


def said_by(row: Mapping[str, Any]) -> str:
    """Return who said what of a corrected value, and when."""
    by = f"{' by ' + row['by'] if row['by'] else ''} on {row['at'][:10]}"
    value = row["value"] if "value" in row else row["raw"]
    if row["raw"] is not None and shown(value) == shown(row["instead_of"]):
        return f"found right{by}"
    return f"corrected{by}, instead of {shown(row['instead_of']) or 'none'}"


def review_text(rows: Sequence[Row]) -> str:
    """Return the rows of a list for review, each value and each rival on a line of its own beneath the document."""
    lines = []
    for row in rows:
        lines.append(f"{row['certainty']:4.2f}  {row['doc_id']}  {row['field']}")
        for found in row["found"]:
            page = "" if found["page"] is None else f", page {found['page']}"
            where = f": “{found['quote']}”" if found["quote"] else ""
            said = _said(found)[:80]
            lines.append(
                f"      {found['status']:9} {said}  ({found['method']} {found['confidence']:.2f}{page}{where})"
            )
    return "\n".join(lines)


def corrections_text(rows: Sequence[Row]) -> str:
    """Return corrections, one a line."""
    return "\n".join(
        f"{row['doc_id']}  {row['field']}: {'none' if row['raw'] is None else row['raw']} instead of "
        f"{shown(row['instead_of']) or 'none'}, {row['state']}, {row['at'][:10]}{' by ' + row['by'] if row['by'] else ''}"
        f"{': ' + row['note'] if row['note'] else ''}"
        for row in rows
    )


def history_text(rows: Sequence[Row]) -> str:
    """Return what was done, one edit a line: when, where, what, by whom and why."""
    return "\n".join(
        f"{row['at'][:16].replace('T', ' ')} UTC  {row['doc_id']}  {row['field']}: {_done(row)}"
        f"{', by ' + row['by'] if row['by'] else ''}{': ' + row['note'] if row['note'] else ''}"
        for row in rows
    )


def _done(row: Row) -> str:
    value, before = shown(row["raw"]) or "none", shown(row["instead_of"])
    if row["action"] == "undo":
        return f"correction {value} taken back"
    if row["instead_of"] is None:
        return f"corrected to {value}"
    return f"{value} found right" if value == before else f"corrected to {value}, instead of {before}"


def review_table(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of a list for review as rows of the table; `correction` is left to the team."""
    return [_to_review(row) for row in rows]


def _to_review(row: Row) -> Row:
    first, *others = row["found"]
    said = "; ".join(f"{_found_said(item)} ({item['status']}, {item['method']})" for item in others)
    if row["value"] is None:
        said = "; ".join(filter(None, (f"{_found_said(first)} ({first['status']}, {first['method']})", said)))
    return {
        "doc_id": row["doc_id"],
        "file": row["file"],
        "field": row["field"],
        "value": shown(row["value"]),
        "certainty": f"{row['certainty']:.2f}",
        "page": "" if first["page"] is None else str(first["page"]),
        "quote": first["quote"] or "",
        "others": said,
        "correction": "",
        "note": "",
    }


def correction_table(rows: Sequence[Row]) -> list[Row]:
    """Return corrections as rows of the table, to be read into another home."""
    return [
        {
            **dict.fromkeys(COLUMNS, ""),
            "doc_id": row["doc_id"],
            "field": row["field"],
            "value": shown(row["instead_of"]),
            "correction": NOTHING if row["raw"] is None else row["raw"],
            "note": row["note"] or "",
        }
        for row in rows
    ]


def history_table(rows: Sequence[Row]) -> list[Row]:
    """Return the history of corrections as rows of a table."""
    return [
        {name: shown(row[name]) for name in ("at", "by", "doc_id", "field", "action", "note")}
        | {
            "value": row["raw"] or "",
            "instead_of": shown(row["instead_of"]),
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
                file.writelines(dumped(row) + "\n" for row in rows)
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
        return dumped(value)
    text = "" if value is None else str(value).strip()
    # The apostrophe before what a spreadsheet could run as a formula; see `citegraph.corpus.records.csv_rows.safe_cell`.
    return text[1:] if text[:2] in ("'=", "'+", "'-", "'@", "'|", "'%") else text
