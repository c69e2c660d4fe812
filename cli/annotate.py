"""The command `annotate`: what was extracted from documents, what to review, and corrections that stay."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from cli.exits import ANSWERED
from cli.terminal import Progress, progress, write
from llm.errors import BadInput
from tools.services import Corpus, Services

if TYPE_CHECKING:
    from corpus.buckets import Bucket
    from corpus.extraction.store import Found
    from corpus.ingestion.annotating import Extractor

By = Literal["rules", "model"]


@dataclass(frozen=True, slots=True)
class Request:
    """What to show or to change: one document, or a whole bucket."""

    doc_id: str | None = None
    bucket: str | None = None
    corrections: Sequence[str] = ()
    absent: Sequence[str] = ()
    undo: Sequence[str] = ()
    rerun: By | None = None
    below: float = 0.7
    limit: int = 100


def rerun_by(text: str | None) -> By | None:
    """Return what `--rerun` names.

    Raises:
        BadInput: it is neither rules nor model.
    """
    match text:
        case None | "rules" | "model":
            return text
    raise BadInput(f"--rerun {text}: it is rules or model.")


def run(request: Request, *, as_json: bool = False, quiet: bool = False) -> int:
    """Do what the request asks and print the document's values, or the bucket's list for review.

    Raises:
        BadInput: no such document, bucket or field, or a value that its field does not take; nothing was changed.
    """
    with progress("annotate", quiet=quiet or as_json) as show:
        printed = asyncio.run(_run(request, show, as_json=as_json))
    write(printed)
    return ANSWERED


async def _run(request: Request, show: Progress | None, *, as_json: bool) -> str:
    services = Services(trusted=True)
    try:
        corpus = await services.corpus()
        bucket = await asyncio.to_thread(_bucket, corpus, request)
        await _change(services, corpus, bucket, request, show)
        rows = await asyncio.to_thread(_rows, corpus, bucket, request)
    finally:
        await services.close()
    if as_json:
        return json.dumps(rows, ensure_ascii=False)
    return _table(rows) if rows else _nothing(request, bucket.name)


def _bucket(corpus: Corpus, request: Request) -> "Bucket":
    from tools.search import known_bucket

    if request.doc_id is None:
        if request.bucket is None:
            raise BadInput("Name a document, or a bucket with --bucket.")
        chosen: Bucket = known_bucket(corpus, request.bucket)
        return chosen
    record = corpus.documents.record(request.doc_id)
    if record is None:
        raise BadInput(f"There is no document {request.doc_id!r}.")
    held: Bucket = known_bucket(corpus, record.bucket)
    return held


async def _change(
    services: Services, corpus: Corpus, bucket: "Bucket", request: Request, show: Progress | None
) -> None:
    from corpus.ingestion.annotating import reannotate
    from corpus.ingestion.stores import IngestOptions, Stores

    edits = [*request.corrections, *request.absent, *request.undo]
    if edits and request.doc_id is None:
        raise BadInput("A correction needs a document: citegraph annotate DOCUMENT --set field=value.")
    if edits:
        await asyncio.to_thread(_correct, corpus, bucket, request)
    if not edits and request.rerun is None:
        return
    stores = Stores(corpus.documents, corpus.annotations, corpus.index, corpus.extractions)
    ids = None if request.doc_id is None else [request.doc_id]
    extractor = _by_model(services, bucket) if request.rerun == "model" else None
    options = IngestOptions(
        chunk_tokens=services.settings.chunk_tokens, chunk_overlap=services.settings.chunk_overlap
    )
    await reannotate(bucket, ids, stores=stores, options=options, extractor=extractor, progress=show)


def _by_model(services: Services, bucket: "Bucket") -> "Extractor":
    from corpus.extraction.by_model import ModelExtractor
    from corpus.extraction.found import Extraction
    from corpus.extraction.settle import extract_document
    from corpus.types import Document

    if not services.chat.configured("extract"):
        raise BadInput("No model is configured: set CITEGRAPH_MODEL, or use --rerun rules.")

    async def extractor(document: Document) -> Extraction:
        rules = await asyncio.to_thread(extract_document, bucket, document)
        return await ModelExtractor(bucket, services.chat, rules).extract(document)

    return extractor


def _correct(corpus: Corpus, bucket: "Bucket", request: Request) -> None:
    """Check every edit, then keep all of them."""
    from datetime import date

    from corpus.coercion import coerce

    assert corpus.extractions is not None
    assert request.doc_id is not None
    changes: list[tuple[str, str | None]] = []
    for text in request.corrections:
        name, separator, value = text.partition("=")
        if not separator:
            raise BadInput(f"{text!r} is no correction; write --set field=value.")
        declared = _field(bucket, name)
        coerce(bucket.field(declared), value, today=date.today(), order=bucket.date_order)  # type: ignore[arg-type]
        changes.append((declared, value))
    changes += [(_field(bucket, name), None) for name in request.absent]
    undone = [_field(bucket, name) for name in request.undo]
    for name, raw in changes:
        corpus.extractions.correct(bucket.name, request.doc_id, name, raw)
    for name in undone:
        if not corpus.extractions.undo(request.doc_id, name):
            raise BadInput(f"{name} of {request.doc_id!r} was never corrected.")


def _field(bucket: "Bucket", name: str) -> str:
    declared = bucket.field(name.strip())
    if declared is None:
        names = ", ".join(field.name for field in bucket.fields)
        raise BadInput(f"{bucket.name} has no field {name.strip()!r}; it has {names}.")
    return declared.name


def _rows(corpus: Corpus, bucket: "Bucket", request: Request) -> list[dict[str, Any]]:
    from corpus.coercion import to_json

    assert corpus.extractions is not None
    if request.doc_id is None:
        found = corpus.extractions.review(bucket.name, below=request.below, limit=request.limit)
        return [_row(item) for item in found]
    corrections = corpus.extractions.corrections(bucket.name).get(request.doc_id, {})
    extracted = corpus.extractions.get(request.doc_id)
    values = corpus.annotations.get(request.doc_id, bucket.name) or {}
    rows = [_row(item) for item in extracted if item.field not in corrections]
    for name, raw in corrections.items():
        value = to_json(values[name]) if name in values else None
        rows.append(_plain(request.doc_id, name, value, raw, "corrected"))
    known = {row["field"] for row in rows if row["status"] != "other"}
    document = corpus.documents.get(request.doc_id)
    held = {name: value for name, value in values.items() if name in known}
    derived = bucket.derive(held, document.text if document else "")
    rows += [
        _plain(
            request.doc_id, name, to_json(value), None, "derived" if derived.get(name) == value else "given"
        )
        for name, value in values.items()
        if name not in known
    ]
    order = [field.name for field in bucket.fields]
    return sorted(rows, key=lambda row: order.index(row["field"]) if row["field"] in order else len(order))


def _row(found: "Found") -> dict[str, Any]:
    return asdict(found)


def _plain(doc_id: str, name: str, value: Any, raw: str | None, method: str) -> dict[str, Any]:
    return {
        "doc_id": doc_id,
        "field": name,
        "status": "stored" if value is not None else "absent",
        "value": value,
        "raw": raw,
        "start": None,
        "end": None,
        "page": None,
        "method": method,
        "confidence": 1.0,
        "reason": None,
    }


def _table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [f"{'document':24} {'field':20} {'status':9} {'conf':>4}  {'method':13} page  value"]
    for row in rows:
        value = f"{row['raw']!r}: {row['reason']}" if row["reason"] else _shown(row["value"])
        page = "" if row["page"] is None else str(row["page"])
        lines.append(
            f"{row['doc_id'][:24]:24} {row['field'][:20]:20} {row['status']:9} {row['confidence']:4.2f}  "
            f"{row['method'][:13]:13} {page:>4}  {value[:80]}"
        )
    return "\n".join(lines)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(str(part) for part in value.values() if part is not None)
    return "; ".join(map(str, value)) if isinstance(value, list) else "none" if value is None else str(value)


def _nothing(request: Request, bucket: str) -> str:
    if request.doc_id is None:
        return f"{bucket}: nothing to review"
    return f"{request.doc_id}: no values"
