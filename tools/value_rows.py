"""The values of a document, the list for review, corrections and their history as rows of plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC
from typing import TYPE_CHECKING, Any

from citegraph.corpus.schema.values import derive_values, same, to_json
from citegraph.run.services import Corpus

if TYPE_CHECKING:
    from citegraph.corpus.records.extracted.corrections import Correction, Edit
    from citegraph.corpus.records.extracted.review_list import ReviewItem
    from citegraph.corpus.schema.bucket import Bucket

Row = dict[str, Any]
QUOTED = 60
"""Characters around a value that are shown of its line."""


def document_rows(corpus: Corpus, bucket: "Bucket", doc_id: str) -> list[Row]:
    """Return a document's values, one a row: corrected, extracted, given and derived, and what contradicts them."""
    values = corpus.annotations.get(doc_id, bucket.name) or {}
    sources = corpus.annotations.get_sources(doc_id, bucket.name)
    corrections = {item["field"]: item for item in correction_rows(corpus, bucket, doc_id)}
    extracted = [asdict(item) for item in corpus.stores.extractions.get(doc_id)]
    applied = {name for name, item in corrections.items() if item["state"] in APPLIED}
    rows = [
        row
        | (
            {"status": "overruled"}
            if row["field"] in applied and row["status"] in {"stored", "uncertain"}
            else {}
        )
        for row in extracted
    ]
    for name, item in corrections.items():
        rows.append(_plain(doc_id, name, values.get(name) if name in applied else None, "corrected") | item)
    known = applied | {row["field"] for row in rows if row["status"] == "stored"}
    document = corpus.documents.get(doc_id)
    held = {name: value for name, value in values.items() if name in known}
    derived = derive_values(bucket, held, document.text if document else "")
    rows += [
        _plain(doc_id, name, value, "derived" if derived.get(name) == value else "given")
        for name, value in values.items()
        if name not in known
    ]
    for row in rows:
        against = sources[row["field"]].against if row["field"] in sources else None
        row["against"] = against if row["status"] == "stored" else None
        row["value"] = row["value"] if _is_json(row["value"]) else to_json(row["value"])
        row["quote"] = quote(document.text, row) if document else None
    order = {field.name: place for place, field in enumerate(bucket.fields)}
    return sorted(rows, key=lambda row: (order.get(row["field"], len(order)), _PLACE.get(row["status"], 9)))


_PLACE = {
    "stored": 0,
    "absent": 0,
    "waiting": 1,
    "uncertain": 2,
    "overruled": 3,
    "other": 4,
    "variant": 5,
    "refused": 6,
}
APPLIED = frozenset({"applied", "applied, made on an earlier version"})


def correction_rows(corpus: Corpus, bucket: "Bucket", doc_id: str | None = None) -> list[Row]:
    """Return the corrections of a document or of the whole bucket, with what has become of each.

    `state` is `applied`; `applied, made on an earlier version` of the text; `waiting`: the text has changed and says
    something else now; `document gone`, `field gone`, or `unreadable` by the field as it is declared now.
    """
    store = corpus.stores.extractions.corrected
    found = {doc_id: store.of_document(doc_id)} if doc_id is not None else store.of_bucket(bucket.name)
    records = corpus.documents.records(list(found))
    values = corpus.annotations.values_of(bucket.name, list(found))
    return [
        _correction_row(bucket, item, records.get(name), values.get(name, {}))
        for name, corrections in found.items()
        for item in corrections.values()
    ]


def _correction_row(bucket: "Bucket", item: "Correction", record: Any, values: Mapping[str, Any]) -> Row:
    from citegraph.corpus.records.extracted.settle import corrected_field, typed_corrections

    typed = typed_corrections(bucket, {item.field: item.raw})
    declared = corrected_field(bucket, item.field)
    name = declared.name if declared else item.field
    earlier = record is not None and item.content_hash not in (None, record.content_hash)
    if record is None:
        state = "document gone"
    elif declared is None:
        state = "field gone"
    elif not typed:
        state = "unreadable"
    elif values.get(name) != typed[name] and not _same(values.get(name), typed[name]):
        state = "waiting"
    else:
        state = "applied, made on an earlier version" if earlier else "applied"
    status = {"applied": "stored" if item.raw is not None else "absent"}.get(
        state.partition(",")[0], "waiting"
    )
    return {
        "doc_id": item.doc_id,
        "field": name,
        "status": status,
        "raw": item.raw,
        "instead_of": item.instead_of,
        "state": state,
        "by": item.corrected_by,
        "at": item.corrected_at.isoformat(timespec="seconds"),
        "note": item.note,
    }


def _same(first: Any, second: Any) -> bool:
    return first is not None and second is not None and same(first) == same(second)


def review_rows(corpus: Corpus, items: Sequence["ReviewItem"]) -> list[Row]:
    """Return the items of a list for review with the line of the document around each value."""
    rows = []
    texts: dict[str, str] = {}
    records = corpus.documents.records([item.doc_id for item in items])
    for item in items:
        if item.doc_id not in texts:
            texts[item.doc_id] = corpus.documents.text(item.doc_id)
        found = [asdict(one) for one in item.found]
        for row in found:
            row["quote"] = quote(texts[item.doc_id], row)
        stands = next((row for row in found if row["status"] == "stored"), None)
        rows.append(
            {
                "doc_id": item.doc_id,
                "file": records[item.doc_id].source_file if item.doc_id in records else "",
                "field": item.field,
                "certainty": item.certainty,
                "value": stands["value"] if stands else None,
                "found": found,
            }
        )
    return rows


def shown(value: Any) -> str:
    """Return a JSON value as people read it, "" for none."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case {"amount": amount}:
            return f"{amount} {value.get('currency') or ''}".strip()
        case {"value": number}:
            return str(value.get("raw") or number)
        case list():
            return "; ".join(map(str, value))
    return str(value)


def quote(text: str, row: Mapping[str, Any]) -> str | None:
    """Return the line of a document around a value, on one line, None for a value without a place."""
    start, end = row.get("start"), row.get("end")
    if start is None or end is None:
        return None
    first = max(text.rfind("\n", 0, start) + 1, start - QUOTED)
    stop = text.find("\n", end)
    return " ".join(text[first : min(len(text) if stop < 0 else stop, end + QUOTED)].split())


def _plain(doc_id: str, name: str, value: Any, method: str) -> Row:
    return {
        "doc_id": doc_id,
        "field": name,
        "status": "stored" if value is not None else "absent",
        "value": value,
        "raw": None,
        "start": None,
        "end": None,
        "page": None,
        "method": method,
        "confidence": 1.0,
        "reason": None,
    }


def _is_json(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool | dict | list)


def history_rows(edits: Sequence["Edit"]) -> list[Row]:
    """Return what was done, one edit a row; `action` is set, absent or undo, `raw` the value that it is about."""
    return [
        {
            "at": edit.done_at.astimezone(UTC).isoformat(timespec="seconds"),
            "by": edit.done_by,
            "doc_id": edit.doc_id,
            "field": edit.field,
            "action": edit.action,
            "raw": edit.raw,
            "instead_of": edit.instead_of,
            "note": edit.note,
        }
        for edit in edits
    ]
