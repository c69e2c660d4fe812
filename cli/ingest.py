"""The commands `ingest` and `reembed`: files into a bucket, and its index anew from what is stored."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cli.exits import ANSWERED, FAILED
from cli.terminal import Progress, progress, write
from llm.errors import BadInput
from tools.services import Services

if TYPE_CHECKING:
    from corpus.buckets import Bucket
    from corpus.ingestion.report import IngestReport
    from corpus.ingestion.stores import Extract, Stores

SHOWN = 20
"""Skipped files and bad values that the report lists."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """What to bring into which bucket; labels None keeps those that the documents have."""

    paths: Sequence[Path]
    bucket: str
    annotations: Sequence[Path] = ()
    prune: bool = False
    labels: Sequence[str] | None = None
    extract: "Extract" = "auto"


def extract_mode(text: str) -> "Extract":
    """Return the mode that `--extract` names.

    Raises:
        BadInput: it names none.
    """
    match text:
        case "auto" | "always" | "never":
            return text
    raise BadInput(f"--extract {text}: it is auto, always or never.")


def run(request: Request, *, as_json: bool = False, quiet: bool = False) -> int:
    """Ingest and print the report; returns 5 when nothing could be read.

    Raises:
        BadInput: the bucket is unknown, or an annotation file cannot be read.
    """
    with progress(f"ingest {request.bucket}", quiet=quiet or as_json) as show:
        report = asyncio.run(
            _closing(Services(trusted=True), lambda services: ingest_into(services, request, show))
        )
    write(json.dumps(report_json(report), ensure_ascii=False) if as_json else report_text(report))
    return ANSWERED if report.documents else FAILED


def run_reembed(bucket: str, *, quiet: bool = False) -> int:
    """Build the index of a bucket anew and print how many documents it holds."""
    with progress(f"reembed {bucket}", quiet=quiet) as show:
        count = asyncio.run(
            _closing(Services(trusted=True), lambda services: _reembed(services, bucket, show))
        )
    write(f"{bucket}: {count:,} documents indexed anew")
    return ANSWERED


async def ingest_into(services: Services, request: Request, show: Progress | None = None) -> "IngestReport":
    """Ingest into the stores of `services`, with the chunk sizes of its settings."""
    from corpus.ingestion.run import ingest
    from corpus.ingestion.stores import options_from

    bucket, stores = await _stores(services, request.bucket)
    return await ingest(
        request.paths,
        bucket,
        stores=stores,
        annotations=request.annotations,
        options=replace(
            options_from(services.settings, prune=request.prune, labels=request.labels),
            extract=request.extract,
        ),
        progress=show,
    )


async def _reembed(services: Services, name: str, show: Progress | None) -> int:
    from corpus.ingestion.run import reembed
    from corpus.ingestion.stores import options_from

    bucket, stores = await _stores(services, name)
    return await reembed(bucket, stores=stores, options=options_from(services.settings), progress=show)


async def _stores(services: Services, name: str) -> "tuple[Bucket, Stores]":
    from corpus.ingestion.stores import Stores
    from tools.search import known_bucket

    corpus = await services.corpus()
    stores = Stores(corpus.documents, corpus.annotations, corpus.index, corpus.extractions)
    return known_bucket(corpus, name), stores


async def _closing(services: Services, work: Callable[[Services], Awaitable[T]]) -> T:
    """Run work and release the index, whatever happens."""
    try:
        return await work(services)
    finally:
        await services.close()


def report_json(report: "IngestReport") -> dict[str, Any]:
    """Return a report as JSON data, with the number of documents read."""
    return asdict(report) | {"documents": report.documents, "unknown_columns": dict(report.unknown_columns)}


def report_text(report: "IngestReport") -> str:
    """Return a report for people: counts, then what was skipped, refused or unknown."""
    head = (
        f"{report.bucket}: {report.documents:,} documents read in {report.seconds:.1f} s: "
        f"{report.new:,} new, {report.changed:,} changed, {report.unchanged:,} unchanged, "
        f"{report.deleted:,} deleted; {report.chunks:,} chunks written, {report.annotated:,} annotated"
    )
    lines = [head]
    if report.missing > report.deleted:
        lines.append(f"{report.missing:,} stored documents have no source any more (--prune removes them)")
    if report.unused_annotations:
        lines.append(f"{report.unused_annotations:,} annotation rows belong to no document that was read")
    lines += _section("skipped", [f"{item.path}: {item.reason}" for item in report.skipped])
    lines += _section("notes", [f"{item.path}: {item.reason}" for item in report.notes])
    bad = [f"{item.doc_id}: {item.column} = {item.value[:80]!r}: {item.reason}" for item in report.bad_values]
    lines += _section("bad values (not stored)", bad)
    unknown = [f"{name} ({count:,} rows)" for name, count in report.unknown_columns.most_common()]
    lines += _section("unknown columns", unknown)
    return "\n".join(lines)


def _section(title: str, items: Sequence[str]) -> list[str]:
    if not items:
        return []
    more = [f"  … and {len(items) - SHOWN:,} more (--json lists all)"] if len(items) > SHOWN else []
    return [f"{title}: {len(items):,}", *(f"  {item}" for item in items[:SHOWN]), *more]
