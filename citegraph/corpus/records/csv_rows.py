"""Lists as CSV, streamed from the database in constant memory and safe to open in a spreadsheet."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import column, func, inspect, select
from sqlalchemy import table as named_table

from citegraph.corpus.filters.clause import Filters
from citegraph.corpus.records.annotations.annotation_store import AnnotationStore
from citegraph.corpus.records.annotations.annotation_tables import to_values
from citegraph.corpus.records.database import seam, translated
from citegraph.corpus.schema.bucket import show
from citegraph.corpus.schema.field import Field, Value
from citegraph.language.amounts import Money

FETCHED = 1000
"""Rows that are held in memory at a time."""

BOM = "\ufeff"
_ENDS = r";\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029"
# One class, so that a run of blanks is read in one way only: time stays linear in the cell's length.
_BLANK = rf"(?:(?![{_ENDS}])[\s\x00-\x08\x0e-\x1b\x1f\x7f\u200b-\u200f\u2060\ufeff])*+"
_FORMULA = re.compile(rf"(?P<before>(?:^|[{_ENDS}]){_BLANK})(?P<rest>[=+\-@|%＝＋－＠][^{_ENDS}]*)")
"""Where a spreadsheet may begin a formula: at a cell's start, blanks and invisible characters aside, and after what
it may take for the end of a cell (a semicolon, in half of Europe; a tab) or of a row. After OWASP, "CSV Injection"."""
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)*(?:[eE][+-]?[0-9]+)?")


def safe_cell(text: str) -> str:
    """Return a cell's text with an apostrophe before everything that a spreadsheet could run as a formula.

    Plain numbers keep their sign; a cell that begins with a tab or the end of a line gets one there.
    """

    def escaped(match: re.Match[str]) -> str:
        harmless = _NUMBER.fullmatch(match["rest"].rstrip(" "))
        return match[0] if harmless else f"{match['before']}'{match['rest']}"

    guarded = _FORMULA.sub(escaped, text)
    return f"'{guarded}" if text[:1] in ("\t", "\r", "\n") else guarded


def export_csv(
    store: AnnotationStore,
    bucket: str,
    filters: Filters = (),
    *,
    bom: bool = False,
) -> Iterator[str]:
    """Yield the matching documents as CSV text, a row of text at a time, the header first.

    Columns: doc_id, source_file, every field (money as amount and currency), and for each field whose
    place in a document is known for some value "<field>_page".

    Args:
        filters: checked filters; empty is the whole bucket.
        bom: begin with a byte order mark, by which Excel knows UTF-8.

    Raises:
        Unavailable: the database does not answer.
    """
    fields = store.buckets[bucket].fields
    paged = _paged_fields(store, bucket, filters)
    header = ["doc_id", "source_file", *(name for item in fields for name in _headings(item))]
    header += [f"{name}_page" for name in paged]
    yield (BOM if bom else "") + _line(header)
    for row in _stream(store, bucket, filters):
        values = to_values(store.buckets[bucket], row)
        places: Mapping[str, Any] = row["sources"] or {}
        cells = [row["doc_id"], row["source_file"] or ""]
        cells += [cell for item in fields for cell in _cells(item, values.get(item.name))]
        cells += [_page(places.get(name)) for name in paged]
        yield _line(cells)


def _headings(item: Field) -> tuple[str, ...]:
    return (item.name, f"{item.name}_currency") if item.type == "money" else (item.name,)


def _cells(item: Field, value: Value | None) -> tuple[str, ...]:
    if item.type == "money":
        if isinstance(value, Money):
            return (f"{value.amount:f}", value.currency or "")
        return ("", "")
    return ("" if value is None else show(value),)


def _page(place: Mapping[str, Any] | None) -> str:
    page = place.get("page") if place else None
    return "" if page is None else str(page)


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow([safe_cell(cell) for cell in cells])
    return text.getvalue()


def _paged_fields(store: AnnotationStore, bucket: str, filters: Filters) -> list[str]:
    """Return the fields that have a known place in at least one of the first documents with places."""
    rows = store.tables[bucket].rows
    statement = select(rows.c.sources).where(store.condition(bucket, filters), rows.c.sources.is_not(None))
    found = store.run(statement.limit(FETCHED)).scalars()
    known = {
        name
        for places in found
        for name, place in places.items()
        if place.get("page") is not None or place.get("start") is not None
    }
    return [item.name for item in store.buckets[bucket].fields if item.name in known]


def _stream(store: AnnotationStore, bucket: str, filters: Filters) -> Iterator[Mapping[str, Any]]:
    """Yield the rows through a server-side cursor, each with its document's source file."""
    rows = store.tables[bucket].rows
    statement = store.rows_statement(bucket, filters, None, ())
    with seam():
        is_whole = inspect(store.engine).has_table("documents")
    if is_whole:
        documents = named_table("documents", column("doc_id"), column("source_file"))
        source = select(documents.c.source_file).where(documents.c.doc_id == rows.c.doc_id).scalar_subquery()
        statement = statement.add_columns(source.label("source_file"))
    else:
        statement = statement.add_columns(func.coalesce(None, "").label("source_file"))
    with store.engine.connect() as connection:
        streaming = connection.execution_options(yield_per=FETCHED)
        for row in translated(lambda: streaming.execute(statement)).mappings():
            yield dict(row)
