"""Annotation files that lie beside the documents: CSV or JSON lines, found by document id or file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from corpus.readers.encodings import decoded
from llm.errors import BadInput

ID_COLUMNS = ("doc_id", "id", "document_id")
FILE_COLUMNS = ("source_file", "file", "filename", "file_name", "path")

Row = Mapping[str, Any]


class Sidecar:
    """The rows of all annotation files of one ingest, and which of them were used."""

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        self._rows: list[dict[str, Any]] = []
        self._by_key: dict[str, int] = {}
        self._used: set[int] = set()
        for path in paths:
            for row in table_rows(path):
                self._add(path, row)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def unused(self) -> int:
        """Return how many rows belonged to no document that was read."""
        return len(self._rows) - len(self._used)

    def find(self, doc_id: str, *files: str) -> Row | None:
        """Return the row of a document id, else that of the first file name that has one."""
        keys = [f"id:{doc_id}", *(key for file in files if file for key in _file_keys(file))]
        for key in keys:
            if key in self._by_key:
                place = self._by_key[key]
                self._used.add(place)
                return self._rows[place]
        return None

    def _add(self, path: Path, row: dict[str, Any]) -> None:
        doc_id = next((str(row[name]).strip() for name in ID_COLUMNS if row.get(name) not in (None, "")), "")
        file = next((str(row[name]).strip() for name in FILE_COLUMNS if row.get(name) not in (None, "")), "")
        if not doc_id and not file:
            raise BadInput(
                f"{path.name}: a row names neither a document ({', '.join(ID_COLUMNS)}) nor a file."
            )
        known = self._by_key.get(f"id:{doc_id}") if doc_id else None
        if known is not None:
            # A second row about a document completes the first.
            self._rows[known].update({name: value for name, value in row.items() if value is not None})
            return
        place = len(self._rows)
        self._rows.append(row)
        if doc_id:
            self._by_key[f"id:{doc_id}"] = place
        for key in _file_keys(file) if file else ():
            self._by_key.setdefault(key, place)


def _file_keys(file: str) -> Iterator[str]:
    name = PurePosixPath(file.replace("\\", "/")).name
    yield f"file:{name.casefold()}"
    yield f"stem:{PurePosixPath(name).stem.casefold()}"


def table_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a CSV, TSV or JSONL file.

    Raises:
        BadInput: it cannot be read as a table; the message names file and line.
    """
    try:
        text = decoded(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror or type(error).__name__}).") from error
    except BadInput as error:
        raise BadInput(f"{path.name}: {error}.") from error
    if path.suffix.lower() in {".csv", ".tsv"}:
        yield from _csv_rows(path, text)
    elif path.suffix.lower() in {".jsonl", ".ndjson"}:
        yield from _json_rows(path, text)
    else:
        raise BadInput(f"{path.name}: rows are read from .csv, .tsv and .jsonl files.")


def _csv_rows(path: Path, text: str) -> Iterator[dict[str, Any]]:
    head = text.split("\n", 1)[0]
    delimiter = max("\t;,", key=head.count)
    for row in csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter):
        if any(value for value in row.values()):
            yield {name.strip(): value for name, value in row.items() if name is not None}


def _json_rows(path: Path, text: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadInput(f"{path.name}:{number}: not JSON.") from error
        if not isinstance(row, dict):
            raise BadInput(f"{path.name}:{number}: not a JSON object.")
        yield row
