"""The command `export`: the documents of a bucket that match filters, as CSV."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from citegraph.errors import BadInput
from citegraph.settings import load_settings
from cli.exits import ANSWERED
from cli.options import BucketName, FilterTexts, command, new_app
from cli.terminal import counted, say

app = new_app()


@dataclass(frozen=True, slots=True)
class Export:
    """What to export, and where to."""

    bucket: BucketName
    filters: FilterTexts = field(default_factory=list)
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write this file instead of stdout.")] = None
    excel: Annotated[
        bool, typer.Option("--excel", help="Begin with the mark by which Excel knows UTF-8.")
    ] = False


@command(app)
def export(request: Export) -> int:
    """Write the documents of a bucket that match the filters as CSV, as they come from the database.

    Raises:
        BadInput: an unknown bucket, a filter that does not fit it, or a file that cannot be written.
    """
    rows = _rows(request)
    if request.out is None:
        for row in rows:
            sys.stdout.write(row)
        sys.stdout.flush()
        return ANSWERED
    # A failure on the way leaves the file that was there; a pipe or device is written as it is.
    whole = request.out.is_file() or not request.out.exists()
    written = request.out.with_name(f"{request.out.name}.part") if whole else request.out
    try:
        with written.open("w", encoding="utf-8", newline="") as file:
            count = sum(bool(file.write(row)) for row in rows) - 1
        if whole:
            written.replace(request.out)
    except OSError as error:
        raise BadInput(
            f"{request.out}: cannot be written ({error.strerror or type(error).__name__})"
        ) from error
    finally:
        if whole:
            written.unlink(missing_ok=True)
    say(f"{request.out}: {counted(count, 'document')}")
    return ANSWERED


def _rows(request: Export) -> Iterator[str]:
    from citegraph.corpus.filters.checks import read_filters
    from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
    from citegraph.corpus.records.csv_rows import export_csv
    from citegraph.corpus.schema.bucket import bucket_named, load_buckets

    settings = load_settings()
    buckets = load_buckets(settings.buckets_dir)
    filters = read_filters(bucket_named(buckets, request.bucket), request.filters, today=date.today())
    settings.home.mkdir(parents=True, exist_ok=True)
    store = AnnotationStore(settings.sql_url, buckets)
    return export_csv(store, request.bucket, filters, bom=request.excel)
