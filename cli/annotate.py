"""The command `annotate`: what was extracted from documents, what to review, and corrections that stay."""

import asyncio
import getpass
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from citegraph.errors import BadInput
from citegraph.run.json_output import dumped
from citegraph.run.services import Corpus, Services
from cli.annotated import (
    HISTORY_COLUMNS,
    correction_table,
    corrections_text,
    document_text,
    history_table,
    history_text,
    read_table,
    review_table,
    review_text,
    write_table,
)
from cli.exits import ANSWERED
from cli.options import AsJson, Quiet, command, new_app
from cli.terminal import Progress, counted, progress, say, write
from tools.value_rows import Row, correction_rows, document_rows, history_rows, review_rows

if TYPE_CHECKING:
    from citegraph.corpus.ingestion.annotating import Extractor
    from citegraph.corpus.records.extracted.editing import Change, Editor
    from citegraph.corpus.schema.bucket import Bucket


app = new_app()


def _several(option: str, help: str) -> typer.models.OptionInfo:
    info: typer.models.OptionInfo = typer.Option(option, help=f"{help}; may be repeated.")
    return info


@dataclass(frozen=True, slots=True)
class Annotate:
    """What to show or to change: one document, or a whole bucket."""

    document: Annotated[
        str | None,
        typer.Argument(help="Show or correct this document: its id, file name or path.", show_default=False),
    ] = None
    bucket: Annotated[
        str | None, typer.Option("--bucket", "-b", help="List what to review in this bucket.")
    ] = None
    corrections: Annotated[list[str], _several("--set", "Correct a value: field=value")] = field(
        default_factory=list
    )
    absent: Annotated[list[str], _several("--absent", "The document has no such value")] = field(
        default_factory=list
    )
    accept: Annotated[list[str], _several("--accept", "The value of this field is right")] = field(
        default_factory=list
    )
    undo: Annotated[list[str], _several("--undo", "Forget the correction of a field")] = field(
        default_factory=list
    )
    by: Annotated[
        str | None,
        typer.Option("--by", help="Who corrects; default: the account's name.", show_default=False),
    ] = None
    note: Annotated[
        str | None, typer.Option("--note", help="Why; kept with the correction.", show_default=False)
    ] = None
    made: Annotated[bool, typer.Option("--corrections", help="List the corrections that stand.")] = False
    history: Annotated[
        bool, typer.Option("--history", help="List every change that people made, also those taken back.")
    ] = False
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the list to this .csv or .jsonl file.", show_default=False),
    ] = None
    table: Annotated[
        Path | None,
        typer.Option("--from", help="Make the corrections of such a file, filled in.", show_default=False),
    ] = None
    fields: Annotated[list[str], _several("--field", "List or extract again this field only")] = field(
        default_factory=list
    )
    rerun: Annotated[
        Literal["rules", "model"] | None, typer.Option("--rerun", help="Extract again by these.")
    ] = None
    below: Annotated[float, typer.Option("--below", min=0, max=1, help="List values of less certainty.")] = (
        0.7
    )
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Rows listed for review.")] = 100
    offset: Annotated[int, typer.Option("--offset", min=0, help="Rows left out before them.")] = 0
    as_json: AsJson = False
    quiet: Quiet = False


@command(app)
def annotate(request: Annotate) -> int:
    """Show what was extracted from a document, or list what to review in a bucket; correct, or extract again.

    Raises:
        BadInput: no such document, bucket or field, or a value that its field does not take; nothing was changed.
    """
    with progress("annotate", quiet=request.quiet or request.as_json) as show:
        printed = asyncio.run(_run(request, show))
    write(printed)
    return ANSWERED


async def _run(request: Annotate, show: Progress | None) -> str:
    services = Services(trusted=True)
    try:
        corpus = await services.corpus()
        bucket, doc_id = await asyncio.to_thread(_meant, corpus, request)
        await _change(services, corpus, (bucket, doc_id), request, show)
        return await asyncio.to_thread(_shown, corpus, bucket, doc_id, request)
    finally:
        await services.close()


def _meant(corpus: Corpus, request: Annotate) -> "tuple[Bucket, str | None]":
    """Return the bucket and the document, if one is named, that a request is about."""
    from citegraph.corpus.schema.bucket import bucket_named

    if request.document is None:
        if request.bucket is None:
            raise BadInput("Name a document, or a bucket with --bucket.")
        return bucket_named(corpus.buckets, request.bucket), None
    if request.bucket is not None:
        bucket_named(corpus.buckets, request.bucket)
    doc_id = _document(corpus, request.document, request.bucket)
    record = corpus.documents.record(doc_id)
    assert record is not None
    return bucket_named(corpus.buckets, record.bucket), doc_id


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
    request: Annotate,
    show: Progress | None,
) -> None:
    """Make the corrections and extract again, as far as the request asks for either."""
    from citegraph.corpus.ingestion.annotating import Again, reannotate
    from citegraph.corpus.ingestion.ingest_options import IngestOptions

    bucket, doc_id = meant
    changes = list(_changes(bucket, doc_id, request))
    if not changes and request.rerun is None:
        return
    options = IngestOptions(chunk_tokens=services.settings.chunk_tokens)
    again = Again(
        extractor=_by_model(services, bucket) if request.rerun == "model" else None,
        fields=_field_names(corpus, bucket, request) if request.rerun else (),
        changes=partial(_editor(corpus, bucket, request).apply, changes) if changes else None,
        progress=show,
    )
    # A whole bucket when it is extracted again, else the documents that are corrected.
    ids = None if doc_id is None else [doc_id]
    count = await reannotate(bucket, ids, stores=corpus.stores, options=options, again=again)
    if doc_id is None:
        done = counted(len(changes), "correction") if changes else f"extracted again by {request.rerun}"
        say(f"{bucket.name}: {counted(count, 'document')}, {done}")


def _editor(corpus: Corpus, bucket: "Bucket", request: Annotate) -> "Editor":
    from citegraph.corpus.records.extracted.editing import Editor

    return Editor(
        bucket, corpus.documents, corpus.annotations, corpus.stores.extractions, request.by or _user()
    )


def _field_names(corpus: Corpus, bucket: "Bucket", request: Annotate) -> list[str]:
    editor = _editor(corpus, bucket, request)
    return [editor.field(name).name for name in request.fields]


def _user() -> str | None:
    """Return the name of the user of this machine's account, None when it has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return None


def _changes(bucket: "Bucket", doc_id: str | None, request: Annotate) -> "list[Change]":
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
    return [(name, given[0] if len(given) == 1 else dumped(given)) for name, given in values.items()]


def _by_model(services: Services, bucket: "Bucket") -> "Extractor":
    from citegraph.corpus.extraction.engine import extract_document
    from citegraph.corpus.extraction.extract_by_model import ModelExtractor
    from citegraph.corpus.records.extracted.found import Extraction
    from citegraph.corpus.schema.document import Document

    if not services.chat.configured("extract"):
        raise BadInput("No model is configured: set CITEGRAPH_MODEL, or use --rerun rules.")

    async def extractor(document: Document) -> Extraction:
        rules = await asyncio.to_thread(extract_document, bucket, document)
        return await ModelExtractor(bucket, services.chat, rules).extract(document)

    return extractor


def _shown(corpus: Corpus, bucket: "Bucket", doc_id: str | None, request: Annotate) -> str:
    """Return what is printed: a document's values, corrections, their history, or the bucket's list for review."""
    if request.history:
        return _history(corpus, bucket, doc_id, request)
    if request.made:
        rows = correction_rows(corpus, bucket, doc_id)
        return _printed(rows, correction_table(rows), request) or (
            corrections_text(rows) or f"{doc_id or bucket.name}: no corrections"
        )
    if doc_id is None:
        return _review(corpus, bucket, request)
    rows = document_rows(corpus, bucket, doc_id)
    if request.as_json:
        return dumped(rows)
    record = corpus.documents.record(doc_id)
    title = f"{doc_id} ({bucket.name}, {record.source_file if record else ''})"
    return document_text(title, rows) if rows else f"{title}: no values"


def _review(corpus: Corpus, bucket: "Bucket", request: Annotate) -> str:
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
    if printed := _printed(rows, review_table(rows), request):
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


def _history(corpus: Corpus, bucket: "Bucket", doc_id: str | None, request: Annotate) -> str:
    store = corpus.stores.extractions.corrected
    rows = history_rows(store.history(doc_id) if doc_id else store.history_of_bucket(bucket.name))
    if request.fields:
        wanted = {*request.fields, *_field_names(corpus, bucket, request)}
        rows = [row for row in rows if row["field"] in wanted]
    if request.out is not None:
        write_table(request.out, history_table(rows), HISTORY_COLUMNS)
        return f"{request.out}: {len(rows):,} rows"
    if request.as_json:
        return dumped(rows)
    return history_text(rows) or f"{doc_id or bucket.name}: nothing was corrected"


def _printed(rows: Sequence[Row], table: Sequence[Row], request: Annotate) -> str:
    """Return the rows as JSON, or what was written to a file; "" when they are to be shown as text."""
    if request.out is not None:
        write_table(request.out, table)
        return f"{request.out}: {len(table):,} rows"
    return dumped(rows) if request.as_json else ""
