"""Reads JSON lines: one document a line, with its own id and its annotations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from citegraph.corpus.readers.plain_text import PAGE_BREAK, cleaned, pages_of
from citegraph.corpus.readers.protocol import NO_TEXT_HINT, Reading, ReadOptions, Unread


class JsonLinesReader:
    """One document a line: `doc_id`, `text` (form feeds are page breaks) or `pages` (a list of strings).

    Optional: `title`, `url`, `source_file`, and `metadata`, an object of annotation columns.
    """

    suffixes: tuple[str, ...] = (".jsonl", ".ndjson")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`; one bad line is one `Unread`."""
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield self._line(line, f"line {number}")

    def _line(self, line: bytes, where: str) -> Reading | Unread:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return Unread(where, "not JSON")
        if not isinstance(row, dict):
            return Unread(where, "not a JSON object")
        return self.document(row, where)

    def document(self, row: dict[str, Any], where: str) -> Reading | Unread:
        """Return the document that an object holds; `where` names it in the report."""
        doc_id = row.get("doc_id", row.get("id", row.get("_id")))
        if not isinstance(doc_id, str | int) or not str(doc_id).strip():
            return Unread(where, "no doc_id")
        text, pages = row.get("text"), row.get("pages")
        if isinstance(pages, list) and pages and all(isinstance(page, str) for page in pages):
            text = PAGE_BREAK.join(page.replace(PAGE_BREAK, "\n") for page in pages)
            spans = pages_of(cleaned(text), single=True)
        elif isinstance(text, str):
            spans = pages_of(cleaned(text))
        else:
            return Unread(where, NO_TEXT_HINT)
        metadata = row.get("metadata")
        return Reading(
            text=cleaned(text),
            pages=spans,
            title=_string(row.get("title")),
            doc_id=str(doc_id).strip(),
            source_file=_string(row.get("source_file") or row.get("file")),
            url=_string(row.get("url")) or None,
            metadata=metadata if isinstance(metadata, dict) else {},
        )


def _string(value: object) -> str:
    return cleaned(value).strip() if isinstance(value, str) else ""
