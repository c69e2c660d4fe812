"""How `annotate` shows values as text: those of a document, a list for review, corrections and their history."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tools.value_rows import Row


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
    if row["reason"]:
        return f"{row['raw']!r}: {row['reason']}"[:120]
    if row["status"] == "waiting":
        return f"{row['raw'] if row['raw'] is not None else 'none'} ({row['state']})"[:120]
    return shown(row["value"])[:120]


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
    return f"corrected{by}, instead of {shown(row['instead_of'])}"


def shown(value: Any) -> str:
    """Return a JSON value as text."""
    if isinstance(value, dict):
        return str(value.get("raw") or " ".join(str(part) for part in value.values() if part is not None))
    return "; ".join(map(str, value)) if isinstance(value, list) else "none" if value is None else str(value)


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
        f"{shown(row['instead_of'])}, {row['state']}, {row['at'][:10]}{' by ' + row['by'] if row['by'] else ''}"
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
    value, before = shown(row["raw"]), shown(row["instead_of"])
    if row["action"] == "undo":
        return f"correction {value} taken back"
    if row["instead_of"] is None:
        return f"corrected to {value}"
    return f"{value} found right" if value == before else f"corrected to {value}, instead of {before}"
