"""The commands `ingest` and `reembed`: files into a bucket, and its index anew from what is stored."""

import asyncio
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from citegraph.errors import BadInput, Unavailable
from citegraph.run.json_output import dumped
from citegraph.run.services import Services
from cli.exits import ANSWERED, FAILED, NOT_ANSWERED
from cli.options import AsJson, BucketName, Quiet, command, new_app
from cli.terminal import Progress, counted, progress, say, write

if TYPE_CHECKING:
    from citegraph.corpus.foreign.collection_source import CollectionSource
    from citegraph.corpus.ingestion.ingest_options import IngestOptions, Stores
    from citegraph.corpus.ingestion.report import IngestReport
    from citegraph.corpus.schema.bucket import Bucket

SHOWN = 20
"""Skipped files and bad values that the report lists."""
T = TypeVar("T")


app = new_app()


@dataclass(frozen=True, slots=True)
class Ingest:
    """What to bring into which bucket; labels None keeps those that the documents have."""

    paths: Annotated[list[Path], typer.Argument(help="Files and folders.", show_default=False)] = field(
        default_factory=list
    )
    bucket: BucketName = field(kw_only=True)
    collection: Annotated[
        str, typer.Option("--collection", help="A Qdrant collection to bring in, instead of files.")
    ] = field(default="", kw_only=True)
    annotations: Annotated[
        list[Path],
        typer.Option(
            "--annotations", "-a", help="CSV or JSONL with metadata by document id or file; may be repeated."
        ),
    ] = field(default_factory=list)
    prune: Annotated[bool, typer.Option("--prune", help="Remove documents whose source is gone.")] = False
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            "-l",
            help="Only who may see this label sees the documents; may be repeated; '' takes labels away.",
        ),
    ] = None
    extract: Annotated[
        Literal["auto", "always", "never"],
        typer.Option("--extract", help="Extract values; auto: of documents without annotations."),
    ] = "auto"
    reread: Annotated[
        bool, typer.Option("--reread", help="Read files again that have not changed since they were read.")
    ] = False
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and compare; write nothing but the report.")
    ] = False
    report: Annotated[Path | None, typer.Option("--report", help="Write the whole report as JSON.")] = None
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 4 when anything was left out.")] = False
    engine: Annotated[Literal["local", "ray"], typer.Option("--engine", help="Where files are read.")] = (
        "local"
    )
    ray_address: Annotated[
        str | None, typer.Option("--ray-address", help="A Ray cluster; without, Ray is started here.")
    ] = None
    as_json: AsJson = False
    quiet: Quiet = False

    @property
    def ray(self) -> str | None:
        """Return the address of Ray, "" for a Ray started here, None for none; as in `IngestOptions`.

        Raises:
            BadInput: an address is given for the local engine.
        """
        if self.engine == "local" and self.ray_address is not None:
            raise BadInput("--ray-address goes with --engine ray.")
        return self.ray_address or "" if self.engine == "ray" else None


@command(app)
def ingest(request: Ingest) -> int:
    """Bring documents into a bucket; safe to repeat, to kill and to resume.

    Exits with 0 done, 4 something was left out (--strict), 5 nothing could be read, 130 interrupted.

    Raises:
        BadInput: the bucket is unknown, an annotation file cannot be read, or the report cannot be written.
    """
    if bool(request.paths) == bool(request.collection):
        raise BadInput("Name files and folders to bring in, or a --collection: one of the two.")
    if request.report:
        _check_report(request.report)
    try:
        with (
            ends_on_sigterm() as run_work,
            progress(f"ingest {request.bucket}", quiet=request.quiet or request.as_json) as show,
        ):
            report = run_work(
                _closing(Services(trusted=True), lambda services: ingest_into(services, request, show))
            )
    except (KeyboardInterrupt, Unavailable):
        say("What was written stays. The same command goes on from there.")
        raise
    whole = dumped(report_json(report))
    if request.report:
        request.report.write_text(whole + "\n", encoding="utf-8")
    write(whole if request.as_json else report_text(report, dry_run=request.dry_run))
    if not report.documents:
        return FAILED
    return NOT_ANSWERED if request.strict and (report.skipped or report.bad_values) else ANSWERED


def _check_report(path: Path) -> None:
    """Raise `BadInput` when a report cannot be written: not only after hours of reading."""
    if not path.parent.is_dir():
        raise BadInput(f"--report {path}: there is no folder {path.parent}.")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise BadInput(f"--report {path}: it cannot be written: name a file in a folder of yours.")


@app.command()
def reembed(bucket: Annotated[str, typer.Argument(help="Name of the bucket.")], quiet: Quiet = False) -> None:
    """Build a bucket's index anew from the stored documents, e.g. after a change of the embedding model."""
    with ends_on_sigterm() as run_work, progress(f"reembed {bucket}", quiet=quiet) as show:
        count = run_work(_closing(Services(trusted=True), lambda services: _reembed(services, bucket, show)))
    write(f"{bucket}: {counted(count, 'document')} indexed anew")


class _RunWork:
    """Runs a coroutine to its end, or until it is stopped; then its stores are closed and KeyboardInterrupt is raised."""

    def __init__(self) -> None:
        self._task: asyncio.Task[Any] | None = None
        self._stopped = False

    def __call__(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return asyncio.run(self._watched(work))
        except asyncio.CancelledError:
            if self._stopped:
                raise KeyboardInterrupt from None
            raise

    async def _watched(self, work: Coroutine[Any, Any, T]) -> T:
        self._task = asyncio.current_task()
        return await work

    def stop(self) -> None:
        """Cancel the work, from a signal handler."""
        if self._task is None:
            raise KeyboardInterrupt
        self._stopped = True
        # An exception raised here would end a step of the loop somewhere in its middle.
        self._task.get_loop().call_soon_threadsafe(self._task.cancel)


@contextmanager
def ends_on_sigterm() -> Iterator[_RunWork]:
    """Let SIGTERM end the work in the way of Ctrl-C: closed stores, and a word about how to go on."""
    run_work = _RunWork()

    def stop(*_: object) -> None:
        # A shell has what it runs in the background ignore SIGINT.
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            run_work.stop()
        else:
            signal.raise_signal(signal.SIGINT)

    if threading.current_thread() is not threading.main_thread():
        yield run_work
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield run_work
    finally:
        signal.signal(signal.SIGTERM, before)


async def ingest_into(services: Services, request: Ingest, show: Progress | None = None) -> "IngestReport":
    """Ingest into the stores of `services`, with the chunk sizes of its settings."""
    from citegraph.corpus.ingestion.ingest_options import options_from
    from citegraph.corpus.ingestion.pipeline import ingest as ingested

    bucket, stores = await _stores(services, request.bucket)
    options = replace(
        options_from(services.settings, prune=request.prune, labels=request.labels),
        extract=request.extract,
        dry_run=request.dry_run,
        reread=request.reread,
        ray=request.ray,
    )
    source = await _collection(services, bucket, options, request.collection) if request.collection else None
    try:
        return await ingested(
            await asyncio.to_thread(source.look) if source else request.paths,
            bucket,
            stores=stores,
            annotations=request.annotations,
            options=options,
            progress=show,
            ready=source,
        )
    finally:
        if source:
            source.close()


async def _collection(
    services: Services, bucket: "Bucket", options: "IngestOptions", name: str
) -> "CollectionSource":
    from citegraph.corpus.foreign.collection_source import CollectionSource, open_client
    from citegraph.corpus.ingestion.points import PointRecipe
    from citegraph.corpus.schema.bucket import Collection
    from citegraph.llm.embeddings import load_embedder

    client = open_client(services.settings, bucket.collection or Collection())
    recipe = PointRecipe(options.chunk_tokens, options.chunk_overlap, options.summaries_from)
    return CollectionSource(client, name, bucket, load_embedder(services.settings), recipe)


async def _reembed(services: Services, name: str, show: Progress | None) -> int:
    from citegraph.corpus.ingestion.ingest_options import options_from
    from citegraph.corpus.ingestion.pipeline import reembed as reembedded

    bucket, stores = await _stores(services, name)
    return await reembedded(bucket, stores=stores, options=options_from(services.settings), progress=show)


async def _stores(services: Services, name: str) -> "tuple[Bucket, Stores]":
    from citegraph.corpus.schema.bucket import bucket_named

    corpus = await services.corpus()
    return bucket_named(corpus.buckets, name), corpus.stores


async def _closing(services: Services, work: Callable[[Services], Awaitable[T]]) -> T:
    """Run work and release the index, whatever happens."""
    try:
        return await work(services)
    finally:
        await services.close()


def report_json(report: "IngestReport") -> dict[str, Any]:
    """Return a report as JSON data, with the number of documents read."""
    return asdict(report) | {"documents": report.documents, "unknown_columns": dict(report.unknown_columns)}


def report_text(report: "IngestReport", *, dry_run: bool = False) -> str:
    """Return a report for people: counts, then what was skipped, refused or unknown."""
    head = (
        f"{report.bucket}: {counted(report.documents, 'document')} in {report.seconds:.1f} s: "
        f"{report.new:,} new, {report.changed:,} changed, {report.unchanged:,} unchanged"
        f"{f' ({report.not_read:,} of them not read again)' if report.not_read else ''}, "
        f"{report.deleted:,} deleted; {counted(report.chunks, 'chunk')} written, {report.annotated:,} annotated"
    )
    lines = ["dry run, nothing was written; with it:", head] if dry_run else [head]
    if report.missing > report.deleted:
        lines.append(
            f"{counted(report.missing, 'stored document')} without a source now (--prune removes them)"
        )
    if report.unused_annotations:
        more = ", …" if report.unused_annotations > len(report.unused_rows[:5]) else ""
        lines.append(
            f"{report.unused_annotations:,} annotation rows belong to no document that was read: "
            f"{', '.join(report.unused_rows[:5])}{more}"
        )
    lines += _section("skipped", [f"{item.path}: {item.reason}" for item in report.skipped])
    lines += _values(report)
    versions = [f"{item.doc_id} supersedes {item.supersedes}: {item.reason}" for item in report.versions]
    lines += _section("new versions", versions)
    lines += _section("notes", [f"{item.path}: {item.reason}" for item in report.notes])
    bad = [f"{item.doc_id}: {item.column} = {item.value[:80]!r}: {item.reason}" for item in report.bad_values]
    lines += _section("bad values (not stored)", bad)
    unknown = [f"{name} ({count:,} rows)" for name, count in report.unknown_columns.most_common()]
    lines += _section("unknown columns", unknown)
    return "\n".join(lines)


def _values(report: "IngestReport") -> list[str]:
    """Return a line for each field by which documents are known, and one for what is to be looked at."""
    told = [item for item in report.values if item.telling]
    lines = [
        f"  {item.field} found in {item.found:,} of {report.documents:,}"
        + (f"; {item.review:,} to review" if item.review else "")
        for item in told
    ]
    review = sum(item.review for item in report.values)
    more = [f"  in all {review:,} to review: citegraph annotate -b {report.bucket}"] if review else []
    return ["values:", *lines, *more] if told or more else []


def _section(title: str, items: Sequence[str]) -> list[str]:
    if not items:
        return []
    more = [f"  … and {len(items) - SHOWN:,} more (--json lists all)"] if len(items) > SHOWN else []
    return [f"{title}: {len(items):,}", *(f"  {item}" for item in items[:SHOWN]), *more]
