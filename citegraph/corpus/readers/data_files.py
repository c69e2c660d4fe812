"""Reads JSON and YAML as people would print them: keys as labels, objects under headings, lists of objects as tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from citegraph.corpus.readers.draft import Draft
from citegraph.corpus.readers.encodings import decoded
from citegraph.corpus.readers.json_lines import JsonLinesReader
from citegraph.corpus.readers.plain_text import cleaned
from citegraph.corpus.readers.protocol import Reading, ReadOptions, Unread
from citegraph.errors import BadInput

# Values of a file; YAML may repeat one anchor a million times in a few lines.
_MOST_VALUES = 1_000_000
_DEEPEST = 60
# Objects of which a table is made have at most so many different keys.
_MOST_COLUMNS = 60
_IN_A_LINE = 12


class JsonReader:
    """JSON; a list of documents (objects with an id and a text) is read as JSON lines are."""

    suffixes: tuple[str, ...] = (".json", ".geojson")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        try:
            value = json.loads(decoded(path.read_bytes()))
        except (ValueError, RecursionError) as error:
            raise BadInput("no JSON, or cut off: get it again, or name it .txt") from error
        rows = value if isinstance(value, list) else []
        if rows and all(isinstance(row, dict) and _is_document(row) for row in rows):
            lines = JsonLinesReader()
            for number, row in enumerate(rows, 1):
                yield lines.document(row, f"item {number}")
            return
        yield _printed([value], "application/json")


class YamlReader:
    """YAML without its tags; several documents in one file follow each other."""

    suffixes: tuple[str, ...] = (".yaml", ".yml")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Reading | Unread]:
        """See `Reader.read`."""
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError

        try:
            values = list(YAML(typ="safe", pure=True).load_all(decoded(path.read_bytes())))
        except (YAMLError, ValueError, RecursionError) as error:
            raise BadInput("no YAML: mend it, or name it .txt") from error
        yield _printed(values, "application/yaml")


def _is_document(row: Mapping[str, Any]) -> bool:
    return any(key in row for key in ("doc_id", "id", "_id")) and any(
        isinstance(row.get(key), kind) for key, kind in (("text", str), ("pages", list))
    )


def _printed(values: Sequence[Any], media_type: str) -> Reading:
    printer = _Printer()
    for value in values:
        printer.write(value, "", 1)
    text, _, tables = printer.draft.finished()
    first = values[0] if values else None
    title = first.get("title") if isinstance(first, Mapping) else ""
    return Reading(
        text, media_type=media_type, title=_line(title) if isinstance(title, str) else "", tables=tables
    )


class _Printer:
    """Writes values into a draft; counts them, for a file of a few lines may hold any number."""

    def __init__(self) -> None:
        self.draft = Draft()
        self._left = _MOST_VALUES

    def write(self, value: Any, name: str, level: int) -> None:
        """Write a value under its name; `level` is that of its heading, from 1."""
        if level > _DEEPEST:
            raise BadInput(f"is nested deeper than {_DEEPEST} levels: cut it into files")
        if isinstance(value, Mapping):
            self._object(value, name, level)
        elif isinstance(value, list | tuple | set):
            self._list(list(value), name, level)
        else:
            self._count(1)
            self.draft.paragraph(f"{name}: {_shown(value)}" if name else _shown(value))

    def _object(self, value: Mapping[Any, Any], name: str, level: int) -> None:
        self.draft.heading(name, level)
        labels = {key: _label(key) for key in value}
        flat = {key: item for key, item in value.items() if _is_flat(item)}
        self._count(len(value))
        lines = (f"{labels[key]}: {_shown(item)}" for key, item in flat.items() if _shown(item))
        self.draft.paragraph("\n".join(lines))
        for key, item in value.items():
            if key not in flat:
                self.write(item, labels[key], level + 1)

    def _list(self, items: list[Any], name: str, level: int) -> None:
        self._count(len(items))
        columns = dict.fromkeys(key for item in items if isinstance(item, Mapping) for key in item)
        if (
            len(items) > 1
            and len(columns) <= _MOST_COLUMNS
            and all(isinstance(item, Mapping) and all(map(_is_flat, item.values())) for item in items)
        ):
            self._count(len(items) * len(columns))
            self.draft.heading(name, level)
            rows = [[_label(key) for key in columns]]
            rows += [[_shown(item.get(key)) for key in columns] for item in items]
            self.draft.table(rows, header=1, title=name)
        elif all(map(_is_scalar, items)):
            self.draft.heading(name, level)
            self.draft.paragraph("\n".join(f"- {_shown(item)}" for item in items))
        else:
            for number, item in enumerate(items, 1):
                deeper = level + isinstance(item, list)
                self.write(item, f"{name} {number}".strip() if len(items) > 1 else name, deeper)

    def _count(self, values: int) -> None:
        self._left -= values
        if self._left < 0:
            raise BadInput(
                f"holds more than {_MOST_VALUES:,} values: cut it into files, or save it as .jsonl"
            )


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, Mapping | list | tuple | set)


def _is_flat(value: Any) -> bool:
    """Return whether a value fits into a line: a scalar, or a short list of them."""
    if isinstance(value, list | tuple):
        return len(value) <= _IN_A_LINE and all(_is_scalar(item) and len(_shown(item)) < 60 for item in value)
    return _is_scalar(value)


def _shown(value: Any) -> str:
    """Return a value as text; nothing of a missing one."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return value.isoformat(" ", "seconds")
        case date() | time():
            return value.isoformat()
        case list() | tuple():
            return ", ".join(map(_shown, value))
        case bytes():
            return ""
    return _line(str(value)) if "\n" not in str(value) else cleaned(str(value)).strip()


def _label(key: Any) -> str:
    """Return a key as words: "invoiceNumber" and "invoice_number" are found by "invoice number"."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|_+", " ", str(key))
    return _line(words) or str(key)


def _line(text: str) -> str:
    return " ".join(cleaned(text).split())
