"""What a document has beside its text, as stored: page layouts, tables and embedded files, one row each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from sqlalchemy import Column, Integer, MetaData, Row, String, Table, Text

from citegraph.corpus.schema.document import Box, Document, Embedded, Layout, Line
from citegraph.corpus.schema.document import Table as TableOfCells


def parts_table(metadata: MetaData) -> Table:
    """Return the SQL table; layouts are stored, not computed again, so that a page of a scan is recognised once.

    A layout is about 1 KB a page: whole points, six numbers a line.
    """
    return Table(
        "document_parts",
        metadata,
        Column("doc_id", String, primary_key=True),
        Column("kind", String, primary_key=True),
        Column("number", Integer, primary_key=True),
        Column("content", Text, nullable=False),
    )


def part_rows(document: Document) -> Iterator[dict[str, Any]]:
    """Yield the rows of a document's parts; a layout's number is its page's."""
    contents: list[tuple[str, int, Any]] = [
        ("layout", layout.number, _layout(layout)) for layout in document.layouts
    ]
    for number, table in enumerate(document.tables):
        content = [table.start, table.end, table.header, table.page, table.title, table.rows]
        contents.append(("table", number, content))
    for number, file in enumerate(document.embedded):
        contents.append(("embedded", number, [file.name, file.media_type, file.text]))
    for kind, number, content in contents:
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        yield {"doc_id": document.doc_id, "kind": kind, "number": number, "content": text}


def parts_digest(document: Document) -> list[str]:
    """Return what tells a document's parts from those stored before, nothing when it has none."""
    contents = "\n".join(row["content"] for row in part_rows(document))
    return [hashlib.sha256(contents.encode()).hexdigest()] if contents else []


def with_parts(document: Document, rows: Iterable[Row[Any]]) -> Document:
    """Return a document with the parts of its rows, in the order of their numbers."""
    layouts: list[Layout] = []
    tables: list[TableOfCells] = []
    embedded: list[Embedded] = []
    for row in rows:
        if row.kind == "layout":
            layouts.append(layout_from(row.number, row.content))
        elif row.kind == "table":
            start, end, header, page, title, cells = json.loads(row.content)
            tables.append(TableOfCells(start, end, tuple(map(tuple, cells)), header, page, title))
        else:
            embedded.append(Embedded(*json.loads(row.content)))
    return replace(document, layouts=tuple(layouts), tables=tuple(tables), embedded=tuple(embedded))


def layout_from(number: int, content: str) -> Layout:
    """Return a stored layout; boxes have lost their fractions."""
    width, height, recognised, flat = json.loads(content)
    lines = (
        Line(start, start + length, Box(left, top, right, bottom))
        for start, length, left, top, right, bottom in zip(*[iter(flat)] * 6, strict=True)
    )
    return Layout(number, width, height, tuple(lines), bool(recognised))


def _layout(layout: Layout) -> list[Any]:
    flat: list[int] = []
    for start, end, box in layout.lines:
        flat += [start, end - start, *map(round, box)]
    return [round(layout.width, 1), round(layout.height, 1), int(layout.recognised), flat]
