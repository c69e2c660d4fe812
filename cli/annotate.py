"""The command `annotate`: what was extracted from documents, what to review, and corrections that stay."""

import asyncio
import getpass
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from citegraph.errors import BadInput
from citegraph.run.services import Corpus, Services
from cli.annotated import corrections_text, document_text, history_text, review_text
from cli.exits import ANSWERED
from cli.review_file import (
    HISTORY_COLUMNS,
    correction_table,
    history_table,
    read_table,
    review_table,
    write_table,
)
from cli.rules_or_model import By
from cli.terminal import Progress, progress, say, write
from tools.value_rows import Row, correction_rows, document_rows, history_rows, review_rows

if TYPE_CHECKING:
    from citegraph.corpus.ingestion.annotating import Extractor
    from citegraph.corpus.records.extracted.editing import Change, Editor
    from citegraph.corpus.schema.bucket import Bucket


@dataclass(frozen=True, slots=True)
class Request:
    """What to show or to change: one document, or a whole bucket.

    Attributes:
        document: id, file name or path of a document.
        corrections: "field=value"; several of one list field are its values.
        made, history: list the corrections that stand; every change that was ever made.
        table, out: files of corrections to read, and to write the list to.
        fields: the fields that are listed or extracted again; empty: all.
    """

    document: str | None = None
    bucket: str | None = None
    corrections: Sequence[str] = ()
    absent: Sequence[str] = ()
    accept: Sequence[str] = ()
    undo: Sequence[str] = ()
    by: str | None = None
    note: str | None = None
    table: Path | None = None
    out: Path | None = None
    made: bool = False
    history: bool = False
    fields: Sequence[str] = ()
    rerun: By | None = None
    below: float = 0.7
    limit: int = 100
    offset: int = 0


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
        bucket, doc_id = await asyncio.to_thread(_meant, corpus, request)
        await _change(services, corpus, (bucket, doc_id), request, show)
        return await asyncio.to_thread(_shown, corpus, bucket, doc_id, request, as_json)
    finally:
        await services.close()


def _meant(corpus: Corpus, request: Request) -> "tuple[Bucket, str | None]":
    """Return the bucket and the document, if one is named, that a request is about."""
    from tools.search_tools import known_bucket

    if request.document is None:
        if request.bucket is None:
            raise BadInput("Name a document, or a bucket with --bucket.")
        return known_bucket(corpus, request.bucket), None
    if request.bucket is not None:
        known_bucket(corpus, request.bucket)
    doc_id = _document(corpus, request.document, request.bucket)
    record = corpus.documents.record(doc_id)
    assert record is not None
    return known_bucket(corpus, record.bucket), doc_id


def _document(corpus: Corpus, name: str, bucket: str | None) -> str:
    """Return the id of the one document that has this id, file name or path."""
    found = corpus.documents.named(name, bucket)
    records = corpus.documents.records(found)
    same = [doc_id for doc_id in found if doc_id == name or name.endswith(records[doc_id].source_file)]
    if len(same) == 1:
        return same[0]
    inside = f" in {bucket}" if bucket else ""
    if not found:
        raise BadInput(
            f"There is no document {name!r}{inside}; `citegraph annotate -b BUCKET` lists some to review."
        )
    several = "is the file of several documents" if same else "is no document; these are like it"
    raise BadInput(f"{name!r}{inside} {several}: {', '.join(same or found)}.")


async def _change(
    services: Services,
    corpus: Corpus,
    meant: "tuple[Bucket, str | None]",
    request: Request,
    show: Progress | None,
) -> None:
    """Make the corrections and extract again, as far as the request asks for either."""
    from citegraph.corpus.ingestion.annotating import Again, reannotate
    from citegraph.corpus.ingestion.ingest_options import IngestOptions, Stores

    bucket, doc_id = meant
    assert corpus.extractions is not None
    changes = list(_changes(bucket, doc_id, request))
    if not changes and request.rerun is None:
        return
    stores = Stores(corpus.documents, corpus.annotations, corpus.index, corpus.extractions)
    options = IngestOptions(
        chunk_tokens=services.settings.chunk_tokens,
        chunk_overlap=services.settings.chunk_overlap,
        summaries_from=services.settings.summaries_from,
    )
    again = Again(
        extractor=_by_model(services, bucket) if request.rerun == "model" else None,
        fields=_field_names(corpus, bucket, request) if request.rerun else (),
        changes=partial(_editor(corpus, bucket, request).apply, changes) if changes else None,
        progress=show,
    )
    # A whole bucket when it is extracted again, else the documents that are corrected.
    ids = None if doc_id is None else [doc_id]
    count = await reannotate(bucket, ids, stores=stores, options=options, again=again)
    if doc_id is None:
        done = f"{len(changes):,} corrections" if changes else f"extracted again by {request.rerun}"
        say(f"{bucket.name}: {count:,} documents, {done}")


def _editor(corpus: Corpus, bucket: "Bucket", request: Request) -> "Editor":
    from citegraph.corpus.records.extracted.editing import Editor

    assert corpus.extractions is not None
    return Editor(bucket, corpus.documents, corpus.annotations, corpus.extractions, request.by or _user())


def _field_names(corpus: Corpus, bucket: "Bucket", request: Request) -> list[str]:
    editor = _editor(corpus, bucket, request)
    return [editor.field(name).name for name in request.fields]


def _user() -> str | None:
    """Return the name of the user of this machine's account, None when it has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return None


def _changes(bucket: "Bucket", doc_id: str | None, request: Request) -> "list[Change]":
    """Return the changes that the options ask for and those of a table.

    Raises:
        BadInput: no document is named, a correction has no value, or a table cannot be read.
    """
    from citegraph.corpus.records.extracted.editing import Change

    asked = [*request.corrections, *request.absent, *request.accept, *request.undo]
    if asked and doc_id is None:
        raise BadInput("A correction needs a document: citegraph annotate DOCUMENT --set field=value.")
    if request.table is not None and (asked or doc_id is not None):
        raise BadInput("--from reads corrections of a bucket: name it with --bucket, without a document.")
    if request.table is not None:
        return list(read_table(request.table))
    named = doc_id or ""
    changes = [
        Change(named, name, "set", raw, request.note) for name, raw in _values(bucket, request.corrections)
    ]
    changes += [Change(named, name, "absent", note=request.note) for name in request.absent]
    changes += [Change(named, name, "accept", note=request.note) for name in request.accept]
    return changes + [Change(named, name, "undo") for name in request.undo]


def _values(bucket: "Bucket", corrections: Sequence[str]) -> list[tuple[str, str]]:
    """Return (field, value) of each correction, those of one list field as one."""
    values: dict[str, list[str]] = {}
    for text in corrections:
        name, separator, value = text.partition("=")
        if not separator:
            raise BadInput(f"{text!r} is no correction; write --set field=value.")
        declared = bucket.field(name.strip())
        values.setdefault(declared.name if declared else name, []).append(value.strip())
    for name, given in values.items():
        declared = bucket.field(name)
        if len(given) > 1 and (declared is None or declared.type != "keywords"):
            raise BadInput(f"{name} takes one value; {len(given)} were given.")
    return [
        (name, given[0] if len(given) == 1 else json.dumps(given, ensure_ascii=False))
        for name, given in values.items()
    ]


def _by_model(services: Services, bucket: "Bucket") -> "Extractor":
    from citegraph.corpus.extraction.by_model import ModelExtractor
    from citegraph.corpus.extraction.engine import extract_document
    from citegraph.corpus.records.extracted.found import Extraction
    from citegraph.corpus.schema.document import Document

    if not services.chat.configured("extract"):
        raise BadInput("No model is configured: set CITEGRAPH_MODEL, or use --rerun rules.")

    async def extractor(document: Document) -> Extraction:
        rules = await asyncio.to_thread(extract_document, bucket, document)
        return await ModelExtractor(bucket, services.chat, rules).extract(document)

    return extractor


def _shown(corpus: Corpus, bucket: "Bucket", doc_id: str | None, request: Request, as_json: bool) -> str:
    """Return what is printed: a document's values, corrections, their history, or the bucket's list for review."""
    if request.history:
        return _history(corpus, bucket, doc_id, request, as_json)
    if request.made:
        rows = correction_rows(corpus, bucket, doc_id)
        return _printed(rows, correction_table(rows), request, as_json) or (
            corrections_text(rows) or f"{doc_id or bucket.name}: no corrections"
        )
    if doc_id is None:
        return _review(corpus, bucket, request, as_json)
    rows = document_rows(corpus, bucket, doc_id)
    if as_json:
        return json.dumps(rows, ensure_ascii=False)
    record = corpus.documents.record(doc_id)
    title = f"{doc_id} ({bucket.name}, {record.source_file if record else ''})"
    return document_text(title, rows) if rows else f"{title}: no values"


def _review(corpus: Corpus, bucket: "Bucket", request: Request, as_json: bool) -> str:
    from citegraph.corpus.records.extracted.review_list import ReviewList

    lists = ReviewList(Services().settings.sql_url)
    page = lists.page(
        bucket,
        below=request.below,
        fields=_field_names(corpus, bucket, request),
        limit=request.limit,
        offset=request.offset,
    )
    rows = review_rows(corpus, page.items)
    if printed := _printed(rows, review_table(rows), request, as_json):
        return printed
    waiting = [row for row in correction_rows(corpus, bucket) if row["status"] == "waiting"]
    lines = [f"Corrections that are not applied ({len(waiting)}):", corrections_text(waiting[:20]), ""]
    text = "\n".join(lines) if waiting and not request.offset else ""
    if not page.total:
        return f"{text}{bucket.name}: nothing to review"
    last = request.offset + len(rows)
    head = (
        f"{bucket.name}: {page.total:,} values to review, {min(request.offset + 1, last):,} to {last:,} shown"
    )
    more = f"; --offset {last} shows more" if last < page.total else ""
    return f"{text}{head}{more}\n{review_text(rows)}"


def _history(corpus: Corpus, bucket: "Bucket", doc_id: str | None, request: Request, as_json: bool) -> str:
    assert corpus.extractions is not None
    store = corpus.extractions.corrected
    rows = history_rows(store.history(doc_id) if doc_id else store.history_of_bucket(bucket.name))
    if request.fields:
        wanted = {*request.fields, *_field_names(corpus, bucket, request)}
        rows = [row for row in rows if row["field"] in wanted]
    if request.out is not None:
        write_table(request.out, history_table(rows), HISTORY_COLUMNS)
        return f"{request.out}: {len(rows):,} rows"
    if as_json:
        return json.dumps(rows, ensure_ascii=False)
    return history_text(rows) or f"{doc_id or bucket.name}: nothing was corrected"


def _printed(rows: Sequence[Row], table: Sequence[Row], request: Request, as_json: bool) -> str:
    """Return the rows as JSON, or what was written to a file; "" when they are to be shown as text."""
    if request.out is not None:
        write_table(request.out, table)
        return f"{request.out}: {len(table):,} rows"
    return json.dumps(rows, ensure_ascii=False) if as_json else ""
