"""The command `buckets`: which buckets there are, and everything about one of them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from citegraph.run.json_output import dumped
from citegraph.settings import load_settings
from cli.options import AsJson, new_app
from cli.terminal import write

if TYPE_CHECKING:
    from citegraph.corpus.schema.bucket import Bucket
    from citegraph.settings import Settings

EXAMPLES = 5
"""Stored values shown for each field."""


app = new_app()


@app.command()
def buckets(
    name: Annotated[
        str | None, typer.Argument(help="Show everything about this bucket.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the buckets, or document one of them with its document count and frequent values."""
    from citegraph.corpus.schema.bucket import bucket_named, load_buckets

    settings = load_settings()
    declared = load_buckets(settings.buckets_dir)
    counts = document_counts(settings, declared)
    if name is None:
        rows = [
            {"name": item.name, "documents": counts[item.name], "description": item.description}
            for item in declared.values()
        ]
        write(dumped(rows) if as_json else _list_text(rows))
        return
    bucket = bucket_named(declared, name)
    values = _frequent(settings, declared, name) if counts[name] else {}
    if as_json:
        data = bucket.model_dump(mode="json") | {"documents": counts[name], "frequent_values": values}
        write(dumped(data))
    else:
        write(_bucket_text(bucket, counts[name], values))


def document_counts(settings: "Settings", buckets: "dict[str, Bucket]") -> dict[str, int]:
    """Return the documents of each bucket; a home without a database has none, and none is made."""
    if settings.nothing_stored:
        return dict.fromkeys(buckets, 0)
    from citegraph.corpus.records.documents import DocumentStore

    store = DocumentStore(settings.sql_url)
    return {name: store.count(name) for name in buckets}


def _frequent(settings: "Settings", buckets: "dict[str, Bucket]", name: str) -> dict[str, list[list[Any]]]:
    """Return the most frequent stored values of a bucket's fields with their document counts."""
    from citegraph.corpus.records.annotations.annotation_store import AnnotationStore

    facets = AnnotationStore(settings.sql_url, buckets).facets(name, limit=EXAMPLES)
    return {field: [[facet.label, facet.count] for facet in found] for field, found in facets.items()}


def _list_text(rows: list[dict[str, Any]]) -> str:
    wide = max(len(row["name"]) for row in rows)
    digits = max(len(f"{row['documents']:,}") for row in rows)
    return "\n".join(
        f"{row['name']:<{wide}}  {row['documents']:>{digits},} {'document ' if row['documents'] == 1 else 'documents'}  "
        f"{' '.join(row['description'].split())}"
        for row in rows
    )


def _bucket_text(bucket: "Bucket", count: int, values: dict[str, list[list[Any]]]) -> str:
    lines = [bucket.describe(), "", f"Documents: {count:,}"]
    if values:
        lines += ["", "Frequent values:"]
        lines += [
            f"- {field}: {'; '.join(f'{value} ({n:,})' for value, n in found)}"
            for field, found in values.items()
        ]
    return "\n".join(lines)
