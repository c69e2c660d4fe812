"""Annotation files that lie beside the documents: CSV or JSON lines, found by document id or file."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from citegraph.corpus.readers.encodings import decoded
from citegraph.errors import BadInput

ID_COLUMNS = ("doc_id", "id", "document_id")
FILE_COLUMNS = ("source_file", "file", "filename", "file_name", "path")

NAMED = 20
"""Unused rows that a report names."""

Row = Mapping[str, Any]


class Sidecar:
    """The rows of all annotation files of one ingest, and which of them were used.

    Attributes:
        doubtful: what cannot be told of rows, each once: (file or document, reason).
    """

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        self._rows: list[dict[str, Any]] = []
        self._files: list[str] = []
        self._names_of: list[str] = []
        self._by_id: dict[str, int] = {}
        self._by_name: dict[str, list[int]] = {}
        self._by_stem: dict[str, list[int]] = {}
        self._names: Counter[str] = Counter()
        self._used: set[int] = set()
        self.doubtful: dict[tuple[str, str], None] = {}
        for path in paths:
            for row in table_rows(path):
                self._add(path, row)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def unused(self) -> int:
        """Return how many rows belonged to no document that was read."""
        return len(self._rows) - len(self._used)

    @property
    def unused_names(self) -> list[str]:
        """Return what the unused rows name, at most `NAMED`."""
        unused = (row for row in range(len(self._rows)) if row not in self._used)
        return [self._names_of[row] for row in islice(unused, NAMED)]

    def meet(self, paths: Iterable[str]) -> None:
        """Learn which files an ingest reads: a name that several have tells none of them."""
        self._names = Counter(PurePath(path).name.casefold() for path in paths)

    def find(self, doc_id: str, file: str, path: str = "") -> Row | None:
        """Return the row of a document id, else that of a file.

        Args:
            file: the name of the document's file.
            path: where it lies; folders that a row names must be the last ones of it, unless no other file and no
                other row has the name.
        """
        place = self._by_id.get(doc_id)
        if place is None and file:
            place = self._of_file(file, path)
        if place is None:
            return None
        self._used.add(place)
        return self._rows[place]

    def _of_file(self, file: str, path: str) -> int | None:
        name = file.casefold()
        rows = self._by_name.get(name) or self._of_stem(name)
        if not rows:
            return None
        folders = _parts(path)[:-1]
        named = {row: _parts(self._files[row])[:-1] for row in rows}
        inside = {row: len(own) for row, own in named.items() if own and folders[-len(own) :] == own}
        fitting = [row for row in inside if inside[row] == max(inside.values())] or rows
        if len(fitting) == 1 and (inside or self._names[name] < 2):
            return fitting[0]
        self.doubtful[file, SEVERAL if self._names[name] > 1 else SEVERAL_ROWS] = None
        return None

    def _of_stem(self, name: str) -> list[int]:
        """Return the rows about "a.tif" for "a.pdf", unless there is an "a.tif"."""
        rows = self._by_stem.get(PurePosixPath(name).stem, [])
        return [row for row in rows if not self._names[_parts(self._files[row])[-1]]]

    def _add(self, path: Path, row: dict[str, Any]) -> None:
        doc_id = next((str(row[name]).strip() for name in ID_COLUMNS if row.get(name) not in (None, "")), "")
        file = next((str(row[name]).strip() for name in FILE_COLUMNS if row.get(name) not in (None, "")), "")
        if not doc_id and not file:
            raise BadInput(
                f"{path.name}: a row names neither a document ({', '.join(ID_COLUMNS)}) nor a file."
            )
        parts = _parts(file)
        same = [row for row in self._by_name.get(parts[-1], ()) if _parts(self._files[row]) == parts]
        known = self._by_id.get(doc_id) if doc_id else (same[0] if same else None)
        if known is not None:
            self._complete(known, row, doc_id or file)
            return
        place = len(self._rows)
        self._rows.append(row)
        self._files.append(file)
        self._names_of.append(doc_id or file)
        if doc_id:
            self._by_id[doc_id] = place
        if file:
            self._by_name.setdefault(parts[-1], []).append(place)
            self._by_stem.setdefault(PurePosixPath(parts[-1]).stem, []).append(place)

    def _complete(self, place: int, row: Row, name: str) -> None:
        """Let a second row about a document complete the first; where they differ the first one stands."""
        first = self._rows[place]
        for column, value in row.items():
            if value in (None, ""):
                continue
            if first.get(column) in (None, ""):
                first[column] = value
            elif first[column] != value:
                said = f"rows say {column} = {str(first[column])[:40]!r} and {str(value)[:40]!r}; the first stands"
                self.doubtful[name, said] = None


SEVERAL = (
    "several files have this name, so that its annotation row was not used: write the folder before the name"
)
SEVERAL_ROWS = "several annotation rows have this name, and none the file's folder: none was used"


def _parts(file: str) -> list[str]:
    """Return the folders and the name that a path has, in small letters, without a drive and dots."""
    parts = PurePosixPath(file.replace("\\", "/").casefold()).parts
    return [part for part in parts if part not in {"/", ".", ".."} and not part.endswith(":")] or [""]


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
    if text[:4].casefold() == "sep=":  # Excel's word for the separator
        text = text.partition("\n")[2]
    head = text.split("\n", 1)[0]
    delimiter = max("\t;,", key=head.count)
    begins = 1
    table = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(table, [])]
        if twice := next((name for name in names if name and names.count(name) > 1), ""):
            raise BadInput(f"{path.name}: two columns are named {twice!r}: rename or remove one.")
        begins = table.line_num + 1
        for cells in table:
            if any(cells[len(names) :]):
                raise BadInput(
                    f"{path.name}, line {begins}: it has {len(cells)} cells, the first line {len(names)} names: put a value "
                    f'that holds "{delimiter}" in quotes.'
                )
            begins = table.line_num + 1
            if any(cells):
                yield {name: value for name, value in zip(names, cells, strict=False) if name}
    except csv.Error as error:
        raise BadInput(
            f"{path.name}, line {begins}: not CSV ({error}): look for a quote that is not closed."
        ) from error


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
